//! Times in SQLite, whose cells have no type: a text form that sorts as time does, and coarse bounds
//! on the bare column that an index can serve.

use crate::rows::{Date, Instant};

/// Seconds of a day.
const DAY: i64 = 86_400;
/// How far, in days, a cell's own date may be from its instant's in UTC: offsets go to 25:59.
const WIDEST_OFFSET: i64 = 2;
/// Sorts after every text that begins with a digit.
const AFTER_DIGITS: &str = ":";

/// The moment as a text of fixed width that sorts, byte for byte, as time does: its seconds since
/// 1970 in UTC, moved up so that none is negative, and nine digits of fraction.
///
/// The filters' arguments are written by it, and so is what the SQL function `tallyroll_time` gives
/// for a cell: the one is compared with the other and never read again.
#[must_use]
pub fn canonical_time(moment: Instant) -> String {
    // Flipping the sign bit keeps the order and makes the smallest number zero.
    let seconds = moment.seconds.cast_unsigned() ^ (1 << 63);
    format!("{seconds:020}.{:09}", moment.nanos)
}

/// A text that no cell sorts before whose instant is `moment` or later.
///
/// A date's first ten characters sort right whatever separator, time and offset follow. Cells with
/// years beyond 9999 or before 0 do not sort as text and are not found by filters.
pub(super) fn coarse_from(moment: Instant) -> String {
    date_text(moment.seconds.div_euclid(DAY) - WIDEST_OFFSET)
}

/// A text that every cell sorts before whose instant is `moment` or earlier.
pub(super) fn coarse_until(moment: Instant) -> String {
    date_text(moment.seconds.div_euclid(DAY) + WIDEST_OFFSET + 1)
}

/// A text that sorts after `date` with whatever follows it, and not after the next day.
pub(super) fn day_after(date: Date) -> String {
    date_text(i64::from(date.days) + 1)
}

/// The date so many days after 1970-01-01, or what sorts like it beyond the years 0 to 9999.
fn date_text(days: i64) -> String {
    let date = i32::try_from(days).ok().map(|days| Date { days });
    match date.map(Date::ymd) {
        Some((year, month, day)) if (0..=9999).contains(&year) => {
            format!("{year:04}-{month:02}-{day:02}")
        }
        _ if days < 0 => String::new(),
        _ => AFTER_DIGITS.into(),
    }
}
