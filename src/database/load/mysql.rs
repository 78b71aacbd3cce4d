//! Loading into MySQL and MariaDB: prepared inserts of many rows, within one transaction.

use sqlx::mysql::{MySqlArguments, MySqlConnection, MySqlPool, MySqlQueryResult};
use sqlx::{Arguments, AssertSqlSafe, MySql};
use tokio::runtime::Handle;

use super::session::{Says, Session};
use super::{Table, check_width, refused, unfit};
use crate::database::failures::{crossed, unavailable};
use crate::database::mysql::{is_end, number};
use crate::error::{Error, Result};
use crate::rows::{Instant, Kind, RowSink, Value};

/// Rows of one insert, unless their values are long.
const ROWS: usize = 500;
/// Placeholders of one statement, at most.
const PLACES: usize = 65_535;
/// Bytes of values after which an insert is sent; a server takes 16 MB or more.
const BYTES: usize = 1024 * 1024;
/// Seconds of a day.
const DAY: i64 = 86_400;

/// One transaction.
#[derive(Debug)]
pub struct MySqlLoader(pub(super) Session<MySql>);

impl MySqlLoader {
    pub(super) fn begin(pool: MySqlPool, runtime: Handle) -> Result<Self> {
        // What is locked to keep others off a table includes the gaps between its rows.
        let begin = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; BEGIN";
        let mut session = Session::begin(pool, runtime, Some(begin))?;
        // A lax server would cut a text that is too long, and make what is no number zero; and every
        // server would make up a number where a key that it counts is 0.
        let strict = "STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO";
        session.execute(&format!("SET SESSION sql_mode = CONCAT(@@sql_mode, ',{strict}')"))?;
        Ok(Self(session))
    }

    pub(super) fn load(
        &mut self,
        table: &Table<'_>,
        source: &mut dyn FnMut(&mut dyn RowSink) -> Result<()>,
    ) -> Result<u64> {
        let names: Vec<String> = table.columns.iter().map(|(name, _)| quoted(name)).collect();
        let head = format!("INSERT INTO {} ({}) VALUES ", quoted(table.name), names.join(", "));
        let most = ROWS.min(PLACES / table.columns.len().max(1)).max(1);
        let (connection, runtime) = self.0.connection()?;
        let mut rows = Rows {
            full: statement(&head, table.columns.len(), most),
            head,
            most,
            columns: table.columns,
            connection,
            runtime,
            bound: MySqlArguments::default(),
            held: 0,
            bytes: 0,
            count: 0,
            text: Vec::with_capacity(32),
        };
        source(&mut rows)?;
        rows.send()?;
        Ok(rows.count)
    }

    pub(super) fn commit(self, grown: &[&str]) -> Result<()> {
        self.0.commit(grown.iter().map(|table| format!("ANALYZE TABLE {}", quoted(table))))
    }
}

impl Says for MySql {
    fn failed(error: sqlx::Error, doing: &'static str) -> Error {
        failed(error, doing)
    }

    fn changed(done: &MySqlQueryResult) -> u64 {
        done.rows_affected()
    }
}

/// An identifier as MySQL quotes it, whatever its SQL mode.
pub(super) fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// An insert of so many rows.
fn statement(head: &str, columns: usize, rows: usize) -> String {
    let row = format!("({})", vec!["?"; columns].join(","));
    format!("{head}{}", vec![row; rows].join(","))
}

/// The sink of one table.
struct Rows<'a> {
    head: String,
    /// The statement that is used again and again.
    full: String,
    /// Its rows.
    most: usize,
    columns: &'a [(&'a str, Kind)],
    connection: &'a mut MySqlConnection,
    runtime: &'a Handle,
    bound: MySqlArguments,
    /// Rows bound and not yet sent.
    held: usize,
    bytes: usize,
    count: u64,
    text: Vec<u8>,
}

impl Rows<'_> {
    fn send(&mut self) -> Result<()> {
        if self.held == 0 {
            return Ok(());
        }
        let whole = self.held == self.most;
        let sql = if whole {
            self.full.clone()
        } else {
            statement(&self.head, self.columns.len(), self.held)
        };
        let insert = sqlx::query_with(AssertSqlSafe(sql), std::mem::take(&mut self.bound))
            .persistent(whole)
            .execute(&mut *self.connection);
        self.runtime.block_on(insert).map_err(|error| failed(error, "loading rows"))?;
        (self.held, self.bytes) = (0, 0);
        Ok(())
    }
}

