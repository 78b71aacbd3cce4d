//! Delivery: rows → encoder → digest → coding → chunks, with run accounting.
//!
//! One pump, whatever the source and the format. Its outlets: a channel to a client
//! ([`direct`]) and a writer ([`write()`]). Knows no HTTP and no report.

mod batch;
mod channel;
mod coding;
mod cursor;
mod digest;
mod line;
mod pump;
mod way;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;

pub use coding::Coding;
pub use cursor::Cursor;
pub use line::Output;
pub(crate) use pump::panicked;
pub use way::Way;

use self::batch::Shared;
use self::channel::Channel;
use self::line::Outlet;
use crate::database;
use crate::error::{Error, Result};
use crate::formats::{Format, FormatEncoder, Options};
use crate::rows::{RowSink, Warning};
use crate::runs::{Permit, Reason, Run, Stop};

/// Rows of a chunk: fewer cost time, more gain none and take memory.
pub const FLUSH_ROWS: u64 = 1_000;

/// Bytes handed to the connection at once, so that a reader of a kilobyte per second still shows
/// that it reads within a stall time-out of a minute.
const SLICE: usize = 64 << 10;

/// One answer about to be made.
pub struct Delivery {
    /// Where the rows come from.
    pub source: Box<dyn RowSource>,
    /// What the database took, where it was read before.
    pub read: Option<Duration>,
    /// What makes bytes of them.
    pub encoding: Encoding,
    /// The content coding.
    pub coding: Coding,
    /// The run that accounts for it.
    pub run: Run,
    /// Watches for a further page.
    pub cursor: Option<Cursor>,
    /// Whether a last line says how it ended.
    pub summary: bool,
    /// How long the receiver may take nothing; for ever without.
    pub stall: Option<Duration>,
    /// Rows after which a chunk leaves, however few its bytes.
    pub flush_rows: u64,
}

/// What pushes rows into a sink: a database's statement, a file.
pub trait RowSource: Send {
    /// Pushes every row into `sink`, perhaps on another thread; blocks, on a thread of its own. Ends
    /// within a second of `stop` being fired. What is noticed and is no failure goes to `warnings`.
    ///
    /// # Errors
    /// Whatever ended it: the source's own, the sink's, the stop's.
    fn drive(
        self: Box<Self>,
        sink: &mut (dyn RowSink + Send),
        stop: &Stop,
        warnings: &mut Vec<Warning>,
    ) -> Result<()>;
}

impl RowSource for database::Source {
    fn drive(
        self: Box<Self>,
        sink: &mut (dyn RowSink + Send),
        stop: &Stop,
        warnings: &mut Vec<Warning>,
    ) -> Result<()> {
        Self::drive(*self, sink, stop, warnings)
    }
}

/// What makes bytes of rows.
pub enum Encoding {
    /// An encoder for columns that are known.
    Known(FormatEncoder),
    /// One that is made once the source has named its columns.
    Awaiting(Format, Options),
}

/// Begins a delivery whose chunks are received here. Call within the runtime. The permit goes back
/// when both the pump's thread and the receiver are done.
///
/// # Errors
/// [`Error::Internal`] where no thread can be had.
pub fn direct(delivery: Delivery, permit: Permit) -> Result<Receiver> {
    let channel = Arc::new(Channel::new(Arc::clone(delivery.run.progress())));
    let permit = Arc::new(permit);
    let stop = delivery.run.stop().clone();
    let outlet = Outlet::Channel(Arc::clone(&channel));
    let (shared, _) = pump::start(delivery, outlet, Some(Arc::clone(&permit)))?;
    Ok(Receiver { channel, shared, stop, _permit: permit, ended: false, rest: Bytes::new() })
}

