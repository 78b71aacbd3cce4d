//! Rows out of PostgreSQL, from the binary wire form, polled on the calling thread.
//!
//! A dropped stream does not end a query, and a closed connection ends a sorting one only seconds
//! later. So a stopped run asks the server to cancel, over a small control pool of its own, and reads
//! the stream to its error; the connection is then as good as new.

mod numeric;
mod wire;

#[cfg(test)]
mod tests;

use std::pin::Pin;
use std::time::Duration;

use futures::{Stream, StreamExt};
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgArguments, PgConnection, PgPool, PgRow, PgStatement, PgTypeInfo};
use sqlx::{
    Arguments, AssertSqlSafe, Column, Executor, Postgres, Row, SqlSafeStr, Statement, Type,
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

/// How long a stopped query may take to end, from the request on: enough for one that sorts, which ends
/// with an error and no rows. One that sends has megabytes under way, and ends at once when its socket
/// closes.
const CANCEL: Duration = Duration::from_millis(250);
/// How long a session may take to be made ready for the next run.
const RESET: Duration = Duration::from_millis(200);

/// A statement for one PostgreSQL database.
#[derive(Debug)]
pub struct PostgresRows {
    pub(super) read: PgPool,
    pub(super) control: PgPool,
    pub(super) runtime: Handle,
    pub(super) query: Query,
    /// What `pg_stat_activity` shows while the statement runs.
    pub(super) application: String,
}

impl PostgresRows {
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
        let (mut connection, backend) = tokio::select! {
            () = stop.fired() => return Err(stop.error()),
            session = self.session() => session?,
        };
        let arguments = arguments(&self.query.args)?;
        let mut stream = sqlx::query_with(AssertSqlSafe(self.query.sql.clone()), arguments)
            .fetch(&mut *connection);
        let mut cells = Cells::<Wire>::new(&self.query.cells);
        let outcome = pull(stream.as_mut(), &mut cells, sink, stop).await;
        let usable = match &outcome {
            Ok(()) | Err(Pulled::Database(_)) => true,
            Err(Pulled::Ours(_)) => self.cancel(backend, stream.as_mut()).await,
        };
        drop(stream);
        self.give_back(connection, backend, usable).await;
        warnings.extend(cells.warnings());
        outcome.map_err(|pulled| match pulled {
            Pulled::Ours(error) => error,
            Pulled::Database(error) => failed(error),
        })
    }

    /// A connection that carries the run's name, and its backend's process id.
    async fn session(&self) -> Result<(PoolConnection<Postgres>, i32)> {
        let mut connection = self.read.acquire().await.map_err(unavailable)?;
        let backend =
            sqlx::query("SELECT pg_backend_pid(), set_config('application_name', $1, false)")
                .bind(&self.application)
                .fetch_one(&mut *connection)
                .await
                .and_then(|row| row.try_get(0))
                .map_err(unavailable)?;
        Ok((connection, backend))
    }

    /// Asks the server to cancel and reads the stream to its end; `false` where it would not end in
    /// time.
    async fn cancel(
        &self,
        backend: i32,
        mut stream: Pin<&mut (impl Stream<Item = sqlx::Result<PgRow>> + ?Sized)>,
    ) -> bool {
        let ended = async {
            let asked = sqlx::query("SELECT pg_cancel_backend($1)").bind(backend);
            if asked.execute(&self.control).await.is_err() {
                return false;
            }
            while let Some(Ok(_)) = stream.next().await {}
            true
        };
        timeout(CANCEL, ended).await.unwrap_or(false)
    }

    async fn give_back(
        &self,
        mut connection: PoolConnection<Postgres>,
        backend: i32,
        usable: bool,
    ) {
        if usable && timeout(RESET, reset(&mut connection)).await.unwrap_or(false) {
            connection.return_to_pool().await;
            return;
        }
        // Not waited for: the run is over. Where even this does not answer, the closed socket and
        // client_connection_check_interval end the backend.
        drop(connection.detach());
        let control = self.control.clone();
        self.runtime.spawn(async move {
            let ended = sqlx::query("SELECT pg_terminate_backend($1)").bind(backend);
            if let Err(error) = ended.execute(&control).await {
                tracing::warn!(backend, %error, "a backend could not be ended");
            }
        });
    }
}

/// Takes the run's name off a session, and meets a cancel request that came too late.
async fn reset(connection: &mut PgConnection) -> bool {
    for _ in 0..2 {
        let reset = sqlx::query("SELECT set_config('application_name', 'tallyroll', false)");
        match reset.execute(&mut *connection).await {
            Ok(_) => return true,
            Err(sqlx::Error::Database(error)) if error.code().as_deref() == Some("57014") => {}
            Err(_) => return false,
        }
    }
    false
}

fn arguments(args: &[Arg]) -> Result<PgArguments> {
    let mut bound = PgArguments::default();
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

fn failed(error: sqlx::Error) -> Error {
    let lost = match &error {
        // Class 57P: the server is shutting down or an administrator ended the session.
        sqlx::Error::Database(error) => error.code().is_some_and(|code| code.starts_with("57P")),
        sqlx::Error::Io(_) | sqlx::Error::Protocol(_) | sqlx::Error::WorkerCrashed => true,
        _ => false,
    };
    if lost {
        failures::lost(error)
    } else {
        Error::Query { doing: "reading a report from PostgreSQL".into(), source: error.into() }
    }
}

/// Prepares a statement without running it, and checks that its columns can be read as declared.
///
/// # Errors
/// What PostgreSQL says against the statement, as [`Error::Query`], or [`Error::Unavailable`].
pub(super) async fn describe(pool: &PgPool, query: &Query) -> Result<()> {
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

/// The type of each statement's first column, quoted and qualified as a `CAST` takes it.
///
/// # Errors
/// As [`describe`].
pub(super) async fn types(pool: &PgPool, queries: &[Query]) -> Result<Vec<Option<String>>> {
    // `character` in a CAST would be one character long.
    const NAME: &str =
        "SELECT CASE $1::oid WHEN 'bpchar'::regtype THEN 'bpchar' ELSE format_type($1, NULL) END";
    let mut connection = pool.acquire().await.map_err(unavailable)?;
    let mut types = Vec::with_capacity(queries.len());
    for query in queries {
        let statement = prepare(&mut connection, query).await?;
        let oid = statement.columns().first().and_then(|column| column.type_info().oid());
        let name = sqlx::query_scalar(NAME).bind(oid).fetch_one(&mut *connection).await;
        types.push(Some(name.map_err(failed)?));
    }
    Ok(types)
}

/// Prepares a statement with the types that its arguments will be bound as.
async fn prepare(connection: &mut PgConnection, query: &Query) -> Result<PgStatement> {
    let sql = AssertSqlSafe(query.sql.clone()).into_sql_str();
    let types: Vec<PgTypeInfo> = query.args.iter().map(argument_type).collect();
    connection.prepare_with(sql, &types).await.map_err(|error| match error.as_database_error() {
        Some(said) => failures::refused(said),
        None => failed(error),
    })
}

fn argument_type(arg: &Arg) -> PgTypeInfo {
    match arg {
        Arg::Null | Arg::Text(_) => <String as Type<Postgres>>::type_info(),
        Arg::Bool(_) => <bool as Type<Postgres>>::type_info(),
        Arg::Int(_) => <i64 as Type<Postgres>>::type_info(),
        Arg::Float(_) => <f64 as Type<Postgres>>::type_info(),
    }
}
