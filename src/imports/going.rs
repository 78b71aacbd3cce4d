//! An import from the moment it is asked for to its end: whether it was done before, its run, its
//! permit, and who may stop it.

use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tracing::Instrument;
use uuid::Uuid;

use super::walk::{Spent, Walk};
use super::workers::Workers;
use super::{Asked, Imports, OnProblem, Outcome, ended, rejected};
use crate::access::Caller;
use crate::database;
use crate::definitions::Import;
use crate::error::{Error, Result};
use crate::runs::{
    self, Begin, Known, Progress, Refused, Repeatable, Run, RunKind, State, Stop, StopOnDrop,
    still_running, used_otherwise,
};
use crate::spool::Upload;

/// An import that is over, or was over before.
#[derive(Debug)]
pub struct Imported {
    /// The run that did it.
    pub run: Uuid,
    /// What it came to.
    pub outcome: Outcome,
}

/// An import that was asked for.
#[derive(Debug)]
pub enum Begun {
    /// It goes on from now.
    Now(Going),
    /// The same was asked for before, and is over.
    Before(Over),
}

/// An import that goes on; stopped when dropped, unless it is committed already.
#[derive(Debug)]
pub struct Going {
    run: Uuid,
    progress: Arc<Progress>,
    task: JoinHandle<Result<Outcome>>,
    guard: StopOnDrop,
}

/// An import that was over before.
#[derive(Debug)]
pub struct Over {
    /// The run that did it.
    pub run: Uuid,
    /// What it came to; [`Error::Rejected`] where it stored nothing.
    pub ended: Result<Outcome>,
}

impl Begun {
    /// Waits for its end, or gives the first answer again.
    ///
    /// When whoever waits goes away meanwhile, it is stopped unless it is committed already.
    ///
    /// # Errors
    /// [`Error::Rejected`] with what it came to where rows have problems; everything else that can
    /// be refused.
    pub async fn end(self) -> Result<Imported, Refused> {
        match self {
            Self::Now(going) => going.end().await,
            Self::Before(Over { run, ended }) => told(run, ended),
        }
    }
}

impl Going {
    /// Its run.
    #[must_use]
    pub fn run(&self) -> Uuid {
        self.run
    }

    /// How far it is.
    #[must_use]
    pub fn progress(&self) -> &Arc<Progress> {
        &self.progress
    }

    /// Its stop token.
    #[must_use]
    pub fn stop(&self) -> &Stop {
        &self.guard.0
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// As [`Begun::end`].
    pub async fn end(self) -> Result<Imported, Refused> {
        let Self { run, task, guard: _guard, .. } = self;
        let ended = task.await.map_err(|source| Error::internal("waiting for an import", source));
        told(run, ended.and_then(|ended| ended))
    }

    /// Lets it go on by itself, whoever leaves; how it ends is told by its run.
    pub fn let_go(self) {
        self.guard.disarm();
    }
}

fn told(run: Uuid, ended: Result<Outcome>) -> Result<Imported, Refused> {
    match ended {
        Ok(outcome) => Ok(Imported { run, outcome }),
        Err(error) => Err(Refused { error, run: Some(run) }),
    }
}

impl Imports {
    /// Begins to import a file that is here as a whole, unless that was done before.
    ///
    /// # Errors
    /// What can be refused before it is somebody's turn: [`Error::Busy`] where too many wait
    /// already, [`Error::Conflict`] while the same is going on, [`Error::Unavailable`].
    pub async fn begin(
        &self,
        import: Arc<Import>,
        asked: Asked,
        upload: Upload,
        caller: &Caller,
        repeatable: Option<Repeatable>,
    ) -> Result<Begun, Refused> {
        let earlier = match &repeatable {
            None => None,
            Some(repeatable) => match self.runs.known(repeatable).await? {
                Known::New => None,
                Known::Run(run) => match self.answered(&import, &run, asked.dry_run).await? {
                    Some(over) => return Ok(Begun::Before(over)),
                    None => Some(run),
                },
                Known::Other(run) if self.died(&import, &run, asked.dry_run).await? => Some(run),
                Known::Other(_) => return Err(used_otherwise().into()),
            },
        };
        // Before the run is written down, which may take one request longer than the next.
        let arrived = self.permits.arrive();
        let params = asked.params();
        let begin =
            Begin { kind: RunKind::Import, name: &import.name, caller: &caller.name, params };
        let run = self.runs.begin(begin).await?;
        let id = run.id();
        let refused =
            async |run: Run, error| Refused { error: run.refuse(error).await, run: Some(id) };
        if let Some(repeatable) = &repeatable
            && let Err(error) = self.runs.claim(repeatable, &run, earlier.as_deref()).await
        {
            return Err(refused(run, error).await);
        }
        let (place, walk) = match (arrived, self.walk(&run, import, asked, caller)) {
            (Ok(place), Ok(walk)) => (place, walk),
            (Err(error), _) | (_, Err(error)) => return Err(refused(run, error).await),
        };
        let guard = StopOnDrop(run.stop().clone());
        let progress = Arc::clone(run.progress());
        let workers = self.workers.clone();
        // A task of its own, so that what was committed is written down as such, whoever has left.
        let work = async move {
            match run.permitted(Ok(place)).await {
                Ok(permit) => {
                    let done = at_work(run, walk, upload, &workers).await;
                    drop(permit);
                    done
                }
                Err(error) => Err(run.refuse(error).await),
            }
        };
        let task = tokio::spawn(work.instrument(tracing::Span::current()));
        Ok(Begun::Now(Going { run: id, progress, task, guard }))
    }

