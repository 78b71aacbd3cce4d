//! Rows of cells with borders: of tables, of fields, of totals.

use super::{BASE, LEADING, Sheets, indent};
use crate::definitions::Align;
use crate::documents::fonts::Weight;
use crate::documents::page::{Area, Text};
use crate::documents::text::Line;

/// Between a cell's border and its text beside it, in points.
const PADDING: f32 = 3.0;
/// Between its border and its text above and below.
const ROOM: f32 = 2.0;
/// A row that is taller than a page begins where at least so many of its lines fit.
const FEWEST: usize = 3;

/// A row of cells.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) cells: Vec<Cell>,
    pub(super) size: f32,
}

/// One cell.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    pub(super) x: f32,
    pub(super) width: f32,
    pub(super) lines: Vec<Line>,
    pub(super) align: Align,
    pub(super) weight: Weight,
    /// Whether it is shaded.
    pub(super) shaded: bool,
}

/// The width that a cell has for text.
pub(super) fn inner(width: f32) -> f32 {
    width - 2.0 * PADDING
}

impl Row {
    /// Lines of its tallest cell.
    fn lines(&self) -> usize {
        self.cells.iter().map(|cell| cell.lines.len()).max().unwrap_or(0)
    }

    pub(super) fn height(&self) -> f32 {
        self.height_of(self.lines())
    }

    #[expect(clippy::cast_precision_loss, reason = "lines of a page")]
    fn height_of(&self, lines: usize) -> f32 {
        lines as f32 * LEADING * self.size + 2.0 * ROOM
    }

    /// How many lines a row of this height has.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a page's height in lines, and no less than none"
    )]
    fn fitting(&self, height: f32) -> usize {
        ((height - 2.0 * ROOM) / (LEADING * self.size)).floor().max(0.0) as usize
    }

    /// Takes the first lines off every cell, as a row of its own.
    fn split(&mut self, lines: usize) -> Self {
        let mut first = self.clone();
        for (cell, rest) in first.cells.iter_mut().zip(&mut self.cells) {
            let kept = rest.lines.split_off(lines.min(rest.lines.len()));
            cell.lines = std::mem::replace(&mut rest.lines, kept);
        }
        first
    }
}

impl Sheets<'_> {
    /// Places a row below what is there; where that begins a page, below the header.
    pub(super) fn row(&mut self, mut row: Row, header: Option<&Row>) {
        let above = header.map_or(0.0, Row::height);
        let height = row.height();
        if height <= self.height() - above {
            if self.breaks || self.y + height > self.bottom() {
                self.next_page_with(header);
            }
            return self.put(row);
        }
        loop {
            let left = row.lines();
            let fitting = row.fitting(self.bottom() - self.y);
            if left <= fitting {
                return self.put(row);
            }
            let is_top = self.y <= self.setup.margin + above;
            if fitting < FEWEST && !is_top {
                self.next_page_with(header);
                continue;
            }
            // At the top of a page a line is set, whatever its size: a row must come to its end.
            let first = row.split(fitting.max(1));
            self.put(first);
            self.next_page_with(header);
        }
    }

    /// Begins a table: its header, and room for a row below it.
    pub(super) fn header(&mut self, header: Row, first: f32) {
        let both = header.height() + first;
        self.make_room(if both <= self.height() { both } else { header.height() });
        self.put(header);
    }

    fn next_page_with(&mut self, header: Option<&Row>) {
        self.next_page();
        if let Some(header) = header {
            self.put(header.clone());
        }
    }

    /// Sets a row where it is.
    fn put(&mut self, row: Row) {
        let (top, height, size) = (self.y, row.height(), row.size);
        for cell in row.cells {
            let Cell { x, width, lines, align, weight, shaded } = cell;
            let area = Area { x, y: top, width, height };
            let page = self.page();
            if shaded {
                page.fills.push(area);
            }
            page.border(area);
            let mut y = top + ROOM;
            for line in lines {
                let x = x + PADDING + indent(align, inner(width), line.width * size);
                page.texts.push(Text { x, y: y + BASE * size, size, weight, line });
                y += LEADING * size;
            }
        }
        self.y += height;
    }
}
