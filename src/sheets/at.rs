//! A file read from a position of one's own.
//!
//! A file handed to a child process shares its offset with ours, and two readers of one workbook would
//! share it with each other; this reads by position and never moves it.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// A place in a file.
#[derive(Debug, Clone)]
pub(super) struct At {
    file: Arc<File>,
    position: u64,
}

impl At {
    /// The beginning of a file.
    pub(super) fn start(file: Arc<File>) -> Self {
        Self { file, position: 0 }
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
