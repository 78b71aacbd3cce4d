//! The workbook as `rust_xlsxwriter` writes it, row by row, in its mode of constant memory.
//!
//! Rows go, uncompressed, into a nameless file in the directory for temporary files; `finish` reads
//! them back and compresses them on their way out, so that a workbook of any size takes a few
//! megabytes of memory.
//!
//! A control character that follows on `_x` and four hexadecimal digits is not read back as such, for
//! the escape of the one completes the other.

use std::fmt;
use std::io::Write;
use std::path::PathBuf;

use rust_xlsxwriter::{Worksheet, XlsxError};

use super::book::{Book, guarded};
use super::cells::Cells;
use super::grid::{Grid, Number, Shown};
use super::looks::Looks;
use super::text::xml_size;
use super::{LIMITS, Limits, cells_of, not_open, too_wide};
use crate::error::Result;
use crate::formats::{Options, same_width};
use crate::rows::{Column, Encoder, Value, Warning};

/// Bytes of a row's own tags, at most.
const ROW: u64 = 32;
/// The most bytes that a cell takes besides its text.
const CELL: u64 = 96;

/// Writes rows by the library.
pub struct LibraryEncoder {
    columns: Vec<Cells>,
    title: String,
    temp_dir: PathBuf,
    level: u8,
    pub(super) limits: Limits,
    looks: Looks,
    /// From `begin` to `finish`.
    open: Option<(Book, Sheet)>,
}

/// The sheet that rows go onto.
struct Sheet {
    worksheet: Worksheet,
    /// Rows so far, the header not counted: the place of the last one.
    rows: u32,
    /// An upper bound of its XML's size.
    bytes: u64,
}

impl LibraryEncoder {
    pub(super) fn new(columns: &[Column], options: &Options) -> Self {
        let columns = cells_of(columns, options);
        Self {
            title: options.title.clone(),
            temp_dir: options.temp_dir.clone(),
            level: options.level,
            limits: LIMITS,
            looks: Looks::new(&columns),
            columns,
            open: None,
        }
    }

    fn sheet(&self, book: &mut Book) -> Result<Sheet> {
        let mut worksheet = book.sheet()?;
        guarded("writing a header", || {
            worksheet.set_freeze_panes(1, 0)?;
            for (index, column) in (0..).zip(&self.columns) {
                worksheet.set_column_width(index, column.width)?;
                if let Some(shown) = column.shown() {
                    worksheet.set_column_format(index, self.looks.of(index, shown))?;
                }
                let header = column.header();
                worksheet.write_string_with_format(0, index, header, &self.looks.header)?;
            }
            Ok(())
        })?;
        Ok(Sheet { worksheet, rows: 0, bytes: 0 })
    }

    /// Begins a further sheet where the last one is full.
    fn turn(&mut self) -> Result<()> {
        let limits = self.limits;
        let full = |sheet: &Sheet| limits.are_reached(sheet.rows, sheet.bytes);
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
        let mut grid = Row { sheet: self, looks };
        for ((column, value), cells) in (0..).zip(row).zip(cells) {
            cells.write(*value, column, &mut grid)?;
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

/// The last row of a sheet.
struct Row<'r> {
    sheet: &'r mut Sheet,
    looks: &'r Looks,
}

impl Grid for Row<'_> {
    type Error = XlsxError;

    fn text(&mut self, column: u16, text: &str) -> Result<(), XlsxError> {
        self.sheet.bytes += CELL + xml_size(text);
        self.sheet.worksheet.write_string(self.sheet.rows, column, text).map(drop)
    }

    fn truth(&mut self, column: u16, truth: bool) -> Result<(), XlsxError> {
        self.sheet.bytes += CELL;
        self.sheet.worksheet.write_boolean(self.sheet.rows, column, truth).map(drop)
    }

    fn number(
        &mut self,
        column: u16,
        number: Number<'_>,
        shown: Option<Shown>,
    ) -> Result<(), XlsxError> {
        self.sheet.bytes += CELL;
        // Spreadsheets have no negative zero.
        let number = double(number) + 0.0;
        let Sheet { worksheet, rows, .. } = &mut *self.sheet;
        match shown {
            // Looking a format up costs as much as the rest of a cell.
            None => worksheet.write_number(*rows, column, number).map(drop),
            Some(shown) => {
                let format = self.looks.of(column, shown);
                worksheet.write_number_with_format(*rows, column, number, format).map(drop)
            }
        }
    }

    fn show(&mut self, column: u16, shown: Shown) -> Result<(), XlsxError> {
        let format = self.looks.of(column, shown);
        self.sheet.worksheet.set_column_format(column, format).map(drop)
    }
}

fn double(number: Number<'_>) -> f64 {
    match number {
        #[expect(clippy::cast_precision_loss, reason = "it has at most 15 digits")]
        Number::Int(number) => number as f64,
        Number::Digits(digits) => digits.parse().unwrap_or(f64::NAN),
        Number::Float(number) => number,
        // By the digits that the other formats write.
        Number::Real(number) => {
            zmij::Buffer::new().format_finite(number).parse().unwrap_or(f64::NAN)
        }
    }
}

impl Encoder for LibraryEncoder {
    fn begin(&mut self, _out: &mut Vec<u8>) -> Result<()> {
        too_wide(self.columns.len())?;
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

impl fmt::Debug for LibraryEncoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (title, columns) = (&self.title, &self.columns);
        f.debug_struct("LibraryEncoder")
            .field("title", title)
            .field("columns", columns)
            .finish_non_exhaustive()
    }
}
