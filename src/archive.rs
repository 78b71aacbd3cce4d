//! ZIP archives that leave while they are made (APPNOTE.TXT 6.3.10), the same bytes for the same
//! entries: no clock, no owner, nothing of the machine.
//!
//! An entry is packed while it leaves and says its sizes behind itself ([`Open`]), or is whole
//! beforehand and stands as it is ([`Whole`]). Either has less than 4 GiB, because a size of eight bytes
//! has to be announced before the entry, and some programs cannot read what does that. Where entries
//! begin may be further away than that, and there may be any number of them.

#[cfg(test)]
mod tests;

use flate2::Crc;

use crate::error::{Error, Result};

/// The first day of the archives' calendar, at midnight.
const DAY: u16 = 1 << 5 | 1;
/// Sizes follow the data.
const SIZES_FOLLOW: u16 = 1 << 3;
/// The path is UTF-8.
const UTF8: u16 = 1 << 11;
const STORED: u16 = 0;
const DEFLATED: u16 = 8;
/// What a reader must know: directories and Deflate; or sizes of eight bytes.
const PLAIN: u16 = 20;
const LARGE: u16 = 45;
/// Stands where a number has no room and is said elsewhere.
const ELSEWHERE: u32 = u32::MAX;

/// The entries of an archive.
#[derive(Debug, Default)]
pub struct Directory {
    entries: Vec<Entry>,
    /// Where the next one begins.
    at: u64,
}

#[derive(Debug, Clone)]
struct Entry {
    path: String,
    at: u64,
    flags: u16,
    method: u16,
    crc: u32,
    packed: u32,
    size: u32,
}

/// An entry that is being packed by Deflate.
#[derive(Debug)]
pub struct Open {
    entry: Entry,
    crc: Crc,
    packed: u64,
    size: u64,
    head: u64,
}

/// An entry that is whole, to stand in the archive as it is.
#[derive(Debug)]
pub struct Whole {
    entry: Entry,
    content: Vec<u8>,
}

impl Open {
    /// Begins an entry at the end of `out`; its path has less than 64 KiB.
    pub fn begin(path: String, out: &mut Vec<u8>) -> Self {
        let entry = Entry {
            flags: SIZES_FOLLOW | language(&path),
            method: DEFLATED,
            path,
            at: 0,
            crc: 0,
            packed: 0,
            size: 0,
        };
        let head = entry.begin(out);
        Self { entry, crc: Crc::new(), packed: 0, size: 0, head }
    }

    /// Counts what comes next of the entry and what became of it.
    pub fn count(&mut self, plain: &[u8], packed: usize) {
        self.crc.update(plain);
        self.size += plain.len() as u64;
        self.packed += packed as u64;
    }
}

impl Whole {
    /// An entry with this content.
    ///
    /// # Errors
    /// [`Error::Internal`] for one of 4 GiB, and for a path of 64 KiB.
    pub fn new(path: String, content: Vec<u8>) -> Result<Self> {
        if path.len() > usize::from(u16::MAX) {
            return Err(Error::internal("beginning an entry of an archive", "its path has 64 KiB"));
        }
        let mut crc = Crc::new();
        crc.update(&content);
        let size = small(content.len() as u64)?;
        let (flags, crc) = (language(&path), crc.sum());
        let entry = Entry { flags, method: STORED, path, at: 0, crc, packed: size, size };
        Ok(Self { entry, content })
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.entry.path
    }

    /// Its content.
    #[must_use]
    pub fn content(&self) -> &[u8] {
        &self.content
    }
}

impl Directory {
    /// Ends an entry.
    ///
    /// # Errors
    /// [`Error::Internal`] for one of 4 GiB.
    pub fn close(&mut self, open: Open, out: &mut Vec<u8>) -> Result<()> {
        let Open { mut entry, crc, packed, size, head } = open;
        (entry.crc, entry.packed, entry.size) = (crc.sum(), small(packed)?, small(size)?);
        out.extend_from_slice(b"PK\x07\x08");
        four(&[entry.crc, entry.packed, entry.size], out);
        self.list(entry, head + packed + 16);
        Ok(())
    }

