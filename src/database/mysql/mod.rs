//! Rows out of MySQL and MariaDB, from the binary protocol, polled on the calling thread.
//!
//! A dropped stream does not end a query here either: a stopped run sends `KILL QUERY` over a small
//! control pool and reads the stream to its error. The driver loses its place when a future is dropped
//! between preparing a statement and running it, so a session whose stream was not read to its end is
//! never used again.

mod wire;

#[cfg(test)]
mod tests;

use std::pin::Pin;
use std::time::Duration;

use futures::{Stream, StreamExt};
use sqlx::mysql::{
    MySqlArguments, MySqlConnectOptions, MySqlDatabaseError, MySqlPool, MySqlPoolOptions, MySqlRow,
};
use sqlx::pool::PoolConnection;
use sqlx::{
    Arguments, AssertSqlSafe, Column, Executor, MySql, Row, SqlSafeStr, Statement, TypeInfo,
};
use tokio::runtime::Handle;
use tokio::time::timeout;

use self::wire::Wire;
use super::failures::{self, unavailable};
use super::pull::{Cells, Pulled, pull};
use super::{Arg, Query, Read};
use crate::error::{Error, Result};
use crate::rows::{RowSink, Warning};
use crate::runs::Stop;

/// How long a stopped query may take to end, from the request on, what is under way included.
const CANCEL: Duration = Duration::from_millis(250);
/// How long a session may take to show that it is ready for the next run.
const RESET: Duration = Duration::from_millis(200);
/// How long the server at least keeps trying to send to us. Its own minute would end the answer of a
/// slow reader whose bytes still fit between us and him; ours is the time-out that counts.
const PATIENCE: Duration = Duration::from_hours(24);

/// A statement for one MySQL or MariaDB database.
#[derive(Debug)]
pub struct MySqlRows {
    pub(super) read: MySqlPool,
    pub(super) control: MySqlPool,
    pub(super) runtime: Handle,
    pub(super) query: Query,
    /// What the process list shows at the head of the statement while it runs.
    pub(super) application: String,
}

impl MySqlRows {
    /// See [`super::Source::drive`].
    pub(super) fn drive(
        self,
        sink: &mut dyn RowSink,
        stop: &Stop,
        warnings: &mut Vec<Warning>,
    ) -> Result<()> {
        let runtime = self.runtime.clone();
        runtime.block_on(self.read(sink, stop, warnings))
    }

    async fn read(
        self,
        sink: &mut dyn RowSink,
        stop: &Stop,
        warnings: &mut Vec<Warning>,
    ) -> Result<()> {
        let (mut connection, session) = tokio::select! {
            () = stop.fired() => return Err(stop.error()),
            session = self.session() => session?,
        };
        let sql = AssertSqlSafe(format!("/* {} */ {}", self.application, self.query.sql));
        let mut stream = sqlx::query_with(sql, arguments(&self.query.args)?)
            // The run's name makes every statement another one.
            .persistent(false)
            .fetch(&mut *connection);
        let mut cells = Cells::<Wire>::new(&self.query.cells);
        let outcome = pull(stream.as_mut(), &mut cells, sink, stop).await;
        let ended = match &outcome {
            Ok(()) | Err(Pulled::Database(_)) => true,
            Err(Pulled::Ours(_)) => self.cancel(session, stream.as_mut()).await,
        };
        drop(stream);
        let cancelled = matches!(outcome, Err(Pulled::Ours(_)));
        self.give_back(connection, session, ended, cancelled).await;
        warnings.extend(cells.warnings());
        outcome.map_err(|pulled| match pulled {
            Pulled::Ours(error) => error,
            Pulled::Database(error) => failed(error),
        })
    }

    /// A connection, and the number that the server knows it by.
    async fn session(&self) -> Result<(PoolConnection<MySql>, u64)> {
        let mut connection = self.read.acquire().await.map_err(unavailable)?;
        // As text: what is not prepared may be given up halfway.
        let row = sqlx::raw_sql("SELECT CONNECTION_ID()").fetch_one(&mut *connection).await;
        let session = row.and_then(|row| row.try_get(0)).map_err(unavailable)?;
        Ok((connection, session))
    }

    /// Asks the server to end the query and reads the stream to its end; `false` where it would not end
    /// in time.
    async fn cancel(
        &self,
        session: u64,
        mut stream: Pin<&mut (impl Stream<Item = sqlx::Result<MySqlRow>> + ?Sized)>,
    ) -> bool {
        let ended = async {
            let kill = AssertSqlSafe(format!("KILL QUERY {session}"));
            if sqlx::raw_sql(kill).execute(&self.control).await.is_err() {
                return false;
            }
            while let Some(Ok(_)) = stream.next().await {}
            true
        };
        timeout(CANCEL, ended).await.unwrap_or(false)
    }

    async fn give_back(
        &self,
        mut connection: PoolConnection<MySql>,
        session: u64,
        ended: bool,
        cancelled: bool,
    ) {
        let ready = !cancelled || timeout(RESET, answers(&mut connection)).await.unwrap_or(false);
        if ended && ready {
            connection.return_to_pool().await;
            return;
        }
        // Not waited for: the run is over. Where even this does not answer, the closed socket ends the
        // session at its next row.
        drop(connection.detach());
        let control = self.control.clone();
        self.runtime.spawn(async move {
            let kill = AssertSqlSafe(format!("KILL {session}"));
            match sqlx::raw_sql(kill).execute(&control).await {
                Ok(_) => {}
                // It is gone already.
                Err(error) if number(&error) == Some(NO_SUCH_THREAD) => {}
                Err(error) => tracing::warn!(session, %error, "a session could not be ended"),
            }
        });
    }
}

