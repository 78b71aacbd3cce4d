//! One source of rows, whatever the database.

use sqlx::{MySql, Postgres};

use super::server::ServerRows;
use super::sqlite::SqliteRows;
use crate::error::Result;
use crate::rows::{RowSink, Warning};
use crate::runs::Stop;

/// A statement about to be run, which pushes its rows into a sink on the calling thread.
#[derive(Debug)]
pub enum Source {
    /// Stepped through SQLite.
    Sqlite(SqliteRows),
    /// Read from PostgreSQL's wire form.
    Postgres(ServerRows<Postgres>),
    /// Read from MySQL's binary protocol.
    MySql(ServerRows<MySql>),
}

impl Source {
    /// Runs the statement and pushes every row into `sink`; blocks, so call it on a thread of its
    /// own and never inside a runtime. The sink may be called on another thread, never on two at once.
    ///
    /// Ends within a second of `stop` being fired, whatever the database is doing, with the
    /// connection given back or closed.
    ///
    /// # Errors
    /// The stop's own error; the sink's; [`crate::error::Error::Unavailable`] where the database
    /// cannot be reached, [`crate::error::Error::Query`] where it gave up,
    /// [`crate::error::Error::Cell`] where a value does not fit its column.
    pub fn drive(
        self,
        sink: &mut (dyn RowSink + Send),
        stop: &Stop,
        warnings: &mut Vec<Warning>,
    ) -> Result<()> {
        match self {
            Self::Sqlite(rows) => rows.drive(sink, stop),
            Self::Postgres(rows) => rows.drive(sink, stop, warnings),
            Self::MySql(rows) => rows.drive(sink, stop, warnings),
        }
    }
}
