//! From encoded bytes to the outlet: digest, coding, and what was spent on them.

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use sha2::{Digest, Sha256};

use super::Written;
use super::channel::Channel;
use super::coding::Coder;
use crate::error::{Error, Result};
use crate::rows::hex;

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

/// What was encoded in the end.
#[derive(Debug, Clone)]
pub(super) struct Totals {
    pub(super) rows: u64,
    pub(super) bytes: u64,
    pub(super) sha256: String,
    pub(super) spent: Spent,
}

impl Totals {
    pub(super) fn written(&self) -> Written {
        Written { bytes: self.bytes, sha256: self.sha256.clone() }
    }
}

/// Encoded bytes that have not left yet, and the way out.
pub(super) struct Line {
    pub(super) out: Vec<u8>,
    pub(super) bytes: u64,
    pub(super) spent: Spent,
    digest: Sha256,
    coder: Coder,
    outlet: Outlet,
}

impl Line {
    pub(super) fn new(coder: Coder, outlet: Outlet) -> Self {
        Self {
            out: Vec::new(),
            bytes: 0,
            spent: Spent::default(),
            digest: Sha256::new(),
            coder,
            outlet,
        }
    }

    /// Sends what is encoded.
    pub(super) fn send(&mut self) -> Result<()> {
        let begun = Instant::now();
        self.digest.update(&self.out);
        self.bytes += self.out.len() as u64;
        let chunk = self.coder.flush(&mut self.out)?;
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
        let (bytes, spent) = (self.bytes, self.spent);
        Totals { rows, bytes, sha256: hex(&self.digest.clone().finalize()), spent }
    }
}
