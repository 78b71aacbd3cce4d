//! CSV, read back by a reader that forgives nothing.

use proptest::prelude::*;

use super::{Owned, any_rows, any_text, cell, column, encoded, with_values};
use crate::formats::{Format, Header, Options};
use crate::rows::{Kind, Value, parse_date, parse_time};

/// The records of a CSV; a field that was empty and unquoted is `None`.
///
/// Anything that RFC 4180 does not have is a panic: a bare CR or LF, a quote inside an unquoted
/// field, a last record without its line end.
pub(super) fn read(text: &str, delimiter: u8) -> Vec<Vec<Option<String>>> {
    let delimiter = char::from(delimiter);
    let mut records = vec![];
    let mut record = vec![];
    let mut rest = text;
    while !rest.is_empty() {
        let (field, after) = read_field(rest, delimiter);
        record.push(field);
        rest = if let Some(after) = after.strip_prefix("\r\n") {
            records.push(std::mem::take(&mut record));
            after
        } else {
            let after = after.strip_prefix(delimiter).expect("a delimiter or CRLF after a field");
            assert!(!after.is_empty(), "the last record does not end");
            after
        };
    }
    assert!(record.is_empty());
    records
}

fn read_field(text: &str, delimiter: char) -> (Option<String>, &str) {
    if !text.starts_with('"') {
        let end = text.find([delimiter, '\r', '\n']).unwrap_or(text.len());
        let (field, after) = text.split_at(end);
        assert!(!field.contains('"'), "a quote in an unquoted field");
        return ((!field.is_empty()).then(|| field.to_owned()), after);
    }
    let mut field = String::new();
    let mut rest = &text[1..];
    loop {
        let (inside, after) = rest.split_once('"').expect("a closing quote");
        field.push_str(inside);
        let Some(doubled) = after.strip_prefix('"') else {
            return (Some(field), after);
        };
        field.push('"');
        rest = doubled;
    }
}

fn plain() -> Options {
    Options { formula_guard: false, ..Options::default() }
}

#[test]
fn the_header_stands_also_without_rows() {
    let columns = [column("a", Kind::Int), column("b", Kind::Text)];
    let with = |header| Options { header, ..Options::default() };
    let head = |header| encoded(Format::Csv, &columns, &with(header), &[]);
    assert_eq!(head(Header::Title), "a title,b title\r\n");
    assert_eq!(head(Header::Key), "a,b\r\n");
    assert_eq!(head(Header::None), "");
}

#[test]
fn a_byte_order_mark_comes_first_when_asked_for_and_once() {
    let columns = [column("a", Kind::Int)];
    let rows = [vec![Value::Int(1)], vec![Value::Int(2)]];
    let options = Options { bom: true, ..Options::default() };
    let expected = "\u{FEFF}a title\r\n1\r\n2\r\n";
    assert_eq!(encoded(Format::Csv, &columns, &options, &rows), expected);
    let options = Options { bom: true, header: Header::None, ..Options::default() };
    assert_eq!(encoded(Format::Csv, &columns, &options, &rows), "\u{FEFF}1\r\n2\r\n");
}

#[test]
fn null_is_empty_and_an_empty_text_is_a_pair_of_quotes() {
    let columns = ["a", "b", "c"].map(|key| column(key, Kind::Text));
    let rows = [vec![Value::Null, Value::Text(""), Value::Null]];
    let options = Options { header: Header::None, ..Options::default() };
    assert_eq!(encoded(Format::Csv, &columns, &options, &rows), ",\"\",\r\n");
}

#[test]
fn a_field_is_quoted_for_its_delimiter_quotes_and_breaks_and_for_nothing_else() {
    for (text, expected) in [
        ("a,b", "\"a,b\""),
        ("a\"b\"", "\"a\"\"b\"\"\""),
        ("\"", "\"\"\"\""),
        ("a\rb", "\"a\rb\""),
        ("a\nb", "\"a\nb\""),
        ("a;b\tc d ", "a;b\tc d "),
        ("가나다라마바사", "가나다라마바사"),
    ] {
        let found = cell(Format::Csv, Kind::Text, Value::Text(text), &Options::default());
        assert_eq!(found, expected);
    }
}

#[test]
fn another_delimiter_is_the_one_that_is_quoted() {
    let columns = [column("a;", Kind::Text), column("b", Kind::Json)];
    let options = Options { delimiter: b';', header: Header::Key, ..Options::default() };
    let rows = [vec![Value::Text("a;b,c"), Value::Json("[1, 2]")]];
    let expected = "\"a;\";b\r\n\"a;b,c\";[1,2]\r\n";
    assert_eq!(encoded(Format::Csv, &columns, &options, &rows), expected);
}

