//! How columns look: widths and number formats, by the definition or by what a column holds.

use rust_xlsxwriter::Format;

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
    pub(super) int: Format,
    pub(super) date: Format,
    pub(super) time: Format,
    /// Seconds are rounded where their fraction is not shown, so one that has a fraction shows it.
    pub(super) time_with_millis: Format,
    /// One for each number of fraction digits.
    decimals: Vec<Format>,
}

impl Looks {
    pub(super) fn new() -> Self {
        Self {
            header: Format::new().set_bold(),
            int: shown_as("0"),
            date: shown_as("yyyy-mm-dd"),
            time: shown_as("yyyy-mm-dd hh:mm:ss"),
            time_with_millis: shown_as("yyyy-mm-dd hh:mm:ss.000"),
            decimals: (0..=MOST_DIGITS).map(decimal).collect(),
        }
    }

    /// What shows so many fraction digits, at most [`MOST_DIGITS`].
    pub(super) fn decimal(&self, scale: usize) -> &Format {
        &self.decimals[scale.min(MOST_DIGITS)]
    }

    /// What a column of that kind has where its definition says nothing. Decimals go by their values.
    pub(super) fn of(&self, kind: Kind) -> Option<&Format> {
        match kind {
            // Without one, Excel shows twelve digits and more as 1.23E+11.
            Kind::Int => Some(&self.int),
            Kind::Date => Some(&self.date),
            Kind::Time => Some(&self.time),
            Kind::Text | Kind::Decimal | Kind::Float | Kind::Bool | Kind::Json => None,
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
