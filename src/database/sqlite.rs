//! Rows out of SQLite, stepped on the calling thread through a read-only connection of their own.
//!
//! SQLite's columns have no types, so the declared kind decides how each cell is read, and two
//! scalar functions give filters an exact order over times and decimals held as text.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::tz::TimeZone;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, params_from_iter};
use tokio::runtime::Handle;

use super::cells::{counted, is_json, pad_to_scale, plain_digits};
use super::{Arg, Cell, Query, Read, Unit};
use crate::error::{Error, Result};
use crate::rows::{
    Instant, Kind, RowSink, Value, compare_decimals, is_decimal, parse_bool, parse_date,
    parse_time, recycle,
};
use crate::runs::Stop;

/// How long a statement waits for a lock that a writer holds.
const BUSY: Duration = Duration::from_secs(5);
/// How often an interrupt is repeated until the statement has ended: one that comes before the first
/// step has no effect.
const REPEAT: Duration = Duration::from_millis(10);

/// A statement for one SQLite file.
#[derive(Debug)]
pub struct SqliteRows {
    pub(super) path: PathBuf,
    pub(super) query: Query,
    pub(super) runtime: Handle,
}

impl SqliteRows {
    /// See [`super::Source::drive`].
    pub(super) fn drive(self, sink: &mut dyn RowSink, stop: &Stop) -> Result<()> {
        stop.check()?;
        let connection = open_read_only(&self.path)?;
        let _interrupter = Interrupter::watch(&connection, stop.clone(), &self.runtime);
        self.step(&connection, sink, stop)
    }

    fn step(&self, connection: &Connection, sink: &mut dyn RowSink, stop: &Stop) -> Result<()> {
        let failed = |error| ended(error, stop, "reading a report from SQLite");
        let mut statement = connection.prepare(&self.query.sql).map_err(failed)?;
        let arguments = params_from_iter(self.query.args.iter().map(argument));
        let mut rows = statement.query(arguments).map_err(failed)?;
        let mut scratch = vec![String::new(); self.query.cells.len()];
        let mut spare: Vec<Value<'static>> = Vec::with_capacity(scratch.len());
        let mut number = 0;
        while let Some(row) = rows.next().map_err(failed)? {
            stop.check()?;
            number += 1;
            let mut values = recycle(spare);
            for (index, (cell, scratch)) in self.query.cells.iter().zip(&mut scratch).enumerate() {
                let stored = row.get_ref(index).map_err(failed)?;
                let value = read(stored, cell, scratch).map_err(|detail| Error::Cell {
                    row: number,
                    column: cell.key.clone(),
                    detail,
                })?;
                values.push(value);
            }
            sink.row(&values)?;
            spare = recycle(values);
        }
        Ok(())
    }
}

/// Opens a file for reading alone, with the functions that filters rest on.
///
/// # Errors
/// [`Error::Unavailable`] where the file cannot be opened.
pub(super) fn open_read_only(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(path, flags)
        .and_then(|connection| {
            connection.busy_timeout(BUSY)?;
            register_functions(&connection)?;
            Ok(connection)
        })
        .map_err(|source| Error::Unavailable {
            code: "database_unavailable",
            detail:
                "the database cannot be opened; try again in a moment, or ask whoever runs the \
                     server"
                    .into(),
            source: Some(source.into()),
        })
}

/// Prepares a statement without running it.
///
/// # Errors
/// As [`super::Database::describe`].
pub(super) fn describe(path: &Path, sql: &str) -> Result<()> {
    open_read_only(path)?.prepare(sql).map(drop).map_err(refused)
}

/// See [`super::Database::text_type`].
///
/// # Errors
/// As [`super::Database::describe`].
pub(super) fn text_type(path: &Path, sql: &str) -> Result<Option<String>> {
    let connection = open_read_only(path)?;
    let statement = connection.prepare(sql).map_err(refused)?;
    let columns = statement.columns();
    let declared = columns.first().and_then(rusqlite::Column::decl_type);
    Ok(declared.filter(|declared| has_text_affinity(declared)).map(str::to_owned))
}

fn refused(source: rusqlite::Error) -> Error {
    Error::Query { doing: "preparing a report's statement".into(), source: source.into() }
}

/// Whether a column of this declared type compares as text ("Datatypes In SQLite", 3.1).
fn has_text_affinity(declared: &str) -> bool {
    let declared = declared.to_ascii_uppercase();
    let has = |word: &str| declared.contains(word);
    !has("INT") && (has("CHAR") || has("CLOB") || has("TEXT"))
}

/// Interrupts a connection's statement once the run is stopped, until it is dropped.
struct Interrupter(tokio::task::JoinHandle<()>);

impl Interrupter {
    fn watch(connection: &Connection, stop: Stop, runtime: &Handle) -> Self {
        let handle = connection.get_interrupt_handle();
        Self(runtime.spawn(async move {
            stop.fired().await;
            loop {
                handle.interrupt();
                tokio::time::sleep(REPEAT).await;
            }
        }))
    }
}

impl Drop for Interrupter {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn ended(error: rusqlite::Error, stop: &Stop, doing: &'static str) -> Error {
    if stop.is_fired() {
        stop.error()
    } else {
        Error::Query { doing: doing.into(), source: error.into() }
    }
}

fn argument(arg: &Arg) -> rusqlite::types::Value {
    match arg {
        Arg::Null => rusqlite::types::Value::Null,
        Arg::Bool(value) => i64::from(*value).into(),
        Arg::Int(value) => (*value).into(),
        Arg::Float(value) => (*value).into(),
        Arg::Text(value) => value.clone().into(),
    }
}

/// Reads one cell, or says in words what is wrong with it.
fn read<'r>(
    stored: ValueRef<'r>,
    cell: &'r Cell,
    scratch: &'r mut String,
) -> Result<Value<'r>, String> {
    scratch.clear();
    let text = match stored {
        ValueRef::Null => return Ok(Value::Null),
        ValueRef::Text(bytes) => Some(std::str::from_utf8(bytes).map_err(|error| {
            format!("holds bytes that are not UTF-8, the first at byte {}", error.valid_up_to() + 1)
        })?),
        ValueRef::Blob(_) => {
            return Err("holds a BLOB; select it as text, for example with hex() or json()".into());
        }
        ValueRef::Integer(_) | ValueRef::Real(_) => None,
    };
    let Read::As { kind, scale, zone, unit } = &cell.read else {
        return Ok(as_stored(stored, text));
    };
    match (text, stored) {
        (Some(text), _) => from_text(text, *kind, zone.as_ref(), scratch),
        (None, ValueRef::Integer(value)) => from_integer(value, *kind, *scale, *unit, scratch),
        (None, ValueRef::Real(value)) => from_real(value, *kind, *scale, scratch),
        (None, ValueRef::Null | ValueRef::Text(_) | ValueRef::Blob(_)) => Ok(Value::Null),
    }
}

fn as_stored<'r>(stored: ValueRef<'_>, text: Option<&'r str>) -> Value<'r> {
    match (text, stored) {
        (Some(text), _) => Value::Text(text),
        (None, ValueRef::Integer(value)) => Value::Int(value),
        (None, ValueRef::Real(value)) => Value::Float(value),
        (None, ValueRef::Null | ValueRef::Text(_) | ValueRef::Blob(_)) => Value::Null,
    }
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
