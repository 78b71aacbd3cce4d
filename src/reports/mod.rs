//! Reports: the rows of a definition, how many there are, and files of them.
//!
//! The walk: definition and typed filters within the caller's scope → run begun → permit →
//! statement → first batch, the last moment for a clean refusal → pump → outlet. Knows no HTTP.

mod check;
mod request;
mod view;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde_json::Value as Json;
use uuid::Uuid;

pub use request::{Asked, PAGE, Request, Wanted, Way};
pub use view::{ColumnView, FilterView, ReportView};

use crate::access::Caller;
use crate::database::{Arg, Database, Dialect, Query};
use crate::definitions::{self, Definitions, Filters, Order, Report, Selection};
use crate::delivery::{self, Coding, Cursor, Delivery, Output, Receiver};
use crate::error::{Error, Result};
use crate::formats;
use crate::rows::{RowSink, Value};
use crate::runs::{Begin, Permit, Permits, Reason, Run, RunKind, Runs, Stop};
use crate::spool::{Kept, Spool, Told};

/// The definitions that come with the program.
pub const BUILT_IN: &[(&str, &str)] = &[("settlements", include_str!("settlements.toml"))];

/// What reports are made with.
pub struct Reports {
    /// The definitions in force; read again on demand.
    definitions: RwLock<Arc<Definitions>>,
    /// Databases by name, the main one under the empty name.
    databases: BTreeMap<String, Database>,
    /// The types of orders' columns, by report, as far as they were asked for.
    order_types: Mutex<BTreeMap<String, Arc<[String]>>>,
    runs: Runs,
    permits: Allowed,
    spool: Spool,
    limits: Limits,
}

/// How much may go on at once.
#[derive(Debug, Clone)]
pub struct Allowed {
    /// Direct streams.
    pub streams: Arc<Permits>,
    /// Files being built.
    pub builds: Arc<Permits>,
}

/// The time limits of a report.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The longest wait for a query's first row.
    pub first_row: Duration,
    /// How long a client may take nothing.
    pub stall: Duration,
}

/// An answer whose first batch is there.
pub struct Opened {
    /// The run that accounts for it.
    pub run: Uuid,
    /// The rows' bytes.
    pub receiver: Receiver,
    /// The page in whole, where a page was asked for.
    pub page: Option<Paged>,
    /// How long it waited for its permit, and then for its first batch.
    pub waits: [Duration; 2],
}

/// A file that is whole.
pub struct Prepared {
    /// The run that made it.
    pub run: Uuid,
    /// The file.
    pub file: Arc<Kept>,
    /// How long it waited for its permit, and then was built.
    pub waits: [Duration; 2],
}

/// A page that was read to its end before the status went out.
pub struct Paged {
    /// Its bytes.
    pub chunks: Vec<Bytes>,
    /// The token of the page behind it.
    pub next: Option<String>,
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

impl Reports {
    /// Reports over these databases.
    #[must_use]
    pub fn new(
        definitions: Definitions,
        databases: BTreeMap<String, Database>,
        runs: Runs,
        permits: Allowed,
        spool: Spool,
        limits: Limits,
    ) -> Self {
        let definitions = RwLock::new(Arc::new(definitions));
        let order_types = Mutex::default();
        Self { definitions, databases, order_types, runs, permits, spool, limits }
    }

