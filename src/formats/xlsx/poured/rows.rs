//! One row of a sheet as XML.

use super::frame::Frame;
use super::repeats::{Mark, Piece, ROW};
use super::xml;
use crate::error::{Error, Result};
use crate::formats::xlsx::cells::Cells;
use crate::formats::xlsx::grid::{Grid, Number, Shown};
use crate::rows::Value;

const CLOSED: &[u8] = b"</v></c>";
/// Digits of the longest number.
const LONGEST: usize = 10;

/// The row being written.
pub(super) struct Row<'r> {
    out: &'r mut Vec<u8>,
    marks: &'r mut Vec<Mark>,
    frame: &'r mut Frame,
    /// Its number on the sheet, on which the header is the first.
    number: Digits,
}

/// A number in digits, written once and copied into every cell.
struct Digits {
    text: [u8; LONGEST],
    length: usize,
}

impl Digits {
    fn of(number: u32) -> Self {
        let mut buffer = itoa::Buffer::new();
        let digits = buffer.format(number).as_bytes();
        let mut text = [b'0'; LONGEST];
        text[..digits.len()].copy_from_slice(digits);
        Self { text, length: digits.len() }
    }

    #[inline]
    fn write(&self, out: &mut Vec<u8>) {
        let end = out.len() + self.length;
        // One copy of a fixed size, cut afterwards, is a few moves; one of the real length is a call.
        out.extend_from_slice(&self.text);
        out.truncate(end);
    }
}

impl<'r> Row<'r> {
    /// The row that has this place among the rows of a sheet, the first being 1.
    #[inline]
    pub(super) fn new(place: u32, piece: &'r mut Piece, frame: &'r mut Frame) -> Self {
        let Piece { bytes, marks } = piece;
        Self { out: bytes, marks, frame, number: Digits::of(place + 1) }
    }

    #[inline]
    pub(super) fn write(mut self, row: &[Value<'_>], columns: &mut [Cells]) -> Result<()> {
        self.mark(ROW, false);
        self.out.extend_from_slice(b"<row r=\"");
        self.number.write(self.out);
        self.out.extend_from_slice(b"\">");
        let mut before = self.out.len();
        for ((column, value), cells) in (0..).zip(row).zip(columns) {
            before = self.out.len();
            cells.write(*value, column, &mut self)?;
        }
        if before == self.out.len() {
            self.nothing(row.len());
        }
        self.out.extend_from_slice(b"</row>");
        Ok(())
    }

    /// Writes the last cell of a row although it holds nothing: some readers take a row for as long as
    /// its last cell is far.
    fn nothing(&mut self, columns: usize) {
        if let Some(last) = columns.checked_sub(1).and_then(|last| u16::try_from(last).ok()) {
            self.begin(last, false);
            self.out.extend_from_slice(&self.frame.shown(last).nothing);
        }
    }

    #[inline]
    fn begin(&mut self, column: u16, text: bool) {
        self.mark(column, text);
        self.out.extend_from_slice(self.frame.place(column));
        self.number.write(self.out);
    }

    #[inline]
    fn mark(&mut self, column: u16, text: bool) {
        self.marks.push(Mark { at: self.out.len(), column, text });
    }
}

impl Grid for Row<'_> {
    type Error = Error;

    #[inline]
    fn text(&mut self, column: u16, text: &str) -> Result<()> {
        let shared = self.frame.strings.number(column, text);
        self.begin(column, shared.is_none());
        let style = self.frame.shown(column);
        if let Some(number) = shared {
            self.out.extend_from_slice(&style.shared);
            self.out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
            self.out.extend_from_slice(CLOSED);
        } else {
            self.out.extend_from_slice(&style.text);
            xml::text(text, self.out);
        }
        Ok(())
    }

    #[inline]
    fn truth(&mut self, column: u16, truth: bool) -> Result<()> {
        self.begin(column, false);
        self.out.extend_from_slice(&self.frame.shown(column).truth);
        self.out.push(if truth { b'1' } else { b'0' });
        self.out.extend_from_slice(CLOSED);
        Ok(())
    }

    #[inline]
    fn number(&mut self, column: u16, number: Number<'_>, shown: Option<Shown>) -> Result<()> {
        let own = shown.map(|shown| self.frame.style(column, shown));
        self.begin(column, false);
        let style = own.map_or_else(|| self.frame.shown(column), |own| self.frame.at(own));
        self.out.extend_from_slice(&style.number);
        xml::number(number, self.out);
        self.out.extend_from_slice(CLOSED);
        Ok(())
    }

    fn show(&mut self, column: u16, shown: Shown) -> Result<()> {
        self.frame.show(column, shown);
        Ok(())
    }
}
