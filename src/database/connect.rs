//! From a database URL to something that can be read.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sea_orm::{DatabaseConnection, SqlxMySqlConnector, SqlxPostgresConnector, SqlxSqliteConnector};
use sqlx::mysql::MySqlPoolOptions;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, Executor, SqliteConnection};
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

use super::address::{Address, SQLITE, parse};
use super::failures::{cause, unavailable};
use super::server::{ServerRows, describe};
use super::sqlite::{self, SqliteRows, open_read_only};
use super::{Dialect, Query, Source, Target, mysql, postgres};
use crate::error::{Error, Result};

/// The longest wait for a connection out of a pool, or for a server that is starting.
const ACQUIRE: Duration = Duration::from_secs(5);
/// The longest wait for others who are at an SQLite file.
const BUSY: Duration = Duration::from_secs(10);
/// How long until a file that somebody is at is tried again.
const AGAIN: Duration = Duration::from_millis(20);
/// Connections that cancel statements; each is busy for milliseconds.
const CONTROLS: u32 = 4;

/// A database that definitions read.
#[derive(Debug, Clone)]
pub enum Database {
    /// An SQLite file; every read opens a connection of its own (0.13 ms).
    Sqlite {
        /// The file.
        path: PathBuf,
        /// Where timers run.
        runtime: Handle,
    },
    /// A PostgreSQL database.
    Postgres {
        /// Connections that read, all read-only.
        read: DatabaseConnection,
        /// Connections that cancel, and that describe statements.
        control: DatabaseConnection,
        /// Where the connections live.
        runtime: Handle,
    },
    /// A MySQL or MariaDB database.
    MySql {
        /// Connections that read, all read-only.
        read: DatabaseConnection,
        /// Connections that cancel, and that describe statements.
        control: DatabaseConnection,
        /// Where the connections live.
        runtime: Handle,
    },
}

impl Database {
    /// Makes ready to read the database that `url` names; `setting` names it in messages, `readers`
    /// is the most reads at once, `stall` the longest that one of them may have to wait for its
    /// client. Nothing is connected yet.
    ///
    /// # Errors
    /// [`Error::Invalid`] where the URL names no database that is read here.
    pub fn new(setting: &str, url: &str, readers: u32, stall: Duration) -> Result<Self> {
        let runtime = Handle::current();
        Ok(match parse(setting, url)? {
            Address::Sqlite(path) => Self::Sqlite { path, runtime },
            Address::Postgres(options) => {
                let options = options.application_name("tallyroll");
                let pool = SqlxPostgresConnector::from_sqlx_postgres_pool;
                Self::Postgres {
                    read: pool(reading_pool(options.clone(), readers)),
                    control: pool(
                        PgPoolOptions::new()
                            .max_connections(CONTROLS)
                            .acquire_timeout(ACQUIRE)
                            // What is prepared to be looked at must not be run later by its text
                            // alone, as types that were never meant.
                            .connect_lazy_with(options.statement_cache_capacity(0)),
                    ),
                    runtime,
                }
            }
            Address::MySql(options) => {
                let pool = SqlxMySqlConnector::from_sqlx_mysql_pool;
                Self::MySql {
                    read: pool(mysql::reading_pool(*options.clone(), readers, ACQUIRE, stall)),
                    control: pool(
                        MySqlPoolOptions::new()
                            .max_connections(CONTROLS)
                            .acquire_timeout(ACQUIRE)
                            // The one that loads rows, 500 at a time: preparing it costs as much as
                            // running it.
                            .connect_lazy_with(options.statement_cache_capacity(1)),
                    ),
                    runtime,
                }
            }
        })
    }

    /// The SQL it speaks.
    #[must_use]
    pub const fn dialect(&self) -> Dialect {
        match self {
            Self::Sqlite { .. } => Dialect::Sqlite,
            Self::Postgres { .. } => Dialect::Postgres,
            Self::MySql { .. } => Dialect::MySql,
        }
    }

