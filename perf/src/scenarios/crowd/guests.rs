//! Three hundred requests at once, each on a thread that mostly sleeps in the kernel.
//!
//! The client shares its cores with the server, which it would not do elsewhere. So its threads give
//! way: they are made by one that has made itself nicer, and inherit that.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use crate::client::{self, Answer, Pace};
use crate::error::{Error, Result};
use crate::settlements::REPORT;
use crate::thread::be_nice;

/// How many come at once.
pub(super) const GUESTS: usize = 300;
/// Every so many-th wants a workbook.
pub(super) const BOOK_EVERY: usize = 10;
/// Rows of each answer, where there are as many.
pub(super) const ROWS: u64 = 20_000;
/// How much nicer than anybody else the readers are.
pub(super) const NICENESS: &str = "10";
const STACK: usize = 128 << 10;

/// What a guest asks for, and so which permit he needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wants {
    /// Rows as they come.
    Stream,
    /// A file that is built first.
    Book,
}

/// How a guest was answered.
#[derive(Debug)]
pub(super) enum Fate {
    /// With all of it.
    Served(Served),
    /// With a 429: the seconds after which to come again, where it said so.
    Refused(Option<u64>),
    /// With anything else.
    Spoilt(String),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Served {
    /// Line ends, for rows as they come.
    pub(super) lines: u64,
    pub(super) bytes: u64,
}

/// A guest who has left.
#[derive(Debug)]
pub(super) struct Guest {
    pub(super) wants: Wants,
    /// The id of his run, where the answer named one.
    pub(super) run: Option<String>,
    /// From before the connection was opened until he was refused, or until his answer was begun to
    /// be made.
    pub(super) waited: Duration,
    pub(super) fate: Fate,
}

/// What all of them took.
#[derive(Debug)]
pub(super) struct Crowd {
    pub(super) guests: Vec<Guest>,
    /// From when they were let go until the last had left.
    pub(super) whole: Duration,
    /// Whether they gave way to everybody else.
    pub(super) nicer: bool,
}

impl Wants {
    pub(super) const ALL: [Self; 2] = [Self::Stream, Self::Book];

    const fn of(place: usize) -> Self {
        if place % BOOK_EVERY == BOOK_EVERY / 2 { Self::Book } else { Self::Stream }
    }

    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Stream => "streams",
            Self::Book => "builds",
        }
    }

    /// What is asked for, below `/api/v1`.
    pub(super) fn path(self) -> String {
        let format = match self {
            Self::Stream => "ndjson",
            Self::Book => "xlsx",
        };
        format!("{REPORT}/rows?format={format}&limit={ROWS}")
    }
}

/// Lets all of them go at once, and waits until the last has left.
///
/// # Errors
/// A thread that cannot be started.
pub(super) fn let_in(address: &str) -> Result<Crowd> {
    let together = Barrier::new(GUESTS + 1);
    thread::scope(|scope| {
        let host = scope.spawn(|| {
            let nicer = be_nice(NICENESS)?;
            let guest = |place: usize| {
                let together = &together;
                let thread = thread::Builder::new().stack_size(STACK);
                thread.spawn_scoped(scope, move || {
                    together.wait();
                    Guest::visit(address, Wants::of(place))
                })
            };
            let started: std::io::Result<Vec<_>> = (0..GUESTS).map(guest).collect();
            // Those that wait for one who never comes would wait for ever.
            let started = started.unwrap_or_else(|error| {
                eprintln!("{GUESTS} threads cannot be started: {error}");
                std::process::exit(1)
            });
            let begun = Instant::now();
            together.wait();
            let guests = started.into_iter().map(thread::ScopedJoinHandle::join);
            let guests: thread::Result<_> = guests.collect();
            let guests = guests.map_err(|_| Error::new("a reader's thread panicked"))?;
            Ok(Crowd { guests, whole: begun.elapsed(), nicer })
        });
        host.join().map_err(|_| Error::new("the readers' thread panicked"))?
    })
}

impl Guest {
    fn visit(address: &str, wants: Wants) -> Self {
        let answer = match client::ask(address, "GET", &format!("/api/v1{}", wants.path())) {
            Ok(answer) => answer,
            Err(error) => {
                let fate = Fate::Spoilt(error.to_string());
                return Self { wants, run: None, waited: Duration::ZERO, fate };
            }
        };
        let run = answer.header("x-run-id").map(str::to_owned);
        let waited = answer.waited.saturating_sub(time_of_first(&answer));
        Self { wants, run, waited, fate: Fate::of(answer) }
    }
}

/// How long an answer was made before its head left, by `Server-Timing`.
fn time_of_first(answer: &Answer) -> Duration {
    let timing = answer.header("server-timing").unwrap_or_default();
    let first = timing.split(',').find_map(|one| one.trim().strip_prefix("first;dur="));
    let millis: f64 = first.and_then(|millis| millis.parse().ok()).unwrap_or(0.0);
    Duration::from_secs_f64(millis.max(0.0) / 1_000.0)
}

impl Fate {
    fn of(answer: Answer) -> Self {
        match answer.status() {
            Some("200") => {
                let mut lines = 0;
                let drained = answer.drain(Pace::Fast, &mut |data| lines += line_ends(data));
                match drained {
                    Ok(drained) => Self::Served(Served { lines, bytes: drained.bytes }),
                    Err(error) => Self::Spoilt(error.to_string()),
                }
            }
            Some("429") => {
                let seconds = answer.header("retry-after");
                Self::Refused(seconds.and_then(|seconds| seconds.parse().ok()))
            }
            status => Self::Spoilt(format!("status {}", status.unwrap_or("none"))),
        }
    }
}

fn line_ends(data: &[u8]) -> u64 {
    data.iter().map(|byte| u64::from(*byte == b'\n')).sum()
}
