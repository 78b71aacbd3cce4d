//! Runs: everything long that goes on, its progress, its end, and who may stop it.
//!
//! A run is begun before its permit is asked for and finished exactly once. Its stop token is read by
//! all who work for it. A run that is dropped unfinished (its future was cancelled, its thread
//! panicked) hands its last word to one finisher task, for nothing is written in a `Drop`.
//! This module knows no feature.

mod again;
mod nodes;
mod permits;
mod progress;
mod refused;
mod stop;
mod store;
mod view;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sea_orm::DatabaseConnection;
use sea_orm::prelude::DateTimeUtc;
use serde_json::Value as Json;
use tokio::sync::mpsc;
use uuid::Uuid;

pub use again::{Known, Repeatable, still_running, used_otherwise};
pub use permits::{Permit, Permits, Place, QueuePlace};
pub use progress::Progress;
pub use refused::Refused;
pub use stop::{Reason, Stop, StopOnDrop};
pub(crate) use store::away;
pub use store::{Page, Search};
pub use view::{RunError, RunKind, RunView, State, Timings};

use crate::error::{Error, Result};
use crate::rows::Warning;

/// Tells the time; given, so that tests need not sleep.
pub type Clock = Arc<dyn Fn() -> DateTimeUtc + Send + Sync>;

/// The registry of runs of one process, over the state that all processes share.
#[derive(Clone)]
pub struct Runs(Arc<Registry>);

struct Registry {
    state: DatabaseConnection,
    /// The same for whoever looks at runs, so that he need not wait behind those who begin and end
    /// them.
    reads: DatabaseConnection,
    node: String,
    clock: Clock,
    keep: Duration,
    retired: AtomicBool,
    live: Mutex<HashMap<Uuid, Arc<Live>>>,
    words: mpsc::UnboundedSender<Word>,
}

/// What the process that does a run knows of it.
#[derive(Debug)]
struct Live {
    progress: Arc<Progress>,
    stop: Stop,
    started: Mutex<Option<Started>>,
}

#[derive(Debug, Clone, Copy)]
struct Started {
    at: DateTimeUtc,
    instant: Instant,
    queue_ms: u64,
}

/// What is written down later, by the finisher.
enum Word {
    /// The end of a run that was dropped, or whose end the state did not take.
    Last { id: Uuid, outcome: Outcome },
    /// Bytes of a run's file that were fetched.
    Fetched { id: Uuid, bytes: u64 },
}

/// What a run is begun with.
#[derive(Debug, Clone)]
pub struct Begin<'a> {
    /// What it does.
    pub kind: RunKind,
    /// The definition's name.
    pub name: &'a str,
    /// Who asked.
    pub caller: &'a str,
    /// What it was asked with.
    pub params: Json,
}

/// How a run ended.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// Nothing for a complete run.
    pub error: Option<Ended>,
    /// Rows encoded.
    pub rows: u64,
    /// Bytes encoded, before content coding.
    pub bytes: u64,
    /// Of the encoded bytes, where they are whole.
    pub sha256: Option<String>,
    /// Where the time went; `queue` is filled in by the run itself.
    pub timings: Timings,
    /// What was noticed and is no failure.
    pub warnings: Vec<Warning>,
    /// What it has to say besides its rows.
    pub result: Option<Json>,
}

/// How a run ended that is not complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// By its caller, or because the client left.
    Cancelled,
    /// By a failure.
    Failed(RunError),
}

impl Ended {
    /// How a run ends that met this error.
    #[must_use]
    pub fn by(error: &Error) -> Self {
        match error {
            Error::Cancelled => Self::Cancelled,
            other => Self::Failed(RunError { code: other.code().into(), detail: other.detail() }),
        }
    }
}

impl Outcome {
    fn state(&self) -> State {
        match &self.error {
            None => State::Complete,
            Some(Ended::Cancelled) => State::Cancelled,
            Some(Ended::Failed(_)) => State::Failed,
        }
    }

    /// The outcome of a run that an error ended before it did anything; where it has several faults to
    /// tell, they are its result.
    #[must_use]
    pub fn by(error: &Error) -> Self {
        let result = match error {
            Error::Malformed(problems) | Error::Invalid(problems) if problems.len() > 1 => {
                serde_json::to_value(problems)
                    .ok()
                    .map(|all| serde_json::json!({ "problems": all }))
            }
            _ => None,
        };
        Self { result, ..Self::ended(Ended::by(error)) }
    }

    /// The outcome of a run that ended before it did anything.
    #[must_use]
    pub fn ended(by: Ended) -> Self {
        Self { error: Some(by), ..Self::default() }
    }
}

/// One run, held by whoever does it.
pub struct Run {
    runs: Runs,
    id: Uuid,
    live: Arc<Live>,
    begun: Instant,
    finished: bool,
}

impl Runs {
    /// Registers this process in the state and starts its heartbeat and its finisher. Finished runs
    /// are forgotten `keep` after they were begun. `reads` is the same database as `state`.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where the state cannot be written.
    pub async fn start(
        state: DatabaseConnection,
        reads: DatabaseConnection,
        clock: Clock,
        keep: Duration,
    ) -> Result<Self> {
        let (speaker, words) = mpsc::unbounded_channel();
        let runs = Self(Arc::new(Registry {
            node: Uuid::now_v7().to_string(),
            state,
            reads,
            clock,
            keep,
            retired: AtomicBool::new(false),
            live: Mutex::default(),
            words: speaker,
        }));
        runs.register_node().await?;
        tokio::spawn(store::finisher(Arc::downgrade(&runs.0), words));
        tokio::spawn(nodes::heartbeat(Arc::downgrade(&runs.0)));
        Ok(runs)
    }

