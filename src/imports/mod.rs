//! Imports: headings → typed cells → rows of a table.
//!
//! The walk: an upload that is whole → what is known of its key → place in the queue → run begun →
//! permit → header → every cell checked, and staged → what is wrong between rows → one merge with the
//! note that it was done → what it came to. Knows no HTTP.

mod back;
mod blank;
pub mod cells;
mod check;
mod checker;
mod demands;
mod faults;
mod going;
pub mod headers;
mod inspect;
mod outcome;
mod rejects;
mod request;
mod view;
mod walk;
mod workers;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;
use serde_json::Value as Json;

pub use back::hand_back;
pub use blank::template;
pub use faults::Fault;
pub use going::{Begun, Going, Imported, Over};
pub use inspect::{Inspection, MissingColumn, SeenColumn, SeenRow, SeenSheet};
pub use outcome::{LISTED, Note, Outcome, RowProblem};
pub use rejects::{Heading, Rejects};
pub use request::{Asked, OnProblem};
pub use view::{ImportColumnView, ImportView};
pub use workers::Workers;

use self::walk::Walk;
use crate::access::Caller;
use crate::database::Database;
use crate::definitions::{Folder, Import, InForce, there_are};
use crate::error::{Error, Result};
use crate::runs::{self, Ended, Permits, Run, RunError, Runs};
use crate::sheets::{Limits, Reader};
use crate::spool::Spool;

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
    /// The threads that they are done on.
    pub workers: Workers,
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
                let known = self.list(caller);
                let known = there_are(known.iter().map(|import| import.name.as_str()));
                format!("there is no import \"{name}\"; {known}")
            })
        })
    }

    fn database(&self, import: &Import) -> Result<&Database> {
        let name = import.database.as_deref().unwrap_or_default();
        self.databases.get(name).ok_or_else(|| {
            Error::internal("opening an import", format!("no database is configured as \"{name}\""))
        })
    }

    fn walk(&self, run: &Run, import: Arc<Import>, asked: Asked, caller: &Caller) -> Result<Walk> {
        let held_to = held_to(&import, caller);
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

/// For each field, the values that alone may stand in it for this caller.
fn held_to(import: &Import, caller: &Caller) -> Vec<Option<Vec<String>>> {
    let mut held_to = vec![None; import.fields.len()];
    for (dimension, values) in &caller.scopes {
        let field = import.scope.get(dimension).and_then(|key| import.field(key));
        // Without such a field the caller does not see the import at all.
        if let Some(field) = field {
            held_to[field] = Some(values.iter().cloned().collect());
        }
    }
    held_to
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
