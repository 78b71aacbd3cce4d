//! Cells by what they are: the value that the wanted format has for each, without loss. Knows no
//! column and no file.

use std::fmt::Write;

use jiff::tz::TimeZone;

use super::moments::{
    Said, Zone, of_iso, of_serial, write_clock, write_day, write_duration, write_wall,
};
use crate::formats::Format;
use crate::rows::{Instant, Value, is_decimal};
use crate::sheets::Cell;

/// 2^53: up to here every whole number is a float of its own.
const WHOLE: f64 = 9_007_199_254_740_992.0;
/// 10^15: from here on a spreadsheet has no whole number with all its digits.
const SHOWN: f64 = 1e15;
/// Digits of a number that a spreadsheet keeps.
const DIGITS: usize = 15;
/// Numbers within these are written without an exponent.
const PLAIN: std::ops::Range<f64> = 1e-7..1e21;

/// Why a cell has no value, with the way out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CellFault {
    pub(super) code: &'static str,
    pub(super) detail: String,
}

/// How cells are written down, as far as the request decides.
#[derive(Debug, Clone)]
pub(super) struct Cells {
    /// Whether they go into a spreadsheet, which has numbers and dates of its own.
    book: bool,
    /// Whether numbers are strings.
    quoted: bool,
    /// The zone of moments that have none, where one was asked for.
    zone: Option<Zone>,
}

impl Cells {
    /// Cells for a format: numbers as strings where they are `quoted`, moments in `zone` where there
    /// is one. A spreadsheet heeds neither.
    pub(super) fn new(to: Format, quoted: bool, zone: Option<TimeZone>) -> Self {
        let book = to == Format::Xlsx;
        let quoted = quoted && matches!(to, Format::Ndjson | Format::Json);
        Self { book, quoted, zone: zone.filter(|_| !book).map(Zone::new) }
    }

    /// The value of a cell; what has to be written for it is put together in `scratch`.
    pub(super) fn value<'a>(
        &mut self,
        cell: Cell<'a>,
        scratch: &'a mut String,
    ) -> Result<Value<'a>, CellFault> {
        Ok(match cell {
            Cell::Empty => Value::Null,
            Cell::Text(text) | Cell::Error(text) => Value::Text(text),
            Cell::Bool(truth) => Value::Bool(truth),
            Cell::Json(json) => Value::Json(json),
            Cell::Digits(digits) => self.digits(digits),
            Cell::Number(number) => self.number(number, scratch),
            Cell::Serial(days) => return self.serial(days, scratch),
            Cell::Iso(text) => return self.iso(text, scratch),
            Cell::Duration(days) => {
                scratch.clear();
                if write_duration(days, scratch) {
                    Value::Text(scratch)
                } else {
                    self.number(days, scratch)
                }
            }
            Cell::Unevaluated => return Err(unevaluated()),
        })
    }

    fn digits<'a>(&self, digits: &'a str) -> Value<'a> {
        if self.quoted {
            return Value::Text(digits);
        }
        if is_decimal(digits) {
            return Value::Decimal(digits);
        }
        // With an exponent: as it stands, or as the number that it is where a cell can hold it.
        if !self.book {
            return Value::Json(digits);
        }
        kept_by_a_cell(digits).map_or(Value::Text(digits), Value::Float)
    }

    fn number<'a>(&self, number: f64, scratch: &'a mut String) -> Value<'a> {
        if self.quoted {
            scratch.clear();
            write_number(number, scratch);
            return Value::Text(scratch);
        }
        let most = if self.book { SHOWN } else { WHOLE };
        match whole(number, most) {
            Some(whole) => Value::Int(whole),
            None if self.book || !PLAIN.contains(&number.abs()) => Value::Float(number),
            None => {
                scratch.clear();
                write_number(number, scratch);
                Value::Decimal(scratch)
            }
        }
    }

    fn serial<'a>(&mut self, days: f64, scratch: &'a mut String) -> Result<Value<'a>, CellFault> {
        match of_serial(days) {
            Said::Day(day) => Ok(Value::Date(day)),
            Said::Wall(wall) | Said::Moment(wall) => self.wall(wall, scratch),
            Said::Clock(millis) => {
                scratch.clear();
                write_clock(millis, scratch);
                Ok(Value::Text(scratch))
            }
            Said::Nothing => Ok(self.number(days, scratch)),
        }
    }

    fn iso<'a>(&mut self, text: &'a str, scratch: &'a mut String) -> Result<Value<'a>, CellFault> {
        match of_iso(text) {
            Said::Day(day) => Ok(Value::Date(day)),
            Said::Wall(wall) => self.wall(wall, scratch),
            Said::Moment(moment) if self.zone.is_some() => Ok(Value::Time(moment)),
            Said::Moment(_) | Said::Clock(_) | Said::Nothing => Ok(Value::Text(text)),
        }
    }

    fn wall<'a>(&mut self, wall: Instant, scratch: &'a mut String) -> Result<Value<'a>, CellFault> {
        if self.book {
            // Shown as UTC, so that the cell shows the same.
            return Ok(Value::Time(wall));
        }
        let Some(zone) = &mut self.zone else {
            scratch.clear();
            write_wall(wall, scratch);
            return Ok(Value::Text(scratch));
        };
        zone.moment(wall).map(Value::Time).ok_or_else(|| skipped(wall, zone))
    }
}

