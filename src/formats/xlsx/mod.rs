//! xlsx: a workbook with as many sheets as the rows need, by `rust_xlsxwriter` in constant memory.
//!
//! Rows go, uncompressed, into a nameless file in the directory for temporary files; `finish` reads
//! them back and compresses them on their way out, so that a workbook of any size takes a few
//! megabytes of memory. The same rows give the same bytes.
//!
//! Text is a string cell and never anything else, whatever it looks like. Two things the library
//! writes otherwise than the other formats would: an empty text leaves its cell empty, as a null
//! does; and a control character that follows on `_x` and four hexadecimal digits is not read back
//! as such, for the escape of the one completes the other.

mod book;
mod cells;
mod handed_back;
mod looks;
mod quiet;
mod serial;
pub mod sheet_names;
mod template;
mod text;

#[cfg(test)]
mod tests;

use std::fmt;
use std::io::Write;
use std::path::PathBuf;

use rust_xlsxwriter::{Worksheet, XlsxError};

use self::book::{Book, guarded};
use self::cells::Cells;
pub use handed_back::{HandedBack, Sent};
pub use quiet::hush_full_disks;
pub use template::{FormColumn, form};

use self::looks::Looks;
use super::{Header, Options, same_width};
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

/// Bytes of a row's own tags, at most.
const ROW: u64 = 32;

/// Writes rows as a workbook: a bold header that stays in sight on every sheet, with filters.
pub struct XlsxEncoder {
    columns: Vec<Cells>,
    title: String,
    temp_dir: PathBuf,
    level: u8,
    limits: Limits,
    looks: Looks,
    /// From `begin` to `finish`.
    open: Option<(Book, Sheet)>,
}

/// The sheet that rows go onto.
struct Sheet {
    worksheet: Worksheet,
    /// Rows so far, the header not counted: the place of the last one.
    rows: u32,
    bytes: u64,
}

impl XlsxEncoder {
    /// An encoder for rows of these columns. A workbook always has a header; [`Header::None`] is
    /// taken for [`Header::Title`].
    #[must_use]
    pub fn new(columns: &[Column], options: &Options) -> Self {
        let cells = |column: &Column| {
            let header = match options.header {
                Header::Title | Header::None => &column.title,
                Header::Key => &column.key,
            };
            Cells::new(column, header, options)
        };
        Self {
            columns: columns.iter().map(cells).collect(),
            title: options.title.clone(),
            temp_dir: options.temp_dir.clone(),
            level: options.level,
            limits: LIMITS,
            looks: Looks::new(),
            open: None,
        }
    }

    fn sheet(&self, book: &mut Book) -> Result<Sheet> {
        let mut worksheet = book.sheet()?;
        guarded("writing a header", || {
            worksheet.set_freeze_panes(1, 0)?;
            for (index, column) in (0..).zip(&self.columns) {
                column.begin(index, &mut worksheet, &self.looks)?;
            }
            Ok(())
        })?;
        Ok(Sheet { worksheet, rows: 0, bytes: 0 })
    }

    /// Begins a further sheet where the last one is full.
    fn turn(&mut self) -> Result<()> {
        let full = |sheet: &Sheet| {
            sheet.rows >= self.limits.rows || (sheet.bytes >= self.limits.bytes && sheet.rows > 0)
        };
        let Some((mut book, sheet)) = self.open.take_if(|(_, sheet)| full(sheet)) else {
            return Ok(());
        };
        sheet.close(self.columns.len(), &mut book)?;
        let next = self.sheet(&mut book)?;
        self.open = Some((book, next));
        Ok(())
    }
}

impl Sheet {
    fn row(
        &mut self,
        row: &[Value<'_>],
        cells: &mut [Cells],
        looks: &Looks,
    ) -> Result<(), XlsxError> {
        self.rows += 1;
        self.bytes += ROW;
        for ((column, value), cells) in (0..).zip(row).zip(cells) {
            let place = (self.rows, column);
            self.bytes += cells.write(*value, place, &mut self.worksheet, looks)?;
        }
        Ok(())
    }

    /// Puts the filters over the rows and the sheet into the book.
    fn close(mut self, columns: usize, book: &mut Book) -> Result<()> {
        if let Some(last) = columns.checked_sub(1).and_then(|last| u16::try_from(last).ok()) {
            guarded("closing a sheet", || {
                self.worksheet.autofilter(0, 0, self.rows, last).map(drop)
            })?;
        }
        book.add(self.worksheet);
        Ok(())
    }
}

impl Encoder for XlsxEncoder {
    fn begin(&mut self, _out: &mut Vec<u8>) -> Result<()> {
        let columns = self.columns.len();
        if columns > COLUMNS {
            return Err(Error::TooLarge(format!(
                "a sheet has {COLUMNS} columns at most and these rows have {columns}; ask for fewer \
                 with \"columns\", or for another format"
            )));
        }
        let mut book = Book::new(&self.title, &self.temp_dir, self.level)?;
        let sheet = self.sheet(&mut book)?;
        self.open = Some((book, sheet));
        Ok(())
    }

    fn row(&mut self, row: &[Value<'_>], _out: &mut Vec<u8>) -> Result<()> {
        same_width(self.columns.len(), row)?;
        self.turn()?;
        let (_, sheet) = self.open.as_mut().ok_or_else(not_open)?;
        guarded("writing a row", || sheet.row(row, &mut self.columns, &self.looks))
    }

    fn finish(&mut self, out: &mut (dyn Write + Send)) -> Result<()> {
        let (mut book, sheet) = self.open.take().ok_or_else(not_open)?;
        sheet.close(self.columns.len(), &mut book)?;
        book.save(out)
    }

    fn take_warnings(&mut self) -> Vec<Warning> {
        self.columns.iter_mut().filter_map(Cells::take_warning).collect()
    }
}

fn not_open() -> Error {
    Error::internal("writing a workbook", "it was not begun, or it is finished")
}

impl fmt::Debug for XlsxEncoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (title, columns) = (&self.title, &self.columns);
        f.debug_struct("XlsxEncoder")
            .field("title", title)
            .field("columns", columns)
            .finish_non_exhaustive()
    }
}
