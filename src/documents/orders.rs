//! Bundles: ordered, waited for, read, and rendered into a file, a stream or a writer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use tracing::Instrument;
use uuid::Uuid;

use super::bundle::{BundleEncoder, Slot};
use super::gather::{Gathered, gather};
use super::projects::PROJECT;
use super::render::Rendering;
use super::{Asked, Documents, projects, reading};
use crate::access::Caller;
use crate::definitions::Document;
use crate::delivery::{self, Coding, Delivery, Encoding, FLUSH_ROWS, Output, Receiver};
use crate::error::{Error, Problem, Result};
use crate::formats::{FormatEncoder, Other};
use crate::runs::{Begin, Permit, Place, Progress, Refused, Run, RunKind, Stop, StopOnDrop};
use crate::spool::{Kept, Share, Told, What};

/// A bundle that is wanted.
pub struct Order {
    /// The definition.
    pub document: Arc<Document>,
    /// What is asked.
    pub asked: Asked,
    /// The project whose documents they are, where they are a project's.
    pub project: Option<String>,
}

/// A bundle that is whole.
pub struct Bundled {
    /// The run that made it.
    pub run: Uuid,
    /// The file.
    pub file: Arc<Kept>,
    /// How many documents it has.
    pub documents: usize,
    /// How long it waited for its permit, and then was built.
    pub waits: [Duration; 2],
}

/// A bundle whose first documents are there.
pub struct Opened {
    /// The run that accounts for it.
    pub run: Uuid,
    /// The archive's bytes.
    pub receiver: Receiver,
    /// How many documents it will have.
    pub documents: usize,
    /// How long it waited for its permit, and then for its first bytes.
    pub waits: [Duration; 2],
}

/// A run that has begun, and when.
struct Begun {
    run: Run,
    arrived: Result<Place>,
    at: Instant,
    /// How long whoever waits for it does so for its rows.
    first_row: Option<Duration>,
}

/// A run whose rows are there.
struct Ready {
    run: Run,
    permit: Permit,
    gathered: Gathered,
    queued: Duration,
}

impl Order {
    /// A project's own documents, with the parameters of their bundle.
    ///
    /// # Errors
    /// [`Error::Malformed`] with every fault, also for a filter by project, which would ask for others'.
    pub fn of_project(
        document: Arc<Document>,
        project: String,
        pairs: &[(String, String)],
        zone: &TimeZone,
    ) -> Result<Self> {
        if let Some((name, value)) = pairs.iter().find(|(name, _)| name == PROJECT) {
            let detail = format!("\"{name}\" is {project} here; leave it out");
            let problem = Problem::parameter(name, "doubled_parameter", value, detail);
            return Err(Error::Malformed(vec![problem]));
        }
        let mut pairs = pairs.to_vec();
        pairs.push((PROJECT.into(), project.clone()));
        let asked = Asked::bundle(&document, &pairs, zone)?;
        Ok(Self { document, asked, project: Some(project) })
    }
}

impl Documents {
    /// Builds a bundle as a file: when this comes back, it is there, and stays for a while.
    ///
    /// # Errors
    /// Whatever ended the run; nothing is left of its file then.
    pub async fn prepare(
        &self,
        order: Order,
        caller: &Caller,
        told: Told,
    ) -> Result<Bundled, Refused> {
        let begun = self.begin(&order, caller, Some(self.first_row)).await?;
        let id = begun.run.id();
        // A client that leaves while his bundle is built does not want it.
        let _guard = StopOnDrop(begun.run.stop().clone());
        let built = self.build(begun, order, caller, told).await;
        built.map_err(|error| Refused { error, run: Some(id) })
    }

    /// Begins to build a bundle, and goes on whoever leaves; how it ends is told by the run, whose id
    /// this gives.
    ///
    /// # Errors
    /// [`Error::Busy`] where too many wait already; [`Error::Unavailable`].
    pub async fn prepare_alone(
        self: &Arc<Self>,
        order: Order,
        caller: Caller,
        told: Told,
    ) -> Result<Uuid, Refused> {
        let Begun { run, arrived, at, .. } = self.begin(&order, &caller, None).await?;
        let id = run.id();
        let place = match arrived {
            Ok(place) => place,
            Err(error) => return Err(Refused { error: run.refuse(error).await, run: Some(id) }),
        };
        let documents = Arc::clone(self);
        let work = async move {
            let begun = Begun { run, arrived: Ok(place), at, first_row: None };
            // What it says against the documents, its run says.
            let _ = documents.build(begun, order, &caller, told).await;
        };
        tokio::spawn(work.instrument(tracing::Span::current()));
        Ok(id)
    }

    async fn build(
        &self,
        begun: Begun,
        order: Order,
        caller: &Caller,
        told: Told,
    ) -> Result<Bundled> {
        let (id, at) = (begun.run.id(), begun.at);
        let ready = self.ready(begun, &order, caller).await?;
        let Ready { run, permit, gathered, queued } = ready;
        let file = match self.spool.begin(id, What::File, told, run.stop().clone()) {
            Ok(file) => file.of(Share::Bundles),
            Err(error) => return Err(run.refuse(error).await),
        };
        let documents = gathered.items.len();
        let delivery = rendering(run, order.document, gathered, None, FLUSH_ROWS);
        delivery::write(delivery, Box::new(file), Some(permit), None).await?;
        let gone = || Error::Gone("the file of this run has expired; ask for it again".into());
        let file = self.spool.find(id, What::File).ok_or_else(gone)?;
        let waits = [queued, at.elapsed().saturating_sub(queued)];
        Ok(Bundled { run: id, file, documents, waits })
    }

