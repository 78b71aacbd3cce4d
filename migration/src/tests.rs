//! Steps are taken once, from however many processes, and back again.

use std::time::Duration;

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::{ConnectOptions, Database, DatabaseConnection, DbBackend};
use tempfile::TempDir;

use crate::{example, state};

const STATE: [&str; 4] =
    ["tallyroll_nodes", "tallyroll_runs", "tallyroll_requests", "tallyroll_headers"];

async fn open(directory: &TempDir) -> DatabaseConnection {
    let file = directory.path().join("test.db");
    let url = format!("sqlite://{}?mode=rwc", file.display());
    let mut options = ConnectOptions::new(url);
    options
        .max_connections(4)
        .map_sqlx_sqlite_opts(|options| options.busy_timeout(Duration::from_secs(10)));
    Database::connect(options).await.unwrap()
}

async fn present(db: &DatabaseConnection) -> usize {
    let manager = SchemaManager::new(db);
    let mut present = 0;
    for table in STATE.into_iter().chain(example::TABLES) {
        present += usize::from(manager.has_table(table).await.unwrap());
    }
    present
}

async fn up_and_down(db: &DatabaseConnection) {
    for _ in 0..2 {
        state::up(db).await.unwrap();
        example::up(db).await.unwrap();
        assert_eq!(present(db).await, STATE.len() + example::TABLES.len());
    }
    assert_eq!(example::strangers(db).await.unwrap(), Vec::<&str>::new());
    example::Migrator::down(db, None).await.unwrap();
    assert_eq!(present(db).await, STATE.len());
    state::Migrator::down(db, None).await.unwrap();
    assert_eq!(present(db).await, 0);
    state::up(db).await.unwrap();
}

/// Several connections take the steps at the same time.
async fn together(connections: Vec<DatabaseConnection>) {
    let starts = connections.into_iter().map(|db| {
        tokio::spawn(async move {
            state::up(&db).await.unwrap();
            example::up(&db).await.unwrap();
            assert_eq!(present(&db).await, STATE.len() + example::TABLES.len());
        })
    });
    for start in starts.collect::<Vec<_>>() {
        start.await.unwrap();
    }
}

#[tokio::test]
async fn steps_on_sqlite_are_taken_once_and_back() {
    let directory = tempfile::tempdir().unwrap();
    up_and_down(&open(&directory).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn several_may_start_on_one_sqlite_file_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let mut connections = Vec::new();
    for _ in 0..6 {
        connections.push(open(&directory).await);
    }
    together(connections).await;
}

/// On a new database of the server that a variable names; passed over where it is not set.
async fn several_at_once_on(variable: &str, force: &str) {
    let Ok(server) = std::env::var(variable) else {
        return;
    };
    let name = format!("tallyroll_{}_steps", std::process::id());
    let admin = Database::connect(&server).await.unwrap();
    admin.execute_unprepared(&format!("CREATE DATABASE {name}")).await.unwrap();
    let (host, _) = server.rsplit_once('/').unwrap();
    let url = format!("{host}/{name}");
    let outcome = tokio::spawn(async move {
        let db = Database::connect(&url).await.unwrap();
        up_and_down(&db).await;
        if db.get_database_backend() == DbBackend::MySql {
            // A step that was cut off between making its table and being recorded.
            db.execute_unprepared("DELETE FROM tallyroll_migrations").await.unwrap();
            state::up(&db).await.unwrap();
        }
        state::Migrator::down(&db, None).await.unwrap();
        let mut connections = Vec::new();
        for _ in 0..6 {
            connections.push(Database::connect(&url).await.unwrap());
        }
        together(connections).await;
    })
    .await;
    admin.execute_unprepared(&format!("DROP DATABASE {name} {force}")).await.unwrap();
    outcome.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn several_may_start_on_one_postgres_at_once() {
    several_at_once_on("TALLYROLL_TEST_POSTGRES", "WITH (FORCE)").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn several_may_start_on_one_mysql_at_once() {
    several_at_once_on("TALLYROLL_TEST_MYSQL", "").await;
}

#[tokio::test]
async fn a_table_of_the_same_name_made_by_somebody_else_is_a_stranger() {
    let directory = tempfile::tempdir().unwrap();
    let db = open(&directory).await;
    db.execute_unprepared("CREATE TABLE merchants (x int)").await.unwrap();
    assert_eq!(example::strangers(&db).await.unwrap(), ["merchants"]);
}
