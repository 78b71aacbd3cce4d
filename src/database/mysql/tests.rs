//! Tests of the binary protocol without a server.

use jiff::tz::TimeZone;
use sqlx::mysql::MySqlTypeInfo;
use sqlx::{MySql, Type, TypeInfo};

use super::wire::{self, Wire};
use crate::database::decode::Reading;
use crate::database::{Cell, Read, Unit};
use crate::rows::{Date, Instant, Kind, Value};

fn declared(kind: Kind) -> Read {
    Read::As { kind, scale: Some(2), zone: None, unit: None }
}

#[track_caller]
fn assert_read(wire: Wire, bytes: &[u8], read: &Read, expected: &Reading<'_>) {
    assert_eq!(
        &wire::decode(wire, bytes, read, &mut String::new()),
        expected,
        "{wire:?} {bytes:?}"
    );
}

/// Why a cell is refused.
#[track_caller]
fn refusal(wire: Wire, bytes: &[u8], read: &Read) -> String {
    wire::decode(wire, bytes, read, &mut String::new()).map(drop).unwrap_err()
}

#[test]
fn whole_numbers_of_every_width_keep_their_sign_and_their_highest_bit() {
    for (wire, bytes, number) in [
        (Wire::Int(1), &[0xFF][..], -1),
        (Wire::Unsigned(1), &[0xFF], 255),
        (Wire::Int(2), &[0, 0x80], -32_768),
        (Wire::Unsigned(2), &[0xEA, 0x07], 2_026),
        (Wire::Int(4), &[0xFF, 0xFF, 0x7F, 0xFF], -8_388_609),
        (Wire::Int(8), &[0, 0, 0, 0, 0, 0, 0, 0x80], i64::MIN),
        (Wire::Unsigned(8), &[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F], i64::MAX),
        (Wire::Bit, &[0x01, 0x02], 258),
    ] {
        assert_read(wire, bytes, &declared(Kind::Int), &Ok(Some(Value::Int(number))));
    }
    let largest = [0xFF; 8];
    let digits = "18446744073709551615";
    assert_read(
        Wire::Unsigned(8),
        &largest,
        &declared(Kind::Int),
        &Ok(Some(Value::Decimal(digits))),
    );
    assert_read(Wire::Unsigned(8), &largest, &Read::Stored, &Ok(Some(Value::Text(digits))));
    let padded = format!("{digits}.00");
    assert_read(
        Wire::Unsigned(8),
        &largest,
        &declared(Kind::Decimal),
        &Ok(Some(Value::Decimal(&padded))),
    );
}

#[test]
fn truth_is_zero_or_one() {
    let truth = declared(Kind::Bool);
    assert_read(Wire::Int(1), &[1], &truth, &Ok(Some(Value::Bool(true))));
    assert_read(Wire::Bit, &[0], &truth, &Ok(Some(Value::Bool(false))));
    let refused = refusal(Wire::Int(1), &[2], &truth);
    assert!(refused.contains("neither 0 nor 1"), "{refused}");
}

#[test]
fn a_decimal_keeps_its_scale_and_loses_the_zeros_before_it() {
    for (sent, read) in [
        ("57.70", "57.70"),
        ("0.01", "0.01"),
        ("00012.30", "12.30"),
        ("0000.00", "0.00"),
        ("-0.50", "-0.50"),
        ("100", "100"),
    ] {
        let expected = &Ok(Some(Value::Decimal(read)));
        assert_read(Wire::Decimal, sent.as_bytes(), &declared(Kind::Decimal), expected);
    }
    assert_read(Wire::Decimal, b"7.00", &declared(Kind::Int), &Ok(Some(Value::Decimal("7"))));
    let refused = refusal(Wire::Decimal, b"7.50", &declared(Kind::Int));
    assert!(refused.contains("declare it decimal"));
}

