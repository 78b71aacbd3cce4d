//! Headers as people leave them.

use std::sync::Arc;

use super::*;
use crate::definitions::{BuiltIn, Definitions};

fn import(rules: &str) -> Arc<Import> {
    let text = format!(
        "into = \"t\"\n{rules}\n\
         [[columns]]\nkey = \"code\"\ntitle = \"거래번호\"\ntype = \"text\"\nrequired = true\n\
         headers = [\"거래 번호\"]\n\
         [[columns]]\nkey = \"name\"\ntitle = \"거래처명\"\ntype = \"text\"\nrequired = true\n\
         headers = [\"거래처\"]\n\
         [[columns]]\nkey = \"qty\"\ntitle = \"수량\"\ntype = \"int\"\n"
    );
    let built_in = BuiltIn { imports: &[("x", &text)], ..BuiltIn::default() };
    let definitions = Definitions::load(built_in, None);
    assert_eq!(definitions.faults, Vec::new());
    Arc::clone(&definitions.imports["x"])
}

/// Rows of texts, each with its number, `""` for an empty cell.
type Rows<'r> = &'r [(u64, &'r [&'r str])];

fn search(import: &Import, asked: Option<u64>, rows: Rows<'_>) -> Result<Headers, Vec<Problem>> {
    let mut search = HeaderSearch::new(import, asked);
    for (number, texts) in rows {
        let cells: Vec<Cell<'_>> = texts
            .iter()
            .map(|text| if text.is_empty() { Cell::Empty } else { Cell::Text(text) })
            .collect();
        if let Some(headers) = search.row(*number, &cells)? {
            return Ok(headers);
        }
    }
    Err(search.not_found())
}

#[track_caller]
fn assert_problems(found: Result<Headers, Vec<Problem>>, expected: &[(&str, &str)]) {
    let problems = found.expect_err("it is refused");
    let found: Vec<_> =
        problems.iter().map(|problem| (problem.code, problem.detail.as_str())).collect();
    assert_eq!(found, expected);
    assert!(problems.iter().all(|problem| problem.parameter.as_deref() == Some("file")));
}

#[test]
fn columns_come_in_any_order_and_spelling() {
    let headers = search(
        &import(""),
        None,
        &[(1, &["QTY", "비고", " 거래처명\u{A0}", "", "\u{FEFF}거래\n번호"])],
    )
    .expect("they are all there");
    assert_eq!(headers.row, 1);
    assert_eq!(headers.columns, [Some(2), None, Some(1), None, Some(0)]);
    assert_eq!(headers.titles, ["QTY", "비고", "거래처명", "", "거래\n번호"]);
    assert_eq!(headers.unknown, ["비고"]);
}

#[test]
fn titles_above_the_header_are_passed_over() {
    let rows: Rows<'_> = &[
        (1, &["2024년 1월 거래 내역"]),
        (2, &["거래번호", "는 빠짐없이 적어 주세요"]),
        (4, &["거래번호", "거래처명", "수량"]),
        (5, &["code", "name", "qty"]),
    ];
    assert_eq!(search(&import(""), None, rows).map(|headers| headers.row), Ok(4));
    assert_eq!(search(&import(""), Some(5), rows).map(|headers| headers.row), Ok(5));
}

#[test]
fn every_fault_of_a_header_is_told_at_once() {
    let reject = import("unknown_columns = \"reject\"");
    assert_problems(
        search(
            &reject,
            None,
            &[(1, &["제목"]), (3, &["qty", "비고", "거래번호", "수량"]), (4, &["a"])],
        ),
        &[
            (
                "header_missing",
                "the column \"거래처명\" is required and row 3 does not have it; add it, named 거래처명, \
                 name or 거래처",
            ),
            (
                "header_doubled",
                "the column \"수량\" is there 2 times, in A3 (\"qty\") and D3 (\"수량\"); keep one of them",
            ),
            (
                "unknown_column",
                "the column \"비고\" is not among those that are taken; take it out of the file, or head it \
                 거래번호, 거래처명 or 수량",
            ),
        ],
    );
}

#[test]
fn a_doubled_column_of_a_complete_header_is_a_fault_with_both_places() {
    assert_problems(
        search(&import(""), None, &[(1, &["code", "name", "수량", "", "", "qty"])]),
        &[(
            "header_doubled",
            "the column \"수량\" is there 2 times, in C1 (\"수량\") and F1 (\"qty\"); keep one of them",
        )],
    );
}

