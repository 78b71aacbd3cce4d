//! `flush-batch`: how many rows a chunk should have. A flush for every line is what makes streams slow.

use super::{at_rest, had};
use crate::bench::Bench;
use crate::checks::Checks;
use crate::client::Pace;
use crate::contest::{Contest, Standing};
use crate::database::Backend;
use crate::error::Result;
use crate::results::Outcome;
use crate::sample::Sample;
use crate::server::Server;
use crate::settlements::REPORT;

/// The default first, which the others are set beside.
const ROWS: [u32; 5] = [1_000, 1, 10, 100, 10_000];
/// How much slower than any other the default may be.
const SLOWER: f64 = 0.9;

/// Runs the scenario.
///
/// # Errors
/// A request that fails.
pub(super) fn run(bench: &Bench) -> Result<Outcome> {
    let mut checks = Checks::default();
    let mut text = format!(
        "The whole of `settlements`, {} rows, as NDJSON, direct, over loopback HTTP, by servers that differ \
         in `flush_rows` alone. Median (lowest–highest) of the rounds; MB are 10^6 bytes.\n\n",
        bench.options.rows
    );
    for backend in [Backend::Sqlite, Backend::Postgres] {
        if bench.options.backends.contains(&backend) {
            let standing = measure(bench, backend)?;
            for rows in &ROWS[1..] {
                standing.faster(&name(*rows), SLOWER, &mut checks);
            }
            text.extend([backend.title(), ":\n\n", &standing.table(), "\n"]);
        }
    }
    Ok(Outcome { text, checks })
}

fn name(rows: u32) -> String {
    format!("{rows} rows a chunk")
}

fn measure(bench: &Bench, backend: Backend) -> Result<Standing> {
    let database = had(bench, backend, bench.options.rows)?;
    let mut servers = Vec::new();
    for rows in ROWS {
        let setting = rows.to_string();
        let arguments = ["--flush-rows", &setting];
        let server = Server::start_as(&format!("flush-{rows}"), bench, &database, &arguments)?;
        servers.push((rows, at_rest(server)?));
    }
    let mut contest = Contest::default();
    for (rows, (server, idle)) in &servers {
        contest.enter(&name(*rows), move || {
            let path = format!("{REPORT}/rows?format=ndjson");
            Ok(Sample::take(server, &path, Pace::Fast, *idle)?.0.into())
        });
    }
    let standing = contest.hold(bench.options.asked_rounds)?;
    for (_, (server, _)) in servers {
        server.stop()?;
    }
    Ok(standing)
}
