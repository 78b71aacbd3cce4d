//! Days and moments as numbers, and how they are written.
//!
//! The arithmetic is the proleptic Gregorian calendar over all of PostgreSQL's range, which is wider
//! than that of any date library here: 4713 BC to 5874897 AD for days, to 294276 AD for moments.
//! This module knows no time zone.

/// Seconds of a day without leap seconds, as Unix time counts them.
pub(crate) const DAY: i64 = 86_400;

/// Bytes that the longest day takes: a sign, seven digits of year, `-12-31`.
const LONGEST_DAY: usize = 14;

/// `00` to `99`, so that two digits cost one look-up.
const PAIRS: [[u8; 2]; 100] = pairs();

const fn pairs() -> [[u8; 2]; 100] {
    let digits = *b"0123456789";
    let mut table = [[b'0'; 2]; 100];
    let mut number = 0;
    while number < 100 {
        table[number] = [digits[number / 10], digits[number % 10]];
        number += 1;
    }
    table
}

/// The two digits of a number below 100.
#[inline]
pub(crate) fn pair(number: u32) -> [u8; 2] {
    PAIRS[(number % 100) as usize]
}

/// A calendar day: days since 1970-01-01 in the proleptic Gregorian calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    /// Days since 1970-01-01, negative before it.
    pub days: i32,
}

/// A moment: Unix time in UTC, to the nanosecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant {
    /// Whole seconds since 1970-01-01T00:00:00Z, rounded down, so negative before it. What is
    /// written sticks at the first and last [`Date`] (± 5.8 million years).
    pub seconds: i64,
    /// Nanoseconds after `seconds`, below 1,000,000,000.
    pub nanos: u32,
}

impl Date {
    /// The day of a year (astronomical: 0 is 1 BC), a month from 1 and a day from 1; `None` if the
    /// calendar has no such day or it is more than 2^31 days away from 1970.
    #[must_use]
    pub fn from_ymd(year: i32, month: u32, day: u32) -> Option<Self> {
        if !(1..=12).contains(&month) || day == 0 || day > days_in_month(year, month) {
            return None;
        }
        i32::try_from(days_from_civil(year, month, day)).ok().map(|days| Self { days })
    }

    /// Year (astronomical: 0 is 1 BC), month and day.
    #[must_use]
    pub fn ymd(self) -> (i32, u32, u32) {
        civil_from_days(self.days)
    }

    /// Appends the day as `2026-01-31`; a year outside of 0–9999 in ISO 8601's expanded form, with
    /// a sign and at least six digits (`+012345-01-31`, `-000043-03-15` for 44 BC).
    #[inline]
    pub fn write(self, out: &mut Vec<u8>) {
        let mut text = [0; LONGEST_DAY];
        let length = self.print(&mut text);
        let end = out.len() + length;
        // One copy of a fixed size, cut afterwards, is a few moves; one of the real length is a call.
        out.extend_from_slice(&text);
        out.truncate(end);
    }

    /// Prints the day at the start of `text`; how many bytes it took.
    #[inline]
    pub(crate) fn print(self, text: &mut [u8; LONGEST_DAY]) -> usize {
        let (year, month, day) = self.ymd();
        if !(0..=9999).contains(&year) {
            return print_expanded(year, month, day, text);
        }
        let year = year.unsigned_abs();
        text[..2].copy_from_slice(&pair(year / 100));
        text[2..4].copy_from_slice(&pair(year));
        text[4..10].copy_from_slice(&month_and_day(month, day));
        10
    }
}

/// A day whose year does not fit four digits; rare, so kept out of the way of those that do.
#[cold]
fn print_expanded(year: i32, month: u32, day: u32, text: &mut [u8; LONGEST_DAY]) -> usize {
    let mut rest = year.unsigned_abs();
    let digits = if rest > 999_999 { 7 } else { 6 };
    text[0] = if year < 0 { b'-' } else { b'+' };
    for place in text[1..=digits].iter_mut().rev() {
        *place = pair(rest % 10)[1];
        rest /= 10;
    }
    text[digits + 1..digits + 7].copy_from_slice(&month_and_day(month, day));
    digits + 7
}

/// `-01-31`
#[inline]
fn month_and_day(month: u32, day: u32) -> [u8; 6] {
    let ([tens, ones], [day_tens, day_ones]) = (pair(month), pair(day));
    [b'-', tens, ones, b'-', day_tens, day_ones]
}

