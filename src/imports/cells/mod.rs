//! Cells → typed values: what bookkeepers and their programs write for a number, a day, a moment, a
//! yes, read exactly or refused in words. Nothing is guessed: what can be read in two ways is a fault.
//!
//! Knows fields and cells; no file, no database, no HTTP. Nothing is allocated for a good cell.
//!
//! White space at both ends does not count, in any column: blanks, line breaks, non-breaking and
//! full-width spaces, zero-width spaces and byte order marks. A cell with nothing else in it is
//! empty. Texts are otherwise taken as they were sent, and not normalised. Full-width digits and
//! signs count as plain ones wherever a number, a day, a moment or a yes is read.
//!
//! # The codes
//!
//! | code | the cell |
//! |---|---|
//! | `required` | is empty and must not be |
//! | `error_cell` | holds what a formula could not calculate, such as `#N/A` |
//! | `unevaluated_formula` | holds a formula whose result the file does not have |
//! | `not_a_text` | holds a date, a truth value, a duration or a structure, where a text is taken |
//! | `nul_character`, `control_character` | has a character that no text may have |
//! | `too_long` | has more characters than `max_length` |
//! | `not_one_of` | is none of the texts that are taken |
//! | `pattern_mismatch` | does not look as it must |
//! | `not_an_int`, `not_a_decimal`, `not_a_float` | is no number |
//! | `percent` | is a number with `%` behind it, which is one of two numbers |
//! | `shortened_number` | is a text such as `1.23E+12`, whose digits a spreadsheet has dropped |
//! | `inexact_number` | is a spreadsheet's number from 2^53 on, which is not what was typed |
//! | `not_whole` | has a fraction, where a whole number is taken |
//! | `too_many_decimals` | has more digits after the point than the column keeps |
//! | `too_small`, `too_large` | lies beyond `min`, `max`, the digits of a decimal, or 64 bits |
//! | `not_a_bool` | is none of the words for yes and no |
//! | `not_a_date`, `not_a_time` | is no day, no moment |
//! | `ambiguous_date` | is a date of which nobody knows which number is the year or the month |
//! | `no_such_date`, `no_such_time` | names a day or a time of day that does not exist |
//! | `skipped_time` | names a time that the clocks of its zone left out |
//! | `has_time_of_day` | has a time of day, where a day alone is taken |
//! | `too_early`, `too_late` | lies before `min`, after `max` |
//!
//! # What is decided
//!
//! - A **number in a text column** is spelt as the formula bar shows it: a whole one with all its
//!   digits and no exponent, one with a fraction with 15 significant digits at most; JSON's digits as
//!   they stand. A **date in a text column** is refused: a spreadsheet may have made it of a code such
//!   as `3-1`.
//! - **Lengths** are counted in Unicode scalar values of what is stored, as databases count them.
//! - **Whole and decimal numbers** may have `,` between groups of three, a sign before them or round
//!   brackets around them, which make them negative, `₩` (or the backslash that CP949 has for it)
//!   before and `원` behind them, and zeros beyond the scale. Spaces between digits, decimal commas,
//!   other currencies, `%` and exponents are refused in texts. JSON drops no digits, so its exponents
//!   are read; so are those of floats.
//! - A **binary float** counts as the number that it is within a millionth of the last digit's unit
//!   from: 2.9999999999999996 is 3, 1500.505 is no number with two decimals.
//! - A **number without a date's format** is a date only as 20260105, a moment only so or as
//!   20260105093000. Serial numbers of days are never guessed at.
//! - Days 1 to 59 of **1900** are those that Excel shows, as our own workbooks have them; its
//!   29 February 1900 does not exist.
//! - A **wall clock time** that comes twice is the earlier one; one that is left out is a fault, but
//!   for midnight, which is the first moment of its day. A weekday behind a date says nothing.
//! - A day with a **time of day** is no day unless that is midnight. Days and moments lie in the years
//!   1 to 9999, which every database has.

mod date;
mod moment;
mod number;
mod scan;
mod show;
mod text;
mod truth;

#[cfg(test)]
mod tests;

use jiff::tz::TimeZone;

pub use self::show::{display, shown};
use crate::definitions::{Bounds, Fault, Field, Import, Takes, is_unseen};
use crate::rows::Value;
use crate::sheets::Cell;

/// Why a cell is not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellFault {
    /// A stable `snake_case` word, one of the table above.
    pub code: &'static str,
    /// The value, the rule, and the way out, for bookkeepers.
    pub detail: String,
}

impl CellFault {
    fn new(code: &'static str, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into() }
    }
}

/// What a value is put together in. One for each field, so that a row's values live side by side.
#[derive(Debug, Default)]
pub struct Scratch {
    /// A text with plain digits and signs.
    narrow: String,
    /// The digits of a number.
    digits: String,
}

