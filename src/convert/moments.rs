//! The days and moments of spreadsheets: numbers of days, and ISO 8601. They have no zone, and get one
//! where the request names one.

use std::fmt::Write;

use jiff::tz::TimeZone;

use crate::rows::{Date, Instant, ZoneClock, parse_date, parse_time};

/// 1970-01-01, counted in days since 1899-12-30.
const EPOCH: i64 = 25_569;
/// 9999-12-31, the last day that spreadsheets have.
const LAST: f64 = 2_958_465.0;
const DAY_MILLIS: i64 = 86_400_000;
/// Characters of a date in ISO 8601; what follows is a time.
const DATE: usize = 10;

/// What a number or a text that is shown as a date says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Said {
    /// A day.
    Day(Date),
    /// What a clock on some wall shows, as if it were in UTC.
    Wall(Instant),
    /// A moment that knows its zone.
    Moment(Instant),
    /// Milliseconds since midnight, without a day.
    Clock(u64),
    /// Nothing that a calendar has.
    Nothing,
}

/// What a number of days as Excel counts them says, to the millisecond.
pub(super) fn of_serial(days: f64) -> Said {
    if !(0.0..LAST + 1.0).contains(&days) {
        return Said::Nothing;
    }
    #[expect(clippy::cast_possible_truncation, reason = "whole, and below 2^53")]
    let millis = (days * 86_400_000.0).round() as i64;
    let (day, clock) = (millis / DAY_MILLIS, millis % DAY_MILLIS);
    // Excel counts a 29 February 1900, so the days before it lie one later than their number says.
    let day = if (1..60).contains(&day) { day + 1 } else { day };
    match (day, clock) {
        _ if millis / DAY_MILLIS == 60 => Said::Nothing,
        (0, clock) => Said::Clock(clock.unsigned_abs()),
        (day, 0) => {
            i32::try_from(day - EPOCH).map_or(Said::Nothing, |days| Said::Day(Date { days }))
        }
        (day, clock) => Said::Wall(Instant::from_millis((day - EPOCH) * DAY_MILLIS + clock)),
    }
}

/// What a text in ISO 8601 says.
pub(super) fn of_iso(text: &str) -> Said {
    let zoned = text.get(DATE..).is_some_and(|time| time.contains(['Z', 'z', '+', '-']));
    match (zoned, parse_date(text)) {
        (false, Ok(day)) => Said::Day(day),
        (false, Err(_)) => parse_time(text, None).map_or(Said::Nothing, Said::Wall),
        (true, _) => parse_time(text, None).map_or(Said::Nothing, Said::Moment),
    }
}

/// `2026-01-31`
pub(super) fn write_day(day: Date, out: &mut String) {
    let mut bytes = Vec::new();
    day.write(&mut bytes);
    out.push_str(&String::from_utf8_lossy(&bytes));
}

/// `2026-01-31T09:30:00`, with milliseconds or more where there are some: the clock on a wall.
pub(super) fn write_wall(wall: Instant, out: &mut String) {
    let mut bytes = Vec::new();
    ZoneClock::new(TimeZone::UTC).write(wall, &mut bytes);
    // It hangs in no zone, so UTC is not said.
    out.push_str(String::from_utf8_lossy(&bytes).trim_end_matches('Z'));
}

/// `09:30:00`, and `.123` where there are milliseconds.
pub(super) fn write_clock(millis: u64, out: &mut String) {
    let (seconds, millis) = (millis / 1_000, millis % 1_000);
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    // Writing to a text cannot fail.
    let _ = write!(out, "{hours:02}:{minutes:02}:{seconds:02}");
    if millis > 0 {
        let _ = write!(out, ".{millis:03}");
    }
}

/// `36:30:00`; false where it is longer than anybody counts.
pub(super) fn write_duration(days: f64, out: &mut String) -> bool {
    let millis = (days * 86_400_000.0).round();
    if millis.abs() > 9e15 {
        return false;
    }
    #[expect(clippy::cast_possible_truncation, reason = "whole, and below 2^53")]
    let millis = millis as i64;
    if millis < 0 {
        out.push('-');
    }
    write_clock(millis.unsigned_abs(), out);
    true
}

/// The clocks of the zone that was asked for.
#[derive(Debug, Clone)]
pub(super) struct Zone {
    zone: TimeZone,
    clock: ZoneClock,
}

impl Zone {
    pub(super) fn new(zone: TimeZone) -> Self {
        Self { clock: ZoneClock::new(zone.clone()), zone }
    }

    /// The moment at which a clock of this zone shows this, the first where it does so twice; nothing
    /// where its clocks leave it out.
    pub(super) fn moment(&mut self, wall: Instant) -> Option<Instant> {
        let mut shown = String::new();
        write_wall(wall, &mut shown);
        let moment = parse_time(&shown, Some(&self.zone)).ok()?;
        let (day, second, _) = self.clock.civil(moment);
        let seconds = i64::from(day.days) * (DAY_MILLIS / 1_000) + i64::from(second);
        (seconds == wall.seconds).then_some(moment)
    }

    /// Its name, for messages.
    pub(super) fn name(&self) -> &str {
        self.zone.iana_name().unwrap_or("that zone")
    }
}
