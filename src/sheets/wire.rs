//! Rows as bytes: how they pass from the child that reads a spreadsheet, and how refused rows are
//! kept on disk until somebody fetches them.
//!
//! A row is its number, how many cells it has, and the cells: a tag each, then what the tag calls
//! for. Counts and lengths are LEB128, floats eight bytes, everything little-endian. What is decoded
//! borrows from the bytes, and no bytes whatever make it panic or reserve more than they are.

use super::Cell;

const EMPTY: u8 = 0;
const TEXT: u8 = 1;
const NUMBER: u8 = 2;
const DIGITS: u8 = 3;
const SERIAL: u8 = 4;
const ISO: u8 = 5;
const DURATION: u8 = 6;
const FALSE: u8 = 7;
const TRUE: u8 = 8;
const ERROR: u8 = 9;
const UNEVALUATED: u8 = 10;
const JSON: u8 = 11;

/// Bytes that are no row: cut off, or not written here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Torn;

impl std::fmt::Display for Torn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the bytes are no encoded row")
    }
}

impl std::error::Error for Torn {}

/// Appends a row to `out`.
pub(crate) fn encode_row(number: u64, cells: &[Cell<'_>], out: &mut Vec<u8>) {
    count(number, out);
    count(cells.len() as u64, out);
    for cell in cells {
        encode(*cell, out);
    }
}

#[inline]
fn encode(cell: Cell<'_>, out: &mut Vec<u8>) {
    match cell {
        Cell::Empty => out.push(EMPTY),
        Cell::Text(text) => string(TEXT, text, out),
        Cell::Number(number) => float(NUMBER, number, out),
        Cell::Digits(digits) => string(DIGITS, digits, out),
        Cell::Serial(days) => float(SERIAL, days, out),
        Cell::Iso(text) => string(ISO, text, out),
        Cell::Duration(days) => float(DURATION, days, out),
        Cell::Bool(false) => out.push(FALSE),
        Cell::Bool(true) => out.push(TRUE),
        Cell::Error(text) => string(ERROR, text, out),
        Cell::Unevaluated => out.push(UNEVALUATED),
        Cell::Json(json) => string(JSON, json, out),
    }
}

#[inline]
fn string(tag: u8, text: &str, out: &mut Vec<u8>) {
    out.push(tag);
    count(text.len() as u64, out);
    out.extend_from_slice(text.as_bytes());
}

#[inline]
fn float(tag: u8, number: f64, out: &mut Vec<u8>) {
    out.push(tag);
    out.extend_from_slice(&number.to_le_bytes());
}

#[inline]
fn count(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}

/// Takes a row off the front of `bytes`: its cells replace what is in `cells`, its number is given.
///
/// # Errors
/// When the bytes do not begin with a row; then both are left in some state.
pub(crate) fn decode_row<'a>(bytes: &mut &'a [u8], cells: &mut Vec<Cell<'a>>) -> Result<u64, Torn> {
    let number = take_count(bytes)?;
    let width = usize::try_from(take_count(bytes)?).map_err(|_| Torn)?;
    cells.clear();
    // A cell is a byte at least.
    if width > bytes.len() {
        return Err(Torn);
    }
    cells.reserve(width);
    for _ in 0..width {
        cells.push(decode(bytes)?);
    }
    Ok(number)
}

#[inline]
fn decode<'a>(bytes: &mut &'a [u8]) -> Result<Cell<'a>, Torn> {
    let (tag, rest) = bytes.split_first().ok_or(Torn)?;
    *bytes = rest;
    Ok(match *tag {
        EMPTY => Cell::Empty,
        TEXT => Cell::Text(take_string(bytes)?),
        NUMBER => Cell::Number(take_float(bytes)?),
        DIGITS => Cell::Digits(take_string(bytes)?),
        SERIAL => Cell::Serial(take_float(bytes)?),
        ISO => Cell::Iso(take_string(bytes)?),
        DURATION => Cell::Duration(take_float(bytes)?),
        FALSE => Cell::Bool(false),
        TRUE => Cell::Bool(true),
        ERROR => Cell::Error(take_string(bytes)?),
        UNEVALUATED => Cell::Unevaluated,
        JSON => Cell::Json(take_string(bytes)?),
        _ => return Err(Torn),
    })
}

#[inline]
fn take_count(bytes: &mut &[u8]) -> Result<u64, Torn> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (byte, rest) = bytes.split_first().ok_or(Torn)?;
        *bytes = rest;
        let part = u64::from(byte & 0x7F);
        // The tenth byte has room for one bit.
        if shift == 63 && part > 1 {
            return Err(Torn);
        }
        number |= part << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(Torn)
}

#[inline]
fn take_float(bytes: &mut &[u8]) -> Result<f64, Torn> {
    let (float, rest) = bytes.split_first_chunk().ok_or(Torn)?;
    *bytes = rest;
    Ok(f64::from_le_bytes(*float))
}

#[inline]
fn take_string<'a>(bytes: &mut &'a [u8]) -> Result<&'a str, Torn> {
    let length = usize::try_from(take_count(bytes)?).map_err(|_| Torn)?;
    let (text, rest) = bytes.split_at_checked(length).ok_or(Torn)?;
    *bytes = rest;
    std::str::from_utf8(text).map_err(|_| Torn)
}