/// Reads a cell as its field takes it. Times without a zone are wall clock times of the field's zone,
/// else of `zone`.
///
/// # Errors
/// The first thing that is wrong with the cell.
pub fn check<'a>(
    field: &Field,
    cell: Cell<'a>,
    zone: &TimeZone,
    scratch: &'a mut Scratch,
) -> Result<Value<'a>, CellFault> {
    let cell = trimmed(cell);
    match cell {
        Cell::Empty => return empty(field),
        Cell::Error(name) => return Err(error_cell(name)),
        Cell::Unevaluated => return Err(unevaluated()),
        Cell::Text(_)
        | Cell::Number(_)
        | Cell::Digits(_)
        | Cell::Serial(_)
        | Cell::Iso(_)
        | Cell::Duration(_)
        | Cell::Bool(_)
        | Cell::Json(_) => {}
    }
    match &field.takes {
        Takes::Text { max_length, pattern, one_of } => {
            let text = text::read(cell, scratch)?;
            text::check(text, *max_length, pattern.as_ref(), one_of)?;
            Ok(Value::Text(text))
        }
        Takes::Int(bounds) => number::int(cell, bounds, scratch).map(Value::Int),
        Takes::Decimal { precision, scale, bounds } => {
            number::decimal(cell, (*precision, *scale), bounds, scratch).map(Value::Decimal)
        }
        Takes::Float(bounds) => number::float(cell, bounds, scratch).map(Value::Float),
        Takes::Bool => truth::read(cell, scratch).map(Value::Bool),
        Takes::Date(bounds) => date::read(cell, bounds, scratch).map(Value::Date),
        Takes::Time { zone: own, bounds } => {
            let zone = own.as_ref().map_or(zone, |own| &own.rules);
            moment::read(cell, bounds, zone, scratch).map(Value::Time)
        }
    }
}

/// The examples of an import that it would not take itself.
#[must_use]
pub fn check_examples(import: &Import) -> Vec<Fault> {
    let mut scratch = Scratch::default();
    let mut faults = Vec::new();
    for field in &import.fields {
        let Some(example) = &field.example else { continue };
        if let Err(fault) = check(field, Cell::Text(example), &TimeZone::UTC, &mut scratch) {
            faults.push(Fault {
                file: import.file.clone(),
                line: field.line,
                message: format!(
                    "the example of the column \"{}\" would be refused: {}",
                    field.key, fault.detail
                ),
                remedy: "write one that is taken".into(),
            });
        }
    }
    faults
}

/// Takes white space off both ends; a text with nothing else is empty.
fn trimmed(cell: Cell<'_>) -> Cell<'_> {
    match cell {
        Cell::Text(text) => or_empty(trim(text), Cell::Text),
        Cell::Iso(text) => or_empty(trim(text), Cell::Iso),
        Cell::Empty
        | Cell::Number(_)
        | Cell::Digits(_)
        | Cell::Serial(_)
        | Cell::Duration(_)
        | Cell::Bool(_)
        | Cell::Error(_)
        | Cell::Unevaluated
        | Cell::Json(_) => cell,
    }
}

fn or_empty<'a>(text: &'a str, cell: fn(&'a str) -> Cell<'a>) -> Cell<'a> {
    if text.is_empty() { Cell::Empty } else { cell(text) }
}

/// A text without the white space, and without the zero-width spaces and marks, at its ends.
#[must_use]
pub fn trim(text: &str) -> &str {
    let blank = |char: char| {
        char.is_whitespace() || (is_unseen(char) && !char.is_control() && !joins(char))
    };
    text.trim_matches(blank)
}

/// Parts of emoji and of some scripts, which stand at the end of a text with a meaning.
fn joins(char: char) -> bool {
    matches!(char, '\u{200C}' | '\u{200D}' | '\u{FE00}'..='\u{FE0F}')
}

fn empty(field: &Field) -> Result<Value<'static>, CellFault> {
    if field.required {
        let detail = format!("\"{}\" is required and the cell is empty; fill it in", field.title);
        return Err(CellFault::new("required", detail));
    }
    Ok(Value::Null)
}

fn error_cell(name: &str) -> CellFault {
    let detail = format!(
        "the cell holds {name}, which its formula gave instead of a value; mend the formula, or type \
         the value in its place"
    );
    CellFault::new("error_cell", detail)
}

fn unevaluated() -> CellFault {
    CellFault::new(
        "unevaluated_formula",
        "the cell holds a formula, and the file does not have its result; open the file in a \
         spreadsheet, have it calculated, save it and send it again",
    )
}

/// What a cell of another kind holds, with a word for the kind: `the date 2026-01-31`.
fn holds(cell: Cell<'_>) -> String {
    let value = show::quoted(&display(cell));
    match cell {
        Cell::Serial(_) | Cell::Iso(_) => format!("the date {}", display(cell)),
        Cell::Duration(_) => format!("the duration {}", display(cell)),
        Cell::Bool(_) => format!("the truth value {}", display(cell)),
        Cell::Number(_) | Cell::Digits(_) => format!("the number {}", display(cell)),
        Cell::Json(_) => format!("the JSON {value}"),
        Cell::Empty | Cell::Text(_) | Cell::Error(_) | Cell::Unevaluated => value,
    }
}

/// Which bound a value lies beyond.
enum Beyond<T> {
    Min(T),
    Max(T),
}

fn beyond<T: PartialOrd + Copy>(value: T, bounds: &Bounds<T>) -> Option<Beyond<T>> {
    match *bounds {
        Bounds { min: Some(min), .. } if value < min => Some(Beyond::Min(min)),
        Bounds { max: Some(max), .. } if value > max => Some(Beyond::Max(max)),
        Bounds { .. } => None,
    }
}
