//! The server's own records of the runs: in which order they were begun, and how many went on at once.

use std::collections::HashMap;
use std::fmt;

use serde_json::Value;

use super::guests::{Guest, Wants};
use crate::error::{Error, Result};
use crate::server::Server;

/// Runs on a page.
const PAGE: usize = 100;

/// One run, with its moments in microseconds.
#[derive(Debug, Clone)]
pub(super) struct Record {
    pub(super) wants: Wants,
    pub(super) state: String,
    pub(super) rows: u64,
    /// Why it failed.
    pub(super) code: Option<String>,
    created: i64,
    started: Option<i64>,
    finished: Option<i64>,
}

/// Fetches the records of these guests' runs, page by page.
///
/// # Errors
/// A list that cannot be had or read, or lacks one of them.
pub(super) fn fetch(server: &Server, guests: &[Guest]) -> Result<Vec<Record>> {
    let mut wanted: HashMap<&str, Wants> =
        guests.iter().filter_map(|guest| Some((guest.run.as_deref()?, guest.wants))).collect();
    let mut found = Vec::new();
    let mut after = String::new();
    while !wanted.is_empty() {
        let page = server.json(&format!("/runs?kind=report&limit={PAGE}{after}"))?;
        for run in page["items"].as_array().into_iter().flatten() {
            if let Some(wants) = wanted.remove(text(run, "id").unwrap_or_default()) {
                found.push(Record::read(run, wants)?);
            }
        }
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => break,
        }
    }
    match wanted.len() {
        0 => Ok(found),
        missing => Err(Error::new(format!("{missing} runs are on no page of GET /runs"))),
    }
}

fn text<'a>(run: &'a Value, key: &str) -> Option<&'a str> {
    run[key].as_str()
}

impl Record {
    fn read(run: &Value, wants: Wants) -> Result<Self> {
        let moment = |key| text(run, key).map(micros).transpose();
        let created = moment("created_at")?;
        Ok(Self {
            wants,
            state: text(run, "state").unwrap_or_default().to_owned(),
            rows: run["rows"].as_u64().unwrap_or(0),
            code: text(&run["error"], "code").map(str::to_owned),
            created: created.ok_or_else(|| Error::new("a run has no created_at"))?,
            started: moment("started_at")?,
            finished: moment("finished_at")?,
        })
    }
}

/// Who was served before somebody who had come before him.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Overtaking {
    /// Pairs in the wrong order.
    pub(super) pairs: usize,
    /// All pairs.
    pub(super) of: usize,
    /// Of the pairs in the wrong order, the most by which both their comings and their servings lie
    /// apart, in microseconds.
    pub(super) most: i64,
}

impl fmt::Display for Overtaking {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.most / 1_000;
        write!(to, "{} of {} pairs out of order, by {millis} ms at most", self.pairs, self.of)
    }
}

/// Compares the order of coming with that of being served.
pub(super) fn overtaking(records: &[Record], wants: Wants) -> Overtaking {
    let mut served: Vec<(i64, i64)> =
        of(records, wants).filter_map(|record| Some((record.created, record.started?))).collect();
    served.sort_unstable();
    let mut found = Overtaking::default();
    for (place, (created, started)) in served.iter().enumerate() {
        for (later_created, earlier_started) in &served[place + 1..] {
            found.of += 1;
            if earlier_started < started {
                found.pairs += 1;
                let apart = (later_created - created).min(started - earlier_started);
                found.most = found.most.max(apart);
            }
        }
    }
    found
}

/// The most that went on at once.
pub(super) fn most_at_once(records: &[Record], wants: Wants) -> i32 {
    // One that ends in the very microsecond in which another begins made room for it.
    let mut turns: Vec<(i64, i32)> = of(records, wants)
        .filter_map(|record| Some([(record.started?, 1), (record.finished?, -1)]))
        .flatten()
        .collect();
    turns.sort_unstable();
    let (mut now, mut most) = (0, 0);
    for (_, turn) in turns {
        now += turn;
        most = most.max(now);
    }
    most
}

fn of(records: &[Record], wants: Wants) -> impl Iterator<Item = &Record> {
    records.iter().filter(move |record| record.wants == wants)
}

/// Microseconds since 1970 of a moment as runs show it: `2026-01-31T23:59:59.123456Z`.
fn micros(text: &str) -> Result<i64> {
    let odd = || Error::new(format!("\"{text}\" is no moment in UTC to the microsecond"));
    let digits = text.strip_suffix('Z').ok_or_else(odd)?;
    let numbers: Vec<i64> =
        digits.split(['-', 'T', ':', '.']).filter_map(|number| number.parse().ok()).collect();
    let [year, month, day, hour, minute, second, micros] = numbers[..] else { return Err(odd()) };
    let seconds = ((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
    Ok(seconds * 1_000_000 + micros)
}

/// Days since 1970 in the calendar that is in use (Howard Hinnant, `days_from_civil`).
const fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    365 * year + year / 4 - year / 100 + year / 400 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(created: i64, started: i64, finished: i64) -> Record {
        Record {
            wants: Wants::Stream,
            state: "complete".into(),
            rows: 1,
            code: None,
            created,
            started: Some(started),
            finished: Some(finished),
        }
    }

    #[test]
    fn moments_are_read_to_the_microsecond() {
        for (text, moment) in [
            ("1970-01-01T00:00:00.000001Z", 1),
            ("2000-03-01T00:00:00.000000Z", 951_868_800_000_000),
            ("2026-12-01T18:12:27.123456Z", 1_796_148_747_123_456),
        ] {
            assert_eq!(micros(text).unwrap(), moment, "{text}");
        }
        assert!(micros("2026-12-01T18:12:27Z").is_err());
        assert!(micros("2026-12-01T18:12:27.123456+09:00").is_err());
    }

    #[test]
    fn overtaking_counts_by_the_smaller_distance() {
        let records = [record(0, 10, 50), record(5, 40, 60), record(25, 30, 70)];
        let found = overtaking(&records, Wants::Stream);
        assert_eq!((found.pairs, found.of, found.most), (1, 3, 10));
        assert_eq!(overtaking(&records, Wants::Book).of, 0);
    }

    #[test]
    fn one_that_ends_makes_room_for_the_next() {
        let records = [record(0, 10, 20), record(0, 20, 40), record(0, 30, 40)];
        assert_eq!(most_at_once(&records, Wants::Stream), 2);
        assert_eq!(most_at_once(&records, Wants::Book), 0);
    }
}