    /// Opens a bundle that leaves while it is rendered: when this comes back, its first document is
    /// there.
    ///
    /// # Errors
    /// Everything that can be refused before the status goes out.
    pub async fn open(&self, order: Order, caller: &Caller) -> Result<Opened, Refused> {
        let begun = self.begin(&order, caller, Some(self.first_row)).await?;
        let (id, at) = (begun.run.id(), begun.at);
        let opened = async {
            let ready = self.ready(begun, &order, caller).await?;
            let Ready { run, permit, gathered, queued } = ready;
            let documents = gathered.items.len();
            let delivery = rendering(run, order.document, gathered, Some(self.stall), 1);
            let mut receiver = delivery::direct(delivery, permit)?;
            if let Some(first) = receiver.first(self.first_row).await? {
                receiver.put_back(first);
            }
            let waits = [queued, at.elapsed().saturating_sub(queued)];
            Ok(Opened { run: id, receiver, documents, waits })
        };
        opened.await.map_err(|error| Refused { error, run: Some(id) })
    }

    /// Writes a bundle into a writer, as a run of the command line.
    ///
    /// # Errors
    /// Whatever ended it.
    pub async fn write(
        &self,
        order: Order,
        caller: &Caller,
        writer: Box<dyn Output>,
        watch: impl FnOnce(Uuid, Arc<Progress>, Stop),
    ) -> Result<()> {
        let run = self.run(&order, caller).await?;
        run.started();
        watch(run.id(), Arc::clone(run.progress()), run.stop().clone());
        let gathered = self.rows(&run, &order, caller, None).await;
        let gathered = match gathered {
            Ok(gathered) => gathered,
            Err(error) => return Err(run.refuse(error).await),
        };
        run.progress().expect(gathered.items.len());
        let delivery = rendering(run, order.document, gathered, None, 1);
        delivery::write(delivery, writer, None, None).await.map(drop)
    }

    async fn begin(
        &self,
        order: &Order,
        caller: &Caller,
        first_row: Option<Duration>,
    ) -> Result<Begun> {
        let at = Instant::now();
        // Before the run is written down, which may take one request longer than the next.
        let arrived = self.bundles.arrive();
        let run = self.run(order, caller).await?;
        Ok(Begun { run, arrived, at, first_row })
    }

    async fn run(&self, order: &Order, caller: &Caller) -> Result<Run> {
        let (name, params) = (&order.document.report.name, order.asked.params());
        let begin = Begin { kind: RunKind::Bundle, name, caller: &caller.name, params };
        self.runs.begin(begin).await
    }

    /// Waits for the permit, and reads the rows; a run that fails here is over.
    async fn ready(&self, begun: Begun, order: &Order, caller: &Caller) -> Result<Ready> {
        let Begun { run, arrived, at, first_row } = begun;
        let permit = match run.permitted(arrived).await {
            Ok(permit) => permit,
            Err(error) => return Err(run.refuse(error).await),
        };
        let queued = at.elapsed();
        match self.rows(&run, order, caller, first_row).await {
            Ok(gathered) => Ok(Ready { run, permit, gathered, queued }),
            Err(error) => Err(run.refuse(error).await),
        }
    }

    /// Reads the rows, in one transaction.
    async fn rows(
        &self,
        run: &Run,
        order: &Order,
        caller: &Caller,
        first_row: Option<Duration>,
    ) -> Result<Gathered> {
        let Order { document, asked, project } = order;
        let database = self.database(document)?.clone();
        let must_see = project
            .as_deref()
            .and_then(|project| projects::must_see(document, project, caller, database.dialect()));
        let wanted = asked.clone().wanted(caller, None);
        let (document, spool, stop) =
            (Arc::clone(document), self.spool.clone(), run.stop().clone());
        let application = format!("tallyroll/{}", run.id());
        let read = move |stop: &Stop| {
            gather(&document, &wanted, must_see, (&database, &application), &spool, stop)
        };
        reading(read, stop, first_row).await
    }
}

/// What renders the documents that were gathered.
fn rendering(
    run: Run,
    document: Arc<Document>,
    gathered: Gathered,
    stall: Option<Duration>,
    flush_rows: u64,
) -> Delivery {
    let (slot, read) = (Slot::default(), gathered.took);
    let encoder = BundleEncoder::new(gathered.items.len(), slot.clone());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    Delivery {
        source: Box::new(Rendering { document, gathered, slot, threads }),
        read: Some(read),
        encoding: Encoding::Known(FormatEncoder::Other(Other(Box::new(encoder)))),
        coding: Coding::Identity,
        run,
        cursor: None,
        summary: false,
        stall,
        flush_rows,
    }
}