    /// Whether an earlier run ended without an answer that could be given again, and stored nothing.
    async fn died(&self, import: &Import, run: &str, trial: bool) -> Result<bool, Refused> {
        let dead = match self.runs.get(run, None).await {
            Ok(view) => {
                let lost = view.error.is_some_and(|error| {
                    ["node_lost", "shutting_down"].contains(&error.code.as_str())
                });
                view.state == State::Cancelled || lost
            }
            Err(Error::NotFound(_)) => false,
            Err(error) => return Err(error.into()),
        };
        Ok(dead && self.answered(import, run, trial).await?.is_none())
    }

    /// What an earlier request came to; nothing where it died without storing anything.
    async fn answered(
        &self,
        import: &Import,
        run: &str,
        trial: bool,
    ) -> Result<Option<Over>, Refused> {
        let Ok(id) = Uuid::parse_str(run) else { return Ok(None) };
        let view = match self.runs.get(run, None).await {
            Ok(view) => view,
            // A trial is never committed, and leaves no trace of having been looked for either.
            Err(Error::NotFound(_)) if trial => return Ok(None),
            Err(Error::NotFound(_)) => return self.noted(import, id).await,
            Err(error) => return Err(error.into()),
        };
        if !view.state.is_final() {
            return Err(still_running().into());
        }
        let outcome = view.result.and_then(|result| serde_json::from_value(result).ok());
        match (view.state, outcome) {
            (State::Complete, Some(outcome)) => Ok(Some(Over { run: id, ended: Ok(outcome) })),
            (State::Failed, Some(outcome)) => {
                Ok(Some(Over { run: id, ended: Err(rejected(outcome)) }))
            }
            _ if trial => Ok(None),
            _ => self.noted(import, id).await,
        }
    }

    /// What a run came to that was committed and could not say so.
    async fn noted(&self, import: &Import, run: Uuid) -> Result<Option<Over>, Refused> {
        let database = self.database(import)?.clone();
        let looking =
            tokio::task::spawn_blocking(move || database::committed(&database, &run.to_string()));
        let note =
            looking.await.map_err(|source| Error::internal("looking up a note", source))??;
        // A note that cannot be read is no import that may be done again.
        let outcome = note.map(|note| serde_json::from_str(&note)).transpose();
        let outcome: Option<Outcome> =
            outcome.map_err(|source| Error::internal("reading a note", source))?;
        if let Some(outcome) = &outcome
            && let Err(error) =
                self.runs.complete_after_all(run, super::ended(outcome, false)).await
        {
            tracing::warn!(%run, %error, "a run that was committed still counts as failed");
        }
        Ok(outcome.map(|outcome| Over { run, ended: Ok(outcome) }))
    }
}

/// Does the work on a thread that may block, and writes down how it ended.
async fn at_work(run: Run, walk: Walk, upload: Upload, workers: &Workers) -> Result<Outcome> {
    let refuses = walk.asked.on_problem == OnProblem::Reject;
    let (said, heard) = oneshot::channel();
    let (span, runtime) = (tracing::Span::current(), Handle::current());
    let done = workers.run(move || {
        let _entered = span.enter();
        // Pools of connections are made in a runtime alone.
        let _runtime = runtime.enter();
        let mut spent = Spent::default();
        let done = walk.go(upload.path(), &mut spent);
        drop(upload);
        let _ = said.send((done, spent));
    });
    let done = match done {
        Ok(()) => heard.await.map_err(|source| Error::internal("importing a file", source)),
        Err(error) => Err(error),
    };
    let (done, spent) = match done {
        Ok(done) => done,
        Err(error) => return Err(run.refuse(error).await),
    };
    let timings = spent.timings(run.at_work());
    let outcome = match done {
        Ok(outcome) => outcome,
        Err(error) => return Err(run.refuse_after(timings, error).await),
    };
    let refused = refuses && outcome.rejected > 0;
    let written = run.finish(runs::Outcome { timings, ..ended(&outcome, refused) }).await;
    match written {
        _ if refused => Err(rejected(outcome)),
        // What was stored is stored, and says so, also where its run could not be told.
        _ if outcome.stored => Ok(outcome),
        written => written.map(|()| outcome),
    }
}
