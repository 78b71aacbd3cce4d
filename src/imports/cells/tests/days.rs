//! Days and moments.

use super::*;

#[test]
fn days_are_read_in_every_usual_spelling() {
    for text in [
        "2026-01-05",
        "2026-1-5",
        "2026.01.05",
        "2026.1.5",
        "2026.1.5.",
        "2026. 1. 5.",
        "2026. 01. 05",
        "2026/1/5",
        "2026/01/05",
        "2026년 1월 5일",
        "2026년1월5일",
        "2026년 01월 05일",
        "20260105",
        "２０２６-０１-０５",
        "２０２６년 １월 ５일",
        "2026-01-05 00:00:00",
        "2026-01-05T00:00:00.000",
        "2026-01-05 (월)",
        "2026년 1월 5일 월요일",
        " 2026-01-05\u{A0}",
    ] {
        assert_value(&field("date"), Cell::Text(text), Value::Date(day(2026, 1, 5)));
    }
    for cell in [
        Cell::Iso("2026-01-05"),
        Cell::Iso("2026-01-05T00:00:00"),
        Cell::Serial(46_027.0),
        Cell::Number(20_260_105.0),
        Cell::Digits("20260105"),
    ] {
        assert_value(&field("date"), cell, Value::Date(day(2026, 1, 5)));
    }
}

#[test]
fn what_is_no_day_or_more_than_one_is_refused() {
    for (cell, code) in [
        (Cell::Text("1/5/2026"), "ambiguous_date"),
        (Cell::Text("05.01.2026"), "ambiguous_date"),
        (Cell::Text("26-01-05"), "ambiguous_date"),
        (Cell::Text("26.1.5"), "ambiguous_date"),
        (Cell::Text("26년 1월 5일"), "ambiguous_date"),
        (Cell::Text("260105"), "ambiguous_date"),
        (Cell::Text("1월 5일"), "ambiguous_date"),
        (Cell::Text("2026-02-30"), "no_such_date"),
        (Cell::Text("2026-13-01"), "no_such_date"),
        (Cell::Text("0000-01-01"), "no_such_date"),
        (Cell::Text("20260230"), "no_such_date"),
        (Cell::Text("2026-01"), "not_a_date"),
        (Cell::Text("2026-1.5"), "not_a_date"),
        (Cell::Text("2026-001-05"), "not_a_date"),
        (Cell::Text("2026-01-051"), "not_a_date"),
        (Cell::Text("2026년 1월"), "not_a_date"),
        (Cell::Text("Jan 5, 2026"), "not_a_date"),
        (Cell::Text("어제"), "not_a_date"),
        (Cell::Text("46027"), "not_a_date"),
        (Cell::Text("2026-01-05 09:30"), "has_time_of_day"),
        (Cell::Iso("2026-01-05T09:30:00"), "has_time_of_day"),
        (Cell::Iso("09:30:00"), "not_a_date"),
        (Cell::Serial(46_027.5), "has_time_of_day"),
        (Cell::Serial(0.5), "not_a_date"),
        (Cell::Serial(60.0), "no_such_date"),
        (Cell::Serial(-1.0), "not_a_date"),
        (Cell::Serial(2_958_466.0), "not_a_date"),
        (Cell::Serial(f64::NAN), "not_a_date"),
        (Cell::Number(46_027.0), "not_a_date"),
        (Cell::Number(20_260_230.0), "not_a_date"),
        (Cell::Digits("46027"), "not_a_date"),
        (Cell::Bool(true), "not_a_date"),
    ] {
        assert_code(&field("date"), cell, code);
    }
}

