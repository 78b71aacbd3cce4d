//! `bundle-cancel`: what is still done for a client that left a bundle of 2,000 ledgers.

use std::time::{Duration, Instant};

use super::{bundle, database, started};
use crate::bench::Bench;
use crate::checks::Checks;
use crate::error::{Error, Result};
use crate::results::Outcome;
use crate::server::Server;
use crate::stats::Series;

const DOCUMENTS: u64 = 2_000;
const ROUNDS: usize = 10;
/// Bytes after which the client leaves.
const TAKEN: u64 = 8 << 20;
/// How long a run may take to be over, in milliseconds.
const OVER: f64 = 1_000.0;
/// Longer than that nobody waits.
const LONGEST: Duration = Duration::from_secs(30);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(5);

/// Runs the scenario.
///
/// # Errors
/// No database; a request that fails.
pub(in crate::scenarios) fn run(bench: &Bench) -> Result<Outcome> {
    let database = database(bench)?;
    let mut checks = Checks::default();
    let (server, _) = started(bench, &database, &[DOCUMENTS], &["--document-slots", "1"])?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let rounds = bench.options.asked_rounds.unwrap_or(ROUNDS);
    let left = (0..rounds).map(|_| leave(&server)).collect::<Result<Vec<_>>>()?;
    let series = |of: &dyn Fn(&Left) -> f64| -> Series { left.iter().map(of).collect() };
    let (over, cpu) = (series(&|left| left.over), series(&|left| left.cpu));
    let each = series(&|left| left.each);
    let what = format!("the run is over {over:.0} ms after its client left, within {OVER} wanted");
    checks.check(over.high() <= OVER, &what);
    let most = f64::from(u32::try_from(cores).unwrap_or(1)) * each.median();
    // What the kernel counts, it counts in steps.
    let most = most + 20.0;
    let what = format!(
        "{cpu:.0} ms of CPU are spent after it left; one document a core takes {most:.0} ms at most"
    );
    checks.check(cpu.median() <= most, &what);
    server.stop()?;
    let text = format!(
        "A direct bundle of {DOCUMENTS} ledgers whose client leaves after 8 MiB, {rounds} times, on \
         {cores} cores. CPU is the whole server's, in steps of 10 ms.\n\n\
         | over after, ms | CPU after it left, ms | CPU of a document, ms |\n|---|---|---|\n\
         | {over:.0} | {cpu:.0} | {each:.1} |\n"
    );
    Ok(Outcome { text, checks })
}

/// What was done for one client that left, in milliseconds.
struct Left {
    over: f64,
    cpu: f64,
    /// CPU of a document before.
    each: f64,
}

fn leave(server: &Server) -> Result<Left> {
    let process = server.process();
    let begun = process.cpu_seconds()?;
    let answer = server.get(&bundle(DOCUMENTS, "direct"))?;
    let run = answer.header("x-run-id").unwrap_or_default().to_owned();
    let path = format!("/runs/{run}");
    // As fast as it comes, so that the rendering is in full swing.
    answer.leave_after(TAKEN)?;
    let (left, before) = (Instant::now(), process.cpu_seconds()?);
    let rendered = server.json(&path)?["rows"].as_u64().unwrap_or(0);
    while server.json(&path)?["state"] == "running" {
        if left.elapsed() > LONGEST {
            return Err(Error::new(format!(
                "the run {run} is not over {LONGEST:?} after its client left"
            )));
        }
        std::thread::sleep(LOOK);
    }
    let over = left.elapsed().as_secs_f64() * 1_000.0;
    let cpu = (process.cpu_seconds()? - before) * 1_000.0;
    let each = (before - begun) * 1_000.0 / crate::stats::number(rendered);
    Ok(Left { over, cpu, each })
}
