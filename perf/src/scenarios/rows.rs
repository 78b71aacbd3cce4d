//! `rows`: the whole of a large report, direct, in every format, on every database.
//!
//! First each answer is checked: rows, the sum of a column and the digest, by the bytes as they
//! stream by, against the database, the server's own record of the run, and the other database. Then
//! it is timed, in turn with the tools that come with the databases and order the same rows; at last
//! it is given to a slow reader. What the server's memory did is taken from every one of them.

use std::collections::BTreeMap;
use std::process::Command;

use crate::bench::Bench;
use crate::checks::Checks;
use crate::client::Pace;
use crate::database::{Backend, Database, Made};
use crate::error::{Error, Result};
use crate::program::{self, Poured, Printed};
use crate::results::Outcome;
use crate::sample::{Sample, most_memory, seconds};
use crate::scan::{Counted, Objects, Records, Scanner};
use crate::seen::Seen;
use crate::server::Server;
use crate::stats::{Series, mebibytes, megabytes, number};

const REPORT: &str = "/reports/settlements";
/// The column that is added up, and its table.
const COLUMN: &str = "net";
const TOTALS: &str = "SELECT count(*), sum(net) FROM settlement_lines";
/// What the report reads, in its order.
const ORDERED: &str = "SELECT * FROM settlement_lines ORDER BY paid_at, id";
/// What the slow reader takes in a second.
const SLOW: u32 = 20_000_000;
/// What an answer may add to an idle server's memory, whatever its rows.
const CEILING: u64 = 32 << 20;

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

/// A tool that hands out the same rows, and the answers it is set beside.
struct Peer {
    backend: Backend,
    name: &'static str,
    beside: Format,
    command: fn(&Database) -> Command,
}

/// Every one.
const PEERS: [Peer; 4] = [
    Peer {
        backend: Backend::Sqlite,
        name: "`sqlite3 -json`",
        beside: Format::Json,
        command: |database| database.sqlite3("-json", ORDERED),
    },
    Peer {
        backend: Backend::Sqlite,
        name: "`sqlite3 -csv`",
        beside: Format::Csv,
        command: |database| database.sqlite3("-csv", ORDERED),
    },
    Peer {
        backend: Backend::Postgres,
        name: "`psql` COPY of `row_to_json`",
        beside: Format::Ndjson,
        command: |database| {
            let sql = format!("COPY (SELECT row_to_json(s) FROM ({ORDERED}) s) TO STDOUT");
            database.psql(&sql)
        },
    },
    Peer {
        backend: Backend::Postgres,
        name: "`psql` binary COPY",
        beside: Format::Ndjson,
        command: |database| database.psql(&format!("COPY ({ORDERED}) TO STDOUT (FORMAT binary)")),
    },
];

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
    let mut sheets = Vec::new();
    let mut left_out = Vec::new();
    for &backend in &bench.options.backends {
        match Database::make(bench, backend)? {
            Made::Ready(database) => sheets.push(measure(bench, &database, &mut checks)?),
            Made::LeftOut(why) => {
                let words = format!("{} is left out: {why}.", backend.title());
                println!("{words}");
                left_out.push(words + "\n\n");
            }
        }
    }
    if sheets.is_empty() {
        return Err(Error::new("no database could be had, so nothing was measured"));
    }
    compare(&sheets, &mut checks);
    Ok(Outcome { text: left_out.concat() + &tables(&sheets), checks })
}

fn measure(bench: &Bench, database: &Database, checks: &mut Checks) -> Result<Sheet> {
    let server = Server::start(bench, database)?;
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
        let stored = match database.ask(TOTALS)? {
            Printed::Done(line) => Some(totals(&line)?),
            Printed::Missing => None,
        };
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
        let sample = Sample::take(server, &format.path(), pace, self.idle)?;
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
                let most = most_memory(samples);
                let what = format!(
                    "{} {} {pace} reader: {} MiB above idle, {} allowed",
                    self.backend.word(),
                    format.word(),
                    mebibytes(most),
                    mebibytes(CEILING),
                );
                checks.check(most <= CEILING, &what);
            }
        }
    }
}

fn place_of_column(server: &Server) -> Result<usize> {
    let report = server.json(REPORT)?;
    let columns = report["columns"].as_array();
    let place =
        columns.and_then(|columns| columns.iter().position(|column| column["key"] == COLUMN));
    place.ok_or_else(|| Error::new(format!("GET {REPORT} shows no column \"{COLUMN}\"")))
}

fn totals(line: &str) -> Result<Counted> {
    let parsed = line
        .split_once('|')
        .and_then(|(rows, sum)| Some(Counted { rows: rows.parse().ok()?, sum: sum.parse().ok()? }));
    parsed.ok_or_else(|| Error::new(format!("\"{line}\" is no count and no sum")))
}