impl Instant {
    /// A moment from seconds since 1970 and nanoseconds after them; `None` from 1,000,000,000
    /// nanoseconds on.
    #[must_use]
    pub fn new(seconds: i64, nanos: u32) -> Option<Self> {
        (nanos < 1_000_000_000).then_some(Self { seconds, nanos })
    }

    /// A moment from whole seconds since 1970.
    #[must_use]
    pub const fn from_seconds(seconds: i64) -> Self {
        Self { seconds, nanos: 0 }
    }

    /// A moment from milliseconds since 1970.
    #[must_use]
    pub fn from_millis(millis: i64) -> Self {
        Self::from_parts(millis, 1_000)
    }

    /// A moment from microseconds since 1970, PostgreSQL's resolution.
    #[must_use]
    pub fn from_micros(micros: i64) -> Self {
        Self::from_parts(micros, 1_000_000)
    }

    /// A moment from a count of which `per_second` make a second; a power of ten up to 10^9.
    #[inline]
    fn from_parts(count: i64, per_second: i64) -> Self {
        let fraction = count.rem_euclid(per_second) * (1_000_000_000 / per_second);
        Self { seconds: count.div_euclid(per_second), nanos: u32::try_from(fraction).unwrap_or(0) }
    }

    /// Microseconds since 1970, what is finer cut off; `None` beyond 64 bits (± 292,000 years).
    #[must_use]
    pub fn micros(self) -> Option<i64> {
        self.seconds.checked_mul(1_000_000)?.checked_add(i64::from(self.nanos / 1_000))
    }
}

impl From<jiff::Timestamp> for Instant {
    fn from(at: jiff::Timestamp) -> Self {
        // jiff counts a negative fraction back from a second rounded towards zero.
        let borrow = i64::from(at.subsec_nanosecond() < 0);
        let nanos = i64::from(at.subsec_nanosecond()) + borrow * 1_000_000_000;
        Self { seconds: at.as_second() - borrow, nanos: u32::try_from(nanos).unwrap_or(0) }
    }
}

/// Splits seconds since 1970 into the day and the second of that day; beyond the range of [`Date`]
/// the day sticks at its end.
#[inline]
pub(crate) fn split(seconds: i64) -> (Date, u32) {
    let days = seconds.div_euclid(DAY);
    let end = if days < 0 { i32::MIN } else { i32::MAX };
    let days = i32::try_from(days).unwrap_or(end);
    (Date { days }, u32::try_from(seconds.rem_euclid(DAY)).unwrap_or(0))
}

/// Days in a month from 1 to 12.
pub(crate) fn days_in_month(year: i32, month: u32) -> u32 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days in 400 years, after which the calendar repeats itself.
const ERA: i64 = 146_097;
/// Eras added so that every day an `i32` can count is positive and division needs no care.
const ERAS: i64 = 14_700;
/// Days from the shifted zero, 0000-03-01 less [`ERAS`], to 1970-01-01.
const SHIFT: i64 = 719_468 + ERA * ERAS;

/// Year, month, day by Neri and Schneider, "Euclidean affine functions and their application to
/// calendar algorithms" (2022): multiplications in place of divisions, no branch but one.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "the shift makes the day positive and below 2^33; month and day are below 32"
)]
fn civil_from_days(days: i32) -> (i32, u32, u32) {
    let shifted = (i64::from(days) + SHIFT) as u64;
    let in_era = 4 * shifted + 3;
    let century = in_era / ERA as u64;
    let in_century = (in_era % ERA as u64) | 3;
    let product = 2_939_745 * in_century;
    let year_of_century = product >> 32;
    let day_of_year = (product & 0xFFFF_FFFF) / 2_939_745 / 4;
    let months = 2_141 * day_of_year + 197_913;
    // The computational year begins in March, so January and February belong to the next one.
    let turned = u64::from(day_of_year >= 306);
    let month = (months >> 16) - 12 * turned;
    let day = (months & 0xFFFF) / 2_141 + 1;
    let year = (100 * century + year_of_century + turned) as i64 - 400 * ERAS;
    (year as i32, month as u32, day as u32)
}

/// Days since 1970-01-01; the inverse of [`civil_from_days`], by Howard Hinnant's `days_from_civil`.
fn days_from_civil(year: i32, month: u32, day: u32) -> i64 {
    let year = i64::from(year) - i64::from(month <= 2);
    let month = i64::from((month + 9) % 12);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * month + 2) / 5 + i64::from(day) - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * ERA + day_of_era - 719_468
}
