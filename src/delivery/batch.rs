//! The batch being filled: encoded rows that have not left yet.
//!
//! The pump fills it and sends it off when it is full; whoever waits for it may send it off when its
//! oldest row has waited long enough, even while the pump is inside the database.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::coding::Coder;
use super::line::{Line, Outlet, Totals};
use super::{Encoding, Written};
use crate::error::{Error, Result};
use crate::formats::{self, Format, FormatEncoder, Options};
use crate::rows::{Column, Encoder, Value};
use crate::runs::Progress;

/// Bytes after which a batch is sent.
pub(super) const BYTES: usize = 1 << 20;
/// How long a row may wait for its batch to fill.
pub(super) const PATIENCE: Duration = Duration::from_millis(250);
/// One row in this many is timed: a clock read at every row would cost a tenth of the encoding.
const SAMPLE: u64 = 16;

struct Batch {
    encoder: FormatEncoder,
    /// Rows after which it is sent.
    full: u64,
    /// What the encoder is made of as soon as the columns are named.
    awaited: Option<(Format, Options)>,
    line: Line,
    /// Rows since the last chunk.
    rows: u64,
    /// When the first of them came, as `oldest` has it.
    first: u64,
    /// Whether the encoder holds back rows of before the last chunk.
    held: bool,
    total_rows: u64,
    /// The encoder failed, and is asked for nothing more.
    failed: bool,
    broken: bool,
}

/// A batch that two threads may send off.
pub(super) struct Shared {
    batch: Mutex<Batch>,
    /// Nanoseconds from `born` to the arrival of the oldest row in the batch, plus one; 0 for none.
    oldest: AtomicU64,
    born: Instant,
    /// A row has come.
    begun: AtomicBool,
    progress: Arc<Progress>,
}

