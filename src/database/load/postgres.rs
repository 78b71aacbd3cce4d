//! Loading into PostgreSQL: `COPY … FROM STDIN` in binary, within one transaction.

use futures::StreamExt;
use sqlx::postgres::{PgConnection, PgCopyIn, PgPool, Postgres};
use sqlx::{AssertSqlSafe, Row, Transaction};
use tokio::runtime::Handle;

use super::{Table, check_width, column_list, copy, quoted, refused};
use crate::database::failures::unavailable;
use crate::error::{Error, Result};
use crate::rows::{Kind, RowSink, Value};

/// Bytes gathered before they are sent.
const CHUNK: usize = 256 * 1024;

/// A transaction on a connection of its own; dropping it rolls back.
#[derive(Debug)]
pub struct PostgresLoader {
    /// There until the commit.
    transaction: Option<Transaction<'static, Postgres>>,
    pool: PgPool,
    runtime: Handle,
}

impl PostgresLoader {
    pub(super) fn begin(pool: PgPool, runtime: Handle) -> Result<Self> {
        let transaction = runtime.block_on(pool.begin()).map_err(unavailable)?;
        let mut loader = Self { transaction: Some(transaction), pool, runtime };
        // The default of 64 MB sorts the index of a million rows through temporary files.
        loader.execute("SET LOCAL maintenance_work_mem = '256MB'")?;
        Ok(loader)
    }

    fn connection(&mut self) -> Result<(&mut PgConnection, &Handle)> {
        match &mut self.transaction {
            Some(transaction) => Ok((&mut *transaction, &self.runtime)),
            None => Err(Error::internal("loading rows", "the transaction is over")),
        }
    }

    pub(super) fn truth(&mut self, sql: &str) -> Result<bool> {
        let (connection, runtime) = self.connection()?;
        let query = sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(connection);
        runtime.block_on(query).map_err(|error| failed(error, "looking at a table to be filled"))
    }

    pub(super) fn execute(&mut self, sql: &str) -> Result<u64> {
        let (connection, runtime) = self.connection()?;
        runtime
            .block_on(sqlx::raw_sql(AssertSqlSafe(sql)).execute(connection))
            .map(|done| done.rows_affected())
            .map_err(|error| failed(error, "changing a table to be filled"))
    }

    /// The rows of whole numbers that a query gives, in order.
    pub(super) fn integers(
        &mut self,
        sql: &str,
        each: &mut dyn FnMut(&[Option<i64>]) -> Result<()>,
    ) -> Result<()> {
        let (connection, runtime) = self.connection()?;
        let mut rows = sqlx::query(AssertSqlSafe(sql)).fetch(connection);
        while let Some(row) = runtime.block_on(rows.next()) {
            let row = row.map_err(|error| failed(error, "checking staged rows"))?;
            let numbers: sqlx::Result<Vec<_>> =
                (0..row.len()).map(|index| row.try_get(index)).collect();
            each(&numbers.map_err(|error| failed(error, "checking staged rows"))?)?;
        }
        Ok(())
    }

    /// The texts that a query gives, with texts as its arguments.
    pub(super) fn texts(&mut self, sql: &str, arguments: &[&str]) -> Result<Vec<Option<String>>> {
        let (connection, runtime) = self.connection()?;
        let query = arguments
            .iter()
            .fold(sqlx::query_scalar(AssertSqlSafe(sql)), |query, argument| query.bind(*argument));
        let texts = runtime.block_on(query.fetch_all(connection));
        texts.map_err(|error| failed(error, "looking at a table to be filled"))
    }

    /// Statements that drop and make each index that no constraint rests on.
    pub(super) fn indexes(&mut self, table: &str) -> Result<Vec<(String, String)>> {
        let sql = "SELECT 'DROP INDEX ' || indexrelid::regclass::text, \
                   pg_get_indexdef(indexrelid) FROM pg_index \
                   WHERE indrelid = $1::regclass AND NOT EXISTS \
                   (SELECT 1 FROM pg_constraint WHERE conindid = indexrelid)";
        let (connection, runtime) = self.connection()?;
        let query = sqlx::query_as(sql).bind(quoted(table)).fetch_all(connection);
        runtime.block_on(query).map_err(|error| failed(error, "listing a table's indexes"))
    }

