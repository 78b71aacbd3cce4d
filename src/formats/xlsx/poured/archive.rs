//! The outgoing archive, compressed on a thread of its own.
//!
//! Entries have their sizes behind them, and no Zip64 before them, which some programs cannot read: an
//! entry has less than 4 GiB. Only a finished archive has its directory.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{CompressionMethod, ZipWriter};

use crate::error::{Error, Result};

/// Blocks that may wait for the compressor.
const WAITING: usize = 3;

/// What the compressor is to do.
enum Order {
    /// Begin an entry.
    Open(String),
    /// Compress this.
    Block(Vec<u8>),
    /// Write the directory.
    Finish,
}

/// An archive that is being written.
pub(super) struct Archive {
    orders: Option<SyncSender<Order>>,
    emptied: Receiver<Vec<u8>>,
    packed: Arc<Packed>,
    compressor: Option<JoinHandle<zip::result::ZipResult<()>>>,
}

/// What was compressed and not taken.
#[derive(Default)]
struct Packed {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    bytes: Vec<u8>,
    /// Nobody wants any more.
    given_up: bool,
    /// Nothing will come any more.
    ended: bool,
}

impl Packed {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change to it is one step.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there is something; empty at the end.
    fn wait(&self) -> Vec<u8> {
        let mut state = self.lock();
        while state.bytes.is_empty() && !state.ended {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        std::mem::take(&mut state.bytes)
    }
}

/// Where the compressor writes.
struct Outgoing(Arc<Packed>);

impl Write for Outgoing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.0.lock();
        // An archive that is given up writes a directory all the same.
        if !state.given_up {
            state.bytes.extend_from_slice(bytes);
            self.0.changed.notify_one();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Outgoing {
    fn drop(&mut self) {
        self.0.lock().ended = true;
        self.0.changed.notify_one();
    }
}

/// Has nothing leave any more once it is dropped: an archive that fails or panics is dropped after it, and
/// would write its directory, by which what is cut looks whole.
struct Silenced(Arc<Packed>);

impl Drop for Silenced {
    fn drop(&mut self) {
        self.0.lock().given_up = true;
    }
}

impl Archive {
    /// An empty archive whose entries are compressed at this level.
    ///
    /// # Errors
    /// [`Error::Internal`] where no thread can be had.
    pub(super) fn begin(level: u8) -> Result<Self> {
        let (orders, taken) = sync_channel(WAITING);
        let (used, emptied) = channel();
        let packed = Arc::new(Packed::default());
        let out = Outgoing(Arc::clone(&packed));
        let compressor = std::thread::Builder::new()
            .name("compressor".into())
            .spawn(move || compress(out, level, &taken, &used))
            .map_err(|source| Error::internal("starting a compressor's thread", source))?;
        Ok(Self { orders: Some(orders), emptied, packed, compressor: Some(compressor) })
    }

    /// Writes a whole entry.
    pub(super) fn part(&mut self, path: String, content: Vec<u8>) -> Result<()> {
        self.open(path)?;
        self.order(Order::Block(content))
    }

    /// Begins an entry.
    pub(super) fn open(&mut self, path: String) -> Result<()> {
        self.order(Order::Open(path))
    }

    /// Writes a block of the entry and puts an empty buffer in its place.
    pub(super) fn pass(&mut self, block: &mut Vec<u8>) -> Result<()> {
        let empty =
            self.emptied.try_recv().unwrap_or_else(|_| Vec::with_capacity(block.capacity()));
        self.order(Order::Block(std::mem::replace(block, empty)))
    }

    fn order(&mut self, order: Order) -> Result<()> {
        let sent = self.orders.as_ref().is_some_and(|orders| orders.send(order).is_ok());
        if sent { Ok(()) } else { self.end().and(Err(ended())) }
    }

    /// Appends what is compressed by now.
    pub(super) fn take(&self, out: &mut Vec<u8>) {
        let mut state = self.packed.lock();
        if out.is_empty() {
            std::mem::swap(out, &mut state.bytes);
        } else {
            out.append(&mut state.bytes);
        }
    }

    /// Waits until something is compressed, and appends it.
    pub(super) fn take_some(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.packed.wait());
    }

    /// Writes all that is left into `out`, the directory last.
    pub(super) fn finish(mut self, out: &mut (dyn Write + Send)) -> Result<()> {
        self.order(Order::Finish)?;
        loop {
            let bytes = self.packed.wait();
            if bytes.is_empty() {
                return self.end();
            }
            out.write_all(&bytes).map_err(Error::writing)?;
        }
    }

    /// Waits for the thread to end, and says how it did.
    fn end(&mut self) -> Result<()> {
        self.orders = None;
        let Some(compressor) = self.compressor.take() else { return Ok(()) };
        match compressor.join() {
            Ok(Ok(())) => Ok(()),
            Ok(Err(source)) => Err(Error::internal("compressing a workbook", source)),
            Err(_) => Err(Error::internal("compressing a workbook", "its thread panicked")),
        }
    }
}

impl Drop for Archive {
    fn drop(&mut self) {
        self.packed.lock().given_up = true;
        let _ = self.end();
    }
}

fn ended() -> Error {
    Error::internal("compressing a workbook", "its thread has ended")
}

fn compress(
    out: Outgoing,
    level: u8,
    orders: &Receiver<Order>,
    used: &std::sync::mpsc::Sender<Vec<u8>>,
) -> zip::result::ZipResult<()> {
    let silenced = Silenced(Arc::clone(&out.0));
    let mut archive: ZipWriter<StreamWriter<Outgoing>> = ZipWriter::new_stream(out);
    // Behind the archive, so that it goes before it.
    let _silenced = silenced;
    // It bears the day on which the clocks of archives begin.
    let options = SimpleFileOptions::DEFAULT
        .compression_method(CompressionMethod::Deflated)
        .compression_level(Some(i64::from(level.clamp(1, 9))))
        .large_file(false);
    while let Ok(order) = orders.recv() {
        match order {
            Order::Open(path) => archive.start_file(path, options)?,
            Order::Block(mut block) => {
                archive.write_all(&block)?;
                block.clear();
                // Nobody may want it any more.
                let _ = used.send(block);
            }
            Order::Finish => return archive.finish().map(drop),
        }
    }
    Ok(())
}
