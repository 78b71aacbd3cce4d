//! What is sent to the server: written as it comes, counted and digested, gone when it is dropped.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::{Share, Shared, remove};
use crate::error::{Error, Result};
use crate::rows::hex;
use crate::runs::Stop;

/// What was sent to the server, until it is dropped.
#[derive(Debug)]
pub struct Upload {
    file: File,
    path: PathBuf,
    size: u64,
    digest: Sha256,
    spool: Arc<Shared>,
    stop: Stop,
}

impl Upload {
    pub(super) fn new(file: File, path: PathBuf, spool: Arc<Shared>, stop: Stop) -> Self {
        Self { file, path, size: 0, digest: Sha256::new(), spool, stop }
    }

    /// Adds what came; waits while the spool is full.
    ///
    /// # Errors
    /// [`Error::SpoolFull`], [`Error::NoSpace`]; the stop's; [`Error::Internal`].
    pub fn add(&mut self, bytes: &[u8]) -> Result<()> {
        let more = bytes.len() as u64;
        let instead = "send fewer rows at once";
        self.spool.reserve(more, self.size, Share::Any, &self.stop, instead)?;
        self.size += more;
        self.digest.update(bytes);
        self.file.write_all(bytes).map_err(Error::writing)
    }

    /// Bytes so far.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// SHA-256 of its bytes in hex.
    #[must_use]
    pub fn sha256(&self) -> String {
        hex(&self.digest.clone().finalize())
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        remove(&self.path);
        self.spool.free(self.size, Share::Any);
    }
}
