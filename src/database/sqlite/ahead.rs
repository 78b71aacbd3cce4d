//! Rows stepped ahead of whoever makes something of them.
//!
//! Half of what a row costs is SQLite's, half is what is made of it. Where a core is free, the two are done
//! at once: the thread that has the statement copies cells into batches, another makes values of them and
//! drives the sink. It ends, to be begun again later, as soon as somebody else wants the core.

use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rusqlite::Row;
use rusqlite::types::ValueRef;

use super::reader::Reader;
use super::{Steps, ended};
use crate::error::{Error, Result};
use crate::rows::RowSink;
use crate::runs::Stop;
use crate::turns::{Turn, give_way};

/// Rows of a batch.
const ROWS: usize = 512;
/// Bytes after which it is passed on with fewer, its cells and texts together.
const BYTES: usize = 256 << 10;
/// Batches that may wait.
const WAITING: usize = 2;
/// How long a batch may fill while nobody has anything else to do, and how long a core is kept without
/// being used.
const PATIENCE: Duration = Duration::from_millis(5);

/// What there is behind the rows that were taken.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// They were the last.
    Nothing,
    /// Perhaps more.
    Rows,
}

/// Steps on two threads until there are no more rows or somebody else wants the core that `turn` stands
/// for. Every row that was stepped is taken when this returns.
///
/// # Errors
/// What the database says, and what the reader and the sink say to the rows before.
pub(super) fn step(
    steps: &mut Steps<'_>,
    reader: &mut Reader<'_>,
    sink: &mut (dyn RowSink + Send),
    mut turn: Turn,
) -> Result<Left> {
    let ahead = Ahead::new(reader.width());
    thread::scope(|scope| {
        let taking = thread::Builder::new().name("encode".into()).spawn_scoped(scope, || {
            give_way();
            ahead.take(reader, sink)
        });
        // Without a thread it goes on as before.
        let Ok(taking) = taking else { return Ok(Left::Rows) };
        let stepped = ahead.fill(steps, &mut turn);
        drop(turn);
        let taken = taking.join().unwrap_or_else(|panic| resume_unwind(panic));
        taken.and(stepped)
    })
}

/// Batches between the two threads.
struct Ahead {
    width: usize,
    state: Mutex<State>,
    came: Condvar,
    went: Condvar,
}

#[derive(Default)]
struct State {
    /// Taken as it is where nothing else is there.
    filling: Batch,
    full: VecDeque<Batch>,
    empty: Vec<Batch>,
    /// Nothing more is put in.
    ended: bool,
    /// Nothing more is taken out.
    left: bool,
}

impl Ahead {
    fn new(width: usize) -> Self {
        Self { width, state: Mutex::default(), came: Condvar::new(), went: Condvar::new() }
    }

    /// A panic elsewhere leaves whole rows: a row counts once all of it is there.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fill(&self, steps: &mut Steps<'_>, turn: &mut Turn) -> Result<Left> {
        let _ended = Leaving { ahead: self, mark: |state| state.ended = true };
        let stop = steps.stop;
        while let Some(row) = steps.next()? {
            let mut state = self.lock();
            state.filling.push(row, self.width, stop)?;
            if state.filling.is_full() {
                state.pass_on();
                self.came.notify_one();
                let left = self.wait_for_room(state, turn);
                if left || !turn.is_spare() {
                    return Ok(Left::Rows);
                }
            }
        }
        Ok(Left::Nothing)
    }

    /// Whether nobody takes anything any more.
    fn wait_for_room(&self, mut state: MutexGuard<'_, State>, turn: &mut Turn) -> bool {
        while state.full.len() > WAITING && !state.left {
            let woken = self.went.wait_timeout(state, PATIENCE);
            let (locked, waited) = woken.unwrap_or_else(PoisonError::into_inner);
            state = locked;
            if waited.timed_out() {
                turn.give_up();
            }
        }
        state.left
    }

    fn take(&self, reader: &mut Reader<'_>, sink: &mut dyn RowSink) -> Result<()> {
        let _left = Leaving { ahead: self, mark: |state| state.left = true };
        let mut batch = Batch::default();
        while let Some(next) = self.next(batch, sink) {
            batch = next;
            batch.read(self.width, reader, sink)?;
        }
        Ok(())
    }

    /// The next batch, once the one before is done with; nothing after the last.
    fn next(&self, done: Batch, sink: &mut dyn RowSink) -> Option<Batch> {
        let mut state = self.lock();
        state.empty.push(done.emptied());
        let mut patient = true;
        loop {
            if state.full.is_empty() && (state.ended || !patient) && state.filling.rows > 0 {
                state.pass_on();
            }
            if let Some(batch) = state.full.pop_front() {
                self.went.notify_one();
                return Some(batch);
            }
            if state.ended {
                return None;
            }
            sink.idle();
            let woken = self.came.wait_timeout(state, PATIENCE);
            let (locked, waited) = woken.unwrap_or_else(PoisonError::into_inner);
            state = locked;
            patient = !waited.timed_out();
        }
    }
}

