//! Imports: headings → typed cells → rows of a table.
//!
//! The walk: an upload that is whole → what is known of its key → place in the queue → run begun →
//! permit → header → every cell checked, and staged → what is wrong between rows → one merge with the
//! note that it was done → what it came to. Knows no HTTP.

mod back;
mod blank;
pub mod cells;
mod checker;
mod faults;
pub mod headers;
mod outcome;
mod rejects;
mod request;
mod view;
mod walk;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;
use serde_json::Value as Json;
use tracing::Instrument;
use uuid::Uuid;

pub use back::hand_back;
pub use blank::template;
pub use faults::Fault;
pub use outcome::{LISTED, Note, Outcome, RowProblem};
pub use rejects::{Heading, Rejects};
pub use request::{Asked, OnProblem};
pub use view::{ImportColumnView, ImportView};

use self::walk::Walk;
use crate::access::Caller;
use crate::database::{self, Database};
use crate::definitions::{Folder, Import, InForce};
use crate::error::{Error, Result};
use crate::runs::{
    self, Begin, Ended, Known, Permits, Repeatable, Run, RunError, RunKind, Runs, StopOnDrop,
    still_running,
};
use crate::sheets::{Limits, Reader};
use crate::spool::{Spool, Upload};

/// The definitions that come with the program.
pub const BUILT_IN: &[(&str, &str)] = &[("payments", include_str!("payments.toml"))];

/// How long a spreadsheet may take to be read.
const READING: Duration = Duration::from_mins(30);

/// What imports are made with.
pub struct Imports {
    /// The definitions in force.
    pub definitions: InForce,
    /// Databases by name, the main one under the empty name.
    pub databases: BTreeMap<String, Database>,
    /// The registry of runs.
    pub runs: Runs,
    /// Imports at once, together with files being built.
    pub permits: Permits,
    /// Where files lie.
    pub spool: Spool,
    /// Our own binary, which reads spreadsheets as a child.
    pub program: PathBuf,
    /// How much an upload may hold.
    pub uploads: crate::config::Uploads,
    /// The zone of times that are written without one.
    pub zone: TimeZone,
}

/// An import that is over, or was over before.
#[derive(Debug)]
pub struct Imported {
    /// The run that did it.
    pub run: Uuid,
    /// What it came to.
    pub outcome: Outcome,
}

/// A refusal, with the run that it ended where one had begun.
#[derive(Debug)]
pub struct Refused {
    /// Why.
    pub error: Error,
    /// The run, which is finished.
    pub run: Option<Uuid>,
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self { error, run: None }
    }
}

impl Imports {
    /// The imports that this caller may see, by name.
    #[must_use]
    pub fn list(&self, caller: &Caller) -> Vec<Arc<Import>> {
        let definitions = self.definitions.get();
        definitions.imports.values().filter(|import| import.accessible(caller)).cloned().collect()
    }

    /// One import.
    ///
    /// # Errors
    /// [`Error::NotFound`], also where the caller's scope does not reach it.
    pub fn find(&self, name: &str, caller: &Caller) -> Result<Arc<Import>> {
        let definitions = self.definitions.get();
        let found = definitions.imports.get(name).filter(|import| import.accessible(caller));
        found.cloned().ok_or_else(|| {
            Error::NotFound(if definitions.is_at_fault(Folder::Imports, name) {
                format!(
                    "the definition of the import \"{name}\" is at fault; whoever runs the server \
                     finds out with `tallyroll check`"
                )
            } else {
                format!(
                    "there is no import \"{name}\"; GET /api/v1/imports lists the ones there are"
                )
            })
        })
    }

    fn database(&self, import: &Import) -> Result<&Database> {
        let name = import.database.as_deref().unwrap_or_default();
        self.databases.get(name).ok_or_else(|| {
            Error::internal("opening an import", format!("no database is configured as \"{name}\""))
        })
    }

    /// Imports a file that is here as a whole, or gives the first answer to it again.
    ///
    /// When the caller goes away meanwhile, the import is stopped unless it is committed already.
    ///
    /// # Errors
    /// [`Error::Rejected`] with what it came to where rows have problems; everything else that can
    /// be refused.
    pub async fn import(
        self: &Arc<Self>,
        import: Arc<Import>,
        asked: Asked,
        upload: Upload,
        caller: &Caller,
        repeatable: Option<Repeatable>,
    ) -> Result<Imported, Refused> {
        let earlier = match &repeatable {
            None => None,
            Some(repeatable) => match self.runs.known(repeatable).await? {
                Known::New => None,
                Known::Run(run) => match self.answered(&import, &run).await? {
                    Some(imported) => return Ok(imported),
                    None => Some(run),
                },
            },
        };
        // Before the run is written down, which may take one request longer than the next.
        let arrived = self.permits.arrive();
        let params = asked.params();
        let begin =
            Begin { kind: RunKind::Import, name: &import.name, caller: &caller.name, params };
        let run = self.runs.begin(begin).await?;
        let id = run.id();
        let refused = |error| Refused { error, run: Some(id) };
        if let Some(repeatable) = &repeatable
            && let Err(error) = self.runs.claim(repeatable, &run, earlier.as_deref()).await
        {
            return Err(refused(end(run, error).await));
        }
        let _guard = StopOnDrop(run.stop().clone());
        let walk = self.walk(&run, import, asked, caller).map_err(refused)?;
        // A task of its own, so that what was committed is written down as such, whoever has left.
        let work = async move {
            match run.permitted(arrived).await {
                Ok(permit) => {
                    let done = at_work(run, walk, upload).await;
                    drop(permit);
                    done
                }
                Err(error) => Err(end(run, error).await),
            }
        };
        let task = tokio::spawn(work.instrument(tracing::Span::current()));
        let done = task.await.map_err(|source| Error::internal("waiting for an import", source))?;
        done.map(|outcome| Imported { run: id, outcome }).map_err(refused)
    }

