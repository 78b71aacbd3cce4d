//! Loading into SQLite: one prepared insert, one transaction, the write-ahead log.

use std::path::Path;
use std::time::Duration;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, Statement};

use super::{Table, check_width, column_list, quoted, refused, unfit};
use crate::error::{Error, Result};
use crate::rows::{Date, Instant, Kind, RowSink, Value};

/// How long another writer is waited for.
const BUSY: Duration = Duration::from_secs(10);
/// Seconds of a day.
const DAY: i64 = 86_400;
/// KiB of pages held in memory, and the most that building an index sorts there at once.
const CACHE: i64 = 16 * 1024;

/// A transaction on a connection of its own; dropping it rolls back.
#[derive(Debug)]
pub struct SqliteLoader {
    connection: Connection,
}

impl SqliteLoader {
    pub(super) fn begin(path: &Path) -> Result<Self> {
        let loader = Self::open(path)?;
        loader.execute_all("BEGIN IMMEDIATE")?;
        Ok(loader)
    }

    /// A connection that has begun nothing yet.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection =
            Connection::open_with_flags(path, flags).map_err(|source| Error::Unavailable {
                code: "database_unavailable",
                detail: "the SQLite database cannot be opened for writing".into(),
                source: Some(source.into()),
            })?;
        let begin = || {
            connection.busy_timeout(BUSY)?;
            connection.pragma_update(None, "journal_mode", "WAL")?;
            connection.pragma_update(None, "synchronous", "NORMAL")?;
            connection.pragma_update(None, "cache_size", -CACHE)
        };
        begin().map_err(|error| failed(error, "beginning to load rows"))?;
        Ok(Self { connection })
    }

    pub(super) fn truth(&self, sql: &str) -> Result<bool> {
        self.connection
            .query_row(sql, [], |row| row.get(0))
            .map_err(|error| failed(error, "looking at a table to be filled"))
    }

    /// Keeps rows to be staged in a file that is gone from its directory at once, under the name
    /// `stage`; what is lost with it is worth nothing.
    pub(super) fn attach(&self, file: &Path) -> Result<()> {
        use std::os::unix::fs::OpenOptionsExt;
        // Not by SQLite, which would let everybody read it.
        let made = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(file);
        made.map_err(Error::writing)?;
        let attach = || {
            let name = file.to_string_lossy();
            self.connection.execute("ATTACH DATABASE ?1 AS stage", [name])?;
            self.connection.execute_batch(
                "PRAGMA stage.journal_mode = OFF; PRAGMA stage.synchronous = OFF; \
                 PRAGMA stage.locking_mode = EXCLUSIVE; CREATE TABLE stage.begun (n integer)",
            )
        };
        let attached = attach().map_err(|error| failed(error, "making room for rows"));
        std::fs::remove_file(file).map_err(Error::writing)?;
        attached
    }

    pub(super) fn execute_all(&self, sql: &str) -> Result<()> {
        self.connection
            .execute_batch(sql)
            .map_err(|error| failed(error, "changing a table to be filled"))
    }

    /// Ends the statement under way when the run is stopped.
    pub(super) fn interrupter(&self) -> rusqlite::InterruptHandle {
        self.connection.get_interrupt_handle()
    }

    /// The rows of whole numbers that a query gives, in order.
    pub(super) fn integers(
        &self,
        sql: &str,
        each: &mut dyn FnMut(&[Option<i64>]) -> Result<()>,
    ) -> Result<()> {
        let wrong = |error| failed(error, "checking staged rows");
        let mut statement = self.connection.prepare(sql).map_err(wrong)?;
        let columns = statement.column_count();
        let mut rows = statement.query([]).map_err(wrong)?;
        while let Some(row) = rows.next().map_err(wrong)? {
            let numbers: rusqlite::Result<Vec<_>> =
                (0..columns).map(|index| row.get(index)).collect();
            each(&numbers.map_err(wrong)?)?;
        }
        Ok(())
    }

    /// The texts that a query gives, with texts as its arguments.
    pub(super) fn texts(&self, sql: &str, arguments: &[&str]) -> Result<Vec<Option<String>>> {
        let texts = || {
            let mut statement = self.connection.prepare(sql)?;
            let arguments = rusqlite::params_from_iter(arguments);
            statement.query_map(arguments, |row| row.get(0))?.collect::<rusqlite::Result<_>>()
        };
        texts().map_err(|error| failed(error, "looking at a table to be filled"))
    }

    pub(super) fn execute(&self, sql: &str) -> Result<u64> {
        self.connection
            .execute(sql, [])
            .map(|rows| rows as u64)
            .map_err(|error| failed(error, "changing a table to be filled"))
    }

    /// Statements that drop and make each index that was made by a statement of its own.
    pub(super) fn indexes(&self, table: &str) -> Result<Vec<(String, String)>> {
        let list = || {
            let mut statement = self.connection.prepare(
                "SELECT name, sql FROM sqlite_master \
                 WHERE type = 'index' AND tbl_name = ?1 AND sql IS NOT NULL",
            )?;
            let found = statement.query_map([table], |row| {
                let name: String = row.get(0)?;
                Ok((format!("DROP INDEX {}", quoted(&name)), row.get(1)?))
            })?;
            found.collect::<rusqlite::Result<Vec<_>>>()
        };
        list().map_err(|error| failed(error, "listing a table's indexes"))
    }

    pub(super) fn load(
        &self,
        table: &Table<'_>,
        source: &mut dyn FnMut(&mut dyn RowSink) -> Result<()>,
    ) -> Result<u64> {
        let places = vec!["?"; table.columns.len()].join(", ");
        let (name, columns) = (quoted(table.name), column_list(table));
        let sql = format!("INSERT INTO {name} ({columns}) VALUES ({places})");
        let statement = self
            .connection
            .prepare(&sql)
            .map_err(|error| failed(error, "preparing to load rows"))?;
        let mut rows =
            Rows { statement, columns: table.columns, count: 0, text: Vec::with_capacity(64) };
        source(&mut rows)?;
        Ok(rows.count)
    }

    pub(super) fn commit(self, grown: &[&str]) -> Result<()> {
        self.connection
            .execute_batch("COMMIT")
            .map_err(|error| failed(error, "committing the loaded rows"))?;
        let tidy = || {
            for table in grown {
                self.connection.execute_batch(&format!("ANALYZE {}", quoted(table)))?;
            }
            // The log is as large as what was loaded; left alone it would stay so. A reader in the
            // way costs nothing but that: waited for, he would hold up every writer meanwhile.
            self.connection.busy_timeout(Duration::ZERO)?;
            let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
            self.connection.query_row(checkpoint, [], |_| Ok(()))
        };
        if let Err(error) = tidy() {
            tracing::warn!(%error, "the loaded tables could not be tidied");
        }
        Ok(())
    }
}

