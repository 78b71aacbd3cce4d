//! PostgreSQL: its sessions, statements and errors.

mod numeric;
mod wire;

#[cfg(test)]
mod tests;

use futures::stream::BoxStream;
use sqlx::postgres::{PgArguments, PgConnection, PgPool, PgRow, PgStatement, PgTypeInfo};
use sqlx::{AssertSqlSafe, Column, Executor, Postgres, Row, SqlSafeStr, Statement, Type};

use self::wire::Wire;
use super::failures::{self, said, unavailable};
use super::server::{Server, arguments, prepared};
use super::{Arg, Query};
use crate::error::{Error, Result};

impl Server for Postgres {
    /// The process id of its backend.
    type Session = i32;
    type Form = Wire;

    async fn begin(connection: &mut PgConnection, application: &str) -> sqlx::Result<i32> {
        sqlx::query("SELECT pg_backend_pid(), set_config('application_name', $1, false)")
            .bind(application)
            .fetch_one(connection)
            .await
            .and_then(|row| row.try_get(0))
    }

    fn fetch<'c>(
        connection: &'c mut PgConnection,
        query: &Query,
        _application: &str,
    ) -> Result<BoxStream<'c, sqlx::Result<PgRow>>> {
        let sql = AssertSqlSafe(query.sql.clone());
        Ok(sqlx::query_with(sql, arguments::<PgArguments>(&query.args)?).fetch(connection))
    }

    async fn begin_snapshot(connection: &mut PgConnection) -> sqlx::Result<()> {
        let begin = sqlx::raw_sql("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY");
        begin.execute(connection).await.map(drop)
    }

    async fn end_snapshot(connection: &mut PgConnection) -> sqlx::Result<()> {
        sqlx::raw_sql("ROLLBACK").execute(connection).await.map(drop)
    }

    /// Takes the run's name off.
    async fn reset(connection: &mut PgConnection) -> sqlx::Result<()> {
        let reset = sqlx::query("SELECT set_config('application_name', 'tallyroll', false)");
        reset.execute(connection).await.map(drop)
    }

    fn is_cancelled(error: &sqlx::Error) -> bool {
        let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
        code.as_deref() == Some("57014")
    }

    async fn cancel(control: &PgPool, backend: i32) -> sqlx::Result<()> {
        sqlx::query("SELECT pg_cancel_backend($1)").bind(backend).execute(control).await.map(drop)
    }

    async fn end(control: &PgPool, backend: i32) -> sqlx::Result<()> {
        let end = sqlx::query("SELECT pg_terminate_backend($1)").bind(backend);
        end.execute(control).await.map(drop)
    }

    /// With the types that its arguments will be bound as.
    async fn prepare(connection: &mut PgConnection, query: &Query) -> sqlx::Result<PgStatement> {
        let sql = AssertSqlSafe(query.sql.clone()).into_sql_str();
        let types: Vec<PgTypeInfo> = query.args.iter().map(argument_type).collect();
        connection.prepare_with(sql, &types).await
    }

    fn failed(error: sqlx::Error) -> Error {
        let lost = match &error {
            // Class 57P: the server is shutting down or an administrator ended the session.
            sqlx::Error::Database(error) => {
                error.code().is_some_and(|code| code.starts_with("57P"))
            }
            sqlx::Error::Io(_) | sqlx::Error::Protocol(_) | sqlx::Error::WorkerCrashed => true,
            _ => false,
        };
        if lost {
            failures::lost(error)
        } else {
            Error::Query { doing: "reading a report from PostgreSQL".into(), source: said(error) }
        }
    }
}

/// The type of each statement's first column, quoted and qualified as a `CAST` takes it.
///
/// # Errors
/// As [`super::server::describe`].
pub(super) async fn types(pool: &PgPool, queries: &[Query]) -> Result<Vec<Option<String>>> {
    // `character` in a CAST would be one character long.
    const NAME: &str =
        "SELECT CASE $1::oid WHEN 'bpchar'::regtype THEN 'bpchar' ELSE format_type($1, NULL) END";
    let mut connection = pool.acquire().await.map_err(unavailable)?;
    let mut types = Vec::with_capacity(queries.len());
    for query in queries {
        let statement = prepared::<Postgres>(&mut connection, query).await?;
        let oid = statement.columns().first().and_then(|column| column.type_info().oid());
        let name = sqlx::query_scalar(NAME).bind(oid).fetch_one(&mut *connection).await;
        types.push(Some(name.map_err(Postgres::failed)?));
    }
    Ok(types)
}

fn argument_type(arg: &Arg) -> PgTypeInfo {
    match arg {
        Arg::Null | Arg::Text(_) => <String as Type<Postgres>>::type_info(),
        Arg::Bool(_) => <bool as Type<Postgres>>::type_info(),
        Arg::Int(_) => <i64 as Type<Postgres>>::type_info(),
        Arg::Float(_) => <f64 as Type<Postgres>>::type_info(),
    }
}
