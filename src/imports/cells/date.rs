//! Days out of cells, and the day at the beginning of a moment.

use super::scan::{Rest, narrowed};
use super::show::{date_text, quoted};
use super::{Beyond, CellFault, Scratch, beyond, display, holds};
use crate::definitions::Bounds;
use crate::rows::Date;
use crate::sheets::Cell;

use super::moment::{self, Clock};

/// Days from 1899-12-30, from which serial numbers count, to 1970-01-01.
const EPOCH: i32 = 25_569;
/// The serial number of 9999-12-31.
const LAST: i32 = 2_958_465;
const DAY_MILLIS: i64 = 86_400_000;

/// What a serial number of days means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Serial {
    /// A day, and the milliseconds since its midnight.
    Moment(Date, u32),
    /// A time of day without a day, in milliseconds.
    TimeOfDay(u32),
    /// The 29 February 1900 that Excel has and the calendar has not.
    LeapDay,
    /// No date of the years 1900 to 9999.
    Outside,
}

/// Reads a serial number as Excel shows it: 1 is 1900-01-01, 61 is 1900-03-01. What is finer than a
/// millisecond is the noise of binary floats.
pub(super) fn serial(days: f64) -> Serial {
    if !(0.0..f64::from(LAST + 1)).contains(&days) {
        return Serial::Outside;
    }
    #[expect(clippy::cast_possible_truncation, reason = "whole, and below 2^53")]
    let millis = (days * 86_400_000.0).round() as i64;
    let day = i32::try_from(millis / DAY_MILLIS).unwrap_or(LAST + 1);
    let millis = u32::try_from(millis % DAY_MILLIS).unwrap_or(0);
    match day {
        0 => Serial::TimeOfDay(millis),
        1..=59 => Serial::Moment(Date { days: day - EPOCH + 1 }, millis),
        60 => Serial::LeapDay,
        _ if day > LAST => Serial::Outside,
        _ => Serial::Moment(Date { days: day - EPOCH }, millis),
    }
}

/// Why a text is no date or moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// It has another form.
    Form,
    /// It is a date of which the order of the numbers, or the century, is not known.
    Ambiguous,
    /// The calendar has no such day.
    NoSuchDay,
    /// No clock shows such a time.
    NoSuchTime,
    /// It is finer than a nanosecond.
    TooFine,
}

/// The day of a cell that has been trimmed.
pub(super) fn read(
    cell: Cell<'_>,
    bounds: &Bounds<Date>,
    scratch: &mut Scratch,
) -> Result<Date, CellFault> {
    let (date, clock) = match cell {
        Cell::Serial(days) => from_serial(days, cell, "date")?,
        Cell::Text(text) | Cell::Iso(text) => {
            let narrow = narrowed(text, &mut scratch.narrow);
            moment::parse(narrow).map_err(|fault| unreadable(fault, text, "date"))?
        }
        Cell::Number(_) | Cell::Digits(_) => {
            moment::from_number(cell, scratch).ok_or_else(|| bare_number(cell, "date"))?
        }
        Cell::Empty
        | Cell::Duration(_)
        | Cell::Bool(_)
        | Cell::Error(_)
        | Cell::Unevaluated
        | Cell::Json(_) => return Err(wrong_kind(cell, "date")),
    };
    if clock.second != 0 || clock.nanos != 0 {
        return Err(has_time_of_day(cell));
    }
    match beyond(date, bounds) {
        None => Ok(date),
        Some(bound) => Err(passes(&date_text(date), &bound, |date| date_text(*date))),
    }
}

pub(super) fn from_serial(
    days: f64,
    cell: Cell<'_>,
    kind: &'static str,
) -> Result<(Date, Clock), CellFault> {
    match serial(days) {
        Serial::Moment(date, millis) => Ok((date, Clock::of_millis(millis))),
        Serial::TimeOfDay(_) => Err(CellFault::new(
            code(kind),
            format!(
                "the cell holds the time of day {} without a day; write both, such as {}",
                display(cell),
                example(kind)
            ),
        )),
        Serial::LeapDay => Err(CellFault::new(
            "no_such_date",
            "the cell holds 29 February 1900, a day that spreadsheets have and the calendar has not; \
             correct the date",
        )),
        Serial::Outside => Err(CellFault::new(
            code(kind),
            format!(
                "the cell holds {days}, formatted as a date, and lies outside of the years 1900 to \
                 9999; correct it, such as {}",
                example(kind)
            ),
        )),
    }
}

/// Takes a day off the beginning of a text.
pub(super) fn day(rest: &mut Rest<'_>) -> Result<Date, Unreadable> {
    let first = rest.digits();
    match first.len() {
        4 => separated(first, rest),
        8 => ymd(&first[..4], &first[4..6], &first[6..]),
        1 | 2 if is_short(*rest) => Err(Unreadable::Ambiguous),
        6 if rest.is_empty() => Err(Unreadable::Ambiguous),
        _ => Err(Unreadable::Form),
    }
}

