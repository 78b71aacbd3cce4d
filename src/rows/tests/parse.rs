//! What untyped databases hold as text.

use proptest::prelude::*;

use super::{ZONES, at, day, written_day, zone};
use crate::rows::{Date, Instant, parse_bool, parse_date, parse_time};

#[test]
fn the_usual_forms_of_a_moment_are_read() {
    let expected = at("2026-01-31T14:59:59Z");
    for text in [
        "2026-01-31T23:59:59+09:00",
        "2026-01-31 23:59:59+09:00",
        "2026-01-31t23:59:59+0900",
        "2026-01-31T23:59:59+09",
        "2026-01-31T14:59:59Z",
        "2026-01-31T14:59:59z",
        "2026-01-31 14:59:59",
        "2026-01-31 14:59:59.000",
        "2026-01-31 14:59:59.000000000000",
        "2026-01-31T09:59:59-05:00",
        "+002026-01-31T14:59:59Z",
        "2026-01-31T23:27:51+08:27:52",
    ] {
        assert_eq!(parse_time(text, None), Ok(expected), "{text}");
    }
}

#[test]
fn bytes_next_to_the_digits_are_none() {
    let text = "2026-01-31T23:59:59Z";
    assert!(parse_time(text, None).is_ok());
    for place in (0..text.len() - 1).filter(|place| *place != 10) {
        for wrong in ["/", ":", ";", "?", "@", "p", " "] {
            let mut text = text.to_owned();
            if text[place..=place] == *wrong {
                continue;
            }
            text.replace_range(place..=place, wrong);
            assert!(parse_time(&text, None).is_err(), "{text}");
        }
    }
}

#[test]
fn seconds_and_the_time_of_day_may_be_left_out() {
    assert_eq!(parse_time("2026-01-31T14:59", None), Ok(at("2026-01-31T14:59:00Z")));
    assert_eq!(parse_time("2026-01-31T14:59+09:00", None), Ok(at("2026-01-31T05:59:00Z")));
    assert_eq!(parse_time("2026-01-31", None), Ok(at("2026-01-31T00:00:00Z")));
    let seoul = zone("Asia/Seoul");
    assert_eq!(parse_time("2026-01-31", Some(&seoul)), Ok(at("2026-01-30T15:00:00Z")));
}

#[test]
fn up_to_nine_fraction_digits_are_kept_exactly() {
    for (text, nanos) in [
        (".1", 100_000_000),
        (".123456", 123_456_000),
        (".000000001", 1),
        (".999999999", 999_999_999),
        (".1234567890000", 123_456_789),
    ] {
        let expected = Instant { nanos, ..at("2026-01-31T00:00:00Z") };
        assert_eq!(parse_time(&format!("2026-01-31T00:00:00{text}Z"), None), Ok(expected));
    }
    let finer = parse_time("2026-01-31T00:00:00.0000000001", None).unwrap_err();
    assert!(finer.detail().contains("nanosecond"), "{finer}");
}

#[test]
fn without_an_offset_it_is_the_wall_clock_of_the_zone() {
    let seoul = zone("Asia/Seoul");
    let new_york = zone("America/New_York");
    for (zone, text, expected) in [
        (&seoul, "2026-01-31 23:59:59.5", "2026-01-31T14:59:59.5Z"),
        (&seoul, "1988-07-01 00:00:00", "1988-06-30T14:00:00Z"),
        (&seoul, "2026-01-31T00:00:00Z", "2026-01-31T00:00:00Z"),
        // Skipped: by the offset before. Repeated: the first.
        (&new_york, "2026-03-08 02:30:00", "2026-03-08T07:30:00Z"),
        (&new_york, "2026-11-01 01:30:00", "2026-11-01T05:30:00Z"),
    ] {
        assert_eq!(parse_time(text, Some(zone)), Ok(at(expected)), "{text}");
    }
}

#[test]
fn a_wall_clock_beyond_the_zone_database_has_the_offset_of_its_end() {
    let seoul = zone("Asia/Seoul");
    let utc = parse_time("+012345-01-31T00:00:00", None).unwrap();
    let expected = Instant { seconds: utc.seconds - 9 * 3_600, ..utc };
    assert_eq!(parse_time("+012345-01-31T00:00:00", Some(&seoul)), Ok(expected));
}