    /// A source for one statement; `application` is what the database shows it under.
    #[must_use]
    pub fn source(&self, query: Query, application: String) -> Source {
        match self.clone() {
            Self::Sqlite { path, runtime } => Source::Sqlite(SqliteRows { path, query, runtime }),
            Self::Postgres { read, control, runtime } => {
                let pool = |connection: DatabaseConnection| {
                    connection.get_postgres_connection_pool().clone()
                };
                let (read, control) = (pool(read), pool(control));
                Source::Postgres(ServerRows { read, control, runtime, query, application })
            }
            Self::MySql { read, control, runtime } => {
                let pool =
                    |connection: DatabaseConnection| connection.get_mysql_connection_pool().clone();
                let (read, control) = (pool(read), pool(control));
                Source::MySql(ServerRows { read, control, runtime, query, application })
            }
        }
    }

    /// Prepares a statement without running it, and checks that every column can be read as declared
    /// where the database has column types.
    ///
    /// # Errors
    /// [`Error::Query`] with what the database says against it, [`Error::Cell`] for a column,
    /// [`Error::Unavailable`].
    pub async fn describe(&self, query: &Query) -> Result<()> {
        match self {
            Self::Sqlite { path, .. } => {
                let (path, sql) = (path.clone(), query.sql.clone());
                let prepared = spawn_blocking(move || sqlite::describe(&path, &sql));
                prepared.await.map_err(|source| Error::internal("preparing a statement", source))?
            }
            Self::Postgres { control, .. } => {
                describe(control.get_postgres_connection_pool(), query).await
            }
            Self::MySql { control, .. } => {
                describe(control.get_mysql_connection_pool(), query).await
            }
        }
    }

    /// The SQL type that a stored value of each statement's first column is cast to where it is
    /// compared with that column; `None` where it compares as it is.
    ///
    /// # Errors
    /// As [`Database::describe`]; [`Error::Cell`] for a column whose order cannot be continued.
    pub async fn types(&self, queries: &[Query]) -> Result<Vec<Option<String>>> {
        match self {
            Self::Sqlite { .. } => Ok(vec![None; queries.len()]),
            Self::Postgres { control, .. } => {
                postgres::types(control.get_postgres_connection_pool(), queries).await
            }
            Self::MySql { control, .. } => {
                mysql::types(control.get_mysql_connection_pool(), queries).await
            }
        }
    }

    /// The type that the database declares for the statement's first column, where it compares as a
    /// text although it may hold numbers: in SQLite alone, whose declared types are an affinity.
    ///
    /// # Errors
    /// As [`Database::describe`].
    pub async fn text_type(&self, query: &Query) -> Result<Option<String>> {
        let Self::Sqlite { path, .. } = self else { return Ok(None) };
        let (path, sql) = (path.clone(), query.sql.clone());
        let looked = spawn_blocking(move || sqlite::text_type(&path, &sql)).await;
        looked.map_err(|source| Error::internal("preparing a statement", source))?
    }

    /// Whether the database answers.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where it does not.
    pub async fn ping(&self) -> Result<()> {
        match self {
            Self::Sqlite { path, .. } => {
                let path = path.clone();
                let opened = spawn_blocking(move || open_read_only(&path).map(drop)).await;
                opened.map_err(|source| Error::internal("opening a database", source))?
            }
            Self::Postgres { control, .. } => {
                let pool = control.get_postgres_connection_pool();
                pool.execute("SELECT 1").await.map(drop).map_err(unavailable)
            }
            Self::MySql { control, .. } => {
                let pool = control.get_mysql_connection_pool();
                pool.execute("SELECT 1").await.map(drop).map_err(unavailable)
            }
        }
    }

    /// The same database to be written, over connections of its own that end with what is done.
    pub(super) fn target(&self) -> Target {
        match self {
            Self::Sqlite { path, .. } => Target::Sqlite(path.clone()),
            Self::Postgres { control, runtime, .. } => {
                let options = control.get_postgres_connection_pool().connect_options();
                let pool = PgPoolOptions::new().max_connections(1).acquire_timeout(ACQUIRE);
                let pool = pool.connect_lazy_with(options.as_ref().clone());
                Target::Postgres { pool, runtime: runtime.clone() }
            }
            Self::MySql { control, runtime, .. } => {
                let options = control.get_mysql_connection_pool().connect_options();
                let pool = MySqlPoolOptions::new().max_connections(1).acquire_timeout(ACQUIRE);
                let pool = pool.connect_lazy_with(options.as_ref().clone());
                Target::MySql { pool, runtime: runtime.clone() }
            }
        }
    }

