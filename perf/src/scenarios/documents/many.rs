//! `bundle-many`: sixteen bundles of 200 ledgers that are asked for at the same moment, with 1 to 16
//! slots, and how short requests fare meanwhile.

use std::path::Path;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::{bundle, database, started};
use crate::bench::Bench;
use crate::checks::Checks;
use crate::client::{self, Pace};
use crate::database::Database;
use crate::error::{Error, Result};
use crate::results::Outcome;
use crate::server::Server;
use crate::stats::{Series, mebibytes, megabytes};

/// Bundles at once.
const BUNDLES: usize = 16;
const DOCUMENTS: u64 = 200;
const SLOTS: [usize; 5] = [1, 2, 4, 8, 16];
/// The default.
const CHOSEN: usize = 2;
/// What the server may take beyond what it takes at rest, in bytes.
const CEILING: u64 = 200 << 20;
/// How many times their idle 99th percentile short requests may take.
const SHORT: f64 = 5.0;
/// Between two short requests, and two looks at what is there.
const PAUSE: Duration = Duration::from_millis(5);
/// Short requests to an idle server.
const IDLE_REQUESTS: usize = 400;

/// What one crowd came to.
struct Crowd {
    slots: usize,
    /// Seconds of each, from before its connection was opened.
    each: Series,
    whole: f64,
    cpu: f64,
    above_idle: u64,
    /// The most that waited at once.
    queue: u64,
    /// The most bytes in the temporary directory.
    temporary: u64,
    /// Milliseconds of short requests, idle and meanwhile.
    short: [Series; 2],
}

/// Runs the scenario.
///
/// # Errors
/// No database; a server that does not start.
pub(in crate::scenarios) fn run(bench: &Bench) -> Result<Outcome> {
    let database = database(bench)?;
    let mut checks = Checks::default();
    let mut crowds = Vec::new();
    for slots in SLOTS {
        println!("{slots} slots");
        crowds.push(crowd(bench, &database, slots, &mut checks)?);
    }
    let text = format!(
        "{BUNDLES} prepared bundles of {DOCUMENTS} ledgers asked for at the same moment over loopback HTTP. \
         Seconds of each are from before its connection was opened to its last byte, waiting included. \
         Short requests are GET /api/v1/documents, one after the other.\n\n\
         | slots | s of each, median (lowest–highest) | the last after, s | CPU, s | MiB above idle | longest queue | temporary MB | p99 of short requests, ms: idle, meanwhile | times |\n\
         |---|---|---|---|---|---|---|---|---|\n{}",
        crowds.iter().map(line).collect::<String>()
    );
    Ok(Outcome { text, checks })
}

fn crowd(bench: &Bench, database: &Database, slots: usize, checks: &mut Checks) -> Result<Crowd> {
    let setting = slots.to_string();
    let (server, idle) = started(bench, database, &[DOCUMENTS], &["--document-slots", &setting])?;
    let quiet = short_requests(&server, IDLE_REQUESTS, &AtomicBool::new(false))?;
    let process = server.process();
    process.forget_peak()?;
    let cpu = process.cpu_seconds()?;
    let over = AtomicBool::new(false);
    let (queue, temporary) = (AtomicU64::new(0), AtomicU64::new(0));
    let directory = bench.workplace.path().join("sqlite").join("tmp");
    let barrier = Barrier::new(BUNDLES);
    let begun = Instant::now();
    let (each, short, whole) = thread::scope(|scope| {
        let watch = scope.spawn(|| watch(&server, &directory, &queue, &temporary, &over));
        let short = scope.spawn(|| short_requests(&server, usize::MAX, &over));
        let clients: Vec<_> = (0..BUNDLES)
            .map(|_| {
                scope.spawn(|| {
                    barrier.wait();
                    fetch(&server)
                })
            })
            .collect();
        let panicked = |_| Err(Error::new("a client panicked"));
        let each: Vec<Result<(f64, String)>> =
            clients.into_iter().map(|client| client.join().unwrap_or_else(panicked)).collect();
        let whole = begun.elapsed().as_secs_f64();
        over.store(true, Ordering::Relaxed);
        let watched = watch.join().unwrap_or_else(|_| Err(Error::new("a watcher panicked")));
        let short = short.join().unwrap_or_else(|_| Err(Error::new("an asker panicked")));
        watched.and(short).map(|short| (each, short, whole))
    })?;
    let cpu = process.cpu_seconds()? - cpu;
    let above_idle = process.peak()?.saturating_sub(idle);
    let about = format!("{slots} slots");
    for error in each.iter().filter_map(|ended| ended.as_ref().err()) {
        println!("{error}");
    }
    let whole_ones: Vec<&(f64, String)> = each.iter().flatten().collect();
    checks.same(&format!("{about}: whole bundles"), &whole_ones.len(), &BUNDLES);
    for (_, run) in &whole_ones {
        server.forget(run)?;
    }
    let each = whole_ones.iter().map(|(seconds, _)| *seconds).collect();
    server.stop()?;
    let (queue, temporary) = (queue.into_inner(), temporary.into_inner());
    let crowd =
        Crowd { slots, each, whole, cpu, above_idle, queue, temporary, short: [quiet, short] };
    if slots == CHOSEN {
        judge(&crowd, checks);
    }
    Ok(crowd)
}

