//! Every type, value by value.

use calamine::Data;

use super::{at, book, cell, column, day, made, number_format, part, read, utc};
use crate::formats::Options;
use crate::formats::xlsx::XlsxEncoder;
use crate::rows::{Column, Kind, Look, Value};

fn inline(text: &str) -> String {
    format!("t=\"inlineStr\"><is><t>{text}</t></is>")
}

/// The number in a cell; empty where it holds none.
fn number(kind: Kind, value: Value<'_>) -> String {
    let cell = cell(kind, value);
    let value = cell.split_once("<v>").filter(|_| !cell.contains(" t="));
    let number = value.map(|(_, rest)| rest.trim_end_matches("</v>").parse::<f64>().unwrap());
    // However it is written, what counts is what is read.
    number.map_or(String::new(), |number| number.to_string())
}

#[test]
fn whole_numbers_are_numbers_up_to_15_digits_and_text_beyond() {
    for (value, expected) in [
        (Value::Int(0), "0"),
        (Value::Int(-5), "-5"),
        (Value::Int(999_999_999_999_999), "999999999999999"),
        (Value::Int(-999_999_999_999_999), "-999999999999999"),
        (Value::Decimal("123456789012345"), "123456789012345"),
    ] {
        assert_eq!(number(Kind::Int, value), expected);
    }
    for (value, expected) in [
        (Value::Int(1_000_000_000_000_000), "1000000000000000"),
        (Value::Int(i64::MIN), "-9223372036854775808"),
        (Value::Decimal("18446744073709551615"), "18446744073709551615"),
    ] {
        assert!(cell(Kind::Int, value).ends_with(&inline(expected)), "{expected}");
    }
}

#[test]
fn decimals_show_their_scale_and_are_text_beyond_15_significant_digits() {
    for (digits, expected, format) in [
        ("57.70", "57.7", "0.00"),
        ("-0.01", "-0.01", "0.00"),
        ("-0.00", "0", "0.00"),
        ("9999999999999.99", "9999999999999.99", "0.00"),
        ("1.1000000000", "1.1", "0.0000000000"),
        ("0.0000000001", "0.0000000001", "0.0000000000"),
        ("123456789012345.000", "123456789012345", "0.000"),
        ("0012", "12", "0"),
    ] {
        let value = Value::Decimal(digits);
        assert_eq!(number(Kind::Decimal, value), expected);
        let book = book(&[column("v", Kind::Decimal)], &utc(), &[vec![value]]);
        assert_eq!(number_format(&book), format, "{digits}");
    }
    let tiny = format!("0.{}1", "0".repeat(30));
    for digits in ["100000000.0000000001", "1000000000000000.00", "0.1234567890123456", &tiny] {
        assert!(cell(Kind::Decimal, Value::Decimal(digits)).ends_with(&inline(digits)), "{digits}");
    }
}

#[test]
fn a_decimal_of_another_scale_than_the_first_shows_its_own() {
    let rows = ["1.50", "2.500", "3.50"].map(|digits| vec![Value::Decimal(digits)]);
    let sheet =
        part(&book(&[column("v", Kind::Decimal)], &utc(), &rows), "xl/worksheets/sheet1.xml");
    let styles: Vec<_> = ["A2", "A3", "A4"]
        .map(|place| {
            let (_, cell) = sheet.split_once(&format!("<c r=\"{place}\" s=\"")).unwrap();
            cell.split_once('"').unwrap().0.to_owned()
        })
        .into();
    assert_eq!(styles[0], styles[2]);
    assert_ne!(styles[0], styles[1]);
}

#[test]
fn floats_are_numbers_and_what_excel_has_not_is_empty() {
    assert_eq!(number(Kind::Float, Value::Float(0.1)), "0.1");
    assert_eq!(number(Kind::Float, Value::Real(0.1)), "0.1");
    assert_eq!(number(Kind::Float, Value::Float(-0.0)), "0");
    for value in [
        Value::Float(f64::NAN),
        Value::Float(f64::INFINITY),
        Value::Real(f32::NEG_INFINITY),
        Value::Null,
    ] {
        assert_eq!(cell(Kind::Float, value), "", "{value:?}");
    }
}

#[test]
fn truth_is_a_boolean_and_a_document_is_text_on_one_line() {
    assert_eq!(cell(Kind::Bool, Value::Bool(true)), "t=\"b\"><v>1</v>");
    assert_eq!(cell(Kind::Bool, Value::Bool(false)), "t=\"b\"><v>0</v>");
    let document = cell(Kind::Json, Value::Json("{ \"a\" : [1,\n 2] }"));
    assert_eq!(document, inline("{\"a\":[1,2]}"));
}

#[test]
fn days_are_date_cells_from_1900_to_9999_and_text_outside() {
    for (value, expected) in [
        (day(1900, 1, 1), "1"),
        (day(1900, 2, 28), "59"),
        (day(1900, 3, 1), "61"),
        (day(2026, 1, 31), "46053"),
        (day(9999, 12, 31), "2958465"),
    ] {
        assert_eq!(number(Kind::Date, Value::Date(value)), expected);
        let book = book(&[column("v", Kind::Date)], &utc(), &[vec![Value::Date(value)]]);
        assert_eq!(number_format(&book), "yyyy-mm-dd");
    }
    for (value, expected) in
        [(day(1899, 12, 31), "1899-12-31"), (day(10_000, 1, 1), "+010000-01-01")]
    {
        assert!(cell(Kind::Date, Value::Date(value)).ends_with(&inline(expected)), "{expected}");
    }
}