#[test]
fn a_date_comes_as_long_as_it_needs_to_be() {
    let (date, time) = (declared(Kind::Date), declared(Kind::Time));
    let day = Date::from_ymd(2026, 1, 31).unwrap();
    assert_read(Wire::Date, &[4, 0xEA, 7, 1, 31], &date, &Ok(Some(Value::Date(day))));
    let midnight = Instant::from_seconds(i64::from(day.days) * 86_400);
    assert_read(Wire::DateTime, &[4, 0xEA, 7, 1, 31], &time, &Ok(Some(Value::Time(midnight))));
    let later = Instant::new(midnight.seconds + 86_399, 123_456_000).unwrap();
    let sent = [11, 0xEA, 7, 1, 31, 23, 59, 59, 0x40, 0xE2, 1, 0];
    assert_read(Wire::Timestamp, &sent, &time, &Ok(Some(Value::Time(later))));
    let stored = "2026-01-31 23:59:59.123456";
    assert_read(Wire::DateTime, &sent, &Read::Stored, &Ok(Some(Value::Text(stored))));
    let seoul = Read::As {
        kind: Kind::Time,
        scale: None,
        zone: Some(TimeZone::get("Asia/Seoul").unwrap()),
        unit: None,
    };
    let nine_hours_before = Instant::new(later.seconds - 9 * 3_600, later.nanos).unwrap();
    assert_read(Wire::DateTime, &sent, &seoul, &Ok(Some(Value::Time(nine_hours_before))));
    // A moment is one in whatever zone.
    assert_read(Wire::Timestamp, &sent, &seoul, &Ok(Some(Value::Time(later))));
}

#[test]
fn a_date_that_no_calendar_has_is_said_by_no_format_and_cannot_be_continued_behind() {
    for sent in [&[0][..], &[4, 0xEA, 7, 0, 0], &[4, 0xEA, 7, 2, 30], &[7, 0, 0, 0, 0, 10, 0, 0]] {
        assert_read(Wire::DateTime, sent, &declared(Kind::Time), &Ok(None));
        let refused = refusal(Wire::DateTime, sent, &Read::Stored);
        assert!(refused.contains("no page can be continued"));
    }
    assert_read(Wire::Date, &[0], &declared(Kind::Date), &Ok(None));
}

#[test]
fn a_clock_shows_more_hours_than_a_day_has() {
    for (sent, shown) in [
        (&[0][..], "00:00:00"),
        (&[8, 0, 0, 0, 0, 0, 9, 5, 7], "09:05:07"),
        (&[12, 1, 34, 0, 0, 0, 22, 59, 59, 0x40, 0xE2, 1, 0], "-838:59:59.123456"),
    ] {
        assert_read(Wire::Clock, sent, &declared(Kind::Text), &Ok(Some(Value::Text(shown))));
    }
}

#[test]
fn what_is_cut_short_is_refused() {
    for (wire, sent) in [
        (Wire::Int(4), &[1, 2][..]),
        (Wire::Double, &[1, 2]),
        (Wire::DateTime, &[4, 1, 2]),
        (Wire::DateTime, &[9, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
        (Wire::Date, &[]),
        (Wire::Clock, &[8, 0]),
    ] {
        assert!(refusal(wire, sent, &Read::Stored).contains("came "), "{wire:?} {sent:?}");
    }
    let misread = refusal(Wire::Text, &[b'a', 0xFF], &declared(Kind::Text));
    assert!(misread.contains("byte 2"));
}

#[test]
fn a_counted_time_is_a_whole_number_of_any_width() {
    let counted = Read::As { kind: Kind::Time, scale: None, zone: None, unit: Some(Unit::Seconds) };
    let at = Instant::from_seconds(1_000);
    assert_read(Wire::Unsigned(4), &[0xE8, 3, 0, 0], &counted, &Ok(Some(Value::Time(at))));
    let refused = refusal(Wire::Unsigned(8), &[0xFF; 8], &counted);
    assert!(refused.contains("no time there is"));
}

#[test]
fn a_type_that_the_declared_kind_cannot_hold_is_refused_with_a_remedy() {
    fn of<T: Type<MySql>>() -> MySqlTypeInfo {
        T::type_info()
    }
    let cell = |kind| Cell { key: "x".into(), read: declared(kind) };
    for (kind, column_type) in [
        (Kind::Int, of::<String>()),
        (Kind::Decimal, of::<String>()),
        (Kind::Date, of::<i64>()),
        (Kind::Bool, of::<f64>()),
        (Kind::Float, of::<i64>()),
        (Kind::Text, of::<Vec<u8>>()),
    ] {
        let refused = wire::reader(&cell(kind), &column_type).unwrap_err();
        let name = column_type.name().to_lowercase();
        assert!(refused.contains(&name) && refused.contains("cast it"), "{refused}");
    }
    for (kind, column_type, wire) in [
        (Kind::Text, of::<String>(), Wire::Text),
        (Kind::Bool, of::<bool>(), Wire::Unsigned(1)),
        (Kind::Int, of::<u64>(), Wire::Unsigned(8)),
        (Kind::Int, of::<i64>(), Wire::Int(8)),
    ] {
        assert_eq!(wire::reader(&cell(kind), &column_type), Ok(wire));
    }
}
