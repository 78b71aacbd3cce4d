//! Functions that give filters and orders an exact meaning over times, truth values and decimals held as
//! text.

use jiff::tz::TimeZone;
use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;

use crate::database::Unit;
use crate::database::cells::{counted, plain_digits};
use crate::rows::{Instant, compare_decimals, parse_bool, parse_time};

/// Registers `tallyroll_time(cell, unit, zone)`, `tallyroll_bool(cell)` and `tallyroll_decimal(cell,
/// digits, scale)`.
pub(crate) fn register_functions(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("tallyroll_time", 3, flags, |call| {
        match call.get_raw(0) {
            ValueRef::Null => Ok(None),
            _ => cell_time(call).map(|moment| Some(crate::definitions::canonical_time(moment))),
        }
    })?;
    connection.create_scalar_function("tallyroll_bool", 1, flags, |call| {
        match call.get_raw(0) {
            ValueRef::Null => Ok(None),
            ValueRef::Integer(value @ (0 | 1)) => Ok(Some(value)),
            ValueRef::Text(text) => std::str::from_utf8(text)
                .map_err(|error| refuse(error.to_string()))
                .and_then(|text| parse_bool(text).map_err(|error| refuse(error.to_string())))
                .map(|truth| Some(i64::from(truth))),
            other => Err(refuse(format!("{other:?} is not a truth value"))),
        }
    })?;
    connection.create_scalar_function("tallyroll_decimal", 3, flags, |call| {
        let mut left = String::new();
        match call.get_raw(0) {
            ValueRef::Null => return Ok(None),
            ValueRef::Integer(value) => left.push_str(itoa::Buffer::new().format(value)),
            // An infinite one prints no number, and is refused below.
            ValueRef::Real(value) => {
                let scale = u32::try_from(call.get::<Option<i64>>(2)?.unwrap_or(-1)).ok();
                plain_digits(value, scale, &mut left);
            }
            ValueRef::Text(_) | ValueRef::Blob(_) => left.push_str(call.get_raw(0).as_str()?),
        }
        let right = call.get_raw(1).as_str()?;
        compare_decimals(&left, right)
            .map(|order| Some(order as i8))
            .ok_or_else(|| refuse(format!("{left:?} is not a decimal number")))
    })
}

fn cell_time(call: &Context<'_>) -> rusqlite::Result<Instant> {
    let unit = match call.get_raw(1) {
        ValueRef::Text(b"seconds") => Some(Unit::Seconds),
        ValueRef::Text(b"milliseconds") => Some(Unit::Milliseconds),
        ValueRef::Text(b"microseconds") => Some(Unit::Microseconds),
        _ => None,
    };
    match call.get_raw(0) {
        ValueRef::Integer(value) => counted(value, unit).map_err(refuse),
        other => {
            let zone = match call.get_raw(2) {
                ValueRef::Text(name) => {
                    std::str::from_utf8(name).ok().and_then(|name| TimeZone::get(name).ok())
                }
                _ => None,
            };
            parse_time(other.as_str()?, zone.as_ref()).map_err(|error| refuse(error.to_string()))
        }
    }
}

fn refuse(words: String) -> rusqlite::Error {
    rusqlite::Error::UserFunctionError(words.into())
}