#[test]
fn moments_are_shown_on_the_wall_clock_of_the_zone_and_never_a_second_early() {
    let shown = |text: &str, options: &Options| {
        let book = book(&[column("v", Kind::Time)], options, &[vec![Value::Time(at(text))]]);
        let rows = read(&book).remove(0).1;
        let Data::DateTime(time) = &rows[1][0] else { panic!("{:?}", rows[1][0]) };
        let (year, month, day, hour, minute, second, millis) = time.to_ymd_hms_milli();
        let shown = format!("{year}-{month}-{day} {hour}:{minute}:{second}.{millis}");
        (shown, number_format(&book))
    };
    let seoul = Options::default();
    let (whole, fine) = ("yyyy-mm-dd hh:mm:ss".to_owned(), "yyyy-mm-dd hh:mm:ss.000".to_owned());
    let is = |shown: &str, format: &String| (shown.to_owned(), format.clone());
    assert_eq!(shown("2026-01-31T14:59:59Z", &seoul), is("2026-1-31 23:59:59.0", &whole));
    let late = "2026-01-31T23:59:59.999999Z";
    assert_eq!(shown(late, &utc()), is("2026-1-31 23:59:59.999", &fine));
    assert_eq!(shown(late, &seoul), is("2026-2-1 8:59:59.999", &fine));
    assert_eq!(shown("2026-01-31T00:00:00.0009Z", &utc()), is("2026-1-31 0:0:0.0", &whole));
    let old = cell(Kind::Time, Value::Time(at("1899-12-31T23:59:59.5Z")));
    assert!(old.ends_with(&inline("1899-12-31T23:59:59.5Z")), "{old}");
}

#[test]
fn a_definition_says_how_a_column_looks() {
    let look = Look { width: Some(33.0), format: Some("#,##0".into()) };
    let column = |kind| Column { look: look.clone(), ..column("v", kind) };
    for (kind, value) in [
        (Kind::Int, Value::Int(1)),
        (Kind::Decimal, Value::Decimal("1.50")),
        (Kind::Time, Value::Time(at("2026-01-31T00:00:00.5Z"))),
    ] {
        let book = book(&[column(kind)], &utc(), &[vec![value]]);
        assert_eq!(number_format(&book), "#,##0");
        assert!(part(&book, "xl/worksheets/sheet1.xml").contains("width=\"33."));
    }
}

#[test]
fn a_value_of_another_kind_is_written_by_what_it_is() {
    let written = |kind, value| {
        let book = book(&[column("v", kind)], &utc(), &[vec![value]]);
        (read(&book).remove(0).1[1][0].clone(), number_format(&book))
    };
    let (value, format) = written(Kind::Int, Value::Date(day(2026, 1, 31)));
    assert!(matches!(value, Data::DateTime(_)), "{value:?}");
    assert_eq!(format, "yyyy-mm-dd");
    let (value, format) = written(Kind::Date, Value::Int(5));
    assert_eq!((value, &*format), (Data::Float(5.0), "0"));
    let (value, format) = written(Kind::Text, Value::Decimal("1.50"));
    assert_eq!((value, &*format), (Data::Float(1.5), "0.00"));
}

#[test]
fn text_is_text_whatever_it_looks_like_and_escaped_as_excel_does() {
    for (text, expected) in [
        ("a\u{b}b", "a_x000B_b"),
        ("a\r\nb", "a_x000D_\nb"),
        ("_x0041_", "_x005F_x0041_"),
        ("_x0041", "_x0041"),
        ("a & <b>", "a &amp; &lt;b&gt;"),
        ("=1+1", "=1+1"),
        ("http://example.test", "http://example.test"),
    ] {
        assert_eq!(cell(Kind::Text, Value::Text(text)), inline(expected));
    }
    let kept = cell(Kind::Text, Value::Text(" a "));
    assert_eq!(kept, "t=\"inlineStr\"><is><t xml:space=\"preserve\"> a </t></is>");
}

#[test]
fn too_long_a_text_is_cut_between_characters_and_the_run_is_told() {
    let units = |text: &str| text.encode_utf16().count();
    let fits = "가".repeat(32_767);
    let long = format!("{}😀", "a".repeat(32_766));
    let columns = [column("v", Kind::Text), column("w", Kind::Json)];
    let document = format!("\"{}\"", "b".repeat(40_000));
    let rows = [
        vec![Value::Text(&fits), Value::Null],
        vec![Value::Text(&long), Value::Json(&document)],
        vec![Value::Text(&document), Value::Null],
    ];
    let (book, warnings) = made(&mut XlsxEncoder::new(&columns, &utc()), &rows).unwrap();
    let sheet = read(&book).remove(0).1;
    let text = |row: usize, column: usize| sheet[row][column].to_string();
    assert_eq!(text(1, 0), fits);
    assert_eq!(text(2, 0), "a".repeat(32_766));
    assert_eq!(units(&text(2, 1)), 32_767);
    let told: Vec<_> =
        warnings.iter().map(|warning| (&*warning.code, &warning.detail[..19])).collect();
    assert_eq!(
        told,
        [("text_cut", "column \"v\": 2 texts"), ("text_cut", "column \"w\": 1 texts")]
    );
}