/// Whether a session answers, after meeting a `KILL QUERY` that came too late for its query.
async fn answers(connection: &mut PoolConnection<MySql>) -> bool {
    for _ in 0..2 {
        match sqlx::raw_sql("DO 0").execute(&mut **connection).await {
            Ok(_) => return true,
            Err(error) if number(&error) == Some(QUERY_INTERRUPTED) => {}
            Err(_) => return false,
        }
    }
    false
}

/// `ER_SERVER_SHUTDOWN`.
const SERVER_SHUTDOWN: u16 = 1053;
/// `ER_NO_SUCH_THREAD`.
const NO_SUCH_THREAD: u16 = 1094;
/// `ER_QUERY_INTERRUPTED`.
const QUERY_INTERRUPTED: u16 = 1317;
/// `ER_CONNECTION_KILLED`, MariaDB's.
const CONNECTION_KILLED: u16 = 1927;
/// `ER_CLIENT_INTERACTION_TIMEOUT`, MySQL's.
const INTERACTION_TIMEOUT: u16 = 4031;

/// The number of a server's error.
pub(super) fn number(error: &sqlx::Error) -> Option<u16> {
    let said = error.as_database_error()?;
    said.try_downcast_ref::<MySqlDatabaseError>().map(MySqlDatabaseError::number)
}

fn failed(error: sqlx::Error) -> Error {
    let lost = match number(&error) {
        Some(number) => {
            matches!(number, SERVER_SHUTDOWN | CONNECTION_KILLED | INTERACTION_TIMEOUT)
        }
        None => matches!(
            error,
            sqlx::Error::Io(_) | sqlx::Error::Protocol(_) | sqlx::Error::WorkerCrashed
        ),
    };
    if lost {
        failures::lost(error)
    } else {
        Error::Query { doing: "reading a report from MySQL".into(), source: error.into() }
    }
}

/// Connections that read, and only read, and whose server waits as long as we do.
pub(super) fn reading_pool(
    options: MySqlConnectOptions,
    readers: u32,
    acquire: Duration,
    stall: Duration,
) -> MySqlPool {
    let patience = PATIENCE.max(stall + Duration::from_mins(1)).as_secs();
    let session =
        format!("SET SESSION TRANSACTION READ ONLY; SET SESSION net_write_timeout = {patience}");
    MySqlPoolOptions::new()
        .max_connections(readers)
        .acquire_timeout(acquire)
        .after_connect(move |connection, _| {
            let session = session.clone();
            Box::pin(async move {
                connection.execute(sqlx::raw_sql(AssertSqlSafe(session))).await.map(drop)
            })
        })
        .connect_lazy_with(options)
}

fn arguments(args: &[Arg]) -> Result<MySqlArguments> {
    let mut bound = MySqlArguments::default();
    for arg in args {
        match arg {
            Arg::Null => bound.add(None::<String>),
            Arg::Bool(value) => bound.add(*value),
            Arg::Int(value) => bound.add(*value),
            Arg::Float(value) => bound.add(*value),
            Arg::Text(value) => bound.add(value.as_str()),
        }
        .map_err(|source| Error::internal("binding an argument", source))?;
    }
    Ok(bound)
}

/// Prepares a statement without running it, and checks that its columns can be read as declared.
///
/// # Errors
/// What the server says against the statement, as [`Error::Query`], or [`Error::Unavailable`].
pub(super) async fn describe(pool: &MySqlPool, query: &Query) -> Result<()> {
    let mut connection = pool.acquire().await.map_err(unavailable)?;
    let statement = prepare(&mut connection, query).await?;
    for (cell, column) in query.cells.iter().zip(statement.columns()) {
        if matches!(cell.read, Read::Stored) {
            continue;
        }
        wire::reader(cell, column.type_info()).map_err(|detail| Error::Cell {
            row: 0,
            column: cell.key.clone(),
            detail,
        })?;
    }
    Ok(())
}

/// The type that a stored value of each statement's first column is cast to where it is compared with
/// that column; `None` where it compares as it is.
///
/// # Errors
/// As [`describe`]; [`Error::Cell`] for a column that sorts otherwise than it compares.
pub(super) async fn types(pool: &MySqlPool, queries: &[Query]) -> Result<Vec<Option<String>>> {
    let mut connection = pool.acquire().await.map_err(unavailable)?;
    let mut types = Vec::with_capacity(queries.len());
    for query in queries {
        let statement = prepare(&mut connection, query).await?;
        let name = statement.columns().first().map_or("", |column| column.type_info().name());
        types.push(match name {
            "DECIMAL" => Some("decimal".to_owned()),
            "BIGINT UNSIGNED" => Some("unsigned".to_owned()),
            "DATE" => Some("date".to_owned()),
            "DATETIME" | "TIMESTAMP" => Some("datetime(6)".to_owned()),
            "ENUM" => {
                return Err(Error::Cell {
                    row: 0,
                    column: query.cells.first().map(|cell| cell.key.clone()).unwrap_or_default(),
                    detail: "is an ENUM, which sorts by its place in the list and compares as text, \
                             so that no page can be continued behind it; order by CAST(… AS CHAR) of \
                             it, made a column in the definition's sql"
                        .into(),
                });
            }
            _ => None,
        });
    }
    Ok(types)
}

async fn prepare(
    connection: &mut PoolConnection<MySql>,
    query: &Query,
) -> Result<sqlx::mysql::MySqlStatement> {
    let sql = AssertSqlSafe(query.sql.clone()).into_sql_str();
    connection.prepare(sql).await.map_err(|error| match error.as_database_error() {
        Some(said) => failures::refused(said),
        None => failed(error),
    })
}
