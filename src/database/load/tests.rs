//! What is loaded is there exactly, and what fails leaves nothing.

use sea_orm::{ConnectionTrait, DatabaseConnection};

use super::testing::{Sqlite, blocking, with_mysql, with_postgres};
use super::{Loader, Table, Target};
use crate::error::{Error, Result};
use crate::rows::{Date, Instant, Kind, RowSink, Value};

const THINGS: Table<'static> = Table {
    name: "Things \"of\" all kinds",
    columns: &[
        ("id", Kind::Int),
        ("truth", Kind::Bool),
        ("float", Kind::Float),
        ("exact", Kind::Decimal),
        ("text", Kind::Text),
        ("day", Kind::Date),
        ("moment", Kind::Time),
        ("json", Kind::Json),
    ],
};

const MAKE: &str = "CREATE TABLE \"Things \"\"of\"\" all kinds\" (id bigint PRIMARY KEY, \
    truth boolean, \"float\" double precision, exact text, text text, day date_or_text, \
    moment time_or_text, json json_or_text)";

fn row<'a>(id: i64, exact: &'a str, text: &'a str, at: Instant) -> [Value<'a>; 8] {
    [
        Value::Int(id),
        Value::Bool(id % 2 == 1),
        Value::Float(0.1),
        Value::Decimal(exact),
        Value::Text(text),
        Value::Date(Date::from_ymd(1999, 12, 31).unwrap()),
        Value::Time(at),
        Value::Json(r#"{"b": 1,  "a": [null]}"#),
    ]
}

async fn make_things(db: &DatabaseConnection) {
    let [exact, day, moment, json] = match db.get_database_backend() {
        sea_orm::DbBackend::Postgres => ["numeric", "date", "timestamptz", "json"],
        sea_orm::DbBackend::MySql => ["decimal(65, 20)", "date", "datetime(6)", "json"],
        _ => ["text"; 4],
    };
    let sql = MAKE
        .replace("exact text", &format!("exact {exact}"))
        .replace("date_or_text", day)
        .replace("time_or_text", moment)
        .replace("json_or_text", json);
    execute(db, &sql).await;
    let index = "CREATE INDEX things_text ON \"Things \"\"of\"\" all kinds\" (text, id)";
    // MySQL has no index over a text of any length.
    let index = match db.get_database_backend() {
        sea_orm::DbBackend::MySql => index.replace("(text, id)", "(text(20), id)"),
        _ => index.to_owned(),
    };
    execute(db, &index).await;
}

/// Runs a statement whose names are quoted as the standard has it.
async fn execute(db: &DatabaseConnection, sql: &str) {
    db.execute_unprepared(&dialect(db, sql)).await.unwrap();
}

fn dialect(db: &DatabaseConnection, sql: &str) -> String {
    match db.get_database_backend() {
        sea_orm::DbBackend::MySql => {
            sql.replace("\"\"", "\u{1}").replace('"', "`").replace('\u{1}', "\"")
        }
        _ => sql.to_owned(),
    }
}

/// All cells of a column as text, in the order of ids.
async fn column(db: &DatabaseConnection, expression: &str) -> Vec<Option<String>> {
    let table = "\"Things \"\"of\"\" all kinds\"";
    let text = match db.get_database_backend() {
        sea_orm::DbBackend::MySql => "char",
        _ => "text",
    };
    let sql = format!("SELECT CAST({expression} AS {text}) AS cell FROM {table} ORDER BY id");
    let sql = dialect(db, &sql);
    let statement = sea_orm::Statement::from_string(db.get_database_backend(), sql);
    let rows = db.query_all_raw(statement).await.unwrap();
    rows.iter().map(|row| row.try_get("", "cell").unwrap()).collect()
}

fn load(target: &Target, fill: impl Fn(&mut dyn RowSink) -> Result<()>) -> Result<u64> {
    let mut loader = Loader::begin(target)?;
    let count = loader.load(&THINGS, &mut |sink| fill(sink))?;
    loader.commit(&[THINGS.name])?;
    Ok(count)
}

fn texts(expected: &[&str]) -> Vec<Option<String>> {
    expected.iter().map(|text| Some((*text).to_owned())).collect()
}

const DECIMALS: [&str; 9] = [
    "0",
    "-0.50",
    "1",
    "10000",
    "123456789012345678901234567890.000100",
    "0.0001",
    "-99999.9999",
    "100000000",
    "0.00000000000000000001",
];

fn push_decimals(sink: &mut dyn RowSink) -> Result<()> {
    for (id, exact) in (0..).zip(DECIMALS) {
        let at = Instant::new(-1, 250_000_000).unwrap();
        sink.row(&row(id, exact, "글 'quoted' \t\\N", at))?;
    }
    let mut nothing = [Value::Null; 8];
    nothing[0] = Value::Int(99);
    sink.row(&nothing)
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlite_holds_what_was_loaded_in_the_orms_own_form() {
    let it = Sqlite::new().await;
    make_things(&it.db).await;
    let target = it.target.clone();
    assert_eq!(blocking(move || load(&target, push_decimals)).await.unwrap(), 10);
    let exact = column(&it.db, "exact").await;
    assert_eq!(exact[..9], texts(&DECIMALS));
    assert_eq!(exact[9], None);
    assert_eq!(column(&it.db, "text").await[0].as_deref(), Some("글 'quoted' \t\\N"));
    assert_eq!(column(&it.db, "day").await[0].as_deref(), Some("1999-12-31"));
    assert_eq!(column(&it.db, "moment").await[0].as_deref(), Some("1969-12-31T23:59:59.250+00:00"));
    assert_eq!(column(&it.db, "\"float\"").await[0].as_deref(), Some("0.1"));
    assert_eq!(column(&it.db, "truth").await[1].as_deref(), Some("1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_holds_what_was_loaded() {
    with_postgres("exact", async |db, target| {
        make_things(&db).await;
        assert_eq!(blocking(move || load(&target, push_decimals)).await.unwrap(), 10);
        let exact = column(&db, "exact").await;
        assert_eq!(exact[..9], texts(&DECIMALS));
        assert_eq!(exact[9], None);
        assert_eq!(column(&db, "text").await[0].as_deref(), Some("글 'quoted' \t\\N"));
        assert_eq!(column(&db, "day").await[0].as_deref(), Some("1999-12-31"));
        let moment = column(&db, "moment AT TIME ZONE 'UTC'").await;
        assert_eq!(moment[0].as_deref(), Some("1969-12-31 23:59:59.25"));
        assert_eq!(column(&db, "\"float\"").await[0].as_deref(), Some("0.1"));
        assert_eq!(column(&db, "truth").await[1].as_deref(), Some("true"));
        assert_eq!(column(&db, "json").await[0].as_deref(), Some(r#"{"b": 1,  "a": [null]}"#));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mysql_holds_what_was_loaded() {
    with_mysql("exact", async |db, target| {
        make_things(&db).await;
        assert_eq!(blocking(move || load(&target, push_decimals)).await.unwrap(), 10);
        let exact = column(&db, "exact").await;
        // Every digit, and zeros up to the column's scale.
        let scaled = DECIMALS.map(|digits| {
            let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
            Some(format!("{whole}.{fraction:0<20}"))
        });
        assert_eq!(exact[..9], scaled);
        assert_eq!(exact[9], None);
        assert_eq!(column(&db, "text").await[0].as_deref(), Some("글 'quoted' \t\\N"));
        assert_eq!(column(&db, "day").await[0].as_deref(), Some("1999-12-31"));
        let moment = column(&db, "moment").await;
        assert_eq!(moment[0].as_deref(), Some("1969-12-31 23:59:59.250000"));
        assert_eq!(column(&db, "\"float\"").await[0].as_deref(), Some("0.1"));
        assert_eq!(column(&db, "truth").await[1].as_deref(), Some("1"));
        assert_eq!(column(&db, "json").await[0].as_deref(), Some(r#"{"b": 1,  "a": [null]}"#));
    })
    .await;
}

fn fail_late(sink: &mut dyn RowSink) -> Result<()> {
    for id in 0..20_000 {
        sink.row(&row(id, "1.5", "some text to fill chunks with", Instant::from_seconds(id)))?;
    }
    Err(Error::Cancelled)
}

fn push_twice(sink: &mut dyn RowSink) -> Result<()> {
    for _ in 0..2 {
        sink.row(&row(7, "1", "twice", Instant::from_seconds(0)))?;
    }
    Ok(())
}

/// Loads in vain, then for real.
async fn fails_and_recovers(db: DatabaseConnection, target: Target) {
    make_things(&db).await;
    let failing = target.clone();
    let cancelled = blocking(move || load(&failing, fail_late)).await;
    assert!(matches!(cancelled, Err(Error::Cancelled)), "{cancelled:?}");
    assert_eq!(column(&db, "id").await, texts(&[]));
    let failing = target.clone();
    let doubled = blocking(move || load(&failing, push_twice)).await;
    assert!(matches!(doubled, Err(Error::Invalid(_))), "{doubled:?}");
    assert_eq!(column(&db, "id").await, texts(&[]));
    assert_eq!(blocking(move || load(&target, push_decimals)).await.unwrap(), 10);
    assert_eq!(column(&db, "id").await.len(), 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_of_the_source_or_of_sqlite_leaves_nothing() {
    let it = Sqlite::new().await;
    fails_and_recovers(it.db.clone(), it.target.clone()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_of_the_source_or_of_postgres_leaves_nothing_and_frees_the_connection() {
    with_postgres("errors", fails_and_recovers).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_of_the_source_or_of_mysql_leaves_nothing_and_frees_the_connection() {
    with_mysql("errors", fails_and_recovers).await;
}

async fn refuses_what_does_not_fit(db: DatabaseConnection, target: Target) {
    make_things(&db).await;
    let refused = blocking(move || {
        load(&target, |sink| {
            sink.row(&row(1, "1", "fits", Instant::from_seconds(0)))?;
            let mut wide = row(2, "1", "does not", Instant::from_seconds(0));
            wide[0] = Value::Decimal("9223372036854775808");
            sink.row(&wide)
        })
    })
    .await;
    let Err(Error::Cell { row: 2, column, detail }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(column, "id");
    assert!(detail.contains("9223372036854775808"), "{detail}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_number_beyond_64_bits_is_refused_with_its_row_and_column() {
    let it = Sqlite::new().await;
    refuses_what_does_not_fit(it.db.clone(), it.target.clone()).await;
    with_postgres("unfit", refuses_what_does_not_fit).await;
    with_mysql("unfit", refuses_what_does_not_fit).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_is_not_asked_to_store_a_nul() {
    with_postgres("nul", async |db, target| {
        make_things(&db).await;
        let refused = blocking(move || {
            load(&target, |sink| sink.row(&row(1, "1", "a\0b", Instant::from_seconds(0))))
        });
        assert!(matches!(refused.await, Err(Error::Cell { row: 1, .. })));
    })
    .await;
}

/// The example's way on MySQL, whose indexes stay.
#[tokio::test(flavor = "multi_thread")]
async fn a_locked_table_of_mysql_is_cleared_and_filled_within_one_transaction() {
    with_mysql("locks", async |db, target| {
        make_things(&db).await;
        let filled = target.clone();
        blocking(move || load(&filled, push_decimals)).await.unwrap();
        let (held, holds) = std::sync::mpsc::channel::<()>();
        let (go, goes) = std::sync::mpsc::channel::<()>();
        let locking = target.clone();
        let first = tokio::task::spawn_blocking(move || {
            let mut loader = Loader::begin(&locking).unwrap();
            loader.lock(THINGS.name).unwrap();
            assert!(!loader.is_empty(THINGS.name).unwrap());
            loader.clear(THINGS.name).unwrap();
            assert!(loader.is_empty(THINGS.name).unwrap());
            held.send(()).unwrap();
            goes.recv().unwrap();
            loader.load(&THINGS, &mut push_decimals).unwrap();
            loader.commit(&[THINGS.name]).unwrap();
        });
        blocking(move || holds.recv().unwrap()).await;
        assert_eq!(column(&db, "id").await.len(), 10, "readers see what was there");
        let kept_out = blocking(move || {
            let mut loader = Loader::begin(&target).unwrap();
            loader.execute("SET SESSION innodb_lock_wait_timeout = 1").unwrap();
            loader.load(&THINGS, &mut |sink| {
                sink.row(&row(1_000, "1", "another's", Instant::from_seconds(0)))
            })
        })
        .await;
        assert!(matches!(kept_out, Err(Error::Busy { .. })), "{kept_out:?}");
        go.send(()).unwrap();
        first.await.unwrap();
        assert_eq!(column(&db, "id").await.len(), 10);
    })
    .await;
}

async fn index_count(db: &DatabaseConnection) -> usize {
    let sql = match db.get_database_backend() {
        sea_orm::DbBackend::Postgres => "SELECT 1 AS n FROM pg_class WHERE relname = 'things_text'",
        _ => "SELECT 1 AS n FROM sqlite_master WHERE name = 'things_text'",
    };
    let statement = sea_orm::Statement::from_string(db.get_database_backend(), sql);
    db.query_all_raw(statement).await.unwrap().len()
}

async fn takes_and_restores(db: DatabaseConnection, target: Target) {
    make_things(&db).await;
    blocking(move || {
        let mut loader = Loader::begin(&target).unwrap();
        let indexes = loader.take_indexes(THINGS.name).unwrap();
        assert_eq!(indexes.0.len(), 1, "{indexes:?}");
        loader.load(&THINGS, &mut push_decimals).unwrap();
        assert!(!loader.is_empty(THINGS.name).unwrap());
        loader.clear(THINGS.name).unwrap();
        assert!(loader.is_empty(THINGS.name).unwrap());
        loader.restore_indexes(indexes).unwrap();
        loader.commit(&[THINGS.name]).unwrap();
    })
    .await;
    assert_eq!(index_count(&db).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn indexes_taken_off_come_back_and_the_keys_stay() {
    let it = Sqlite::new().await;
    takes_and_restores(it.db.clone(), it.target.clone()).await;
    with_postgres("indexes", takes_and_restores).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_sqlite_file_that_is_not_there_is_not_made() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("none.db");
    let target = Target::Sqlite(file.clone());
    let refused = blocking(move || Loader::begin(&target)).await;
    assert!(matches!(refused, Err(Error::Unavailable { .. })));
    assert!(!file.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_of_an_sqlite_file_holds_up_nobody_who_loads_rows() {
    let it = Sqlite::new().await;
    let Target::Sqlite(file) = it.target.clone() else { unreachable!("it is a file") };
    make_things(&it.db).await;
    let (target, began) = (it.target.clone(), std::time::Instant::now());
    blocking(move || load(&target, push_decimals)).await.unwrap();
    let reader = rusqlite::Connection::open(&file).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM \"Things \"\"of\"\" all kinds\"").unwrap();
    let target = it.target.clone();
    blocking(move || {
        let mut loader = Loader::begin(&target).unwrap();
        loader.clear(THINGS.name).unwrap();
        loader.commit(&[]).unwrap();
    })
    .await;
    // Another writer would be waited for for ten.
    assert!(began.elapsed() < std::time::Duration::from_secs(5), "{:?}", began.elapsed());
    reader.execute_batch("COMMIT").unwrap();
}
