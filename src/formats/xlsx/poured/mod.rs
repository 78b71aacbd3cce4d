//! The workbook as it leaves while its rows come.
//!
//! The library makes a workbook with the same sheets, columns, styles and filters, but without rows. All
//! its parts but the sheets go into the outgoing archive as they are; of a sheet, what stands before its
//! rows and what stands after them. The rows in between are ours. The parts that list the sheets come
//! last, when it is known how many there are, and with them the texts that cells share. Compression
//! has a thread of its own, and takes from whoever writes the rows where their cells begin.

mod archive;
mod deflate;
mod frame;
mod huffman;
mod repeats;
mod rows;
mod strings;
mod xml;

#[cfg(test)]
mod tests;

use std::fmt;
use std::io::Write;

use self::archive::Archive;
use self::frame::Frame;
use self::repeats::{Mark, Piece, ROW};
use self::rows::Row;
use super::cells::Cells;
use super::looks::Looks;
use super::{LIMITS, Limits, cells_of, not_open, too_wide};
use crate::error::{Error, Result};
use crate::formats::{Options, same_width};
use crate::rows::{Column, Encoder, Value, Warning};

/// Bytes of XML handed to the compressor at once.
const BLOCK: usize = 128 << 10;

/// The parts that say nothing of the sheets, by which programs tell what the file is.
const FIRST: [&str; 3] = ["_rels/.rels", "docProps/core.xml", "xl/theme/theme1.xml"];

/// Writes rows while they come.
pub struct PouredEncoder {
    columns: Vec<Cells>,
    level: u8,
    pub(super) limits: Limits,
    frame: Frame,
    /// What was written of the sheet and not handed on.
    piece: Piece,
    /// From the first row of a sheet until it is full.
    sheet: Option<Sheet>,
    /// From `begin` to `finish`.
    archive: Option<Archive>,
}

/// The sheet that rows go onto.
#[derive(Debug, Default)]
struct Sheet {
    /// Rows so far, the header not counted.
    rows: u32,
    /// Bytes of it that were handed on.
    bytes: u64,
}

impl PouredEncoder {
    pub(super) fn new(columns: &[Column], options: &Options) -> Self {
        let columns = cells_of(columns, options);
        Self {
            level: options.level,
            limits: LIMITS,
            frame: Frame::new(&options.title, Looks::new(&columns), columns.len()),
            piece: Piece::default(),
            sheet: None,
            archive: None,
            columns,
        }
    }

    /// Begins a sheet with its first row, whose values say what some columns are shown as.
    fn open(&mut self, first: Option<&[Value<'_>]>) -> Result<()> {
        self.frame.begin(&self.columns);
        let mut line = Piece::default();
        let mut rows = 0;
        if let Some(row) = first {
            rows = 1;
            Row::new(rows, &mut line, &mut self.frame).write(row, &mut self.columns)?;
        }
        let path = self.frame.path();
        self.piece.bytes.extend_from_slice(&self.frame.head(&self.columns)?);
        self.frame.header(&self.columns, &mut self.piece.bytes);
        // Without its marks, which count from its own beginning.
        self.piece.bytes.extend_from_slice(&line.bytes);
        self.archive.as_mut().ok_or_else(not_open)?.open(path)?;
        self.sheet = Some(Sheet { rows, bytes: 0 });
        Ok(())
    }

    /// Ends the sheet that rows went onto.
    fn close(&mut self, sheet: &Sheet) -> Result<()> {
        let tail = self.frame.tail(sheet.rows)?;
        // Whether or not the rows before it are gone already, it is compressed the same.
        self.piece.marks.push(Mark { at: self.piece.bytes.len(), column: ROW, text: true });
        self.piece.bytes.extend_from_slice(&tail);
        self.archive.as_mut().ok_or_else(not_open)?.pass(&mut self.piece)
    }

    /// Hands on what was written.
    fn pass(&mut self) -> Result<&mut Archive> {
        let archive = self.archive.as_mut().ok_or_else(not_open)?;
        if let Some(sheet) = &mut self.sheet
            && !self.piece.bytes.is_empty()
        {
            sheet.bytes += self.piece.bytes.len() as u64;
            archive.pass(&mut self.piece)?;
        }
        Ok(archive)
    }

    fn next(&mut self, row: &[Value<'_>]) -> Result<()> {
        let (limits, waiting) = (self.limits, self.piece.bytes.len() as u64);
        let full = |sheet: &mut Sheet| limits.are_reached(sheet.rows, sheet.bytes + waiting);
        if let Some(sheet) = self.sheet.take_if(full) {
            self.close(&sheet)?;
        }
        let Some(sheet) = &mut self.sheet else { return self.open(Some(row)) };
        sheet.rows += 1;
        Row::new(sheet.rows, &mut self.piece, &mut self.frame).write(row, &mut self.columns)
    }
}

impl Encoder for PouredEncoder {
    fn begin(&mut self, out: &mut Vec<u8>) -> Result<()> {
        too_wide(self.columns.len())?;
        let mut archive = Archive::begin(self.level)?;
        let mut parts = self.frame.parts()?;
        for path in FIRST {
            let missing = || Error::internal("making the frame of a workbook", path);
            archive.part(path.into(), parts.take(path).ok_or_else(missing)?)?;
        }
        archive.take_some(out);
        self.archive = Some(archive);
        Ok(())
    }

    #[inline]
    fn row(&mut self, row: &[Value<'_>], out: &mut Vec<u8>) -> Result<()> {
        same_width(self.columns.len(), row)?;
        self.next(row)?;
        if self.piece.bytes.len() >= BLOCK {
            self.pass()?.take(out);
        }
        Ok(())
    }

    fn flush(&mut self, all: bool, out: &mut Vec<u8>) -> Result<bool> {
        // Nothing is held back before the beginning and after the end.
        if self.archive.is_none() {
            return Ok(false);
        }
        let archive = self.pass()?;
        if all {
            archive.wait();
        }
        archive.take(out);
        Ok(archive.is_at_work())
    }

    fn finish(&mut self, out: &mut (dyn Write + Send)) -> Result<()> {
        if self.sheet.is_none() {
            self.open(None)?;
        }
        if let Some(sheet) = self.sheet.take() {
            self.close(&sheet)?;
        }
        let mut archive = self.archive.take().ok_or_else(not_open)?;
        for (path, content) in self.frame.parts()?.others(&FIRST) {
            archive.part(path, content)?;
        }
        archive.finish(out)
    }

    fn take_warnings(&mut self) -> Vec<Warning> {
        self.columns.iter_mut().filter_map(Cells::take_warning).collect()
    }
}

impl fmt::Debug for PouredEncoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (columns, sheet) = (&self.columns, &self.sheet);
        f.debug_struct("PouredEncoder")
            .field("columns", columns)
            .field("sheet", sheet)
            .finish_non_exhaustive()
    }
}
