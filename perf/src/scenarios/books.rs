//! `books`: the whole of a large report as a prepared workbook, on every database.
//!
//! First one is received, kept and counted: length, digest, rows of every sheet and the sum of a
//! column, against what its head says, the database, the server's own record of the run and the
//! other databases. Then it is timed, in turn with a Python script that makes the same workbook of
//! the same SQLite file. A workbook is built before its first byte leaves, so the time to that byte
//! is what building takes. Each is forgotten by the server when it was received.

use std::time::Duration;

use super::{on_each, same_on_each};
use crate::bench::Bench;
use crate::checks::Checks;
use crate::client::{self, Pace};
use crate::database::{Backend, Database, python};
use crate::error::{Error, Result};
use crate::program::{self, Printed};
use crate::results::Outcome;
use crate::sample::{Sample, cpu, first_bytes, most_memory, seconds};
use crate::seen::Seen;
use crate::server::Server;
use crate::settlements::{REPORT, against_database, judge_memory, place_of_column, stored};
use crate::stats::{Series, mebibytes, megabytes, number};
use crate::workbook::{self, Workbook};

/// Rows of a full sheet, without its header (Excel's limit is 1,048,576 with it).
const FULL_SHEET: u64 = 1_048_575;
const SCRIPT: &str = include_str!("../../peers/book_xlsxwriter.py");

/// All that was measured on one database.
#[derive(Debug)]
struct Sheet {
    backend: Backend,
    rows: u64,
    idle: u64,
    seen: Seen,
    samples: Vec<Sample>,
    /// What the script took, and the size of what it made.
    peer: Vec<(Duration, u64)>,
}

/// Runs the scenario.
///
/// # Errors
/// No database could be had, or a request failed.
pub(super) fn run(bench: &Bench) -> Result<Outcome> {
    let mut checks = Checks::default();
    let peer = peer_version();
    let (sheets, left_out) =
        on_each(bench, |database| measure(bench, database, peer.is_ok(), &mut checks))?;
    let each = sheets.iter().map(|sheet| (sheet.backend, &sheet.seen.sha256));
    same_on_each("xlsx: the same bytes", each, &mut checks);
    Ok(Outcome { text: left_out + &table(&sheets) + &peer_table(&sheets, &peer), checks })
}

fn path() -> String {
    format!("{REPORT}/rows?format=xlsx")
}

fn measure(
    bench: &Bench,
    database: &Database,
    with_peer: bool,
    checks: &mut Checks,
) -> Result<Sheet> {
    let server = Server::start(bench, database, &[])?;
    server.get(&format!("{REPORT}/rows?limit=1"))?.text()?;
    let (backend, rows) = (database.backend, database.rows);
    let idle = server.process().settled()?;
    let seen = verify(bench, &server, database, checks)?;
    let mut sheet = Sheet { backend, rows, idle, seen, samples: Vec::new(), peer: Vec::new() };
    for round in 1..=bench.options.rounds {
        println!("{}: round {round} of {}", backend.title(), bench.options.rounds);
        sheet.samples.push(sheet.sample(&server)?);
        if with_peer && backend == Backend::Sqlite {
            sheet.peer.extend(sheet.of_peer(bench, database, &server, checks)?);
        }
    }
    judge_memory(&format!("{} xlsx", backend.word()), most_memory(&sheet.samples), checks);
    server.stop()?;
    Ok(sheet)
}

/// Receives a workbook and checks all that is known of it.
fn verify(
    bench: &Bench,
    server: &Server,
    database: &Database,
    checks: &mut Checks,
) -> Result<Seen> {
    let about = format!("{} xlsx", database.backend.word());
    let file = bench.workplace.path().join("received.xlsx");
    let mut book = Workbook::keep(file, place_of_column(server)?)?;
    let seen = Seen::take(server, &path(), &mut book)?;
    against_database(&about, seen.counted, stored(database)?, checks);
    seen.against_record(&about, server, checks)?;
    let length = seen.length.map_or("none".into(), |length| length.to_string());
    checks.same(&format!("{about}: Content-Length"), &length, &seen.bytes.to_string());
    let (sheets, expected) = (words(&book.sheets), words(&full_sheets(database.rows)));
    checks.same(&format!("{about}: rows of each sheet"), &sheets, &expected);
    server.forget(&seen.run)?;
    let path = format!("/api/v1/runs/{}/file", seen.run);
    let gone = client::ask(server.address(), "GET", &path)?;
    let status = gone.status().unwrap_or("none").to_owned();
    checks.same(&format!("{about}: status of the forgotten file"), &status, &"410".to_owned());
    Ok(seen)
}

/// How so many rows are spread over sheets.
fn full_sheets(rows: u64) -> Vec<u64> {
    let full = std::iter::repeat_n(FULL_SHEET, usize::try_from(rows / FULL_SHEET).unwrap_or(0));
    let rest = (!rows.is_multiple_of(FULL_SHEET)).then_some(rows % FULL_SHEET);
    full.chain(rest).collect()
}

fn words(figures: &[u64]) -> String {
    figures.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}

