//! What the child that reads a spreadsheet says to its parent: length-prefixed messages, the last of
//! which says how many rows there were, so that a stream cut off anywhere is known to be cut off.

use std::io::{self, Write};

use super::wire::encode_row;
use super::{Cell, Outline, Remark, SheetSink, fault};
use crate::error::{Error, Result};

/// Rows are handed over once they take this many bytes.
const BATCH: usize = 64 * 1024;
/// A row may take this many bytes.
pub(super) const LARGEST_ROW: usize = 16 << 20;
/// No message is longer.
pub(super) const LARGEST: usize = LARGEST_ROW + BATCH;
/// Bytes before each message: its kind, then its length as a `u32`.
pub(super) const PREFIX: usize = 5;

pub(super) const OUTLINE: u8 = b'O';
pub(super) const ROWS: u8 = b'R';
pub(super) const REMARK: u8 = b'N';
pub(super) const FAULT: u8 = b'F';
pub(super) const END: u8 = b'E';

/// A fault on its way.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Told {
    pub(super) code: String,
    pub(super) detail: String,
}

/// Sends what a sink is given as messages.
#[derive(Debug)]
pub(super) struct Sender<W> {
    out: W,
    batch: Vec<u8>,
    rows: u64,
}

impl<W: Write> Sender<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out, batch: Vec::with_capacity(2 * BATCH), rows: 0 }
    }

    /// Ends the stream: with the number of rows, or with what is wrong.
    pub(super) fn end(mut self, read: Result<Vec<Remark>>) -> Result<()> {
        match read {
            // What was remarked is said already.
            Ok(_) => {
                self.flush()?;
                let rows = self.rows.to_le_bytes();
                self.send(END, &rows)
            }
            Err(error) => match fault::to_parent(&error) {
                Some((code, detail)) => {
                    self.say(FAULT, &Told { code: code.into(), detail: detail.into() })
                }
                None => Err(error),
            },
        }
    }

    fn flush(&mut self) -> Result<()> {
        let batch = std::mem::take(&mut self.batch);
        if !batch.is_empty() {
            self.send(ROWS, &batch)?;
        }
        self.batch = batch;
        self.batch.clear();
        Ok(())
    }

    fn say(&mut self, kind: u8, what: &impl serde::Serialize) -> Result<()> {
        let body = serde_json::to_vec(what)
            .map_err(|error| Error::internal("writing down a message", error))?;
        self.send(kind, &body)
    }

    fn send(&mut self, kind: u8, body: &[u8]) -> Result<()> {
        let length = u32::try_from(body.len())
            .ok()
            .filter(|_| body.len() <= LARGEST)
            .ok_or_else(|| Error::internal("sending a message", "it is too long"))?;
        let mut prefix = [kind, 0, 0, 0, 0];
        prefix[1..].copy_from_slice(&length.to_le_bytes());
        let sent = self.out.write_all(&prefix).and_then(|()| self.out.write_all(body));
        sent.and_then(|()| self.out.flush()).map_err(Error::writing)
    }
}

impl<W: Write> SheetSink for Sender<W> {
    fn begin(&mut self, outline: &Outline) -> Result<()> {
        self.say(OUTLINE, outline)
    }

    fn keys(&mut self, _keys: &[String]) -> Result<()> {
        Err(Error::internal("sending a message", "a spreadsheet has no keys"))
    }

    fn remark(&mut self, remark: &Remark) -> Result<()> {
        self.flush()?;
        self.say(REMARK, remark)
    }

    fn row(&mut self, number: u64, cells: &[Cell<'_>]) -> Result<()> {
        let before = self.batch.len();
        encode_row(number, cells, &mut self.batch);
        self.rows += 1;
        if self.batch.len() - before > LARGEST_ROW {
            return Err(too_large(number));
        }
        if self.batch.len() >= BATCH { self.flush() } else { Ok(()) }
    }
}

fn too_large(number: u64) -> Error {
    fault::fault(
        fault::ROW,
        format!(
            "row {number} holds more than {} MiB of text; a row of a table has less, so shorten \
             what is in its cells",
            LARGEST_ROW >> 20
        ),
    )
}

/// A message taken off the front of what has arrived.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Message<'a> {
    pub(super) kind: u8,
    pub(super) body: &'a [u8],
    /// How many bytes it took in all.
    pub(super) length: usize,
}

/// The first message in `bytes`; `None` while it is not whole.
///
/// # Errors
/// When it claims to be longer than any may be.
pub(super) fn first(bytes: &[u8]) -> io::Result<Option<Message<'_>>> {
    let Some((&[kind, a, b, c, d], rest)) = bytes.split_first_chunk::<PREFIX>() else {
        return Ok(None);
    };
    let length = u32::from_le_bytes([a, b, c, d]) as usize;
    if length > LARGEST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let body = rest.get(..length);
    Ok(body.map(|body| Message { kind, body, length: PREFIX + length }))
}
