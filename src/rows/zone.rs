//! Shows moments on the wall clock of a zone.
//!
//! A zone's offset changes twice a year at most, and rows mostly lie near each other in time: the
//! clock keeps the offset of the last moment together with the span in which it holds, looks among
//! the spans it has met outside of that, and asks the zone last. It knows no column and no format.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::civil::{Date, Instant, pair, split};

/// Names under which the zone database lists UTC itself.
const UTC_NAMES: [&str; 8] =
    ["UTC", "Etc/UTC", "Zulu", "Etc/Zulu", "UCT", "Etc/UCT", "Universal", "Etc/Universal"];

/// Bytes that the longest moment takes: a day of 14, `T23:59:59`, `.123456789`, `+09:00`.
const LONGEST: usize = 40;

/// Spans remembered before the clock begins anew: more than a century of summer times.
const REMEMBERED: usize = 256;

/// Writes moments in one zone, remembering the offset that holds around the last one.
#[derive(Debug, Clone)]
pub struct ZoneClock {
    zone: TimeZone,
    utc: bool,
    span: Span,
    /// Spans met so far, in order of time.
    met: Vec<Span>,
}

/// An offset and the seconds since 1970 in which it holds, `from` included, `until` not.
#[derive(Debug, Clone, Copy)]
struct Span {
    from: i64,
    until: i64,
    /// Seconds east of UTC, exactly.
    offset: i64,
    /// Seconds east of UTC, to the minute, as RFC 3339 can say it.
    minutes: i64,
    /// `+09:00` or `Z`.
    suffix: [u8; 6],
    length: usize,
}

impl Span {
    #[inline]
    fn holds(&self, seconds: i64) -> bool {
        self.from <= seconds && seconds < self.until
    }
}

impl ZoneClock {
    /// A clock on the wall of `zone`.
    #[must_use]
    pub fn new(zone: TimeZone) -> Self {
        let utc = is_utc(&zone);
        let span = span_at(&zone, utc, 0);
        Self { zone, utc, span, met: Vec::new() }
    }

    /// Appends the moment in RFC 3339, `2026-01-31T23:59:59.123456+09:00`: as many digits of the
    /// second's fraction as are needed, `Z` in the zone UTC, years outside of 0–9999 as
    /// [`Date::write`] has them.
    ///
    /// Beyond the years that the zone database knows (−9999 to 9999) the offset of their end holds.
    /// Offsets with seconds, as before zones were introduced, are rounded to the minute, since
    /// RFC 3339 has no seconds there, and the wall clock with them: the moment stays exact.
    #[inline]
    pub fn write(&mut self, at: Instant, out: &mut Vec<u8>) {
        let span = self.span(at.seconds);
        let (day, second) = split(at.seconds.saturating_add(span.minutes));
        let mut text = [0; LONGEST];
        let mut length = print_day(day, &mut text);
        text[length..length + 9].copy_from_slice(&clock_face(second));
        length += 9;
        if at.nanos != 0 {
            length += print_fraction(at.nanos, &mut text, length);
        }
        text[length..length + 6].copy_from_slice(&span.suffix);
        length += span.length;
        let end = out.len() + length;
        // One copy of a fixed size, cut afterwards, is a few moves; one of the real length is a call.
        out.extend_from_slice(&text);
        out.truncate(end);
    }

    /// The day, the second of that day and the nanoseconds that the wall clock shows, by the zone's
    /// exact offset: for formats whose times carry no offset.
    #[must_use]
    pub fn civil(&mut self, at: Instant) -> (Date, u32, u32) {
        let offset = self.span(at.seconds).offset;
        let (day, second) = split(at.seconds.saturating_add(offset));
        (day, second, at.nanos)
    }

    #[inline]
    fn span(&mut self, seconds: i64) -> Span {
        if !self.span.holds(seconds) {
            self.span = self.other_span(seconds);
        }
        self.span
    }

    /// The span of a moment outside of the last one's.
    #[cold]
    fn other_span(&mut self, seconds: i64) -> Span {
        let place = self.met.partition_point(|span| span.until <= seconds);
        if let Some(span) = self.met.get(place).filter(|span| span.holds(seconds)) {
            return *span;
        }
        let span = span_at(&self.zone, self.utc, seconds);
        if self.met.len() < REMEMBERED {
            self.met.insert(place, span);
        } else {
            self.met.clear();
        }
        span
    }
}

/// The longest day is shorter than the buffer by more than all that follows it.
#[inline]
fn print_day(day: Date, text: &mut [u8; LONGEST]) -> usize {
    text.first_chunk_mut().map_or(0, |start| day.print(start))
}

/// `T23:59:59`
#[inline]
fn clock_face(second: u32) -> [u8; 9] {
    let mut face = *b"T00:00:00";
    face[1..3].copy_from_slice(&pair(second / 3_600));
    face[4..6].copy_from_slice(&pair(second / 60 % 60));
    face[7..9].copy_from_slice(&pair(second % 60));
    face
}

/// Prints `.123456` without trailing zeros at a place; how many bytes it took.
#[inline]
fn print_fraction(nanos: u32, text: &mut [u8; LONGEST], at: usize) -> usize {
    let mut fraction = *b".000000000";
    fraction[1..3].copy_from_slice(&pair(nanos / 10_000_000));
    fraction[3..5].copy_from_slice(&pair(nanos / 100_000));
    fraction[5..7].copy_from_slice(&pair(nanos / 1_000));
    fraction[7..9].copy_from_slice(&pair(nanos / 10));
    fraction[9] = pair(nanos % 10)[1];
    text[at..at + 10].copy_from_slice(&fraction);
    let mut length = 10;
    while fraction[length - 1] == b'0' {
        length -= 1;
    }
    length
}

/// Whether the zone is UTC itself; a zone that merely agrees with it in winter is not.
fn is_utc(zone: &TimeZone) -> bool {
    zone.to_fixed_offset().is_ok_and(|offset| offset.seconds() == 0)
        || zone.iana_name().is_some_and(|name| UTC_NAMES.contains(&name))
}

/// The offset at a moment and the transitions around it.
fn span_at(zone: &TimeZone, utc: bool, seconds: i64) -> Span {
    let at = clamped(seconds);
    let offset = i64::from(zone.to_offset(at).seconds());
    // jiff's walk backwards leaves out a transition at the very second asked for.
    let after = clamped(seconds.saturating_add(1));
    let from = zone.preceding(after).next().map_or(i64::MIN, |t| t.timestamp().as_second());
    let until = zone.following(at).next().map_or(i64::MAX, |t| t.timestamp().as_second());
    let minutes = (offset + 30).div_euclid(60) * 60;
    let (suffix, length) = if utc { (*b"Z     ", 1) } else { (suffix(minutes), 6) };
    Span { from, until, offset, minutes, suffix, length }
}

/// A moment of the zone database, the nearest end of its range outside of it.
pub(crate) fn clamped(seconds: i64) -> Timestamp {
    let end = if seconds < 0 { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::from_second(seconds).unwrap_or(end)
}

/// `+09:00`
fn suffix(offset: i64) -> [u8; 6] {
    let minutes = u32::try_from(offset.abs() / 60).unwrap_or(0);
    let mut suffix = if offset < 0 { *b"-00:00" } else { *b"+00:00" };
    suffix[1..3].copy_from_slice(&pair(minutes / 60));
    suffix[4..6].copy_from_slice(&pair(minutes % 60));
    suffix
}
