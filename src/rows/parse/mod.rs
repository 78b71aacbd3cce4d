//! Reads what databases without types hold as text: days, moments, truth values.
//!
//! The forms are ISO 8601 and RFC 3339 as programs write them, nothing that needs guessing which
//! number is the month. What is not understood is refused in words for people; nothing is cut,
//! rounded or assumed.

mod text;

use std::fmt;

use jiff::tz::TimeZone;

use self::text::read;
use super::civil::{DAY, Date, Instant, split};
use super::zone::clamped;

/// Characters of a refused text that the message repeats.
const SHOWN: usize = 40;

/// Why a text could not be read, in words for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    detail: String,
}

impl ParseError {
    fn new(text: &str, expected: &str) -> Self {
        let shown: String = text.chars().take(SHOWN).collect();
        let more = if shown.len() < text.len() { "…" } else { "" };
        Self { detail: format!("\"{shown}{more}\" {expected}") }
    }

    /// The value, and what was expected of it.
    #[must_use]
    pub fn detail(&self) -> &str {
        &self.detail
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

impl std::error::Error for ParseError {}

/// Reads a day: `2026-01-31`, also with an expanded year (`-000043-03-15`) and also with a time
/// behind it, as long as that is midnight.
///
/// # Errors
/// When the text has another form, or names a day that the calendar does not have, or a time other
/// than midnight, which would be lost.
pub fn parse_date(text: &str) -> Result<Date, ParseError> {
    let moment = read(text).map_err(|fault| ParseError::new(text, fault.of_a_date()))?;
    if moment.second == 0 && moment.nanos == 0 {
        Ok(moment.day)
    } else {
        Err(ParseError::new(text, "is a date with a time of day; a date is expected"))
    }
}

/// Reads a moment: a day, then `T` or a space, `23:59` or `23:59:59` with up to nine digits of
/// fraction, then nothing, `Z` or an offset (`+09:00`, `+0900`, `+09`). A day alone is its midnight.
///
/// Without an offset it is the wall clock of `zone`, of UTC when there is none. A wall clock time
/// that a zone's change of offset skips or repeats is read as RFC 5545 does: skipped ones by the
/// offset before the change, repeated ones as the first.
///
/// # Errors
/// When the text has another form, or names a day or a time that does not exist, or is finer than
/// a nanosecond.
pub fn parse_time(text: &str, zone: Option<&TimeZone>) -> Result<Instant, ParseError> {
    let moment = read(text).map_err(|fault| ParseError::new(text, fault.of_a_time()))?;
    let wall = i64::from(moment.day.days) * DAY + i64::from(moment.second);
    let seconds = match (moment.offset, zone) {
        (Some(offset), _) => wall - i64::from(offset),
        (None, Some(zone)) => from_wall_clock(wall, zone),
        (None, None) => wall,
    };
    Ok(Instant { seconds, nanos: moment.nanos })
}

/// Reads a truth value: `1`, `true`, `t`, `yes`, `0`, `false`, `f`, `no`, in any case of letters.
///
/// # Errors
/// When the text is none of these.
pub fn parse_bool(text: &str) -> Result<bool, ParseError> {
    let is = |words: [&str; 4]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is(["1", "true", "t", "yes"]) {
        Ok(true)
    } else if is(["0", "false", "f", "no"]) {
        Ok(false)
    } else {
        Err(ParseError::new(text, "is not a truth value; true, t, yes, 1 or false, f, no, 0 are"))
    }
}

/// Seconds since 1970 of a wall clock reading, itself given as seconds since 1970 as if it were UTC.
fn from_wall_clock(wall: i64, zone: &TimeZone) -> i64 {
    let (day, second) = split(wall);
    civil(day, second)
        .and_then(|civil| zone.to_ambiguous_timestamp(civil).compatible().ok())
        .map_or_else(
            // Beyond the zone database the offset of its nearest end holds.
            || wall - i64::from(zone.to_offset(clamped(wall)).seconds()),
            jiff::Timestamp::as_second,
        )
}

fn civil(day: Date, second: u32) -> Option<jiff::civil::DateTime> {
    let (year, month, day) = day.ymd();
    let small = |number: u32| i8::try_from(number).ok();
    let date =
        jiff::civil::Date::new(i16::try_from(year).ok()?, small(month)?, small(day)?).ok()?;
    Some(date.at(small(second / 3_600)?, small(second / 60 % 60)?, small(second % 60)?, 0))
}
