//! `ndjson-postgres`, `ndjson-sqlite`, `csv-sqlite`: the whole of the report, direct, beside the tools that
//! print the same rows in the same order, and beside what reading them costs at least.

use super::{had, started};
use crate::bench::Bench;
use crate::checks::Checks;
use crate::client::{self, Pace};
use crate::contest::{Contest, poured};
use crate::database::Backend;
use crate::error::Result;
use crate::peers::{self, Tomcat};
use crate::program;
use crate::results::Outcome;
use crate::sample::Sample;
use crate::settlements::{ORDERED, REPORT, judge_memory};

const OBJECTS: &str = "psql COPY of row_to_json";
const BINARY: &str = "psql binary COPY";
const JSON: &str = "tallyroll json";
const SHELL_JSON: &str = "sqlite3 -json";
const SHELL_CSV: &str = "sqlite3 -csv";
const STEP: &str = "rusqlite stepping";
/// CPU seconds for a million lines.
const MOST_CPU: f64 = 1.6;

/// Runs `ndjson-postgres`.
///
/// # Errors
/// No PostgreSQL; a request or a program that fails.
pub(super) fn ndjson_postgres(bench: &Bench) -> Result<Outcome> {
    let database = had(bench, Backend::Postgres, bench.options.rows)?;
    let (server, idle) = started(bench, &database, &[])?;
    let tomcat = Tomcat::start(bench, &database.url)?;
    let copies = [
        (OBJECTS, format!("COPY (SELECT row_to_json(s) FROM ({ORDERED}) s) TO STDOUT")),
        (BINARY, format!("COPY ({ORDERED}) TO STDOUT (FORMAT binary)")),
    ];
    let mut contest = Contest::default();
    let ours = |format: &'static str| {
        let server = &server;
        move || {
            let path = format!("{REPORT}/rows?format={format}");
            Ok(Sample::take(server, &path, Pace::Fast, idle)?.0.into())
        }
    };
    contest.enter("tallyroll ndjson", ours("ndjson"));
    contest.enter(JSON, ours("json"));
    for (name, sql) in &copies {
        contest.enter(name, || poured(name, program::pour(&mut database.psql(sql))));
    }
    for flush in [1, 1_000] {
        let name = format!("Tomcat, flushed every {flush} lines");
        match &tomcat {
            Ok(tomcat) => contest.enter(&name, move || {
                let answer = client::get(&tomcat.address, &format!("/lines?flush={flush}"))?;
                let drained = answer.drain(Pace::Fast, &mut |_| ())?;
                let first_byte = Some(drained.first_byte);
                let (whole, bytes) = (drained.whole, drained.bytes);
                Ok(crate::contest::Turn { whole, bytes, first_byte, ..Default::default() })
            }),
            Err(remedy) => contest.leave_out(&name, remedy),
        }
    }
    let standing = contest.hold(bench.options.asked_rounds)?;
    let mut checks = Checks::default();
    standing.faster(OBJECTS, 3.0, &mut checks);
    standing.within(BINARY, 1.2, &mut checks);
    standing.faster(JSON, 0.9, &mut checks);
    let cpu = standing.cpu();
    let most = MOST_CPU * crate::stats::number(database.rows) / 1e6;
    let what = format!("{cpu} CPU seconds, at most {most:.2} wanted");
    checks.check(cpu.median() <= most, &what);
    judge_memory("postgres ndjson", standing.memory(), &mut checks);
    server.stop()?;
    Ok(Outcome { text: head(database.rows) + &standing.table(), checks })
}

/// Runs `ndjson-sqlite`.
///
/// # Errors
/// A request or a program that fails.
pub(super) fn ndjson_sqlite(bench: &Bench) -> Result<Outcome> {
    sqlite(bench, &["ndjson", "json"], ("-json", SHELL_JSON))
}

/// Runs `csv-sqlite`.
///
/// # Errors
/// A request or a program that fails.
pub(super) fn csv_sqlite(bench: &Bench) -> Result<Outcome> {
    sqlite(bench, &["csv"], ("-csv", SHELL_CSV))
}

fn sqlite(bench: &Bench, formats: &[&str], (mode, shell): (&str, &str)) -> Result<Outcome> {
    let database = had(bench, Backend::Sqlite, bench.options.rows)?;
    let (server, idle) = started(bench, &database, &[])?;
    let mut contest = Contest::default();
    for format in formats {
        let server = &server;
        contest.enter(&format!("tallyroll {format}"), move || {
            let path = format!("{REPORT}/rows?format={format}");
            Ok(Sample::take(server, &path, Pace::Fast, idle)?.0.into())
        });
    }
    contest.enter(shell, || poured(shell, program::pour(&mut database.sqlite3(mode, ORDERED))));
    match peers::own("peer-step") {
        Ok(step) => contest.enter(STEP, {
            let database = &database;
            move || {
                let mut command = std::process::Command::new(&step);
                poured(STEP, program::pour(command.arg(database.file()).arg(ORDERED)))
            }
        }),
        Err(remedy) => contest.leave_out(STEP, &remedy),
    }
    let standing = contest.hold(bench.options.asked_rounds)?;
    let mut checks = Checks::default();
    standing.faster(shell, 2.0, &mut checks);
    if formats.contains(&"json") {
        standing.within(STEP, 1.8, &mut checks);
        standing.faster(JSON, 0.9, &mut checks);
    }
    judge_memory(&format!("sqlite {}", formats[0]), standing.memory(), &mut checks);
    server.stop()?;
    Ok(Outcome { text: head(database.rows) + &standing.table(), checks })
}

fn head(rows: u64) -> String {
    format!(
        "The whole of `settlements`, {rows} rows in the order of `paid_at, id`, by everybody in turn; \
         the server's answers over loopback HTTP, the others' output through a pipe or HTTP, all \
         of it thrown away as it comes. Everybody shares the machine with the database. Median \
         (lowest–highest) of the rounds; MB are 10^6 bytes; CPU and memory are the server's.\n\n"
    )
}
