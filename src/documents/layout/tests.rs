//! Where things stand on pages.

use super::lay_out;
use crate::definitions::{BuiltIn, Definitions, Document};
use crate::documents::page::Page;
use crate::documents::text::Lacking;
use crate::json::Node;

const HEAD: &str = "from = \"t\"\n[document]\nkey = \"id\"\n[[columns]]\nkey = \"id\"\ntype = \"int\"\n\
                    [[columns]]\nkey = \"c\"\ntype = \"json\"\n";

fn document(sections: &str) -> std::sync::Arc<Document> {
    let text = format!("{HEAD}{sections}");
    let built_in = BuiltIn { documents: &[("t", &text)], ..BuiltIn::default() };
    let mut definitions = Definitions::load(built_in, None);
    assert!(definitions.faults.is_empty(), "{:?}", definitions.faults);
    definitions.documents.remove("t").unwrap()
}

fn pages(sections: &str, row: &str) -> Vec<Page> {
    let (document, row) = (document(sections), Node::parse(row).unwrap());
    lay_out(&document.template, &row, &mut Lacking::new()).unwrap()
}

const TABLE: &str = r#"
[[sections]]
kind = "table"
rows = "/c"
[[sections.columns]]
title = "번호"
pointer = "/n"
[[sections.columns]]
title = "내용"
pointer = "/t"
"#;

fn rows(count: usize, text: &str) -> String {
    let row = |n: usize| format!("{{\"n\":{n},\"t\":\"{text}\"}}");
    let rows: Vec<String> = (1..=count).map(row).collect();
    format!("{{\"id\":1,\"c\":[{}]}}", rows.join(","))
}

/// Texts of a page from top to bottom, without the page's number.
fn texts(page: &Page) -> Vec<&str> {
    let mut texts: Vec<_> = page.texts.iter().collect();
    texts.pop();
    texts.iter().map(|text| text.line.text.as_str()).collect()
}

#[test]
fn a_page_is_full_before_the_next_begins_and_has_the_header() {
    let pages = pages(TABLE, &rows(120, "가"));
    assert!(pages.len() > 2);
    let mut numbers = Vec::new();
    for page in &pages {
        let texts = texts(page);
        assert_eq!(texts[..2], ["번호", "내용"]);
        numbers.extend(texts[2..].chunks(2).map(|row| row[0].parse::<usize>().unwrap()));
    }
    assert!(numbers.iter().copied().eq(1..=120), "{numbers:?}");
    let bottom = |page: &Page| page.rules.iter().map(|rule| rule.to[1]).fold(0.0, f32::max);
    for page in &pages[..pages.len() - 1] {
        assert!((780.0..=800.0).contains(&bottom(page)), "{}", bottom(page));
    }
}

#[test]
fn nothing_leaves_the_margins() {
    let text = "아주 긴 내용이 여러 줄로 이어지고 그치지않는낱말도들어있습니다".repeat(40);
    for page in pages(TABLE, &rows(30, &text)) {
        for text in &page.texts[..page.texts.len() - 1] {
            let right = text.x + text.line.width * text.size;
            assert!(text.x >= 42.0 && right <= 596.0 - 42.0, "{}", text.line.text);
            assert!(text.y >= 42.0 && text.y <= 842.0 - 42.0, "{}", text.y);
        }
    }
}

#[test]
fn a_row_taller_than_a_page_goes_on_line_by_line() {
    let text: Vec<String> = (0..3_000).map(|word| format!("낱{word}")).collect();
    let pages = pages(TABLE, &rows(1, &text.join(" ")));
    assert!(pages.len() > 2, "{}", pages.len());
    let all: Vec<&str> = pages
        .iter()
        .flat_map(|page| texts(page).into_iter().skip(2))
        .flat_map(|line| line.split(' '))
        .filter(|word| *word != "1")
        .collect();
    assert_eq!(all, text);
}

#[test]
fn a_break_at_the_end_makes_no_empty_page() {
    let sections =
        "[[sections]]\nkind = \"text\"\ntext = \"가\"\n[[sections]]\nkind = \"page_break\"\n";
    assert_eq!(pages(sections, "{\"id\":1,\"c\":[]}").len(), 1);
    let twice = format!("{sections}[[sections]]\nkind = \"page_break\"\n{sections}");
    assert_eq!(pages(&twice, "{\"id\":1,\"c\":[]}").len(), 2);
}

#[test]
fn a_column_too_narrow_for_a_letter_is_refused() {
    let share = |width: &str| TABLE.replacen("\"/n\"", &format!("\"/n\"\nwidth = {width}"), 1);
    let text = rows(1, "가");
    let row = Node::parse(&text).unwrap();
    let laid = |sections: &str| lay_out(&document(sections).template, &row, &mut Lacking::new());
    assert!(laid(&share("0.1")).is_ok());
    let thin = share("0.1").replacen("\"/t\"", "\"/t\"\nwidth = 50", 1);
    let Err(super::Failure::Unfit(why)) = laid(&thin) else { panic!("it is too narrow") };
    assert!(why.0.contains("too narrow for letters of 9"), "{}", why.0);
}

#[test]
fn a_table_without_rows_says_so() {
    let pages = pages(TABLE, "{\"id\":1,\"c\":[]}");
    assert_eq!(texts(&pages[0]), ["번호", "내용", "-"]);
}
