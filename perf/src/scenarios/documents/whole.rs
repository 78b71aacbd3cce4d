//! `bundle`: bundles of 1 to 2,000 ledgers in both deliveries, and of 200 beside `PDFBox` with its fonts
//! kept, on both cores and on one.

use std::cell::RefCell;

use super::peer::PdfBox;
use super::{bundle, database, started, started_on_one_core};
use crate::bench::Bench;
use crate::checks::Checks;
use crate::client::Pace;
use crate::contest::{Contest, Turn};
use crate::error::Result;
use crate::results::Outcome;
use crate::sample::Sample;
use crate::server::Server;
use crate::stats::{Series, mebibytes, megabytes};

const SIZES: [u64; 6] = [200, 1, 10, 50, 100, 2_000];
/// The one that `PDFBox` makes, too.
const BESIDE: u64 = 200;
const PDFBOX: &str = "PDFBox";
const DELIVERIES: [&str; 2] = ["prepared", "direct"];
/// What a ledger of two pages may take, in bytes.
const LEDGER: u64 = 40_000;
/// How long a connection may be held, in milliseconds.
const HELD: u64 = 30;
/// How long the first byte of a direct bundle may take.
const FIRST_BYTE_MS: f64 = 50.0;
/// Rounds of each size where none were asked for.
const ROUNDS: usize = 5;

/// Runs the scenario.
///
/// # Errors
/// No database; a request or a program that fails.
pub(in crate::scenarios) fn run(bench: &Bench) -> Result<Outcome> {
    let database = database(bench)?;
    let mut checks = Checks::default();
    let (server, idle) = started(bench, &database, &SIZES, &["--document-slots", "1"])?;
    let both = beside(bench, &server, idle, false, 3.5, &mut checks)?;
    let (one_core, one_idle) = started_on_one_core(bench, &database, &SIZES)?;
    let one = beside(bench, &one_core, one_idle, true, 2.0, &mut checks)?;
    one_core.stop()?;
    let mut lines = String::new();
    for size in [1, 10, 50, 100, 200, 2_000] {
        for delivery in DELIVERIES {
            println!("{size} documents, {delivery}");
            lines += &line(bench, &server, idle, size, delivery, &mut checks)?;
        }
    }
    server.stop()?;
    let head = "Ledgers of two pages (72 lines each) out of SQLite, as one ZIP over loopback HTTP, thrown away \
                as it comes, and by PDFBox, which has the rows in memory, its fonts parsed once, and writes \
                to a file. Median (lowest–highest) of the rounds; MB are 10^6 bytes; CPU and memory are the \
                server's.\n\n";
    let text = format!(
        "{head}{BESIDE} documents, every core:\n\n{both}\n{BESIDE} documents, everybody on the first core alone:\n\n\
         {one}\nEach size, every core:\n\n\
         | documents | delivery | MB | s | ms a document | first byte, ms | CPU, s | MiB above idle | connection held, ms |\n\
         |---|---|---|---|---|---|---|---|---|\n{lines}"
    );
    Ok(Outcome { text, checks })
}

/// The same bundle by the server and by `PDFBox`, in turn.
fn beside(
    bench: &Bench,
    server: &Server,
    idle: u64,
    one_core: bool,
    least: f64,
    checks: &mut Checks,
) -> Result<String> {
    let pdfbox = PdfBox::start(bench, server, one_core)?.map(RefCell::new);
    let mut contest = Contest::default();
    for delivery in DELIVERIES {
        let turn = move || Ok(fetched(server, idle, BESIDE, delivery)?.0.into());
        contest.enter(&format!("tallyroll, {delivery}"), turn);
    }
    match &pdfbox {
        Ok(pdfbox) => contest.enter(PDFBOX, || -> Result<Turn> { pdfbox.borrow_mut().turn() }),
        Err(remedy) => contest.leave_out(PDFBOX, remedy),
    }
    let standing = contest.hold(bench.options.asked_rounds)?;
    standing.faster(PDFBOX, least, checks);
    Ok(standing.table())
}

/// One bundle, and how long a connection was held for it, in milliseconds.
fn fetched(server: &Server, idle: u64, size: u64, delivery: &str) -> Result<(Sample, u64)> {
    let (sample, run) = Sample::take(server, &bundle(size, delivery), Pace::Fast, idle)?;
    let told = server.json(&format!("/runs/{run}"))?;
    if delivery == "prepared" {
        server.forget(&run)?;
    }
    Ok((sample, told["timings_ms"]["query"].as_u64().unwrap_or(u64::MAX)))
}

fn line(
    bench: &Bench,
    server: &Server,
    idle: u64,
    size: u64,
    delivery: &str,
    checks: &mut Checks,
) -> Result<String> {
    let rounds = bench.options.asked_rounds.unwrap_or(ROUNDS);
    let rounds = (0..rounds).map(|_| fetched(server, idle, size, delivery));
    let rounds = rounds.collect::<Result<Vec<_>>>()?;
    let series = |of: &dyn Fn(&Sample) -> f64| -> Series {
        rounds.iter().map(|(sample, _)| of(sample)).collect()
    };
    let seconds = series(&|sample| sample.drained.whole.as_secs_f64());
    let first = series(&|sample| sample.drained.first_byte.as_secs_f64() * 1_000.0);
    let cpu = series(&|sample| sample.cpu);
    let held = rounds.iter().map(|(_, held)| *held).max().unwrap_or(0);
    let bytes = rounds.first().map_or(0, |(sample, _)| sample.drained.bytes);
    let memory = rounds.iter().map(|(sample, _)| sample.above_idle).max().unwrap_or(0);
    let about = format!("{size} documents, {delivery}");
    if size >= BESIDE {
        let each = bytes / size;
        checks.check(each < LEDGER, &format!("{about}: {each} bytes each, under {LEDGER} wanted"));
    }
    if size <= BESIDE {
        let what = format!("{about}: a connection is held for {held} ms, under {HELD} wanted");
        checks.check(held < HELD, &what);
    }
    // A bundle of 2,000 has ten times as much to read before.
    if delivery == "direct" && size <= BESIDE {
        let what =
            format!("{about}: the first byte after {first:.1} ms, under {FIRST_BYTE_MS} wanted");
        checks.check(first.median() < FIRST_BYTE_MS, &what);
    }
    Ok(format!(
        "| {size} | {delivery} | {:.2} | {seconds} | {:.2} | {first:.1} | {cpu:.2} | {} | {held} |\n",
        megabytes(bytes),
        seconds.median() * 1_000.0 / crate::stats::number(size),
        mebibytes(memory),
    ))
}
