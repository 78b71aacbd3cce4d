//! Tokens continue what they were made for, and notice everything else.

use super::*;
use crate::database::Arg;
use crate::definitions::{decode_cursor, encode_cursor};

fn place() -> Vec<Arg> {
    vec![Arg::Text("2026-01-31 00:00:00+00".into()), Arg::Int(-7)]
}

#[test]
fn a_token_gives_back_exactly_what_went_in() {
    let report = report(LEDGER);
    let filters = filters(&report, &[("id", "1")]);
    for place in [
        place(),
        vec![Arg::Float(0.1 + 0.2), Arg::Float(f64::MIN_POSITIVE)],
        vec![Arg::Bool(true), Arg::Int(i64::MIN)],
        vec![Arg::Null, Arg::Int(1)],
        vec![Arg::Text("가\0\"\\".into()), Arg::Text(String::new())],
    ] {
        let token = encode_cursor(&report, &filters, &place);
        assert!(token.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{token}");
        assert_eq!(decode_cursor(&report, &filters, &token), Ok(place));
    }
}

#[test]
fn every_altered_character_and_every_cut_is_noticed() {
    let report = report(LEDGER);
    let filters = Filters::default();
    let token = encode_cursor(&report, &filters, &place());
    for index in 0..token.len() {
        let mut altered = token.clone().into_bytes();
        altered[index] = if altered[index] == b'0' { b'1' } else { b'0' };
        let altered = String::from_utf8(altered).expect("still ASCII");
        assert!(decode_cursor(&report, &filters, &altered).is_err(), "{index}");
        assert!(decode_cursor(&report, &filters, &token[..index]).is_err(), "{index}");
    }
    for token in ["", "zz", "가", &token.to_uppercase(), &format!("{token}00")] {
        let problem = decode_cursor(&report, &filters, token).expect_err("altered");
        assert_eq!((problem.code, problem.parameter.as_deref()), ("bad_cursor", Some("after")));
        assert!(problem.detail.contains("start again without \"after\""), "{}", problem.detail);
    }
}

#[test]
fn a_token_of_other_filters_another_report_or_another_order_is_refused() {
    let ledger = report(LEDGER);
    let asked = filters(&ledger, &[("id", "1"), ("id", "2"), ("open", "true")]);
    let token = encode_cursor(&ledger, &asked, &place());
    for pairs in [
        &[][..],
        &[("id", "1"), ("open", "true")],
        &[("id", "1"), ("id", "2"), ("open", "false")],
        &[("id", "1"), ("id", "2"), ("open", "true"), ("note", "a")],
    ] {
        assert!(decode_cursor(&ledger, &filters(&ledger, pairs), &token).is_err(), "{pairs:?}");
    }
    let turned = report(&LEDGER.replace("\"at desc\"", "\"at\""));
    assert!(decode_cursor(&turned, &asked, &token).is_err());
    let mut renamed = (*ledger).clone();
    renamed.name = "y".into();
    assert!(decode_cursor(&renamed, &asked, &token).is_err());
}

#[test]
fn filters_in_another_order_or_other_words_are_the_same_filters() {
    let report = report(LEDGER);
    let token = encode_cursor(
        &report,
        &filters(&report, &[("id", "1"), ("from", "2026-01-31"), ("id", "2")]),
        &place(),
    );
    let again = filters(&report, &[("id", "2"), ("id", "1"), ("from", "2026-01-31")]);
    assert_eq!(decode_cursor(&report, &again, &token), Ok(place()));
}

#[test]
fn a_day_of_another_zone_is_another_filter() {
    let report = report(LEDGER);
    let pairs = [("from".to_owned(), "2026-01-31".to_owned())];
    let mut problems = Vec::new();
    let seoul = parse_filters(&report, &pairs, &[], &seoul(), &mut problems);
    let utc = parse_filters(&report, &pairs, &[], &TimeZone::UTC, &mut problems);
    let token = encode_cursor(&report, &seoul, &place());
    assert!(decode_cursor(&report, &utc, &token).is_err());
}
