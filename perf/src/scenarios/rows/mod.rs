//! `rows`: the whole of a large report, direct, in every format, on every database.
//!
//! First each answer is checked: rows, the sum of a column and the digest, by the bytes as they
//! stream by, against the database, the server's own record of the run, and the other databases. Then
//! it is timed, in turn with the tools that come with the databases and order the same rows; at last
//! it is given to a slow reader. What the server's memory did is taken from every one of them.

mod peers;
mod tables;

use std::collections::BTreeMap;

use self::peers::PEERS;
use super::{on_each, same_on_each};
use crate::bench::Bench;
use crate::checks::Checks;
use crate::client::Pace;
use crate::database::{Backend, Database};
use crate::error::{Error, Result};
use crate::program::{self, Poured, Printed};
use crate::results::Outcome;
use crate::sample::{Sample, most_memory};
use crate::scan::{Objects, Records, Scanner};
use crate::seen::Seen;
use crate::server::Server;
use crate::settlements::{COLUMN, REPORT, against_database, judge_memory, place_of_column, stored};

/// What the slow reader takes in a second.
const SLOW: u32 = 20_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Format {
    Ndjson,
    Json,
    Csv,
}

impl Format {
    const ALL: [Self; 3] = [Self::Ndjson, Self::Json, Self::Csv];

    const fn word(self) -> &'static str {
        match self {
            Self::Ndjson => "ndjson",
            Self::Json => "json",
            Self::Csv => "csv",
        }
    }

    fn path(self) -> String {
        format!("{REPORT}/rows?format={}", self.word())
    }

    fn scanner(self, place: usize) -> Box<dyn Scanner> {
        match self {
            Self::Ndjson | Self::Json => Box::new(Objects::new(COLUMN)),
            Self::Csv => Box::new(Records::new(place)),
        }
    }
}

/// All that was measured on one database.
#[derive(Debug)]
struct Sheet {
    backend: Backend,
    rows: u64,
    idle: u64,
    seen: BTreeMap<Format, Seen>,
    fast: BTreeMap<Format, Vec<Sample>>,
    slow: BTreeMap<Format, Vec<Sample>>,
    /// By the peer's name.
    peers: BTreeMap<&'static str, Vec<Poured>>,
}

/// Runs the scenario.
///
/// # Errors
/// No database could be had, or a request failed.
pub(super) fn run(bench: &Bench) -> Result<Outcome> {
    let mut checks = Checks::default();
    let (sheets, left_out) = on_each(bench, |database| measure(bench, database, &mut checks))?;
    for format in Format::ALL {
        let each = sheets
            .iter()
            .filter_map(|sheet| Some((sheet.backend, &sheet.seen.get(&format)?.sha256)));
        same_on_each(&format!("{}: the same bytes", format.word()), each, &mut checks);
    }
    Ok(Outcome { text: left_out + &tables::tables(&sheets), checks })
}

fn measure(bench: &Bench, database: &Database, checks: &mut Checks) -> Result<Sheet> {
    let server = Server::start(bench, database, &[])?;
    server.get(&format!("{REPORT}/rows?limit=1"))?.text()?;
    let mut sheet = Sheet {
        backend: database.backend,
        rows: database.rows,
        idle: server.process().settled()?,
        seen: BTreeMap::new(),
        fast: BTreeMap::new(),
        slow: BTreeMap::new(),
        peers: BTreeMap::new(),
    };
    sheet.verify(&server, database, checks)?;
    for round in 1..=bench.options.rounds {
        println!("{}: round {round} of {}", sheet.backend.title(), bench.options.rounds);
        sheet.round(&server, database)?;
    }
    println!("{}: a reader held to {} MB/s", sheet.backend.title(), SLOW / 1_000_000);
    for format in Format::ALL {
        let sample = sheet.sample(&server, format, Pace::Held(SLOW))?;
        sheet.slow.entry(format).or_default().push(sample);
    }
    sheet.judge_memory(checks);
    server.stop()?;
    Ok(sheet)
}

impl Sheet {
    fn verify(&mut self, server: &Server, database: &Database, checks: &mut Checks) -> Result<()> {
        let place = place_of_column(server)?;
        let stored = stored(database)?;
        for format in Format::ALL {
            let about = format!("{} {}", self.backend.word(), format.word());
            let seen = Seen::take(server, &format.path(), &mut *format.scanner(place))?;
            against_database(&about, seen.counted, stored, checks);
            seen.against_record(&about, server, checks)?;
            self.seen.insert(format, seen);
        }
        Ok(())
    }

    /// Every answer and every peer, once, in turn.
    fn round(&mut self, server: &Server, database: &Database) -> Result<()> {
        for format in Format::ALL {
            let sample = self.sample(server, format, Pace::Fast)?;
            self.fast.entry(format).or_default().push(sample);
        }
        for peer in PEERS.iter().filter(|peer| peer.backend == self.backend) {
            match program::pour(&mut (peer.command)(database))? {
                Printed::Done(poured) => self.peers.entry(peer.name).or_default().push(poured),
                Printed::Missing => println!("{} is not installed", peer.name),
            }
        }
        Ok(())
    }

    fn sample(&self, server: &Server, format: Format, pace: Pace) -> Result<Sample> {
        let (sample, _) = Sample::take(server, &format.path(), pace, self.idle)?;
        let bytes = sample.drained.bytes;
        match self.seen.get(&format) {
            Some(seen) if seen.bytes != bytes => Err(Error::new(format!(
                "an answer of {bytes} bytes came where the one before had {}",
                seen.bytes
            ))),
            _ => Ok(sample),
        }
    }

    fn judge_memory(&self, checks: &mut Checks) {
        for (pace, samples) in [("fast", &self.fast), ("slow", &self.slow)] {
            for (format, samples) in samples {
                let about = format!("{} {} {pace} reader", self.backend.word(), format.word());
                judge_memory(&about, most_memory(samples), checks);
            }
        }
    }
}
