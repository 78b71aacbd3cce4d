//! The pump: one thread that drives a source through an encoder into an outlet.
//!
//! Everything that takes time happens here, or on threads that it waits for: stepping or polling the
//! database, encoding, digest, compression, writing. Only chunks leave. The run is finished here too, before the last chunk of
//! a channel.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use uuid::Uuid;

use super::batch::Shared;
use super::channel::Channel;
use super::coding::Coder;
use super::line::{Outlet, Totals};
use super::{Cursor, Delivered, Delivery, RowSource, Written};
use crate::error::{Error, Result};
use crate::rows::{Column, RowSink, Value, Warning};
use crate::runs::{Ended, Outcome, Permit, Run, Stop, Timings};
use crate::turns::Turn;

/// What the thread works with.
pub(super) struct Pump {
    shared: Arc<Shared>,
    channel: Option<Arc<Channel>>,
    run: Run,
    cursor: Option<Cursor>,
    summary: bool,
    stall: Option<Duration>,
    read: Option<Duration>,
    runtime: Handle,
    span: tracing::Span,
}

/// Begins a delivery: gives back the batch being filled and word of the end.
///
/// # Errors
/// [`Error::Internal`] where no thread can be had; the run is then failed by its own drop.
pub(super) fn start(
    delivery: Delivery,
    outlet: Outlet,
    permit: Option<Arc<Permit>>,
) -> Result<(Arc<Shared>, oneshot::Receiver<Result<Delivered>>)> {
    let Delivery { source, read, encoding, coding, run, cursor, summary, stall, flush_rows } =
        delivery;
    let channel = match &outlet {
        Outlet::Channel(channel) => Some(Arc::clone(channel)),
        Outlet::Writer(_) => None,
    };
    let progress = Arc::clone(run.progress());
    let shared = Arc::new(Shared::new(encoding, Coder::new(coding)?, outlet, progress, flush_rows));
    let pump = Pump {
        shared: Arc::clone(&shared),
        channel,
        run,
        cursor,
        summary,
        stall,
        read,
        runtime: Handle::current(),
        span: tracing::Span::current(),
    };
    let (said, ended) = oneshot::channel();
    std::thread::Builder::new()
        .name("pump".into())
        .spawn(move || {
            let span = pump.span.clone();
            let _entered = span.enter();
            let _ = said.send(pump.work(source));
            drop(permit);
        })
        .map_err(|source| Error::internal("starting a pump's thread", source))?;
    Ok((shared, ended))
}

impl Pump {
    /// Does the run and says its last word.
    fn work(mut self, source: Box<dyn RowSource>) -> Result<Delivered> {
        let mut warnings = Vec::new();
        // A panic in an encoder or a driver is a failed run, not a lost permit.
        let outcome = catch_unwind(AssertUnwindSafe(|| self.pour(source, &mut warnings)))
            .unwrap_or_else(|panic| Err(panicked(&*panic)));
        match outcome {
            Ok((rows, written)) => self.complete(rows, written, warnings),
            Err(error) => self.fail(error, warnings),
        }
    }

    fn pour(
        &mut self,
        source: Box<dyn RowSource>,
        warnings: &mut Vec<Warning>,
    ) -> Result<(u64, Written)> {
        let turn = Turn::of_this_thread();
        self.shared.begin()?;
        let stop = self.run.stop().clone();
        let mut sink = Pouring {
            shared: &self.shared,
            channel: self.channel.as_deref(),
            cursor: self.cursor.as_mut(),
            stall: self.stall,
            stop: &stop,
            turn,
        };
        // Fifty sessions that begin at once would keep the database's cores, and often ours.
        sink.turn.row();
        // Held, not used: with a thread at work for the encoder, a third would be in its way.
        let encoder = self.shared.has_thread().then(Turn::spare).flatten();
        source.drive(&mut sink, &stop, warnings)?;
        // What is left is short, but for a workbook, which is compressed now.
        let Pouring { mut turn, .. } = sink;
        turn.row();
        let room = || match &self.channel {
            Some(channel) => channel.room(self.stall, &stop),
            None => stop.check(),
        };
        let (rows, written) = self.shared.finish(&room)?;
        drop(encoder);
        if let Some(channel) = &self.channel {
            turn.give_up();
            // Complete is what the client has taken, not what waits for it.
            self.shared.waiting(|| channel.wait(0, self.stall, &stop))?;
        } else {
            // The run says complete only once the file is there.
            self.shared.commit(&written)?;
        }
        Ok((rows, written))
    }

