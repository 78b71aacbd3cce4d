//! A report's rows on their way out: direct, prepared, or into a writer of the command line.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use tracing::Instrument;
use uuid::Uuid;

use super::{Asked, Reports, StopOnDrop};
use crate::access::Caller;
use crate::database::{Arg, Database, Dialect, Query};
use crate::definitions::{self, Order, Report, Selection};
use crate::delivery::{self, Coding, Cursor, Delivery, Encoding, Output, Receiver};
use crate::error::{Error, Result};
use crate::formats::{self, Options};
use crate::runs::{Begin, Permit, Place, Progress, Refused, Run, RunKind, Stop};
use crate::spool::{Kept, Told, What};

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
    /// The token of the page behind it, where it is a page and there is one.
    pub next: Option<String>,
    /// How long it waited for its permit, and then was built.
    pub waits: [Duration; 2],
}

/// A run that has begun, and when.
struct Begun {
    run: Run,
    arrived: Result<Place>,
    at: Instant,
    /// How long whoever waits for it does so for its first row.
    first_row: Option<Duration>,
}

/// A page that was read to its end before the status went out.
pub struct Paged {
    /// Its bytes.
    pub chunks: Vec<Bytes>,
    /// The token of the page behind it.
    pub next: Option<String>,
}

impl Reports {
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
        let begun = Instant::now();
        // Before the run is written down, which may take one request longer than the next.
        let arrived = self.permits.streams.arrive();
        let run = self.begin(RunKind::Report, report, &asked, caller).await?;
        let id = run.id();
        let opened = async {
            let (run, permit) = permitted(run, arrived).await?;
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
        let at = Instant::now();
        let arrived = self.permits.builds.arrive();
        let run = self.begin(RunKind::Report, report, &asked, caller).await?;
        let id = run.id();
        // A client that leaves while his file is built does not want it.
        let _guard = StopOnDrop(run.stop().clone());
        let begun = Begun { run, arrived, at, first_row: Some(self.limits.first_row) };
        let built = self.build(begun, report, asked, caller, told).await;
        built.map_err(|error| Refused { error, run: Some(id) })
    }

    async fn build(
        &self,
        begun: Begun,
        report: &Report,
        asked: Asked,
        caller: &Caller,
        told: Told,
    ) -> Result<Prepared> {
        let Begun { run, arrived, at, first_row } = begun;
        let id = run.id();
        let (run, permit) = permitted(run, arrived).await?;
        let queued = at.elapsed();
        let file = match self.spool.begin(id, What::File, told, run.stop().clone()) {
            Ok(file) => file,
            Err(error) => return Err(run.refuse(error).await),
        };
        let delivery = self.delivery(report, asked, caller, Coding::Identity, None, run).await?;
        let next = delivery::write(delivery, Box::new(file), Some(permit), first_row).await?.next;
        let gone = || Error::Gone("the file of this run has expired; ask for it again".into());
        let file = self.spool.find(id, What::File).ok_or_else(gone)?;
        let waits = [queued, at.elapsed().saturating_sub(queued)];
        Ok(Prepared { run: id, file, next, waits })
    }

    /// Begins to build the whole answer as a file, and goes on whoever leaves; how it ends is told by the
    /// run, whose id this gives, and the file stays for a while.
    ///
    /// # Errors
    /// [`Error::Busy`] where too many wait already; [`Error::Unavailable`].
    pub async fn export(
        self: &Arc<Self>,
        report: Arc<Report>,
        asked: Asked,
        caller: Caller,
        told: Told,
    ) -> Result<Uuid, Refused> {
        let at = Instant::now();
        let arrived = self.permits.builds.arrive();
        let run = self.begin(RunKind::Export, &report, &asked, &caller).await?;
        let id = run.id();
        let place = match arrived {
            Ok(place) => place,
            Err(error) => return Err(Refused { error: run.refuse(error).await, run: Some(id) }),
        };
        let reports = Arc::clone(self);
        let work = async move {
            let begun = Begun { run, arrived: Ok(place), at, first_row: None };
            // What it says against the report, its run says.
            let _ = reports.build(begun, &report, asked, &caller, told).await;
        };
        tokio::spawn(work.instrument(tracing::Span::current()));
        Ok(id)
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
        watch: impl FnOnce(Uuid, Arc<Progress>, Stop),
    ) -> Result<()> {
        let run = self.begin(RunKind::Export, report, &asked, caller).await?;
        run.started();
        watch(run.id(), Arc::clone(run.progress()), run.stop().clone());
        let delivery = self.delivery(report, asked, caller, Coding::Identity, None, run).await?;
        delivery::write(delivery, writer, None, None).await.map(drop)
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

    async fn delivery(
        &self,
        report: &Report,
        asked: Asked,
        caller: &Caller,
        coding: Coding,
        stall: Option<Duration>,
        run: Run,
    ) -> Result<Delivery> {
        let found = self.source_of(report, &asked).await;
        let (database, types) = match found {
            Ok(found) => found,
            Err(error) => return Err(run.refuse(error).await),
        };
        let query = statement(report, &asked, caller, &types, database.dialect());
        let columns: Vec<_> =
            asked.columns.iter().map(|index| report.columns[*index].column.clone()).collect();
        let options = Options {
            temp_dir: self.books.temp_dir.clone(),
            level: self.books.level,
            writer: self.books.writer,
            ..asked.options.clone()
        };
        let source = database.source(query, format!("tallyroll/{}", run.id()));
        Ok(Delivery {
            source: Box::new(source),
            read: None,
            encoding: Encoding::Known(formats::encoder(asked.format, &columns, &options)),
            coding,
            summary: asked.summary,
            cursor: cursor(report, asked),
            stall,
            flush_rows: self.limits.flush_rows,
            run,
        })
    }

    /// The database to read, and the types that a later page needs named.
    async fn source_of(
        &self,
        report: &Report,
        asked: &Asked,
    ) -> Result<(&Database, Arc<[Option<String>]>)> {
        let database = self.database(report)?;
        let types = match &asked.after {
            Some(_) => self.order_types(report, database).await?,
            None => Arc::default(),
        };
        Ok((database, types))
    }

    /// The types of the order's columns, asked for once.
    async fn order_types(
        &self,
        report: &Report,
        database: &Database,
    ) -> Result<Arc<[Option<String>]>> {
        let known = || self.order_types.lock().unwrap_or_else(PoisonError::into_inner);
        // A document may have a report's name.
        if let Some(types) = known().get(&report.file) {
            return Ok(Arc::clone(types));
        }
        let probe = |order: &Order| definitions::probe(report, &order.column, database.dialect());
        let probes: Vec<_> = report.order.iter().map(probe).collect();
        let types: Arc<[Option<String>]> = database.types(&probes).await?.into();
        known().insert(report.file.clone(), Arc::clone(&types));
        Ok(types)
    }
}

fn statement(
    report: &Report,
    asked: &Asked,
    caller: &Caller,
    types: &[Option<String>],
    dialect: Dialect,
) -> Query {
    let selection = Selection {
        columns: &asked.columns,
        filters: &asked.filters,
        scopes: &caller.scopes,
        one_of: None,
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

/// Waits for a run's permit; a run that gets none is over.
async fn permitted(run: Run, arrived: Result<Place>) -> Result<(Run, Permit)> {
    match run.permitted(arrived).await {
        Ok(permit) => Ok((run, permit)),
        Err(error) => Err(run.refuse(error).await),
    }
}
