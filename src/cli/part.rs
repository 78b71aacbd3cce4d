//! `FILE.part`, which becomes `FILE` when it is whole and goes when it is not.
//!
//! It is locked by the one process that writes it. What lies there and is locked by nobody was left
//! by a process that died, and gives way to a fresh file; nothing that is not ours is written,
//! renamed or removed, and no link is followed.

use std::fs::{File, Metadata, OpenOptions, Permissions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::output::named;
use crate::delivery::{Output, Written};

#[cfg(test)]
mod tests;

/// How often others may come between a look and a move before it is taken for their work.
const TRIES: usize = 16;

/// The file while it is written.
#[derive(Debug)]
pub(super) struct PartFile {
    file: File,
    part: PathBuf,
    target: PathBuf,
}

impl PartFile {
    /// With the permissions of the file that it is to replace, where there is one.
    ///
    /// # Errors
    /// In words, where another process writes it or it cannot be made.
    pub(super) fn create(target: PathBuf, permissions: Option<Permissions>) -> io::Result<Self> {
        let mut part = target.as_os_str().to_owned();
        part.push(".part");
        let part = PathBuf::from(part);
        let file = take(&part)?;
        let made = Self { file, part, target };
        if let Some(permissions) = permissions {
            made.file.set_permissions(permissions).map_err(|error| named(&made.part, &error))?;
        }
        Ok(made)
    }

    fn is_ours(&self) -> bool {
        is_at(&self.file, &self.part)
    }
}

/// A fresh file at `part`, locked. Whoever removes what is there holds its lock while he does, and has
/// seen that it is still there: so it is nobody's.
fn take(part: &Path) -> io::Result<File> {
    for _ in 0..TRIES {
        match create(part) {
            // Others may have found it before it was locked.
            Ok(fresh) if lock(&fresh, part)? && is_at(&fresh, part) => return Ok(fresh),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists => clear(part)?,
            Err(error) => return Err(named(part, &error)),
        }
    }
    Err(being_written(part))
}

fn create(part: &Path) -> io::Result<File> {
    // Neither does it follow a link.
    OpenOptions::new().write(true).create_new(true).open(part)
}

/// Removes what a process that died left at `part`.
fn clear(part: &Path) -> io::Result<()> {
    let gone = |error: &io::Error| error.kind() == ErrorKind::NotFound;
    let found = match part.symlink_metadata() {
        Ok(found) => found,
        Err(error) if gone(&error) => return Ok(()),
        Err(error) => return Err(named(part, &error)),
    };
    if !found.is_file() {
        return Err(not_a_file(part, &found));
    }
    // Nor does it wait, should a pipe have taken the file's place.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let stale = match OpenOptions::new().read(true).custom_flags(flags).open(part) {
        Ok(stale) => stale,
        Err(error) if gone(&error) => return Ok(()),
        Err(error) => return Err(in_the_way(part, &error)),
    };
    if !lock(&stale, part)? {
        return Err(being_written(part));
    }
    match is_at(&stale, part).then(|| std::fs::remove_file(part)) {
        Some(Err(error)) => Err(in_the_way(part, &error)),
        Some(Ok(())) | None => Ok(()),
    }
}

/// Whether the file is now locked by this process, and not by another.
fn lock(file: &File, part: &Path) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(named(part, &error)),
    }
}

/// Whether `path` is a name of this very file.
fn is_at(file: &File, path: &Path) -> bool {
    let place = |found: &Metadata| (found.dev(), found.ino());
    match (file.metadata(), path.symlink_metadata()) {
        (Ok(open), Ok(there)) => place(&open) == place(&there),
        _ => false,
    }
}

fn being_written(part: &Path) -> io::Error {
    io::Error::other(format!(
        "another export is writing {}; let it end, or name another file",
        part.display()
    ))
}

fn in_the_way(part: &Path, error: &io::Error) -> io::Error {
    let words = format!(
        "{}, which an earlier export left, cannot be replaced: {error}; remove it, or name another \
         file",
        part.display()
    );
    io::Error::new(error.kind(), words)
}

fn not_a_file(part: &Path, found: &Metadata) -> io::Error {
    let what = match found.file_type() {
        kind if kind.is_symlink() => "a symbolic link",
        kind if kind.is_dir() => "a directory",
        _ => "no plain file",
    };
    io::Error::other(format!(
        "{} is {what}, and stands where the unfinished file is to be; move it away, or name another \
         file",
        part.display()
    ))
}

impl Write for PartFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes).map_err(|error| named(&self.part, &error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush().map_err(|error| named(&self.part, &error))
    }
}

impl Output for PartFile {
    fn commit(&mut self, _: &Written) -> io::Result<()> {
        self.file.sync_all().map_err(|error| named(&self.part, &error))?;
        if !self.is_ours() {
            return Err(io::Error::other(format!(
                "{} was moved or removed while it was written; export it again",
                self.part.display()
            )));
        }
        std::fs::rename(&self.part, &self.target).map_err(|error| named(&self.target, &error))
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        // Once it was renamed, what has this name is another's.
        if self.is_ours() {
            let _ = std::fs::remove_file(&self.part);
        }
    }
}
