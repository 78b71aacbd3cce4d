//! Rows to bytes: one encoder for each format, and the options that clients may set.
//!
//! Every encoder here writes values exactly: digits as they came, floats by their shortest form that
//! reads back the same, times to the last digit of their fraction. The announced exceptions are NaN
//! and the infinities, which JSON and spreadsheets do not have, CSV's formula guard, and the limits
//! of a spreadsheet's cell. A value that does not fit its column's kind is written by what it is,
//! never lost. This module knows no database and no transport.

mod csv;
mod escape;
mod object;
mod parameters;
mod xlsx;

#[cfg(test)]
mod tests;

pub use csv::CsvEncoder;
pub use object::ObjectEncoder;
pub use parameters::{Parameters, params};
pub use xlsx::sheet_names;
pub use xlsx::{FormColumn, HandedBack, Sent, XlsxEncoder, form, hush_full_disks};

use std::io::Write;
use std::path::PathBuf;

use jiff::tz::TimeZone;

use crate::error::{Error, Result};
use crate::rows::{Column, Encoder, Value, Warning};

/// The formats that rows can be had in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// A JSON object a line, LF after each, also the last; no rows, no bytes.
    Ndjson,
    /// One JSON array of objects, one a line.
    Json,
    /// RFC 4180: CRLF, a header also without rows.
    Csv,
    /// A workbook; rows beyond what a sheet holds go on in a further one.
    Xlsx,
}

impl Format {
    /// Every format, in the order in which they are offered.
    pub const ALL: [Self; 4] = [Self::Ndjson, Self::Json, Self::Csv, Self::Xlsx];

    /// The word for this format in parameters and definitions.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ndjson => "ndjson",
            Self::Json => "json",
            Self::Csv => "csv",
            Self::Xlsx => "xlsx",
        }
    }

    /// The format of that name, if there is one.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The media type with its parameters, for `Content-Type`.
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Ndjson => "application/x-ndjson",
            Self::Json => "application/json",
            Self::Csv => "text/csv; charset=utf-8",
            Self::Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        }
    }

    /// The ending of a file's name, without the point.
    #[must_use]
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Ndjson => "ndjson",
            Self::Json => "json",
            Self::Csv => "csv",
            Self::Xlsx => "xlsx",
        }
    }
}

/// How NDJSON and JSON write the numbers of `int` and `decimal` columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Numbers {
    /// As JSON numbers with their exact digits.
    #[default]
    Number,
    /// As strings, for readers that would put them into a double.
    String,
}

impl Numbers {
    /// Every way, the default first.
    pub const ALL: [Self; 2] = [Self::Number, Self::String];

    /// The word for it in parameters.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::String => "string",
        }
    }
}

/// What the header row of a table says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Header {
    /// The columns' names for people.
    #[default]
    Title,
    /// The columns' names for machines.
    Key,
    /// There is no header row.
    None,
}

impl Header {
    /// Every header, the default first.
    pub const ALL: [Self; 3] = [Self::Title, Self::Key, Self::None];

    /// The word for it in parameters.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Key => "key",
            Self::None => "none",
        }
    }
}

/// What writes a workbook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum XlsxWriter {
    /// Our own, which sends rows on while they come.
    #[default]
    Poured,
    /// A library, in its mode of constant memory.
    Library,
}

impl XlsxWriter {
    /// Every writer, the default first.
    pub const ALL: [Self; 2] = [Self::Poured, Self::Library];

    /// The word for it in the settings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Poured => "poured",
            Self::Library => "library",
        }
    }
}

/// What a client may choose about an answer; each format heeds what concerns it.
#[derive(Debug, Clone)]
pub struct Options {
    /// The zone in which times are shown.
    pub zone: TimeZone,
    /// NDJSON and JSON: how the numbers of `int` and `decimal` columns are written.
    pub numbers: Numbers,
    /// CSV and xlsx: what the header row says; a workbook always has one.
    pub header: Header,
    /// CSV: whether a UTF-8 byte order mark comes first, by which Excel knows the encoding.
    pub bom: bool,
    /// CSV: what separates the fields; an ASCII character that is not a letter, a digit, a quote, a
    /// line break or one of `+ - . :`, which stand unquoted in numbers and times.
    pub delimiter: u8,
    /// CSV: whether text that a spreadsheet would run as a formula is prefixed with `'`.
    pub formula_guard: bool,
    /// xlsx: what the sheets are named after; made to fit Excel's rules.
    pub title: String,
    /// xlsx: what writes it.
    pub writer: XlsxWriter,
    /// xlsx by the library: where rows lie, uncompressed and nameless, until the workbook is finished.
    pub temp_dir: PathBuf,
    /// xlsx: how hard it is compressed, from 1, the fastest, to 9.
    pub level: u8,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            // Korea has had no change of its clocks since 1988, so the fallback differs before it only.
            zone: TimeZone::get("Asia/Seoul")
                .unwrap_or_else(|_| TimeZone::fixed(jiff::tz::offset(9))),
            numbers: Numbers::default(),
            header: Header::default(),
            bom: false,
            delimiter: b',',
            formula_guard: true,
            title: String::new(),
            writer: XlsxWriter::default(),
            temp_dir: PathBuf::from("/tmp"),
            level: 2,
        }
    }
}

