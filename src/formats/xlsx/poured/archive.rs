//! The outgoing archive, compressed on a thread of its own. Only a finished archive has its directory.

use std::io::Write;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use super::repeats::{Piece, Repeats};
use crate::archive::{Directory, Open};
use crate::error::{Error, Result};

/// Pieces that may wait for the compressor.
const WAITING: usize = 3;

/// What the compressor is to do.
enum Order {
    /// End the part before, and begin another.
    Open(String),
    /// Compress this.
    Piece(Piece),
    /// Write the directory.
    Finish,
}

/// An archive that is being written.
pub(super) struct Archive {
    orders: Option<SyncSender<Order>>,
    emptied: Receiver<Piece>,
    packed: Arc<Packed>,
    /// Orders that were given.
    given: u64,
    compressor: Option<JoinHandle<Result<()>>>,
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
    /// Orders that were carried out.
    done: u64,
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

impl Outgoing {
    /// Passes on what an order came to.
    fn put(&self, bytes: &mut Vec<u8>) {
        let mut state = self.0.lock();
        state.done += 1;
        state.bytes.append(bytes);
        drop(state);
        self.0.changed.notify_one();
    }
}

impl Drop for Outgoing {
    fn drop(&mut self) {
        self.0.lock().ended = true;
        self.0.changed.notify_one();
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
            .spawn(move || compress(&out, level, &taken, &used))
            .map_err(|source| Error::internal("starting a compressor's thread", source))?;
        Ok(Self { orders: Some(orders), emptied, packed, given: 0, compressor: Some(compressor) })
    }

    /// Writes a whole part.
    pub(super) fn part(&mut self, path: String, content: Vec<u8>) -> Result<()> {
        self.open(path)?;
        self.order(Order::Piece(Piece { bytes: content, marks: Vec::new() }))
    }

    /// Begins a part.
    pub(super) fn open(&mut self, path: String) -> Result<()> {
        self.order(Order::Open(path))
    }

    /// Writes a piece of the part and puts an empty one in its place.
    pub(super) fn pass(&mut self, piece: &mut Piece) -> Result<()> {
        let empty = self.emptied.try_recv().unwrap_or_default();
        self.order(Order::Piece(std::mem::replace(piece, empty)))
    }

    fn order(&mut self, order: Order) -> Result<()> {
        let sent = self.orders.as_ref().is_some_and(|orders| orders.send(order).is_ok());
        self.given += 1;
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

    /// Whether there is more to come of what was written. Of a thread that failed nothing comes; what
    /// is written next says so.
    pub(super) fn is_at_work(&self) -> bool {
        let state = self.packed.lock();
        state.done < self.given && !state.ended
    }

    /// Waits until all that was written is compressed.
    pub(super) fn wait(&self) {
        let mut state = self.packed.lock();
        while state.done < self.given && !state.ended {
            state = self.packed.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
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
            Ok(Err(error)) => Err(error),
            Err(_) => Err(Error::internal("compressing a workbook", "its thread panicked")),
        }
    }
}

impl Drop for Archive {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

fn ended() -> Error {
    Error::internal("compressing a workbook", "its thread has ended")
}

fn compress(
    out: &Outgoing,
    level: u8,
    orders: &Receiver<Order>,
    used: &Sender<Piece>,
) -> Result<()> {
    let mut repeats = Repeats::new(level);
    let mut directory = Directory::default();
    let mut open: Option<Open> = None;
    let mut packed = Vec::new();
    while let Ok(order) = orders.recv() {
        if !matches!(order, Order::Piece(_))
            && let Some(mut open) = open.take()
        {
            repeats.finish(&mut packed);
            open.count(b"", packed.len());
            directory.close(open, &mut packed)?;
        }
        match order {
            Order::Open(path) => open = Some(Open::begin(path, &mut packed)),
            Order::Piece(mut piece) => {
                let nowhere = || Error::internal("compressing a workbook", "no part is open");
                let open = open.as_mut().ok_or_else(nowhere)?;
                repeats.write(&piece, &mut packed);
                open.count(&piece.bytes, packed.len());
                piece.bytes.clear();
                piece.marks.clear();
                // Nobody may want it any more.
                let _ = used.send(piece);
            }
            Order::Finish => {
                directory.write(&mut packed);
                out.put(&mut packed);
                return Ok(());
            }
        }
        out.put(&mut packed);
    }
    Ok(())
}