    fn complete(
        self,
        rows: u64,
        written: Written,
        mut warnings: Vec<Warning>,
    ) -> Result<Delivered> {
        let next = self.cursor.as_ref().and_then(Cursor::next);
        warnings.extend(self.shared.warnings());
        let outcome = Outcome {
            rows,
            bytes: written.bytes,
            sha256: Some(written.sha256.clone()),
            // Waiting for the last chunks to be taken counts too.
            timings: timings(&self.shared.give_up(), self.read, self.run.at_work()),
            warnings,
            error: None,
            result: next.as_ref().map(|next| json!({ "next": next })),
        };
        let id = self.run.id();
        let last = self.summary.then(|| {
            Summary::Complete {
                run_id: id,
                state: "complete",
                rows,
                sha256: &written.sha256,
                next: next.as_deref(),
            }
            .line()
        });
        let tail = match self.shared.tail(last.as_deref()) {
            Ok(tail) => tail,
            Err(error) => return self.fail(error, Vec::new()),
        };
        if self.channel.is_some() {
            // The tail leaves after the run's last word, which counts it all the same.
            self.run.progress().sent(tail.len() as u64);
        }
        let Self { shared, channel, run, runtime, .. } = self;
        let closed = runtime.block_on(run.finish(outcome)).and_then(|()| shared.put(tail));
        if let Err(error) = &closed {
            tracing::error!(run = %id, %error, "an answer was broken off at its very end");
        }
        let next = end(channel.as_deref(), closed.map(|()| next))?;
        Ok(Delivered { written, next })
    }

    fn fail(self, error: Error, mut warnings: Vec<Warning>) -> Result<Delivered> {
        warnings.extend(self.shared.warnings());
        let totals = self.shared.give_up();
        let id = self.run.id();
        match &error {
            Error::Cancelled => {
                tracing::info!(run = %id, rows = totals.rows, "a run was cancelled");
            }
            other => tracing::warn!(run = %id, rows = totals.rows, error = %other, "a run failed"),
        }
        let (ended, by) = (Ended::by(&error), Outcome::by(&error));
        let outcome = Outcome {
            rows: totals.rows,
            bytes: totals.bytes,
            timings: timings(&totals, self.read, self.run.at_work()),
            warnings,
            ..by
        };
        if let Err(error) = self.runtime.block_on(self.run.finish(outcome)) {
            tracing::error!(run = %id, %error, "a run's end could not be written");
        }
        // Once the status is out, what was read before the failure is still good to see.
        if let Some(channel) = self.channel.as_deref().filter(|channel| channel.started()) {
            let word = match ended {
                Ended::Cancelled => "cancelled",
                Ended::Failed(_) => "failed",
            };
            let last = self
                .summary
                .then(|| Summary::Ended { run_id: id, state: word, code: error.code() }.line());
            let sent = self.shared.send_rest();
            let _ = sent.and_then(|()| last.map_or(Ok(()), |line| self.shared.send_aside(&line)));
            channel.end(Err(error));
            return Err(Error::Cancelled);
        }
        match self.channel {
            // Its receiver is told; nobody waits for the thread.
            Some(channel) => {
                channel.end(Err(error));
                Err(Error::Cancelled)
            }
            None => Err(error),
        }
    }
}

/// Tells the channel's receiver how it ended and what the next page is; without one, the caller.
fn end(channel: Option<&Channel>, outcome: Result<Option<String>>) -> Result<Option<String>> {
    match channel {
        Some(channel) => {
            channel.end(outcome);
            Ok(None)
        }
        None => outcome,
    }
}

/// The last line of an NDJSON answer that was asked for one.
#[derive(serde::Serialize)]
#[serde(untagged)]
enum Summary<'a> {
    Complete { run_id: Uuid, state: &'a str, rows: u64, sha256: &'a str, next: Option<&'a str> },
    Ended { run_id: Uuid, state: &'a str, code: &'a str },
}

impl Summary<'_> {
    fn line(&self) -> String {
        // Strings and numbers alone, which always can be written.
        let facts = serde_json::to_string(self).unwrap_or_default();
        format!("{{\"_summary\":{facts}}}\n")
    }
}

/// What neither the encoder nor the receiver took, the database did; where that is known, what is left
/// is the encoder's.
fn timings(totals: &Totals, read: Option<Duration>, at_work: Duration) -> Timings {
    let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let (encode, write) = (totals.spent.encode, totals.spent.write);
    let (query, encode) = match read {
        None => (at_work.saturating_sub(encode + write), encode),
        Some(read) => (read, at_work.saturating_sub(read + write)),
    };
    Timings { queue: 0, query: millis(query), encode: millis(encode), write: millis(write) }
}

/// The error of work that panicked.
pub(crate) fn panicked(panic: &(dyn std::any::Any + Send)) -> Error {
    let words = panic
        .downcast_ref::<&str>()
        .map(|words| (*words).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".into());
    Error::internal("work on a run panicked", words)
}

/// The sink that a source pours into.
struct Pouring<'p> {
    shared: &'p Shared,
    channel: Option<&'p Channel>,
    cursor: Option<&'p mut Cursor>,
    stall: Option<Duration>,
    stop: &'p Stop,
    turn: Turn,
}

impl RowSink for Pouring<'_> {
    fn columns(&mut self, columns: &[Column]) -> Result<()> {
        self.shared.columns(columns)
    }

    fn row(&mut self, row: &[Value<'_>]) -> Result<()> {
        let row = match &mut self.cursor {
            None => row,
            Some(cursor) => match cursor.take(row) {
                Some(row) => row,
                None => return Ok(()),
            },
        };
        self.turn.row();
        let sent = self.shared.row(row)?;
        if let Some(channel) = self.channel.filter(|_| sent)
            && !channel.has_room()
        {
            self.turn.give_up();
            self.shared.waiting(|| channel.room(self.stall, self.stop))?;
        }
        Ok(())
    }

    fn idle(&mut self) {
        self.turn.give_up();
    }
}
