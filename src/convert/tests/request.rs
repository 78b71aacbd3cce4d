//! What a request asks.

use super::{codes, renames};
use crate::convert::Asked;
use crate::error::Problem;
use crate::formats::Format;

fn read(pairs: &[(&str, &str)]) -> (Asked, Vec<Problem>) {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    Asked::read(&pairs.iter().map(owned).collect::<Vec<_>>())
}

#[test]
fn names_are_separated_by_commas_and_may_hold_them() {
    let (asked, problems) = read(&[
        ("to", "xlsx"),
        ("columns", r"a, b\,c,d\\,e:f"),
        ("rename", r"a:A,b\,c:B\:C,d\\:d, e\:f : x "),
        ("filename", "표.XLSX"),
    ]);
    assert_eq!(codes(&problems), []);
    assert_eq!(asked.to, Format::Xlsx);
    assert_eq!(asked.wish.columns.as_deref().unwrap(), ["a", "b,c", r"d\", "e:f"]);
    let expected = renames(&[("a", "A"), ("b,c", "B:C"), (r"d\", "d"), ("e:f", "x")]);
    assert_eq!(asked.wish.renames, expected);
    assert_eq!(asked.options.title, "표");
}

#[test]
fn every_fault_of_a_request_is_found_at_once() {
    let (_, problems) = read(&[
        ("columns", "a,,a"),
        ("rename", "a:b,a:c,b,d:e:f,x:b,:q"),
        ("header_row", "0"),
        ("sheet", ""),
        ("tz", "Mars/Olympus"),
        ("limit", "3"),
        ("bom", "yes"),
    ]);
    let found = codes(&problems);
    for wanted in [
        ("limit", "unknown_parameter"),
        ("to", "missing_parameter"),
        ("sheet", "empty_value"),
        ("header_row", "not_a_row"),
        ("columns", "empty_value"),
        ("columns", "doubled_column"),
        ("rename", "doubled_column"),
        ("rename", "bad_rename"),
        ("tz", "unknown_zone"),
        ("bom", "unknown_value"),
    ] {
        assert!(found.contains(&wanted), "{wanted:?} in {found:?}");
    }
    let bad = problems.iter().filter(|problem| problem.code == "bad_rename");
    assert_eq!(bad.count(), 3, "{found:?}");
    let (_, problems) = read(&[("to", "pdf"), ("to", "csv")]);
    assert_eq!(codes(&problems), [("to", "doubled_parameter")]);
    let (_, problems) =
        read(&[("to", "xlsx"), ("header", "none"), ("columns", "a"), ("rename", "b:c")]);
    assert_eq!(codes(&problems), [("rename", "unknown_column"), ("header", "unknown_value")]);
}
