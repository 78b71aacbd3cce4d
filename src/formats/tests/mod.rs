//! Every format, value by value: known answers, other people's reports, and random rows read back
//! by an independent reader.

mod csv;
mod escape;
mod numbers;
mod object;
mod text;

use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::{Format, FormatEncoder, Options, encoder};
use crate::rows::{Column, Date, Encoder, Instant, Kind, Look, Value};

fn column(key: &str, kind: Kind) -> Column {
    Column { key: key.into(), title: format!("{key} title"), kind, look: Look::default() }
}

/// A day, so that tests need no calendar.
fn day(year: i32, month: u32, day: u32) -> Date {
    Date::from_ymd(year, month, day).unwrap()
}

fn at(text: &str) -> Instant {
    text.parse::<jiff::Timestamp>().unwrap().into()
}

/// All the bytes of an answer with these rows.
fn encoded(
    format: Format,
    columns: &[Column],
    options: &Options,
    rows: &[Vec<Value<'_>>],
) -> String {
    let mut out = Vec::new();
    let mut encoder = encoder(format, columns, options);
    encoder.begin(&mut out).unwrap();
    for row in rows {
        // A chunk that has gone is a new buffer: the encoder must not look back at the old one.
        let mut chunk = Vec::new();
        encoder.row(row, &mut chunk).unwrap();
        out.append(&mut chunk);
    }
    encoder.finish(&mut out).unwrap();
    assert_eq!(encoder.take_warnings(), []);
    String::from_utf8(out).unwrap()
}

/// The answer with one column and one row, without what stands around its value.
fn cell(format: Format, kind: Kind, value: Value<'_>, options: &Options) -> String {
    let text = encoded(format, &[column("v", kind)], options, &[vec![value]]);
    let (before, after) = match format {
        Format::Ndjson => ("{\"v\":", "}\n"),
        Format::Json => ("[\n{\"v\":", "}\n]\n"),
        Format::Csv => ("v title\r\n", "\r\n"),
        Format::Xlsx => panic!("a workbook is no text"),
    };
    text.strip_prefix(before).unwrap().strip_suffix(after).unwrap().to_owned()
}

/// A value that owns what a [`Value`] borrows.
#[derive(Debug, Clone)]
enum Owned {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Real(f32),
    Decimal(String),
    Text(String),
    Date(Date),
    Time(Instant),
    Json(serde_json::Value),
}

impl Owned {
    /// `json` holds the text of a JSON document, as a database would have it.
    fn value<'a>(&'a self, json: &'a str) -> Value<'a> {
        match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(*value),
            Self::Int(value) => Value::Int(*value),
            Self::Float(value) => Value::Float(*value),
            Self::Real(value) => Value::Real(*value),
            Self::Decimal(value) => Value::Decimal(value),
            Self::Text(value) => Value::Text(value),
            Self::Date(value) => Value::Date(*value),
            Self::Time(value) => Value::Time(*value),
            Self::Json(_) => Value::Json(json),
        }
    }

    /// The text of a JSON document with as much white space as there can be.
    fn json(&self) -> String {
        match self {
            Self::Json(value) => {
                serde_json::to_string_pretty(value).unwrap().replace('\n', "\r\n\t")
            }
            _ => String::new(),
        }
    }
}

/// Text with more of what needs care than chance would bring.
fn any_text() -> impl Strategy<Value = String> + Clone {
    prop_oneof![
        "[\\x00-\\x7f]{0,40}",
        "[가-힣a-z]{0,20}",
        "[\"\\\\\r\n\t,;'=+@0-9.-]{0,12}",
        any::<String>(),
    ]
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any_text().prop_map(Into::into),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Into::into),
            prop::collection::vec((any_text(), inner), 0..5)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

fn any_value() -> impl Strategy<Value = Owned> {
    // Years of four digits, which every reader knows; the others have tests of their own.
    let seconds = -62_135_596_800..253_402_214_400_i64;
    prop_oneof![
        Just(Owned::Null),
        any::<bool>().prop_map(Owned::Bool),
        any::<i64>().prop_map(Owned::Int),
        any::<f64>().prop_map(Owned::Float),
        any::<f32>().prop_map(Owned::Real),
        "-?(0|[1-9][0-9]{0,40})(\\.[0-9]{1,20})?".prop_map(Owned::Decimal),
        any_text().prop_map(Owned::Text),
        (-719_162..=2_932_896_i32).prop_map(|days| Owned::Date(Date { days })),
        (seconds, 0..1_000_000_000_u32)
            .prop_map(|(seconds, nanos)| Owned::Time(Instant { seconds, nanos })),
        any_json().prop_map(Owned::Json),
    ]
}

