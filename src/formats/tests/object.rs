//! NDJSON and JSON.

use std::collections::HashMap;

use proptest::prelude::*;
use serde_json::value::RawValue;

use super::{Owned, any_rows, any_text, at, cell, column, encoded, with_values};
use crate::formats::{Format, Numbers, Options};
use crate::rows::{Instant, Kind, Value, parse_date, parse_time};

#[test]
fn keys_stand_in_column_order_and_a_line_feed_after_each_object() {
    let columns = [column("나", Kind::Int), column("a \"b\"", Kind::Text), column("c", Kind::Bool)];
    let rows = [
        vec![Value::Int(1), Value::Text("x\ny"), Value::Null],
        vec![Value::Null, Value::Null, Value::Bool(true)],
    ];
    let expected = concat!(
        r#"{"나":1,"a \"b\"":"x\ny","c":null}"#,
        "\n",
        r#"{"나":null,"a \"b\"":null,"c":true}"#,
        "\n"
    );
    assert_eq!(encoded(Format::Ndjson, &columns, &Options::default(), &rows), expected);
}

#[test]
fn json_is_one_array_with_an_object_a_line() {
    let columns = [column("a", Kind::Int)];
    let rows = [vec![Value::Int(1)], vec![Value::Int(2)], vec![Value::Int(3)]];
    let text = encoded(Format::Json, &columns, &Options::default(), &rows);
    assert_eq!(text, "[\n{\"a\":1},\n{\"a\":2},\n{\"a\":3}\n]\n");
    let one = encoded(Format::Json, &columns, &Options::default(), &rows[..1]);
    assert_eq!(one, "[\n{\"a\":1}\n]\n");
}

#[test]
fn without_rows_ndjson_is_empty_and_json_an_empty_array() {
    let columns = [column("a", Kind::Int)];
    assert_eq!(encoded(Format::Ndjson, &columns, &Options::default(), &[]), "");
    assert_eq!(encoded(Format::Json, &columns, &Options::default(), &[]), "[]\n");
}

#[test]
fn a_row_without_columns_is_an_empty_object() {
    let rows = [vec![], vec![]];
    assert_eq!(encoded(Format::Ndjson, &[], &Options::default(), &rows), "{}\n{}\n");
    assert_eq!(encoded(Format::Json, &[], &Options::default(), &rows), "[\n{},\n{}\n]\n");
}

#[test]
fn numbers_as_strings_quotes_int_and_decimal_columns_and_no_others() {
    let options = Options { numbers: Numbers::String, ..Options::default() };
    for (kind, value, expected) in [
        (Kind::Int, Value::Int(-5), "\"-5\""),
        (Kind::Int, Value::Decimal("18446744073709551615"), "\"18446744073709551615\""),
        (Kind::Decimal, Value::Decimal("57.70"), "\"57.70\""),
        (Kind::Decimal, Value::Int(3), "\"3\""),
        (Kind::Decimal, Value::Float(0.5), "\"0.5\""),
        (Kind::Decimal, Value::Float(f64::NAN), "null"),
        (Kind::Int, Value::Null, "null"),
        (Kind::Int, Value::Bool(true), "true"),
        (Kind::Float, Value::Float(0.5), "0.5"),
        (Kind::Float, Value::Int(5), "5"),
        (Kind::Json, Value::Json("[1]"), "[1]"),
    ] {
        assert_eq!(cell(Format::Ndjson, kind, value, &options), expected, "{value:?}");
    }
}

#[test]
fn leading_zeros_which_json_does_not_have_are_left_out_of_numbers() {
    let options = Options::default();
    for (digits, expected) in
        [("007", "7"), ("-007.50", "-7.50"), ("000", "0"), ("00.5", "0.5"), ("0.50", "0.50")]
    {
        assert_eq!(cell(Format::Json, Kind::Decimal, Value::Decimal(digits), &options), expected);
    }
    let strings = Options { numbers: Numbers::String, ..options };
    let kept = cell(Format::Json, Kind::Decimal, Value::Decimal("007"), &strings);
    assert_eq!(kept, "\"007\"");
}

#[test]
fn a_value_that_does_not_fit_its_column_is_written_by_what_it_is() {
    let options = Options::default();
    for (kind, value, expected) in [
        (Kind::Int, Value::Text("열둘"), "\"열둘\""),
        (Kind::Text, Value::Int(12), "12"),
        (Kind::Date, Value::Bool(false), "false"),
        (Kind::Bool, Value::Decimal("1.5"), "1.5"),
        (Kind::Date, Value::Time(at("2026-01-31T15:00:00Z")), "\"2026-02-01T00:00:00+09:00\""),
        (Kind::Int, Value::Json("[1, 2]"), "[1,2]"),
    ] {
        assert_eq!(cell(Format::Ndjson, kind, value, &options), expected, "{value:?}");
    }
}

#[test]
fn a_document_of_white_space_alone_is_null() {
    assert_eq!(cell(Format::Ndjson, Kind::Json, Value::Json(" \n"), &Options::default()), "null");
}

fn holds(found: &RawValue, value: &Owned) -> Result<(), TestCaseError> {
    let string = || serde_json::from_str::<String>(found.get()).unwrap();
    match value {
        Owned::Null => prop_assert_eq!(found.get(), "null"),
        Owned::Bool(value) => prop_assert_eq!(found.get(), value.to_string()),
        Owned::Int(value) => prop_assert_eq!(found.get(), value.to_string()),
        Owned::Float(value) if value.is_finite() => {
            prop_assert_eq!(found.get().parse::<f64>().unwrap().to_bits(), value.to_bits());
        }
        Owned::Real(value) if value.is_finite() => {
            prop_assert_eq!(found.get().parse::<f32>().unwrap().to_bits(), value.to_bits());
        }
        Owned::Float(_) | Owned::Real(_) => prop_assert_eq!(found.get(), "null"),
        Owned::Decimal(value) => prop_assert_eq!(found.get(), value),
        Owned::Text(value) => prop_assert_eq!(&string(), value),
        Owned::Date(value) => prop_assert_eq!(parse_date(&string()), Ok(*value)),
        Owned::Time(value) => {
            let jiff: jiff::Timestamp = string().parse().unwrap();
            prop_assert_eq!(Instant::from(jiff), *value);
            prop_assert_eq!(parse_time(&string(), None), Ok(*value));
        }
        Owned::Json(value) => {
            prop_assert_eq!(found.get(), serde_json::to_string(value).unwrap());
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn random_rows_read_back_from_ndjson_and_json(rows in any_rows(), suffix in any_text()) {
        let keys = [format!("a{suffix}"), format!("b{suffix}"), "c".to_owned()];
        let columns = keys.each_ref().map(|key| column(key, Kind::Text));
        let options = Options::default();
        let (lines, array) = with_values(&rows, |values| {
            let lines = encoded(Format::Ndjson, &columns, &options, values);
            (lines, encoded(Format::Json, &columns, &options, values))
        });
        prop_assert_eq!(lines.matches('\n').count(), rows.len());
        let lines: Vec<HashMap<String, &RawValue>> =
            lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let array: Vec<HashMap<String, &RawValue>> = serde_json::from_str(&array).unwrap();
        prop_assert_eq!(array.len(), rows.len());
        for ((line, object), row) in lines.iter().zip(&array).zip(&rows) {
            prop_assert_eq!(line.len(), keys.len());
            for (key, value) in keys.iter().zip(row) {
                holds(line[key], value)?;
                holds(object[key], value)?;
            }
        }
    }
}
