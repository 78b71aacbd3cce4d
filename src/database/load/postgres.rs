//! Loading into PostgreSQL: `COPY … FROM STDIN` in binary, within one transaction.

use sqlx::Postgres;
use sqlx::postgres::{PgConnection, PgCopyIn, PgPool, PgQueryResult};
use tokio::runtime::Handle;

use super::session::{Says, Session};
use super::{Table, check_width, column_list, copy, quoted, refused};
use crate::database::failures::crossed;
use crate::error::{Error, Result};
use crate::rows::{Kind, RowSink, Value};

/// Bytes gathered before they are sent.
const CHUNK: usize = 256 * 1024;

/// One transaction.
#[derive(Debug)]
pub struct PostgresLoader(pub(super) Session<Postgres>);

impl PostgresLoader {
    pub(super) fn begin(pool: PgPool, runtime: Handle) -> Result<Self> {
        let mut session = Session::begin(pool, runtime, None)?;
        // The default of 64 MB sorts the index of a million rows through temporary files.
        session.execute("SET LOCAL maintenance_work_mem = '256MB'")?;
        Ok(Self(session))
    }

    /// Statements that drop and make each index that no constraint rests on.
    pub(super) fn indexes(&mut self, table: &str) -> Result<Vec<(String, String)>> {
        let sql = "SELECT 'DROP INDEX ' || indexrelid::regclass::text, \
                   pg_get_indexdef(indexrelid) FROM pg_index \
                   WHERE indrelid = $1::regclass AND NOT EXISTS \
                   (SELECT 1 FROM pg_constraint WHERE conindid = indexrelid)";
        let (connection, runtime) = self.0.connection()?;
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
        let (connection, runtime) = self.0.connection()?;
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

    pub(super) fn commit(self, grown: &[&str]) -> Result<()> {
        self.0.commit(grown.iter().map(|table| format!("VACUUM (ANALYZE) {}", quoted(table))))
    }
}

impl Says for Postgres {
    fn failed(error: sqlx::Error, doing: &'static str) -> Error {
        failed(error, doing)
    }

    fn changed(done: &PgQueryResult) -> u64 {
        done.rows_affected()
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
    let code = said.code()?;
    let ours = ["22", "23", "P0"].contains(&code.get(..2)?);
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
        // serialization_failure, deadlock_detected
        (_, Some("40001" | "40P01")) => crossed(std::time::Duration::from_secs(1)),
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
