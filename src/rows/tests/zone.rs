//! Wall clocks, with jiff as the judge where it knows the answer.

use jiff::Timestamp;
use jiff::fmt::temporal::DateTimePrinter;
use jiff::tz::{Offset, TimeZone};
use proptest::prelude::*;

use super::{JIFF, MOMENTS, ZONES, at, day, written, zone};
use crate::rows::{Instant, ZoneClock, parse_time};

#[test]
fn as_many_fraction_digits_are_written_as_are_needed() {
    let mut clock = ZoneClock::new(zone("Asia/Seoul"));
    for (nanos, expected) in [
        (0, "2026-01-31T23:59:59+09:00"),
        (100_000_000, "2026-01-31T23:59:59.1+09:00"),
        (123_456_000, "2026-01-31T23:59:59.123456+09:00"),
        (123_400_000, "2026-01-31T23:59:59.1234+09:00"),
        (1, "2026-01-31T23:59:59.000000001+09:00"),
        (120, "2026-01-31T23:59:59.00000012+09:00"),
        (999_999_999, "2026-01-31T23:59:59.999999999+09:00"),
    ] {
        let at = Instant { nanos, ..at("2026-01-31T14:59:59Z") };
        assert_eq!(written(&mut clock, at), expected);
    }
}

#[test]
fn only_utc_itself_is_written_as_z() {
    let winter = at("2026-01-31T12:00:00Z");
    for utc in [TimeZone::UTC, zone("UTC"), zone("Etc/UTC"), TimeZone::fixed(Offset::UTC)] {
        assert_eq!(written(&mut ZoneClock::new(utc), winter), "2026-01-31T12:00:00Z");
    }
    let mut london = ZoneClock::new(zone("Europe/London"));
    assert_eq!(written(&mut london, winter), "2026-01-31T12:00:00+00:00");
}

#[test]
fn seoul_in_1988_had_summer_time() {
    let mut clock = ZoneClock::new(zone("Asia/Seoul"));
    for (instant, expected) in [
        ("1988-05-07T16:59:59Z", "1988-05-08T01:59:59+09:00"),
        ("1988-05-07T17:00:00Z", "1988-05-08T03:00:00+10:00"),
        ("1988-10-08T16:59:59Z", "1988-10-09T02:59:59+10:00"),
        ("1988-10-08T17:00:00Z", "1988-10-09T02:00:00+09:00"),
    ] {
        assert_eq!(written(&mut clock, at(instant)), expected);
    }
}

#[test]
fn the_hour_that_new_york_repeats_is_told_apart_by_its_offset() {
    let mut clock = ZoneClock::new(zone("America/New_York"));
    assert_eq!(written(&mut clock, at("2026-11-01T05:30:00Z")), "2026-11-01T01:30:00-04:00");
    assert_eq!(written(&mut clock, at("2026-11-01T06:30:00Z")), "2026-11-01T01:30:00-05:00");
    assert_eq!(written(&mut clock, at("2026-03-08T06:59:59Z")), "2026-03-08T01:59:59-05:00");
    assert_eq!(written(&mut clock, at("2026-03-08T07:00:00Z")), "2026-03-08T03:00:00-04:00");
}

#[test]
fn local_mean_time_is_rounded_to_the_minute_and_the_moment_stays() {
    let mut clock = ZoneClock::new(zone("Asia/Seoul"));
    let before_zones = at("1900-01-01T00:00:00Z");
    // The exact offset was +08:27:52.
    assert_eq!(written(&mut clock, before_zones), "1900-01-01T08:28:00+08:28");
    let exact = 8 * 3_600 + 27 * 60 + 52;
    assert_eq!(clock.civil(before_zones), (day(1900, 1, 1), exact, 0));
}

#[test]
fn beyond_the_zone_database_the_offset_of_its_nearest_end_holds() {
    let mut clock = ZoneClock::new(zone("Asia/Seoul"));
    let last = Instant::from_seconds(MOMENTS.end - 1);
    assert_eq!(written(&mut clock, last), "+294277-01-01T08:59:59+09:00");
    let first = Instant::from_seconds(MOMENTS.start);
    assert_eq!(written(&mut clock, first), "-004713-11-24T08:28:00+08:28");
    for extreme in [i64::MIN, i64::MAX] {
        let text = written(&mut clock, Instant { seconds: extreme, nanos: 999_999_999 });
        assert!(text.contains('T'), "{text}");
    }
}