impl Sheet {
    fn sample(&self, server: &Server) -> Result<Sample> {
        let (sample, run) = Sample::take(server, &path(), Pace::Fast, self.idle)?;
        server.forget(&run)?;
        let (bytes, before) = (sample.drained.bytes, self.seen.bytes);
        if bytes == before {
            return Ok(sample);
        }
        Err(Error::new(format!(
            "a workbook of {bytes} bytes came where the one before had {before}"
        )))
    }

    /// Has the script make its workbook once, and counts it.
    fn of_peer(
        &self,
        bench: &Bench,
        database: &Database,
        server: &Server,
        checks: &mut Checks,
    ) -> Result<Option<(Duration, u64)>> {
        let made = bench.workplace.path().join("peer.xlsx");
        let lines = database.rows.to_string();
        let arguments = [database.file().as_os_str(), made.as_os_str(), lines.as_ref()];
        let mut script = python(SCRIPT, &arguments);
        let Printed::Done(poured) = program::pour(&mut script)? else { return Ok(None) };
        let (_, counted) = workbook::read(&made, place_of_column(server)?)?;
        if self.peer.is_empty() {
            against_database("xlsxwriter", counted, stored(database)?, checks);
        }
        let size = std::fs::metadata(&made).map_or(0, |made| made.len());
        let _ = std::fs::remove_file(&made);
        Ok(Some((poured.whole, size)))
    }
}

/// The versions of Python and of the library, or why there is no peer.
fn peer_version() -> Result<String, String> {
    let script = "import sys, xlsxwriter; print(sys.version.split()[0], xlsxwriter.__version__)";
    match program::text(&mut python(script, &[])) {
        Ok(Printed::Done(versions)) => Ok(versions),
        Ok(Printed::Missing) => Err("python3 is not installed".into()),
        Err(_) => Err("python3 has no xlsxwriter (`pip install xlsxwriter`)".into()),
    }
}

fn table(sheets: &[Sheet]) -> String {
    let mut text = format!(
        "The whole of `settlements`, {} rows in the order of `paid_at, id`, as a prepared xlsx file over \
         loopback HTTP; client, server and database share the machine. Median (lowest–highest) of \
         the rounds; MB are 10^6 bytes. The file is built before its first byte leaves, so the time \
         to that byte is the building; rows/s are by the whole time. CPU is the server's alone, \
         without the database's. Memory is VmHWM above the idle server's VmRSS, the highest of the \
         rounds.\n\n\
         | database | rounds | MB | first byte, s | s | rows/s | CPU, s | MiB above idle |\n\
         |---|---|---|---|---|---|---|---|\n",
        sheets.first().map_or(0, |sheet| sheet.rows),
    );
    text.extend(sheets.iter().map(line));
    let idle = sheets.iter().map(|sheet| {
        format!("\nIdle on {}: {} MiB.", sheet.backend.title(), mebibytes(sheet.idle))
    });
    text + &idle.collect::<String>()
}

fn line(sheet: &Sheet) -> String {
    let time = seconds(&sheet.samples);
    format!(
        "| {} | {} | {:.1} | {} | {time} | {:.0} | {} | {} |\n",
        sheet.backend.title(),
        sheet.samples.len(),
        megabytes(sheet.seen.bytes),
        first_bytes(&sheet.samples),
        number(sheet.rows) / time.median(),
        cpu(&sheet.samples),
        mebibytes(most_memory(&sheet.samples)),
    )
}

fn peer_table(sheets: &[Sheet], peer: &Result<String, String>) -> String {
    let versions = match peer {
        Ok(versions) => versions,
        Err(why) => return format!("\n\nThe peer is left out: {why}.\n"),
    };
    let Some(sheet) = sheets.iter().find(|sheet| !sheet.peer.is_empty()) else {
        return "\n\nThe peer reads SQLite, which was not measured.\n".into();
    };
    let time: Series = sheet.peer.iter().map(|(whole, _)| whole.as_secs_f64()).collect();
    format!(
        "\n\nPython's xlsxwriter with `constant_memory` (Python and xlsxwriter {versions}) makes a \
         workbook of the same rows, out of the same SQLite file, with the same header, widths and number \
         formats, into a file, in turn with the answers above; each packs as hard as it does of \
         itself. The ratio is its time by the server's on SQLite in the same round: above 1 the server \
         is faster.\n\n\
         | tool | rounds | MB | s | rows/s | ratio |\n|---|---|---|---|---|---|\n\
         | `xlsxwriter` | {} | {:.1} | {time} | {:.0} | {} |\n",
        time.len(),
        megabytes(sheet.peer.first().map_or(0, |(_, size)| *size)),
        number(sheet.rows) / time.median(),
        time.by(&seconds(&sheet.samples)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_fill_a_sheet_before_the_next() {
        for (rows, sheets) in [
            (5, &[5][..]),
            (FULL_SHEET, &[FULL_SHEET]),
            (FULL_SHEET + 1, &[FULL_SHEET, 1]),
            (2 * FULL_SHEET, &[FULL_SHEET, FULL_SHEET]),
        ] {
            assert_eq!(full_sheets(rows), sheets);
        }
    }
}
