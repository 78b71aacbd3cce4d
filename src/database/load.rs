//! Rows into a table, by the million: the way in that imports and example data share.
//!
//! A [`Loader`] is one transaction on a connection of its own. Everything in here blocks, so that a
//! source can push into it as into any [`RowSink`]; call it on a thread that may block, never inside
//! a runtime. What is not committed is gone: an error anywhere, a dropped loader, a killed process.
//! It knows neither where the rows come from nor what they mean.

mod copy;
mod mysql;
mod postgres;
mod session;
mod sqlite;

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use sea_orm::{DatabaseConnection, DbBackend};
use sqlx::mysql::MySqlPool;
use sqlx::postgres::PgPool;
use tokio::runtime::Handle;

use self::mysql::MySqlLoader;
use self::postgres::PostgresLoader;
use self::sqlite::SqliteLoader;
use crate::error::{Error, Problem, Result};
use crate::rows::{Kind, RowSink, Value};

/// A database that rows can be loaded into.
#[derive(Debug, Clone)]
pub enum Target {
    /// An SQLite file, which must be there.
    Sqlite(PathBuf),
    /// A PostgreSQL database.
    Postgres {
        /// Connections that may write; a loader takes one.
        pool: PgPool,
        /// Where the connections live.
        runtime: Handle,
    },
    /// A MySQL or MariaDB database.
    MySql {
        /// Connections that may write; a loader takes one.
        pool: MySqlPool,
        /// Where the connections live.
        runtime: Handle,
    },
}

impl Target {
    /// The database behind `db`; for SQLite `file` is where it lies, because a connection does not
    /// say.
    ///
    /// # Errors
    /// [`Error::Internal`] for SQLite without a file and for databases that are not loaded into.
    pub fn of(db: &DatabaseConnection, file: Option<PathBuf>, runtime: Handle) -> Result<Self> {
        match (db.get_database_backend(), file) {
            (DbBackend::Sqlite, Some(file)) => Ok(Self::Sqlite(file)),
            (DbBackend::Postgres, _) => {
                Ok(Self::Postgres { pool: db.get_postgres_connection_pool().clone(), runtime })
            }
            (DbBackend::MySql, _) => {
                Ok(Self::MySql { pool: db.get_mysql_connection_pool().clone(), runtime })
            }
            (backend, _) => Err(Error::internal(
                "preparing to load rows",
                format!("{} without a file is not loaded into", backend.as_str()),
            )),
        }
    }
}

/// A table and those of its columns that are filled, in the order of the rows' values.
///
/// PostgreSQL takes the values in binary and checks little: the columns there must be `bigint` for
/// [`Kind::Int`], `numeric` for [`Kind::Decimal`], `double precision` for [`Kind::Float`], any of
/// the text types, `boolean`, `date`, `json`, and `timestamptz` (or `timestamp` that holds UTC) for
/// [`Kind::Time`]. MySQL gets moments as the wall clock of UTC, for `datetime(6)` or `timestamp(6)`.
/// SQLite gets days and moments as text in the form in which the ORM writes them,
/// decimals and JSON as text.
#[derive(Debug, Clone, Copy)]
pub struct Table<'a> {
    /// The table's name, unquoted.
    pub name: &'a str,
    /// Names and kinds of the columns.
    pub columns: &'a [(&'a str, Kind)],
}

/// Indexes that were taken off a table; the statements that make them again.
#[derive(Debug)]
#[must_use = "the indexes are gone when the loader commits without restoring them"]
pub struct Indexes(Vec<String>);

/// One transaction that fills tables.
#[derive(Debug)]
pub enum Loader {
    /// Into SQLite.
    Sqlite(SqliteLoader),
    /// Into PostgreSQL.
    Postgres(PostgresLoader),
    /// Into MySQL or MariaDB.
    MySql(MySqlLoader),
}

impl Loader {
    /// Opens a connection and begins the transaction; on SQLite no other writer can begin from here
    /// on, and readers go on reading what was there.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where the database cannot be reached, [`Error::Busy`] where another
    /// writer holds it for more than ten seconds.
    pub fn begin(target: &Target) -> Result<Self> {
        Ok(match target {
            Target::Sqlite(path) => Self::Sqlite(SqliteLoader::begin(path)?),
            Target::Postgres { pool, runtime } => {
                Self::Postgres(PostgresLoader::begin(pool.clone(), runtime.clone())?)
            }
            Target::MySql { pool, runtime } => {
                Self::MySql(MySqlLoader::begin(pool.clone(), runtime.clone())?)
            }
        })
    }

