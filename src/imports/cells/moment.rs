//! Moments out of cells: a day and a time of day, on the wall clock of a zone unless an offset from UTC
//! stands behind them.

use jiff::tz::{AmbiguousOffset, TimeZone};

use super::date::{Unreadable, bare_number, day, from_serial, passes, unreadable, wrong_kind};
use super::number::spell;
use super::scan::{Rest, narrowed};
use super::show::quoted;
use super::{CellFault, Scratch, beyond, display};
use crate::definitions::Bounds;
use crate::rows::{Date, Instant, ZoneClock};
use crate::sheets::Cell;

/// Seconds of a day.
const DAY: i64 = 86_400;

/// A time of day, and the offset from UTC where one is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Clock {
    /// Seconds since midnight.
    pub(super) second: u32,
    pub(super) nanos: u32,
    /// Seconds east of UTC.
    offset: Option<i32>,
}

impl Clock {
    pub(super) fn of_millis(millis: u32) -> Self {
        Self { second: millis / 1_000, nanos: millis % 1_000 * 1_000_000, offset: None }
    }
}

/// The moment of a cell that has been trimmed.
pub(super) fn read(
    cell: Cell<'_>,
    bounds: &Bounds<Instant>,
    zone: &TimeZone,
    scratch: &mut Scratch,
) -> Result<Instant, CellFault> {
    let (date, clock) = match cell {
        Cell::Serial(days) => from_serial(days, cell, "time")?,
        Cell::Text(text) | Cell::Iso(text) => {
            let narrow = narrowed(text, &mut scratch.narrow);
            parse(narrow).map_err(|fault| unreadable(fault, text, "time"))?
        }
        Cell::Number(_) | Cell::Digits(_) => {
            from_number(cell, scratch).ok_or_else(|| bare_number(cell, "time"))?
        }
        Cell::Empty
        | Cell::Duration(_)
        | Cell::Bool(_)
        | Cell::Error(_)
        | Cell::Unevaluated
        | Cell::Json(_) => return Err(wrong_kind(cell, "time")),
    };
    let at = instant(date, clock, zone).ok_or_else(|| skipped(cell, zone))?;
    match beyond(at, bounds) {
        None => Ok(at),
        Some(bound) => {
            let text = |at: &Instant| instant_text(*at, zone);
            Err(passes(&text(&at), &bound, text))
        }
    }
}

/// The day and the time of day of a text whose digits and signs are plain; a day alone is its midnight.
pub(super) fn parse(text: &str) -> Result<(Date, Clock), Unreadable> {
    let mut rest = Rest(text);
    if let Some((day, clock)) = text.split_at_checked(8)
        && text.len() == 14
        && text.bytes().all(|byte| byte.is_ascii_digit())
    {
        return Ok((self::day(&mut Rest(day))?, compact(clock)?));
    }
    let date = day(&mut rest)?;
    if rest.is_empty() {
        return Ok((date, Clock::default()));
    }
    let apart = rest.one_of(&['T', 't']).is_some() || rest.spaces();
    weekday(&mut rest);
    rest.spaces();
    if rest.is_empty() {
        return Ok((date, Clock::default()));
    }
    if !apart {
        return Err(Unreadable::Form);
    }
    let clock = clock(&mut rest)?;
    if rest.is_empty() { Ok((date, clock)) } else { Err(Unreadable::Form) }
}

/// A number that is a day or a moment by its digits alone.
pub(super) fn from_number(cell: Cell<'_>, scratch: &mut Scratch) -> Option<(Date, Clock)> {
    let text = match cell {
        Cell::Digits(text) => text,
        Cell::Number(number) => {
            scratch.digits.clear();
            spell(number, &mut scratch.digits);
            scratch.digits.as_str()
        }
        Cell::Empty
        | Cell::Text(_)
        | Cell::Serial(_)
        | Cell::Iso(_)
        | Cell::Duration(_)
        | Cell::Bool(_)
        | Cell::Error(_)
        | Cell::Unevaluated
        | Cell::Json(_) => return None,
    };
    matches!(text.len(), 8 | 14).then(|| parse(text).ok()).flatten()
}

/// `(월)` or `월요일`, which says nothing that the date does not.
fn weekday(rest: &mut Rest<'_>) {
    let mut ahead = *rest;
    let open = ahead.take("(");
    let named = ahead.one_of(&['월', '화', '수', '목', '금', '토', '일']).is_some();
    let whole = ahead.take("요일");
    if named && (if open { ahead.take(")") } else { whole }) {
        *rest = ahead;
    }
}

/// `093000`
fn compact(digits: &str) -> Result<Clock, Unreadable> {
    let number: u32 = digits.parse().map_err(|_| Unreadable::Form)?;
    let second = of_day(number / 10_000, number / 100 % 100, number % 100)?;
    Ok(Clock { second, ..Clock::default() })
}

fn of_day(hour: u32, minute: u32, second: u32) -> Result<u32, Unreadable> {
    let real = hour < 24 && minute < 60 && second < 60;
    real.then_some(hour * 3_600 + minute * 60 + second).ok_or(Unreadable::NoSuchTime)
}

fn clock(rest: &mut Rest<'_>) -> Result<Clock, Unreadable> {
    let before = half(rest);
    rest.spaces();
    let hour = two(rest)?;
    let (minute, second, nanos) = if rest.take(":") { colons(rest)? } else { words(rest)? };
    rest.spaces();
    let after = if before.is_none() { half(rest) } else { None };
    let hour = match before.or(after) {
        None => hour,
        Some(Half::Morning) if (1..=12).contains(&hour) => hour % 12,
        Some(Half::Afternoon) if (1..=12).contains(&hour) => hour % 12 + 12,
        Some(_) => return Err(Unreadable::NoSuchTime),
    };
    rest.spaces();
    Ok(Clock { second: of_day(hour, minute, second)?, nanos, offset: offset(rest)? })
}