/// Makes a delivery into a writer, without coding and summary; comes back when it is complete or has
/// failed. Where somebody waits for it, its first row is there after `first_row` or it is stopped.
///
/// # Errors
/// Whatever ended the run.
pub async fn write(
    delivery: Delivery,
    writer: Box<dyn Output>,
    permit: Option<Permit>,
    first_row: Option<Duration>,
) -> Result<Delivered> {
    let stop = delivery.run.stop().clone();
    let begun = Instant::now();
    let (shared, mut ended) = pump::start(delivery, Outlet::Writer(writer), permit.map(Arc::new))?;
    let mut late = Ok(());
    loop {
        let first = first_row.filter(|_| !shared.has_rows());
        let left = first.map_or(Duration::MAX, |limit| limit.saturating_sub(begun.elapsed()));
        tokio::select! {
            ended = &mut ended => return late.and_then(|()| outcome(ended)),
            () = tokio::time::sleep(shared.patience().min(left)) => {}
        }
        if let Some(limit) = first
            && begun.elapsed() >= limit
            && !shared.has_rows()
            && !stop.is_fired()
        {
            stop.fire(Reason::FirstRow(limit));
        }
        if let Err(error) = send_late(&shared).await {
            // The pump may be inside the database for long; nobody takes its rows any more.
            stop.fire(Reason::ClientLeft);
            late = Err(error);
        }
    }
}

/// A delivery that is complete.
#[derive(Debug)]
pub struct Delivered {
    /// What was written.
    pub written: Written,
    /// The token of the page behind it, where a page was asked for and there are more rows.
    pub next: Option<String>,
}

/// What was written in whole.
#[derive(Debug, Clone)]
pub struct Written {
    /// Its size.
    pub bytes: u64,
    /// Its SHA-256 in hex.
    pub sha256: String,
}

fn outcome(ended: Result<Result<Delivered>, oneshot::error::RecvError>) -> Result<Delivered> {
    ended.map_err(|source| Error::internal("waiting for a pump", source))?
}

/// Sends off a batch for its age. Compresses, so not on the thread of whoever waits.
async fn send_late(shared: &Arc<Shared>) -> Result<()> {
    if !shared.patience().is_zero() {
        return Ok(());
    }
    let shared = Arc::clone(shared);
    let sent = spawn_blocking(move || shared.send_late()).await;
    sent.map_err(|source| Error::internal("sending a batch", source))?
}

/// The receiving end of a delivery. Dropping it before the end stops the run.
pub struct Receiver {
    channel: Arc<Channel>,
    shared: Arc<Shared>,
    stop: Stop,
    _permit: Arc<Permit>,
    ended: bool,
    rest: Bytes,
}

impl Receiver {
    /// Waits for the first batch, at most this long: the last moment for a clean status. Nothing
    /// comes back for an answer without bytes.
    ///
    /// # Errors
    /// Whatever ended the run before its first batch; the run is finished by then.
    pub async fn first(&mut self, longest: Duration) -> Result<Option<Bytes>> {
        if let Ok(first) = tokio::time::timeout(longest, self.chunk()).await {
            return first.transpose();
        }
        self.stop.fire(Reason::FirstRow(longest));
        self.chunk().await.transpose()
    }

    /// Puts a chunk back in front, to be given out again in slices.
    pub fn put_back(&mut self, chunk: Bytes) {
        self.rest = chunk;
    }

    /// The next slice for the connection; nothing at the end.
    pub async fn slice(&mut self) -> Option<Result<Bytes>> {
        if self.rest.is_empty() {
            match self.chunk().await? {
                Ok(chunk) => self.rest = chunk,
                Err(error) => return Some(Err(error)),
            }
        } else {
            self.channel.touch();
        }
        Some(Ok(self.rest.split_to(self.rest.len().min(SLICE))))
    }

    /// The token of the next page, once the end was reached.
    #[must_use]
    pub fn next_page(&self) -> Option<String> {
        self.channel.next_page()
    }

    async fn chunk(&mut self) -> Option<Result<Bytes>> {
        loop {
            let patience = self.shared.patience();
            tokio::select! {
                biased;
                next = self.channel.next() => {
                    self.ended = !matches!(next, Some(Ok(_)));
                    return next;
                }
                () = tokio::time::sleep(patience) => {}
            }
            // What the outlet says against it, the pump meets too, and ends with it.
            let _ = send_late(&self.shared).await;
        }
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        if !self.ended {
            self.stop.fire(Reason::ClientLeft);
        }
    }
}