fn judge(crowd: &Crowd, checks: &mut Checks) {
    let (shown, allowed) = (mebibytes(crowd.above_idle), mebibytes(CEILING));
    let what = format!("{CHOSEN} slots: {shown} MiB above idle, under {allowed} wanted");
    checks.check(crowd.above_idle < CEILING, &what);
    let waited = (BUNDLES - CHOSEN) as u64;
    let what =
        format!("{CHOSEN} slots: {} waited at once and showed, {waited} wanted", crowd.queue);
    checks.check(crowd.queue == waited, &what);
    let times = times(crowd);
    let what = format!(
        "{CHOSEN} slots: short requests take {times:.1} × their idle 99th percentile, under {SHORT} wanted"
    );
    checks.check(times < SHORT, &what);
}

fn times(crowd: &Crowd) -> f64 {
    let [idle, meanwhile] = &crowd.short;
    meanwhile.percentile(99) / idle.percentile(99)
}

fn fetch(server: &Server) -> Result<(f64, String)> {
    let answer = server.get(&bundle(DOCUMENTS, "prepared"))?;
    let run = answer.header("x-run-id").unwrap_or_default().to_owned();
    let drained = answer.drain(Pace::Fast, &mut |_| ())?;
    Ok((drained.whole.as_secs_f64(), run))
}

/// Asks for small things one after the other; milliseconds of each.
fn short_requests(server: &Server, most: usize, over: &AtomicBool) -> Result<Series> {
    let mut times = Vec::new();
    while times.len() < most && !over.load(Ordering::Relaxed) {
        let begun = Instant::now();
        client::get(server.address(), "/api/v1/documents")?.text()?;
        times.push(begun.elapsed().as_secs_f64() * 1_000.0);
        thread::sleep(PAUSE);
    }
    Ok(times.into_iter().collect())
}

/// Looks at how many wait, and how much lies in the temporary directory.
fn watch(
    server: &Server,
    directory: &Path,
    queue: &AtomicU64,
    temporary: &AtomicU64,
    over: &AtomicBool,
) -> Result<()> {
    /// Each look asks the server, who has other things to do.
    const BETWEEN: Duration = Duration::from_millis(50);
    while !over.load(Ordering::Relaxed) {
        let waiting = server.json("/runs?state=queued&limit=100")?;
        let count = waiting["items"].as_array().into_iter().flatten();
        let count = count.filter(|run| run["queue"]["position"].is_number()).count() as u64;
        queue.fetch_max(count, Ordering::Relaxed);
        let files = std::fs::read_dir(directory).into_iter().flatten().flatten();
        let sizes = files.filter_map(|file| Some(file.metadata().ok()?.len()));
        temporary.fetch_max(sizes.sum(), Ordering::Relaxed);
        thread::sleep(BETWEEN);
    }
    Ok(())
}

fn line(crowd: &Crowd) -> String {
    let [idle, meanwhile] = &crowd.short;
    format!(
        "| {} | {} | {:.2} | {:.2} | {} | {} | {:.1} | {:.1}, {:.1} | {:.1} |\n",
        crowd.slots,
        crowd.each,
        crowd.whole,
        crowd.cpu,
        mebibytes(crowd.above_idle),
        crowd.queue,
        megabytes(crowd.temporary),
        idle.percentile(99),
        meanwhile.percentile(99),
        times(crowd),
    )
}
