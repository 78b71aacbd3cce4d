//! Reads what databases without types hold as text: days, moments, truth values.
//!
//! The forms are ISO 8601 and RFC 3339 as programs write them, nothing that needs guessing which
//! number is the month. What is not understood is refused in words for people; nothing is cut,
//! rounded or assumed.

use std::fmt;

use jiff::tz::TimeZone;

use super::civil::{DAY, Date, Instant, days_in_month, split};
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

/// What stands in a text, before any zone.
struct Moment {
    day: Date,
    second: u32,
    nanos: u32,
    /// Seconds east of UTC, when the text says so.
    offset: Option<i32>,
}

/// What is wrong with a text.
#[derive(Clone, Copy)]
enum Fault {
    Form,
    Day,
    Clock,
    Fine,
    Offset,
}

impl Fault {
    fn of_a_date(self) -> &'static str {
        match self {
            Self::Form => "is not a date; a date looks like 2026-01-31",
            Self::Day | Self::Clock | Self::Fine | Self::Offset => self.of_a_time(),
        }
    }

    fn of_a_time(self) -> &'static str {
        match self {
            Self::Form => {
                "is not a time; a time looks like 2026-01-31T23:59:59+09:00 or 2026-01-31 23:59:59"
            }
            Self::Day => "names a day that the calendar does not have",
            Self::Clock => "names a time of day that does not exist; 00:00:00 to 23:59:59 do",
            Self::Fine => "is finer than a nanosecond; at most nine digits follow the second",
            Self::Offset => "has an offset from UTC that does not exist; Z or -23:59 to +23:59 do",
        }
    }
}

fn read(text: &str) -> Result<Moment, Fault> {
    let mut rest = Rest(text.as_bytes());
    let day = rest.usual_day().map_or_else(|| rest.day(), Ok)?;
    let (mut second, mut nanos, mut offset) = (0, 0, None);
    if !rest.0.is_empty() {
        rest.one_of(b"Tt ")?;
        (second, nanos) = match rest.usual_clock() {
            Some(second) => (second, rest.fraction()?),
            None => rest.clock()?,
        };
        offset = rest.offset()?;
    }
    if rest.0.is_empty() { Ok(Moment { day, second, nanos, offset }) } else { Err(Fault::Form) }
}

