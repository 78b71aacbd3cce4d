//! Strings and documents, with `serde_json` as the judge.

use proptest::prelude::*;

use super::{any_json, any_text};
use crate::formats::escape::{all, escape, first, minify, places_of};

fn escaped(text: &str) -> String {
    let mut out = vec![b'"'];
    escape(text, &mut out);
    out.push(b'"');
    String::from_utf8(out).unwrap()
}

fn minified(json: &str) -> String {
    let mut out = Vec::new();
    minify(json, &mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn every_ascii_character_at_every_place_is_escaped_as_serde_json_does() {
    for length in 1..=25 {
        for place in 0..length {
            for character in (0..128_u8).map(char::from).chain(['가', '\u{2028}', '😀', '\u{ff}'])
            {
                let mut text = "x".repeat(length);
                text.replace_range(place..=place, &character.to_string());
                assert_eq!(escaped(&text), serde_json::to_string(&text).unwrap());
            }
        }
    }
}

#[test]
fn a_byte_is_found_at_its_first_place_in_texts_of_any_length() {
    let find = |bytes: &[u8]| first(bytes, |word| places_of(word, all(b',')));
    for length in 0..40 {
        let mut bytes = vec![0x80; length];
        assert_eq!(find(&bytes), None);
        for place in (0..length).rev() {
            bytes[place] = b',';
            assert_eq!(find(&bytes), Some(place), "{length}");
        }
    }
}

#[test]
fn what_is_inside_strings_and_numbers_stays_byte_for_byte() {
    for (json, expected) in [
        (" { \"a b\" : 1.50 ,\r\n\t\"c\" : \"d \\\" e\\\\\" } ", r#"{"a b":1.50,"c":"d \" e\\"}"#),
        ("[1E+05, 1e5, -0.0, 12345678901234567890]", "[1E+05,1e5,-0.0,12345678901234567890]"),
        (r#""\u00e9\/ é""#, r#""\u00e9\/ é""#),
        ("\n null\n", "null"),
        ("[ ]", "[]"),
        (r#""\\""#, r#""\\""#),
    ] {
        assert_eq!(minified(json), expected);
    }
}

#[test]
fn a_bare_break_inside_a_string_cannot_break_the_line() {
    assert_eq!(minified("[\"a\nb\", \"c\td\"]"), r#"["a\nb","c\td"]"#);
}

#[test]
fn a_string_that_does_not_end_is_no_panic() {
    for json in ["\"", "\"a", "\"\\", "[\"a\\\"", "{\"a\": \"\n"] {
        minified(json);
    }
}

proptest! {
    #[test]
    fn strings_are_escaped_as_serde_json_does(text in any_text()) {
        prop_assert_eq!(escaped(&text), serde_json::to_string(&text).unwrap());
    }

    #[test]
    fn a_minified_document_is_what_serde_json_would_have_written(value in any_json()) {
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        prop_assert_eq!(minified(&pretty), serde_json::to_string(&value).unwrap());
    }
}