/// A cell as a heading: what it shows.
pub(super) fn heading(cell: Cell<'_>) -> String {
    let mut text = String::new();
    match cell {
        Cell::Empty | Cell::Unevaluated => {}
        Cell::Text(shown)
        | Cell::Error(shown)
        | Cell::Digits(shown)
        | Cell::Iso(shown)
        | Cell::Json(shown) => text.push_str(shown),
        Cell::Bool(truth) => text.push_str(if truth { "true" } else { "false" }),
        Cell::Number(number) => write_number(number, &mut text),
        Cell::Serial(days) => match of_serial(days) {
            Said::Day(day) => write_day(day, &mut text),
            Said::Wall(wall) | Said::Moment(wall) => write_wall(wall, &mut text),
            Said::Clock(millis) => write_clock(millis, &mut text),
            Said::Nothing => write_number(days, &mut text),
        },
        Cell::Duration(days) => {
            if !write_duration(days, &mut text) {
                write_number(days, &mut text);
            }
        }
    }
    text
}

/// A number without a fraction that is smaller than `most`.
fn whole(number: f64, most: f64) -> Option<i64> {
    #[expect(clippy::float_cmp, reason = "whether it has a fraction is exact")]
    let is_whole = number.trunc() == number && number.abs() < most;
    #[expect(clippy::cast_possible_truncation, reason = "it counts only where it is below 2^53")]
    let value = number as i64;
    is_whole.then_some(value)
}

/// Appends the shortest digits that mean a number.
fn write_number(number: f64, out: &mut String) {
    // Writing to a text cannot fail.
    let _ = match whole(number, WHOLE) {
        Some(whole) => write!(out, "{whole}"),
        None if PLAIN.contains(&number.abs()) => write!(out, "{number}"),
        None => write!(out, "{number:e}"),
    };
}

/// A number with an exponent, where a spreadsheet keeps all its digits.
fn kept_by_a_cell(digits: &str) -> Option<f64> {
    let mantissa = digits.split(['e', 'E']).next().unwrap_or_default();
    let significant: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let significant = significant.trim_start_matches('0').trim_end_matches('0');
    let number: f64 = digits.parse().ok()?;
    let exact = number.is_normal() || significant.is_empty();
    (significant.len() <= DIGITS && exact).then_some(number)
}

fn unevaluated() -> CellFault {
    CellFault {
        code: "unevaluated_formula",
        detail: "holds a formula, and the file does not have its result; open the file in a \
                 spreadsheet, have it calculated, save it and send it again"
            .into(),
    }
}

fn skipped(wall: Instant, zone: &Zone) -> CellFault {
    let mut shown = String::new();
    write_wall(wall, &mut shown);
    CellFault {
        code: "skipped_time",
        detail: format!(
            "holds {shown}, which the clocks of {} left out; correct it, or leave tz out to have \
             it as it stands",
            zone.name()
        ),
    }
}
