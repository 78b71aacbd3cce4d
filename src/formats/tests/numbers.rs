//! Numbers that others have lost digits of: beyond 2^53, beyond 64 bits, at the ends of floats.

use super::{column, encoded};
use crate::formats::{Format, Header, Numbers, Options};
use crate::rows::{Column, Kind, Value};

const ROWS: &str = include_str!("../../../tests/fixtures/031-export-numbers/rows.json");

#[derive(serde::Deserialize)]
struct Row {
    id: String,
    i8: Option<String>,
    n: Option<String>,
    money: Option<String>,
    f8: Option<String>,
    f4: Option<String>,
}

impl Row {
    fn values(&self) -> Vec<Value<'_>> {
        fn digits(text: Option<&String>) -> Value<'_> {
            text.map_or(Value::Null, |text| Value::Decimal(text))
        }
        vec![
            Value::Int(self.id.parse().unwrap()),
            self.i8.as_ref().map_or(Value::Null, |text| Value::Int(text.parse().unwrap())),
            digits(self.n.as_ref()),
            digits(self.money.as_ref()),
            self.f8.as_ref().map_or(Value::Null, |text| Value::Float(text.parse().unwrap())),
            self.f4.as_ref().map_or(Value::Null, |text| Value::Real(text.parse().unwrap())),
        ]
    }
}

fn columns() -> [Column; 6] {
    [
        ("id", Kind::Int),
        ("i8", Kind::Int),
        ("n", Kind::Decimal),
        ("money", Kind::Decimal),
        ("f8", Kind::Float),
        ("f4", Kind::Float),
    ]
    .map(|(key, kind)| column(key, kind))
}

fn written(format: Format, options: &Options) -> String {
    let rows: Vec<Row> = serde_json::from_str(ROWS).unwrap();
    let rows: Vec<_> = rows.iter().map(Row::values).collect();
    encoded(format, &columns(), options, &rows)
}

#[test]
fn ndjson_has_every_digit_of_every_number() {
    let expected = r#"{"id":1,"i8":9007199254740993,"n":12345678901234567890.1234567890,"money":57.70,"f8":0.1,"f4":0.1}
{"id":2,"i8":-9223372036854775808,"n":0.0000000001,"money":-0.01,"f8":null,"f4":null}
{"id":3,"i8":9223372036854775807,"n":100000000.0000000001,"money":9999999999999.99,"f8":null,"f4":null}
{"id":4,"i8":1405202108700589,"n":1.0000000000,"money":0.00,"f8":1e+308,"f4":3.4e+38}
{"id":5,"i8":123456789012345,"n":1.1000000000,"money":1234.50,"f8":5e-324,"f4":1e-45}
{"id":6,"i8":0,"n":0.0000000000,"money":0.00,"f8":-0.0,"f4":0.0}
{"id":7,"i8":null,"n":null,"money":null,"f8":null,"f4":null}
"#;
    assert_eq!(written(Format::Ndjson, &Options::default()), expected);
}

#[test]
fn numbers_as_strings_have_the_same_digits() {
    let options = Options { numbers: Numbers::String, ..Options::default() };
    let text = written(Format::Ndjson, &options);
    let first = r#"{"id":"1","i8":"9007199254740993","n":"12345678901234567890.1234567890","money":"57.70","f8":0.1,"f4":0.1}"#;
    assert_eq!(text.lines().next(), Some(first));
    let last = r#"{"id":"7","i8":null,"n":null,"money":null,"f8":null,"f4":null}"#;
    assert_eq!(text.lines().last(), Some(last));
}

#[test]
fn csv_has_every_digit_of_every_number_and_no_quotes() {
    let expected = "\
        id,i8,n,money,f8,f4\r\n\
        1,9007199254740993,12345678901234567890.1234567890,57.70,0.1,0.1\r\n\
        2,-9223372036854775808,0.0000000001,-0.01,,\r\n\
        3,9223372036854775807,100000000.0000000001,9999999999999.99,,\r\n\
        4,1405202108700589,1.0000000000,0.00,1e+308,3.4e+38\r\n\
        5,123456789012345,1.1000000000,1234.50,5e-324,1e-45\r\n\
        6,0,0.0000000000,0.00,-0.0,0.0\r\n\
        7,,,,,\r\n";
    let options = Options { header: Header::Key, ..Options::default() };
    assert_eq!(written(Format::Csv, &options), expected);
}
