//! Reports: the rows of a definition, how many there are, and files of them.
//!
//! The walk: definition and typed filters within the caller's scope → place in the queue → run begun
//! → permit → statement → first batch, the last moment for a clean refusal → pump → outlet. Knows no
//! HTTP.

mod answers;
mod check;
mod request;
mod view;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub use answers::{Opened, Paged, Prepared};
pub use request::{Asked, PAGE, Request, Wanted};
pub use view::{ColumnView, FilterView, ReportView};

use crate::access::Caller;
use crate::database::Database;
use crate::definitions::{self, Definitions, Filters, Folder, InForce, Report, there_are};
use crate::error::{Error, Result};
use crate::formats::XlsxWriter;
use crate::rows::{RowSink, Value};
use crate::runs::{Permits, Reason, Runs, Stop, StopOnDrop};
use crate::spool::Spool;

/// The definitions that come with the program.
pub const BUILT_IN: &[(&str, &str)] = &[("settlements", include_str!("settlements.toml"))];

/// What reports are made with.
pub struct Reports {
    /// The definitions in force; read again on demand.
    definitions: InForce,
    /// Databases by name, the main one under the empty name.
    databases: BTreeMap<String, Database>,
    /// The types of orders' columns, by definition file, as far as they were asked for.
    order_types: Mutex<BTreeMap<String, Arc<[Option<String>]>>>,
    runs: Runs,
    permits: Allowed,
    spool: Spool,
    books: Books,
    limits: Limits,
}

/// How much may go on at once.
#[derive(Debug, Clone)]
pub struct Allowed {
    /// Direct streams.
    pub streams: Permits,
    /// Files being built.
    pub builds: Permits,
}

/// The limits of a report.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The longest wait for a query's first row.
    pub first_row: Duration,
    /// How long a client may take nothing.
    pub stall: Duration,
    /// Rows after which a chunk leaves.
    pub flush_rows: u64,
}

/// How workbooks are written.
#[derive(Debug, Clone)]
pub struct Books {
    /// A directory for temporary files.
    pub temp_dir: PathBuf,
    /// How hard they are compressed, 1 to 9.
    pub level: u8,
    /// What writes them.
    pub writer: XlsxWriter,
}

impl Reports {
    /// Reports over these databases.
    #[must_use]
    pub fn new(
        definitions: InForce,
        databases: BTreeMap<String, Database>,
        runs: Runs,
        permits: Allowed,
        spool: Spool,
        books: Books,
        limits: Limits,
    ) -> Self {
        let order_types = Mutex::default();
        Self { definitions, databases, order_types, runs, permits, spool, books, limits }
    }

    /// The definitions in force.
    #[must_use]
    pub fn definitions(&self) -> Arc<Definitions> {
        self.definitions.get()
    }

    /// Puts other definitions in force, for requests from now on.
    pub fn replace_definitions(&self, definitions: Definitions) {
        self.definitions.replace(definitions);
        self.order_types.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The reports that this caller may see, by name.
    #[must_use]
    pub fn list(&self, caller: &Caller) -> Vec<Arc<Report>> {
        let definitions = self.definitions();
        definitions.reports.values().filter(|report| report.accessible(caller)).cloned().collect()
    }

    /// One report.
    ///
    /// # Errors
    /// [`Error::NotFound`], also where the caller's scope does not reach it.
    pub fn find(&self, name: &str, caller: &Caller) -> Result<Arc<Report>> {
        let definitions = self.definitions();
        let found = definitions.reports.get(name).filter(|report| report.accessible(caller));
        found.cloned().ok_or_else(|| {
            Error::NotFound(if definitions.is_at_fault(Folder::Reports, name) {
                format!(
                    "the definition of the report \"{name}\" is at fault; whoever runs the server \
                     finds out with `tallyroll check`"
                )
            } else {
                let known = self.list(caller);
                let known = there_are(known.iter().map(|report| report.name.as_str()));
                format!("there is no report \"{name}\"; {known}")
            })
        })
    }

    /// How many rows the filters leave within the caller's scope.
    ///
    /// # Errors
    /// What the database says; [`Error::TimedOut`] where it takes longer than a first row may.
    pub async fn count(&self, report: &Report, filters: &Filters, caller: &Caller) -> Result<u64> {
        let database = self.database(report)?;
        let query = definitions::count(report, filters, &caller.scopes, database.dialect());
        let source = database.source(query, "tallyroll/count".into());
        let stop = Stop::new();
        // Dropped with this future, when the client leaves.
        let _guard = StopOnDrop(stop.clone());
        let limit = self.limits.first_row;
        let counting = tokio::task::spawn_blocking({
            let stop = stop.clone();
            move || {
                let mut count = Count(None);
                source.drive(&mut count, &stop, &mut Vec::new()).map(|()| count.0)
            }
        });
        tokio::pin!(counting);
        let counted = tokio::select! {
            counted = &mut counting => counted,
            () = tokio::time::sleep(limit) => {
                stop.fire(Reason::FirstRow(limit));
                counting.await
            }
        };
        counted
            .map_err(|source| Error::internal("counting rows", source))??
            .ok_or_else(|| Error::internal("counting rows", "the database gave no count"))
    }

    /// The database that a report reads.
    ///
    /// # Errors
    /// [`Error::Internal`] for a name that is not configured, which the check at start names.
    pub fn database(&self, report: &Report) -> Result<&Database> {
        let name = report.database.as_deref().unwrap_or_default();
        self.databases.get(name).ok_or_else(|| {
            Error::internal("opening a report", format!("no database is configured as \"{name}\""))
        })
    }

    /// Every configured database with its name.
    pub fn databases(&self) -> impl Iterator<Item = (&str, &Database)> {
        self.databases.iter().map(|(name, database)| (name.as_str(), database))
    }
}

/// Takes the one number of a count.
struct Count(Option<u64>);

impl RowSink for Count {
    fn row(&mut self, row: &[Value<'_>]) -> Result<()> {
        if let [Value::Int(count), ..] = row {
            self.0 = u64::try_from(*count).ok();
        }
        Ok(())
    }
}
