//! Each kind of section on the page.

use super::rows::{Cell, Row, inner};
use super::{Area, Failure, LEADING, Sheets, beside, wrap};
use crate::definitions::{Align, DocumentField, Grid, Passage, Pictures, Section, Wording};
use crate::documents::fonts::Weight;
use crate::documents::pictures::{Picture, picture};
use crate::documents::values::{Unfit, list, shown, worded};
use crate::json::Node;

/// The size of a heading, as a share of the text's.
const HEADING: f32 = 1.8;
/// A heading stays with so much below it, in its own lines.
const BELOW: f32 = 3.0;
/// The share of a field that its label has.
const LABEL: f32 = 0.3;
/// The share of the width that totals have.
const TOTALS: f32 = 0.5;
/// The height of a box to sign in, in lines.
const SIGNING: usize = 4;
/// Between pictures, in points.
const SPACE: f32 = 6.0;

impl Sheets<'_> {
    pub(super) fn section(&mut self, section: &Section, row: &Node<'_>) -> Result<(), Failure> {
        if !matches!(section, Section::Text(_)) {
            self.gap();
        }
        match section {
            Section::Heading(passage) => self.heading(passage, row),
            Section::Text(passage) => self.text(passage, row),
            Section::Fields { beside, fields } => self.fields(*beside, fields, row),
            Section::Table(grid) => self.table(grid, row),
            Section::Totals(fields) => self.totals(fields, row),
            Section::Signatures(boxes) => self.signatures(boxes, row),
            Section::Images(pictures) => self.pictures(pictures, row),
            Section::PageBreak => {
                self.breaks = true;
                Ok(())
            }
        }
    }

    /// Nothing, not even a gap, where its values are not there.
    fn text(&mut self, passage: &Passage, row: &Node<'_>) -> Result<(), Failure> {
        let text = worded(&passage.wording, "the text", row)?;
        if text.trim().is_empty() {
            return Ok(());
        }
        self.gap();
        let size = passage.size.unwrap_or(self.setup.font_size);
        self.set(&text, Weight::Regular, size, passage.align)
    }

    fn heading(&mut self, passage: &Passage, row: &Node<'_>) -> Result<(), Failure> {
        let text = worded(&passage.wording, "the heading", row)?;
        let size = passage.size.unwrap_or(self.setup.font_size * HEADING);
        self.make_room((1.0 + BELOW) * LEADING * size);
        self.set(&text, Weight::Bold, size, passage.align)
    }

    fn cell(
        &mut self,
        text: &str,
        (x, width): (f32, f32),
        size: f32,
        weight: Weight,
        align: Align,
    ) -> Result<Cell, Failure> {
        // No letter is wider than its size; in less room one would stand in the next cell.
        if inner(width) < size {
            let why = format!(
                "a cell is {width:.1} points wide, which is too narrow for letters of {size}; give its \
                 column a larger share, put fewer beside each other, or make the letters smaller"
            );
            return Err(Unfit(why).into());
        }
        let lines = wrap(text, weight, inner(width) / size, self.lacking)?;
        Ok(Cell { x, width, lines, align, weight, shaded: weight == Weight::Bold })
    }

    /// A label and its value, beside each other.
    fn labelled(
        &mut self,
        field: &DocumentField,
        (x, width): (f32, f32),
        align: Align,
        row: &Node<'_>,
    ) -> Result<[Cell; 2], Failure> {
        let size = self.setup.font_size;
        let value = shown(&field.value, &format!("the field \"{}\"", field.label), row, "")?;
        let label = width * LABEL;
        Ok([
            self.cell(&field.label, (x, label), size, Weight::Bold, Align::Left)?,
            self.cell(&value, (x + label, width - label), size, Weight::Regular, align)?,
        ])
    }

    fn fields(
        &mut self,
        count: usize,
        fields: &[DocumentField],
        row: &Node<'_>,
    ) -> Result<(), Failure> {
        let size = self.setup.font_size;
        for fields in fields.chunks(count.max(1)) {
            let mut cells = Vec::with_capacity(2 * fields.len());
            for (field, place) in fields.iter().zip(beside(count, self.left(), self.width())) {
                cells.extend(self.labelled(field, place, Align::Left, row)?);
            }
            self.row(Row { cells, size }, None);
        }
        Ok(())
    }

    fn totals(&mut self, fields: &[DocumentField], row: &Node<'_>) -> Result<(), Failure> {
        let (size, width) = (self.setup.font_size, self.width() * TOTALS);
        let x = self.left() + self.width() - width;
        for field in fields {
            let cells = self.labelled(field, (x, width), Align::Right, row)?.into();
            self.row(Row { cells, size }, None);
        }
        Ok(())
    }

    fn table(&mut self, grid: &Grid, row: &Node<'_>) -> Result<(), Failure> {
        let size = grid.size.unwrap_or(self.setup.font_size);
        let elements = list(&grid.rows, grid.optional, "the table's rows", row)?;
        let places = self.places(grid);
        let mut cells = Vec::with_capacity(places.len());
        for (column, place) in grid.columns.iter().zip(&places) {
            cells.push(self.cell(&column.title, *place, size, Weight::Bold, Align::Center)?);
        }
        let header = Row { cells, size };
        let mut begun = false;
        for (index, element) in elements.iter().enumerate() {
            let place = format!("{}/{index}", grid.rows);
            let mut cells = Vec::with_capacity(places.len());
            for (column, at) in grid.columns.iter().zip(&places) {
                let what = format!("the column \"{}\"", column.title);
                let text = shown(&column.value, &what, element, &place)?;
                cells.push(self.cell(&text, *at, size, Weight::Regular, column.align)?);
            }
            let row = Row { cells, size };
            if !begun {
                self.header(header.clone(), row.height());
                begun = true;
            }
            self.row(row, Some(&header));
        }
        if !begun {
            let place = (self.left(), self.width());
            let none = self.cell(&grid.empty, place, size, Weight::Regular, Align::Center)?;
            let none = Row { cells: vec![none], size };
            self.header(header, none.height());
            self.row(none, None);
        }
        Ok(())
    }

    /// Where the columns of a table stand: the width in their shares.
    fn places(&self, grid: &Grid) -> Vec<(f32, f32)> {
        let all: f32 = grid.columns.iter().map(|column| column.width).sum();
        let mut x = self.left();
        let place = |share: f32| {
            let width = self.width() * share / all;
            let place = (x, width);
            x += width;
            place
        };
        grid.columns.iter().map(|column| column.width).map(place).collect()
    }

    fn signatures(&mut self, boxes: &[Wording], row: &Node<'_>) -> Result<(), Failure> {
        let size = self.setup.font_size;
        let mut heads = Vec::with_capacity(boxes.len());
        let mut spaces = Vec::with_capacity(boxes.len());
        for (wording, place) in boxes.iter().zip(beside(boxes.len(), self.left(), self.width())) {
            let text = worded(wording, "the box to sign in", row)?;
            heads.push(self.cell(&text, place, size, Weight::Bold, Align::Center)?);
            let space = "\n".repeat(SIGNING - 1);
            spaces.push(self.cell(&space, place, size, Weight::Regular, Align::Left)?);
        }
        let (heads, spaces) = (Row { cells: heads, size }, Row { cells: spaces, size });
        self.header(heads, spaces.height());
        self.row(spaces, None);
        Ok(())
    }

    fn pictures(&mut self, pictures: &Pictures, row: &Node<'_>) -> Result<(), Failure> {
        let found = of(pictures, row)?;
        let most = pictures.height.min(self.height());
        for few in found.chunks(pictures.beside.max(1)) {
            let places = beside(pictures.beside, self.left(), self.width());
            let areas: Vec<Area> = few
                .iter()
                .zip(places)
                .map(|(picture, (x, width))| fitted(picture, x, width - SPACE, most))
                .collect();
            let height = areas.iter().map(|area| area.height).fold(0.0, f32::max);
            self.make_room(height);
            let y = self.y;
            let placed = few.iter().zip(areas);
            let placed = placed.map(|(picture, area)| (picture.clone(), Area { y, ..area }));
            self.page().pictures.extend(placed);
            self.y += height + SPACE;
        }
        Ok(())
    }
}

/// As large as it may be, in its own proportions.
fn fitted(picture: &Picture, x: f32, width: f32, height: f32) -> Area {
    let (across, down) = picture.size;
    let scale = (width / across).min(height / down);
    Area { x, y: 0.0, width: across * scale, height: down * scale }
}

/// The pictures that a pointer leads to: one, or an array.
fn of(pictures: &Pictures, row: &Node<'_>) -> Result<Vec<Picture>, Unfit> {
    let pointer = &pictures.pointer;
    if let Some(Node::Text(one)) = row.find(pointer.steps()) {
        return Ok(vec![picture(one, &pointer.to_string())?]);
    }
    let elements = list(pointer, pictures.optional, "the pictures", row)?;
    let read = |(index, element): (usize, &Node<'_>)| match element {
        Node::Text(text) => picture(text, &format!("{pointer}/{index}")),
        other => Err(Unfit(format!(
            "the picture at {pointer}/{index} is {}, and must be a text in base64",
            other.word()
        ))),
    };
    elements.iter().enumerate().map(read).collect()
}
