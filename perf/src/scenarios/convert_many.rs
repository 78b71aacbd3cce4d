//! `convert-many`: a hundred uploads of a thousand rows at once, each converted to xlsx and fetched.
//!
//! Each is an NDJSON file of its own, made here. The workbook that comes back is read, and must hold as
//! many rows and the sum of one column. How long each took is from before its connection was opened to
//! the workbook's last byte, queue included.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use super::on_each;
use crate::bench::Bench;
use crate::checks::Checks;
use crate::client::{self, Pace};
use crate::database::{Backend, Database};
use crate::error::{Doing, Error, Result};
use crate::results::Outcome;
use crate::scan::Counted;
use crate::server::Server;
use crate::stats::{Series, mebibytes, number};
use crate::workbook;

/// Uploads at once.
const UPLOADS: u64 = 100;
/// Rows of each, besides the header.
const ROWS: u64 = 1_000;

/// What one crowd of uploads came to.
#[derive(Debug)]
struct Crowd {
    backend: Backend,
    /// Seconds of each.
    each: Series,
    /// From the first connection to the last byte, in seconds.
    whole: f64,
    complete: usize,
    above_idle: u64,
}

/// Runs the scenario.
///
/// # Errors
/// No database could be had, or the server did not answer.
pub(super) fn run(bench: &Bench) -> Result<Outcome> {
    let mut checks = Checks::default();
    let (crowds, left_out) = on_each(bench, |database| {
        let crowd = let_in(bench, database)?;
        let what = format!("{}: converted whole", crowd.backend.word());
        checks.same(&what, &(crowd.complete as u64), &UPLOADS);
        Ok(crowd)
    })?;
    Ok(Outcome { text: left_out + &table(&crowds), checks })
}

fn let_in(bench: &Bench, database: &Database) -> Result<Crowd> {
    let server = Server::start(bench, database, &[])?;
    // One before, so that what is made once is there.
    let directory = bench.workplace.path();
    fetch(server.address(), &file(directory, UPLOADS)?)?;
    let idle = server.process().settled()?;
    server.process().forget_peak()?;
    println!("{}: {UPLOADS} come at once", database.backend.title());
    let files = (0..UPLOADS).map(|which| file(directory, which));
    let files = files.collect::<Result<Vec<_>>>()?;
    let ready = Barrier::new(files.len());
    let begun = Instant::now();
    let ended: Vec<Result<f64>> = thread::scope(|scope| {
        let (address, ready) = (server.address(), &ready);
        let threads: Vec<_> = files
            .iter()
            .map(|file| {
                scope.spawn(move || {
                    ready.wait();
                    fetch(address, file)
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err(Error::new("a thread panicked"))))
            .collect()
    });
    let whole = begun.elapsed().as_secs_f64();
    let above_idle = server.process().peak()?.saturating_sub(idle);
    for error in ended.iter().filter_map(|ended| ended.as_ref().err()).take(3) {
        println!("{error}");
    }
    let each: Series = ended.iter().filter_map(|ended| ended.as_ref().ok()).copied().collect();
    server.stop()?;
    Ok(Crowd { backend: database.backend, complete: each.len(), each, whole, above_idle })
}

/// The file of one upload.
fn file(directory: &Path, which: u64) -> Result<PathBuf> {
    let path = directory.join(format!("upload-{which}.ndjson"));
    let row = |row: u64| {
        let order = which * ROWS + row;
        format!(
            "{{\"no\":{order},\"order\":\"{order:013}\",\"product\":\"아메리카노 세트 {which}\",\
             \"amount\":{}.50}}\n",
            order * 7 % 100_000
        )
    };
    let text: String = (1..=ROWS).map(row).collect();
    std::fs::write(&path, text).doing(format!("making {}", path.display()))?;
    Ok(path)
}

/// Has a file converted, and takes the workbook; seconds.
fn fetch(address: &str, path: &Path) -> Result<f64> {
    let mut file = File::open(path).doing(format!("opening {}", path.display()))?;
    let begun = Instant::now();
    let answer = client::send(address, "/api/v1/convert?to=xlsx", &mut file)?;
    if answer.status() != Some("200") {
        let status = answer.status().unwrap_or("nothing that is HTTP").to_owned();
        return Err(Error::new(format!("answered {status}: {}", answer.text()?)));
    }
    let mut book = Vec::new();
    answer.drain(Pace::Fast, &mut |bytes| book.extend_from_slice(bytes))?;
    let took = begun.elapsed().as_secs_f64();
    let kept = path.with_extension("xlsx");
    std::fs::write(&kept, book).doing(format!("writing {}", kept.display()))?;
    let (_, counted) = workbook::read(&kept, 0)?;
    let text = std::fs::read_to_string(path).doing(format!("reading {}", path.display()))?;
    let numbers = text
        .lines()
        .filter_map(|line| line.strip_prefix("{\"no\":")?.split_once(',')?.0.parse::<i128>().ok());
    let expected = Counted { rows: ROWS, sum: numbers.sum() };
    if counted == expected {
        Ok(took)
    } else {
        Err(Error::new(format!("a workbook with {counted:?}, not {expected:?}")))
    }
}

fn table(crowds: &[Crowd]) -> String {
    let head = format!(
        "{UPLOADS} NDJSON files of {ROWS} rows × 4 columns uploaded at once over loopback HTTP, each \
         converted to xlsx and fetched, with the server's own settings. Seconds of each are from before \
         its connection was opened to the workbook's last byte, its wait in the queue included.\n\n\
         | state beside | complete | p50, s | p95, s | max, s | all over after, s | conversions/s | rows/s | MiB above idle |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    let line = |crowd: &Crowd| {
        let [half, most] = [50, 95].map(|percent| crowd.each.percentile(percent));
        let rate = number(crowd.complete as u64) / crowd.whole;
        format!(
            "| {} | {} | {half:.2} | {most:.2} | {:.2} | {:.2} | {rate:.1} | {:.0} | {} |\n",
            crowd.backend.title(),
            crowd.complete,
            crowd.each.high(),
            crowd.whole,
            rate * number(ROWS),
            mebibytes(crowd.above_idle)
        )
    };
    [head].into_iter().chain(crowds.iter().map(line)).collect()
}