fn against_database(about: &str, seen: Counted, stored: Option<Counted>, checks: &mut Checks) {
    let Some(stored) = stored else {
        let why = "the database's command line tool is not installed";
        checks.left_out(&format!("{about}: rows and sum as the database has them"), why);
        return;
    };
    checks.same(&format!("{about}: rows as in the database"), &seen.rows, &stored.rows);
    let what = format!("{about}: sum({COLUMN}) as in the database");
    checks.same(&what, &seen.sum, &stored.sum);
}

/// The same rows are the same bytes, whatever the database.
fn compare(sheets: &[Sheet], checks: &mut Checks) {
    let [one, other] = sheets else {
        checks.left_out("the same bytes from both databases", "one alone was measured");
        return;
    };
    for (format, seen) in &one.seen {
        if let Some(other) = other.seen.get(format) {
            let what = format!("{}: the same bytes from both databases", format.word());
            checks.same(&what, &seen.sha256, &other.sha256);
        }
    }
}

fn tables(sheets: &[Sheet]) -> String {
    let mut text = format!(
        "The whole of `settlements`, {} rows in the order of `paid_at, id`, direct, without content \
         coding, over loopback HTTP; client, server and database share the machine. Median (lowest–highest) of \
         the rounds; MB are 10^6 bytes. CPU is the server's alone, without PostgreSQL's. Memory is \
         VmHWM above the idle server's VmRSS, the highest of the rounds. The slow reader takes {} MB/s.\n\n\
         | database | format | reader | rounds | MB | s | MB/s | rows/s | first byte, ms | CPU, s | MiB above idle |\n\
         |---|---|---|---|---|---|---|---|---|---|---|\n",
        sheets.first().map_or(0, |sheet| sheet.rows),
        SLOW / 1_000_000,
    );
    for sheet in sheets {
        for (reader, samples) in [("fast", &sheet.fast), ("slow", &sheet.slow)] {
            for (format, samples) in samples {
                text += &line(sheet, *format, reader, samples);
            }
        }
    }
    let idle = sheets.iter().map(|sheet| {
        format!("\nIdle on {}: {} MiB.", sheet.backend.title(), mebibytes(sheet.idle))
    });
    text + &idle.collect::<String>() + &peer_table(sheets)
}

fn peer_table(sheets: &[Sheet]) -> String {
    let text = String::from(
        "\n\nThe databases' own tools, the same rows in the same order into a pipe that is drained, in \
         turn with the answers above. The ratio is the tool's time by the server's in the same round: \
         above 1 the server is faster.\n\n\
         | tool | rounds | MB | s | MB/s | set beside | ratio |\n|---|---|---|---|---|---|---|\n",
    );
    let lines = sheets.iter().flat_map(|sheet| {
        let peers = PEERS.iter().filter(|peer| peer.backend == sheet.backend);
        peers.map(|peer| match sheet.peers.get(peer.name) {
            Some(poured) => peer_line(sheet, peer, poured),
            None => format!("| {} | not installed | | | | | |\n", peer.name),
        })
    });
    text + &lines.collect::<String>()
}

fn line(sheet: &Sheet, format: Format, reader: &str, samples: &[Sample]) -> String {
    let bytes = samples.first().map_or(0, |sample| sample.drained.bytes);
    let time = seconds(samples);
    let first = samples.iter().map(|sample| sample.drained.first_byte.as_secs_f64() * 1_000.0);
    let cpu: Series = samples.iter().map(|sample| sample.cpu).collect();
    format!(
        "| {} | {} | {reader} | {} | {:.1} | {time} | {:.0} | {:.0} | {:.1} | {cpu} | {} |\n",
        sheet.backend.title(),
        format.word(),
        samples.len(),
        megabytes(bytes),
        megabytes(bytes) / time.median(),
        number(sheet.rows) / time.median(),
        first.collect::<Series>(),
        mebibytes(most_memory(samples)),
    )
}

fn peer_line(sheet: &Sheet, peer: &Peer, poured: &[Poured]) -> String {
    let bytes = poured.first().map_or(0, |poured| poured.bytes);
    let time: Series = poured.iter().map(|poured| poured.whole.as_secs_f64()).collect();
    let ours = sheet.fast.get(&peer.beside).map(|samples| seconds(samples)).unwrap_or_default();
    format!(
        "| {} | {} | {:.1} | {time} | {:.0} | {} {} | {} |\n",
        peer.name,
        poured.len(),
        megabytes(bytes),
        megabytes(bytes) / time.median(),
        sheet.backend.title(),
        peer.beside.word(),
        time.by(&ours),
    )
}
