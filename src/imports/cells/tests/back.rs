//! What our own formats write is read back as it was; what nobody wrote is refused and no panic.

use proptest::prelude::*;

use super::*;
use crate::rows::{ZoneClock, is_decimal};

fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).expect("text")
}

/// A cell of any kind out of a text and a number.
fn cells(text: &str, number: f64) -> [Cell<'_>; 11] {
    [
        Cell::Empty,
        Cell::Text(text),
        Cell::Number(number),
        Cell::Digits(text),
        Cell::Serial(number),
        Cell::Iso(text),
        Cell::Duration(number),
        Cell::Bool(number > 0.0),
        Cell::Error(text),
        Cell::Unevaluated,
        Cell::Json(text),
    ]
}

/// Days of the years 1 to 9999.
fn days() -> impl Strategy<Value = Date> {
    (day(1, 1, 1).days..=day(9999, 12, 31).days).prop_map(|days| Date { days })
}

/// Moments of the years 2 to 9998, to the nanosecond.
fn moments() -> impl Strategy<Value = Instant> {
    let seconds = |date: Date| i64::from(date.days) * 86_400;
    let range = seconds(day(2, 1, 1))..seconds(day(9999, 1, 1));
    (range, 0..1_000_000_000_u32).prop_map(|(seconds, nanos)| Instant { seconds, nanos })
}

proptest! {
    #[test]
    fn whole_numbers_come_back(number in any::<i64>()) {
        let text = number.to_string();
        for cell in [Cell::Text(&text), Cell::Digits(&text)] {
            assert_value(&field("int"), cell, Value::Int(number));
        }
    }

    #[test]
    fn whole_numbers_come_back_out_of_workbooks(number in -999_999_999_999_999..=999_999_999_999_999_i64) {
        #[expect(clippy::cast_precision_loss, reason = "fifteen digits")]
        let float = number as f64;
        assert_value(&field("int"), Cell::Number(float), Value::Int(number));
        assert_value(&field("text"), Cell::Number(float), Value::Text(&number.to_string()));
    }

    #[test]
    fn decimals_come_back(units in any::<i128>(), scale in 0..=30_u32) {
        let text = crate::definitions::units_text(units % 10_i128.pow(38), scale);
        let field = field(&format!("type = \"decimal\"\nprecision = 38\nscale = {scale}"));
        for cell in [Cell::Text(&text), Cell::Digits(&text)] {
            assert_value(&field, cell, Value::Decimal(&text));
        }
    }

    #[test]
    fn decimals_of_fifteen_digits_come_back_out_of_workbooks(
        units in -999_999_999_999_999..=999_999_999_999_999_i64,
        scale in 0..=15_u32,
    ) {
        let text = crate::definitions::units_text(units.into(), scale);
        let field = field(&format!("type = \"decimal\"\nprecision = 20\nscale = {scale}"));
        let float: f64 = text.parse().expect("a number");
        assert_value(&field, Cell::Number(float), Value::Decimal(&text));
        let shown = text.trim_end_matches('0').trim_end_matches('.');
        let shown = if scale == 0 { &text } else { shown };
        let shown = if shown == "-0" { "0" } else { shown };
        assert_value(&super::field("text"), Cell::Number(float), Value::Text(shown));
    }

    #[test]
    fn a_decimal_out_of_a_float_is_never_further_off_than_a_millionth(number in -1e9..1e9_f64) {
        let field = field("type = \"decimal\"\nprecision = 15\nscale = 2");
        let mut scratch = Scratch::default();
        if let Ok(Value::Decimal(text)) = check(&field, Cell::Number(number), &seoul(), &mut scratch) {
            let back: f64 = text.parse().expect("a number");
            prop_assert!((back - number).abs() < 1.1e-8, "{} {}", text, number);
        }
    }

    #[test]
    fn floats_come_back(number in any::<f64>().prop_filter("finite", |number| number.is_finite())) {
        let text = zmij::Buffer::new().format_finite(number).to_owned();
        for cell in [Cell::Text(&text), Cell::Digits(&text), Cell::Number(number)] {
            assert_value(&field("float"), cell, Value::Float(number));
        }
        let shown = display(Cell::Number(number)).into_owned();
        prop_assert!(is_decimal(&shown), "{}", shown);
        prop_assert_eq!(shown.parse::<f64>(), Ok(number + 0.0));
    }

    #[test]
    fn days_come_back(date in days()) {
        let text = written(|out| date.write(out));
        for cell in [Cell::Text(&text), Cell::Iso(&text)] {
            assert_value(&field("date"), cell, Value::Date(date));
        }
        let (year, month, day) = date.ymd();
        for text in [
            format!("{year:04}. {month}. {day}."),
            format!("{year:04}년 {month}월 {day}일"),
            format!("{year:04}{month:02}{day:02}"),
        ] {
            assert_value(&field("date"), Cell::Text(&text), Value::Date(date));
        }
    }

    #[test]
    fn moments_come_back(at in moments(), zone in prop::sample::select(vec!["UTC", "Asia/Seoul", "Asia/Kolkata"])) {
        let zone = TimeZone::get(zone).expect("a zone");
        let text = written(|out| ZoneClock::new(zone).write(at, out));
        for cell in [Cell::Text(&text), Cell::Iso(&text)] {
            assert_value(&field("time"), cell, Value::Time(at));
        }
    }

    #[test]
    fn moments_come_back_out_of_workbooks(millis in -2_203_891_200_000..=253_402_214_400_000_i64) {
        #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
        let serial = (millis + 25_569 * 86_400_000) as f64 / 86_400_000.0;
        let utc = field("type = \"time\"\nzone = \"UTC\"");
        assert_value(&utc, Cell::Serial(serial), Value::Time(Instant::from_millis(millis)));
    }

    #[test]
    fn no_cell_is_a_panic_and_every_fault_is_a_sentence(
        text in "\\PC{0,30}",
        plain in "[0-9０-９,.+()₩원%eE년월일오전후:TZ /\u{A0}-]{0,24}",
        number in any::<f64>(),
    ) {
        let kinds = [
            "type = \"text\"\nmax_length = 5\npattern = '[a-z]*'",
            "type = \"int\"\nmin = -5\nmax = 5",
            "type = \"decimal\"\nprecision = 9\nscale = 3",
            "float",
            "bool",
            "date",
            "type = \"time\"\nzone = \"America/New_York\"",
        ];
        for kind in kinds {
            let field = field(kind);
            for cell in cells(&text, number).into_iter().chain(cells(&plain, number)) {
                prop_assert!(shown(cell).chars().count() <= 201);
                if let Err(fault) = read(&field, cell) {
                    prop_assert!(!fault.detail.contains('\n'), "{:?}", fault);
                    prop_assert!(fault.detail.chars().count() < 700, "{:?}", fault);
                }
            }
        }
    }
}
