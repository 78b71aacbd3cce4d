//! One column's values as cells. What a spreadsheet would change is written as text: it keeps 15
//! digits of a number and knows the years 1900 to 9999.

use rust_xlsxwriter::{Format, Worksheet, XlsxError};

use super::looks::{Looks, MOST_DIGITS, shown_as, width};
use super::text::{LONGEST, within, xml_size};
use super::{serial, text};
use crate::formats::Options;
use crate::formats::escape::minify;
use crate::rows::{Column, Instant, Kind, Value, Warning, ZoneClock};

/// Digits of a number that Excel keeps.
const DIGITS: usize = 15;
/// The first whole number that has more.
const TOO_LONG: u64 = 10_u64.pow(15);

/// The most bytes that a cell takes besides its text.
const CELL: u64 = 96;

/// A place on a sheet, counted from 0.
pub(super) type Place = (u32, u16);

/// What the values of one column need.
#[derive(Debug)]
pub(super) struct Cells {
    key: String,
    header: String,
    kind: Kind,
    width: f64,
    /// The format that the definition gives.
    given: Option<Format>,
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
            header: header.into(),
            kind: column.kind,
            width: width(column, header),
            given: column.look.format.as_deref().map(shown_as),
            scale: None,
            clock: ZoneClock::new(options.zone.clone()),
            cut: 0,
            scratch: Vec::new(),
        }
    }

    /// Sets up the column on a new sheet.
    pub(super) fn begin(
        &self,
        column: u16,
        sheet: &mut Worksheet,
        looks: &Looks,
    ) -> Result<(), XlsxError> {
        sheet.set_column_width(column, self.width)?;
        let by_scale = || self.scale.map(|scale| looks.decimal(scale));
        if let Some(format) = self.given.as_ref().or_else(|| looks.of(self.kind)).or_else(by_scale)
        {
            sheet.set_column_format(column, format)?;
        }
        let header = within(&self.header, LONGEST);
        sheet.write_string_with_format(0, column, header, &looks.header).map(drop)
    }

    /// Writes one value; at most how many bytes it takes on the sheet.
    pub(super) fn write(
        &mut self,
        value: Value<'_>,
        at: Place,
        sheet: &mut Worksheet,
        looks: &Looks,
    ) -> Result<u64, XlsxError> {
        match value {
            // The library writes no cell for an empty text either.
            Value::Null => return Ok(0),
            Value::Text(text) => return self.text(text, at, sheet),
            Value::Json(json) => return self.document(json, at, sheet),
            Value::Bool(truth) => sheet.write_boolean(at.0, at.1, truth).map(drop)?,
            Value::Int(number) if number.unsigned_abs() < TOO_LONG => {
                let number = exact(number);
                put(sheet, at, number, self.unless(Kind::Int, &looks.int))?;
            }
            Value::Int(number) => {
                return self.text(itoa::Buffer::new().format(number), at, sheet);
            }
            Value::Decimal(digits) => return self.decimal(digits, at, sheet, looks),
            Value::Float(number) => float(sheet, at, number)?,
            // By its own digits: 0.1, not 0.10000000149011612.
            Value::Real(number) => {
                float(sheet, at, number.to_string().parse().unwrap_or(f64::NAN))?;
            }
            Value::Date(day) => match serial::day(day) {
                Some(days) => {
                    put(sheet, at, exact(days), self.unless(Kind::Date, &looks.date))?;
                }
                None => return self.printed(at, sheet, |_, out| day.write(out)),
            },
            Value::Time(moment) => return self.time(moment, at, sheet, looks),
        }
        Ok(CELL)
    }

    fn text(&mut self, text: &str, at: Place, sheet: &mut Worksheet) -> Result<u64, XlsxError> {
        let whole = text.len();
        let text = within(text, text::LONGEST);
        self.cut += u64::from(text.len() < whole);
        sheet.write_string(at.0, at.1, text)?;
        Ok(CELL + xml_size(text))
    }

    /// Writes what `print` makes of a value that is no cell of its own kind.
    fn printed(
        &mut self,
        at: Place,
        sheet: &mut Worksheet,
        print: impl FnOnce(&mut ZoneClock, &mut Vec<u8>),
    ) -> Result<u64, XlsxError> {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        print(&mut self.clock, &mut scratch);
        // Everything here prints text; nothing can be lost.
        let written = self.text(&String::from_utf8_lossy(&scratch), at, sheet);
        self.scratch = scratch;
        written
    }

    fn document(&mut self, json: &str, at: Place, sheet: &mut Worksheet) -> Result<u64, XlsxError> {
        self.printed(at, sheet, |_, out| minify(json, out))
    }

    fn decimal(
        &mut self,
        digits: &str,
        at: Place,
        sheet: &mut Worksheet,
        looks: &Looks,
    ) -> Result<u64, XlsxError> {
        let (kept, scale) = shape(digits);
        let number = digits.parse::<f64>().ok();
        let Some(number) = number.filter(|_| kept <= DIGITS && scale <= MOST_DIGITS) else {
            return self.text(digits, at, sheet);
        };
        let own = match self.kind {
            Kind::Decimal => {
                if self.scale.is_none() {
                    self.scale = Some(scale);
                    if self.given.is_none() {
                        sheet.set_column_format(at.1, looks.decimal(scale))?;
                    }
                }
                self.given.is_none() && self.scale != Some(scale)
            }
            Kind::Int => scale > 0,
            Kind::Text | Kind::Float | Kind::Bool | Kind::Date | Kind::Time | Kind::Json => true,
        };
        put(sheet, at, number, own.then(|| looks.decimal(scale)))?;
        Ok(CELL)
    }

    fn time(
        &mut self,
        moment: Instant,
        at: Place,
        sheet: &mut Worksheet,
        looks: &Looks,
    ) -> Result<u64, XlsxError> {
        let (day, second, nanos) = self.clock.civil(moment);
        let Some(number) = serial::moment(day, second, nanos) else {
            return self.printed(at, sheet, |clock, out| clock.write(moment, out));
        };
        let format = if nanos < 1_000_000 {
            self.unless(Kind::Time, &looks.time)
        } else if self.kind == Kind::Time && self.given.is_some() {
            None
        } else {
            Some(&looks.time_with_millis)
        };
        put(sheet, at, number, format)?;
        Ok(CELL)
    }

    /// The format for a value that is not of the column's kind; the column's own needs no saying.
    fn unless<'f>(&self, kind: Kind, format: &'f Format) -> Option<&'f Format> {
        (self.kind != kind).then_some(format)
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

/// Looking a format up costs as much as the rest of a cell, so it is named only where it differs
/// from the column's.
fn put(
    sheet: &mut Worksheet,
    (row, column): Place,
    number: f64,
    format: Option<&Format>,
) -> Result<(), XlsxError> {
    // Spreadsheets have no negative zero.
    let number = number + 0.0;
    match format {
        None => sheet.write_number(row, column, number).map(drop),
        Some(format) => sheet.write_number_with_format(row, column, number, format).map(drop),
    }
}

/// Spreadsheets have neither NaN nor infinities: such a cell stays empty.
fn float(sheet: &mut Worksheet, at: Place, number: f64) -> Result<(), XlsxError> {
    if number.is_finite() { put(sheet, at, number, None) } else { Ok(()) }
}

#[expect(clippy::cast_precision_loss, reason = "only numbers of at most 15 digits come here")]
fn exact(number: i64) -> f64 {
    number as f64
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
