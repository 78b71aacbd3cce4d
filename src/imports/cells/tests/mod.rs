//! What cells are read as, spelling by spelling, and that what we write out is read back.

mod back;
mod cases;
mod days;
mod numbers;
mod texts;

use std::sync::Arc;

use jiff::tz::TimeZone;

use super::*;
use crate::definitions::{BuiltIn, Definitions};
use crate::rows::{Date, Instant};

/// The column of this kind: `type = …` and its rules in TOML, or a kind alone.
pub(super) fn field(rules: &str) -> Field {
    let rules = if rules.contains('=') { rules.to_owned() } else { format!("type = \"{rules}\"") };
    let text = format!("into = \"t\"\n[[columns]]\nkey = \"a\"\ntitle = \"칸\"\n{rules}\n");
    import(&text).fields[0].clone()
}

pub(super) fn import(text: &str) -> Arc<Import> {
    let built_in = BuiltIn { imports: &[("x", text)], ..BuiltIn::default() };
    let definitions = Definitions::load(built_in, None);
    assert_eq!(definitions.faults, Vec::new());
    Arc::clone(&definitions.imports["x"])
}

pub(super) fn seoul() -> TimeZone {
    TimeZone::get("Asia/Seoul").expect("the zone database has Seoul")
}

/// What a cell is read as, in words that show its kind.
pub(super) fn read(field: &Field, cell: Cell<'_>) -> Result<String, CellFault> {
    let mut scratch = Scratch::default();
    check(field, cell, &seoul(), &mut scratch).map(|value| format!("{value:?}"))
}

#[track_caller]
pub(super) fn assert_value(field: &Field, cell: Cell<'_>, expected: Value<'_>) {
    let mut scratch = Scratch::default();
    assert_eq!(check(field, cell, &seoul(), &mut scratch), Ok(expected), "{cell:?}");
}

#[track_caller]
pub(super) fn assert_code(field: &Field, cell: Cell<'_>, code: &str) -> String {
    match read(field, cell) {
        Err(fault) => {
            assert_eq!(fault.code, code, "{cell:?}: {}", fault.detail);
            fault.detail
        }
        Ok(value) => panic!("{cell:?} was taken as {value}"),
    }
}

#[track_caller]
pub(super) fn assert_said(field: &Field, cell: Cell<'_>, code: &str, detail: &str) {
    assert_eq!(assert_code(field, cell, code), detail);
}

pub(super) fn day(year: i32, month: u32, day: u32) -> Date {
    Date::from_ymd(year, month, day).expect("a day of the calendar")
}

pub(super) fn at(text: &str) -> Instant {
    crate::rows::parse_time(text, None).expect("a moment")
}

#[test]
fn an_empty_cell_is_null_and_a_fault_only_where_it_is_required() {
    let blanks =
        [Cell::Empty, Cell::Text(""), Cell::Text(" \u{A0}\u{3000}\r\n\t\u{200B}\u{FEFF} ")];
    for kind in ["text", "int", "float", "bool", "date", "time"] {
        for cell in blanks {
            assert_value(&field(kind), cell, Value::Null);
            assert_said(
                &field(&format!("type = \"{kind}\"\nrequired = true")),
                cell,
                "required",
                "\"칸\" is required and the cell is empty; fill it in",
            );
        }
    }
}

#[test]
fn errors_and_formulas_without_a_result_are_faults_of_every_column() {
    for kind in ["text", "int", "float", "bool", "date", "time"] {
        assert_said(
            &field(kind),
            Cell::Error("#N/A"),
            "error_cell",
            "the cell holds #N/A, which its formula gave instead of a value; mend the formula, or type \
             the value in its place",
        );
        assert_said(
            &field(kind),
            Cell::Unevaluated,
            "unevaluated_formula",
            "the cell holds a formula, and the file does not have its result; open the file in a \
             spreadsheet, have it calculated, save it and send it again",
        );
    }
}

#[test]
fn every_column_refuses_what_is_of_no_use_to_it() {
    let structures = [Cell::Json("[1]"), Cell::Duration(1.5)];
    let codes = [
        ("text", "not_a_text"),
        ("int", "not_an_int"),
        ("type = \"decimal\"\nprecision = 9\nscale = 2", "not_a_decimal"),
        ("float", "not_a_float"),
        ("bool", "not_a_bool"),
        ("date", "not_a_date"),
        ("time", "not_a_time"),
    ];
    for (kind, code) in codes {
        for cell in structures {
            assert_code(&field(kind), cell, code);
        }
    }
    assert_said(
        &field("date"),
        Cell::Duration(1.5),
        "not_a_date",
        "the cell holds the duration 36:00:00, where a date is taken; write it as 2026-01-31",
    );
}

#[test]
fn cells_are_shown_as_their_sender_sees_them() {
    for (cell, expected) in [
        (Cell::Empty, ""),
        (Cell::Unevaluated, ""),
        (Cell::Text(" a "), " a "),
        (Cell::Number(1234.5), "1234.5"),
        (Cell::Number(-0.0), "0"),
        (Cell::Number(1e21), "1000000000000000000000"),
        (Cell::Number(1.5e-7), "0.00000015"),
        (Cell::Digits("1.50"), "1.50"),
        (Cell::Serial(45_322.0), "2024-01-31"),
        (Cell::Serial(45_322.395_833_333_336), "2024-01-31 09:30:00"),
        (Cell::Serial(0.5), "12:00:00"),
        (Cell::Serial(1.0), "1900-01-01"),
        (Cell::Serial(60.0), "1900-02-29"),
        (Cell::Serial(61.0), "1900-03-01"),
        (Cell::Serial(-1.0), "-1"),
        (Cell::Duration(1.520_833_333_333_333_3), "36:30:00"),
        (Cell::Duration(-0.25), "-06:00:00"),
        (Cell::Bool(true), "TRUE"),
        (Cell::Error("#REF!"), "#REF!"),
        (Cell::Json("{\"a\":1}"), "{\"a\":1}"),
    ] {
        assert_eq!(display(cell), expected, "{cell:?}");
    }
    let long = "가".repeat(201);
    assert_eq!(shown(Cell::Text(&long)).chars().count(), 201);
    assert!(shown(Cell::Text(&long)).ends_with("가…"));
    assert_eq!(shown(Cell::Text(&long[..600])), long[..600]);
}