#[test]
fn sentences_about_days_say_how_to_mend_them() {
    let limited = field("type = \"date\"\nmin = 2026-01-01\nmax = 2026-12-31");
    for (cell, code, detail) in [
        (
            Cell::Text("1/5/2026"),
            "ambiguous_date",
            "\"1/5/2026\" does not say which number is the year, the month and the day; write it as \
             2026-01-31, with a year of four digits first",
        ),
        (
            Cell::Text("2026-02-30"),
            "no_such_date",
            "\"2026-02-30\" names a day that the calendar does not have; correct it, as 2026-01-31",
        ),
        (Cell::Text("어제"), "not_a_date", "\"어제\" is not a date; write it as 2026-01-31"),
        (
            Cell::Number(46_027.0),
            "not_a_date",
            "the cell holds the number 46027, which is not a date; format the cell as a date (it would \
             show 2026-01-05), or write it as 2026-01-31",
        ),
        (
            Cell::Serial(46_027.5),
            "has_time_of_day",
            "\"2026-01-05 12:00:00\" has a time of day, and the column takes the day alone; take the time \
             off, as 2026-01-31",
        ),
        (
            Cell::Serial(0.25),
            "not_a_date",
            "the cell holds the time of day 06:00:00 without a day; write both, such as 2026-01-31",
        ),
        (
            Cell::Text("2025-12-31"),
            "too_early",
            "2025-12-31 lies before 2026-01-01, the first that is taken; correct the date",
        ),
        (
            Cell::Text("2027-01-01"),
            "too_late",
            "2027-01-01 lies after 2026-12-31, the last that is taken; correct the date",
        ),
    ] {
        assert_said(&limited, cell, code, detail);
    }
}

#[test]
fn the_days_of_1900_are_those_that_excel_shows() {
    for (serial, expected) in [
        (1.0, day(1900, 1, 1)),
        (59.0, day(1900, 2, 28)),
        (61.0, day(1900, 3, 1)),
        (1_462.0, day(1904, 1, 1)),
        (45_322.0, day(2024, 1, 31)),
        (2_958_465.0, day(9999, 12, 31)),
    ] {
        assert_value(&field("date"), Cell::Serial(serial), Value::Date(expected));
    }
}

#[test]
fn moments_are_read_in_every_usual_spelling() {
    for (text, expected) in [
        ("2026-01-05T09:30:00+09:00", "2026-01-05T00:30:00Z"),
        ("2026-01-05T09:30:00Z", "2026-01-05T09:30:00Z"),
        ("2026-01-05 09:30:00 +0900", "2026-01-05T00:30:00Z"),
        ("2026-01-05T09:30:00-05", "2026-01-05T14:30:00Z"),
        ("2026-01-05 09:30", "2026-01-05T00:30:00Z"),
        ("2026-01-05 9:30", "2026-01-05T00:30:00Z"),
        ("2026-01-05  09:30:15", "2026-01-05T00:30:15Z"),
        ("2026-01-05 09:30:15.123456789", "2026-01-05T00:30:15.123456789Z"),
        ("2026. 1. 5. 오후 3:04", "2026-01-05T06:04:00Z"),
        ("2026년 1월 5일 오후 3:04", "2026-01-05T06:04:00Z"),
        ("2026년 1월 5일 월요일 오전 12:30:01", "2026-01-04T15:30:01Z"),
        ("2026-01-05 오후 12:30", "2026-01-05T03:30:00Z"),
        ("2026-01-05 3:04 PM", "2026-01-05T06:04:00Z"),
        ("2026-01-05 3:04:05pm", "2026-01-05T06:04:05Z"),
        ("2026년 1월 5일 9시", "2026-01-05T00:00:00Z"),
        ("2026년 1월 5일 9시 30분", "2026-01-05T00:30:00Z"),
        ("2026년 1월 5일 오후 3시 4분 5초", "2026-01-05T06:04:05Z"),
        ("20260105093015", "2026-01-05T00:30:15Z"),
        ("20260105 09:30", "2026-01-05T00:30:00Z"),
        ("2026-01-05", "2026-01-04T15:00:00Z"),
        ("２０２６－０１－０５　０９：３０", "2026-01-05T00:30:00Z"),
    ] {
        assert_value(&field("time"), Cell::Text(text), Value::Time(at(expected)));
    }
    for (cell, expected) in [
        (Cell::Iso("2026-01-05T09:30:00"), "2026-01-05T00:30:00Z"),
        (Cell::Serial(45_322.395_833_333_336), "2024-01-31T00:30:00Z"),
        (Cell::Serial(45_291.999_988_425_92), "2023-12-31T14:59:59Z"),
        (Cell::Serial(46_027.000_000_011_574), "2026-01-04T15:00:00.001Z"),
        (Cell::Serial(46_027.0), "2026-01-04T15:00:00Z"),
        (Cell::Number(20_260_105.0), "2026-01-04T15:00:00Z"),
        (Cell::Number(20_260_105_093_015.0), "2026-01-05T00:30:15Z"),
        (Cell::Digits("20260105093015"), "2026-01-05T00:30:15Z"),
    ] {
        assert_value(&field("time"), cell, Value::Time(at(expected)));
    }
}