#[test]
fn what_is_not_a_moment_is_refused_in_words() {
    for (text, word) in [
        ("", "is not a time"),
        ("yesterday", "is not a time"),
        ("31/01/2026", "is not a time"),
        ("2026-1-31", "is not a time"),
        ("2026-01-31T", "is not a time"),
        ("2026-01-31T12", "is not a time"),
        ("2026-01-31T12:30.5", "is not a time"),
        ("2026-01-31T12:30:15.", "is not a time"),
        ("2026-01-31T12:30:15 ", "is not a time"),
        ("2026-01-31T12:30:15Zulu", "is not a time"),
        ("2026-01-31T12:30:15+9", "is not a time"),
        ("12026-01-31T12:30:15", "is not a time"),
        ("+2026-01-31T12:30:15", "is not a time"),
        ("+00002026-01-31T12:30:15", "is not a time"),
        ("2026-02-29T00:00:00", "calendar"),
        ("2026-13-01", "calendar"),
        ("2026-01-31T24:00:00", "time of day"),
        ("2026-01-31T12:60:00", "time of day"),
        ("2026-01-31T23:59:60", "time of day"),
        ("2026-01-31T12:00:00+26:00", "offset"),
        ("２０２６-01-31", "is not a time"),
    ] {
        let error = parse_time(text, None).unwrap_err();
        assert!(error.detail().contains(word), "{text}: {error}");
        assert!(error.detail().starts_with('"'), "{error}");
    }
}

#[test]
fn a_long_text_is_not_repeated_whole() {
    let error = parse_time(&"가".repeat(10_000), None).unwrap_err();
    assert!(error.detail().chars().count() < 150, "{error}");
    assert!(error.detail().contains("가…\""), "{error}");
}

#[test]
fn a_date_may_have_a_midnight_and_no_other_time_behind_it() {
    for text in [
        "2026-01-31",
        "2026-01-31T00:00",
        "2026-01-31 00:00:00",
        "2026-01-31T00:00:00.000Z",
        "2026-01-31T00:00:00+09:00",
    ] {
        assert_eq!(parse_date(text), Ok(day(2026, 1, 31)), "{text}");
    }
    let late = parse_date("2026-01-31T15:00:00Z").unwrap_err();
    assert!(late.detail().contains("time of day"), "{late}");
    let wrong = parse_date("31.01.2026").unwrap_err();
    assert!(wrong.detail().contains("looks like 2026-01-31"), "{wrong}");
    assert!(parse_date("2026-02-30").is_err());
    assert_eq!(parse_date("-000043-03-15"), Ok(day(-43, 3, 15)));
}

#[test]
fn truth_has_four_words_for_each_side_in_any_case() {
    for text in ["1", "true", "TRUE", "t", "T", "yes", "Yes"] {
        assert_eq!(parse_bool(text), Ok(true), "{text}");
    }
    for text in ["0", "false", "False", "f", "no", "NO"] {
        assert_eq!(parse_bool(text), Ok(false), "{text}");
    }
    for text in ["", "2", "on", " true", "참"] {
        assert!(parse_bool(text).is_err(), "{text}");
    }
}

proptest! {
    #[test]
    fn every_day_reads_back_as_it_was_written(days in any::<i32>()) {
        let date = Date { days };
        prop_assert_eq!(parse_date(&written_day(date)), Ok(date));
    }

    #[test]
    fn a_wall_clock_is_read_as_jiff_reads_it(
        name in prop::sample::select(&ZONES[..]),
        seconds in -3_000_000_000..4_000_000_000_i64,
    ) {
        let zone = zone(name);
        let wall = jiff::Timestamp::from_second(seconds).unwrap();
        let wall = jiff::tz::TimeZone::UTC.to_datetime(wall);
        let expected = zone.to_ambiguous_timestamp(wall).compatible().unwrap();
        let found = parse_time(&wall.to_string(), Some(&zone));
        prop_assert_eq!(found, Ok(Instant::from(expected)));
    }

    #[test]
    fn no_text_at_all_is_a_panic(text in "\\PC{0,40}", digits in "[0-9T:+. Z-]{0,40}") {
        for text in [text, digits] {
            let _ = parse_time(&text, None);
            let _ = parse_date(&text);
            let _ = parse_bool(&text);
        }
    }
}