    pub(super) fn load(
        &mut self,
        table: &Table<'_>,
        source: &mut dyn FnMut(&mut dyn RowSink) -> Result<()>,
    ) -> Result<u64> {
        let (name, columns) = (quoted(table.name), column_list(table));
        let sql = format!("COPY {name} ({columns}) FROM STDIN (FORMAT binary)");
        let (connection, runtime) = self.connection()?;
        let copy = runtime
            .block_on(connection.copy_in_raw(&sql))
            .map_err(|error| failed(error, "preparing to load rows"))?;
        let mut rows = Rows {
            copy,
            runtime,
            columns: table.columns,
            count: 0,
            out: Vec::with_capacity(CHUNK + CHUNK / 4),
        };
        copy::begin(&mut rows.out);
        match source(&mut rows) {
            Ok(()) => rows.finish(),
            Err(error) => {
                // The first error is the one to tell; a connection that fails now is dropped with
                // the transaction.
                let _ = rows.runtime.block_on(rows.copy.abort("the source of the rows failed"));
                Err(error)
            }
        }
    }

    pub(super) fn commit(mut self, grown: &[&str]) -> Result<()> {
        if let Some(transaction) = self.transaction.take() {
            self.runtime
                .block_on(transaction.commit())
                .map_err(|error| failed(error, "committing the loaded rows"))?;
        }
        for table in grown {
            let sql = format!("VACUUM (ANALYZE) {}", quoted(table));
            let tidied = sqlx::raw_sql(AssertSqlSafe(sql)).execute(&self.pool);
            if let Err(error) = self.runtime.block_on(tidied) {
                tracing::warn!(%error, table, "the loaded table could not be tidied");
            }
        }
        Ok(())
    }
}

impl Drop for PostgresLoader {
    fn drop(&mut self) {
        // The pool takes connections back on a task of the runtime.
        let _entered = self.runtime.enter();
        drop(self.transaction.take());
    }
}

/// The sink of one table.
struct Rows<'a> {
    copy: PgCopyIn<&'a mut PgConnection>,
    runtime: &'a Handle,
    columns: &'a [(&'a str, Kind)],
    count: u64,
    out: Vec<u8>,
}

impl Rows<'_> {
    fn send(&mut self) -> Result<()> {
        self.runtime
            .block_on(self.copy.send(self.out.as_slice()))
            .map_err(|error| failed(error, "sending rows to be loaded"))?;
        self.out.clear();
        Ok(())
    }

    fn finish(mut self) -> Result<u64> {
        copy::end(&mut self.out);
        self.send()?;
        self.runtime.block_on(self.copy.finish()).map_err(|error| failed(error, "loading rows"))
    }
}

impl RowSink for Rows<'_> {
    fn row(&mut self, row: &[Value<'_>]) -> Result<()> {
        check_width(row, self.columns)?;
        copy::row(row.len(), &mut self.out)?;
        for (value, (name, kind)) in row.iter().zip(self.columns) {
            copy::field(*kind, *value, &mut self.out)
                .map_err(|detail| refused(self.count, name, detail))?;
        }
        self.count += 1;
        if self.out.len() >= CHUNK {
            self.send()?;
        }
        Ok(())
    }
}

/// What an error means that the database raised against rows as they are.
pub(super) fn refused_rows(error: &sqlx::Error) -> Option<String> {
    let said = error.as_database_error()?;
    // Data exceptions, integrity constraint violations, what a trigger raised.
    let ours = said.code().is_some_and(|code| ["22", "23", "P0"].contains(&&code[..2]));
    ours.then(|| said.message().to_owned())
}

/// What an error of the driver's means for whoever asked.
fn failed(error: sqlx::Error, doing: &'static str) -> Error {
    let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
    if let Some(said) = refused_rows(&error) {
        return super::against_rows(&said, error);
    }
    match (&error, code.as_deref()) {
        (_, Some("53100")) => Error::NoSpace(error.into()),
        // lock_not_available
        (_, Some("55P03")) => Error::Busy {
            detail: "another writer has held the table for 10 s; try again when it is done".into(),
            retry_after: std::time::Duration::from_secs(10),
        },
        (sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed, _)
        | (_, Some("57P01" | "57P02" | "57P03" | "53300")) => Error::Unavailable {
            code: "database_unavailable",
            detail: "the PostgreSQL database is away or takes no more connections".into(),
            source: Some(error.into()),
        },
        _ => Error::internal(doing, error),
    }
}
