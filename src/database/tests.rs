//! Tests of sources over real files, without HTTP.

use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::{Cell, Database, Query, Read};
use crate::error::{Error, Result};
use crate::rows::Kind::{self, Bool, Decimal, Int, Json, Text};
use crate::rows::{RowSink, Value};
use crate::runs::{Reason, Stop};

const STALL: Duration = Duration::from_mins(1);

struct Rows(Vec<String>);

impl RowSink for Rows {
    fn row(&mut self, row: &[Value<'_>]) -> Result<()> {
        self.0.push(format!("{row:?}"));
        Ok(())
    }
}

fn query(sql: &str, kinds: &[Kind]) -> Query {
    let cell = |(index, kind): (usize, &Kind)| Cell {
        key: format!("c{index}"),
        read: Read::As { kind: *kind, scale: Some(2), zone: None, unit: None },
    };
    Query { sql: sql.into(), args: vec![], cells: kinds.iter().enumerate().map(cell).collect() }
}

/// An empty SQLite database in a directory of its own.
fn empty(directory: &TempDir) -> Database {
    let path = directory.path().join("b.db");
    rusqlite::Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 1").unwrap();
    Database::new("database_url", &format!("sqlite://{}", path.display()), 1, STALL).unwrap()
}

async fn drive(database: Database, query: Query, stop: Stop) -> (Rows, Result<()>) {
    let source = database.source(query, "test".into());
    let driven = tokio::task::spawn_blocking(move || {
        let mut rows = Rows(vec![]);
        let ended = source.drive(&mut rows, &stop, &mut vec![]);
        (rows, ended)
    });
    driven.await.unwrap()
}

#[tokio::test]
async fn sqlite_cells_are_read_by_their_declared_kind_whatever_they_are_stored_as() {
    let directory = TempDir::new().unwrap();
    let sql = "SELECT 7, '00123', 57.7, '57.70', 12, '{\"a\": 1}', 1";
    let kinds = [Text, Text, Decimal, Decimal, Decimal, Json, Bool];
    let (rows, ended) = drive(empty(&directory), query(sql, &kinds), Stop::new()).await;
    ended.unwrap();
    assert_eq!(
        rows.0,
        [
            r#"[Text("7"), Text("00123"), Decimal("57.70"), Decimal("57.70"), Decimal("12.00"), Json("{\"a\": 1}"), Bool(true)]"#
        ]
    );
    let (rows, ended) = drive(
        empty(&directory),
        query("SELECT '18446744073709551615', 3.0", &[Int, Int]),
        Stop::new(),
    )
    .await;
    ended.unwrap();
    assert_eq!(rows.0, [r#"[Decimal("18446744073709551615"), Int(3)]"#]);
}

#[tokio::test]
async fn a_cell_that_does_not_fit_its_column_names_row_and_column() {
    let directory = TempDir::new().unwrap();
    let sql = "SELECT 1 UNION ALL SELECT 'x' UNION ALL SELECT 3";
    let (rows, ended) = drive(empty(&directory), query(sql, &[Kind::Int]), Stop::new()).await;
    assert_eq!(rows.0.len(), 1);
    match ended {
        Err(Error::Cell { row: 2, column, detail }) => {
            assert_eq!((column.as_str(), detail.contains("\"x\"")), ("c0", true), "{detail}");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_stop_ends_a_sort_within_a_second() {
    let directory = TempDir::new().unwrap();
    let sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000000) \
               SELECT i FROM n ORDER BY -i";
    let stop = Stop::new();
    let running = tokio::spawn(drive(empty(&directory), query(sql, &[Kind::Int]), stop.clone()));
    // The statement takes minutes by itself; whenever the stop comes, it must end soon after.
    tokio::time::sleep(Duration::from_millis(300)).await;
    let fired = Instant::now();
    stop.fire(Reason::ClientLeft);
    let (rows, ended) = running.await.unwrap();
    assert!(fired.elapsed() < Duration::from_secs(1), "{:?}", fired.elapsed());
    assert!(rows.0.is_empty() && matches!(ended, Err(Error::Cancelled)), "{ended:?}");
}

#[tokio::test]
async fn a_stop_that_comes_before_the_first_step_is_not_lost() {
    let directory = TempDir::new().unwrap();
    let stop = Stop::new();
    stop.fire(Reason::Shutdown);
    let (_, ended) = drive(empty(&directory), query("SELECT 1", &[Kind::Int]), stop).await;
    assert!(matches!(ended, Err(Error::Unavailable { code: "shutting_down", .. })), "{ended:?}");
}

#[tokio::test]
async fn a_missing_file_and_a_database_in_memory_are_refused_in_words() {
    let missing = Database::new("database_url", "sqlite:///nowhere/at/all.db", 1, STALL).unwrap();
    assert!(matches!(
        missing.ping().await,
        Err(Error::Unavailable { code: "database_unavailable", .. })
    ));
    for url in ["sqlite::memory:", "sqlite://", "mongodb://x"] {
        let refused = Database::new("database_url", url, 1, STALL).unwrap_err();
        assert!(refused.detail().contains("database_url"), "{}", refused.detail());
    }
}
