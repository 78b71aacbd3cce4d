//! The forms of days and moments, byte by byte.

use crate::rows::civil::{Date, days_in_month};

/// What stands in a text, before any zone.
pub(super) struct Moment {
    pub(super) day: Date,
    pub(super) second: u32,
    pub(super) nanos: u32,
    /// Seconds east of UTC, when the text says so.
    pub(super) offset: Option<i32>,
}

/// What is wrong with a text.
#[derive(Clone, Copy)]
pub(super) enum Fault {
    Form,
    Day,
    Clock,
    Fine,
    Offset,
}

impl Fault {
    pub(super) fn of_a_date(self) -> &'static str {
        match self {
            Self::Form => "is not a date; a date looks like 2026-01-31",
            Self::Day | Self::Clock | Self::Fine | Self::Offset => self.of_a_time(),
        }
    }

    pub(super) fn of_a_time(self) -> &'static str {
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

pub(super) fn read(text: &str) -> Result<Moment, Fault> {
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
