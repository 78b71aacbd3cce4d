//! CSV as in RFC 4180, with the guard against text that a spreadsheet would run as a formula.

use std::io::Write;

use super::escape::{all, first, minify, places_of};
use super::{Header, Options, same_width};
use crate::error::Result;
use crate::rows::{Column, Encoder, Value, Warning, ZoneClock, is_plain_number};

const BYTE_ORDER_MARK: &[u8] = "\u{FEFF}".as_bytes();
const END: &[u8] = b"\r\n";

/// Writes rows as CSV: null empty, an empty text `""`, everything else as the other formats have it.
#[derive(Debug)]
pub struct CsvEncoder {
    /// Byte order mark and header row.
    head: Vec<u8>,
    field: Field,
    /// One for each column: two columns of times may lie years apart.
    clocks: Vec<ZoneClock>,
    /// A JSON document on its way from one line to one field; kept for its allocation.
    document: Vec<u8>,
}

impl CsvEncoder {
    /// An encoder for rows of these columns.
    #[must_use]
    pub fn new(columns: &[Column], options: &Options) -> Self {
        let field = Field {
            delimiter: options.delimiter,
            pattern: all(options.delimiter),
            guard: options.formula_guard,
        };
        let clock = ZoneClock::new(options.zone.clone());
        Self {
            head: head(columns, options, field),
            field,
            clocks: vec![clock; columns.len()],
            document: Vec::new(),
        }
    }
}

fn head(columns: &[Column], options: &Options, field: Field) -> Vec<u8> {
    let mut head = Vec::new();
    if options.bom {
        head.extend_from_slice(BYTE_ORDER_MARK);
    }
    let name = |column: &'_ Column| match options.header {
        Header::Title => Some(column.title.clone()),
        Header::Key => Some(column.key.clone()),
        Header::None => None,
    };
    let names: Vec<String> = columns.iter().filter_map(name).collect();
    for (index, name) in names.iter().enumerate() {
        if index > 0 {
            head.push(field.delimiter);
        }
        field.text(name, &mut head);
    }
    if !names.is_empty() {
        head.extend_from_slice(END);
    }
    head
}

impl Encoder for CsvEncoder {
    fn begin(&mut self, out: &mut Vec<u8>) -> Result<()> {
        out.extend_from_slice(&self.head);
        Ok(())
    }

    #[inline]
    fn row(&mut self, row: &[Value<'_>], out: &mut Vec<u8>) -> Result<()> {
        same_width(self.clocks.len(), row)?;
        let field = self.field;
        for (index, (value, clock)) in row.iter().zip(&mut self.clocks).enumerate() {
            if index > 0 {
                out.push(field.delimiter);
            }
            match *value {
                Value::Time(at) => clock.write(at, out),
                Value::Json(json) => {
                    self.document.clear();
                    minify(json, &mut self.document);
                    field.quoted_if_needed(&self.document, out);
                }
                value => field.scalar(value, out),
            }
        }
        out.extend_from_slice(END);
        Ok(())
    }

    fn finish(&mut self, _out: &mut (dyn Write + Send)) -> Result<()> {
        Ok(())
    }

    fn take_warnings(&mut self) -> Vec<Warning> {
        Vec::new()
    }
}

/// How one field is written.
#[derive(Debug, Clone, Copy)]
struct Field {
    delimiter: u8,
    /// The delimiter eight times, as the search wants it.
    pattern: u64,
    guard: bool,
}

impl Field {
    /// Writes what needs nothing but itself; times and JSON, which do, are not passed here.
    #[inline]
    fn scalar(self, value: Value<'_>, out: &mut Vec<u8>) {
        match value {
            Value::Text(text) => self.text(text, out),
            Value::Int(number) => {
                out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
            }
            Value::Decimal(digits) => out.extend_from_slice(digits.as_bytes()),
            Value::Float(number) if number.is_finite() => {
                out.extend_from_slice(zmij::Buffer::new().format_finite(number).as_bytes());
            }
            Value::Real(number) if number.is_finite() => {
                out.extend_from_slice(zmij::Buffer::new().format_finite(number).as_bytes());
            }
            Value::Bool(true) => out.extend_from_slice(b"true"),
            Value::Bool(false) => out.extend_from_slice(b"false"),
            Value::Date(day) => day.write(out),
            Value::Null | Value::Float(_) | Value::Real(_) | Value::Time(_) | Value::Json(_) => {}
        }
    }

    /// Writes text: `""` for none, guarded if it could be a formula.
    #[inline]
    fn text(self, text: &str, out: &mut Vec<u8>) {
        match text.as_bytes() {
            [] => out.extend_from_slice(b"\"\""),
            [b'=' | b'+' | b'-' | b'@' | b'\t' | b'\r', ..]
                if self.guard && !is_plain_number(text) =>
            {
                self.guarded(text, out);
            }
            bytes => self.quoted_if_needed(bytes, out),
        }
    }

    #[cold]
    fn guarded(self, text: &str, out: &mut Vec<u8>) {
        let guarded = ["'", text].concat();
        self.quoted_if_needed(guarded.as_bytes(), out);
    }

    #[inline]
    fn quoted_if_needed(self, bytes: &[u8], out: &mut Vec<u8>) {
        let marks = |word| {
            places_of(word, self.pattern)
                | places_of(word, all(b'"'))
                | places_of(word, all(b'\r'))
                | places_of(word, all(b'\n'))
        };
        if first(bytes, marks).is_none() {
            out.extend_from_slice(bytes);
        } else {
            quoted(bytes, out);
        }
    }
}

/// Writes a field in quotes, those inside doubled.
fn quoted(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = bytes;
    while let Some(at) = memchr::memchr(b'"', rest) {
        let (with_quote, after) = rest.split_at(at + 1);
        out.extend_from_slice(with_quote);
        out.push(b'"');
        rest = after;
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}
