//! xlsx: a workbook with as many sheets as the rows need.
//!
//! Two writers make the same cells. The poured one sends rows on while they come, as the XML of a sheet
//! in a ZIP archive, and has `rust_xlsxwriter` make everything else of the book; the library's own gathers
//! them in a temporary file first. The same rows give the same bytes.
//!
//! Text is a string cell and never anything else, whatever it looks like. An empty text leaves its cell
//! empty, as a null does.

mod book;
mod cells;
mod grid;
mod handed_back;
mod library;
mod looks;
mod poured;
mod quiet;
mod serial;
pub mod sheet_names;
mod template;
mod text;

#[cfg(test)]
mod tests;

use std::io::Write;

use self::cells::Cells;
use self::library::LibraryEncoder;
use self::poured::PouredEncoder;
pub use handed_back::{HandedBack, Sent};
pub use quiet::hush_full_disks;
pub use template::{FormColumn, form};

use super::{Header, Options, XlsxWriter};
use crate::error::{Error, Result};
use crate::rows::{Column, Encoder, Value, Warning};

/// Columns of a sheet ("Excel specifications and limits").
const COLUMNS: usize = 16_384;

/// How much goes onto one sheet.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// Rows besides the header.
    rows: u32,
    /// Bytes of its XML: an archive's entry has at most 4 GiB where spreadsheets are to read it.
    bytes: u64,
}

const LIMITS: Limits = Limits { rows: 1_048_575, bytes: 4_000_000_000 };

impl Limits {
    /// Whether a further row belongs onto a further sheet.
    fn are_reached(self, rows: u32, bytes: u64) -> bool {
        rows >= self.rows || (bytes >= self.bytes && rows > 0)
    }
}

/// Writes rows as a workbook: a bold header that stays in sight on every sheet, with filters.
#[derive(Debug)]
pub enum XlsxEncoder {
    /// Rows leave while they come.
    Poured(Box<PouredEncoder>),
    /// All leaves at the end.
    Library(Box<LibraryEncoder>),
}

impl XlsxEncoder {
    /// An encoder for rows of these columns. A workbook always has a header; [`Header::None`] is
    /// taken for [`Header::Title`].
    #[must_use]
    pub fn new(columns: &[Column], options: &Options) -> Self {
        match options.writer {
            XlsxWriter::Poured => Self::Poured(Box::new(PouredEncoder::new(columns, options))),
            XlsxWriter::Library => Self::Library(Box::new(LibraryEncoder::new(columns, options))),
        }
    }
}

impl Encoder for XlsxEncoder {
    fn begin(&mut self, out: &mut Vec<u8>) -> Result<()> {
        match self {
            Self::Poured(encoder) => encoder.begin(out),
            Self::Library(encoder) => encoder.begin(out),
        }
    }

    fn row(&mut self, row: &[Value<'_>], out: &mut Vec<u8>) -> Result<()> {
        match self {
            Self::Poured(encoder) => encoder.row(row, out),
            Self::Library(encoder) => encoder.row(row, out),
        }
    }

    fn flush(&mut self, all: bool, out: &mut Vec<u8>) -> Result<bool> {
        match self {
            Self::Poured(encoder) => encoder.flush(all, out),
            Self::Library(encoder) => encoder.flush(all, out),
        }
    }

    fn finish(&mut self, out: &mut (dyn Write + Send)) -> Result<()> {
        match self {
            Self::Poured(encoder) => encoder.finish(out),
            Self::Library(encoder) => encoder.finish(out),
        }
    }

    fn take_warnings(&mut self) -> Vec<Warning> {
        match self {
            Self::Poured(encoder) => encoder.take_warnings(),
            Self::Library(encoder) => encoder.take_warnings(),
        }
    }
}

fn cells_of(columns: &[Column], options: &Options) -> Vec<Cells> {
    let cells = |column: &Column| {
        let header = match options.header {
            Header::Title | Header::None => &column.title,
            Header::Key => &column.key,
        };
        Cells::new(column, header, options)
    };
    columns.iter().map(cells).collect()
}

/// Refuses more columns than a sheet has.
fn too_wide(columns: usize) -> Result<()> {
    if columns <= COLUMNS {
        return Ok(());
    }
    Err(Error::TooLarge(format!(
        "a sheet has {COLUMNS} columns at most and these rows have {columns}; ask for fewer with \
         \"columns\", or for another format"
    )))
}

fn not_open() -> Error {
    Error::internal("writing a workbook", "it was not begun, or it is finished")
}
