//! Days and moments as Excel counts them.
//!
//! Day 1 is 1900-01-01. Excel has a day 60, 1900-02-29, which there never was; so the days before it
//! are one less than the distance from 1899-12-30 by which all later ones are counted.

use crate::rows::Date;

/// 1970-01-01.
const UNIX: i64 = 25_569;
/// 1900-01-01, as [`Date`] counts.
const FIRST: i32 = -25_567;
/// 1900-03-01.
const AFTER_THE_GAP: i32 = -25_508;
/// 9999-12-31.
const LAST: i32 = 2_932_896;

const MILLIS: i64 = 86_400_000;

/// The number of a day; `None` outside of the years 1900 to 9999.
pub(super) fn day(date: Date) -> Option<i64> {
    let days = date.days;
    (FIRST..=LAST).contains(&days).then(|| UNIX + i64::from(days) - i64::from(days < AFTER_THE_GAP))
}

/// The number of a moment on the wall clock, to the millisecond; what is finer is cut off, so that
/// no second is shown that has not begun. `None` outside of the years 1900 to 9999.
#[expect(clippy::cast_precision_loss, reason = "3 × 10^14 milliseconds are well below 2^53")]
pub(super) fn moment(date: Date, second: u32, nanos: u32) -> Option<f64> {
    let millis = i64::from(second) * 1_000 + i64::from(nanos / 1_000_000);
    day(date).map(|day| (day * MILLIS + millis) as f64 / MILLIS as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_as_excel_counts_them() {
        for (year, month, of_month, expected) in [
            (1899, 12, 31, None),
            (1900, 1, 1, Some(1)),
            (1900, 2, 28, Some(59)),
            (1900, 3, 1, Some(61)),
            (1970, 1, 1, Some(25_569)),
            (2026, 1, 31, Some(46_053)),
            (9999, 12, 31, Some(2_958_465)),
            (10_000, 1, 1, None),
        ] {
            let date = Date::from_ymd(year, month, of_month).unwrap();
            assert_eq!(day(date), expected, "{year}-{month}-{of_month}");
        }
    }

    #[test]
    fn a_moment_never_shows_the_next_second() {
        let last = Date::from_ymd(2026, 1, 31).unwrap();
        let shown = moment(last, 86_399, 999_999_999).unwrap();
        assert_eq!(shown.to_bits(), (46_053.0 + 86_399_999.0 / 86_400_000.0_f64).to_bits());
        assert!(shown < 46_054.0);
    }
}
