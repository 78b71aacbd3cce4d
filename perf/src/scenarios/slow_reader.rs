//! `slow-reader`: what the server's memory does while somebody reads the whole of the report slowly, in
//! every format.

use super::{on_each, started};
use crate::bench::Bench;
use crate::checks::Checks;
use crate::client::Pace;
use crate::error::Result;
use crate::results::Outcome;
use crate::sample::Sample;
use crate::settlements::{REPORT, judge_memory};
use crate::stats::{mebibytes, megabytes};

const FORMATS: [&str; 4] = ["ndjson", "json", "csv", "xlsx"];
/// Bytes that the reader takes in a second.
const SLOW: u32 = 20_000_000;

/// Runs the scenario.
///
/// # Errors
/// No database; a request that fails.
pub(super) fn run(bench: &Bench) -> Result<Outcome> {
    let mut checks = Checks::default();
    let (lines, left_out) = on_each(bench, |database| {
        let (server, idle) = started(bench, database, &[])?;
        let mut lines = Vec::new();
        for format in FORMATS {
            println!("{}: {format}", database.backend.title());
            let path = format!("{REPORT}/rows?format={format}&delivery=direct");
            let (sample, _) = Sample::take(&server, &path, Pace::Held(SLOW), idle)?;
            let about = format!("{} {format}", database.backend.word());
            judge_memory(&about, sample.above_idle, &mut checks);
            lines.push(format!(
                "| {} | {format} | {:.1} | {:.2} | {:.2} | {} |\n",
                database.backend.title(),
                megabytes(sample.drained.bytes),
                sample.drained.whole.as_secs_f64(),
                sample.cpu,
                mebibytes(sample.above_idle),
            ));
        }
        server.stop()?;
        Ok(lines.concat())
    })?;
    let text = format!(
        "The whole of `settlements`, {} rows, direct, over loopback HTTP to a reader who takes {} MB/s. MB \
         are 10^6 bytes; memory is VmHWM above the idle server's VmRSS.\n\n\
         | database | format | MB | s | CPU, s | MiB above idle |\n|---|---|---|---|---|---|\n{}",
        bench.options.rows,
        SLOW / 1_000_000,
        lines.concat()
    );
    Ok(Outcome { text: left_out + &text, checks })
}