    /// Writes an entry.
    pub fn put(&mut self, whole: &Whole, out: &mut Vec<u8>) {
        let head = whole.entry.begin(out);
        out.extend_from_slice(&whole.content);
        self.list(whole.entry.clone(), head + whole.content.len() as u64);
    }

    fn list(&mut self, entry: Entry, length: u64) {
        self.entries.push(Entry { at: self.at, ..entry });
        self.at += length;
    }

    /// Writes what ends the archive.
    pub fn write(&self, out: &mut Vec<u8>) {
        let before = out.len();
        for entry in &self.entries {
            entry.list(out);
        }
        let length = (out.len() - before) as u64;
        let (count, at) = (self.entries.len() as u64, self.at);
        let fits = u16::try_from(count).ok().filter(|count| *count < u16::MAX);
        if fits.is_none() || at >= u64::from(ELSEWHERE) {
            out.extend_from_slice(b"PK\x06\x06");
            // What follows of this record.
            eight(&[44], out);
            two(&[LARGE, LARGE], out);
            four(&[0, 0], out);
            eight(&[count, count, length, at], out);
            out.extend_from_slice(b"PK\x06\x07");
            four(&[0], out);
            eight(&[at + length], out);
            four(&[1], out);
        }
        out.extend_from_slice(b"PK\x05\x06");
        let count = fits.unwrap_or(u16::MAX);
        two(&[0, 0, count, count], out);
        four(&[said(length), said(at)], out);
        two(&[0], out);
    }
}

impl Entry {
    /// Writes what stands before its content; how long that is.
    fn begin(&self, out: &mut Vec<u8>) -> u64 {
        let before = out.len();
        out.extend_from_slice(b"PK\x03\x04");
        two(&[PLAIN, self.flags, self.method, 0, DAY], out);
        four(&[self.crc, self.packed, self.size], out);
        two(&[length(&self.path), 0], out);
        out.extend_from_slice(self.path.as_bytes());
        (out.len() - before) as u64
    }

    /// Writes its line of the directory.
    fn list(&self, out: &mut Vec<u8>) {
        let (at, far) = (said(self.at), self.at >= u64::from(ELSEWHERE));
        let needed = if far { LARGE } else { PLAIN };
        out.extend_from_slice(b"PK\x01\x02");
        two(&[needed, needed, self.flags, self.method, 0, DAY], out);
        four(&[self.crc, self.packed, self.size], out);
        two(&[length(&self.path), if far { 12 } else { 0 }, 0, 0, 0], out);
        four(&[0, at], out);
        out.extend_from_slice(self.path.as_bytes());
        if far {
            two(&[1, 8], out);
            eight(&[self.at], out);
        }
    }
}

/// A number, or the sign that it is said elsewhere.
fn said(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(ELSEWHERE)
}

/// A size that has its four bytes.
fn small(bytes: u64) -> Result<u32> {
    let small = u32::try_from(bytes).ok().filter(|bytes| *bytes < ELSEWHERE);
    small.ok_or_else(|| Error::internal("ending an entry of an archive", "it has 4 GiB"))
}

/// How a path is to be read.
fn language(path: &str) -> u16 {
    if path.is_ascii() { 0 } else { UTF8 }
}

/// Paths are short.
fn length(path: &str) -> u16 {
    u16::try_from(path.len()).unwrap_or(u16::MAX)
}

fn two(numbers: &[u16], out: &mut Vec<u8>) {
    out.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
}

fn four(numbers: &[u32], out: &mut Vec<u8>) {
    out.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
}

fn eight(numbers: &[u64], out: &mut Vec<u8>) {
    out.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
}
