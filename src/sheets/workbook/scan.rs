//! What is looked for in a part of a package while it streams by: a document type, hidden rows, and
//! errors that calamine passes over. Each scan is fed pieces and says how much of them it is done with.

use memchr::memmem::Finder;
use memchr::{memchr, memchr_iter, memrchr};

use super::tags::Tag;

/// A formula of an xlsb sheet whose result is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FormulaError {
    pub(super) row: u32,
    pub(super) column: u32,
    pub(super) text: &'static str,
}

/// What was seen in a part.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Whether it has a document type.
    pub(super) document_type: bool,
    /// Hidden rows, in each table of an `OpenDocument`, or in the only one.
    pub(super) hidden: Vec<u64>,
    /// Formulas whose result is an error, in the order of the sheet.
    pub(super) errors: Vec<FormulaError>,
}

/// Looks at XML.
#[derive(Debug)]
pub(super) struct XmlScan {
    rows: Rows,
    /// What is looked for where there are rows.
    needle: Finder<'static>,
}

/// How rows of a kind of sheet look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rows {
    /// This part has none.
    None,
    /// `<row hidden="1">`.
    Office,
    /// `<table:table-row table:visibility="collapse">`, in several tables.
    OpenDocument,
}

impl XmlScan {
    pub(super) fn new(rows: Rows) -> Self {
        let needle = match rows {
            Rows::OpenDocument => "<table:table",
            Rows::Office | Rows::None => "hidden=",
        };
        Self { rows, needle: Finder::new(needle) }
    }

    /// Looks at the next bytes; gives how many of them are done with.
    pub(super) fn eat(&self, bytes: &[u8], seen: &mut Seen) -> usize {
        // A tag that has begun and not ended waits for its end.
        let whole = memrchr(b'<', bytes).filter(|at| memchr(b'>', &bytes[*at..]).is_none());
        let bytes = &bytes[..whole.unwrap_or(bytes.len())];
        seen.document_type = seen.document_type || has_document_type(bytes);
        match self.rows {
            Rows::None => {}
            Rows::Office => self.office(bytes, seen),
            Rows::OpenDocument => self.open_document(bytes, seen),
        }
        bytes.len()
    }

    fn office(&self, bytes: &[u8], seen: &mut Seen) {
        for at in self.needle.find_iter(bytes) {
            let Some(tag) = around(bytes, at) else { continue };
            let hidden = matches!(tag.attribute(b"hidden"), Some(b"1" | b"true"));
            // A row that ends at once has no cells.
            if hidden && tag.name() == b"row" && !tag.0.ends_with(b"/") {
                count(seen);
            }
        }
    }

    fn open_document(&self, bytes: &[u8], seen: &mut Seen) {
        for at in self.needle.find_iter(bytes) {
            let Some(tag) = around(bytes, at + 1) else { continue };
            match tag.name() {
                b"table" => seen.hidden.push(0),
                b"table-row" => {
                    let visible = matches!(tag.attribute(b"visibility"), None | Some(b"visible"));
                    // Repeated rows fill a sheet up and are blank.
                    if !visible && tag.attribute(b"number-rows-repeated").is_none() {
                        count(seen);
                    }
                }
                _ => {}
            }
        }
    }
}

fn count(seen: &mut Seen) {
    match seen.hidden.last_mut() {
        Some(last) => *last += 1,
        None => seen.hidden.push(1),
    }
}

/// The tag that the byte at `at` lies in.
fn around(bytes: &[u8], at: usize) -> Option<Tag<'_>> {
    let begin = memrchr(b'<', &bytes[..at])? + 1;
    let end = at + memchr(b'>', &bytes[at..])?;
    (memchr(b'>', &bytes[begin..at]).is_none()).then(|| Tag(&bytes[begin..end]))
}

fn has_document_type(bytes: &[u8]) -> bool {
    memchr_iter(b'!', bytes).any(|at| {
        let after = &bytes[at + 1..];
        let begins = at > 0 && bytes[at - 1] == b'<';
        begins && after.len() >= 7 && after[..7].eq_ignore_ascii_case(b"doctype")
    })
}

/// Looks at the records of an xlsb sheet (MS-XLSB 2.1.4).
#[derive(Debug, Default)]
pub(super) struct RecordScan {
    row: u32,
    /// Bytes of a record's body that are still to come.
    skip: usize,
}

/// Bytes of a body that are looked at.
const BODY: usize = 12;
const ROW: u16 = 0x0000;
const FORMULA_ERROR: u16 = 0x000B;

impl RecordScan {
    /// Looks at the next bytes; gives how many of them are done with.
    pub(super) fn eat(&mut self, bytes: &[u8], seen: &mut Seen) -> usize {
        let mut done = self.skip.min(bytes.len());
        self.skip -= done;
        while let Some((kind, length, head)) = record(&bytes[done..]) {
            let body = &bytes[done + head..];
            if body.len() < length.min(BODY) {
                break;
            }
            self.look(kind, &body[..length.min(BODY)], seen);
            let there = length.min(body.len());
            self.skip = length - there;
            done += head + there;
        }
        done
    }

    fn look(&mut self, kind: u16, body: &[u8], seen: &mut Seen) {
        let word = body.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
        match (kind, word) {
            (ROW, Some(row)) => {
                self.row = row;
                // fDyZero
                if body.get(11).is_some_and(|flags| flags & 0x10 != 0) {
                    count(seen);
                }
            }
            (FORMULA_ERROR, Some(column)) => {
                let text = body.get(8).map_or("#VALUE!", |code| error(*code));
                seen.errors.push(FormulaError { row: self.row, column, text });
            }
            _ => {}
        }
    }
}

/// Kind, length and own size of the record head that `bytes` begin with.
pub(super) fn record(bytes: &[u8]) -> Option<(u16, usize, usize)> {
    let (kind, size) = match *bytes {
        [low, ..] if low & 0x80 == 0 => (u16::from(low), 1),
        [low, high, ..] => (u16::from(low & 0x7F) | u16::from(high & 0x7F) << 7, 2),
        _ => return None,
    };
    let mut length = 0;
    for (place, byte) in bytes[size..].iter().take(4).enumerate() {
        length |= usize::from(byte & 0x7F) << (7 * place);
        if byte & 0x80 == 0 || place == 3 {
            return Some((kind, length, size + place + 1));
        }
    }
    None
}

fn error(code: u8) -> &'static str {
    match code {
        0x00 => "#NULL!",
        0x07 => "#DIV/0!",
        0x17 => "#REF!",
        0x1D => "#NAME?",
        0x24 => "#NUM!",
        0x2A => "#N/A",
        0x2B => "#GETTING_DATA",
        _ => "#VALUE!",
    }
}
