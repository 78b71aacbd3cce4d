//! Separated values, as programs write them and as they should not.

use proptest::prelude::*;

use super::{LIMITS, read_bytes, read_bytes_with, refused_for};
use crate::sheets::Limits;

/// The rows of a text.
#[track_caller]
fn rows(text: impl AsRef<[u8]>) -> Vec<(u64, String)> {
    read_bytes(text.as_ref()).expect("it is read").rows
}

#[track_caller]
fn gives(text: &str, expected: &[(u64, &str)]) {
    let rows = rows(text);
    let rows: Vec<_> = rows.iter().map(|(number, row)| (*number, row.as_str())).collect();
    assert_eq!(rows, expected, "{text:?}");
}

fn delimiter(text: &str) -> Option<char> {
    read_bytes(text.as_bytes()).expect("it is read").outline().delimiter
}

#[test]
fn every_line_end_is_one_and_blank_lines_are_counted() {
    for end in ["\n", "\r\n", "\r"] {
        let text = ["a,b", "", "1,2", "", "", "3,4"].join(end);
        gives(&text, &[(1, "a|b"), (3, "1|2"), (6, "3|4")]);
        gives(&format!("{text}{end}"), &[(1, "a|b"), (3, "1|2"), (6, "3|4")]);
    }
    gives("a\n\r\nb\r\rc", &[(1, "a"), (3, "b"), (5, "c")]);
}

#[test]
fn a_line_end_between_quotes_belongs_to_the_value_and_is_no_row() {
    gives("a,\"x\r\ny\n\nz\",b\n1,2,3\n", &[(1, "a|x\r\ny\n\nz|b"), (2, "1|2|3")]);
}

#[test]
fn an_empty_value_is_nothing_and_an_empty_text_in_quotes_a_text() {
    gives("a,b,c\n,\"\",\n,,\n\"\"\n", &[(1, "a|b|c"), (2, "|\"\""), (4, "\"\"")]);
}

#[test]
fn quotes_are_doubled_within_and_kept_without() {
    let text = "a,b,c\n\"x\"\"y\",\"\"\"\",5\" z\n\"a\"b\"c\",d, \"e\"\n";
    gives(text, &[(1, "a|b|c"), (2, "x\"y|\"|5\" z"), (3, "ab\"c\"|d| \"e\"")]);
}

#[test]
fn the_delimiter_is_the_one_that_the_records_agree_on() {
    assert_eq!(delimiter("a,b\n1,2\n"), Some(','));
    assert_eq!(delimiter("이름;금액;세금\n가;1,5;0,15\n나;2,5;0,25\n"), Some(';'));
    assert_eq!(delimiter("a\tb, c\n1\t2\n"), Some('\t'));
    assert_eq!(delimiter("a|b|c\n1|2, 3|4\n5|6|7\n"), Some('|'));
    assert_eq!(delimiter("a;b\n\"1;;,,,\n;\";2\n"), Some(';'), "not within quotes");
    assert_eq!(delimiter("just one column\nx\n"), Some(','));
    assert_eq!(delimiter("2024년 거래 내역\n\na;b;c\n1;2;3\n4;5;6\n"), Some(';'));
}

#[test]
fn a_line_that_names_the_delimiter_is_believed_and_is_no_row() {
    gives("sep=;\r\na,b;c\r\n", &[(1, "a,b|c")]);
    gives("SEP=:\na:b\n", &[(1, "a|b")]);
    gives("sep=,x\n", &[(1, "sep=|x")]);
}

#[test]
fn the_guard_against_formulas_is_taken_off_again() {
    let text = "t\n'=1+1\n'+x\n'-5\n'-5x\n'@a\n'\tx\n\"'\rx\"\n'x\n'\n''=1\n";
    let values = ["t", "=1+1", "+x", "'-5", "-5x", "@a", "\tx", "\rx", "'x", "'", "''=1"];
    let expected: Vec<_> = (1..).zip(values).collect();
    gives(text, &expected);
}

#[test]
fn an_open_quote_is_named_by_the_line_it_is_in() {
    let text = "a,b\n\"x\ny\",1\n\"z,2\n3,4\n";
    refused_for(read_bytes(text.as_bytes()), "unterminated_quote", &["row 3", "line 4"]);
    let long = format!("a,b\n1,\"{}", "x\n".repeat(600_000));
    let read = read_bytes(long.as_bytes());
    refused_for(read, "value_too_large", &["row 2", "1 MiB", "line 2"]);
}

#[test]
fn what_is_larger_than_any_row_is_refused_with_its_number() {
    let wide = format!("a\n{}\n", ",".repeat(20_000));
    refused_for(read_bytes(wide.as_bytes()), "too_many_columns", &["row 2", "16384"]);
    let value = "x".repeat(1 << 20);
    let heavy = format!("a\n{}\n", [value.as_str(); 17].join(","));
    refused_for(read_bytes(heavy.as_bytes()), "row_too_large", &["row 2", "16 MiB"]);
    let limits = Limits { columns: 3, ..LIMITS };
    let read = read_bytes_with(b"a,b,c,,,,\n1,2,3,4\n", None, &limits);
    refused_for(read, "too_many_columns", &["row 2", "4 values", "3 columns", "to C"]);
}

