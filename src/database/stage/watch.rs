//! The session that rows are staged in, and who ends its statement when the run is stopped.

use std::path::Path;
use std::time::Duration;

use sqlx::AssertSqlSafe;
use tokio::task::JoinHandle;

use crate::database::Database;
use crate::database::load::{Loader, Target};
use crate::error::Result;
use crate::runs::Stop;

/// How often a statement is ended anew: a request that comes between two has no effect.
const REPEAT: Duration = Duration::from_millis(100);

/// Ends what a session does once the run is stopped, until it is dropped.
#[derive(Debug)]
pub(super) struct Watch(JoinHandle<()>);

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Opens a session and has it watched.
pub(super) fn open(
    database: &Database,
    target: &Target,
    file: &Path,
    stop: &Stop,
) -> Result<(Loader, Watch)> {
    stop.check()?;
    let mut loader = Loader::begin_staging(target, file)?;
    let stop = stop.clone();
    let task = match database.clone() {
        Database::Sqlite { runtime, .. } => {
            let handle = loader.interrupter();
            runtime.spawn(async move {
                stop.fired().await;
                while let Some(handle) = &handle {
                    handle.interrupt();
                    tokio::time::sleep(REPEAT).await;
                }
            })
        }
        Database::Postgres { control, runtime, .. } => {
            let session = loader.integer("SELECT pg_backend_pid()::bigint")?;
            runtime.spawn(async move {
                stop.fired().await;
                loop {
                    let end = format!("SELECT pg_cancel_backend({session})");
                    let pool = control.get_postgres_connection_pool();
                    let _ = sqlx::raw_sql(AssertSqlSafe(end)).execute(pool).await;
                    tokio::time::sleep(REPEAT).await;
                }
            })
        }
        Database::MySql { control, runtime, .. } => {
            let session = loader.integer("SELECT CAST(CONNECTION_ID() AS SIGNED)")?;
            runtime.spawn(async move {
                stop.fired().await;
                loop {
                    let end = format!("KILL QUERY {session}");
                    let pool = control.get_mysql_connection_pool();
                    let _ = sqlx::raw_sql(AssertSqlSafe(end)).execute(pool).await;
                    tokio::time::sleep(REPEAT).await;
                }
            })
        }
    };
    Ok((loader, Watch(task)))
}
