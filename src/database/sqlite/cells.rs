//! SQLite's cells as values of their declared kinds: its columns have no types, each cell has its own.

use jiff::tz::TimeZone;

use crate::database::cells::{counted, is_json, pad_to_scale, plain_digits};
use crate::database::{Read, Unit};
use crate::rows::{Kind, Value, is_decimal, parse_bool, parse_date, parse_time};

/// What is wrong with bytes that are no text.
#[cold]
pub(super) fn blob() -> String {
    "holds a BLOB; select it as text, for example with hex() or json()".into()
}

/// Adds the value that an integer stands for, or says in words what is wrong with it.
#[inline]
pub(super) fn integer<'r>(
    value: i64,
    read: &Read,
    scratch: &'r mut String,
    values: &mut Vec<Value<'r>>,
) -> Result<(), String> {
    match read {
        Read::Stored | Read::As { kind: Kind::Int, .. } => values.push(Value::Int(value)),
        Read::As { kind, scale, unit, .. } => {
            scratch.clear();
            values.push(from_integer(value, *kind, *scale, *unit, scratch)?);
        }
    }
    Ok(())
}

/// As [`integer`], of a double.
#[inline]
pub(super) fn real<'r>(
    value: f64,
    read: &Read,
    scratch: &'r mut String,
    values: &mut Vec<Value<'r>>,
) -> Result<(), String> {
    match read {
        Read::Stored => values.push(Value::Float(value)),
        Read::As { kind, scale, .. } => {
            scratch.clear();
            values.push(from_real(value, *kind, *scale, scratch)?);
        }
    }
    Ok(())
}

/// As [`integer`], of a text.
#[inline]
pub(super) fn text<'r>(
    bytes: &'r [u8],
    read: &Read,
    scratch: &'r mut String,
    values: &mut Vec<Value<'r>>,
) -> Result<(), String> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        format!("holds bytes that are not UTF-8, the first at byte {}", error.valid_up_to() + 1)
    })?;
    match read {
        Read::Stored | Read::As { kind: Kind::Text, .. } => values.push(Value::Text(text)),
        Read::As { kind, zone, .. } => {
            scratch.clear();
            values.push(from_text(text, *kind, zone.as_ref(), scratch)?);
        }
    }
    Ok(())
}

fn from_text<'r>(
    text: &'r str,
    kind: Kind,
    zone: Option<&TimeZone>,
    scratch: &'r mut String,
) -> Result<Value<'r>, String> {
    let misfit = |rule: &str| Err(format!("holds the text {text:?}, which is not {rule}"));
    match kind {
        Kind::Text => Ok(Value::Text(text)),
        Kind::Int => match text.parse() {
            Ok(value) => Ok(Value::Int(value)),
            Err(_) if is_decimal(text) && !text.contains('.') => Ok(Value::Decimal(text)),
            Err(_) => misfit("a whole number"),
        },
        Kind::Decimal => {
            let digits = text.strip_prefix('+').unwrap_or(text);
            if is_decimal(digits) { Ok(Value::Decimal(digits)) } else { misfit("a decimal number") }
        }
        Kind::Float => match text.parse::<f64>() {
            Ok(value) => Ok(Value::Float(value)),
            Err(_) => misfit("a number"),
        },
        Kind::Bool => parse_bool(text).map(Value::Bool).map_err(|error| error.to_string()),
        Kind::Date => parse_date(text).map(Value::Date).map_err(|error| error.to_string()),
        Kind::Time => parse_time(text, zone).map(Value::Time).map_err(|error| error.to_string()),
        Kind::Json => {
            if is_json(text) {
                Ok(Value::Json(text))
            } else {
                scratch.extend(text.chars().take(40));
                Err(format!("holds text that is not valid JSON; it begins {scratch:?}"))
            }
        }
    }
}

fn from_integer(
    value: i64,
    kind: Kind,
    scale: Option<u32>,
    unit: Option<Unit>,
    scratch: &mut String,
) -> Result<Value<'_>, String> {
    match kind {
        Kind::Int => Ok(Value::Int(value)),
        Kind::Text => Ok(Value::Text(digits(value, scratch))),
        Kind::Json => Ok(Value::Json(digits(value, scratch))),
        Kind::Decimal => {
            digits(value, scratch);
            pad_to_scale(scale, scratch);
            Ok(Value::Decimal(scratch))
        }
        Kind::Float => exact_double(value).map(Value::Float).ok_or_else(|| {
            format!("holds the integer {value}, which a double cannot say exactly; declare it int")
        }),
        Kind::Bool => match value {
            0 => Ok(Value::Bool(false)),
            1 => Ok(Value::Bool(true)),
            _ => Err(format!("holds the integer {value}, which is neither 0 nor 1")),
        },
        Kind::Time => counted(value, unit).map(Value::Time),
        Kind::Date => Err(format!(
            "holds the integer {value}, which is not a date; make it one in the definition's sql, for \
             example with date(column, 'unixepoch')"
        )),
    }
}

fn from_real(
    value: f64,
    kind: Kind,
    scale: Option<u32>,
    scratch: &mut String,
) -> Result<Value<'_>, String> {
    match kind {
        Kind::Float => Ok(Value::Float(value)),
        Kind::Int => whole(value).map(Value::Int).ok_or_else(|| {
            format!(
                "holds the number {value}, which is not a whole number; declare it decimal or float"
            )
        }),
        Kind::Decimal | Kind::Text | Kind::Json if !value.is_finite() => {
            Err("holds an infinite number, which has no digits; declare it float".into())
        }
        Kind::Decimal => Ok(Value::Decimal(plain_digits(value, scale, scratch))),
        Kind::Text => Ok(Value::Text(plain_digits(value, None, scratch))),
        Kind::Json => Ok(Value::Json(plain_digits(value, None, scratch))),
        Kind::Bool | Kind::Date | Kind::Time => {
            Err(format!("holds the number {value}, which is not a {}", kind.word()))
        }
    }
}

fn digits(value: i64, scratch: &mut String) -> &str {
    scratch.push_str(itoa::Buffer::new().format(value));
    scratch
}

#[expect(clippy::cast_precision_loss, reason = "checked by converting back")]
#[expect(clippy::cast_possible_truncation, reason = "checked by converting back")]
fn exact_double(value: i64) -> Option<f64> {
    let double = value as f64;
    (double < 9_223_372_036_854_775_808.0 && double as i64 == value).then_some(double)
}

#[expect(clippy::cast_possible_truncation, reason = "only whole numbers within 2^53 get there")]
fn whole(value: f64) -> Option<i64> {
    (value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0).then_some(value as i64)
}
