//! Bytes to records, in constant memory. Knows quotes, and nothing of what the fields mean.

use std::io::Read;

use memchr::{memchr, memchr3};

use crate::error::{Error, Result};
use crate::sheets::fault::{self, fault};
use crate::sheets::sniff::reading;

/// How many bytes are read together.
const WINDOW: usize = 64 * 1024;
/// A field may have this many bytes.
const LARGEST_FIELD: usize = 1 << 20;
/// A record may have this many bytes …
const LARGEST_RECORD: usize = 16 << 20;
/// … and this many fields, empty ones too: as many as Excel has columns.
const MOST_FIELDS: usize = 16_384;

/// A record, as long as the next one is not asked for.
#[derive(Debug)]
pub(super) struct Record<'a> {
    /// Which one it is, from 1, blank lines included.
    pub(super) number: u64,
    text: &'a str,
    ends: &'a [Field],
}

/// Where a field ends, and whether it began with a quote.
#[derive(Debug, Clone, Copy)]
struct Field {
    end: usize,
    quoted: bool,
}

impl<'a> Record<'a> {
    /// The fields, without their quotes, and whether they had some.
    pub(super) fn fields(&self) -> impl Iterator<Item = (&'a str, bool)> + use<'a> {
        let (text, mut begin) = (self.text, 0);
        self.ends.iter().map(move |field| {
            let content = &text[begin..field.end];
            begin = field.end;
            (content, field.quoted)
        })
    }

    /// Whether it is a line with nothing in it.
    pub(super) fn is_blank(&self) -> bool {
        matches!(self.ends, [Field { end: 0, quoted: false }])
    }
}

/// Reads records.
pub(super) struct Records<R> {
    input: R,
    delimiter: u8,
    window: Vec<u8>,
    position: usize,
    ended: bool,
    /// The record being read: its fields' bytes, and where each ends.
    text: Vec<u8>,
    ends: Vec<Field>,
    number: u64,
    /// The line being read, from 1.
    line: u64,
}

/// What a field ended with.
#[derive(PartialEq, Eq)]
enum End {
    Field,
    Record,
}

impl<R: Read> Records<R> {
    pub(super) fn new(input: R, delimiter: u8) -> Self {
        Self {
            input,
            delimiter,
            window: Vec::new(),
            position: 0,
            ended: false,
            text: Vec::new(),
            ends: Vec::new(),
            number: 0,
            line: 1,
        }
    }

    /// The next record; `None` at the end.
    ///
    /// # Errors
    /// When a quote is never closed or something is larger than it may be.
    pub(super) fn next(&mut self) -> Result<Option<Record<'_>>> {
        if self.peek()?.is_none() {
            return Ok(None);
        }
        self.text.clear();
        self.ends.clear();
        self.number += 1;
        while self.field()? == End::Field {
            if self.ends.len() >= MOST_FIELDS {
                return Err(self.too_many());
            }
        }
        let text = std::str::from_utf8(&self.text)
            .map_err(|error| Error::internal("reading a text that was UTF-8 before", error))?;
        Ok(Some(Record { number: self.number, text, ends: &self.ends }))
    }

    /// The next byte, which stays the next.
    #[inline]
    fn peek(&mut self) -> Result<Option<u8>> {
        if self.position == self.window.len() && !self.ended {
            self.window.resize(WINDOW, 0);
            let filled = self.input.read(&mut self.window).map_err(reading)?;
            self.window.truncate(filled);
            self.position = 0;
            self.ended = filled == 0;
        }
        Ok(self.window.get(self.position).copied())
    }

    /// Reads a field, and what it ends with.
    fn field(&mut self) -> Result<End> {
        let begin = self.text.len();
        let quoted = self.peek()? == Some(b'"');
        let opened = self.line;
        if quoted {
            self.position += 1;
            self.quoted(begin, opened)?;
        }
        let end = self.plain(begin)?;
        self.ends.push(Field { end: self.text.len(), quoted });
        Ok(end)
    }

    /// Reads what is between quotes, and the closing one.
    fn quoted(&mut self, begin: usize, opened: u64) -> Result<()> {
        loop {
            if self.peek()?.is_none() {
                return Err(self.unterminated(opened));
            }
            let rest = &self.window[self.position..];
            let quote = memchr(b'"', rest);
            let taken = &rest[..quote.unwrap_or(rest.len())];
            self.line += lines(taken);
            self.text.extend_from_slice(taken);
            self.position += taken.len();
            self.check(begin, Some(opened))?;
            if quote.is_some() {
                self.position += 1;
                if self.peek()? != Some(b'"') {
                    return Ok(());
                }
                self.text.push(b'"');
                self.position += 1;
            }
        }
    }

    /// Reads what is not between quotes, up to a delimiter or the end of the line, and that.
    fn plain(&mut self, begin: usize) -> Result<End> {
        loop {
            if self.peek()?.is_none() {
                return Ok(End::Record);
            }
            let rest = &self.window[self.position..];
            let stop = memchr3(self.delimiter, b'\n', b'\r', rest);
            let taken = &rest[..stop.unwrap_or(rest.len())];
            let ended_by = stop.map(|at| rest[at]);
            self.text.extend_from_slice(taken);
            self.position += taken.len();
            self.check(begin, None)?;
            let Some(byte) = ended_by else { continue };
            self.position += 1;
            if byte == self.delimiter {
                return Ok(End::Field);
            }
            self.line += 1;
            if byte == b'\r' && self.peek()? == Some(b'\n') {
                self.position += 1;
            }
            return Ok(End::Record);
        }
    }

    fn check(&self, begin: usize, opened: Option<u64>) -> Result<()> {
        if self.text.len() - begin > LARGEST_FIELD {
            return Err(self.large_field(opened));
        }
        if self.text.len() > LARGEST_RECORD {
            return Err(fault(
                fault::ROW,
                format!(
                    "row {} holds more than {} MiB; a row of a table has less, so see whether its \
                     lines end where they should",
                    self.number,
                    LARGEST_RECORD >> 20
                ),
            ));
        }
        Ok(())
    }

    fn large_field(&self, opened: Option<u64>) -> Error {
        let way_out = opened.map_or_else(
            || "see whether its lines and values end where they should".to_owned(),
            |line| format!("see whether the quote that opens in line {line} is closed"),
        );
        fault(
            fault::VALUE,
            format!("a value in row {} is longer than 1 MiB; {way_out}", self.number),
        )
    }

    fn unterminated(&self, opened: u64) -> Error {
        fault(
            fault::QUOTE,
            format!(
                "in row {} a quote opens in line {opened} and is never closed, so everything behind \
                 it would be one value; close it, or double it if it belongs to the text",
                self.number
            ),
        )
    }

    fn too_many(&self) -> Error {
        fault(
            fault::COLUMNS,
            format!(
                "row {} has more than {MOST_FIELDS} values, more than a spreadsheet has columns; \
                 see whether its lines end where they should",
                self.number
            ),
        )
    }
}

/// How many lines end in a text.
fn lines(text: &[u8]) -> u64 {
    let feeds = memchr::memchr_iter(b'\n', text).count();
    let ends = if feeds == 0 { memchr::memchr_iter(b'\r', text).count() } else { feeds };
    ends as u64
}