/// An encoder that writes rows of `columns` as `format`.
#[must_use]
pub fn encoder(format: Format, columns: &[Column], options: &Options) -> FormatEncoder {
    match format {
        Format::Ndjson => FormatEncoder::Object(ObjectEncoder::ndjson(columns, options)),
        Format::Json => FormatEncoder::Object(ObjectEncoder::json(columns, options)),
        Format::Csv => FormatEncoder::Csv(CsvEncoder::new(columns, options)),
        Format::Xlsx => FormatEncoder::Xlsx(XlsxEncoder::new(columns, options)),
    }
}

/// The encoder of whichever format was asked for; one branch a row and no call through a table.
#[derive(Debug)]
pub enum FormatEncoder {
    /// NDJSON or JSON.
    Object(ObjectEncoder),
    /// CSV.
    Csv(CsvEncoder),
    /// A workbook.
    Xlsx(XlsxEncoder),
    /// Something that is no format of rows.
    Other(Other),
}

/// An encoder that comes from elsewhere.
pub struct Other(pub Box<dyn Encoder + Send>);

impl std::fmt::Debug for Other {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Other")
    }
}

impl FormatEncoder {
    /// Whether it keeps a thread of its own busy, besides the one that it is called on.
    #[must_use]
    pub fn has_thread(&self) -> bool {
        matches!(self, Self::Xlsx(XlsxEncoder::Poured(_)))
    }
}

impl Encoder for FormatEncoder {
    fn begin(&mut self, out: &mut Vec<u8>) -> Result<()> {
        match self {
            Self::Object(encoder) => encoder.begin(out),
            Self::Csv(encoder) => encoder.begin(out),
            Self::Xlsx(encoder) => encoder.begin(out),
            Self::Other(encoder) => encoder.0.begin(out),
        }
    }

    #[inline]
    fn row(&mut self, row: &[Value<'_>], out: &mut Vec<u8>) -> Result<()> {
        match self {
            Self::Object(encoder) => encoder.row(row, out),
            Self::Csv(encoder) => encoder.row(row, out),
            Self::Xlsx(encoder) => encoder.row(row, out),
            Self::Other(encoder) => encoder.0.row(row, out),
        }
    }

    fn flush(&mut self, all: bool, out: &mut Vec<u8>) -> Result<bool> {
        match self {
            Self::Object(encoder) => encoder.flush(all, out),
            Self::Csv(encoder) => encoder.flush(all, out),
            Self::Xlsx(encoder) => encoder.flush(all, out),
            Self::Other(encoder) => encoder.0.flush(all, out),
        }
    }

    fn finish(&mut self, out: &mut (dyn Write + Send)) -> Result<()> {
        match self {
            Self::Object(encoder) => encoder.finish(out),
            Self::Csv(encoder) => encoder.finish(out),
            Self::Xlsx(encoder) => encoder.finish(out),
            Self::Other(encoder) => encoder.0.finish(out),
        }
    }

    fn take_warnings(&mut self) -> Vec<Warning> {
        match self {
            Self::Object(encoder) => encoder.take_warnings(),
            Self::Csv(encoder) => encoder.take_warnings(),
            Self::Xlsx(encoder) => encoder.take_warnings(),
            Self::Other(encoder) => encoder.0.take_warnings(),
        }
    }
}

/// A row that has not one value for each column would shift every value after the gap.
#[inline]
fn same_width(columns: usize, row: &[Value<'_>]) -> Result<()> {
    if columns == row.len() { Ok(()) } else { Err(uneven(columns, row.len())) }
}

#[cold]
fn uneven(columns: usize, values: usize) -> Error {
    Error::internal("encoding a row", format!("{values} values for {columns} columns"))
}