/// What of a text has not been read yet.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    /// Takes exactly `count` digits, at most nine.
    #[inline]
    fn digits(&mut self, count: usize) -> Result<u32, Fault> {
        let (digits, rest) = self.0.split_at_checked(count).ok_or(Fault::Form)?;
        self.0 = rest;
        digits.iter().try_fold(0, |number, byte| {
            let digit = byte.wrapping_sub(b'0');
            if digit < 10 { Ok(number * 10 + u32::from(digit)) } else { Err(Fault::Form) }
        })
    }

    /// Takes one of these bytes and says which.
    #[inline]
    fn one_of(&mut self, allowed: &[u8]) -> Result<u8, Fault> {
        let byte = self.peek(allowed).ok_or(Fault::Form)?;
        self.0 = &self.0[1..];
        Ok(byte)
    }

    /// The next byte, if it is one of these.
    #[inline]
    fn peek(&self, allowed: &[u8]) -> Option<u8> {
        self.0.first().copied().filter(|byte| allowed.contains(byte))
    }

    /// Takes `2026-01-31`, the form that nearly all have, without a branch for each byte; `None`, and
    /// nothing taken, for any other and for a day that there is not.
    #[inline]
    fn usual_day(&mut self) -> Option<Date> {
        let (text, rest) = self.0.split_first_chunk()?;
        let numerals = numerals(text, b"0000-00-00")?;
        let year = two(&numerals[..2]) * 100 + two(&numerals[2..4]);
        let (month, day) = (two(&numerals[5..7]), two(&numerals[8..]));
        let date = Date::from_ymd(year.cast_signed(), month, day)?;
        self.0 = rest;
        Some(date)
    }

    /// Takes `23:59:59` likewise; the second of the day.
    #[inline]
    fn usual_clock(&mut self) -> Option<u32> {
        let (text, rest) = self.0.split_first_chunk()?;
        let numerals = numerals(text, b"00:00:00")?;
        let (hour, minute) = (two(&numerals[..2]), two(&numerals[3..5]));
        let second = two(&numerals[6..]);
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        self.0 = rest;
        Some(hour * 3_600 + minute * 60 + second)
    }

    fn leading_digits(&self) -> usize {
        self.0.iter().take_while(|byte| byte.is_ascii_digit()).count()
    }

    fn day(&mut self) -> Result<Date, Fault> {
        let year = self.year()?;
        self.one_of(b"-")?;
        let month = self.digits(2)?;
        self.one_of(b"-")?;
        let day = self.digits(2)?;
        if !(1..=12).contains(&month) || day == 0 || day > days_in_month(year, month) {
            return Err(Fault::Day);
        }
        Date::from_ymd(year, month, day).ok_or(Fault::Day)
    }

    /// Four digits, or a sign and six or seven: longer years are beyond every database.
    fn year(&mut self) -> Result<i32, Fault> {
        let Some(sign) = self.peek(b"+-") else {
            return self.digits(4).map(u32::cast_signed);
        };
        self.one_of(b"+-")?;
        let count = self.leading_digits();
        if !(6..=7).contains(&count) {
            return Err(Fault::Form);
        }
        let year = self.digits(count)?.cast_signed();
        Ok(if sign == b'-' { -year } else { year })
    }

    /// The second of the day and the nanoseconds after it.
    fn clock(&mut self) -> Result<(u32, u32), Fault> {
        let hour = self.digits(2)?;
        self.one_of(b":")?;
        let minute = self.digits(2)?;
        let (mut second, mut nanos) = (0, 0);
        if self.peek(b":").is_some() {
            self.one_of(b":")?;
            second = self.digits(2)?;
            nanos = self.fraction()?;
        }
        if hour > 23 || minute > 59 || second > 59 {
            return Err(Fault::Clock);
        }
        Ok((hour * 3_600 + minute * 60 + second, nanos))
    }

    /// Nanoseconds; zeros beyond them are let pass.
    fn fraction(&mut self) -> Result<u32, Fault> {
        if self.peek(b".").is_none() {
            return Ok(0);
        }
        self.one_of(b".")?;
        let count = self.leading_digits();
        let known = count.min(9);
        if count == 0 {
            return Err(Fault::Form);
        }
        let nanos = self.digits(known)? * 10_u32.pow(9 - u32::try_from(known).unwrap_or(9));
        let (finer, rest) = self.0.split_at(count - known);
        self.0 = rest;
        if finer.iter().all(|byte| *byte == b'0') { Ok(nanos) } else { Err(Fault::Fine) }
    }

    /// Nothing, `Z`, or hours and what may follow them; seconds as PostgreSQL prints old offsets.
    fn offset(&mut self) -> Result<Option<i32>, Fault> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let sign = self.one_of(b"Zz+-")?;
        if matches!(sign, b'Z' | b'z') {
            return Ok(Some(0));
        }
        let hours = self.digits(2)?;
        let (mut minutes, mut seconds) = (0, 0);
        if self.peek(b":").is_some() {
            self.one_of(b":")?;
            minutes = self.digits(2)?;
            if self.peek(b":").is_some() {
                self.one_of(b":")?;
                seconds = self.digits(2)?;
            }
        } else if !self.0.is_empty() {
            minutes = self.digits(2)?;
        }
        if hours > 23 || minutes > 59 || seconds > 59 {
            return Err(Fault::Offset);
        }
        let offset = (hours * 3_600 + minutes * 60 + seconds).cast_signed();
        Ok(Some(if sign == b'-' { -offset } else { offset }))
    }
}

/// What the digits of a text count that has a digit wherever `form` has a 0, and else what `form` has.
#[inline]
fn numerals<const N: usize>(text: &[u8; N], form: &[u8; N]) -> Option<[u8; N]> {
    // A digit differs from 0 by what it counts, every other byte by more than nine; what has to be the
    // same may not differ at all.
    let mut fits = true;
    let mut numerals = [0; N];
    for ((numeral, byte), form) in numerals.iter_mut().zip(text).zip(form) {
        let differs = byte ^ form;
        let most = if *form == b'0' { 9 } else { 0 };
        fits &= differs <= most;
        *numeral = differs;
    }
    fits.then_some(numerals)
}

/// The number that two digits make.
#[inline]
fn two(numerals: &[u8]) -> u32 {
    numerals.iter().fold(0, |number, digit| number * 10 + u32::from(*digit))
}
