//! A template and a row → pages.
//!
//! From top to bottom: what does not fit goes on on the next page. Rows of a table stay whole, and below
//! their header, unless one is taller than a page: it goes on line by line. Nothing is laid over
//! anything, or out of the margins.

mod rows;
mod sections;

#[cfg(test)]
mod tests;

use super::fonts::Weight;
use super::page::{Area, Page, Text};
use super::text::{Lacking, wrap};
use super::values::Unfit;
use crate::definitions::{Align, PageSetup, Template};
use crate::error::{Error, Result};
use crate::json::Node;

/// The height of a line as a share of its size.
const LEADING: f32 = 1.4;
/// The base line below a line's upper edge, as a share of the size.
const BASE: f32 = 1.05;
/// Between two sections, as a share of the size.
const GAP: f32 = 1.0;

/// Why there are no pages.
#[derive(Debug)]
pub(super) enum Failure {
    /// The row has not what the template needs.
    Unfit(Unfit),
    /// The program failed.
    Ours(Error),
}

impl From<Unfit> for Failure {
    fn from(unfit: Unfit) -> Self {
        Self::Unfit(unfit)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Ours(error)
    }
}

/// Lays a row out; letters that the fonts have not are added to `lacking`.
pub(super) fn lay_out(
    template: &Template,
    row: &Node<'_>,
    lacking: &mut Lacking,
) -> Result<Vec<Page>, Failure> {
    let mut sheets = Sheets::new(&template.page, lacking);
    for section in &template.sections {
        sheets.section(section, row)?;
    }
    sheets.number()?;
    Ok(sheets.pages)
}

/// Pages while they are filled.
struct Sheets<'t> {
    setup: &'t PageSetup,
    lacking: &'t mut Lacking,
    pages: Vec<Page>,
    /// Where the next thing begins.
    y: f32,
    /// What comes next begins a page.
    breaks: bool,
}

impl<'t> Sheets<'t> {
    fn new(setup: &'t PageSetup, lacking: &'t mut Lacking) -> Self {
        let y = setup.margin;
        Self { setup, lacking, pages: vec![Page::default()], y, breaks: false }
    }

    fn left(&self) -> f32 {
        self.setup.margin
    }

    /// The width between the margins.
    fn width(&self) -> f32 {
        self.setup.width - 2.0 * self.setup.margin
    }

    fn bottom(&self) -> f32 {
        self.setup.height - self.setup.margin
    }

    /// The height between the margins.
    fn height(&self) -> f32 {
        self.bottom() - self.setup.margin
    }

    /// The page being filled.
    fn page(&mut self) -> &mut Page {
        if self.pages.is_empty() {
            self.pages.push(Page::default());
        }
        let last = self.pages.len() - 1;
        &mut self.pages[last]
    }

    fn next_page(&mut self) {
        self.breaks = false;
        if !self.page().is_empty() {
            self.pages.push(Page::default());
        }
        self.y = self.setup.margin;
    }

    /// Begins a page where one was asked for, or where `height` does not fit on this one.
    fn make_room(&mut self, height: f32) {
        // Sums of many heights are a hair off.
        const HAIR: f32 = 0.01;
        if self.breaks || self.y + height > self.bottom() + HAIR {
            self.next_page();
        }
    }

    /// Leaves a space before what comes next; none at the top of a page.
    fn gap(&mut self) {
        if self.y > self.setup.margin {
            self.y += GAP * self.setup.font_size;
        }
    }

    /// Sets text over the whole width, line by line.
    fn set(&mut self, text: &str, weight: Weight, size: f32, align: Align) -> Result<(), Failure> {
        let (left, width) = (self.left(), self.width());
        for line in wrap(text, weight, width / size, self.lacking)? {
            self.make_room(LEADING * size);
            let x = left + indent(align, width, line.width * size);
            let y = self.y + BASE * size;
            self.page().texts.push(Text { x, y, size, weight, line });
            self.y += LEADING * size;
        }
        Ok(())
    }

    /// Puts the pages' numbers at their feet, now that it is known how many there are.
    fn number(&mut self) -> Result<(), Failure> {
        let numbers = &self.setup.numbers;
        if numbers.is_empty() {
            return Ok(());
        }
        let (size, width, left) = (self.setup.font_size * 0.9, self.width(), self.left());
        let y = self.setup.height - self.setup.margin / 2.0;
        let count = self.pages.len().to_string();
        for index in 0..self.pages.len() {
            let page = (index + 1).to_string();
            let text = numbers.replace("{pages}", &count).replace("{page}", &page);
            let lines = wrap(&text, Weight::Regular, width / size, self.lacking)?;
            // One line has room in a margin.
            if let Some(line) = lines.into_iter().next() {
                let x = left + indent(Align::Center, width, line.width * size);
                let text = Text { x, y, size, weight: Weight::Regular, line };
                self.pages[index].texts.push(text);
            }
        }
        Ok(())
    }
}

/// How far from the left a line of this width begins.
fn indent(align: Align, space: f32, width: f32) -> f32 {
    match align {
        Align::Left => 0.0,
        Align::Center => (space - width) / 2.0,
        Align::Right => space - width,
    }
}

/// Boxes of equal width beside each other.
fn beside(count: usize, left: f32, width: f32) -> impl Iterator<Item = (f32, f32)> {
    #[expect(clippy::cast_precision_loss, reason = "a handful")]
    let share = width / count.max(1) as f32;
    #[expect(clippy::cast_precision_loss, reason = "a handful")]
    (0..count).map(move |index| (left + share * index as f32, share))
}
