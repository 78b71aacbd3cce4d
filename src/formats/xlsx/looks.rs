//! How columns look: widths and number formats, by the definition or by what a column holds.

use rust_xlsxwriter::Format;

use super::cells::Cells;
use super::grid::Shown;
use crate::rows::{Column, Kind};

/// Characters that the arrow of the filter takes beside a header.
const ARROW: f64 = 4.0;
/// No header makes a column wider than this.
const WIDE_ENOUGH: f64 = 60.0;
/// "Excel specifications and limits".
const WIDEST: f64 = 255.0;

/// Fraction digits that a number format can show.
pub(super) const MOST_DIGITS: usize = 30;

/// The formats that cells of one workbook share.
#[derive(Debug)]
pub(super) struct Looks {
    pub(super) header: Format,
    int: Format,
    date: Format,
    time: Format,
    time_with_millis: Format,
    /// One for each number of fraction digits.
    decimals: Vec<Format>,
    /// What the definition gives, by column.
    given: Vec<Option<Format>>,
}

impl Looks {
    pub(super) fn new(columns: &[Cells]) -> Self {
        Self {
            header: Format::new().set_bold(),
            int: shown_as("0"),
            date: shown_as("yyyy-mm-dd"),
            time: shown_as("yyyy-mm-dd hh:mm:ss"),
            time_with_millis: shown_as("yyyy-mm-dd hh:mm:ss.000"),
            decimals: (0..=MOST_DIGITS).map(decimal).collect(),
            given: columns.iter().map(|cells| cells.given.as_deref().map(shown_as)).collect(),
        }
    }

    /// The format for a cell of this column.
    pub(super) fn of(&self, column: u16, shown: Shown) -> &Format {
        match shown {
            Shown::Given => self.given[usize::from(column)].as_ref().unwrap_or(&self.int),
            Shown::Int => &self.int,
            Shown::Date => &self.date,
            Shown::Time => &self.time,
            Shown::TimeWithMillis => &self.time_with_millis,
            Shown::Decimal(scale) => &self.decimals[usize::from(scale).min(MOST_DIGITS)],
        }
    }
}

/// A format in Excel's notation.
pub(super) fn shown_as(format: &str) -> Format {
    Format::new().set_num_format(format)
}

fn decimal(scale: usize) -> Format {
    if scale == 0 { shown_as("0") } else { shown_as(&format!("0.{}", "0".repeat(scale))) }
}

/// The width of a column, in characters: as defined, else enough for its kind and its header.
pub(super) fn width(column: &Column, header: &str) -> f64 {
    let by_kind = match column.kind {
        Kind::Bool => 8.0,
        Kind::Date => 11.0,
        Kind::Int | Kind::Float => 12.0,
        Kind::Decimal => 16.0,
        Kind::Time | Kind::Text => 20.0,
        Kind::Json => 40.0,
    };
    let by_header = columns_wide(header);
    column.look.width.map_or(by_header.max(by_kind), |width| width.clamp(0.0, WIDEST))
}

/// The width that a header needs.
pub(super) fn columns_wide(header: &str) -> f64 {
    (header.chars().map(columns_of).sum::<f64>() + ARROW).min(WIDE_ENOUGH)
}

/// Hangul, Han, Kana and most of what comes after them are twice as wide as Latin letters.
fn columns_of(c: char) -> f64 {
    if matches!(c, '\u{1100}'..='\u{115F}' | '\u{2E80}'..='\u{D7FF}' | '\u{F900}'..) {
        2.0
    } else {
        1.0
    }
}