#[test]
fn utf_16_is_read_by_its_mark_and_refused_where_it_is_broken() {
    let text = "이름,값\n\"가,나\",😀\n";
    for (mark, bytes) in [
        ([0xFF, 0xFE], text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>()),
        ([0xFE, 0xFF], text.encode_utf16().flat_map(u16::to_be_bytes).collect()),
    ] {
        let file = [mark.as_slice(), &bytes].concat();
        assert_eq!(rows(&file), [(1, "이름|값".to_owned()), (2, "가,나|😀".to_owned())]);
        let broken = [&file[..], &[0xD8, 0xD8, 0xD8, 0xD8]].concat();
        refused_for(read_bytes(&broken), "unknown_encoding", &["line 3", "UTF-16"]);
    }
}

#[test]
fn a_text_has_one_sheet_and_no_other() {
    assert_eq!(read_bytes_with(b"a,b\n", Some("1"), &LIMITS).expect("it is read").rows.len(), 1);
    refused_for(read_bytes_with(b"a,b\n", Some("거래"), &LIMITS), "no_such_sheet", &["no sheets"]);
}

#[test]
fn bytes_that_mean_nothing_are_named_by_their_line() {
    let both = b"a,b\n1,2\n\xFF\xFF,3\n";
    refused_for(read_bytes(both), "unknown_encoding", &["line 3", "UTF-8", "CP949"]);
    let late = [b"a,b\n".repeat(100_000), b"\x80".to_vec()].concat();
    refused_for(read_bytes(&late), "unknown_encoding", &["line 100001"]);
    // A text that was meant to be UTF-8 is not read as CP949, although it could be.
    let (korean, cut) = ("가나다라,한글\n".as_bytes(), b"\xB0\xA1,x\n");
    let mixed = [korean, cut].concat();
    refused_for(read_bytes(&mixed), "unknown_encoding", &["line 2"]);
}

#[test]
fn a_text_in_two_pieces_is_decoded_across_their_border() {
    for shift in 0..3 {
        let text = format!("{}{}", "x".repeat(shift), "가".repeat(200_000));
        let (korean, _, lossy) = encoding_rs::EUC_KR.encode(&text);
        assert!(!lossy);
        for bytes in [text.as_bytes(), &korean] {
            let lines: Vec<_> = bytes.chunks(90_000 - shift * 7).collect();
            assert_eq!(rows(bytes).len(), 1, "{}", lines.len());
            assert!(rows(bytes)[0].1 == text);
        }
    }
}

/// A value, whether it is in quotes, and whether it is nothing.
fn value() -> impl Strategy<Value = Option<String>> {
    prop_oneof![
        Just(None),
        "[a-z가-힣0-9 .\"',;|\t\r\n]{0,12}".prop_map(Some),
        "[=+@'-][a-z0-9.]{0,4}".prop_map(Some),
    ]
}

fn written(value: Option<&str>, delimiter: char) -> String {
    let Some(text) = value else { return String::new() };
    let special = text.is_empty() || text.contains([delimiter, '"', '\r', '\n']);
    if special { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

proptest! {
    #[test]
    fn what_is_written_by_the_rules_is_read_again(
        table in prop::collection::vec(prop::collection::vec(value(), 2..6), 1..8),
        delimiter in prop::sample::select(vec![',', ';', '\t', '|']),
        end in prop::sample::select(vec!["\r\n", "\n", "\r"]),
    ) {
        let mut text = format!("sep={delimiter}{end}");
        let mut expected = Vec::new();
        for (row, number) in table.iter().zip(1_u64..) {
            let fields: Vec<_> =
                row.iter().map(|value| written(value.as_deref(), delimiter)).collect();
            text += &fields.join(&delimiter.to_string());
            text += end;
            let width = row.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
            let guarded = row.iter().flatten().any(|text| text.starts_with('\''));
            if width > 0 && !guarded {
                let shown: Vec<_> = row[..width].iter().map(|value| match value.as_deref() {
                    None => String::new(),
                    Some("") => "\"\"".into(),
                    Some(text) => text.into(),
                }).collect();
                expected.push((number, shown.join("|")));
            } else if width > 0 {
                expected.push((number, String::new()));
            }
        }
        let rows = rows(&text);
        prop_assert_eq!(rows.len(), expected.len());
        for (row, expected) in rows.iter().zip(&expected) {
            prop_assert_eq!(row.0, expected.0);
            if !expected.1.is_empty() {
                prop_assert_eq!(&row.1, &expected.1);
            }
        }
    }

    #[test]
    fn no_text_whatever_makes_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        if let Err(error) = read_bytes(&bytes) {
            prop_assert!(matches!(error, crate::error::Error::Invalid(_)), "{error:?}");
        }
    }
}
