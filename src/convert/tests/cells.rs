//! Every kind of cell in every format.

use jiff::tz::TimeZone;

use crate::convert::cells::{Cells, heading};
use crate::formats::Format;
use crate::rows::{Date, Instant, Value};
use crate::sheets::Cell;

#[track_caller]
fn is(cells: &mut Cells, cell: Cell<'_>, expected: Value<'_>) {
    let mut scratch = String::from("left over");
    assert_eq!(cells.value(cell, &mut scratch), Ok(expected), "{cell:?}");
}

fn text() -> Cells {
    Cells::new(Format::Ndjson, false, None)
}

fn book() -> Cells {
    Cells::new(Format::Xlsx, true, TimeZone::get("Asia/Seoul").ok())
}

fn day(year: i32, month: u32, day: u32) -> Date {
    Date::from_ymd(year, month, day).unwrap()
}

#[test]
fn texts_truths_and_structures_are_what_they_are() {
    for mut cells in [text(), book()] {
        for (cell, expected) in [
            (Cell::Empty, Value::Null),
            (Cell::Text("007"), Value::Text("007")),
            (Cell::Text(""), Value::Text("")),
            (Cell::Bool(false), Value::Bool(false)),
            (Cell::Json("{\"a\":[1]}"), Value::Json("{\"a\":[1]}")),
            (Cell::Error("#N/A"), Value::Text("#N/A")),
            (Cell::Duration(1.520_833_333_333_333_3), Value::Text("36:30:00")),
            (Cell::Duration(-0.5), Value::Text("-12:00:00")),
            (Cell::Serial(0.395_833_333_333_333_3), Value::Text("09:30:00")),
        ] {
            is(&mut cells, cell, expected);
        }
    }
}

#[test]
fn digits_of_json_are_kept_however_many_there_are() {
    let long = "12345678901234567890.123456789012345678900";
    for digits in ["0", "-0", "1.10", "9223372036854775808", long] {
        is(&mut text(), Cell::Digits(digits), Value::Decimal(digits));
        is(&mut book(), Cell::Digits(digits), Value::Decimal(digits));
    }
    for digits in ["1e5", "-1.50E+3", "1e400", "1e1000000000"] {
        is(&mut text(), Cell::Digits(digits), Value::Json(digits));
    }
    is(&mut book(), Cell::Digits("1e5"), Value::Float(1e5));
    is(&mut book(), Cell::Digits("-1.50E-3"), Value::Float(-0.0015));
    is(&mut book(), Cell::Digits("0e-999"), Value::Float(0.0));
    for digits in ["1e400", "1e-400", "1.234567890123456e2", "123456789012345.6e1", "4e-320"] {
        is(&mut book(), Cell::Digits(digits), Value::Text(digits));
    }
}

#[test]
fn numbers_of_a_spreadsheet_are_the_shortest_digits_that_mean_them() {
    for (number, digits) in [
        (1.1, "1.1"),
        (-0.01, "-0.01"),
        (2.999_999_999_999_999_6, "2.9999999999999996"),
        (0.1 + 0.2, "0.30000000000000004"),
        (1e20, "100000000000000000000"),
        (9_007_199_254_740_992.0, "9007199254740992"),
    ] {
        is(&mut text(), Cell::Number(number), Value::Decimal(digits));
        is(&mut book(), Cell::Number(number), Value::Float(number));
    }
    for (number, whole) in
        [(0.0, 0), (-0.0, 0), (-42.0, -42), (123_456_789_012_345.0, 123_456_789_012_345)]
    {
        is(&mut text(), Cell::Number(number), Value::Int(whole));
        is(&mut book(), Cell::Number(number), Value::Int(whole));
    }
    is(&mut text(), Cell::Number(1_234_567_890_123_456.0), Value::Int(1_234_567_890_123_456));
    // A text would be what Excel makes of what somebody types, and this is a number already.
    is(&mut book(), Cell::Number(1_234_567_890_123_456.0), Value::Float(1_234_567_890_123_456.0));
    for far in [1e300, -1e21, 1.5e-8] {
        is(&mut text(), Cell::Number(far), Value::Float(far));
    }
}

