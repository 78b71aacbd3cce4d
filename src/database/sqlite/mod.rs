//! Rows out of SQLite, stepped on the calling thread through a read-only connection of their own.
//!
//! SQLite's columns have no types, so the declared kind decides how each cell is read, and two
//! scalar functions give filters an exact order over times and decimals held as text.

mod cells;
mod functions;

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, params_from_iter};
use tokio::runtime::Handle;

pub(crate) use functions::register_functions;

use super::{Arg, Query};
use crate::error::{Error, Result};
use crate::rows::{RowSink, Value, recycle};
use crate::runs::Stop;
use cells::{blob, integer, real, text};

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
                // Taken apart where it comes, and put where it stays: copies of what was written in
                // two halves a moment ago took seven hundredths of the whole run.
                let read = match row.get_ref(index) {
                    Ok(ValueRef::Null) => {
                        values.push(Value::Null);
                        Ok(())
                    }
                    Ok(ValueRef::Integer(value)) => {
                        integer(value, &cell.read, scratch, &mut values)
                    }
                    Ok(ValueRef::Real(value)) => real(value, &cell.read, scratch, &mut values),
                    Ok(ValueRef::Text(bytes)) => text(bytes, &cell.read, scratch, &mut values),
                    Ok(ValueRef::Blob(_)) => Err(blob()),
                    Err(error) => return Err(failed(error)),
                };
                read.map_err(|detail| Error::Cell {
                    row: number,
                    column: cell.key.clone(),
                    detail,
                })?;
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
