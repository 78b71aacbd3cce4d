//! MySQL and MariaDB: their sessions, statements and errors.
//!
//! The driver loses its place when a future is dropped between preparing a statement and running it, so
//! what may be given up halfway goes as text.

mod moments;
mod wire;

#[cfg(test)]
mod tests;

use std::time::Duration;

use futures::stream::BoxStream;
use sqlx::mysql::{
    MySqlArguments, MySqlConnectOptions, MySqlConnection, MySqlDatabaseError, MySqlPool,
    MySqlPoolOptions, MySqlRow, MySqlStatement,
};
use sqlx::{AssertSqlSafe, Column, Executor, MySql, Row, SqlSafeStr, Statement, TypeInfo};

use self::wire::Wire;
use super::Query;
use super::failures::{self, said, unavailable};
use super::server::{Server, arguments, prepared};
use crate::error::{Error, Result};

/// How long the server at least keeps trying to send to us. Its own minute would end the answer of a
/// slow reader whose bytes still fit between us and him; ours is the time-out that counts.
const PATIENCE: Duration = Duration::from_hours(24);

impl Server for MySql {
    /// The number of its connection.
    type Session = u64;
    type Form = Wire;

    async fn begin(connection: &mut MySqlConnection, _application: &str) -> sqlx::Result<u64> {
        let row = sqlx::raw_sql("SELECT CONNECTION_ID()").fetch_one(connection).await;
        row.and_then(|row| row.try_get(0))
    }

    /// The process list shows the run's name at the head of the statement.
    fn fetch<'c>(
        connection: &'c mut MySqlConnection,
        query: &Query,
        application: &str,
    ) -> Result<BoxStream<'c, sqlx::Result<MySqlRow>>> {
        let sql = AssertSqlSafe(format!("/* {application} */ {}", query.sql));
        let query = sqlx::query_with(sql, arguments::<MySqlArguments>(&query.args)?);
        // The run's name makes every statement another one.
        Ok(query.persistent(false).fetch(connection))
    }

    async fn begin_snapshot(connection: &mut MySqlConnection) -> sqlx::Result<()> {
        let begin = sqlx::raw_sql(
            "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; \
             START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
        );
        begin.execute(connection).await.map(drop)
    }

    async fn end_snapshot(connection: &mut MySqlConnection) -> sqlx::Result<()> {
        sqlx::raw_sql("ROLLBACK").execute(connection).await.map(drop)
    }

    async fn reset(connection: &mut MySqlConnection) -> sqlx::Result<()> {
        sqlx::raw_sql("DO 0").execute(connection).await.map(drop)
    }

    fn is_cancelled(error: &sqlx::Error) -> bool {
        number(error) == Some(QUERY_INTERRUPTED)
    }

    async fn cancel(control: &MySqlPool, session: u64) -> sqlx::Result<()> {
        let kill = AssertSqlSafe(format!("KILL QUERY {session}"));
        sqlx::raw_sql(kill).execute(control).await.map(drop)
    }

    async fn end(control: &MySqlPool, session: u64) -> sqlx::Result<()> {
        let kill = AssertSqlSafe(format!("KILL {session}"));
        match sqlx::raw_sql(kill).execute(control).await {
            Err(error) if number(&error) != Some(NO_SUCH_THREAD) => Err(error),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    async fn prepare(
        connection: &mut MySqlConnection,
        query: &Query,
    ) -> sqlx::Result<MySqlStatement> {
        connection.prepare(AssertSqlSafe(query.sql.clone()).into_sql_str()).await
    }

    fn failed(error: sqlx::Error) -> Error {
        let lost = match number(&error) {
            Some(number) => is_end(number),
            None => matches!(
                error,
                sqlx::Error::Io(_) | sqlx::Error::Protocol(_) | sqlx::Error::WorkerCrashed
            ),
        };
        if lost {
            failures::lost(error)
        } else {
            Error::Query { doing: "reading a report from MySQL".into(), source: said(error) }
        }
    }
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

/// Whether an error of this number is the end of a session.
pub(super) const fn is_end(number: u16) -> bool {
    matches!(number, SERVER_SHUTDOWN | CONNECTION_KILLED | INTERACTION_TIMEOUT)
}

/// The number of a server's error.
pub(super) fn number(error: &sqlx::Error) -> Option<u16> {
    let said = error.as_database_error()?;
    said.try_downcast_ref::<MySqlDatabaseError>().map(MySqlDatabaseError::number)
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

/// The type that a stored value of each statement's first column is cast to where it is compared with
/// that column; `None` where it compares as it is.
///
/// # Errors
/// As [`super::server::describe`]; [`Error::Cell`] for a column that sorts otherwise than it compares.
pub(super) async fn types(pool: &MySqlPool, queries: &[Query]) -> Result<Vec<Option<String>>> {
    let mut connection = pool.acquire().await.map_err(unavailable)?;
    let mut types = Vec::with_capacity(queries.len());
    for query in queries {
        let statement = prepared::<MySql>(&mut connection, query).await?;
        let Some(column) = statement.columns().first().map(Column::type_info) else {
            return Err(Error::internal("asking for a column's type", "there is no column"));
        };
        if wire::sorts_by_place(column) {
            let key = query.cells.first().map(|cell| cell.key.clone()).unwrap_or_default();
            return Err(uncontinued(key));
        }
        types.push(match column.name() {
            "DECIMAL" => Some("decimal".to_owned()),
            "BIGINT UNSIGNED" => Some("unsigned".to_owned()),
            "DATE" => Some("date".to_owned()),
            "DATETIME" | "TIMESTAMP" => Some("datetime(6)".to_owned()),
            _ => None,
        });
    }
    Ok(types)
}

/// For a column of the order whose pages would lose rows.
fn uncontinued(column: String) -> Error {
    Error::Cell {
        row: 0,
        column,
        detail: "is an ENUM or a SET, which sorts by its place in the list and compares as text, so that \
                 no page can be continued behind it; order by CAST(… AS CHAR) of it, made a column in \
                 the definition's sql"
            .into(),
    }
}
