//! What becomes of names.

use std::path::Path;

use super::{Distinct, safe_name};

fn taken(names: &[&str]) -> Vec<String> {
    let mut distinct = Distinct::default();
    names.iter().map(|name| distinct.take(name)).collect()
}

#[test]
fn names_that_are_the_same_are_numbered_before_their_ending() {
    let names = ["보고서.pdf", "보고서.pdf", "A.PDF", "a.pdf", "보고서 (1).pdf", "보고서.pdf"];
    let expected = [
        "보고서.pdf",
        "보고서 (1).pdf",
        "A.PDF",
        "a (1).pdf",
        "보고서 (1) (1).pdf",
        "보고서 (2).pdf",
    ];
    assert_eq!(taken(&names), expected);
}

#[test]
fn composed_and_decomposed_names_are_the_same() {
    assert_eq!(taken(&["é.pdf", "e\u{301}.pdf"]), ["é.pdf", "é (1).pdf"]);
}

#[test]
fn what_some_system_refuses_or_takes_for_a_way_is_taken_out() {
    let cases = [
        ("../escape.pdf", "escape.pdf"),
        ("/abs.pdf", "abs.pdf"),
        ("C:\\x.pdf", "x.pdf"),
        ("a:b*c?.pdf", "a_b_c_.pdf"),
        ("a..b.pdf", "a.b.pdf"),
        ("", "download"),
        ("..", "download"),
        ("nul", "_nul"),
        ("Com1.pdf", "_Com1.pdf"),
        ("company.pdf", "company.pdf"),
        ("끝 .pdf ", "끝.pdf"),
        ("tab\there\u{202E}.pdf", "tabhere.pdf"),
        ("emoji😀.pdf", "emoji😀.pdf"),
    ];
    for (name, expected) in cases {
        assert_eq!(taken(&[name]), [expected], "{name:?}");
    }
}

#[test]
fn long_names_are_cut_on_a_border_and_keep_their_ending_also_when_numbered() {
    for long in ["가".repeat(100) + ".pdf", "x".repeat(255) + ".pdf", "나".repeat(100)] {
        let names = taken(&[&long, &long]);
        assert_ne!(names[0], names[1]);
        for name in &names {
            assert!((250..=255).contains(&name.len()), "{name}");
            assert_eq!(Path::new(name).extension(), Path::new(&long).extension());
        }
        assert!(names[1].contains(" (1)"), "{names:?}");
    }
    assert_eq!(safe_name(&("가".repeat(100) + ".pdf")), "가".repeat(83) + ".pdf");
}

#[test]
fn a_hundred_thousand_of_the_same_name_take_no_time() {
    let mut distinct = Distinct::default();
    let last = (0..100_000).map(|_| distinct.take("원장.pdf")).last();
    assert_eq!(last.as_deref(), Some("원장 (99999).pdf"));
}
