//! Finished files for a while: built under the temporary directory, kept until they expire, gone
//! when nobody holds them.
//!
//! A file is `{run}.part` while it is built and `{run}.file` once it is whole, readable by the
//! server's user alone. All of them together stay under a cap: a build that would pass it waits. What
//! a process left behind is swept at the next start.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::runtime::Handle;
use uuid::Uuid;

use crate::delivery::{Output, Written};
use crate::error::{Error, Result};
use crate::runs::Stop;

#[cfg(test)]
mod tests;

/// How often a build that waits for room looks whether its run was stopped.
const LOOK: Duration = Duration::from_millis(100);
/// Endings of the files that are ours to sweep.
const ENDINGS: [&str; 2] = ["part", "file"];

/// The files of one process.
#[derive(Debug, Clone)]
pub struct Spool(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    directory: PathBuf,
    cap: u64,
    keep: Duration,
    runtime: Handle,
    used: Mutex<Used>,
    freed: Condvar,
    kept: Mutex<HashMap<Uuid, Arc<Kept>>>,
}

/// Bytes of finished and unfinished files.
#[derive(Debug, Default)]
struct Used {
    all: u64,
    /// Of these, the bytes of builds that wait for room.
    waiting: u64,
}

/// A whole file; it goes when the last holder lets go.
#[derive(Debug)]
pub struct Kept {
    path: PathBuf,
    size: u64,
    sha256: String,
    told: Told,
    spool: Weak<Shared>,
}

/// What is told of a file besides its bytes.
#[derive(Debug, Clone)]
pub struct Told {
    /// The media type with its parameters.
    pub media_type: String,
    /// The name for a download.
    pub name: String,
}

impl Spool {
    /// Files under `directory`, at most `cap` bytes of them, each kept for `keep` once it is whole.
    #[must_use]
    pub fn new(directory: PathBuf, cap: u64, keep: Duration) -> Self {
        Self(Arc::new(Shared {
            directory,
            cap,
            keep,
            runtime: Handle::current(),
            used: Mutex::default(),
            freed: Condvar::new(),
            kept: Mutex::default(),
        }))
    }

    /// Removes what an earlier process left behind. Only for the one process that owns the directory.
    ///
    /// # Errors
    /// [`Error::Internal`] where the directory cannot be read.
    pub fn sweep(&self) -> Result<()> {
        let failed =
            |source: io::Error| Error::internal("sweeping the temporary directory", source);
        for entry in std::fs::read_dir(&self.0.directory).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let ours = path.extension().is_some_and(|ending| ENDINGS.iter().any(|e| ending == *e));
            if ours && let Err(error) = std::fs::remove_file(&path) {
                tracing::warn!(file = %path.display(), %error, "a left-over file stays");
            }
        }
        Ok(())
    }

    /// Begins the file of a run; once it is whole it is found under the run's id until it expires or
    /// is forgotten.
    ///
    /// # Errors
    /// [`Error::NoSpace`], [`Error::Internal`] where it cannot be made.
    pub fn begin(&self, run: Uuid, told: Told, stop: Stop) -> Result<Building> {
        let path = self.0.directory.join(format!("{run}.part"));
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        let file = file.map_err(Error::writing)?;
        let spool = Arc::clone(&self.0);
        Ok(Building { file, path, size: 0, run, told, spool, stop, whole: false })
    }

    /// The file of a run, where it is still there.
    #[must_use]
    pub fn find(&self, run: Uuid) -> Option<Arc<Kept>> {
        self.0.lock_kept().get(&run).map(Arc::clone)
    }

    /// Forgets the file of a run; whoever is reading it reads it to its end.
    pub fn forget(&self, run: Uuid) {
        self.0.lock_kept().remove(&run);
    }

    /// Forgets every file.
    pub fn clear(&self) {
        self.0.lock_kept().clear();
    }

    /// Bytes of finished and unfinished files.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.0.lock_used().all
    }
}

impl Shared {
    fn lock_kept(&self) -> MutexGuard<'_, HashMap<Uuid, Arc<Kept>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a file until it expires.
    fn keep(self: &Arc<Self>, run: Uuid, kept: Kept) {
        self.lock_kept().insert(run, Arc::new(kept));
        let (spool, keep) = (Arc::downgrade(self), self.keep);
        self.runtime.spawn(async move {
            tokio::time::sleep(keep).await;
            if let Some(spool) = spool.upgrade() {
                spool.lock_kept().remove(&run);
            }
        });
    }

    fn lock_used(&self) -> MutexGuard<'_, Used> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `more` bytes fit beside the others; `own` of those in use are the waiter's.
    ///
    /// Where all that is in use belongs to builds that wait, none of them would ever go on, so this
    /// one is given up for the others.
    fn reserve(&self, more: u64, own: u64, stop: &Stop) -> Result<()> {
        let mut used = self.lock_used();
        while used.all + more > self.cap {
            stop.check()?;
            if used.all == used.waiting + own {
                let detail = format!("spool_cap, {} bytes, is full of unfinished files", self.cap);
                return Err(Error::NoSpace(detail.into()));
            }
            used.waiting += own;
            used = self.freed.wait_timeout(used, LOOK).unwrap_or_else(PoisonError::into_inner).0;
            used.waiting -= own;
        }
        used.all += more;
        Ok(())
    }

    fn free(&self, bytes: u64) {
        self.lock_used().all -= bytes;
        self.freed.notify_all();
    }
}

impl Kept {
    /// Its size in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// SHA-256 of its bytes in hex.
    #[must_use]
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// What is told of it.
    #[must_use]
    pub fn told(&self) -> &Told {
        &self.told
    }

    /// Opens it for reading.
    ///
    /// # Errors
    /// [`Error::Internal`] where somebody took it away.
    pub fn open(&self) -> Result<File> {
        File::open(&self.path).map_err(|source| Error::internal("opening a finished file", source))
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        remove(&self.path);
        if let Some(spool) = self.spool.upgrade() {
            spool.free(self.size);
        }
    }
}

/// A file being built; gone when dropped before it is whole.
#[derive(Debug)]
pub struct Building {
    file: File,
    path: PathBuf,
    size: u64,
    run: Uuid,
    told: Told,
    spool: Arc<Shared>,
    stop: Stop,
    whole: bool,
}

impl Write for Building {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let more = bytes.len() as u64;
        self.spool.reserve(more, self.size, &self.stop).map_err(io::Error::other)?;
        self.size += more;
        self.file.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Output for Building {
    fn commit(&mut self, whole: &Written) -> io::Result<()> {
        let path = self.path.with_extension("file");
        std::fs::rename(&self.path, &path)?;
        self.whole = true;
        let (sha256, told) = (whole.sha256.clone(), self.told.clone());
        let spool = Arc::downgrade(&self.spool);
        self.spool.keep(self.run, Kept { path, size: self.size, sha256, told, spool });
        Ok(())
    }
}

impl Drop for Building {
    fn drop(&mut self) {
        // Once it is whole, its bytes are the kept file's to free.
        if !self.whole {
            remove(&self.path);
            self.spool.free(self.size);
        }
    }
}

fn remove(path: &Path) {
    if let Err(error) = std::fs::remove_file(path)
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(file = %path.display(), %error, "a temporary file stays");
    }
}
