//! `crowd`: three hundred requests at once, against a server that lets 48 stream and builds two files
//! at a time.
//!
//! Twice on each database: with a queue that is long enough for all of them, and with one that is too
//! short and too impatient, so that some are refused. Who is served must get all of it, and who is
//! refused must be told when to come again; nobody may wait for longer than the server says, nor
//! overtake anybody who wants the same. Meanwhile somebody goes on asking for small things, and must
//! hardly notice: his p99 is set beside the one that he had before, with the server idle, over as
//! many requests at the same pace. Each crowd comes once, whatever the rounds.

mod guests;
mod judge;
mod prober;
mod records;
mod tables;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use self::guests::{Crowd, ROWS, Wants};
use self::prober::Probed;
use self::records::Record;
use super::on_each;
use crate::bench::Bench;
use crate::checks::Checks;
use crate::client::Pace;
use crate::database::{Backend, Database};
use crate::error::{Error, Result};
use crate::process::Process;
use crate::results::Outcome;
use crate::sample::Sample;
use crate::server::Server;
use crate::shares::Shares;

/// How often each small thing is asked for while the server is idle; more often than while it is
/// not, and then only as many are compared.
const IDLE_PROBES: usize = 1_000;

/// How the server is set up for the crowd.
#[derive(Debug)]
struct Setting {
    name: &'static str,
    arguments: &'static [&'static str],
    /// The longest that anybody may wait.
    patience: Duration,
    /// Whether some must be refused; none may otherwise.
    refuses: bool,
}

const SETTINGS: [Setting; 2] = [
    Setting {
        name: "long queue",
        arguments: &["--streams", "48", "--builds", "2", "--queue", "400", "--queue-wait", "120s"],
        patience: Duration::from_mins(2),
        refuses: false,
    },
    Setting {
        name: "short queue",
        arguments: &["--streams", "48", "--builds", "2", "--queue", "100", "--queue-wait", "2s"],
        patience: Duration::from_secs(2),
        refuses: true,
    },
];

impl Wants {
    /// How many of these the server lets go on at once.
    const fn limit(self) -> i32 {
        match self {
            Self::Stream => 48,
            Self::Book => 2,
        }
    }
}

/// A crowd that has come and gone.
#[derive(Debug)]
struct Sitting {
    backend: Backend,
    setting: &'static Setting,
    /// Rows of each whole answer.
    rows: u64,
    /// Bytes of each whole stream and book.
    bytes: [u64; 2],
    crowd: Crowd,
    records: Vec<Record>,
    idle: Probed,
    busy: Probed,
    /// CPU seconds of the server and of the client.
    cpu: [f64; 2],
    above_idle: u64,
    /// Why server, database and clients have no share of the cores each, where they have none.
    unshared: Option<String>,
}

/// Runs the scenario.
///
/// # Errors
/// No database could be had, or the server did not answer.
pub(super) fn run(bench: &Bench) -> Result<Outcome> {
    let mut checks = Checks::default();
    let (sittings, left_out) = on_each(bench, |database| {
        let sit = |setting| {
            let sitting = sit(bench, database, setting)?;
            sitting.judge(&mut checks);
            Ok(sitting)
        };
        SETTINGS.iter().map(sit).collect::<Result<Vec<_>>>()
    })?;
    let sittings: Vec<Sitting> = sittings.into_iter().flatten().collect();
    Ok(Outcome { text: left_out + &tables::tables(&sittings), checks })
}

fn sit(bench: &Bench, database: &Database, setting: &'static Setting) -> Result<Sitting> {
    let server = Server::start(bench, database, setting.arguments)?;
    println!("{}, {}: idle", database.backend.title(), setting.name);
    let (bytes, run) = whole_answers(&server)?;
    let (process, client) = (server.process(), Process(std::process::id()));
    let idle_memory = process.settled()?;
    let (address, never) = (server.address(), AtomicBool::new(false));
    let (shares, unshared) = match Shares::make(process, database.backend) {
        Ok(shares) => (Some(shares), None),
        Err(error) => (None, Some(error.to_string())),
    };
    let probe = |most, stop: &_| prober::probe(address, &run, shares.as_ref(), most, stop);
    let idle = alone(|| probe(IDLE_PROBES, &never))?;
    process.forget_peak()?;
    let before = [process.cpu_seconds()?, client.cpu_seconds()?];
    println!("{}, {}: {} come at once", database.backend.title(), setting.name, guests::GUESTS);
    let (crowd, busy) = watched(address, |stop| probe(usize::MAX, stop))?;
    let cpu = [process.cpu_seconds()? - before[0], client.cpu_seconds()? - before[1]];
    let above_idle = process.peak()?.saturating_sub(idle_memory);
    let records = records::fetch(&server, &crowd.guests)?;
    server.stop()?;
    let (backend, rows) = (database.backend, ROWS.min(database.rows));
    Ok(Sitting {
        backend,
        setting,
        rows,
        bytes,
        crowd,
        records,
        idle,
        busy,
        cpu,
        above_idle,
        unshared,
    })
}

/// The bytes of a whole stream and a whole book, which are the same each time, and the id of a run.
fn whole_answers(server: &Server) -> Result<([u64; 2], String)> {
    let mut bytes = [0; 2];
    let mut last = String::new();
    for (wants, bytes) in Wants::ALL.iter().zip(&mut bytes) {
        let (sample, run) = Sample::take(server, &wants.path(), Pace::Fast, 0)?;
        *bytes = sample.drained.bytes;
        last = run;
    }
    Ok((bytes, last))
}

/// Does something on a thread of its own, as it is done again in the crowd.
fn alone<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    thread::scope(|scope| {
        let thread = scope.spawn(work);
        thread.join().map_err(|_| Error::new("the prober's thread panicked"))?
    })
}

/// Lets the crowd in while somebody goes on asking for small things.
fn watched(
    address: &str,
    probe: impl FnOnce(&AtomicBool) -> Result<Probed> + Send,
) -> Result<(Crowd, Probed)> {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let prober = scope.spawn(|| probe(&over));
        let crowd = guests::let_in(address);
        over.store(true, Ordering::Relaxed);
        let probed = prober.join().map_err(|_| Error::new("the prober's thread panicked"))?;
        Ok((crowd?, probed?))
    })
}