/// The sink of one table.
struct Rows<'a> {
    statement: Statement<'a>,
    columns: &'a [(&'a str, Kind)],
    count: u64,
    text: Vec<u8>,
}

impl RowSink for Rows<'_> {
    fn row(&mut self, row: &[Value<'_>]) -> Result<()> {
        check_width(row, self.columns)?;
        for (index, (value, (name, kind))) in row.iter().zip(self.columns).enumerate() {
            self.text.clear();
            let bound = bindable(*kind, *value, &mut self.text)
                .map_err(|detail| refused(self.count, name, detail))?;
            self.statement
                .raw_bind_parameter(index + 1, ToSqlOutput::Borrowed(bound))
                .map_err(|error| failed(error, "binding a value to be loaded"))?;
        }
        self.statement.raw_execute().map_err(|error| failed(error, "loading a row"))?;
        self.count += 1;
        Ok(())
    }
}

/// A value as it is stored; `text` holds what has to be written out for it.
fn bindable<'a>(
    kind: Kind,
    value: Value<'a>,
    text: &'a mut Vec<u8>,
) -> Result<ValueRef<'a>, String> {
    Ok(match (kind, value) {
        (_, Value::Null) => ValueRef::Null,
        (Kind::Bool, Value::Bool(truth)) => ValueRef::Integer(truth.into()),
        (Kind::Int, Value::Int(number)) => ValueRef::Integer(number),
        (Kind::Float, Value::Float(number)) => ValueRef::Real(number),
        (Kind::Float, Value::Real(number)) => ValueRef::Real(number.into()),
        (Kind::Decimal, Value::Decimal(exact))
        | (Kind::Text, Value::Text(exact))
        | (Kind::Json, Value::Json(exact)) => ValueRef::Text(exact.as_bytes()),
        (Kind::Decimal, Value::Int(number)) => {
            text.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
            ValueRef::Text(text)
        }
        (Kind::Date, Value::Date(day)) => {
            day.write(text);
            ValueRef::Text(text)
        }
        (Kind::Time, Value::Time(at)) => {
            write_moment(at, text);
            ValueRef::Text(text)
        }
        (kind, value) => return Err(unfit(kind, value)),
    })
}

/// Appends a moment as the ORM writes it, `2026-01-31T14:59:59.123456+00:00` with no, three, six or
/// nine digits of the second: text in this form sorts by time, and equal moments are equal.
fn write_moment(at: Instant, out: &mut Vec<u8>) {
    let days = at.seconds.div_euclid(DAY);
    let end = if days < 0 { i32::MIN } else { i32::MAX };
    let days = i32::try_from(days).unwrap_or(end);
    Date { days }.write(out);
    let second = u32::try_from(at.seconds.rem_euclid(DAY)).unwrap_or_default();
    for (mark, number) in [(b'T', second / 3_600), (b':', second / 60 % 60), (b':', second % 60)] {
        out.push(mark);
        out.extend_from_slice(&digits::<2>(number));
    }
    if at.nanos != 0 {
        let fraction = digits::<9>(at.nanos);
        let shown = if at.nanos.is_multiple_of(1_000_000) {
            3
        } else if at.nanos.is_multiple_of(1_000) {
            6
        } else {
            9
        };
        out.push(b'.');
        out.extend_from_slice(&fraction[..shown]);
    }
    out.extend_from_slice(b"+00:00");
}

/// The last digits of a number.
fn digits<const N: usize>(number: u32) -> [u8; N] {
    let (mut text, mut rest) = ([b'0'; N], number);
    for digit in text.iter_mut().rev() {
        *digit += u8::try_from(rest % 10).unwrap_or_default();
        rest /= 10;
    }
    text
}

/// What an error of SQLite's means for whoever asked.
fn failed(error: rusqlite::Error, doing: &'static str) -> Error {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => Error::NoSpace(error.into()),
        Some(ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch) => {
            super::against_rows(&error.to_string(), error)
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::Busy {
            detail: format!(
                "another writer has held the SQLite database for {} s; try again when it is done",
                BUSY.as_secs()
            ),
            retry_after: BUSY,
        },
        _ => Error::internal(doing, error),
    }
}
