//! A page that is laid out: what stands where, in points from its upper left corner. Knows neither
//! templates nor PDF.

use super::fonts::Weight;
use super::pictures::Picture;
use super::text::Line;

/// Everything on a page.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) texts: Vec<Text>,
    pub(super) rules: Vec<Rule>,
    pub(super) fills: Vec<Area>,
    pub(super) pictures: Vec<(Picture, Area)>,
}

/// A line of text.
#[derive(Debug)]
pub(super) struct Text {
    pub(super) x: f32,
    /// Of its base line.
    pub(super) y: f32,
    pub(super) size: f32,
    pub(super) weight: Weight,
    pub(super) line: Line,
}

/// A thin line, across or down.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rule {
    pub(super) from: [f32; 2],
    pub(super) to: [f32; 2],
}

/// A rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Area {
    pub(super) x: f32,
    pub(super) y: f32,
    pub(super) width: f32,
    pub(super) height: f32,
}

impl Page {
    /// Whether there is nothing on it.
    pub(super) fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.rules.is_empty() && self.pictures.is_empty()
    }

    /// Draws the border of an area.
    pub(super) fn border(&mut self, area: Area) {
        let Area { x, y, width, height } = area;
        let (right, bottom) = (x + width, y + height);
        self.rule([x, y], [right, y]);
        self.rule([x, bottom], [right, bottom]);
        self.rule([x, y], [x, bottom]);
        self.rule([right, y], [right, bottom]);
    }

    /// Draws a rule; one that goes on where another ended becomes a part of it, and one that is there
    /// already is not drawn again.
    fn rule(&mut self, from: [f32; 2], to: [f32; 2]) {
        /// Rules of the row above and of the cell beside.
        const NEAR: usize = 64;
        let rule = Rule { from, to };
        let first = self.rules.len().saturating_sub(NEAR);
        for other in &mut self.rules[first..] {
            if *other == rule {
                return;
            }
            let straight = |axis: usize| {
                [other.to, from, to].iter().all(|point| near(point[axis], other.from[axis]))
            };
            let goes_on = near(other.to[0], from[0]) && near(other.to[1], from[1]);
            if goes_on && (straight(0) || straight(1)) {
                other.to = to;
                return;
            }
        }
        self.rules.push(rule);
    }
}

/// Whether two places are the same, but for what adding up is off.
fn near(one: f32, other: f32) -> bool {
    (one - other).abs() < 0.01
}