impl RowSink for Rows<'_> {
    fn row(&mut self, row: &[Value<'_>]) -> Result<()> {
        check_width(row, self.columns)?;
        for (value, (name, kind)) in row.iter().zip(self.columns) {
            self.text.clear();
            let bytes = bind(*kind, *value, &mut self.text, &mut self.bound)
                .map_err(|detail| refused(self.count, name, detail))?;
            self.bytes += bytes;
        }
        self.held += 1;
        self.count += 1;
        if self.held == self.most || self.bytes >= BYTES { self.send() } else { Ok(()) }
    }
}

/// Binds a value in a form that its column takes exactly, with `text` for what has to be written out;
/// about how many bytes it has.
fn bind(
    kind: Kind,
    value: Value<'_>,
    text: &mut Vec<u8>,
    bound: &mut MySqlArguments,
) -> Result<usize, String> {
    let mut length = 8;
    let added = match (kind, value) {
        (_, Value::Null) => bound.add(None::<i64>),
        (Kind::Bool, Value::Bool(truth)) => bound.add(truth),
        (Kind::Int | Kind::Decimal, Value::Int(number)) => bound.add(number),
        (Kind::Float, Value::Float(number)) => bound.add(number),
        (Kind::Float, Value::Real(number)) => bound.add(f64::from(number)),
        (Kind::Decimal, Value::Decimal(exact))
        | (Kind::Text, Value::Text(exact))
        | (Kind::Json, Value::Json(exact)) => {
            length = exact.len();
            bound.add(exact)
        }
        (Kind::Date, Value::Date(day)) => {
            day.write(text);
            bound.add(String::from_utf8_lossy(text).as_ref())
        }
        (Kind::Time, Value::Time(at)) => {
            write_moment(at, text).ok_or_else(|| unfit(kind, value))?;
            bound.add(String::from_utf8_lossy(text).as_ref())
        }
        (kind, value) => return Err(unfit(kind, value)),
    };
    added.map_err(|error| error.to_string())?;
    Ok(length)
}

/// Appends a moment as the wall clock of UTC, to the microsecond; `None` before the year 0 and beyond
/// 9999, which no column holds.
fn write_moment(at: Instant, out: &mut Vec<u8>) -> Option<()> {
    use std::io::Write as _;
    let days = i32::try_from(at.seconds.div_euclid(DAY)).ok()?;
    let (year, month, day) = crate::rows::Date { days }.ymd();
    if !(0..=9999).contains(&year) {
        return None;
    }
    let second = at.seconds.rem_euclid(DAY);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    let micros = at.nanos / 1_000;
    write!(out, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{micros:06}").ok()
}

/// `ER_DISK_FULL`.
const DISK_FULL: u16 = 1021;
/// `ER_RECORD_FILE_FULL`.
const TABLE_FULL: u16 = 1114;
/// `ER_LOCK_WAIT_TIMEOUT`.
const LOCK_WAIT: u16 = 1205;
/// `ER_LOCK_DEADLOCK`: another writer wanted the same rows in another order, and went first.
const DEADLOCK: u16 = 1213;

/// `WARN_DATA_TRUNCATED`, which is an error to who is strict: a value that an enumeration does not have.
const NO_SUCH_VALUE: u16 = 1265;
/// `ER_NO_DEFAULT_FOR_FIELD`.
const NO_DEFAULT: u16 = 1364;

/// What an error means that the server raised against rows as they are.
fn refused_rows(error: &sqlx::Error) -> Option<String> {
    let said = error.as_database_error()?;
    // Data exceptions, integrity constraint violations, what a trigger raised; two have the state of a
    // warning, and of nothing in particular.
    let state = said.code()?;
    let ours = ["22", "23", "45"].contains(&state.get(..2)?)
        || matches!(number(error), Some(NO_SUCH_VALUE | NO_DEFAULT));
    ours.then(|| said.message().to_owned())
}

/// What an error of MySQL's means for whoever asked.
fn failed(error: sqlx::Error, doing: &'static str) -> Error {
    if let Some(said) = refused_rows(&error) {
        return super::against_rows(&said, error);
    }
    let away =
        matches!(error, sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed);
    match number(&error) {
        Some(DISK_FULL | TABLE_FULL) => Error::NoSpace(error.into()),
        Some(DEADLOCK) => crossed(std::time::Duration::from_secs(1)),
        Some(LOCK_WAIT) => crossed(std::time::Duration::from_secs(10)),
        Some(number) if is_end(number) => unavailable(error),
        None if away => unavailable(error),
        Some(_) | None => Error::internal(doing, error),
    }
}
