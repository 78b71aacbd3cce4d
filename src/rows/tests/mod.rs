//! Days, moments, zones, decimals and what is read from text, against jiff and against themselves.

mod civil;
mod decimal;
mod parse;
mod zone;

use jiff::tz::TimeZone;

use super::{Date, Instant, ZoneClock};

/// First and last second of PostgreSQL's timestamps: 4713 BC to 294276 AD.
const MOMENTS: std::ops::Range<i64> = -210_866_803_200..9_224_318_016_000;
/// First and last second that jiff knows in every zone.
const JIFF: std::ops::Range<i64> = -377_705_023_201..253_402_207_200;

const ZONES: [&str; 8] = [
    "UTC",
    "Asia/Seoul",
    "America/New_York",
    "Europe/London",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Africa/Monrovia",
    "Pacific/Apia",
];

fn zone(name: &str) -> TimeZone {
    TimeZone::get(name).unwrap()
}

fn day(year: i32, month: u32, day: u32) -> Date {
    Date::from_ymd(year, month, day).unwrap()
}

fn written_day(day: Date) -> String {
    let mut out = Vec::new();
    day.write(&mut out);
    String::from_utf8(out).unwrap()
}

fn written(clock: &mut ZoneClock, at: Instant) -> String {
    let mut out = b"before ".to_vec();
    clock.write(at, &mut out);
    String::from_utf8(out).unwrap().strip_prefix("before ").unwrap().to_owned()
}

/// A moment from jiff's own reading of a text.
fn at(text: &str) -> Instant {
    text.parse::<jiff::Timestamp>().unwrap().into()
}
