//! Objects as rows.

use proptest::prelude::*;
use serde_json::json;

use super::{LIMITS, read_bytes, read_bytes_with, refused_for};
use crate::error::Error;
use crate::sheets::{FileKind, Limits};

#[track_caller]
fn gives(text: &str, keys: &[&str], rows: &[(u64, &str)]) {
    let given = read_bytes(text.as_bytes()).expect("it is read");
    assert_eq!(given.keys.last().expect("they are told"), keys);
    assert_eq!(given.rows(), rows, "{text}");
}

#[test]
fn a_line_is_a_row_and_numbers_keep_their_digits() {
    let text = "{\"a\":1.50,\"b\":\"x\",\"c\":null}\n\n  {\"b\":\"\",\"a\":-0,\"c\":true}  \r\n\
                {\"c\":12345678901234567890.10,\"a\":1E5}\n{\"a\":\"tab\\t\\ud83d\\ude00\"}";
    gives(
        text,
        &["a", "b", "c"],
        &[
            (1, "d:1.50|x"),
            (3, "d:-0|\"\"|b:true"),
            (4, "d:1E5||d:12345678901234567890.10"),
            (5, "tab\t😀"),
        ],
    );
}

#[test]
fn what_is_nested_stays_as_it_is_on_one_line() {
    let text = "[\n {\"a\": {\"x\": [1,\n  2],\r\n \"y\": \"\\n{\"}, \"b\": []}\n]\n";
    gives(text, &["a", "b"], &[(1, "j:{\"x\": [1,  2], \"y\": \"\\n{\"}|j:[]")]);
}

#[test]
fn every_object_is_a_row_also_one_that_holds_nothing() {
    gives("{}\n{\"a\":null}\n{\"a\":1}\n", &["a"], &[(1, ""), (2, ""), (3, "d:1")]);
    gives("[{}, {\"a\":null}]", &["a"], &[(1, ""), (2, "")]);
    gives("[ ]", &[], &[]);
}

#[test]
fn keys_are_told_before_the_first_row_and_again_when_there_are_more() {
    let given = read_bytes(b"{\"b\":1}\n{\"b\":2}\n{\"c\":1,\"b\":3}\n").expect("it is read");
    assert_eq!(given.keys, [vec!["b"], vec!["b", "c"]]);
    assert_eq!(given.rows(), [(1, "d:1"), (2, "d:2"), (3, "d:3|d:1")]);
    assert_eq!(given.outline().kind, FileKind::Ndjson);
}

#[test]
fn an_array_gives_its_elements_by_number() {
    let text = "\u{feff} [{\"a\":\"]},\\\"\"} , {\"a\":\"\\\\\"},\n{\"a\":{\"b\":[{}]}}]  \n";
    gives(text, &["a"], &[(1, "]},\""), (2, "\\"), (3, "j:{\"b\":[{}]}")]);
    let given = read_bytes(text.as_bytes()).expect("it is read");
    assert_eq!(given.outline().kind, FileKind::Json);
    assert_eq!(given.outline().encoding.as_deref(), Some("UTF-8"));
}

#[test]
fn what_is_no_row_is_named_by_its_place() {
    let cases: &[(&[u8], &str, &[&str])] = &[
        (b"{\"a\":1}\n[1]\n", "not_an_object", &["line 2"]),
        (b"{\"a\":1}\n\"x\"\n", "not_an_object", &["line 2"]),
        (b"{\"a\":1}\n{\"a\":}\n", "not_json", &["line 2", "byte 6"]),
        (b"{\"a\":1}\n{\"a\":1\n", "not_json", &["line 2", "breaks off"]),
        (b"{\"a\":1} x\n", "not_json", &["line 1"]),
        (b"{\"a\":1}\n{\"a\":1,\"b\":2,\"a\":3}\n", "duplicate_key", &["line 2", "\"a\""]),
        (b"{\"a\":\"\\ud800\"}\n", "not_json", &["line 1"]),
        (b"{\"a\":01}\n", "not_json", &["line 1"]),
        (b"{\"a\":1}\n{\"a\":\"\xFF\"}\n", "unknown_encoding", &["line 2"]),
        (b"[{\"a\":1},\n 7]", "not_an_object", &["element 2", "line 2"]),
        (b"[{\"a\":1},\n [1]]", "not_an_object", &["element 2"]),
        (b"[{\"a\":1} {\"a\":2}]", "not_json", &["line 1"]),
        (b"[{\"a\":1},]", "not_json", &["line 1"]),
        (b"[{\"a\":1},\n{\"a\"", "not_json", &["line 2", "not closed"]),
        (b"[{\"a\":1}] x", "not_json", &["line 1"]),
        (b"[{\"a\":1,\"a\":1}]", "duplicate_key", &["element 1"]),
        (b"[{\"a\":1]}", "not_json", &["element 1"]),
    ];
    for (text, code, words) in cases {
        refused_for(read_bytes(text), code, words);
    }
}

#[test]
fn what_is_larger_than_any_row_is_refused() {
    let long = format!("{{\"a\":\"{}\"}}", "x".repeat(17 << 20));
    refused_for(read_bytes(long.as_bytes()), "row_too_large", &["line 1", "16 MiB"]);
    let element = format!("[{long}]");
    refused_for(read_bytes(element.as_bytes()), "row_too_large", &["element 1"]);
    let limits = Limits { columns: 2, ..LIMITS };
    let wide = read_bytes_with(b"{\"a\":1,\"b\":2}\n{\"c\":3}\n", None, &limits);
    refused_for(wide, "too_many_columns", &["line 2", "2"]);
    let deep = format!("{{\"a\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let read = read_bytes(deep.as_bytes());
    assert!(matches!(read, Ok(_) | Err(Error::Invalid(_))), "{read:?}");
}

proptest! {
    #[test]
    fn lines_and_arrays_give_the_same_rows(
        table in prop::collection::vec(prop::collection::btree_map("[a-c\"\\\\]{1,2}", ".{0,6}", 0..4), 1..6)
    ) {
        let objects: Vec<_> = table.iter().map(|row| json!(row).to_string()).collect();
        let lines = read_bytes(objects.join("\n").as_bytes()).expect("lines");
        let array = format!("[{}]", objects.join(",\n"));
        let array = read_bytes(array.as_bytes()).expect("an array");
        prop_assert_eq!(&lines.rows, &array.rows);
        prop_assert_eq!(lines.rows.len(), table.len());
        prop_assert_eq!(lines.keys.last(), array.keys.last());
    }

    #[test]
    fn no_array_whatever_makes_it_panic(text in "\\[[\\[\\]{}\",:\\\\a1 \n]{0,60}") {
        if let Err(error) = read_bytes(text.as_bytes()) {
            prop_assert!(matches!(error, Error::Invalid(_)), "{error:?}");
        }
    }
}