#[test]
fn numbers_are_strings_where_that_was_asked_for() {
    let mut quoted = Cells::new(Format::Json, true, None);
    is(&mut quoted, Cell::Digits("9007199254740993"), Value::Text("9007199254740993"));
    is(&mut quoted, Cell::Digits("1e5"), Value::Text("1e5"));
    is(&mut quoted, Cell::Number(3.0), Value::Text("3"));
    is(&mut quoted, Cell::Number(0.25), Value::Text("0.25"));
    is(&mut quoted, Cell::Number(1e300), Value::Text("1e300"));
    is(&mut quoted, Cell::Bool(true), Value::Bool(true));
    // It is for readers of JSON alone.
    is(&mut Cells::new(Format::Csv, true, None), Cell::Digits("1"), Value::Decimal("1"));
}

#[test]
fn days_and_moments_of_a_spreadsheet_are_those_that_it_shows() {
    for mut cells in [text(), book()] {
        for (cell, expected) in [
            (Cell::Serial(45_322.0), day(2024, 1, 31)),
            (Cell::Serial(1.0), day(1900, 1, 1)),
            (Cell::Serial(59.0), day(1900, 2, 28)),
            (Cell::Serial(61.0), day(1900, 3, 1)),
            (Cell::Serial(2_958_465.0), day(9999, 12, 31)),
            (Cell::Iso("2024-01-31"), day(2024, 1, 31)),
            (Cell::Iso("2024-01-31T00:00:00"), day(2024, 1, 31)),
        ] {
            is(&mut cells, cell, Value::Date(expected));
        }
    }
    let half_past = Cell::Serial(45_322.395_833_333_336);
    is(&mut text(), half_past, Value::Text("2024-01-31T09:30:00"));
    let wall = Instant::from_seconds(i64::from(day(2024, 1, 31).days) * 86_400 + 34_200);
    is(&mut book(), half_past, Value::Time(wall));
    is(&mut text(), Cell::Iso("2024-01-31T09:30:00.25"), Value::Text("2024-01-31T09:30:00.25"));
    is(&mut text(), Cell::Serial(45_291.999_988_425_92), Value::Text("2023-12-31T23:59:59"));
    // No calendar has these.
    is(&mut text(), Cell::Serial(-1.0), Value::Int(-1));
    is(&mut text(), Cell::Serial(3e6), Value::Int(3_000_000));
    is(&mut text(), Cell::Iso("noon"), Value::Text("noon"));
}

#[test]
fn a_zone_that_was_asked_for_makes_moments_of_what_clocks_show() {
    let mut seoul = Cells::new(Format::Csv, false, TimeZone::get("Asia/Seoul").ok());
    let wall = i64::from(day(2024, 1, 31).days) * 86_400 + 34_200;
    let moment = Value::Time(Instant::from_seconds(wall - 9 * 3_600));
    is(&mut seoul, Cell::Serial(45_322.395_833_333_336), moment);
    is(&mut seoul, Cell::Iso("2024-01-31T09:30:00"), moment);
    is(&mut seoul, Cell::Iso("2024-01-31T00:30:00Z"), moment);
    is(&mut text(), Cell::Iso("2024-01-31T00:30:00Z"), Value::Text("2024-01-31T00:30:00Z"));
    is(&mut seoul, Cell::Serial(45_322.0), Value::Date(day(2024, 1, 31)));
    let mut berlin = Cells::new(Format::Json, false, TimeZone::get("Europe/Berlin").ok());
    let mut text = String::new();
    let left_out = berlin.value(Cell::Iso("2026-03-29T02:30:00"), &mut text);
    let fault = left_out.map(|_| ()).unwrap_err();
    assert_eq!(fault.code, "skipped_time");
    assert!(fault.detail.contains("2026-03-29T02:30:00") && fault.detail.contains("Europe/Berlin"));
}

#[test]
fn a_formula_without_a_result_is_no_empty_cell() {
    let mut scratch = String::new();
    let fault = text().value(Cell::Unevaluated, &mut scratch).map(|_| ()).unwrap_err();
    assert_eq!(fault.code, "unevaluated_formula");
}

#[test]
fn a_heading_is_what_its_cell_shows() {
    for (cell, shown) in [
        (Cell::Text(" 금액 "), " 금액 "),
        (Cell::Number(2026.0), "2026"),
        (Cell::Number(0.5), "0.5"),
        (Cell::Serial(45_322.0), "2024-01-31"),
        (Cell::Serial(45_322.395_833_333_336), "2024-01-31T09:30:00"),
        (Cell::Bool(true), "true"),
        (Cell::Empty, ""),
    ] {
        assert_eq!(heading(cell), shown, "{cell:?}");
    }
}