/// Half of a day.
enum Half {
    Morning,
    Afternoon,
}

fn half(rest: &mut Rest<'_>) -> Option<Half> {
    const WORDS: [(&str, Half); 8] = [
        ("오전", Half::Morning),
        ("오후", Half::Afternoon),
        ("AM", Half::Morning),
        ("PM", Half::Afternoon),
        ("am", Half::Morning),
        ("pm", Half::Afternoon),
        ("a.m.", Half::Morning),
        ("p.m.", Half::Afternoon),
    ];
    WORDS.into_iter().find_map(|(word, half)| rest.take(word).then_some(half))
}

/// One or two digits.
fn two(rest: &mut Rest<'_>) -> Result<u32, Unreadable> {
    let digits = rest.digits();
    let fits = matches!(digits.len(), 1 | 2);
    fits.then(|| digits.parse().ok()).flatten().ok_or(Unreadable::Form)
}

/// `30`, `30:15`, `30:15.123` behind an hour and a colon.
fn colons(rest: &mut Rest<'_>) -> Result<(u32, u32, u32), Unreadable> {
    let minute = two(rest)?;
    if !rest.take(":") {
        return Ok((minute, 0, 0));
    }
    let second = two(rest)?;
    let nanos = if rest.take(".") { fraction(rest.digits())? } else { 0 };
    Ok((minute, second, nanos))
}

/// `시 30분 15초` behind an hour, the minute and the second only where they are.
fn words(rest: &mut Rest<'_>) -> Result<(u32, u32, u32), Unreadable> {
    if !rest.take("시") {
        return Err(Unreadable::Form);
    }
    let mut parts = [0, 0];
    for (part, word) in parts.iter_mut().zip(["분", "초"]) {
        let mut ahead = *rest;
        ahead.spaces();
        let Ok(number) = two(&mut ahead) else { break };
        ahead.spaces();
        if !ahead.take(word) {
            return Err(Unreadable::Form);
        }
        (*part, *rest) = (number, ahead);
    }
    Ok((parts[0], parts[1], 0))
}

/// Nanoseconds; zeros beyond them are let pass.
fn fraction(digits: &str) -> Result<u32, Unreadable> {
    let (kept, finer) = digits.split_at(digits.len().min(9));
    if kept.is_empty() {
        return Err(Unreadable::Form);
    }
    if finer.bytes().any(|digit| digit != b'0') {
        return Err(Unreadable::TooFine);
    }
    let nanos = kept.parse::<u32>().map_err(|_| Unreadable::Form)?;
    Ok(nanos * 10_u32.pow(9 - u32::try_from(kept.len()).unwrap_or(9)))
}

/// Nothing, `Z`, `+09:00`, `+0900`, `+09`.
fn offset(rest: &mut Rest<'_>) -> Result<Option<i32>, Unreadable> {
    if rest.one_of(&['Z', 'z']).is_some() {
        return Ok(Some(0));
    }
    let Some(sign) = rest.one_of(&['+', '-']) else {
        return Ok(None);
    };
    let digits = rest.digits();
    let (hours, minutes) = match digits.len() {
        2 if rest.take(":") => (digits, rest.digits()),
        2 => (digits, "00"),
        4 => digits.split_at(2),
        _ => return Err(Unreadable::Form),
    };
    if minutes.len() != 2 {
        return Err(Unreadable::Form);
    }
    let number = |digits: &str| digits.parse::<u32>().map_err(|_| Unreadable::Form);
    let seconds = of_day(number(hours)?, number(minutes)?, 0)?.cast_signed();
    Ok(Some(if sign == '-' { -seconds } else { seconds }))
}

/// The moment, or nothing where the clocks of the zone left it out. A midnight that they left out is the
/// first moment of its day.
fn instant(date: Date, clock: Clock, zone: &TimeZone) -> Option<Instant> {
    let wall = i64::from(date.days) * DAY + i64::from(clock.second);
    let offset = match clock.offset {
        Some(offset) => offset,
        None => match zone.to_ambiguous_timestamp(civil(date, clock.second)?).offset() {
            AmbiguousOffset::Unambiguous { offset } => offset.seconds(),
            AmbiguousOffset::Fold { before, .. } => before.seconds(),
            AmbiguousOffset::Gap { before, .. } => {
                (clock.second == 0 && clock.nanos == 0).then(|| before.seconds())?
            }
        },
    };
    Instant::new(wall - i64::from(offset), clock.nanos)
}

fn civil(date: Date, second: u32) -> Option<jiff::civil::DateTime> {
    let (year, month, day) = date.ymd();
    let small = |number: u32| i8::try_from(number).ok();
    let date =
        jiff::civil::Date::new(i16::try_from(year).ok()?, small(month)?, small(day)?).ok()?;
    Some(date.at(small(second / 3_600)?, small(second / 60 % 60)?, small(second % 60)?, 0))
}

fn instant_text(at: Instant, zone: &TimeZone) -> String {
    let mut text = Vec::new();
    ZoneClock::new(zone.clone()).write(at, &mut text);
    String::from_utf8(text).unwrap_or_default()
}

fn skipped(cell: Cell<'_>, zone: &TimeZone) -> CellFault {
    let zone = zone.iana_name().unwrap_or("its zone");
    let detail = format!(
        "{} does not exist in {zone}: the clocks were put forward over it; correct the time, or write \
         it with its offset from UTC, as 2026-01-31T14:05:00+09:00",
        quoted(&display(cell))
    );
    CellFault::new("skipped_time", detail)
}
