//! Rows out of SQLite, stepped on the calling thread through a read-only connection of their own.
//!
//! SQLite's columns have no types, so the declared kind decides how each cell is read, and two
//! scalar functions give filters an exact order over times and decimals held as text.

mod ahead;
mod cells;
mod functions;
mod reader;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, Row, Rows, params_from_iter};
use tokio::runtime::Handle;

pub(crate) use functions::register_functions;

use super::snapshot::Reading;
use super::{Arg, Query};
use crate::error::{Error, Result};
use crate::rows::RowSink;
use crate::runs::Stop;
use crate::turns::Turn;
use ahead::Left;
use reader::Reader;

/// How long a statement waits for a lock that a writer holds.
const BUSY: Duration = Duration::from_secs(5);
/// How often an interrupt is repeated until the statement has ended: one that comes before the first
/// step has no effect.
const REPEAT: Duration = Duration::from_millis(10);

/// Rows between two looks whether a core is free for a second thread.
const ALONE: usize = 1_000;

/// A statement for one SQLite file.
#[derive(Debug)]
pub struct SqliteRows {
    pub(super) path: PathBuf,
    pub(super) query: Query,
    pub(super) runtime: Handle,
}

impl SqliteRows {
    /// See [`super::Source::drive`].
    pub(super) fn drive(self, sink: &mut (dyn RowSink + Send), stop: &Stop) -> Result<()> {
        stop.check()?;
        let connection = open_read_only(&self.path)?;
        let _interrupter = Interrupter::watch(&connection, stop.clone(), &self.runtime);
        step(&connection, &self.query, sink, stop)
    }
}

/// Runs a statement and pushes its rows into `sink`.
fn step(
    connection: &Connection,
    query: &Query,
    sink: &mut (dyn RowSink + Send),
    stop: &Stop,
) -> Result<()> {
    let failed = |error| ended(error, stop);
    let mut statement = connection.prepare(&query.sql).map_err(failed)?;
    let arguments = params_from_iter(query.args.iter().map(argument));
    let mut steps = Steps { rows: statement.query(arguments).map_err(failed)?, stop };
    let mut reader = Reader::new(&query.cells);
    loop {
        for _ in 0..ALONE {
            let Some(row) = steps.next()? else { return Ok(()) };
            reader.row(|index| row.get_ref(index).map_err(failed), sink)?;
        }
        if let Some(turn) = Turn::spare()
            && ahead::step(&mut steps, &mut reader, sink, turn)? == Left::Nothing
        {
            return Ok(());
        }
    }
}

/// Several statements over one state of a file.
pub(super) struct SqliteReading<'s> {
    connection: Connection,
    _interrupter: Interrupter,
    stop: &'s Stop,
}

impl<'s> SqliteReading<'s> {
    /// Begins a read; the transaction ends with the connection, when it is dropped.
    pub(super) fn begin(path: &Path, runtime: &Handle, stop: &'s Stop) -> Result<Self> {
        stop.check()?;
        let connection = open_read_only(path)?;
        let interrupter = Interrupter::watch(&connection, stop.clone(), runtime);
        connection.execute_batch("BEGIN").map_err(|error| ended(error, stop))?;
        Ok(Self { connection, _interrupter: interrupter, stop })
    }
}

impl Reading for SqliteReading<'_> {
    fn read(&mut self, query: &Query, sink: &mut (dyn RowSink + Send)) -> Result<()> {
        step(&self.connection, query, sink, self.stop)
    }
}

/// A statement being stepped through.
struct Steps<'s> {
    rows: Rows<'s>,
    stop: &'s Stop,
}

impl Steps<'_> {
    #[inline]
    fn next(&mut self) -> Result<Option<&Row<'_>>> {
        self.stop.check()?;
        self.rows.next().map_err(|error| ended(error, self.stop))
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

fn ended(error: rusqlite::Error, stop: &Stop) -> Error {
    if stop.is_fired() {
        stop.error()
    } else {
        Error::Query { doing: "reading a report from SQLite".into(), source: error.into() }
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
