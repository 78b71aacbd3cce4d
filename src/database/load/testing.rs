//! Databases to test with, gone at the end of the test.

use std::panic::AssertUnwindSafe;
use std::path::PathBuf;

use futures::FutureExt;
use sea_orm::{ConnectionTrait, Database, DatabaseConnection, DbBackend};
use tempfile::TempDir;
use tokio::runtime::Handle;

use super::Target;

/// An SQLite file in a directory of its own.
pub(crate) struct Sqlite {
    pub(crate) db: DatabaseConnection,
    pub(crate) target: Target,
    _directory: TempDir,
}

impl Sqlite {
    pub(crate) async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let file: PathBuf = directory.path().join("test.db");
        let url = format!("sqlite://{}?mode=rwc", file.display());
        let db = connect(&url).await;
        let target = Target::of(&db, Some(file), Handle::current()).unwrap();
        Self { db, target, _directory: directory }
    }
}

/// Runs `test` against a new PostgreSQL database, `name`d after it, on the server that
/// `TALLYROLL_TEST_POSTGRES` names; passes it over where that is not set.
pub(crate) async fn with_postgres(name: &str, test: impl AsyncFnOnce(DatabaseConnection, Target)) {
    on_server("TALLYROLL_TEST_POSTGRES", name, test).await;
}

/// The same on the MySQL or MariaDB server that `TALLYROLL_TEST_MYSQL` names.
pub(crate) async fn with_mysql(name: &str, test: impl AsyncFnOnce(DatabaseConnection, Target)) {
    on_server("TALLYROLL_TEST_MYSQL", name, test).await;
}

async fn on_server(variable: &str, name: &str, test: impl AsyncFnOnce(DatabaseConnection, Target)) {
    let Ok(server) = std::env::var(variable) else {
        return;
    };
    let name = format!("tallyroll_{}_{name}", std::process::id());
    let admin = connect(&server).await;
    let (how, force) = match admin.get_database_backend() {
        DbBackend::MySql => ("CHARACTER SET utf8mb4", ""),
        _ => ("", "WITH (FORCE)"),
    };
    admin.execute_unprepared(&format!("CREATE DATABASE {name} {how}")).await.unwrap();
    let (host, _) = server.rsplit_once('/').unwrap();
    let db = connect(&format!("{host}/{name}")).await;
    let target = Target::of(&db, None, Handle::current()).unwrap();
    let outcome = AssertUnwindSafe(test(db.clone(), target)).catch_unwind().await;
    // MySQL drops nothing that a session still uses.
    db.close().await.unwrap();
    admin.execute_unprepared(&format!("DROP DATABASE {name} {force}")).await.unwrap();
    if let Err(panic) = outcome {
        std::panic::resume_unwind(panic);
    }
}

async fn connect(url: &str) -> DatabaseConnection {
    Box::pin(Database::connect(url)).await.unwrap()
}

/// Runs what blocks where it may block.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap()
}