#[test]
fn text_that_could_be_a_formula_is_guarded() {
    let options = Options::default();
    for (text, expected) in [
        ("=1+1", "'=1+1"),
        ("+82-10-1234-5678", "'+82-10-1234-5678"),
        ("-1+1", "'-1+1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1+1", "'\t=1+1"),
        ("\r=1+1", "\"'\r=1+1\""),
        ("=a,\"b\"", "\"'=a,\"\"b\"\"\""),
        ("-", "'-"),
        ("-1,000", "\"'-1,000\""),
        ("-1e5", "'-1e5"),
    ] {
        let found = cell(Format::Csv, Kind::Text, Value::Text(text), &options);
        assert_eq!(found, expected);
    }
}

#[test]
fn numbers_dates_and_plain_numbers_in_text_are_never_guarded() {
    let options = Options::default();
    for (kind, value, expected) in [
        (Kind::Text, Value::Text("-5"), "-5"),
        (Kind::Text, Value::Text("+5.25"), "+5.25"),
        (Kind::Int, Value::Int(-5), "-5"),
        (Kind::Decimal, Value::Decimal("-0.01"), "-0.01"),
        (Kind::Float, Value::Float(-1.5), "-1.5"),
        (Kind::Date, Value::Date(super::day(-43, 3, 15)), "-000043-03-15"),
        (Kind::Json, Value::Json("-1"), "-1"),
        (Kind::Text, Value::Text(" =1+1"), " =1+1"),
        (Kind::Text, Value::Text("'quoted"), "'quoted"),
    ] {
        assert_eq!(cell(Format::Csv, kind, value, &options), expected);
    }
}

#[test]
fn titles_and_misfit_text_are_guarded_as_text() {
    let mut formula = column("a", Kind::Int);
    formula.title = "=HYPERLINK(\"x\")".into();
    let rows = [vec![Value::Text("=1")]];
    let text = encoded(Format::Csv, &[formula.clone()], &Options::default(), &rows);
    assert_eq!(text, "\"'=HYPERLINK(\"\"x\"\")\"\r\n'=1\r\n");
    let text = encoded(Format::Csv, &[formula], &plain(), &rows);
    assert_eq!(text, "\"=HYPERLINK(\"\"x\"\")\"\r\n=1\r\n");
}

fn holds(found: Option<&str>, value: &Owned) -> Result<(), TestCaseError> {
    let text = found.unwrap_or("(null)");
    match value {
        Owned::Null => prop_assert_eq!(found, None),
        Owned::Bool(value) => prop_assert_eq!(text, value.to_string()),
        Owned::Int(value) => prop_assert_eq!(text, value.to_string()),
        Owned::Float(value) if value.is_finite() => {
            prop_assert_eq!(text.parse::<f64>().unwrap().to_bits(), value.to_bits());
        }
        Owned::Real(value) if value.is_finite() => {
            prop_assert_eq!(text.parse::<f32>().unwrap().to_bits(), value.to_bits());
        }
        Owned::Float(_) | Owned::Real(_) => prop_assert_eq!(found, None),
        Owned::Decimal(value) | Owned::Text(value) => prop_assert_eq!(text, value),
        Owned::Date(value) => prop_assert_eq!(parse_date(text), Ok(*value)),
        Owned::Time(value) => prop_assert_eq!(parse_time(text, None), Ok(*value)),
        Owned::Json(value) => prop_assert_eq!(text, serde_json::to_string(value).unwrap()),
    }
    Ok(())
}

proptest! {
    #[test]
    fn random_rows_read_back_from_csv(
        rows in any_rows(),
        title in any_text(),
        delimiter in prop::sample::select(b",;\t|".as_slice()),
    ) {
        let mut columns = ["a", "b", "c"].map(|key| column(key, Kind::Text));
        columns[1].title.clone_from(&title);
        let options = Options { delimiter, ..plain() };
        let text = with_values(&rows, |values| encoded(Format::Csv, &columns, &options, values));
        let records = read(&text, delimiter);
        prop_assert_eq!(records.len(), rows.len() + 1);
        prop_assert_eq!(records[0][1].as_ref(), Some(&title));
        for (record, row) in records[1..].iter().zip(&rows) {
            prop_assert_eq!(record.len(), 3);
            for (found, value) in record.iter().zip(row) {
                holds(found.as_deref(), value)?;
            }
        }
    }

    #[test]
    fn the_guard_changes_text_by_its_prefix_alone(text in any_text()) {
        let with = |guard| {
            let options = Options { formula_guard: guard, ..Options::default() };
            let text = encoded(Format::Csv, &[column("v", Kind::Text)], &options, &[vec![Value::Text(&text)]]);
            read(&text, b',')[1][0].clone().unwrap()
        };
        prop_assert_eq!(with(false), text.clone());
        let guarded = with(true);
        prop_assert_eq!(guarded.strip_prefix('\'').filter(|_| guarded != text).unwrap_or(&guarded), &text);
        prop_assert!(!guarded.starts_with(['=', '@', '\t', '\r']));
    }
}