/// Rows of three columns, of any values in any of them.
fn any_rows() -> impl Strategy<Value = Vec<Vec<Owned>>> {
    prop::collection::vec(prop::collection::vec(any_value(), 3), 0..6)
}

fn with_values<T>(rows: &[Vec<Owned>], act: impl FnOnce(&[Vec<Value<'_>>]) -> T) -> T {
    let json: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(Owned::json).collect()).collect();
    let values: Vec<Vec<Value<'_>>> = rows
        .iter()
        .zip(&json)
        .map(|(row, json)| row.iter().zip(json).map(|(value, json)| value.value(json)).collect())
        .collect();
    act(&values)
}

#[test]
fn every_format_is_found_by_its_name_and_by_no_other() {
    for format in Format::ALL {
        assert_eq!(Format::from_name(format.name()), Some(format));
        assert_eq!(format.extension(), format.name());
    }
    for name in ["", "NDJSON", "jsonl", "pdf"] {
        assert_eq!(Format::from_name(name), None, "{name}");
    }
    assert_eq!(Format::Csv.media_type(), "text/csv; charset=utf-8");
}

#[test]
fn the_defaults_are_those_of_the_api() {
    let options = Options::default();
    assert_eq!(options.zone.iana_name(), Some("Asia/Seoul"));
    assert_eq!(options.numbers.name(), "number");
    assert_eq!(options.header.name(), "title");
    assert_eq!((options.bom, options.delimiter, options.formula_guard), (false, b',', true));
}

#[test]
fn a_row_of_another_width_is_refused_and_nothing_of_it_written() {
    for format in Format::ALL {
        let columns = [column("a", Kind::Int), column("b", Kind::Int)];
        let mut encoder: FormatEncoder = encoder(format, &columns, &Options::default());
        let mut out = Vec::new();
        assert!(encoder.row(&[Value::Int(1)], &mut out).is_err());
        assert_eq!(out, b"");
    }
}

/// Holds one line of the type table, as JSON and as CSV have it.
fn is_written(kind: Kind, value: Value<'_>, json: &str, csv: &str) {
    let options = Options::default();
    assert_eq!(cell(Format::Ndjson, kind, value, &options), json, "{value:?}");
    assert_eq!(cell(Format::Json, kind, value, &options), json, "{value:?}");
    assert_eq!(cell(Format::Csv, kind, value, &options), csv, "{value:?}");
}

#[test]
fn numbers_and_truth_are_written_alike_in_every_format() {
    let long = "12345678901234567890.1234567890";
    for (kind, value, expected) in [
        (Kind::Int, Value::Int(i64::MIN), "-9223372036854775808"),
        (Kind::Int, Value::Decimal("18446744073709551615"), "18446744073709551615"),
        (Kind::Decimal, Value::Decimal(long), long),
        (Kind::Decimal, Value::Decimal("1.10"), "1.10"),
        (Kind::Float, Value::Float(0.1), "0.1"),
        (Kind::Float, Value::Real(0.1), "0.1"),
        (Kind::Bool, Value::Bool(true), "true"),
        (Kind::Bool, Value::Bool(false), "false"),
    ] {
        is_written(kind, value, expected, expected);
    }
}

#[test]
fn what_no_format_has_is_null_or_empty() {
    for value in [
        Value::Null,
        Value::Float(f64::NAN),
        Value::Float(f64::INFINITY),
        Value::Real(f32::NEG_INFINITY),
        Value::Real(f32::NAN),
    ] {
        is_written(Kind::Float, value, "null", "");
    }
    is_written(Kind::Text, Value::Null, "null", "");
    is_written(Kind::Json, Value::Null, "null", "");
}

#[test]
fn text_days_and_documents_are_written_as_the_type_table_says() {
    is_written(Kind::Text, Value::Text("가\"나"), r#""가\"나""#, "\"가\"\"나\"");
    is_written(Kind::Text, Value::Text(""), "\"\"", "\"\"");
    is_written(Kind::Date, Value::Date(day(2026, 1, 31)), "\"2026-01-31\"", "2026-01-31");
    let document = Value::Json("{ \"a\" : [1,\n 2] }");
    is_written(Kind::Json, document, "{\"a\":[1,2]}", "\"{\"\"a\"\":[1,2]}\"");
}

#[test]
fn times_are_shown_in_the_zone_asked_for() {
    let time = Value::Time(at("2026-01-31T14:59:59.123456Z"));
    let seoul = "2026-01-31T23:59:59.123456+09:00";
    is_written(Kind::Time, time, &format!("\"{seoul}\""), seoul);
    let utc = Options { zone: TimeZone::UTC, ..Options::default() };
    let shown = cell(Format::Csv, Kind::Time, time, &utc);
    assert_eq!(shown, "2026-01-31T14:59:59.123456Z");
}
