//! What loading over a network has in common: a transaction on a connection of its own, asked and told
//! from a thread that may block.

use futures::StreamExt;
use sqlx::{
    AssertSqlSafe, ColumnIndex, Database, Decode, Encode, Executor, IntoArguments, Pool, Row,
    Transaction, Type,
};
use tokio::runtime::Handle;

use crate::database::failures::unavailable;
use crate::error::{Error, Result};

/// How a system puts what all of them say.
pub(super) trait Says: Database {
    /// What an error of the driver's means for whoever asked.
    fn failed(error: sqlx::Error, doing: &'static str) -> Error;

    /// How many rows a statement changed.
    fn changed(done: &Self::QueryResult) -> u64;
}

/// A transaction on a connection of its own; dropping it rolls back.
#[derive(Debug)]
pub(super) struct Session<DB: Database> {
    /// There until the commit.
    transaction: Option<Transaction<'static, DB>>,
    pool: Pool<DB>,
    runtime: Handle,
}

impl<DB: Says> Session<DB>
where
    for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
    for<'q> &'q str: Encode<'q, DB> + Type<DB>,
    for<'r> bool: Decode<'r, DB> + Type<DB>,
    for<'r> i64: Decode<'r, DB> + Type<DB>,
    for<'r> String: Decode<'r, DB> + Type<DB>,
    DB::Arguments: IntoArguments<DB>,
    usize: ColumnIndex<DB::Row>,
{
    /// Begins one, with a statement of the system's own where there is one.
    pub(super) fn begin(
        pool: Pool<DB>,
        runtime: Handle,
        begin: Option<&'static str>,
    ) -> Result<Self> {
        let transaction = match begin {
            Some(begin) => runtime.block_on(pool.begin_with(begin)),
            None => runtime.block_on(pool.begin()),
        };
        Ok(Self { transaction: Some(transaction.map_err(unavailable)?), pool, runtime })
    }

    /// The connection, and where it lives.
    pub(super) fn connection(&mut self) -> Result<(&mut DB::Connection, &Handle)> {
        match &mut self.transaction {
            Some(transaction) => Ok((&mut *transaction, &self.runtime)),
            None => Err(Error::internal("loading rows", "the transaction is over")),
        }
    }

    /// The one truth value that a query gives.
    pub(super) fn truth(&mut self, sql: &str) -> Result<bool> {
        let (connection, runtime) = self.connection()?;
        let query = sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(connection);
        runtime
            .block_on(query)
            .map_err(|error| DB::failed(error, "looking at a table to be filled"))
    }

    /// How many rows a statement without arguments changed.
    pub(super) fn execute(&mut self, sql: &str) -> Result<u64> {
        let (connection, runtime) = self.connection()?;
        runtime
            .block_on(sqlx::raw_sql(AssertSqlSafe(sql)).execute(connection))
            .map(|done| DB::changed(&done))
            .map_err(|error| DB::failed(error, "changing a table to be filled"))
    }

    /// The rows of whole numbers that a query gives, in order.
    pub(super) fn integers(
        &mut self,
        sql: &str,
        each: &mut dyn FnMut(&[Option<i64>]) -> Result<()>,
    ) -> Result<()> {
        let wrong = |error| DB::failed(error, "checking staged rows");
        let (connection, runtime) = self.connection()?;
        let mut rows = sqlx::query(AssertSqlSafe(sql)).fetch(connection);
        while let Some(row) = runtime.block_on(rows.next()) {
            let row = row.map_err(wrong)?;
            let numbers: sqlx::Result<Vec<_>> =
                (0..row.len()).map(|index| row.try_get(index)).collect();
            each(&numbers.map_err(wrong)?)?;
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
        texts.map_err(|error| DB::failed(error, "looking at a table to be filled"))
    }

    /// Commits, then runs the statements that tidy up, each by itself.
    pub(super) fn commit(mut self, tidy: impl Iterator<Item = String>) -> Result<()> {
        if let Some(transaction) = self.transaction.take() {
            self.runtime
                .block_on(transaction.commit())
                .map_err(|error| DB::failed(error, "committing the loaded rows"))?;
        }
        for sql in tidy {
            let connection = self.runtime.block_on(self.pool.acquire());
            let tidied = connection.and_then(|mut connection| {
                let tidying = sqlx::raw_sql(AssertSqlSafe(sql.as_str())).execute(&mut *connection);
                self.runtime.block_on(tidying)
            });
            if let Err(error) = tidied {
                tracing::warn!(%error, sql, "a loaded table could not be tidied");
            }
        }
        Ok(())
    }
}

impl<DB: Database> Drop for Session<DB> {
    fn drop(&mut self) {
        // The pool takes connections back on a task of the runtime.
        let _entered = self.runtime.enter();
        drop(self.transaction.take());
    }
}
