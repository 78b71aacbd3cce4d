//! The archive around the parts of a workbook (APPNOTE.TXT 6.3.10).
//!
//! Sizes stand behind the entries, which leave while they come. An entry has less than 4 GiB, because a
//! size of eight bytes behind an entry has to be announced before it, and some programs cannot read what
//! does that. Where the entries begin may be further away than that.

use flate2::Crc;

use crate::error::{Error, Result};

/// The first day of the archives' calendar, at midnight.
const DAY: u16 = 1 << 5 | 1;
/// Sizes follow the data.
const SIZES_FOLLOW: u16 = 1 << 3;
const DEFLATED: u16 = 8;
/// What a reader must know: directories and Deflate; or sizes of eight bytes.
const PLAIN: u16 = 20;
const LARGE: u16 = 45;
/// Stands where a number has no room and is said elsewhere.
const ELSEWHERE: u32 = u32::MAX;

/// The entries of an archive.
#[derive(Debug, Default)]
pub(super) struct Directory {
    entries: Vec<Entry>,
    /// Where the next one begins.
    at: u64,
}

#[derive(Debug)]
struct Entry {
    path: String,
    at: u64,
    crc: u32,
    packed: u32,
    size: u32,
}

/// An entry that is being written.
#[derive(Debug)]
pub(super) struct Open {
    path: String,
    crc: Crc,
    packed: u64,
    size: u64,
    head: u64,
}

impl Open {
    /// Begins an entry at the end of `out`; its path is ASCII.
    pub(super) fn begin(path: String, out: &mut Vec<u8>) -> Self {
        let before = out.len();
        out.extend_from_slice(b"PK\x03\x04");
        two(&[PLAIN, SIZES_FOLLOW, DEFLATED, 0, DAY], out);
        four(&[0, 0, 0], out);
        two(&[length(&path), 0], out);
        out.extend_from_slice(path.as_bytes());
        let head = (out.len() - before) as u64;
        Self { path, crc: Crc::new(), packed: 0, size: 0, head }
    }

    /// Counts what comes next of the part and what became of it.
    pub(super) fn count(&mut self, plain: &[u8], packed: usize) {
        self.crc.update(plain);
        self.size += plain.len() as u64;
        self.packed += packed as u64;
    }
}

impl Directory {
    /// Ends an entry.
    ///
    /// # Errors
    /// [`Error::Internal`] for one of 4 GiB.
    pub(super) fn close(&mut self, open: Open, out: &mut Vec<u8>) -> Result<()> {
        let Open { path, crc, packed, size, head } = open;
        let small = |bytes: u64| {
            let small = u32::try_from(bytes).ok().filter(|bytes| *bytes < ELSEWHERE);
            small.ok_or_else(|| Error::internal("ending a part of a workbook", "it has 4 GiB"))
        };
        let (crc, packed_size, size) = (crc.sum(), small(packed)?, small(size)?);
        out.extend_from_slice(b"PK\x07\x08");
        four(&[crc, packed_size, size], out);
        self.entries.push(Entry { path, at: self.at, crc, packed: packed_size, size });
        self.at += head + packed + 16;
        Ok(())
    }

    /// Writes what ends the archive.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
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
    fn list(&self, out: &mut Vec<u8>) {
        let (at, far) = (said(self.at), self.at >= u64::from(ELSEWHERE));
        let needed = if far { LARGE } else { PLAIN };
        out.extend_from_slice(b"PK\x01\x02");
        two(&[needed, needed, SIZES_FOLLOW, DEFLATED, 0, DAY], out);
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

/// Paths of parts are short.
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
