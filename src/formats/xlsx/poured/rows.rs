//! One row of a sheet as XML.

use super::frame::Frame;
use super::xml;
use crate::error::{Error, Result};
use crate::formats::xlsx::cells::Cells;
use crate::formats::xlsx::grid::{Grid, Number, Shown};
use crate::rows::Value;

const CLOSED: &[u8] = b"</v></c>";

/// The row being written.
pub(super) struct Row<'r> {
    out: &'r mut Vec<u8>,
    frame: &'r mut Frame,
    digits: itoa::Buffer,
    /// Its number on the sheet, on which the header is the first.
    number: u32,
}

impl<'r> Row<'r> {
    /// The row that has this place among the rows of a sheet, the first being 1.
    #[inline]
    pub(super) fn new(place: u32, out: &'r mut Vec<u8>, frame: &'r mut Frame) -> Self {
        Self { out, frame, digits: itoa::Buffer::new(), number: place + 1 }
    }

    #[inline]
    pub(super) fn write(mut self, row: &[Value<'_>], columns: &mut [Cells]) -> Result<()> {
        self.out.extend_from_slice(b"<row r=\"");
        self.out.extend_from_slice(self.digits.format(self.number).as_bytes());
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
            self.begin(last);
            self.out.extend_from_slice(&self.frame.shown(last).nothing);
        }
    }

    #[inline]
    fn begin(&mut self, column: u16) {
        self.out.extend_from_slice(self.frame.place(column));
        self.out.extend_from_slice(self.digits.format(self.number).as_bytes());
    }
}

impl Grid for Row<'_> {
    type Error = Error;

    #[inline]
    fn text(&mut self, column: u16, text: &str) -> Result<()> {
        let shared = self.frame.strings.number(column, text);
        self.begin(column);
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
        self.begin(column);
        self.out.extend_from_slice(&self.frame.shown(column).truth);
        self.out.push(if truth { b'1' } else { b'0' });
        self.out.extend_from_slice(CLOSED);
        Ok(())
    }

    #[inline]
    fn number(&mut self, column: u16, number: Number<'_>, shown: Option<Shown>) -> Result<()> {
        let own = shown.map(|shown| self.frame.style(column, shown));
        self.begin(column);
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