    /// Closes every connection, waiting for those in use.
    pub async fn close(&self) {
        match self {
            Self::Sqlite { .. } => {}
            Self::Postgres { read, control, .. } => {
                read.get_postgres_connection_pool().close().await;
                control.get_postgres_connection_pool().close().await;
            }
            Self::MySql { read, control, .. } => {
                read.get_mysql_connection_pool().close().await;
                control.get_mysql_connection_pool().close().await;
            }
        }
    }
}

fn reading_pool(options: PgConnectOptions, readers: u32) -> PgPool {
    PgPoolOptions::new()
        .max_connections(readers)
        .acquire_timeout(ACQUIRE)
        .after_connect(|connection, _| {
            Box::pin(async move {
                let session = "SET TimeZone = 'UTC'; SET default_transaction_read_only = on";
                connection.execute(session).await?;
                // Ends the backend of a closed socket while it sorts; PostgreSQL 13 and older lack
                // it, and the cancel request is the first line anyway.
                let _ = connection.execute("SET client_connection_check_interval = 500").await;
                Ok(())
            })
        })
        .connect_lazy_with(options)
}

/// Opens a database for the ORM, to write: the state, or the example's tables. A missing SQLite file
/// is created, readable by its owner alone.
///
/// # Errors
/// [`Error::Invalid`] for the URL, [`Error::Unavailable`] where it cannot be opened.
pub async fn open(setting: &str, url: &str, connections: u32) -> Result<DatabaseConnection> {
    let address = parse(setting, url)?;
    let place = address.place();
    let opened = match address {
        Address::Sqlite(path) => open_sqlite(&path, connections).await,
        Address::Postgres(options) => PgPoolOptions::new()
            .max_connections(connections)
            .acquire_timeout(ACQUIRE)
            .connect_with(options.application_name("tallyroll"))
            .await
            .map(SqlxPostgresConnector::from_sqlx_postgres_pool),
        Address::MySql(options) => MySqlPoolOptions::new()
            .max_connections(connections)
            .acquire_timeout(ACQUIRE)
            .after_connect(|connection, _| {
                Box::pin(async move {
                    // Without locks on the gaps between rows, short statements do not meet in
                    // deadlocks.
                    let level = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED";
                    connection.execute(level).await.map(drop)
                })
            })
            .connect_with(*options)
            .await
            .map(SqlxMySqlConnector::from_sqlx_mysql_pool),
    };
    opened.map_err(|source| cannot_open(setting, &place, source))
}

/// Whether a URL names an SQLite file.
#[must_use]
pub fn is_file(url: &str) -> bool {
    url.starts_with(SQLITE)
}

async fn open_sqlite(path: &Path, connections: u32) -> sqlx::Result<DatabaseConnection> {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Normal)
        .busy_timeout(BUSY);
    // A file that is made anew takes as long as the disk does, which is no wait for a connection.
    let first = patiently(&options).await?;
    let pool = SqlitePoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(ACQUIRE)
        .connect_with(options)
        .await?;
    first.close().await?;
    Ok(SqlxSqliteConnector::from_sqlx_sqlite_pool(pool))
}

/// Opens a file that others may be making: of several that switch it to a write-ahead log at once, one
/// does, and the others are turned away without a wait.
async fn patiently(options: &SqliteConnectOptions) -> sqlx::Result<SqliteConnection> {
    let begun = Instant::now();
    loop {
        match options.connect().await {
            Err(error) if is_busy(&error) && begun.elapsed() < BUSY => {
                tokio::time::sleep(AGAIN).await;
            }
            opened => return opened,
        }
    }
}

/// `SQLITE_BUSY`, whatever more its code says in the bits above.
fn is_busy(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
    code.and_then(|code| code.parse::<u32>().ok()).is_some_and(|code| code & 0xFF == 5)
}

fn cannot_open(setting: &str, place: &str, source: sqlx::Error) -> Error {
    Error::Unavailable {
        code: "database_unavailable",
        detail: format!(
            "the database that {setting} names, {place}, cannot be opened; see that it is there and \
             lets this user in, or correct {setting}"
        ),
        source: Some(cause(source)),
    }
}