    /// Opens a session that takes rows in before it takes any lock: on SQLite outside of a transaction
    /// and with `file` attached for them, on MySQL outside of one.
    ///
    /// # Errors
    /// As [`Loader::begin`].
    pub(super) fn begin_staging(target: &Target, file: &Path) -> Result<Self> {
        match target {
            Target::Sqlite(path) => {
                let loader = SqliteLoader::open(path)?;
                loader.attach(file)?;
                Ok(Self::Sqlite(loader))
            }
            Target::Postgres { .. } => {
                let mut loader = Self::begin(target)?;
                loader.execute("SET LOCAL TimeZone = 'UTC'")?;
                // Ends the session of a process that died while a statement works or waits, and lets
                // others have the table; PostgreSQL 13 lacks it, and so do other systems.
                loader.execute(
                    "SELECT set_config(name, '1000', true) FROM pg_settings WHERE version() LIKE \
                     '%linux%' AND name = 'client_connection_check_interval'",
                )?;
                Ok(loader)
            }
            Target::MySql { .. } => {
                let mut loader = Self::begin(target)?;
                loader.execute("COMMIT")?;
                Ok(loader)
            }
        }
    }

    /// Opens a session that will only read.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where the database cannot be reached.
    pub(super) fn begin_reading(target: &Target) -> Result<Self> {
        match target {
            Target::Sqlite(path) => SqliteLoader::open(path).map(Self::Sqlite),
            Target::Postgres { .. } | Target::MySql { .. } => Self::begin(target),
        }
    }

    /// What ends the statement under way, on SQLite.
    pub(super) fn interrupter(&self) -> Option<rusqlite::InterruptHandle> {
        match self {
            Self::Sqlite(loader) => Some(loader.interrupter()),
            Self::Postgres(_) | Self::MySql(_) => None,
        }
    }

    /// Keeps other writers off a table until the end; readers may go on.
    ///
    /// # Errors
    /// [`Error::Internal`] where there is no such table.
    pub fn lock(&mut self, table: &str) -> Result<()> {
        match self {
            // The transaction has locked the whole file already.
            Self::Sqlite(_) => Ok(()),
            Self::Postgres(loader) => {
                let sql = format!("LOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE", quoted(table));
                loader.0.execute(&sql).map(drop)
            }
            Self::MySql(loader) => {
                // LOCK TABLES would commit. A repeatable read that is for update locks every row and
                // the gaps between them.
                let table = mysql::quoted(table);
                let sql = format!("SELECT count(*) >= 0 FROM {table} FOR UPDATE");
                loader.0.truth(&sql).map(drop)
            }
        }
    }

    /// Whether a table has no rows.
    ///
    /// # Errors
    /// [`Error::Internal`] where there is no such table.
    pub fn is_empty(&mut self, table: &str) -> Result<bool> {
        let sql = format!("SELECT NOT EXISTS (SELECT 1 FROM {})", quoted(table));
        match self {
            Self::Sqlite(loader) => loader.truth(&sql),
            Self::Postgres(loader) => loader.0.truth(&sql),
            Self::MySql(loader) => {
                let table = mysql::quoted(table);
                loader.0.truth(&format!("SELECT NOT EXISTS (SELECT 1 FROM {table})"))
            }
        }
    }

    /// Removes all rows of a table. PostgreSQL keeps readers waiting from here to the end.
    ///
    /// # Errors
    /// Whatever the database says against it.
    pub fn clear(&mut self, table: &str) -> Result<()> {
        match self {
            Self::Sqlite(loader) => loader.execute(&format!("DELETE FROM {}", quoted(table))),
            Self::Postgres(loader) => {
                loader.0.execute(&format!("TRUNCATE TABLE {}", quoted(table)))
            }
            // TRUNCATE would commit.
            Self::MySql(loader) => {
                loader.0.execute(&format!("DELETE FROM {}", mysql::quoted(table)))
            }
        }
        .map(drop)
    }

    /// Runs a statement without arguments within the transaction; how many rows it changed.
    ///
    /// # Errors
    /// Whatever the database says against it.
    pub fn execute(&mut self, sql: &str) -> Result<u64> {
        match self {
            Self::Sqlite(loader) => loader.execute(sql),
            Self::Postgres(loader) => loader.0.execute(sql),
            Self::MySql(loader) => loader.0.execute(sql),
        }
    }

    /// The rows of whole numbers that a query gives, in order.
    ///
    /// # Errors
    /// Whatever the database says against it; what `each` does.
    pub(super) fn integers(
        &mut self,
        sql: &str,
        each: &mut dyn FnMut(&[Option<i64>]) -> Result<()>,
    ) -> Result<()> {
        match self {
            Self::Sqlite(loader) => loader.integers(sql, each),
            Self::Postgres(loader) => loader.0.integers(sql, each),
            Self::MySql(loader) => loader.0.integers(sql, each),
        }
    }

