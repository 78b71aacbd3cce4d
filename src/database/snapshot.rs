//! Several statements over one state of a database: a transaction that reads, and sees nothing of what
//! others write meanwhile.

use sea_orm::DatabaseConnection;

use super::server::ServerReading;
use super::sqlite::SqliteReading;
use super::{Database, Query};
use crate::error::Result;
use crate::rows::{RowSink, Warning};
use crate::runs::Stop;

/// A transaction in which statements are run one after the other.
pub trait Reading {
    /// Runs a statement and pushes every row into `sink`; blocks.
    ///
    /// # Errors
    /// As [`super::Source::drive`]; after an error nothing more can be read.
    fn read(&mut self, query: &Query, sink: &mut (dyn RowSink + Send)) -> Result<()>;
}

impl Database {
    /// Lets `work` read within one transaction; when this comes back, the connection was given back.
    /// Blocks, so call it on a thread of its own and never inside a runtime. The database shows it under
    /// `application`.
    ///
    /// Ends within a second of `stop` being fired, if `work` does.
    ///
    /// # Errors
    /// What `work` says; [`crate::error::Error::Unavailable`] where the database cannot be reached; the
    /// stop's error.
    pub fn snapshot<T>(
        &self,
        application: &str,
        stop: &Stop,
        warnings: &mut Vec<Warning>,
        work: impl FnOnce(&mut dyn Reading) -> Result<T>,
    ) -> Result<T> {
        match self {
            Self::Sqlite { path, runtime } => work(&mut SqliteReading::begin(path, runtime, stop)?),
            Self::Postgres { read, control, runtime } => {
                let pool = |db: &DatabaseConnection| db.get_postgres_connection_pool().clone();
                let (pools, runtime) = ((pool(read), pool(control)), runtime.clone());
                let mut reading =
                    ServerReading::begin(pools, runtime, application, stop, warnings)?;
                let worked = work(&mut reading);
                reading.end();
                worked
            }
            Self::MySql { read, control, runtime } => {
                let pool = |db: &DatabaseConnection| db.get_mysql_connection_pool().clone();
                let (pools, runtime) = ((pool(read), pool(control)), runtime.clone());
                let mut reading =
                    ServerReading::begin(pools, runtime, application, stop, warnings)?;
                let worked = work(&mut reading);
                reading.end();
                worked
            }
        }
    }
}
