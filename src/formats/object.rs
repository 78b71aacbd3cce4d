//! NDJSON and JSON: one writer of objects, and the few bytes between them in which the two differ.

use std::io::Write;

use super::escape::{escape, minify};
use super::{Numbers, Options, same_width};
use crate::error::{Error, Result};
use crate::rows::{Column, Encoder, Kind, Value, Warning, ZoneClock, is_decimal};

/// What stands around the objects.
#[derive(Debug)]
struct Shape {
    begin: &'static [u8],
    /// Opens the first object.
    first: &'static [u8],
    /// Opens each further one.
    next: &'static [u8],
    close: &'static [u8],
    end: &'static [u8],
    /// In place of `end` when there were no rows.
    end_empty: &'static [u8],
}

const NDJSON: Shape =
    Shape { begin: b"", first: b"{", next: b"{", close: b"}\n", end: b"", end_empty: b"" };

// What separates two objects is written before the second, so that nothing waits for a next row.
const JSON: Shape = Shape {
    begin: b"[",
    first: b"\n{",
    next: b",\n{",
    close: b"}",
    end: b"\n]\n",
    end_empty: b"]\n",
};

/// Writes rows as JSON objects with the columns' keys, in the columns' order.
#[derive(Debug)]
pub struct ObjectEncoder {
    shape: Shape,
    open: &'static [u8],
    empty: bool,
    members: Vec<Member>,
}

impl ObjectEncoder {
    /// An object a line, LF after each; no rows, no bytes.
    #[must_use]
    pub fn ndjson(columns: &[Column], options: &Options) -> Self {
        Self::new(NDJSON, columns, options)
    }

    /// One array with an object a line; `[]` without rows.
    #[must_use]
    pub fn json(columns: &[Column], options: &Options) -> Self {
        Self::new(JSON, columns, options)
    }

    fn new(shape: Shape, columns: &[Column], options: &Options) -> Self {
        let members = columns.iter().enumerate();
        Self {
            open: shape.first,
            empty: true,
            members: members.map(|(index, column)| Member::new(index, column, options)).collect(),
            shape,
        }
    }
}

impl Encoder for ObjectEncoder {
    fn begin(&mut self, out: &mut Vec<u8>) -> Result<()> {
        out.extend_from_slice(self.shape.begin);
        Ok(())
    }

    #[inline]
    fn row(&mut self, row: &[Value<'_>], out: &mut Vec<u8>) -> Result<()> {
        same_width(self.members.len(), row)?;
        out.extend_from_slice(self.open);
        for (member, value) in self.members.iter_mut().zip(row) {
            member.write(*value, out);
        }
        out.extend_from_slice(self.shape.close);
        self.open = self.shape.next;
        self.empty = false;
        Ok(())
    }

    fn finish(&mut self, out: &mut (dyn Write + Send)) -> Result<()> {
        let end = if self.empty { self.shape.end_empty } else { self.shape.end };
        out.write_all(end).map_err(Error::writing)
    }

    fn take_warnings(&mut self) -> Vec<Warning> {
        Vec::new()
    }
}

/// One key and what its values need.
#[derive(Debug)]
struct Member {
    /// `,"key":"`, the comma not for the first: what comes before a string; without the last byte,
    /// what comes before everything else.
    prefix: Box<[u8]>,
    /// Whether numbers are written as strings.
    quoted: bool,
    /// One for each column: two columns of times may lie years apart.
    clock: ZoneClock,
}

impl Member {
    fn new(index: usize, column: &Column, options: &Options) -> Self {
        let mut prefix = Vec::new();
        if index > 0 {
            prefix.push(b',');
        }
        prefix.push(b'"');
        escape(&column.key, &mut prefix);
        prefix.extend_from_slice(b"\":\"");
        Self {
            prefix: prefix.into(),
            quoted: options.numbers == Numbers::String
                && matches!(column.kind, Kind::Int | Kind::Decimal),
            clock: ZoneClock::new(options.zone.clone()),
        }
    }

    #[inline]
    fn write(&mut self, value: Value<'_>, out: &mut Vec<u8>) {
        match value {
            Value::Bool(true) => self.literal(b"true", out),
            Value::Bool(false) => self.literal(b"false", out),
            Value::Int(number) => self.digits(itoa::Buffer::new().format(number), out),
            Value::Float(number) if number.is_finite() => {
                self.digits(zmij::Buffer::new().format_finite(number), out);
            }
            Value::Real(number) if number.is_finite() => {
                self.digits(zmij::Buffer::new().format_finite(number), out);
            }
            Value::Null | Value::Float(_) | Value::Real(_) => self.literal(b"null", out),
            Value::Decimal(digits) => self.decimal(digits, out),
            Value::Text(text) => self.string(out, |out| escape(text, out)),
            Value::Date(day) => self.string(out, |out| day.write(out)),
            Value::Time(at) => {
                out.extend_from_slice(&self.prefix);
                self.clock.write(at, out);
                out.push(b'"');
            }
            Value::Json(json) => self.document(json, out),
        }
    }

    /// What comes before a value that is not a string.
    #[inline]
    fn bare(&self) -> &[u8] {
        &self.prefix[..self.prefix.len() - 1]
    }

    #[inline]
    fn literal(&self, literal: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(self.bare());
        out.extend_from_slice(literal);
    }

    #[inline]
    fn string(&self, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
        out.extend_from_slice(&self.prefix);
        write(out);
        out.push(b'"');
    }

    #[inline]
    fn digits(&self, digits: &str, out: &mut Vec<u8>) {
        if self.quoted {
            self.string(out, |out| out.extend_from_slice(digits.as_bytes()));
        } else {
            self.literal(digits.as_bytes(), out);
        }
    }

    #[inline]
    fn decimal(&self, digits: &str, out: &mut Vec<u8>) {
        debug_assert!(is_decimal(digits), "{digits:?} is not a decimal");
        match digits.as_bytes() {
            // JSON allows no leading zeros; as a string they may stay.
            [b'0', b'0'..=b'9', ..] | [b'-', b'0', b'0'..=b'9', ..] if !self.quoted => {
                self.literal(if digits.starts_with('-') { b"-" } else { b"" }, out);
                out.extend_from_slice(without_leading_zeros(digits).as_bytes());
            }
            _ => self.digits(digits, out),
        }
    }

    fn document(&self, json: &str, out: &mut Vec<u8>) {
        out.extend_from_slice(self.bare());
        let before = out.len();
        minify(json, out);
        if out.len() == before {
            out.extend_from_slice(b"null");
        }
    }
}

/// The digits of a decimal without sign and without zeros that have a digit after them.
#[cold]
fn without_leading_zeros(digits: &str) -> &str {
    let mut digits = digits.trim_start_matches('-');
    while let [b'0', b'0'..=b'9', ..] = digits.as_bytes() {
        digits = &digits[1..];
    }
    digits
}