    /// Begins a run: from now on it can be looked at and stopped.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where the state cannot be written.
    pub async fn begin(&self, begin: Begin<'_>) -> Result<Run> {
        let id = Uuid::now_v7();
        let (runs, row) = (self.clone(), self.new_row(id, begin));
        // Not before the row's own time, so that nothing is seen to start before it was created.
        let asked = Instant::now();
        // A task of its own, which a client that leaves meanwhile does not cut: the row is either
        // not written, or belongs to a run whose drop will end it.
        let task = tokio::spawn(async move {
            runs.insert(row).await?;
            Ok(runs.take_up(id, asked))
        });
        task.await.map_err(|source| Error::internal("beginning a run", source))?
    }

    fn take_up(self, id: Uuid, begun: Instant) -> Run {
        let live = Arc::new(Live {
            progress: Arc::default(),
            stop: Stop::new(),
            started: Mutex::default(),
        });
        self.live().insert(id, Arc::clone(&live));
        Run { runs: self, id, live, begun, finished: false }
    }

    /// Notes that bytes of a finished run's file were handed to a client.
    pub fn fetched(&self, id: Uuid, bytes: u64) {
        let _ = self.0.words.send(Word::Fetched { id, bytes });
    }

    /// How many runs go on in this process.
    #[must_use]
    pub fn going_on(&self) -> usize {
        self.live().len()
    }

    /// Stops everything that goes on in this process.
    pub fn stop_all(&self, reason: Reason) {
        for live in self.live().values() {
            live.stop.fire(reason);
        }
    }

    fn live(&self) -> std::sync::MutexGuard<'_, HashMap<Uuid, Arc<Live>>> {
        self.0.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Run {
    /// Its id.
    #[must_use]
    pub fn id(&self) -> Uuid {
        self.id
    }

    /// Its stop token.
    #[must_use]
    pub fn stop(&self) -> &Stop {
        &self.live.stop
    }

    /// Its counters.
    #[must_use]
    pub fn progress(&self) -> &Arc<Progress> {
        &self.live.progress
    }

    /// Waits for its permit, which everybody sees meanwhile, and notes that it is at work.
    ///
    /// # Errors
    /// The refusal of its arrival; [`Error::Busy`] where it waited too long; its stop's error.
    pub async fn permitted(&self, arrived: Result<Place>) -> Result<Permit> {
        let place = arrived?;
        self.live.progress.waits(place.ticket());
        let permit = place.permit(self.stop()).await?;
        // From when it had its permit, whenever it came to notice.
        self.started_ago(permit.age());
        Ok(permit)
    }

    /// Notes that it is at work.
    pub fn started(&self) {
        self.started_ago(Duration::ZERO);
    }

    fn started_ago(&self, ago: Duration) {
        let ago = ago.min(self.begun.elapsed());
        let started = Started {
            at: (self.runs.0.clock)() - ago,
            instant: Instant::now().checked_sub(ago).unwrap_or(self.begun),
            queue_ms: millis(self.begun.elapsed().saturating_sub(ago)),
        };
        *self.live.started.lock().unwrap_or_else(PoisonError::into_inner) = Some(started);
    }

    /// How long it has been at work.
    #[must_use]
    pub fn at_work(&self) -> Duration {
        let started = *self.live.started.lock().unwrap_or_else(PoisonError::into_inner);
        started.map_or(Duration::ZERO, |started| started.instant.elapsed())
    }

    /// The outcome of a run that never began its work, with all its time as waiting.
    fn with_wait(&self, mut outcome: Outcome) -> Outcome {
        if self.live.started.lock().unwrap_or_else(PoisonError::into_inner).is_none() {
            outcome.timings.queue = millis(self.begun.elapsed());
        }
        outcome
    }

    /// Writes its end. The run is over for everybody once this returns.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where the state cannot be written, and the finisher goes on trying, or
    /// where the run has been given up by the other processes, which took this one for dead.
    pub async fn finish(mut self, outcome: Outcome) -> Result<()> {
        let outcome = self.with_wait(outcome);
        let written = self.runs.write_end(self.id, &self.live, &outcome).await;
        // Not before: a caller that is cancelled while it waits leaves the last word to the drop.
        self.finished = true;
        if written.is_err() {
            let word = Word::Last { id: self.id, outcome: unrecorded(outcome) };
            let _ = self.runs.0.words.send(word);
        } else {
            self.runs.live().remove(&self.id);
        }
        if written? { Ok(()) } else { Err(given_up()) }
    }
}

fn given_up() -> Error {
    Error::Unavailable {
        code: "node_lost",
        detail: "this process was taken for dead and its run given up; ask for it again".into(),
        source: None,
    }
}

/// An answer whose completeness could not be written down is broken off, and so not complete.
fn unrecorded(outcome: Outcome) -> Outcome {
    let error = outcome.error.unwrap_or_else(|| {
        Ended::Failed(RunError {
            code: "state_unavailable".into(),
            detail: "the end of the run could not be written down, so its answer was broken off"
                .into(),
        })
    });
    Outcome { error: Some(error), sha256: None, ..outcome }
}

impl Drop for Run {
    fn drop(&mut self) {
        if self.finished {
            return;
        }
        let ended = match self.live.stop.reason() {
            // Nobody works for it any more and nobody stopped it: its client hung up before it was
            // handed over.
            None => {
                self.live.stop.fire(Reason::ClientLeft);
                Ended::Cancelled
            }
            Some(reason) => Ended::by(&reason.error()),
        };
        let outcome = self.with_wait(Outcome {
            rows: self.live.progress.rows(),
            bytes: self.live.progress.bytes(),
            ..Outcome::ended(ended)
        });
        let _ = self.runs.0.words.send(Word::Last { id: self.id, outcome });
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