    /// What an earlier request came to; nothing where it died without storing anything.
    async fn answered(&self, import: &Import, run: &str) -> Result<Option<Imported>, Refused> {
        let Ok(id) = Uuid::parse_str(run) else { return Ok(None) };
        let view = match self.runs.get(run, None).await {
            Ok(view) => view,
            Err(Error::NotFound(_)) => return self.noted(import, id).await,
            Err(error) => return Err(error.into()),
        };
        if !view.state.is_final() {
            return Err(still_running().into());
        }
        let outcome = view.result.and_then(|result| serde_json::from_value(result).ok());
        match (view.state, outcome) {
            (runs::State::Complete, Some(outcome)) => Ok(Some(Imported { run: id, outcome })),
            (runs::State::Failed, Some(outcome)) => {
                Err(Refused { error: rejected(outcome), run: Some(id) })
            }
            _ => self.noted(import, id).await,
        }
    }

    /// What a run came to that was committed and could not say so.
    async fn noted(&self, import: &Import, run: Uuid) -> Result<Option<Imported>, Refused> {
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
            && let Err(error) = self.runs.complete_after_all(run, ended(outcome, false)).await
        {
            tracing::warn!(%run, %error, "a run that was committed still counts as failed");
        }
        Ok(outcome.map(|outcome| Imported { run, outcome }))
    }

    fn walk(&self, run: &Run, import: Arc<Import>, asked: Asked, caller: &Caller) -> Result<Walk> {
        let mut held_to = vec![None; import.fields.len()];
        for (dimension, values) in &caller.scopes {
            let field = import.scope.get(dimension).and_then(|key| import.field(key));
            // Without such a field the caller does not see the import at all.
            if let Some(field) = field {
                held_to[field] = Some(values.iter().cloned().collect());
            }
        }
        Ok(Walk {
            run: run.id(),
            database: self.database(&import)?.clone(),
            import,
            reader: self.reader(),
            asked,
            held_to,
            zone: self.zone.clone(),
            max_rows: self.uploads.rows,
            spool: self.spool.clone(),
            stop: run.stop().clone(),
            progress: Arc::clone(run.progress()),
        })
    }

    /// What reads files within this server's limits.
    #[must_use]
    pub fn reader(&self) -> Reader {
        let limits = Limits {
            columns: self.uploads.columns,
            text: self.uploads.text,
            inflated: self.uploads.inflated,
            time: READING,
        };
        Reader { program: self.program.clone(), limits }
    }
}

/// Does the work on a thread that may block, and writes down how it ended.
async fn at_work(run: Run, walk: Walk, upload: Upload) -> Result<Outcome> {
    let refuses = walk.asked.on_problem == OnProblem::Reject;
    let walking = tokio::task::spawn_blocking(move || {
        let done = walk.go(upload.path());
        drop(upload);
        done
    });
    let done = walking.await.map_err(|source| Error::internal("importing a file", source));
    let outcome = match done.and_then(|done| done) {
        Ok(outcome) => outcome,
        Err(error) => return Err(end(run, error).await),
    };
    let refused = refuses && outcome.rejected > 0;
    let written = run.finish(ended(&outcome, refused)).await;
    match written {
        _ if refused => Err(rejected(outcome)),
        // What was stored is stored, and says so, also where its run could not be told.
        _ if outcome.stored => Ok(outcome),
        written => written.map(|()| outcome),
    }
}

/// How a run ends that went the whole way.
fn ended(outcome: &Outcome, refused: bool) -> runs::Outcome {
    let error = refused.then(|| {
        Ended::Failed(RunError {
            code: "import_rejected".into(),
            detail: rejected_in_words(outcome),
        })
    });
    runs::Outcome {
        error,
        rows: outcome.rows_read,
        result: serde_json::to_value(outcome).ok(),
        ..runs::Outcome::default()
    }
}

fn rejected_in_words(outcome: &Outcome) -> String {
    let Outcome { rejected, rows_read, run_id, .. } = outcome;
    let rows = if *rows_read == 1 { "row" } else { "rows" };
    let have = if *rejected == 1 { "has" } else { "have" };
    format!(
        "{rejected} of {rows_read} {rows} {have} problems; nothing was stored. Mend them and upload the \
         file again: GET /api/v1/runs/{run_id}/problems hands the rows back with what is wrong"
    )
}

fn rejected(outcome: Outcome) -> Error {
    let detail = rejected_in_words(&outcome);
    let report = serde_json::to_value(outcome).unwrap_or(Json::Null);
    Error::Rejected { detail, report: Box::new(report) }
}

/// Ends a run with an error, which is given back.
async fn end(run: Run, error: Error) -> Error {
    match &error {
        Error::Cancelled => tracing::info!(run = %run.id(), "an import was cancelled"),
        error => tracing::warn!(run = %run.id(), %error, "a run failed"),
    }
    if let Err(unwritten) = run.finish(runs::Outcome::ended(Ended::by(&error))).await {
        tracing::warn!(error = %unwritten, "the end of an import could not be written down");
    }
    error
}