/// The month and the day behind a year of four digits.
fn separated(year: &str, rest: &mut Rest<'_>) -> Result<Date, Unreadable> {
    rest.spaces();
    if rest.take("년") {
        rest.spaces();
        let month = rest.digits();
        rest.spaces();
        if !rest.take("월") {
            return Err(Unreadable::Form);
        }
        rest.spaces();
        let day = rest.digits();
        rest.spaces();
        return if rest.take("일") { ymd(year, month, day) } else { Err(Unreadable::Form) };
    }
    let separator = rest.one_of(&['-', '.', '/']).ok_or(Unreadable::Form)?;
    rest.spaces();
    let month = rest.digits();
    rest.spaces();
    if rest.one_of(&[separator]).is_none() {
        return Err(Unreadable::Form);
    }
    rest.spaces();
    let day = rest.digits();
    if separator == '.' {
        rest.one_of(&['.']);
    }
    ymd(year, month, day)
}

/// Whether a month and a day or a year stand behind one or two digits.
fn is_short(mut rest: Rest<'_>) -> bool {
    rest.spaces();
    let Some(separator) = rest.one_of(&['-', '.', '/', '년', '월']) else {
        return false;
    };
    rest.spaces();
    let second = rest.digits();
    rest.spaces();
    let closed = match separator {
        '년' => rest.take("월"),
        '월' => rest.take("일"),
        separator => rest.one_of(&[separator]).is_some(),
    };
    matches!(second.len(), 1 | 2) && closed
}

fn ymd(year: &str, month: &str, day: &str) -> Result<Date, Unreadable> {
    if !(1..=2).contains(&month.len()) || !(1..=2).contains(&day.len()) {
        return Err(Unreadable::Form);
    }
    let number = |digits: &str| digits.parse::<u32>().map_err(|_| Unreadable::Form);
    let year = number(year)?.cast_signed();
    let date = Date::from_ymd(year, number(month)?, number(day)?);
    date.filter(|_| (1..=9999).contains(&year)).ok_or(Unreadable::NoSuchDay)
}

fn code(kind: &str) -> &'static str {
    if kind == "date" { "not_a_date" } else { "not_a_time" }
}

fn example(kind: &str) -> &'static str {
    if kind == "date" { "2026-01-31" } else { "2026-01-31 14:05:00" }
}

pub(super) fn unreadable(fault: Unreadable, text: &str, kind: &'static str) -> CellFault {
    let value = quoted(text);
    let example = example(kind);
    let (code, detail) = match fault {
        Unreadable::Form => (code(kind), format!("{value} is not a {kind}; write it as {example}")),
        Unreadable::Ambiguous => (
            "ambiguous_date",
            format!(
                "{value} does not say which number is the year, the month and the day; write it as \
                 {example}, with a year of four digits first"
            ),
        ),
        Unreadable::NoSuchDay => (
            "no_such_date",
            format!(
                "{value} names a day that the calendar does not have; correct it, as {example}"
            ),
        ),
        Unreadable::NoSuchTime => (
            "no_such_time",
            format!(
                "{value} names a time of day that no clock shows; write one from 00:00:00 to \
                 23:59:59, as {example}"
            ),
        ),
        Unreadable::TooFine => (
            code(kind),
            format!(
                "{value} is finer than a nanosecond; write nine digits behind the second at most"
            ),
        ),
    };
    CellFault::new(code, detail)
}

/// A number without a date's format: what it would be as a date is said and never assumed.
pub(super) fn bare_number(cell: Cell<'_>, kind: &'static str) -> CellFault {
    let would_be = match cell {
        Cell::Number(days) => match serial(days) {
            Serial::Moment(..) => {
                format!(" (it would show {})", display(Cell::Serial(days)))
            }
            Serial::TimeOfDay(_) | Serial::LeapDay | Serial::Outside => String::new(),
        },
        Cell::Empty
        | Cell::Text(_)
        | Cell::Digits(_)
        | Cell::Serial(_)
        | Cell::Iso(_)
        | Cell::Duration(_)
        | Cell::Bool(_)
        | Cell::Error(_)
        | Cell::Unevaluated
        | Cell::Json(_) => String::new(),
    };
    let detail = format!(
        "the cell holds {}, which is not a {kind}; format the cell as a date{would_be}, or write it as \
         {}",
        holds(cell),
        example(kind)
    );
    CellFault::new(code(kind), detail)
}

pub(super) fn wrong_kind(cell: Cell<'_>, kind: &'static str) -> CellFault {
    let detail = format!(
        "the cell holds {}, where a {kind} is taken; write it as {}",
        holds(cell),
        example(kind)
    );
    CellFault::new(code(kind), detail)
}

fn has_time_of_day(cell: Cell<'_>) -> CellFault {
    let detail = format!(
        "{} has a time of day, and the column takes the day alone; take the time off, as 2026-01-31",
        quoted(&display(cell))
    );
    CellFault::new("has_time_of_day", detail)
}

pub(super) fn passes<T>(value: &str, bound: &Beyond<T>, text: impl Fn(&T) -> String) -> CellFault {
    let (code, detail) = match bound {
        Beyond::Min(min) => {
            ("too_early", format!("{value} lies before {}, the first that is taken", text(min)))
        }
        Beyond::Max(max) => {
            ("too_late", format!("{value} lies after {}, the last that is taken", text(max)))
        }
    };
    CellFault::new(code, format!("{detail}; correct the date"))
}
