//! Finished files for a while: built under the temporary directory, kept until they expire, gone
//! when nobody holds them.
//!
//! A file is `{run}.part` while it is built and `{run}.file` once it is whole, readable by the
//! server's user alone; the rows that an import rejected are a second file of its run, `.problems`. What
//! is sent to the server is an `.upload` until it has been read. All of them together stay under a cap: a build that would pass it waits. What
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

use self::room::Used;
use crate::delivery::{Output, Written};
use crate::error::{Error, Result};
use crate::runs::Stop;

pub use self::hold::Hold;
pub use self::room::Share;
pub use self::upload::Upload;

mod hold;
mod room;
#[cfg(test)]
mod tests;
mod upload;

/// How often a build that waits for room looks whether its run was stopped.
const LOOK: Duration = Duration::from_millis(100);
/// Endings of the files that are ours to sweep.
const ENDINGS: [&str; 5] = ["part", "file", "problems", "upload", "stage"];

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
    kept: Mutex<HashMap<(Uuid, What), Arc<Kept>>>,
}

/// Which of a run's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum What {
    /// The one that it makes.
    File,
    /// The rows that it did not take.
    Problems,
}

impl What {
    const fn ending(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Problems => "problems",
        }
    }

    /// What can be done where it finds no room.
    const fn instead(self) -> &'static str {
        match self {
            Self::File => "ask for it with delivery=direct, which needs no file, or narrow it",
            Self::Problems => "send fewer rows at once",
        }
    }
}

/// A whole file; it goes when the last holder lets go.
#[derive(Debug)]
pub struct Kept {
    path: PathBuf,
    size: u64,
    sha256: String,
    told: Told,
    share: Share,
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
    pub fn begin(&self, run: Uuid, what: What, told: Told, stop: Stop) -> Result<Building> {
        let path = self.free_name(&format!("{run}-{}", what.ending()), "part");
        let file = create(&path)?;
        let spool = Arc::clone(&self.0);
        let instead = what.instead();
        Ok(Building {
            file,
            path,
            size: 0,
            run,
            what,
            told,
            spool,
            stop,
            share: Share::Any,
            instead,
            made_of: None,
            whole: false,
        })
    }

    /// Begins to take in what is sent to the server.
    ///
    /// # Errors
    /// [`Error::NoSpace`], [`Error::Internal`] where it cannot be made.
    pub fn take_in(&self, stop: Stop) -> Result<Upload> {
        let path = self.free_name(&Uuid::now_v7().to_string(), "upload");
        let file = create(&path)?;
        Ok(Upload::new(file, path, Arc::clone(&self.0), stop))
    }

    /// Begins to put bytes aside.
    ///
    /// # Errors
    /// [`Error::NoSpace`], [`Error::Internal`] where the file cannot be made.
    pub fn hold(&self) -> Result<Hold> {
        Hold::new(Arc::clone(&self.0))
    }

    /// A name in the directory that nobody has.
    #[must_use]
    pub fn free_name(&self, stem: &str, ending: &str) -> PathBuf {
        self.0.directory.join(format!("{stem}.{ending}"))
    }

    /// Where the files lie.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.0.directory
    }

    /// A file of a run, where it is still there.
    #[must_use]
    pub fn find(&self, run: Uuid, what: What) -> Option<Arc<Kept>> {
        self.0.lock_kept().get(&(run, what)).map(Arc::clone)
    }

    /// Forgets the files of a run; whoever is reading one reads it to its end.
    pub fn forget(&self, run: Uuid) {
        let mut kept = self.0.lock_kept();
        let gone = [What::File, What::Problems].map(|what| kept.remove(&(run, what)));
        // What a file's end does, it does without the lock.
        drop(kept);
        drop(gone);
    }

    /// Forgets every file.
    pub fn clear(&self) {
        self.0.lock_kept().clear();
    }

    /// Bytes of finished and unfinished files.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.0.lock_used().bytes()
    }
}

impl Shared {
    fn lock_kept(&self) -> MutexGuard<'_, HashMap<(Uuid, What), Arc<Kept>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a file until it expires.
    fn keep(self: &Arc<Self>, run: Uuid, what: What, kept: Kept) {
        self.lock_kept().insert((run, what), Arc::new(kept));
        let (spool, keep) = (Arc::downgrade(self), self.keep);
        self.runtime.spawn(async move {
            tokio::time::sleep(keep).await;
            if let Some(spool) = spool.upgrade() {
                spool.lock_kept().remove(&(run, what));
            }
        });
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
            spool.free(self.size, self.share);
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
    what: What,
    told: Told,
    spool: Arc<Shared>,
    stop: Stop,
    share: Share,
    /// What can be done where it finds no room.
    instead: &'static str,
    /// What it is made of, which takes room beside it.
    made_of: Option<Arc<Upload>>,
    whole: bool,
}

impl Building {
    /// Says whose bytes they are; nothing was written yet.
    #[must_use]
    pub fn of(mut self, share: Share) -> Self {
        self.share = share;
        self
    }

    /// Says that it is made of an upload, which stays for as long as it is built: where the two of
    /// them alone fill the spool, nothing will ever make room.
    #[must_use]
    pub fn made_of(mut self, upload: Arc<Upload>) -> Self {
        self.instead = "send a smaller file";
        self.made_of = Some(upload);
        self
    }
}

impl Write for Building {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let more = bytes.len() as u64;
        let beside = self.made_of.as_ref().map_or(0, |upload| upload.size());
        let own = self.size + beside;
        let reserved = self.spool.reserve(more, own, self.share, &self.stop, self.instead);
        reserved.map_err(io::Error::other)?;
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
        let path = self.spool.directory.join(format!("{}.{}", self.run, self.what.ending()));
        std::fs::rename(&self.path, &path)?;
        self.whole = true;
        let (sha256, told) = (whole.sha256.clone(), self.told.clone());
        let spool = Arc::downgrade(&self.spool);
        let kept = Kept { path, size: self.size, sha256, told, share: self.share, spool };
        self.spool.keep(self.run, self.what, kept);
        Ok(())
    }
}

impl Drop for Building {
    fn drop(&mut self) {
        // Once it is whole, its bytes are the kept file's to free.
        if !self.whole {
            remove(&self.path);
            self.spool.free(self.size, self.share);
        }
    }
}

fn create(path: &Path) -> Result<File> {
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    file.map_err(Error::writing)
}

fn remove(path: &Path) {
    if let Err(error) = std::fs::remove_file(path)
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(file = %path.display(), %error, "a temporary file stays");
    }
}
