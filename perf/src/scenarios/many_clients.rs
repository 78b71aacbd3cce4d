//! `many-clients`: fifty clients that ask for many lines at the same moment, and none of them is forgotten.

use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use super::{on_each, started};
use crate::bench::Bench;
use crate::checks::Checks;
use crate::client::{Drained, Pace};
use crate::database::Database;
use crate::error::{Error, Result};
use crate::results::Outcome;
use crate::server::Server;
use crate::settlements::REPORT;
use crate::stats::{Series, mebibytes, number};

const CLIENTS: u32 = 50;
/// Lines for each at most.
const LINES: u64 = 100_000;
/// How many times the median the slowest may take.
const SLOWEST: f64 = 3.0;
/// What the server may take, in bytes.
const CEILING: u64 = 512 << 20;

/// Runs the scenario.
///
/// # Errors
/// No database; a server that does not start.
pub(super) fn run(bench: &Bench) -> Result<Outcome> {
    let mut checks = Checks::default();
    let (lines, left_out) = on_each(bench, |database| {
        // As many streams as there are clients, so that none waits for another's end.
        let streams = CLIENTS.to_string();
        let (server, _) = started(bench, database, &["--streams", &streams])?;
        let line = measure(&server, database, &mut checks)?;
        server.stop()?;
        Ok(line)
    })?;
    let text = format!(
        "{CLIENTS} clients that ask at the same moment for lines of `settlements` as NDJSON, direct, over \
         loopback HTTP; everybody shares the machine with the database. Seconds of each client, from before \
         its connection was opened. Memory is the server's VmHWM, of which {} MiB are allowed.\n\n\
         | database | lines each | s, median (lowest–highest) | slowest by median | lines/s, all | CPU, s | MiB |\n\
         |---|---|---|---|---|---|---|\n{}",
        mebibytes(CEILING),
        lines.concat()
    );
    Ok(Outcome { text: left_out + &text, checks })
}

fn measure(server: &Server, database: &Database, checks: &mut Checks) -> Result<String> {
    let lines = database.rows.min(LINES);
    let path = format!("{REPORT}/rows?format=ndjson&delivery=direct&limit={lines}");
    let process = server.process();
    process.forget_peak()?;
    let cpu = process.cpu_seconds()?;
    let barrier = Barrier::new(CLIENTS as usize);
    let answers: Vec<Result<(Drained, u64)>> = thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|_| {
                scope.spawn(|| {
                    barrier.wait();
                    let mut rows = 0;
                    let drained = server.get(&path)?.drain(Pace::Fast, &mut |bytes| {
                        rows += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
                    })?;
                    Ok((drained, rows))
                })
            })
            .collect();
        let panicked = |_| Err(Error::new("a client panicked"));
        clients.into_iter().map(|client| client.join().unwrap_or_else(panicked)).collect()
    });
    let cpu = process.cpu_seconds()? - cpu;
    let memory = process.peak()?;
    let word = database.backend.word();
    let whole = answers.iter().flatten().filter(|(_, rows)| *rows == lines);
    let whole: Vec<Duration> = whole.map(|(drained, _)| drained.whole).collect();
    for error in answers.iter().filter_map(|answer| answer.as_ref().err()) {
        println!("{error}");
    }
    checks.same(&format!("{word}: whole answers"), &whole.len(), &(CLIENTS as usize));
    let seconds: Series = whole.iter().map(Duration::as_secs_f64).collect();
    let slowest = seconds.high() / seconds.median();
    let what = format!("{word}: the slowest takes {slowest:.2} × the median, {SLOWEST} allowed");
    checks.check(slowest <= SLOWEST, &what);
    let (shown, allowed) = (mebibytes(memory), mebibytes(CEILING));
    let what = format!("{word}: {shown} MiB at most, {allowed} allowed");
    checks.check(memory <= CEILING, &what);
    Ok(format!(
        "| {} | {lines} | {seconds} | {slowest:.2} | {:.0} | {cpu:.2} | {shown} |\n",
        database.backend.title(),
        number(lines) * f64::from(CLIENTS) / seconds.high(),
    ))
}
