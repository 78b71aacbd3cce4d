//! Tests of what a request asks.

use jiff::tz::TimeZone;

use super::{Asked, BUILT_IN, PAGE, Request};
use crate::definitions::{BuiltIn, Definitions, Report};
use crate::error::{Error, Result};
use crate::formats::Format;

fn settlements() -> Report {
    let definitions = Definitions::load(BuiltIn { reports: BUILT_IN, ..BuiltIn::default() }, None);
    assert!(definitions.faults.is_empty(), "{:?}", definitions.faults);
    (*definitions.reports["settlements"]).clone()
}

fn asked(pairs: &[(&str, &str)]) -> Result<Asked> {
    let pairs: Vec<_> =
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let zone = TimeZone::get("Asia/Seoul").unwrap();
    Request { pairs: &pairs, zone: &zone, negotiated: Ok(Format::Csv) }.parse(&settlements())
}

fn codes(pairs: &[(&str, &str)]) -> Vec<(String, &'static str)> {
    match asked(pairs) {
        Err(Error::Malformed(problems)) => problems
            .into_iter()
            .map(|problem| (problem.parameter.unwrap_or_default(), problem.code))
            .collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn nothing_asked_is_every_column_in_order_and_the_negotiated_format() {
    let asked = asked(&[]).unwrap();
    assert_eq!(asked.columns, (0..settlements().columns.len()).collect::<Vec<_>>());
    assert_eq!((asked.format, asked.limit, asked.summary), (Format::Csv, None, false));
}

#[test]
fn every_fault_of_a_request_is_found_at_once() {
    let found = codes(&[
        ("format", "pdf"),
        ("limit", "-1"),
        ("columns", "id,nope,id"),
        ("tz", "Mars/Olympus"),
        ("from", "31/12/2026"),
        ("colour", "red"),
        ("bom", "yes"),
        ("delimiter", "x"),
        ("numbers", ""),
        ("after", "00"),
    ]);
    for wanted in [
        ("format", "unknown_value"),
        ("limit", "not_a_count"),
        ("columns", "unknown_column"),
        ("columns", "doubled_column"),
        ("tz", "unknown_zone"),
        ("from", "not_a_time"),
        ("colour", "unknown_parameter"),
        ("bom", "unknown_value"),
        ("delimiter", "unknown_value"),
        ("numbers", "empty_value"),
        ("after", "bad_cursor"),
    ] {
        assert!(found.contains(&(wanted.0.to_owned(), wanted.1)), "{wanted:?} in {found:?}");
    }
    assert_eq!(found.len(), 11);
}

#[test]
fn a_doubled_parameter_is_refused_and_a_repeated_in_filter_is_not() {
    assert_eq!(
        codes(&[("format", "csv"), ("format", "json")]),
        [("format".to_owned(), "doubled_parameter")]
    );
    asked(&[("merchant", "1"), ("merchant", "2")]).unwrap();
}

#[test]
fn a_page_is_a_limit_up_to_ten_thousand() {
    assert!(asked(&[("limit", "10000")]).unwrap().is_page());
    assert!(!asked(&[("limit", "10001")]).unwrap().is_page());
    assert!(!asked(&[]).unwrap().is_page());
    assert_eq!(PAGE, 10_000);
}

#[test]
fn a_summary_line_is_for_ndjson_alone() {
    assert!(asked(&[("summary", "true"), ("format", "ndjson")]).unwrap().summary);
    assert!(!asked(&[("summary", "true"), ("format", "json")]).unwrap().summary);
}