#[test]
fn what_is_no_moment_is_refused() {
    for (cell, code) in [
        (Cell::Text("2026-01-05 24:00"), "no_such_time"),
        (Cell::Text("2026-01-05 09:60"), "no_such_time"),
        (Cell::Text("2026-01-05 오후 15:04"), "no_such_time"),
        (Cell::Text("2026-01-05 오후 0:04"), "no_such_time"),
        (Cell::Text("2026-01-05 09:30 +25:00"), "no_such_time"),
        (Cell::Text("1/5/2026 09:30"), "ambiguous_date"),
        (Cell::Text("2026-02-30 09:30"), "no_such_date"),
        (Cell::Text("20260105250000"), "no_such_time"),
        (Cell::Text("09:30"), "not_a_time"),
        (Cell::Text("2026-01-05 9"), "not_a_time"),
        (Cell::Text("2026-01-05x"), "not_a_time"),
        (Cell::Text("2026-01-0509:30"), "not_a_time"),
        (Cell::Text("2026-01-05 09:30:00 KST"), "not_a_time"),
        (Cell::Text("2026-01-05 09:30:00.0000000001"), "not_a_time"),
        (Cell::Text("2026-01-05 오전 오후 3:04"), "not_a_time"),
        (Cell::Text("2026-01-05 9시 30"), "not_a_time"),
        (Cell::Iso("PT9H30M"), "not_a_time"),
        (Cell::Serial(0.395_833), "not_a_time"),
        (Cell::Number(46_027.5), "not_a_time"),
        (Cell::Bool(false), "not_a_time"),
    ] {
        assert_code(&field("time"), cell, code);
    }
    assert_said(
        &field("time"),
        Cell::Number(45_322.395_833_333_336),
        "not_a_time",
        "the cell holds the number 45322.395833333336, which is not a time; format the cell as a date (it \
         would show 2024-01-31 09:30:00), or write it as 2026-01-31 14:05:00",
    );
}

#[test]
fn a_wall_clock_is_that_of_the_column_before_that_of_the_server() {
    let new_york = field("type = \"time\"\nzone = \"America/New_York\"");
    let at_noon = Cell::Text("2026-07-01 12:00");
    assert_value(&new_york, at_noon, Value::Time(at("2026-07-01T16:00:00Z")));
    assert_value(&field("time"), at_noon, Value::Time(at("2026-07-01T03:00:00Z")));
    // Repeated: the first. Skipped: refused.
    let twice = Cell::Text("2026-11-01 01:30");
    assert_value(&new_york, twice, Value::Time(at("2026-11-01T05:30:00Z")));
    assert_said(
        &new_york,
        Cell::Text("2026-03-08 02:30"),
        "skipped_time",
        "\"2026-03-08 02:30\" does not exist in America/New_York: the clocks were put forward over it; \
         correct the time, or write it with its offset from UTC, as 2026-01-31T14:05:00+09:00",
    );
    let given = Cell::Text("2026-03-08 02:30-05:00");
    assert_value(&new_york, given, Value::Time(at("2026-03-08T07:30:00Z")));
    // The clocks of Seoul, then half an hour behind today's, were put forward at midnight.
    let left_out = Cell::Text("1960-05-01");
    assert_value(&field("time"), left_out, Value::Time(at("1960-04-30T15:30:00Z")));
    assert_code(&field("time"), Cell::Text("1960-05-01 00:30"), "skipped_time");
}

#[test]
fn moments_keep_their_bounds() {
    let limited =
        field("type = \"time\"\nmin = 2026-01-01T00:00:00+09:00\nmax = 2026-01-31T23:59:59+09:00");
    assert_value(&limited, Cell::Text("2026-01-01"), Value::Time(at("2025-12-31T15:00:00Z")));
    assert_said(
        &limited,
        Cell::Text("2025-12-31 23:59:59"),
        "too_early",
        "2025-12-31T23:59:59+09:00 lies before 2026-01-01T00:00:00+09:00, the first that is taken; \
         correct the date",
    );
    assert_code(&limited, Cell::Text("2026-02-01"), "too_late");
}
