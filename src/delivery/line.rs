//! From encoded bytes to the outlet: digest, coding, and what was spent on them.

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::Written;
use super::channel::Channel;
use super::coding::Coder;
use super::digest::Digest;
use crate::error::{Error, Result};
use crate::turns;

/// Something to write an answer into that says when it is whole.
pub trait Output: Write + Send {
    /// Makes what was written what people see. Without this call nothing may be left behind.
    ///
    /// # Errors
    /// Whatever keeps it from being seen.
    fn commit(&mut self, whole: &Written) -> std::io::Result<()>;
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
                writer.write_all(&chunk).and_then(|()| writer.flush()).map_err(Error::writing)
            }
        }
    }

    fn commit(&mut self, whole: &Written) -> Result<()> {
        match self {
            Self::Channel(_) => Ok(()),
            Self::Writer(writer) => writer.commit(whole).map_err(Error::writing),
        }
    }
}

/// Where the time of a run went besides the database.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Spent {
    pub(super) encode: Duration,
    pub(super) write: Duration,
}

/// What was encoded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Totals {
    pub(super) rows: u64,
    pub(super) bytes: u64,
    pub(super) spent: Spent,
}

/// Encoded bytes that have not left yet, and the way out.
pub(super) struct Line {
    pub(super) out: Vec<u8>,
    pub(super) bytes: u64,
    pub(super) spent: Spent,
    digest: Digest,
    coder: Coder,
    outlet: Outlet,
}

impl Line {
    pub(super) fn new(coder: Coder, outlet: Outlet) -> Self {
        Self {
            out: Vec::new(),
            bytes: 0,
            spent: Spent::default(),
            digest: Digest::new(),
            coder,
            outlet,
        }
    }

    /// Sends what is encoded.
    pub(super) fn send(&mut self) -> Result<()> {
        let begun = Instant::now();
        self.bytes += self.out.len() as u64;
        let chunk = if let Coder::Identity = self.coder {
            let chunk = self.coder.flush(&mut self.out)?;
            self.digest.share(&chunk, turns::one_is_free)?;
            chunk
        } else {
            self.digest.take(&self.out)?;
            self.coder.flush(&mut self.out)?
        };
        let coded = Instant::now();
        self.spent.encode += coded - begun;
        let put = self.outlet.put(chunk);
        self.spent.write += coded.elapsed();
        put
    }

    /// Codes a line that is not part of the rows.
    pub(super) fn aside(&mut self, line: &str) -> Result<Bytes> {
        self.out.clear();
        if line.is_empty() {
            return Ok(Bytes::new());
        }
        self.out.extend_from_slice(line.as_bytes());
        self.coder.flush(&mut self.out)
    }

    /// What closes the coded stream. Nothing may be coded after it.
    pub(super) fn close(&mut self) -> Result<Bytes> {
        std::mem::replace(&mut self.coder, Coder::Identity).finish()
    }

    /// Sends what was coded already.
    pub(super) fn put(&mut self, chunk: Bytes) -> Result<()> {
        self.outlet.put(chunk)
    }

    pub(super) fn commit(&mut self, whole: &Written) -> Result<()> {
        self.outlet.commit(whole)
    }

    pub(super) fn totals(&self, rows: u64) -> Totals {
        Totals { rows, bytes: self.bytes, spent: self.spent }
    }

    /// What was sent, once nothing more will be.
    pub(super) fn written(&mut self) -> Result<Written> {
        let digest = std::mem::replace(&mut self.digest, Digest::new());
        Ok(Written { bytes: self.bytes, sha256: digest.finish()? })
    }
}
