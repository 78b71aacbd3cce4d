//! Lines keep their width, and lose no letter.

use super::{Lacking, wrap};
use crate::documents::fonts::Weight;

fn lines(text: &str, width: f32) -> Vec<String> {
    let mut lacking = Lacking::new();
    let lines = wrap(text, Weight::Regular, width, &mut lacking).unwrap();
    assert!(lacking.is_empty(), "{lacking:?}");
    lines.into_iter().map(|line| line.text).collect()
}

#[test]
fn lines_break_at_spaces() {
    assert_eq!(lines("철근 콘크리트 공사 내역", 7.5), ["철근 콘크리트", "공사 내역"]);
}

#[test]
fn a_word_longer_than_a_line_breaks_between_letters() {
    let found = lines("가나다라마바사아자차카타파하", 5.0);
    assert_eq!(found.concat(), "가나다라마바사아자차카타파하");
    assert!(found.len() > 2, "{found:?}");
}

#[test]
fn closing_marks_do_not_begin_a_line() {
    for width in [3.0, 3.5, 4.0, 4.5, 5.0] {
        let found = lines("가나다라,마바사아.자차카타)파하", width);
        assert!(found.iter().all(|line| !line.starts_with([',', '.', ')'])), "{found:?}");
    }
}

#[test]
fn a_text_of_nothing_but_closing_marks_ends() {
    assert_eq!(lines(&".".repeat(40), 1.0).concat(), ".".repeat(40));
}

#[test]
fn line_breaks_begin_lines_and_spaces_at_ends_vanish() {
    assert_eq!(lines("가 \r\n\n 나\t다 ", 50.0), ["가", "", "나 다"]);
    assert_eq!(lines("", 50.0), [""]);
}

#[test]
fn no_line_is_wider_than_it_may_be() {
    let text = "A-1 가나다 Reinforced concrete 철근콘크리트공사내역서(2026년 상반기) 1,234,567원";
    for width in 2_u8..40 {
        let mut lacking = Lacking::new();
        let lines = wrap(text, Weight::Bold, f32::from(width), &mut lacking).unwrap();
        assert!(lines.iter().all(|line| line.width <= f32::from(width)), "{width}");
        let found: String = lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(found.replace(' ', ""), text.replace(' ', ""), "{width}");
    }
}

#[test]
fn letters_that_are_lacking_are_seen_and_counted() {
    let mut lacking = Lacking::new();
    let lines = wrap("가😀나😀\u{FE0F}", Weight::Regular, 50.0, &mut lacking).unwrap();
    assert_eq!(lines[0].text, "가〓나〓");
    assert_eq!(lacking.get(&'😀'), Some(&2));
}

#[test]
fn letters_that_are_lacking_are_shown_by_others_that_mean_the_same() {
    let mut lacking = Lacking::new();
    let lines = wrap("12㎡ 0.6㎥ ① ㈜한빛 Ⅳ 25℃", Weight::Bold, 50.0, &mut lacking).unwrap();
    assert_eq!(lines[0].text, "12m² 0.6m³ (1) (주)한빛 IV 25°C");
    assert_eq!(lacking.len(), 6);
}

#[test]
fn decomposed_syllables_are_composed() {
    assert_eq!(lines("\u{1112}\u{1161}\u{11AB}", 50.0), ["한"]);
}
