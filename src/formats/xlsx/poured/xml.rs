//! Text and numbers as a sheet's XML has them.

use crate::formats::escape::{all, controls, first, places_of};
use crate::formats::xlsx::grid::Number;

/// Writes a number, as short as it can be said. Spreadsheets have no negative zero.
#[inline]
pub(super) fn number(number: Number<'_>, out: &mut Vec<u8>) {
    match number {
        Number::Int(number) => out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes()),
        Number::Digits(digits) => decimal(digits.as_bytes(), out),
        Number::Float(number) => float(zmij::Buffer::new().format_finite(number + 0.0), out),
        Number::Real(number) => float(zmij::Buffer::new().format_finite(number + 0.0), out),
    }
}

#[inline]
fn float(digits: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(digits.strip_suffix(".0").unwrap_or(digits).as_bytes());
}

/// Writes the digits of a decimal without zeros before and behind, and without the sign of a zero.
#[inline]
fn decimal(digits: &[u8], out: &mut Vec<u8>) {
    match digits {
        [b'-', ..] | [b'0', b'0'..=b'9', ..] => signed(digits, out),
        _ => out.extend_from_slice(shortened(digits)),
    }
}

fn signed(digits: &[u8], out: &mut Vec<u8>) {
    let (negative, mut digits) = match digits {
        [b'-', rest @ ..] => (rest.iter().any(|digit| matches!(digit, b'1'..=b'9')), rest),
        _ => (false, digits),
    };
    while let [b'0', b'0'..=b'9', ..] = digits {
        digits = &digits[1..];
    }
    if negative {
        out.push(b'-');
    }
    out.extend_from_slice(shortened(digits));
}

/// Without zeros at the end of a fraction.
#[inline]
fn shortened(digits: &[u8]) -> &[u8] {
    if digits.last() != Some(&b'0') || !digits.contains(&b'.') {
        return digits;
    }
    let kept = digits.iter().rposition(|digit| *digit != b'0').unwrap_or_default();
    // Where nothing is left of the fraction, the point goes too.
    &digits[..kept + usize::from(digits[kept] != b'.')]
}

/// Writes the text of a cell, down to the cell's end.
#[inline]
pub(super) fn text(text: &str, out: &mut Vec<u8>) {
    content(text, out);
    out.extend_from_slice(b"</is></c>");
}

/// Writes a text as an element of its own.
#[inline]
pub(super) fn content(text: &str, out: &mut Vec<u8>) {
    let blank = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t' | b'\n'));
    let bytes = text.as_bytes();
    out.extend_from_slice(if blank(bytes.first()) || blank(bytes.last()) {
        b"<t xml:space=\"preserve\">"
    } else {
        b"<t>"
    });
    match first_marked(bytes) {
        None => out.extend_from_slice(bytes),
        Some(at) => escaped_from(bytes, at, out),
    }
    out.extend_from_slice(b"</t>");
}

/// The first byte that may have to be written otherwise: what XML needs for itself, what it does not
/// take, and what begins an escape of Excel's.
#[inline]
fn first_marked(bytes: &[u8]) -> Option<usize> {
    first(bytes, |word| {
        controls(word)
            | places_of(word, all(b'&'))
            | places_of(word, all(b'<'))
            | places_of(word, all(b'>'))
            | places_of(word, all(b'_'))
            | places_of(word, all(0xEF))
    })
}

fn escaped_from(bytes: &[u8], first: usize, out: &mut Vec<u8>) {
    let (mut rest, mut next) = (bytes, Some(first));
    while let Some(at) = next {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        let taken = escaped(rest, out);
        rest = &rest[taken..];
        next = first_marked(rest);
    }
    out.extend_from_slice(rest);
}

/// Writes what a text at hand begins with; how many of its bytes that was.
fn escaped(rest: &[u8], out: &mut Vec<u8>) -> usize {
    match rest {
        [b'&', ..] => out.extend_from_slice(b"&amp;"),
        [b'<', ..] => out.extend_from_slice(b"&lt;"),
        [b'>', ..] => out.extend_from_slice(b"&gt;"),
        [b'_', after @ ..] => {
            out.extend_from_slice(if is_escape(after) { b"_x005F_" } else { b"_" });
        }
        [byte @ (0..=0x08 | 0x0B..=0x1F), ..] => code(u16::from(*byte), out),
        [0xEF, 0xBF, last @ (0xBE | 0xBF), ..] => {
            code(0xFFC0 | u16::from(*last & 0x3F), out);
            return 3;
        }
        [byte, ..] => out.push(*byte),
        [] => return 0,
    }
    1
}

/// Whether what follows on an underscore would be read as an escape, where the next thing may be one of
/// ours.
fn is_escape(after: &[u8]) -> bool {
    let [b'x', digits @ ..] = after else { return false };
    let Some((digits, next)) = digits.split_first_chunk::<4>() else { return false };
    digits.iter().all(u8::is_ascii_hexdigit)
        && matches!(
            next,
            [b'_' | 0..=0x08 | 0x0B..=0x1F, ..] | [0xEF, 0xBF, 0xBE | 0xBF, ..]
        )
}

/// Writes a character that XML does not take.
fn code(character: u16, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    out.extend_from_slice(b"_x");
    for shift in [12, 8, 4, 0] {
        out.push(HEX[usize::from(character >> shift & 15)]);
    }
    out.push(b'_');
}