    /// The definitions in force.
    #[must_use]
    pub fn definitions(&self) -> Arc<Definitions> {
        Arc::clone(&self.definitions.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Puts other definitions in force, for requests from now on.
    pub fn replace_definitions(&self, definitions: Definitions) {
        *self.definitions.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(definitions);
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
            Error::NotFound(if definitions.is_at_fault(name) {
                format!(
                    "the definition of the report \"{name}\" is at fault; whoever runs the server \
                     finds out with `tallyroll check`"
                )
            } else {
                format!(
                    "there is no report \"{name}\"; GET /api/v1/reports lists the ones there are"
                )
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

    /// Opens an answer: when this comes back, its first batch (or its whole page) is there.
    ///
    /// # Errors
    /// Everything that can be refused before the status goes out.
    pub async fn open(
        &self,
        report: &Report,
        asked: Asked,
        caller: &Caller,
        coding: Coding,
    ) -> Result<Opened, Refused> {
        let page = asked.is_page();
        let stall = Some(self.limits.stall);
        let run = self.begin(RunKind::Report, report, &asked, caller).await?;
        let id = run.id();
        let begun = Instant::now();
        let opened = async {
            let (run, permit) = self.permitted(run, &self.permits.streams).await?;
            let queued = begun.elapsed();
            let delivery = self.delivery(report, asked, caller, coding, stall, run).await?;
            let mut receiver = delivery::direct(delivery, permit)?;
            if let Some(first) = receiver.first(self.limits.first_row).await? {
                receiver.put_back(first);
            }
            let page = if page { Some(read_page(&mut receiver).await?) } else { None };
            let waits = [queued, begun.elapsed().saturating_sub(queued)];
            Ok(Opened { run: id, receiver, page, waits })
        };
        opened.await.map_err(|error| Refused { error, run: Some(id) })
    }

    /// Builds the whole answer as a file: when this comes back, it is there, and stays for a while.
    ///
    /// # Errors
    /// Whatever ended the run; nothing is left of its file then.
    pub async fn prepare(
        &self,
        report: &Report,
        asked: Asked,
        caller: &Caller,
        told: Told,
    ) -> Result<Prepared, Refused> {
        let run = self.begin(RunKind::Report, report, &asked, caller).await?;
        let id = run.id();
        // A client that leaves while his file is built does not want it.
        let _guard = StopOnDrop(run.stop().clone());
        let begun = Instant::now();
        let prepared = async {
            let (run, permit) = self.permitted(run, &self.permits.builds).await?;
            let queued = begun.elapsed();
            let file = self.spool.begin(id, told, run.stop().clone())?;
            let delivery =
                self.delivery(report, asked, caller, Coding::Identity, None, run).await?;
            delivery::write(delivery, Box::new(file), Some(permit)).await?;
            let gone = || Error::Gone("the file of this run has expired; ask for it again".into());
            let file = self.spool.find(id).ok_or_else(gone)?;
            Ok(Prepared { run: id, file, waits: [queued, begun.elapsed().saturating_sub(queued)] })
        };
        prepared.await.map_err(|error| Refused { error, run: Some(id) })
    }

    /// Writes an answer into a writer, as a run of the command line.
    ///
    /// # Errors
    /// Whatever ended it.
    pub async fn write(
        &self,
        report: &Report,
        asked: Asked,
        caller: &Caller,
        writer: Box<dyn Output>,
        watch: impl FnOnce(Uuid, Arc<crate::runs::Progress>, Stop),
    ) -> Result<()> {
        let run = self.begin(RunKind::Export, report, &asked, caller).await?;
        run.started();
        watch(run.id(), Arc::clone(run.progress()), run.stop().clone());
        let delivery = self.delivery(report, asked, caller, Coding::Identity, None, run).await?;
        delivery::write(delivery, writer, None).await.map(drop)
    }

    async fn begin(
        &self,
        kind: RunKind,
        report: &Report,
        asked: &Asked,
        caller: &Caller,
    ) -> Result<Run> {
        let begin =
            Begin { kind, name: &report.name, caller: &caller.name, params: asked.params() };
        self.runs.begin(begin).await
    }

    /// Waits for a permit and notes that the run is at work; a run that gets none is over.
    async fn permitted(&self, run: Run, permits: &Permits) -> Result<(Run, Permit)> {
        match permits.acquire(run.stop()).await {
            Ok(permit) => {
                run.started();
                Ok((run, permit))
            }
            Err(error) => Err(end(run, error).await),
        }
    }

    async fn delivery(
        &self,
        report: &Report,
        asked: Asked,
        caller: &Caller,
        coding: Coding,
        stall: Option<Duration>,
        run: Run,
    ) -> Result<Delivery> {
        let database = self.database(report)?;
        let types = match &asked.after {
            Some(_) => self.order_types(report, database).await?,
            None => Arc::default(),
        };
        let query = statement(report, &asked, caller, &types, database.dialect());
        let columns: Vec<_> =
            asked.columns.iter().map(|index| report.columns[*index].column.clone()).collect();
        let source = database.source(query, format!("tallyroll/{}", run.id()));
        Ok(Delivery {
            source,
            encoder: formats::encoder(asked.format, &columns, &asked.options),
            coding,
            summary: asked.summary,
            cursor: cursor(report, asked),
            stall,
            run,
        })
    }

    /// The types of the order's columns, asked for once.
    async fn order_types(&self, report: &Report, database: &Database) -> Result<Arc<[String]>> {
        let known = || self.order_types.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(types) = known().get(&report.name) {
            return Ok(Arc::clone(types));
        }
        let probe = |order: &Order| definitions::probe(report, &order.column, database.dialect());
        let probes: Vec<_> = report.order.iter().map(probe).collect();
        let types: Arc<[String]> = database.types(&probes).await?.into();
        known().insert(report.name.clone(), Arc::clone(&types));
        Ok(types)
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

fn statement(
    report: &Report,
    asked: &Asked,
    caller: &Caller,
    types: &[String],
    dialect: Dialect,
) -> Query {
    let selection = Selection {
        columns: &asked.columns,
        filters: &asked.filters,
        scopes: &caller.scopes,
        after: asked.after.as_deref(),
        // One more than asked for tells whether there is a further page.
        limit: asked.limit.map(|limit| limit.saturating_add(1)),
        cursor: asked.limit.is_some(),
        types,
    };
    definitions::rows(report, &selection, dialect)
}

fn cursor(report: &Report, asked: Asked) -> Option<Cursor> {
    let limit = asked.limit?;
    let (width, report, filters) = (asked.columns.len(), report.clone(), asked.filters);
    let token = move |place: &[Arg]| definitions::encode_cursor(&report, &filters, place);
    Some(Cursor::new(width, limit, Box::new(token)))
}

async fn read_page(receiver: &mut Receiver) -> Result<Paged> {
    let mut chunks = Vec::new();
    while let Some(slice) = receiver.slice().await {
        chunks.push(slice?);
    }
    Ok(Paged { chunks, next: receiver.next_page() })
}

/// Finishes a run that got nowhere.
async fn end(run: Run, error: Error) -> Error {
    let outcome = crate::runs::Outcome::ended(crate::runs::Ended::by(&error));
    if let Err(error) = run.finish(outcome).await {
        tracing::error!(%error, "a run's end could not be written");
    }
    error
}

/// Stops what is done for somebody who is gone.
struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.fire(Reason::ClientLeft);
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

/// Parameters as they are written into a run.
fn params(pairs: &[(String, String)]) -> Json {
    let mut params = serde_json::Map::new();
    for (name, value) in pairs {
        // PostgreSQL's jsonb cannot hold a NUL.
        let value = Json::from(value.replace('\0', "\u{FFFD}"));
        match params.get_mut(name) {
            None => {
                params.insert(name.clone(), value);
            }
            Some(Json::Array(values)) => values.push(value),
            Some(single) => *single = Json::Array(vec![single.take(), value]),
        }
    }
    Json::Object(params)
}
