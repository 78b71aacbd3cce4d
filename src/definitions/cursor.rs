//! The opaque token between two pages: the order's values in the last row, with a check that they
//! belong to this report, this order and these filters.
//!
//! The check finds mistakes, not forgery: whoever makes a token of his own begins elsewhere within
//! rows that he may see anyway, since the scope is bound into every page.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::filters::Filters;
use super::report::Report;
use crate::database::Arg;
use crate::error::Problem;

/// Bytes of the check, in front of the values.
const CHECK: usize = 12;

/// A value as a token holds it; doubles by their bits, so that none is rounded on the way.
#[derive(Serialize, Deserialize)]
enum Held {
    #[serde(rename = "n")]
    Null,
    #[serde(rename = "b")]
    Bool(bool),
    #[serde(rename = "i")]
    Int(i64),
    #[serde(rename = "f")]
    Float(u64),
    #[serde(rename = "t")]
    Text(String),
}

/// Makes the token that continues after the row whose order values are `place`, read as
/// [`crate::database::Read::Stored`]; hexadecimal, so that it stands in an address as it is.
#[must_use]
pub fn encode(report: &Report, filters: &Filters, place: &[Arg]) -> String {
    let held = |arg: &Arg| match arg {
        Arg::Null => Held::Null,
        Arg::Bool(value) => Held::Bool(*value),
        Arg::Int(value) => Held::Int(*value),
        Arg::Float(value) => Held::Float(value.to_bits()),
        Arg::Text(value) => Held::Text(value.clone()),
    };
    let held: Vec<Held> = place.iter().map(held).collect();
    // Texts and numbers always have a JSON form.
    let values = serde_json::to_vec(&held).unwrap_or_default();
    let mut token = String::with_capacity(2 * (CHECK + values.len()));
    for byte in check(report, filters, &values).iter().chain(&values) {
        token.push(digit(byte >> 4));
        token.push(digit(byte & 15));
    }
    token
}

/// Reads a token back.
///
/// # Errors
/// A problem `bad_cursor` of the parameter `after` where the token was altered or cut, or was made
/// for another report, another order or other filters.
pub fn decode(report: &Report, filters: &Filters, token: &str) -> Result<Vec<Arg>, Problem> {
    place(report, filters, token).ok_or_else(|| {
        Problem::parameter(
            "after",
            "bad_cursor",
            token,
            format!(
                "\"after\" does not continue the report \"{}\" with these filters; repeat the \
                 filters of the page that it came with, or start again without \"after\"",
                report.name
            ),
        )
    })
}

fn place(report: &Report, filters: &Filters, token: &str) -> Option<Vec<Arg>> {
    let bytes = bytes(token)?;
    let (sent, values) = bytes.split_at_checked(CHECK)?;
    if sent != check(report, filters, values) {
        return None;
    }
    let held: Vec<Held> = serde_json::from_slice(values).ok()?;
    let arg = |held| match held {
        Held::Null => Arg::Null,
        Held::Bool(value) => Arg::Bool(value),
        Held::Int(value) => Arg::Int(value),
        Held::Float(bits) => Arg::Float(f64::from_bits(bits)),
        Held::Text(value) => Arg::Text(value),
    };
    (held.len() == report.order.len()).then(|| held.into_iter().map(arg).collect())
}

fn check(report: &Report, filters: &Filters, values: &[u8]) -> [u8; CHECK] {
    let mut hash = Sha256::new();
    let mut part = |bytes: &[u8]| {
        // With the length in front no two lists of parts come to the same bytes.
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    part(report.name.as_bytes());
    part(report.order_words().join("\n").as_bytes());
    for meaning in filters.meaning(report) {
        part(meaning.as_bytes());
    }
    part(values);
    let mut check = [0; CHECK];
    for (place, byte) in check.iter_mut().zip(hash.finalize()) {
        *place = byte;
    }
    check
}

fn digit(nibble: u8) -> char {
    char::from_digit(u32::from(nibble), 16).unwrap_or('0')
}

fn bytes(token: &str) -> Option<Vec<u8>> {
    let nibble = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let (pairs, rest) = token.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|[high, low]| Some(nibble(*high)? << 4 | nibble(*low)?)).collect()
}
