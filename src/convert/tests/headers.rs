//! Mappings as they are sent.

use super::{codes, renames};
use crate::convert::read_headers;
use crate::error::Error;

#[test]
fn a_mapping_is_read_with_its_order() {
    let body =
        r#"{"columns":[{"from":" 주문 번호 ","to":"order_no"},{"from":"금\n액","to":"amount"}]}"#;
    let expected = renames(&[("주문 번호", "order_no"), ("금\n액", "amount")]);
    assert_eq!(read_headers("매출-2026_v1.0", body.as_bytes()).unwrap().columns, expected);
}

#[test]
fn every_fault_of_a_mapping_is_told() {
    let body = format!(
        r#"{{"columns":[{{"from":"a","to":"x","as":1}},{{"from":"a","to":""}},7,{{"from":"b","to":"x"}},
           {{"to":5}},{{"from":"{}","to":"y\u0000"}}],"name":"n"}}"#,
        "가".repeat(256)
    );
    let Err(Error::Invalid(problems)) = read_headers("no/name", body.as_bytes()) else {
        panic!("it is refused")
    };
    let expected = [
        ("name", "bad_name"),
        ("name", "unknown_member"),
        ("columns[0].as", "unknown_member"),
        ("columns[1].to", "empty_value"),
        ("columns[2]", "not_an_object"),
        ("columns[4].from", "not_a_text"),
        ("columns[4].to", "not_a_text"),
        ("columns[5].from", "too_long"),
        ("columns[5].to", "nul_character"),
        ("columns[3].to", "doubled_column"),
    ];
    assert_eq!(codes(&problems), expected);
}

#[test]
fn what_is_no_mapping_at_all_is_told_with_an_example() {
    for body in ["", "{", "{\"columns\":[}", "nope"] {
        let Err(Error::Malformed(problems)) = read_headers("n", body.as_bytes()) else {
            panic!("{body}")
        };
        assert_eq!(codes(&problems), [("body", "not_json")]);
        assert!(problems[0].detail.contains("\"from\""), "{}", problems[0].detail);
    }
    let long = format!("{{\"columns\":[{}7]}}", "7,".repeat(1_000));
    for (body, code) in [
        ("[]", "not_an_object"),
        ("{}", "not_a_list"),
        ("{\"columns\":{}}", "not_a_list"),
        ("{\"columns\":[]}", "bad_length"),
        (&*long, "bad_length"),
    ] {
        let Err(Error::Invalid(problems)) = read_headers("n", body.as_bytes()) else {
            panic!("{body}")
        };
        assert_eq!(problems.last().unwrap().code, code, "{body}");
    }
    for name in ["", ".", "..", "-a", "a b", "a/b", "\0", &"a".repeat(101)] {
        assert!(read_headers(name, b"{}").is_err(), "{name}");
    }
}
