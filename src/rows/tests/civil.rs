//! The calendar over its whole range.

use proptest::prelude::*;

use super::{MOMENTS, day, written_day};
use crate::rows::civil::{days_in_month, split};
use crate::rows::{Date, Instant};

#[test]
fn every_day_of_twenty_thousand_years_follows_the_one_before() {
    let first = day(-10_000, 1, 1).days;
    let last = day(10_000, 12, 31).days;
    let mut expected = (-10_000, 1, 1);
    for days in first..=last {
        assert_eq!(Date { days }.ymd(), expected);
        let (year, month, day) = expected;
        expected = if day < days_in_month(year, month) {
            (year, month, day + 1)
        } else if month < 12 {
            (year, month + 1, 1)
        } else {
            (year + 1, 1, 1)
        };
    }
}

#[test]
fn known_days_have_their_known_numbers() {
    assert_eq!(day(1970, 1, 1).days, 0);
    assert_eq!(day(2000, 1, 1).days, 10_957);
    assert_eq!(day(0, 3, 1).days, -719_468);
    // PostgreSQL's first and last day: Julian day 0, and the last day of 5874897 AD.
    assert_eq!(day(-4713, 11, 24).days, -2_440_588);
    assert_eq!(day(5_874_897, 12, 31).days, 2_145_042_905);
}

#[test]
fn a_day_that_the_calendar_does_not_have_is_none() {
    for (year, month, day) in
        [(2026, 2, 29), (1900, 2, 29), (2026, 4, 31), (2026, 13, 1), (2026, 0, 1), (2026, 1, 0)]
    {
        assert_eq!(Date::from_ymd(year, month, day), None);
    }
    assert!(Date::from_ymd(2000, 2, 29).is_some());
    assert_eq!(Date::from_ymd(i32::MAX, 1, 1), None);
    assert_eq!(Date::from_ymd(i32::MIN, 1, 1), None);
}

#[test]
fn days_are_written_in_iso_8601_and_expanded_outside_of_four_digits() {
    for (date, expected) in [
        (day(2026, 1, 31), "2026-01-31"),
        (day(9999, 12, 31), "9999-12-31"),
        (day(0, 1, 1), "0000-01-01"),
        (day(476, 9, 4), "0476-09-04"),
        (day(10_000, 1, 1), "+010000-01-01"),
        (day(12_345, 1, 31), "+012345-01-31"),
        (day(-1, 12, 31), "-000001-12-31"),
        (day(-43, 3, 15), "-000043-03-15"),
        (day(5_874_897, 12, 31), "+5874897-12-31"),
    ] {
        assert_eq!(written_day(date), expected);
    }
}

#[test]
fn writing_a_day_keeps_what_stands_before_it() {
    let mut out = b"a,".to_vec();
    day(2026, 1, 31).write(&mut out);
    day(-43, 3, 15).write(&mut out);
    assert_eq!(out, b"a,2026-01-31-000043-03-15");
}

#[test]
fn fractions_before_1970_count_forward_from_the_second_below() {
    let expected = Instant { seconds: -1, nanos: 999_999_000 };
    assert_eq!(Instant::from_micros(-1), expected);
    assert_eq!(expected.micros(), Some(-1));
    assert_eq!(Instant::from_millis(-1), Instant { seconds: -1, nanos: 999_000_000 });
    let jiff = jiff::Timestamp::from_nanosecond(-1_500_000_000).unwrap();
    assert_eq!(Instant::from(jiff), Instant { seconds: -2, nanos: 500_000_000 });
    assert_eq!(Instant::new(0, 1_000_000_000), None);
}

#[test]
fn moments_beyond_every_day_stick_at_the_last_one() {
    assert_eq!(split(i64::MAX).0.days, i32::MAX);
    assert_eq!(split(i64::MIN).0.days, i32::MIN);
}

proptest! {
    #[test]
    fn a_day_comes_back_from_its_year_month_and_day(days in any::<i32>()) {
        let (year, month, day) = Date { days }.ymd();
        prop_assert_eq!(Date::from_ymd(year, month, day), Some(Date { days }));
    }

    #[test]
    fn days_agree_with_jiff(days in -4_371_587..=2_932_896_i32) {
        let jiff = jiff::civil::date(1970, 1, 1) + jiff::Span::new().days(days);
        let (year, month, day) = Date { days }.ymd();
        prop_assert_eq!(
            (i64::from(year), i64::from(month), i64::from(day)),
            (jiff.year().into(), jiff.month().into(), jiff.day().into())
        );
    }

    #[test]
    fn microseconds_come_back(micros in any::<i64>()) {
        prop_assert_eq!(Instant::from_micros(micros).micros(), Some(micros));
    }

    #[test]
    fn a_moment_is_its_day_and_the_second_of_that_day(seconds in MOMENTS) {
        let (day, second) = split(seconds);
        prop_assert_eq!(i64::from(day.days) * 86_400 + i64::from(second), seconds);
    }
}
