//! One column's values as cells. What a spreadsheet would change is written as text: it keeps 15
//! digits of a number and knows the years 1900 to 9999.

use super::grid::{Grid, Number, Shown};
use super::looks::{MOST_DIGITS, width};
use super::text::{LONGEST, within};
use super::{serial, text};
use crate::formats::Options;
use crate::formats::escape::minify;
use crate::rows::{Column, Instant, Kind, Value, Warning, ZoneClock};

/// Digits of a number that Excel keeps.
const DIGITS: usize = 15;
/// The first whole number that has more.
const TOO_LONG: u64 = 10_u64.pow(15);

/// What the values of one column need.
#[derive(Debug)]
pub(super) struct Cells {
    key: String,
    header: String,
    kind: Kind,
    /// In characters.
    pub(super) width: f64,
    /// The number format that the definition gives.
    pub(super) given: Option<String>,
    /// Decimals: the fraction digits of the first value, which the column then shows.
    scale: Option<usize>,
    clock: ZoneClock,
    /// Values that were too long.
    cut: u64,
    /// A document or a moment on its way; kept for its allocation.
    scratch: Vec<u8>,
}

impl Cells {
    pub(super) fn new(column: &Column, header: &str, options: &Options) -> Self {
        Self {
            key: column.key.clone(),
            header: within(header, LONGEST).into(),
            kind: column.kind,
            width: width(column, header),
            given: column.look.format.clone(),
            scale: None,
            clock: ZoneClock::new(options.zone.clone()),
            cut: 0,
            scratch: Vec::new(),
        }
    }

    /// What the first row says of the column.
    pub(super) fn header(&self) -> &str {
        &self.header
    }

    /// What the column is shown as by now: by its definition, its kind, or its first value.
    pub(super) fn shown(&self) -> Option<Shown> {
        if self.given.is_some() {
            return Some(Shown::Given);
        }
        match self.kind {
            // Without a format, Excel shows twelve digits and more as 1.23E+11.
            Kind::Int => Some(Shown::Int),
            Kind::Date => Some(Shown::Date),
            Kind::Time => Some(Shown::Time),
            Kind::Decimal => self.scale.map(Shown::decimal),
            Kind::Text | Kind::Float | Kind::Bool | Kind::Json => None,
        }
    }

    /// Writes one value into its column.
    #[inline]
    pub(super) fn write<G: Grid>(
        &mut self,
        value: Value<'_>,
        column: u16,
        grid: &mut G,
    ) -> Result<(), G::Error> {
        match value {
            Value::Text(text) => self.text(text, column, grid),
            Value::Json(json) => self.printed(column, grid, |_, out| minify(json, out)),
            Value::Bool(truth) => grid.truth(column, truth),
            Value::Int(number) if number.unsigned_abs() < TOO_LONG => {
                grid.number(column, Number::Int(number), self.unless(Kind::Int, Shown::Int))
            }
            Value::Int(number) => self.text(itoa::Buffer::new().format(number), column, grid),
            Value::Decimal(digits) => self.decimal(digits, column, grid),
            Value::Float(number) if number.is_finite() => {
                grid.number(column, Number::Float(number), None)
            }
            Value::Real(number) if number.is_finite() => {
                grid.number(column, Number::Real(number), None)
            }
            // Spreadsheets have neither NaN nor infinities: such a cell stays empty.
            Value::Null | Value::Float(_) | Value::Real(_) => Ok(()),
            Value::Date(day) => match serial::day(day) {
                Some(days) => {
                    grid.number(column, Number::Int(days), self.unless(Kind::Date, Shown::Date))
                }
                None => self.printed(column, grid, |_, out| day.write(out)),
            },
            Value::Time(moment) => self.time(moment, column, grid),
        }
    }

    #[inline]
    fn text<G: Grid>(&mut self, text: &str, column: u16, grid: &mut G) -> Result<(), G::Error> {
        let whole = text.len();
        let text = within(text, text::LONGEST);
        self.cut += u64::from(text.len() < whole);
        // The library writes no cell for an empty text.
        if text.is_empty() { Ok(()) } else { grid.text(column, text) }
    }

    /// Writes what `print` makes of a value that is no cell of its own kind.
    fn printed<G: Grid>(
        &mut self,
        column: u16,
        grid: &mut G,
        print: impl FnOnce(&mut ZoneClock, &mut Vec<u8>),
    ) -> Result<(), G::Error> {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        print(&mut self.clock, &mut scratch);
        // Everything here prints text; nothing can be lost.
        let written = self.text(&String::from_utf8_lossy(&scratch), column, grid);
        self.scratch = scratch;
        written
    }

    #[inline]
    fn decimal<G: Grid>(
        &mut self,
        digits: &str,
        column: u16,
        grid: &mut G,
    ) -> Result<(), G::Error> {
        let (kept, scale) = shape(digits);
        if kept > DIGITS || scale > MOST_DIGITS {
            return self.text(digits, column, grid);
        }
        let shown = Shown::decimal(scale);
        let own = match self.kind {
            Kind::Decimal if self.given.is_some() => false,
            Kind::Decimal => self.scale != Some(scale),
            Kind::Int => scale > 0,
            Kind::Text | Kind::Float | Kind::Bool | Kind::Date | Kind::Time | Kind::Json => true,
        };
        grid.number(column, Number::Digits(digits), own.then_some(shown))?;
        if self.kind == Kind::Decimal && self.scale.is_none() {
            self.scale = Some(scale);
            if self.given.is_none() {
                // After the value: the rows before it stay as they were.
                grid.show(column, shown)?;
            }
        }
        Ok(())
    }

    #[inline]
    fn time<G: Grid>(
        &mut self,
        moment: Instant,
        column: u16,
        grid: &mut G,
    ) -> Result<(), G::Error> {
        let (day, second, nanos) = self.clock.civil(moment);
        let Some(number) = serial::moment(day, second, nanos) else {
            return self.printed(column, grid, |clock, out| clock.write(moment, out));
        };
        let shown = if nanos < 1_000_000 {
            self.unless(Kind::Time, Shown::Time)
        } else if self.kind == Kind::Time && self.given.is_some() {
            None
        } else {
            Some(Shown::TimeWithMillis)
        };
        grid.number(column, Number::Float(number), shown)
    }

    /// The format for a value that is not of the column's kind; the column's own needs no saying.
    fn unless(&self, kind: Kind, shown: Shown) -> Option<Shown> {
        (self.kind != kind).then_some(shown)
    }

    /// What was cut, for the run.
    pub(super) fn take_warning(&mut self) -> Option<Warning> {
        let cut = std::mem::take(&mut self.cut);
        (cut > 0).then(|| Warning {
            code: "text_cut".into(),
            detail: format!(
                "column \"{}\": {cut} texts were cut to the 32,767 UTF-16 units that a cell holds; \
                 ask for ndjson, json or csv to have them whole",
                self.key
            ),
        })
    }
}

/// How many digits of a decimal a spreadsheet must keep, and how many its format must show: zeros
/// before the first digit and after the last of the fraction need no keeping.
fn shape(digits: &str) -> (usize, usize) {
    let unsigned = digits.strip_prefix('-').unwrap_or(digits);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let whole = whole.trim_start_matches('0');
    let kept = fraction.trim_end_matches('0');
    let kept = if whole.is_empty() { kept.trim_start_matches('0') } else { kept };
    (whole.len() + kept.len(), fraction.len())
}