impl Shared {
    pub(super) fn new(
        encoding: Encoding,
        coder: Coder,
        outlet: Outlet,
        progress: Arc<Progress>,
        full: u64,
    ) -> Self {
        let line = Line::new(coder, outlet);
        let (encoder, awaited) = match encoding {
            Encoding::Known(encoder) => (encoder, None),
            // Nothing is written with it.
            Encoding::Awaiting(format, options) => {
                (formats::encoder(format, &[], &options), Some((format, options)))
            }
        };
        let batch = Batch {
            encoder,
            full,
            awaited,
            line,
            rows: 0,
            first: 0,
            held: false,
            total_rows: 0,
            failed: false,
            broken: false,
        };
        Self {
            batch: Mutex::new(batch),
            oldest: AtomicU64::new(0),
            born: Instant::now(),
            begun: AtomicBool::new(false),
            progress,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Batch> {
        // A panic in an encoder is turned into a failed run, which sends nothing more.
        self.batch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn begin(&self) -> Result<()> {
        let batch = &mut *self.lock();
        if batch.awaited.is_some() {
            return Ok(());
        }
        batch.encoder.begin(&mut batch.line.out)
    }

    /// Whether the encoder keeps a thread of its own busy.
    pub(super) fn has_thread(&self) -> bool {
        self.lock().encoder.has_thread()
    }

    /// Makes the encoder, where it waits for its columns.
    pub(super) fn columns(&self, columns: &[Column]) -> Result<()> {
        let batch = &mut *self.lock();
        let Some((format, options)) = batch.awaited.take() else {
            return Err(Error::internal("taking columns", "they are known already"));
        };
        batch.encoder = formats::encoder(format, columns, &options);
        batch.encoder.begin(&mut batch.line.out)
    }

    /// Encodes one row; `true` when the batch went off with it.
    pub(super) fn row(&self, row: &[Value<'_>]) -> Result<bool> {
        let batch = &mut *self.lock();
        let timer = batch.total_rows.is_multiple_of(SAMPLE).then(Instant::now);
        let whole = batch.line.out.len();
        if let Err(error) = batch.encoder.row(row, &mut batch.line.out) {
            batch.line.out.truncate(whole);
            batch.failed = true;
            return Err(error);
        }
        if let Some(begun) = timer {
            batch.line.spent.encode += begun.elapsed() * u32::try_from(SAMPLE).unwrap_or(1);
        }
        batch.rows += 1;
        batch.total_rows += 1;
        if batch.rows == 1 {
            self.begun.store(true, Ordering::Relaxed);
            batch.first = self.now() + 1;
            if !batch.held {
                self.oldest.store(batch.first, Ordering::Relaxed);
            }
        }
        let full = batch.rows >= batch.full || batch.line.out.len() >= BYTES;
        if full {
            self.send(false, batch)?;
        }
        Ok(full)
    }

    /// Whether any row has come.
    pub(super) fn has_rows(&self) -> bool {
        self.begun.load(Ordering::Relaxed)
    }

    /// How long until the batch may be sent off for its age; [`PATIENCE`] where it is empty.
    pub(super) fn patience(&self) -> Duration {
        match self.oldest.load(Ordering::Relaxed) {
            0 => PATIENCE,
            oldest => PATIENCE.saturating_sub(Duration::from_nanos(self.now() + 1 - oldest)),
        }
    }

    /// Sends off a batch whose oldest row has waited long enough. Does nothing where the pump is at
    /// work on it, for then it moves anyway. Compresses, so not for a thread that must not wait.
    ///
    /// # Errors
    /// What the outlet says; the pump meets it again at its next row.
    pub(super) fn send_late(&self) -> Result<()> {
        let mut batch = match self.batch.try_lock() {
            Ok(batch) => batch,
            Err(TryLockError::Poisoned(_) | TryLockError::WouldBlock) => return Ok(()),
        };
        let nothing = batch.rows == 0 && !batch.held;
        if nothing || batch.failed || batch.broken || !self.patience().is_zero() {
            return Ok(());
        }
        self.send(true, &mut batch)
    }

    /// Writes what stands after the last row and sends all of it; `room` waits until the outlet takes
    /// a further chunk. How many rows there were, and what was made of them.
    pub(super) fn finish(&self, room: &(dyn Fn() -> Result<()> + Sync)) -> Result<(u64, Written)> {
        let batch = &mut *self.lock();
        if batch.awaited.is_some() {
            return Err(Error::internal("ending an answer", "its columns were never named"));
        }
        // From here on the pump alone sends.
        self.oldest.store(0, Ordering::Relaxed);
        let (rows, progress) = (batch.total_rows, &*self.progress);
        let mut tail = Tail { line: &mut batch.line, room, rows, progress };
        batch.encoder.finish(&mut tail)?;
        self.send(true, batch)?;
        Ok((batch.total_rows, batch.line.written()?))
    }

    /// What was encoded of a run that is over. Nothing more is sent for its age.
    pub(super) fn give_up(&self) -> Totals {
        let mut batch = self.lock();
        batch.broken = true;
        self.oldest.store(0, Ordering::Relaxed);
        batch.line.totals(batch.total_rows)
    }

    /// Sends the rows that are encoded already, for a client that should see them before it breaks.
    pub(super) fn send_rest(&self) -> Result<()> {
        let batch = &mut *self.lock();
        if batch.rows > 0 || batch.held { self.send(true, batch) } else { Ok(()) }
    }

    /// What closes the coded stream, with a last line that is not part of the rows. Nothing may be
    /// sent after it.
    pub(super) fn tail(&self, line: Option<&str>) -> Result<Bytes> {
        let batch = &mut *self.lock();
        let mut tail = batch.line.aside(line.unwrap_or_default())?.to_vec();
        tail.extend_from_slice(&batch.line.close()?);
        Ok(tail.into())
    }

    /// Sends a line that is not part of the rows.
    pub(super) fn send_aside(&self, line: &str) -> Result<()> {
        let batch = &mut *self.lock();
        let chunk = batch.line.aside(line)?;
        batch.line.put(chunk)
    }

    /// Sends what was coded already.
    pub(super) fn put(&self, chunk: Bytes) -> Result<()> {
        self.lock().line.put(chunk)
    }

    /// Makes a written file what people see.
    pub(super) fn commit(&self, whole: &Written) -> Result<()> {
        self.lock().line.commit(whole)
    }

    pub(super) fn warnings(&self) -> Vec<crate::rows::Warning> {
        self.lock().encoder.take_warnings()
    }

    /// Counts a wait for the receiver, however it ends.
    pub(super) fn waiting(&self, wait: impl FnOnce() -> Result<()>) -> Result<()> {
        let begun = Instant::now();
        let waited = wait();
        self.lock().line.spent.write += begun.elapsed();
        waited
    }

    fn now(&self) -> u64 {
        u64::try_from(self.born.elapsed().as_nanos()).unwrap_or(u64::MAX - 1)
    }

    /// Sends off what is encoded: `all` rows, or what is ready of them.
    fn send(&self, all: bool, batch: &mut Batch) -> Result<()> {
        batch.rows = 0;
        batch.held = false;
        if !batch.failed {
            let flushed = batch.encoder.flush(all, &mut batch.line.out);
            batch.failed = flushed.is_err();
            batch.held = flushed?;
        }
        let oldest = if batch.held { batch.first } else { 0 };
        self.oldest.store(oldest, Ordering::Relaxed);
        let sent = batch.line.send();
        self.progress.encoded(batch.total_rows, batch.line.bytes);
        sent
    }
}

/// Takes what an encoder writes at its end, however much, and passes it on in chunks.
struct Tail<'t> {
    line: &'t mut Line,
    room: &'t (dyn Fn() -> Result<()> + Sync),
    rows: u64,
    progress: &'t Progress,
}

impl Write for Tail<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.out.extend_from_slice(bytes);
        if self.line.out.len() >= BYTES {
            let sent = self.line.send();
            self.progress.encoded(self.rows, self.line.bytes);
            let begun = Instant::now();
            let passed = sent.and_then(|()| (self.room)());
            self.line.spent.write += begun.elapsed();
            passed.map_err(io::Error::other)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
