//! `bundle-slow`: eight readers who take prepared bundles at 128 KiB/s, and what they hold up.

use std::sync::Barrier;
use std::thread;

use super::{bundle, database, started};
use crate::bench::Bench;
use crate::checks::Checks;
use crate::client::Pace;
use crate::error::{Error, Result};
use crate::results::Outcome;
use crate::stats::{Series, mebibytes};

const READERS: usize = 8;
const PACE: u32 = 128 << 10;
const DOCUMENTS: u64 = 200;
/// Rounds of the bundle that is set beside itself.
const ROUNDS: usize = 5;
/// How many times as long a bundle may take beside slow readers.
const HELD_UP: f64 = 1.5;

/// Runs the scenario.
///
/// # Errors
/// No database; a request that fails.
pub(in crate::scenarios) fn run(bench: &Bench) -> Result<Outcome> {
    let database = database(bench)?;
    let mut checks = Checks::default();
    // One slot, which whoever held it would hold up everybody else.
    let (server, idle) = started(bench, &database, &[DOCUMENTS], &["--document-slots", "1"])?;
    let quick = || -> Result<f64> {
        let answer = server.get(&bundle(DOCUMENTS, "direct"))?;
        Ok(answer.drain(Pace::Fast, &mut |_| ())?.whole.as_secs_f64())
    };
    let alone = (0..ROUNDS).map(|_| quick()).collect::<Result<Vec<_>>>()?;
    server.process().forget_peak()?;
    let ready = Barrier::new(READERS + 1);
    let (beside, going, runs) = thread::scope(|scope| {
        let readers: Vec<_> = (0..READERS)
            .map(|_| {
                scope.spawn(|| {
                    let answer = server.get(&bundle(DOCUMENTS, "prepared"));
                    // All of them have their heads, and so their bundles are whole.
                    ready.wait();
                    let answer = answer?;
                    let run = answer.header("x-run-id").unwrap_or_default().to_owned();
                    answer.drain(Pace::Held(PACE), &mut |_| ())?;
                    Ok(run)
                })
            })
            .collect();
        ready.wait();
        let beside = (0..ROUNDS).map(|_| quick()).collect::<Result<Vec<_>>>();
        let going = readers.iter().filter(|reader| !reader.is_finished()).count();
        let panicked = |_| Err(Error::new("a reader panicked"));
        let runs: Vec<Result<String>> =
            readers.into_iter().map(|reader| reader.join().unwrap_or_else(panicked)).collect();
        beside.map(|beside| (beside, going, runs))
    })?;
    let above_idle = server.process().peak()?.saturating_sub(idle);
    let whole: Vec<&String> = runs.iter().flatten().collect();
    checks.same("whole bundles", &whole.len(), &READERS);
    checks.same("readers who were still reading meanwhile", &going, &READERS);
    for run in whole {
        server.forget(run)?;
    }
    let [alone, beside]: [Series; 2] = [alone, beside].map(|times| times.into_iter().collect());
    let times = beside.median() / alone.median();
    let what = format!(
        "another bundle takes {times:.2} × as long beside them, at most {HELD_UP} wanted: they hold no slot"
    );
    checks.check(times <= HELD_UP, &what);
    server.stop()?;
    let text = format!(
        "{READERS} readers who take a prepared bundle of {DOCUMENTS} ledgers each at {} KiB/s, from a server \
         with one slot, and another client who fetches the same direct.\n\n\
         | his bundle alone, s | beside them, s | times | MiB above idle |\n|---|---|---|---|\n\
         | {alone} | {beside} | {times:.2} | {} |\n",
        PACE >> 10,
        mebibytes(above_idle)
    );
    Ok(Outcome { text, checks })
}