    /// The one whole number that a query gives.
    ///
    /// # Errors
    /// Whatever the database says against it.
    pub(super) fn integer(&mut self, sql: &str) -> Result<i64> {
        let mut found = 0;
        self.integers(sql, &mut |row| {
            found = row.first().copied().flatten().unwrap_or_default();
            Ok(())
        })?;
        Ok(found)
    }

    /// The texts that a query gives, with texts for its placeholders.
    ///
    /// # Errors
    /// Whatever the database says against it.
    pub(super) fn texts(&mut self, sql: &str, arguments: &[&str]) -> Result<Vec<Option<String>>> {
        match self {
            Self::Sqlite(loader) => loader.texts(sql, arguments),
            Self::Postgres(loader) => loader.0.texts(sql, arguments),
            Self::MySql(loader) => loader.0.texts(sql, arguments),
        }
    }

    /// Takes every index off a table that no constraint rests on: many rows go in faster without
    /// them, and building an index at once makes a denser one. On MySQL, where that would commit, they
    /// stay.
    ///
    /// # Errors
    /// Whatever the database says against it.
    pub fn take_indexes(&mut self, table: &str) -> Result<Indexes> {
        let found = match self {
            Self::Sqlite(loader) => loader.indexes(table)?,
            Self::Postgres(loader) => loader.indexes(table)?,
            Self::MySql(_) => Vec::new(),
        };
        let mut definitions = Vec::with_capacity(found.len());
        for (drop, create) in found {
            self.execute(&drop)?;
            definitions.push(create);
        }
        Ok(Indexes(definitions))
    }

    /// Builds the indexes again that were taken off.
    ///
    /// # Errors
    /// Whatever the database says against it, such as a row that is there twice.
    pub fn restore_indexes(&mut self, indexes: Indexes) -> Result<()> {
        for definition in indexes.0 {
            self.execute(&definition)?;
        }
        Ok(())
    }

    /// Loads the rows that `source` pushes; how many there were.
    ///
    /// # Errors
    /// The source's own; [`Error::Cell`] for a value that its column cannot hold,
    /// [`Error::NoSpace`], or whatever the database says against a row, which may come after
    /// later rows were taken. The loader is then of no more use.
    pub fn load(
        &mut self,
        table: &Table<'_>,
        source: &mut dyn FnMut(&mut dyn RowSink) -> Result<()>,
    ) -> Result<u64> {
        match self {
            Self::Sqlite(loader) => loader.load(table, source),
            Self::Postgres(loader) => loader.load(table, source),
            Self::MySql(loader) => loader.load(table, source),
        }
    }

    /// Makes everything durable, then tidies the tables that have grown, so that the next query is
    /// planned well and no clean-up starts in the middle of it.
    ///
    /// # Errors
    /// Whatever the database says against the commit; all is then rolled back. A failure to tidy
    /// is logged only.
    pub fn commit(self, grown: &[&str]) -> Result<()> {
        match self {
            Self::Sqlite(loader) => loader.commit(grown),
            Self::Postgres(loader) => loader.commit(grown),
            Self::MySql(loader) => loader.commit(grown),
        }
    }
}

/// The error for rows that the database itself does not take; what it said goes to the log too.
fn against_rows(said: &str, error: impl std::error::Error) -> Error {
    tracing::warn!(%error, "the database refused rows");
    Error::Invalid(vec![Problem {
        parameter: None,
        code: "refused_by_database",
        value: None,
        detail: format!(
            "the database does not take the rows: {said}; nothing was stored; mend the rows, or have \
             whoever runs the server declare the rule in the definition, so that the rows are named"
        ),
    }])
}

/// An identifier as SQLite and PostgreSQL quote it.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The filled columns of a table, as a list.
fn column_list(table: &Table<'_>) -> String {
    let names: Vec<String> = table.columns.iter().map(|(name, _)| quoted(name)).collect();
    names.join(", ")
}

/// Why a value cannot go into a column of this kind.
fn unfit(kind: Kind, value: Value<'_>) -> String {
    match (kind, value) {
        (Kind::Int, Value::Decimal(digits)) => {
            format!("{digits} is not a whole number of 64 bits; use a decimal column for it")
        }
        _ => format!("the value does not fit a column of type {}", kind.word()),
    }
}

/// Names the cell that was refused; a row has its number from the count of those before it.
fn refused(before: u64, column: &str, detail: String) -> Error {
    Error::Cell { row: before + 1, column: column.to_owned(), detail }
}

/// Refuses a row that has not one value for each column.
fn check_width(row: &[Value<'_>], columns: &[(&str, Kind)]) -> Result<()> {
    if row.len() == columns.len() {
        return Ok(());
    }
    let found = format!("{} values for {} columns", row.len(), columns.len());
    Err(Error::internal("loading a row", found))
}
