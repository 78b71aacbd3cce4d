//! Dates and times in MySQL's binary protocol, each as long as it needs to be.

use std::fmt::Write as _;

use jiff::tz::TimeZone;

use crate::database::decode::{Reading, at_zone};
use crate::rows::{Date, Value};

/// Seconds of a day.
const DAY: i64 = 86_400;

/// A date with the time of its day, as the calendar or the zeros of the wire have it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    pub(super) year: u16,
    pub(super) month: u8,
    pub(super) day: u8,
    /// Hour, minute, second.
    pub(super) clock: (u8, u8, u8),
    pub(super) micros: u32,
}

impl Moment {
    /// The length in the first byte; then date, time and microseconds as far as they are not zero.
    /// `None` for the date of zeros.
    pub(super) fn read(bytes: &[u8]) -> Result<Option<Self>, String> {
        let cut = || format!("came as a date of {} bytes", bytes.len());
        let (length, rest) = bytes.split_first().ok_or_else(cut)?;
        if usize::from(*length) != rest.len() {
            return Err(cut());
        }
        let (date, time) = match rest {
            [] => return Ok(None),
            [year, century, month, day, time @ ..] => {
                ((u16::from_le_bytes([*year, *century]), *month, *day), time)
            }
            _ => return Err(cut()),
        };
        let (clock, micros) = match time {
            [] => ((0, 0, 0), 0),
            [hour, minute, second] => ((*hour, *minute, *second), 0),
            [hour, minute, second, micros @ ..] => {
                ((*hour, *minute, *second), u32::from_le_bytes(fixed(micros)?))
            }
            _ => return Err(cut()),
        };
        let (year, month, day) = date;
        Ok(Some(Self { year, month, day, clock, micros }))
    }

    /// `None` where a month or a day is zero.
    pub(super) fn date(self) -> Option<Date> {
        Date::from_ymd(i32::from(self.year), self.month.into(), self.day.into())
    }

    pub(super) fn at(self, zone: Option<&TimeZone>) -> Reading<'static> {
        let Some(date) = self.date() else { return Ok(None) };
        let (hour, minute, second) = self.clock;
        let clock = i64::from(hour) * 3_600 + i64::from(minute) * 60 + i64::from(second);
        let seconds = i64::from(date.days) * DAY + clock;
        at_zone(seconds, self.micros * 1_000, zone).map(|at| Some(Value::Time(at)))
    }
}

/// Length, sign, days, hour, minute, second, microseconds, as the server itself writes them.
pub(super) fn clock<'r>(bytes: &[u8], scratch: &'r mut String) -> Result<&'r str, String> {
    let cut = || format!("came as a time of {} bytes", bytes.len());
    let (negative, days, clock, micros) = match bytes {
        [0] => (0, 0, [0; 3], 0),
        [8, negative, a, b, c, d, hour, minute, second] => {
            (*negative, u32::from_le_bytes([*a, *b, *c, *d]), [*hour, *minute, *second], 0)
        }
        [12, negative, a, b, c, d, hour, minute, second, micros @ ..] => (
            *negative,
            u32::from_le_bytes([*a, *b, *c, *d]),
            [*hour, *minute, *second],
            u32::from_le_bytes(fixed(micros)?),
        ),
        _ => return Err(cut()),
    };
    let [hour, minute, second] = clock;
    let hours = u64::from(days) * 24 + u64::from(hour);
    let sign = if negative == 0 { "" } else { "-" };
    let _ = write!(scratch, "{sign}{hours:02}:{minute:02}:{second:02}");
    if micros != 0 {
        let _ = write!(scratch, ".{micros:06}");
    }
    Ok(scratch)
}

pub(super) fn fixed<const N: usize>(bytes: &[u8]) -> Result<[u8; N], String> {
    bytes.try_into().map_err(|_| format!("came with {} bytes instead of {N}", bytes.len()))
}
