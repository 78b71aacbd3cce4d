//! Bytes that are put aside for a moment: in a file without a name, gone with whoever holds it, however
//! that ends.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use super::{Share, Shared};
use crate::error::{Error, Result};

/// Bytes that are put aside; they count as temporary files do.
#[derive(Debug)]
pub struct Hold {
    file: File,
    size: u64,
    spool: Arc<Shared>,
}

impl Hold {
    pub(super) fn new(spool: Arc<Shared>) -> Result<Self> {
        let file = tempfile::tempfile_in(&spool.directory).map_err(Error::writing)?;
        Ok(Self { file, size: 0, spool })
    }

    /// Adds bytes; does not wait for room, since whoever puts something aside is in the middle of
    /// something else.
    ///
    /// # Errors
    /// [`Error::SpoolFull`], [`Error::NoSpace`], [`Error::Internal`].
    pub fn add(&mut self, bytes: &[u8]) -> Result<()> {
        let more = bytes.len() as u64;
        self.spool.reserve_at_once(more, self.size, "ask for fewer documents at once")?;
        self.size += more;
        self.file.write_all(bytes).map_err(Error::writing)
    }

    /// Bytes so far.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Fills `out` with the bytes from `at` on.
    ///
    /// # Errors
    /// [`Error::Internal`], also where there are fewer.
    pub fn read(&self, at: u64, out: &mut [u8]) -> Result<()> {
        let failed = |source: std::io::Error| Error::internal("reading what was put aside", source);
        self.file.read_exact_at(out, at).map_err(failed)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.spool.free(self.size, Share::Any);
    }
}