/// Says that one of the two threads is done, however it ends.
struct Leaving<'a> {
    ahead: &'a Ahead,
    mark: fn(&mut State),
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        (self.mark)(&mut self.ahead.lock());
        self.ahead.came.notify_one();
        self.ahead.went.notify_one();
    }
}

impl State {
    fn pass_on(&mut self) {
        let empty = self.empty.pop().unwrap_or_default();
        self.full.push_back(std::mem::replace(&mut self.filling, empty));
    }
}

/// Rows as SQLite gave them.
#[derive(Default)]
struct Batch {
    /// Those of whole rows, and perhaps some of one that could not be read.
    cells: Vec<Held>,
    text: Vec<u8>,
    rows: usize,
}

#[derive(Clone, Copy)]
enum Held {
    Null,
    Integer(i64),
    Real(f64),
    Text { length: u32, start: usize },
    Blob,
}

impl Batch {
    #[inline]
    fn push(&mut self, row: &Row<'_>, width: usize, stop: &Stop) -> Result<()> {
        for index in 0..width {
            self.cells.push(match row.get_ref(index) {
                Ok(ValueRef::Null) => Held::Null,
                Ok(ValueRef::Integer(value)) => Held::Integer(value),
                Ok(ValueRef::Real(value)) => Held::Real(value),
                Ok(ValueRef::Text(bytes)) => {
                    let start = self.text.len();
                    self.text.extend_from_slice(bytes);
                    // SQLite's own limit is below 2^31.
                    let length = u32::try_from(bytes.len())
                        .map_err(|error| Error::internal("keeping a text of SQLite", error))?;
                    Held::Text { length, start }
                }
                Ok(ValueRef::Blob(_)) => Held::Blob,
                Err(error) => return Err(ended(error, stop)),
            });
        }
        self.rows += 1;
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.rows >= ROWS || self.text.len() + size_of_val(&*self.cells) >= BYTES
    }

    fn read(&self, width: usize, reader: &mut Reader<'_>, sink: &mut dyn RowSink) -> Result<()> {
        for row in self.cells.chunks_exact(width.max(1)).take(self.rows) {
            let held = |index: usize| {
                Ok(match row[index] {
                    Held::Null => ValueRef::Null,
                    Held::Integer(value) => ValueRef::Integer(value),
                    Held::Real(value) => ValueRef::Real(value),
                    Held::Text { length, start } => {
                        ValueRef::Text(&self.text[start..][..length as usize])
                    }
                    Held::Blob => ValueRef::Blob(&[]),
                })
            };
            reader.row(held, sink)?;
        }
        Ok(())
    }

    /// Emptied, with its room kept unless one row made it far larger than others.
    fn emptied(mut self) -> Self {
        self.cells.clear();
        self.text.clear();
        self.cells.shrink_to(2 * BYTES / size_of::<Held>());
        self.text.shrink_to(2 * BYTES);
        self.rows = 0;
        self
    }
}
