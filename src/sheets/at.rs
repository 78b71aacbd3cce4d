//! A file read from a position of one's own.
//!
//! A file handed to a child process shares its offset with ours, and two readers of one workbook would
//! share it with each other; this reads by position and never moves it.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use crate::error::Error;

/// A place in a file.
#[derive(Debug, Clone)]
pub(super) struct At {
    file: Arc<File>,
    position: u64,
    /// Where the head ends, for whoever reads no further.
    end: Option<u64>,
}

/// What reading on behind the head of a file comes to: no end of the file, and no failure.
#[derive(Debug)]
struct HeadIsOver;

impl std::fmt::Display for HeadIsOver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the head of the file is over")
    }
}

impl std::error::Error for HeadIsOver {}

/// Whether nothing more went wrong than that the head of a file was over.
pub(super) fn is_end_of_head(error: &Error) -> bool {
    let Error::Internal { source, .. } = error else { return false };
    let inner = source.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    inner.is_some_and(<dyn std::error::Error + Send + Sync>::is::<HeadIsOver>)
}

impl At {
    /// The beginning of a file.
    pub(super) fn start(file: Arc<File>) -> Self {
        Self { file, position: 0, end: None }
    }

    /// The same place, where nothing is read behind the first `end` bytes.
    pub(super) fn up_to(self, end: u64) -> Self {
        Self { end: Some(end), ..self }
    }

    /// Whether the head that alone is read ends here, and the file does not.
    pub(super) fn is_at_end_of_head(&self) -> bool {
        self.end.is_some_and(|end| self.position >= end)
            && self.size().is_ok_and(|size| self.position < size)
    }

    /// The file.
    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// How many bytes the file has.
    pub(super) fn size(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// The first bytes of the file, as many as there are and fit.
    pub(super) fn head(&self, room: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < room.len() {
            match self.file.read_at(&mut room[filled..], filled as u64) {
                Ok(0) => break,
                Ok(more) => filled += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }
}

impl Read for At {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        if self.is_at_end_of_head() {
            return Err(io::Error::other(HeadIsOver));
        }
        let left = self.end.map_or(u64::MAX, |end| end.saturating_sub(self.position).max(1));
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(room.len());
        let room = &mut room[..most];
        let read = self.file.read_at(room, self.position)?;
        self.position += read as u64;
        Ok(read)
    }
}

impl Seek for At {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(offset) => self.size()?.checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}
