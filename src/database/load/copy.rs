//! PostgreSQL's binary `COPY` format: rows to bytes. Knows no connection.
//!
//! The format is in PostgreSQL's documentation under `COPY`, "Binary Format"; the fields are what
//! the types' `recv` functions take.

use memchr::memchr;

use super::unfit;
use crate::error::{Error, Result};
use crate::rows::{Kind, Value};

/// Days from 1970-01-01 to PostgreSQL's own zero, 2000-01-01.
const EPOCH_DAYS: i32 = 10_957;
/// The same in microseconds.
const EPOCH_MICROS: i64 = EPOCH_DAYS as i64 * 86_400_000_000;
/// Decimal digits in one digit of a `numeric`.
const GROUP: usize = 4;

/// Appends what stands before the first row.
pub(super) fn begin(out: &mut Vec<u8>) {
    out.extend_from_slice(b"PGCOPY\n\xff\r\n\0");
    // No flags, no extension.
    out.extend_from_slice(&[0; 8]);
}

/// Appends what stands after the last row.
pub(super) fn end(out: &mut Vec<u8>) {
    out.extend_from_slice(&(-1_i16).to_be_bytes());
}

/// Appends the head of a row of this many fields.
pub(super) fn row(fields: usize, out: &mut Vec<u8>) -> Result<()> {
    let fields = i16::try_from(fields)
        .map_err(|_| Error::internal("loading a row", "more columns than a table can have"))?;
    out.extend_from_slice(&fields.to_be_bytes());
    Ok(())
}

/// Appends one field, or says why the column cannot hold it.
pub(super) fn field(kind: Kind, value: Value<'_>, out: &mut Vec<u8>) -> Result<(), String> {
    match (kind, value) {
        (_, Value::Null) => out.extend_from_slice(&(-1_i32).to_be_bytes()),
        (Kind::Bool, Value::Bool(truth)) => fixed([u8::from(truth)], out),
        (Kind::Int, Value::Int(number)) => fixed(number.to_be_bytes(), out),
        (Kind::Float, Value::Float(number)) => fixed(number.to_be_bytes(), out),
        (Kind::Float, Value::Real(number)) => fixed(f64::from(number).to_be_bytes(), out),
        (Kind::Decimal, Value::Decimal(digits)) => numeric(digits, out)?,
        (Kind::Decimal, Value::Int(number)) => {
            numeric(itoa::Buffer::new().format(number), out)?;
        }
        (Kind::Text, Value::Text(text)) | (Kind::Json, Value::Json(text)) => {
            bytes(text.as_bytes(), out)?;
        }
        (Kind::Date, Value::Date(day)) => {
            let days = day.days.checked_sub(EPOCH_DAYS);
            fixed(days.ok_or_else(|| unfit(kind, value))?.to_be_bytes(), out);
        }
        (Kind::Time, Value::Time(at)) => {
            let micros = at.micros().and_then(|micros| micros.checked_sub(EPOCH_MICROS));
            fixed(micros.ok_or_else(|| unfit(kind, value))?.to_be_bytes(), out);
        }
        (kind, value) => return Err(unfit(kind, value)),
    }
    Ok(())
}

#[expect(clippy::cast_possible_truncation, reason = "the types of fixed length have 1 to 8 bytes")]
fn fixed<const N: usize>(value: [u8; N], out: &mut Vec<u8>) {
    out.extend_from_slice(&[0, 0, 0, N as u8]);
    out.extend_from_slice(&value);
}

fn bytes(value: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
    if memchr(0, value).is_some() {
        return Err("the text holds a NUL character, which PostgreSQL cannot store".into());
    }
    let length = i32::try_from(value.len())
        .map_err(|_| format!("the text has {} bytes, more than 2 GiB", value.len()))?;
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(value);
    Ok(())
}

/// Appends exact digits as a `numeric`: groups of four digits, counted outwards from the point.
fn numeric(digits: &str, out: &mut Vec<u8>) -> Result<(), String> {
    let unsigned = digits.strip_prefix('-').unwrap_or(digits);
    let sign: u16 = if unsigned.len() == digits.len() { 0 } else { 0x4000 };
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let (before, after) = (whole.len().div_ceil(GROUP), fraction.len().div_ceil(GROUP));
    let too_long = |_| format!("the number has {} digits, too many", unsigned.len());
    let groups = i16::try_from(before + after).map_err(too_long)?;
    let scale = i16::try_from(fraction.len()).map_err(too_long)?;
    let weight = i16::try_from(before).map_err(too_long)? - 1;
    let length = i32::from(groups) * 2 + 8;
    out.extend_from_slice(&length.to_be_bytes());
    for head in [groups, weight] {
        out.extend_from_slice(&head.to_be_bytes());
    }
    out.extend_from_slice(&sign.to_be_bytes());
    out.extend_from_slice(&scale.to_be_bytes());
    let (first, rest) = whole.as_bytes().split_at(whole.len() % GROUP);
    if !first.is_empty() {
        out.extend_from_slice(&group(first).to_be_bytes());
    }
    for chunk in rest.chunks(GROUP) {
        out.extend_from_slice(&group(chunk).to_be_bytes());
    }
    for chunk in fraction.as_bytes().chunks(GROUP) {
        let missing = GROUP - chunk.len();
        let scaled = (0..missing).fold(group(chunk), |number, _| number * 10);
        out.extend_from_slice(&scaled.to_be_bytes());
    }
    Ok(())
}

fn group(digits: &[u8]) -> u16 {
    digits.iter().fold(0, |number, digit| number * 10 + u16::from(digit - b'0'))
}