#[test]
fn offsets_of_part_hours_west_and_east_are_written_whole() {
    let noon = at("2026-07-01T12:00:00Z");
    for (name, expected) in [
        ("Asia/Kathmandu", "2026-07-01T17:45:00+05:45"),
        ("America/St_Johns", "2026-07-01T09:30:00-02:30"),
        ("Pacific/Kiritimati", "2026-07-02T02:00:00+14:00"),
    ] {
        assert_eq!(written(&mut ZoneClock::new(zone(name)), noon), expected);
    }
}

#[test]
fn every_transition_of_every_zone_falls_on_the_right_side() {
    for name in ZONES {
        let zone = zone(name);
        let mut clock = ZoneClock::new(zone.clone());
        let transitions: Vec<_> =
            zone.following(Timestamp::MIN).take_while(|t| t.timestamp() < at_2050()).collect();
        for transition in transitions {
            for seconds in -1..=1 {
                let second = transition.timestamp().as_second() + seconds;
                let jiff = Timestamp::from_second(second).unwrap();
                agrees(&zone, &mut clock, jiff).unwrap();
            }
        }
    }
}

fn at_2050() -> Timestamp {
    "2050-01-01T00:00:00Z".parse().unwrap()
}

/// Holds the clock against jiff: wall clock, moment, and the text wherever RFC 3339 can say it.
fn agrees(
    zone: &TimeZone,
    clock: &mut ZoneClock,
    jiff: Timestamp,
) -> Result<(), proptest::test_runner::TestCaseError> {
    let instant = Instant::from(jiff);
    let wall = zone.to_datetime(jiff);
    let (date, second, nanos) = clock.civil(instant);
    let (year, month, day) = date.ymd();
    prop_assert_eq!(
        (year, month, day, second, nanos),
        (
            wall.year().into(),
            u32::try_from(wall.month()).unwrap(),
            u32::try_from(wall.day()).unwrap(),
            u32::try_from(
                i32::from(wall.hour()) * 3_600
                    + i32::from(wall.minute()) * 60
                    + i32::from(wall.second())
            )
            .unwrap(),
            u32::try_from(wall.subsec_nanosecond()).unwrap(),
        )
    );
    let text = written(clock, instant);
    prop_assert_eq!(text.parse::<Timestamp>().unwrap(), jiff);
    let offset = zone.to_offset(jiff);
    if offset.seconds() % 60 == 0 && !text.ends_with('Z') && year <= 9999 {
        let mut expected = String::new();
        DateTimePrinter::new().print_timestamp_with_offset(&jiff, offset, &mut expected).unwrap();
        prop_assert_eq!(text, expected);
    }
    Ok(())
}

proptest! {
    #[test]
    fn the_clock_agrees_with_jiff_wherever_jiff_knows(
        name in prop::sample::select(&ZONES[..]),
        moments in prop::collection::vec((JIFF, 0..1_000_000_000_i32), 1..20),
    ) {
        let zone = zone(name);
        let mut clock = ZoneClock::new(zone.clone());
        for (seconds, nanos) in moments {
            agrees(&zone, &mut clock, Timestamp::new(seconds, nanos).unwrap())?;
        }
    }

    #[test]
    fn the_clock_agrees_with_jiff_in_the_years_that_people_use(
        name in prop::sample::select(&ZONES[..]),
        moments in prop::collection::vec(-2_500_000_000..4_000_000_000_i64, 1..20),
    ) {
        let zone = zone(name);
        let mut clock = ZoneClock::new(zone.clone());
        for seconds in moments {
            agrees(&zone, &mut clock, Timestamp::from_second(seconds).unwrap())?;
        }
    }

    #[test]
    fn what_is_written_reads_back_as_the_same_moment(
        name in prop::sample::select(&ZONES[..]),
        moments in prop::collection::vec((MOMENTS, 0..1_000_000_000_u32), 1..20),
    ) {
        let mut clock = ZoneClock::new(zone(name));
        for (seconds, nanos) in moments {
            let instant = Instant { seconds, nanos };
            prop_assert_eq!(parse_time(&written(&mut clock, instant), None), Ok(instant));
        }
    }
}
