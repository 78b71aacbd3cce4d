//! What the databases with column types share: numbers, texts and times off the wire → values of the
//! declared kind. Each is called for every cell, and so inlined into the loop over them.

use jiff::tz::TimeZone;

use super::cells::{is_json, pad_to_scale, plain_digits};
use crate::rows::{Instant, Kind, Value, ZoneClock, is_decimal, parse_time};

/// A cell read; `None` for what no format can say, words for what does not fit.
pub type Reading<'r> = Result<Option<Value<'r>>, String>;

#[inline]
pub(super) fn utf8(bytes: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(bytes).map_err(|error| {
        format!("holds bytes that are not UTF-8, the first at byte {}", error.valid_up_to() + 1)
    })
}

/// A whole number that a column of whole numbers held.
#[expect(clippy::cast_precision_loss, reason = "types of 32 bits or less alone are read as floats")]
#[inline]
pub(super) fn integer(
    value: i64,
    kind: Kind,
    scale: Option<u32>,
    scratch: &mut String,
) -> Value<'_> {
    match kind {
        Kind::Text => {
            scratch.push_str(itoa::Buffer::new().format(value));
            Value::Text(scratch)
        }
        Kind::Decimal => {
            scratch.push_str(itoa::Buffer::new().format(value));
            pad_to_scale(scale, scratch);
            Value::Decimal(scratch)
        }
        Kind::Float => Value::Float(value as f64),
        Kind::Int | Kind::Bool | Kind::Date | Kind::Time | Kind::Json => Value::Int(value),
    }
}

#[inline]
pub(super) fn single(
    value: f32,
    kind: Kind,
    scale: Option<u32>,
    scratch: &mut String,
) -> Option<Value<'_>> {
    if kind != Kind::Decimal {
        return Some(Value::Real(value));
    }
    if !value.is_finite() {
        return None;
    }
    // The digits of a single are those of its own width, not of the double next to it.
    scratch.push_str(&value.to_string());
    pad_to_scale(scale, scratch);
    Some(Value::Decimal(scratch))
}

#[inline]
pub(super) fn double(
    value: f64,
    kind: Kind,
    scale: Option<u32>,
    scratch: &mut String,
) -> Option<Value<'_>> {
    match kind {
        Kind::Decimal if !value.is_finite() => None,
        Kind::Decimal => Some(Value::Decimal(plain_digits(value, scale, scratch))),
        _ => Some(Value::Float(value)),
    }
}

/// The digits of an exact number.
#[inline]
pub(super) fn exact(digits: &str, kind: Kind) -> Reading<'_> {
    match kind {
        Kind::Int => match digits.split_once('.') {
            Some((whole, fraction)) if fraction.bytes().all(|digit| digit == b'0') => {
                Ok(Some(Value::Decimal(whole)))
            }
            Some(_) => {
                Err(format!("holds {digits}, which is not a whole number; declare it decimal"))
            }
            None => Ok(Some(Value::Decimal(digits))),
        },
        Kind::Decimal => Ok(Some(Value::Decimal(digits))),
        Kind::Text | Kind::Float | Kind::Bool | Kind::Date | Kind::Time | Kind::Json => {
            Ok(Some(Value::Text(digits)))
        }
    }
}

#[inline]
pub(super) fn text(text: &str, kind: Kind) -> Result<Value<'_>, String> {
    match kind {
        Kind::Decimal if is_decimal(text) => Ok(Value::Decimal(text)),
        Kind::Decimal => Err(format!("holds the text {text:?}, which is not a decimal number")),
        Kind::Json if is_json(text) => Ok(Value::Json(text)),
        Kind::Json => Err("holds text that is not valid JSON".into()),
        Kind::Text | Kind::Int | Kind::Float | Kind::Bool | Kind::Date | Kind::Time => {
            Ok(Value::Text(text))
        }
    }
}

#[inline]
pub(super) fn json(text: &str, kind: Kind) -> Value<'_> {
    if kind == Kind::Json { Value::Json(text) } else { Value::Text(text) }
}

/// The moment at which clocks in `zone` (UTC without one) show this civil time.
pub(super) fn at_zone(
    seconds: i64,
    nanos: u32,
    zone: Option<&TimeZone>,
) -> Result<Instant, String> {
    let civil = Instant { seconds, nanos };
    let Some(zone) = zone else {
        return Ok(civil);
    };
    let mut shown = Vec::with_capacity(40);
    ZoneClock::new(TimeZone::UTC).write(civil, &mut shown);
    shown.pop(); // the Z: what is left is a wall clock
    let shown = std::str::from_utf8(&shown).map_err(|error| error.to_string())?;
    parse_time(shown, Some(zone)).map_err(|error| error.to_string())
}