#[test]
fn where_no_header_is_the_first_row_is_shown_and_what_was_expected() {
    let expected = "Put a row with the headings above the rows: 거래번호, 거래처명, 수량";
    assert_problems(
        search(&import(""), None, &[(2, &["A-001", "한빛상사", "1"]), (3, &["A-002", "", "2"])]),
        &[(
            "header_not_found",
            &format!(
                "no header was found within the first 20 rows: row 2 holds \"A-001\", \"한빛상사\", \"1\". \
                 {expected}"
            ),
        )],
    );
    assert_problems(
        search(&import(""), None, &[]),
        &[(
            "header_not_found",
            &format!(
                "no header was found within the first 20 rows: the file has no rows. {expected}"
            ),
        )],
    );
    assert_problems(
        search(&import(""), None, &[(21, &["code", "name"])]),
        &[(
            "header_not_found",
            &format!(
                "no header was found within the first 20 rows: row 21 holds \"code\", \"name\". {expected}"
            ),
        )],
    );
}

#[test]
fn a_row_that_was_asked_for_is_the_header_or_the_fault() {
    let rows: Rows<'_> = &[(1, &["code", "name"]), (3, &["A-001", "x"])];
    assert_problems(
        search(&import(""), Some(3), rows),
        &[(
            "header_not_found",
            "row 3 holds none of the headings; it holds \"A-001\", \"x\". Put a row with the headings above \
             the rows: 거래번호, 거래처명, 수량",
        )],
    );
    assert_problems(
        search(&import(""), Some(2), rows),
        &[(
            "header_not_found",
            "row 2, where the header was said to be, is empty: row 1 holds \"code\", \"name\". Put a row \
             with the headings above the rows: 거래번호, 거래처명, 수량",
        )],
    );
}

#[test]
fn a_single_word_is_no_header_where_no_column_is_required() {
    let text = "into = \"t\"\ncolumns = [{ key = \"memo\", type = \"text\" }, { key = \"n\", type = \"int\" }]";
    let built_in = BuiltIn { imports: &[("x", text)], ..BuiltIn::default() };
    let import = Arc::clone(&Definitions::load(built_in, None).imports["x"]);
    let rows: Rows<'_> = &[(1, &["Memo"]), (2, &["n", "memo"])];
    assert_eq!(search(&import, None, rows).map(|headers| headers.row), Ok(2));
}

#[test]
fn a_number_can_be_a_heading() {
    let text = "into = \"t\"\n[[columns]]\nkey = \"y\"\ntitle = \"2026\"\ntype = \"int\"\n";
    let built_in = BuiltIn { imports: &[("x", text)], ..BuiltIn::default() };
    let import = Arc::clone(&Definitions::load(built_in, None).imports["x"]);
    let found = HeaderSearch::new(&import, None).row(1, &[Cell::Number(2026.0)]);
    assert_eq!(
        found.map(|headers| headers.map(|headers| headers.columns)),
        Ok(Some(vec![Some(0)]))
    );
}

#[test]
fn keys_of_objects_are_matched_like_headings() {
    let keys = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>();
    let import = import("");
    let headers = HeaderSearch::of_keys(&import, &keys(&["name", "Code", "extra"]));
    let headers = headers.expect("what is required is there");
    assert_eq!((headers.row, headers.columns), (0, vec![Some(1), Some(0), None]));
    assert_eq!(headers.unknown, ["extra"]);
    assert_problems(
        HeaderSearch::of_keys(&import, &keys(&["qty", "수량", "code"])),
        &[
            (
                "header_missing",
                "the key \"거래처명\" is required and the objects do not have it; add it, named 거래처명, \
                 name or 거래처",
            ),
            ("header_doubled", "the keys \"qty\" and \"수량\" all mean \"수량\"; keep one of them"),
        ],
    );
}

#[test]
fn columns_have_the_letters_of_spreadsheets() {
    for (column, expected) in [
        (0, "A"),
        (25, "Z"),
        (26, "AA"),
        (51, "AZ"),
        (52, "BA"),
        (701, "ZZ"),
        (702, "AAA"),
        (16_383, "XFD"),
    ] {
        assert_eq!(letters(column), expected);
    }
}

#[test]
fn one_heading_alone_is_a_header_only_where_it_is_said_to_be() {
    let lone = "into = \"t\"\n\
         [[columns]]\nkey = \"code\"\ntype = \"text\"\nrequired = true\n\
         [[columns]]\nkey = \"qty\"\ntype = \"int\"\n";
    let built_in = BuiltIn { imports: &[("x", lone)], ..BuiltIn::default() };
    let import = Arc::clone(&Definitions::load(built_in, None).imports["x"]);
    let rows: Rows<'_> = &[(3, &["code"]), (4, &["A-1"])];
    let refused = search(&import, None, rows).expect_err("it may be chance");
    let [problem] = refused.as_slice() else { panic!("{refused:?}") };
    assert_eq!(problem.code, "header_not_found");
    assert!(problem.detail.contains("header_row=3"), "{}", problem.detail);
    assert_eq!(search(&import, Some(3), rows).expect("it was said to be").row, 3);
}
