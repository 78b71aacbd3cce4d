//! Cells as people see them: in problems, and in the file of rejected rows.

use std::borrow::Cow;
use std::fmt::Write;

use super::date::{Serial, serial};
use super::number::spell;
use crate::rows::Date;
use crate::sheets::Cell;

/// Characters of a value that a problem repeats.
const SHOWN: usize = 200;
/// Characters of a value that a sentence repeats.
const QUOTED: usize = 40;

/// A cell as its sender sees it, so that it can be written back where it came from: texts as they are,
/// numbers in plain digits, dates and times in ISO 8601, nothing for a formula without a result.
#[must_use]
pub fn display(cell: Cell<'_>) -> Cow<'_, str> {
    match cell {
        Cell::Empty | Cell::Unevaluated => Cow::Borrowed(""),
        Cell::Text(text)
        | Cell::Digits(text)
        | Cell::Iso(text)
        | Cell::Error(text)
        | Cell::Json(text) => Cow::Borrowed(text),
        Cell::Bool(true) => Cow::Borrowed("TRUE"),
        Cell::Bool(false) => Cow::Borrowed("FALSE"),
        Cell::Number(number) => Cow::Owned(number_text(number)),
        Cell::Serial(days) => Cow::Owned(serial_text(days)),
        Cell::Duration(days) => Cow::Owned(duration_text(days)),
    }
}

/// [`display`], cut to 200 characters: the `value` of a problem.
#[must_use]
pub fn shown(cell: Cell<'_>) -> Cow<'_, str> {
    let text = display(cell);
    match text.char_indices().nth(SHOWN) {
        None => text,
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default())),
    }
}

/// A value in a sentence: in quotation marks, on one line, 40 characters of it.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    let mut chars = text.chars();
    for char in chars.by_ref().take(QUOTED) {
        if char.is_control() {
            quoted.extend(char.escape_debug());
        } else {
            quoted.push(char);
        }
    }
    if chars.next().is_some() {
        quoted.push('…');
    }
    quoted.push('"');
    quoted
}

pub(super) fn number_text(number: f64) -> String {
    let mut text = String::new();
    spell(number, &mut text);
    text
}

pub(super) fn date_text(date: Date) -> String {
    let mut text = Vec::new();
    date.write(&mut text);
    String::from_utf8(text).unwrap_or_default()
}

fn serial_text(days: f64) -> String {
    match serial(days) {
        Serial::Moment(day, 0) => date_text(day),
        Serial::Moment(day, millis) => format!("{} {}", date_text(day), clock_text(millis.into())),
        Serial::TimeOfDay(millis) => clock_text(millis.into()),
        Serial::LeapDay => "1900-02-29".into(),
        Serial::Outside => number_text(days),
    }
}

/// `36:30:00`
fn duration_text(days: f64) -> String {
    let millis = (days * 86_400_000.0).round();
    if millis.abs() > 9e15 {
        return number_text(days);
    }
    #[expect(clippy::cast_possible_truncation, reason = "whole, and below 2^53")]
    let millis = millis as i64;
    let sign = if millis < 0 { "-" } else { "" };
    format!("{sign}{}", clock_text(millis.unsigned_abs()))
}

/// `09:30:00`, and `.123` where there are milliseconds.
fn clock_text(millis: u64) -> String {
    let (seconds, millis) = (millis / 1_000, millis % 1_000);
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    let mut text = format!("{hours:02}:{minutes:02}:{seconds:02}");
    if millis > 0 {
        // Writing to a text cannot fail.
        let _ = write!(text, ".{millis:03}");
    }
    text
}
