//! Rows between the transaction that read them and the pages that are made of them: in memory, and from
//! 16 MiB on in a file without a name.
//!
//! A row is its values one after the other, each with a sign for what it is. JSON stays as the database
//! holds it and is parsed when its document's turn comes, so that a broken one is told by its document.

#[cfg(test)]
mod tests;

use std::ops::Range;

use super::values::Unfit;
use crate::definitions::Report;
use crate::error::{Error, Result};
use crate::json::Node;
use crate::rows::{Kind, Value, ZoneClock};
use crate::spool::{Hold, Spool};

/// Bytes that are held in memory.
const MEMORY: usize = 16 << 20;

/// Rows that were read.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// What is in memory: all, or what was not written yet.
    bytes: Vec<u8>,
    /// The rest.
    aside: Option<Hold>,
}

impl Held {
    /// Adds a row; where it stands.
    ///
    /// # Errors
    /// As [`Hold::add`].
    pub(super) fn add(
        &mut self,
        row: &[Value<'_>],
        report: &Report,
        clock: &mut ZoneClock,
        spool: &Spool,
    ) -> Result<Range<u64>> {
        let begin = self.length();
        for (value, declared) in row.iter().zip(&report.columns) {
            write(*value, declared.column.kind, clock, &mut self.bytes);
        }
        let end = self.length();
        if self.bytes.len() >= MEMORY {
            self.spill(spool)?;
        }
        Ok(begin..end)
    }

    /// Bytes in all.
    pub(super) fn length(&self) -> u64 {
        self.aside.as_ref().map_or(0, Hold::size) + self.bytes.len() as u64
    }

    fn spill(&mut self, spool: &Spool) -> Result<()> {
        let aside = match &mut self.aside {
            Some(aside) => aside,
            none @ None => none.insert(spool.hold()?),
        };
        aside.add(&self.bytes)?;
        self.bytes.clear();
        Ok(())
    }

    /// Ends the adding.
    ///
    /// # Errors
    /// As [`Held::add`].
    pub(super) fn close(&mut self, spool: &Spool) -> Result<()> {
        if self.aside.is_some() {
            self.spill(spool)?;
            self.bytes = Vec::new();
        }
        self.bytes.shrink_to_fit();
        Ok(())
    }

    /// Appends the bytes of a row to `out`.
    ///
    /// # Errors
    /// [`Error::Internal`] where the file cannot be read.
    pub(super) fn read(&self, row: &Range<u64>, out: &mut Vec<u8>) -> Result<()> {
        let length = usize::try_from(row.end - row.start).unwrap_or(usize::MAX);
        if let Some(aside) = &self.aside {
            let before = out.len();
            out.resize(before + length, 0);
            return aside.read(row.start, &mut out[before..]);
        }
        let begin = usize::try_from(row.start).unwrap_or(usize::MAX);
        let bytes = self.bytes.get(begin..begin.saturating_add(length));
        out.extend_from_slice(bytes.ok_or_else(|| Error::internal("reading held rows", "a gap"))?);
        Ok(())
    }
}

/// The signs before values.
mod sign {
    pub(super) const NULL: u8 = b'n';
    pub(super) const TRUE: u8 = b't';
    pub(super) const FALSE: u8 = b'f';
    pub(super) const DIGITS: u8 = b'd';
    pub(super) const TEXT: u8 = b's';
    pub(super) const JSON: u8 = b'j';
}

fn write(value: Value<'_>, kind: Kind, clock: &mut ZoneClock, out: &mut Vec<u8>) {
    let mut sized = |sign: u8, write: &mut dyn FnMut(&mut Vec<u8>)| {
        out.push(sign);
        let at = out.len();
        out.extend_from_slice(&[0; 8]);
        write(out);
        let length = (out.len() - at - 8) as u64;
        out[at..at + 8].copy_from_slice(&length.to_le_bytes());
    };
    let mut plain = |sign: u8, text: &str| {
        sized(sign, &mut |out| out.extend_from_slice(text.as_bytes()));
    };
    match value {
        Value::Bool(true) => out.push(sign::TRUE),
        Value::Bool(false) => out.push(sign::FALSE),
        Value::Int(number) => plain(sign::DIGITS, itoa::Buffer::new().format(number)),
        Value::Float(number) if number.is_finite() => {
            plain(sign::DIGITS, zmij::Buffer::new().format_finite(number));
        }
        Value::Real(number) if number.is_finite() => {
            plain(sign::DIGITS, zmij::Buffer::new().format_finite(number));
        }
        Value::Null | Value::Float(_) | Value::Real(_) => out.push(sign::NULL),
        Value::Decimal(digits) => plain(sign::DIGITS, digits),
        Value::Text(json) if kind == Kind::Json => plain(sign::JSON, json),
        Value::Text(text) => plain(sign::TEXT, text),
        Value::Json(json) => plain(sign::JSON, json),
        Value::Date(day) => sized(sign::TEXT, &mut |out| day.write(out)),
        Value::Time(at) => sized(sign::TEXT, &mut |out| clock.write(at, out)),
    }
}

/// A row as an object of its columns' keys; what follows it in `bytes` is left in there.
///
/// # Errors
/// What is wrong with a column's JSON.
pub(super) fn object<'a>(
    bytes: &mut &'a [u8],
    report: &'a Report,
) -> Result<Result<Node<'a>, Unfit>> {
    let mut pairs = Vec::with_capacity(report.columns.len());
    let mut unfit = None;
    for declared in &report.columns {
        let key = &declared.column.key;
        let node = match next(bytes)? {
            Found::Node(node) => node,
            Found::Json(json) => Node::parse(json).unwrap_or_else(|error| {
                let why = format!("the column \"{key}\" at /{key} is not JSON: {error}");
                unfit.get_or_insert(Unfit(why));
                Node::Null
            }),
        };
        pairs.push((key.as_str().into(), node));
    }
    Ok(unfit.map_or(Ok(Node::Object(pairs)), Err))
}

enum Found<'a> {
    Node(Node<'a>),
    Json(&'a str),
}

fn next<'a>(bytes: &mut &'a [u8]) -> Result<Found<'a>> {
    let broken = || Error::internal("reading rows that are held", "they end too early");
    let (sign, rest) = bytes.split_first().ok_or_else(broken)?;
    *bytes = rest;
    let node = match *sign {
        sign::NULL => Node::Null,
        sign::TRUE => Node::Bool(true),
        sign::FALSE => Node::Bool(false),
        sign => {
            let (length, rest) = bytes.split_first_chunk::<8>().ok_or_else(broken)?;
            let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
            let (text, rest) = rest.split_at_checked(length).ok_or_else(broken)?;
            *bytes = rest;
            let text = std::str::from_utf8(text)
                .map_err(|source| Error::internal("reading rows that are held", source))?;
            match sign {
                sign::DIGITS => Node::Digits(text),
                sign::JSON => return Ok(Found::Json(text)),
                _ => Node::Text(text.into()),
            }
        }
    };
    Ok(Found::Node(node))
}
