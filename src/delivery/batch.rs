//! The batch being filled: encoded rows that have not left yet.
//!
//! The pump fills it and sends it off when it is full; whoever waits for it may send it off when its
//! oldest row has waited long enough, even while the pump is inside the database.

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use sha2::{Digest, Sha256};

use super::channel::Channel;
use super::coding::Coder;
use crate::error::{Error, Result};
use crate::formats::FormatEncoder;
use crate::rows::{Encoder, Value};
use crate::runs::Progress;

/// Rows after which a batch is sent.
pub(super) const ROWS: u64 = 1_000;
/// Bytes after which a batch is sent.
pub(super) const BYTES: usize = 1 << 20;
/// How long a row may wait for its batch to fill.
pub(super) const PATIENCE: Duration = Duration::from_millis(250);
/// One row in this many is timed: a clock read at every row would cost a tenth of the encoding.
const SAMPLE: u64 = 16;

/// Something to write an answer into that says when it is whole.
pub trait Output: Write + Send {
    /// Makes what was written what people see. Without this call nothing may be left behind.
    ///
    /// # Errors
    /// Whatever keeps it from being seen.
    fn commit(&mut self) -> std::io::Result<()>;
}

/// Where finished chunks go.
pub(super) enum Outlet {
    Channel(Arc<Channel>),
    Writer(Box<dyn Output>),
}

impl Outlet {
    fn put(&mut self, chunk: Bytes) -> Result<()> {
        match self {
            Self::Channel(channel) => {
                channel.push(chunk);
                Ok(())
            }
            Self::Writer(writer) => {
                writer.write_all(&chunk).and_then(|()| writer.flush()).map_err(unwritable)
            }
        }
    }

    fn commit(&mut self) -> Result<()> {
        match self {
            Self::Channel(_) => Ok(()),
            Self::Writer(writer) => writer.commit().map_err(unwritable),
        }
    }
}

/// The error for a file or pipe that takes no more.
fn unwritable(source: std::io::Error) -> Error {
    match source.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
            Error::NoSpace(source.into())
        }
        // Whoever read the pipe has had enough.
        std::io::ErrorKind::BrokenPipe => Error::Cancelled,
        _ => Error::internal("writing the answer", source),
    }
}

/// Where the time of a run went besides the database.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Spent {
    pub(super) encode: Duration,
    pub(super) write: Duration,
}

pub(super) struct Batch {
    encoder: FormatEncoder,
    out: Vec<u8>,
    rows: u64,
    total_rows: u64,
    total_bytes: u64,
    digest: Sha256,
    coder: Coder,
    outlet: Outlet,
    spent: Spent,
    broken: bool,
}

/// What was encoded in the end.
#[derive(Debug, Clone)]
pub(super) struct Totals {
    pub(super) rows: u64,
    pub(super) bytes: u64,
    pub(super) sha256: String,
    pub(super) spent: Spent,
}

/// A batch that two threads may send off.
pub(super) struct Shared {
    batch: Mutex<Batch>,
    /// Nanoseconds from `born` to the arrival of the oldest row in the batch, plus one; 0 for none.
    oldest: AtomicU64,
    born: Instant,
    progress: Arc<Progress>,
}

impl Shared {
    pub(super) fn new(
        encoder: FormatEncoder,
        coder: Coder,
        outlet: Outlet,
        progress: Arc<Progress>,
    ) -> Self {
        Self {
            batch: Mutex::new(Batch {
                encoder,
                out: Vec::new(),
                rows: 0,
                total_rows: 0,
                total_bytes: 0,
                digest: Sha256::new(),
                coder,
                outlet,
                spent: Spent::default(),
                broken: false,
            }),
            oldest: AtomicU64::new(0),
            born: Instant::now(),
            progress,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Batch> {
        // A panic in an encoder is turned into a failed run, which sends nothing more.
        self.batch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn begin(&self) -> Result<()> {
        let batch = &mut *self.lock();
        batch.encoder.begin(&mut batch.out)
    }

    /// Encodes one row; `true` when the batch went off with it.
    pub(super) fn row(&self, row: &[Value<'_>]) -> Result<bool> {
        let batch = &mut *self.lock();
        let timer = batch.total_rows.is_multiple_of(SAMPLE).then(Instant::now);
        let whole = batch.out.len();
        if let Err(error) = batch.encoder.row(row, &mut batch.out) {
            batch.out.truncate(whole);
            return Err(error);
        }
        if let Some(begun) = timer {
            batch.spent.encode += begun.elapsed() * u32::try_from(SAMPLE).unwrap_or(1);
        }
        batch.rows += 1;
        batch.total_rows += 1;
        if batch.rows == 1 {
            self.oldest.store(self.now() + 1, Ordering::Relaxed);
        }
        let full = batch.rows >= ROWS || batch.out.len() >= BYTES;
        if full {
            self.send(batch)?;
        }
        Ok(full)
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
        if batch.rows == 0 || batch.broken || !self.patience().is_zero() {
            return Ok(());
        }
        self.send(&mut batch)
    }

    /// Writes what stands after the last row and sends all of it.
    pub(super) fn finish(&self) -> Result<Totals> {
        let batch = &mut *self.lock();
        batch.encoder.finish(&mut batch.out)?;
        self.send(batch)?;
        Ok(batch.totals())
    }

    /// What was encoded of a run that failed. Nothing more is sent for its age.
    pub(super) fn give_up(&self) -> Totals {
        let mut batch = self.lock();
        batch.broken = true;
        self.oldest.store(0, Ordering::Relaxed);
        batch.totals()
    }

    /// Sends the rows that are encoded already, for a client that should see them before it breaks.
    pub(super) fn send_rest(&self) -> Result<()> {
        let batch = &mut *self.lock();
        if batch.rows > 0 { self.send(batch) } else { Ok(()) }
    }

    /// What closes the coded stream, with a last line that is not part of the rows. Nothing may be
    /// sent after it.
    pub(super) fn tail(&self, line: Option<&str>) -> Result<Bytes> {
        let batch = &mut *self.lock();
        let mut tail = batch.aside(line.unwrap_or_default())?.to_vec();
        let coder = std::mem::replace(&mut batch.coder, Coder::Identity);
        tail.extend_from_slice(&coder.finish()?);
        Ok(tail.into())
    }

    /// Sends a line that is not part of the rows.
    pub(super) fn send_aside(&self, line: &str) -> Result<()> {
        let batch = &mut *self.lock();
        let chunk = batch.aside(line)?;
        batch.outlet.put(chunk)
    }

    /// Sends what was coded already.
    pub(super) fn put(&self, chunk: Bytes) -> Result<()> {
        self.lock().outlet.put(chunk)
    }

    /// Makes a written file what people see.
    pub(super) fn commit(&self) -> Result<()> {
        self.lock().outlet.commit()
    }

    pub(super) fn warnings(&self) -> Vec<crate::rows::Warning> {
        self.lock().encoder.take_warnings()
    }

    /// Counts a wait for the receiver, however it ends.
    pub(super) fn waiting(&self, wait: impl FnOnce() -> Result<()>) -> Result<()> {
        let begun = Instant::now();
        let waited = wait();
        self.lock().spent.write += begun.elapsed();
        waited
    }

    fn now(&self) -> u64 {
        u64::try_from(self.born.elapsed().as_nanos()).unwrap_or(u64::MAX - 1)
    }

    fn send(&self, batch: &mut Batch) -> Result<()> {
        let begun = Instant::now();
        batch.digest.update(&batch.out);
        batch.total_bytes += batch.out.len() as u64;
        let chunk = batch.coder.flush(&mut batch.out)?;
        let coded = Instant::now();
        batch.spent.encode += coded - begun;
        batch.rows = 0;
        self.oldest.store(0, Ordering::Relaxed);
        self.progress.encoded(batch.total_rows, batch.total_bytes);
        let put = batch.outlet.put(chunk);
        batch.spent.write += coded.elapsed();
        put
    }
}

impl Batch {
    fn aside(&mut self, line: &str) -> Result<Bytes> {
        self.out.clear();
        if line.is_empty() {
            return Ok(Bytes::new());
        }
        self.out.extend_from_slice(line.as_bytes());
        self.coder.flush(&mut self.out)
    }

    fn totals(&self) -> Totals {
        Totals {
            rows: self.total_rows,
            bytes: self.total_bytes,
            sha256: hex(&self.digest.clone().finalize()),
            spent: self.spent,
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
