//! What holds when something goes wrong: a database that dies, a value that cannot be read, a client
//! that leaves or sleeps, a server that is told to stop.
//!
//! The reports here have no order, so that their rows come as the database makes them; with one it
//! would make them all before the first.

mod away;
mod books;
pub(crate) mod breaks;
mod cancels;
mod curl;
mod first_row;
mod leaving;
mod matrix;
pub(crate) mod memory;
mod prepared;
mod queue;
mod shutdown;
mod stalls;
pub(crate) mod trickle;

use std::time::{Duration, Instant};

use serde_json::Value as Json;

use crate::support::{Backend, Place, Server, until};

/// How long a query may outlive its client, and whatever else ends it.
pub(crate) const SECOND: Duration = Duration::from_secs(1);
/// Longer than anything takes that is waited for without a bound of its own.
pub(crate) const LONG: Duration = Duration::from_secs(30);

/// The address of a report's rows.
pub(crate) fn rows(report: &str) -> String {
    format!("/api/v1/reports/{report}/rows")
}

/// Declares a report over a query, with columns as `(key, type)`.
pub(crate) fn report(place: &Place, name: &str, columns: &[(&str, &str)], sql: &str) {
    let columns: String = columns
        .iter()
        .map(|(key, kind)| format!("[[columns]]\nkey = \"{key}\"\ntype = \"{kind}\"\n"))
        .collect();
    place.report(name, &format!("sql = '''{sql}'''\n{columns}"));
}

/// A query of the numbers 1 to `count` as `g`, each made when it is asked for.
pub(crate) fn numbers(backend: Backend, count: u64) -> String {
    backend.pick(
        format!(
            "(WITH RECURSIVE n(g) AS (SELECT 1 UNION ALL SELECT g + 1 FROM n WHERE g < {count}) \
             SELECT g FROM n)"
        ),
        format!("(SELECT generate_series(1, {count}) AS g)"),
        format!("(SELECT seq AS g FROM seq_1_to_{count})"),
    )
}

/// Declares the report `long` of that many rows.
pub(crate) fn long_report(place: &Place, count: u64) {
    report_of(place, "long", count);
}

/// Declares a report of an `id` from 1 to `count`, and a text that hardly compresses.
pub(crate) fn report_of(place: &Place, name: &str, count: u64) {
    let text = place.backend().pick("lower(hex(randomblob(16)))", "md5(g::text)", "md5(g)");
    let numbers = numbers(place.backend(), count);
    let sql = format!("SELECT g AS id, {text} AS v FROM {numbers} AS numbers");
    report(place, name, &[("id", "int"), ("v", "text")], &sql);
}

/// Declares the report `short`, of one row.
pub(crate) fn short_report(place: &Place) {
    report(place, "short", &[("id", "int")], "SELECT 1 AS id");
}

/// Declares the report `sorting`, whose first row comes after minutes of work.
pub(crate) fn sorting_report(place: &Place) {
    let numbers =
        numbers(place.backend(), place.backend().pick(100_000_000, 20_000_000, 20_000_000));
    let order = place.backend().pick("-g", "md5(g::text)", "md5(g)");
    // MariaDB drops the order of what a WITH names unless it is also cut.
    let cut = place.backend().pick("", "", "LIMIT 20000000");
    let sql = format!("SELECT g AS id, 'v' AS v FROM {numbers} AS numbers ORDER BY {order} {cut}");
    report(place, "sorting", &[("id", "int"), ("v", "text")], &sql);
}

/// Waits until nothing works for a run any more, which is so within a second of `since`.
pub(crate) async fn nothing_works(server: &Server<'_>, since: Instant) {
    until("no thread reads rows", SECOND.saturating_sub(since.elapsed()), async || {
        (server.pump_threads() == 0).then_some(())
    })
    .await;
    until("no session is at work", SECOND.saturating_sub(since.elapsed()), async || {
        (server.sessions().await == 0).then_some(())
    })
    .await;
}

/// Waits until no temporary file is left, which is so within a second of `since`.
pub(crate) async fn nothing_is_kept(server: &Server<'_>, since: Instant) {
    until("no temporary file is left", SECOND.saturating_sub(since.elapsed()), async || {
        server.temporary_files().is_empty().then_some(())
    })
    .await;
}

/// Waits until the only query has been at work for a while without a row, and gives back its run.
pub(crate) async fn at_work_without_a_row(place: &Place, server: &Server<'_>) -> String {
    let while_at_work = Duration::from_millis(300);
    let begun = Instant::now();
    until("the query is at work", LONG, async || match place.backend() {
        Backend::Sqlite => {
            (server.pump_threads() == 1 && begun.elapsed() > while_at_work).then_some(())
        }
        Backend::Postgres => {
            let working = "SELECT count(*) FROM pg_stat_activity \
                           WHERE datname = current_database() AND state = 'active' \
                           AND application_name LIKE 'tallyroll/%' \
                           AND clock_timestamp() - query_start > interval '300 ms'";
            (place.value(working).await == "1").then_some(())
        }
        Backend::MySql => {
            let working = "SELECT count(*) FROM information_schema.processlist \
                           WHERE db = DATABASE() AND info LIKE '/* tallyroll/%' AND time_ms > 300";
            (place.value(working).await == "1").then_some(())
        }
    })
    .await;
    let run = server.newest_run().await.expect("a run was begun");
    assert_eq!((&run["state"], &run["rows"]), (&"running".into(), &0.into()), "{run}");
    run["id"].as_str().expect("an id").to_owned()
}

/// Waits for a run to be cancelled, which is so within a second of `since`.
pub(crate) async fn cancelled(server: &Server<'_>, run: &str, since: Instant) -> Json {
    let left = SECOND.saturating_sub(since.elapsed());
    let run = server.until_run(run, |run| run["state"] == "cancelled", left).await;
    assert_eq!(run["error"], Json::Null, "{run}");
    assert_ne!(run["finished_at"], Json::Null, "{run}");
    run
}

/// A run that failed with this code, and says in words why.
pub(crate) async fn failed(server: &Server<'_>, run: &str, code: &str) -> Json {
    let run = server.until_run(run, |run| run["state"] == "failed", SECOND).await;
    assert_failed(&run, code);
    run
}

/// Asserts what every failed run has.
#[track_caller]
fn assert_failed(run: &Json, code: &str) {
    assert_eq!(run["state"], "failed", "{run}");
    assert_eq!(run["error"]["code"], code, "{run}");
    let detail = run["error"]["detail"].as_str().unwrap_or_default();
    assert!(detail.split(' ').count() >= 4, "the detail is words: {run}");
    assert_eq!(run["sha256"], Json::Null, "no digest of what is not whole: {run}");
    assert_ne!(run["finished_at"], Json::Null, "{run}");
}

/// How many rows of a body are whole, which count from 1 without a gap.
#[track_caller]
pub(crate) fn whole_rows(format: &str, body: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(body);
    // In an array a line ends before the comma, so that the last one has no end of its own.
    let whole = match format {
        "json" => text.rfind('}').map_or("", |end| &text[..=end]),
        _ => text.rfind('\n').map_or("", |end| &text[..end]),
    };
    let id = |line: &str| {
        let id = if format == "csv" { line } else { line.split_once("\"id\":")?.1 };
        id.split([',', '}']).next()?.parse::<u64>().ok()
    };
    let ids = whole.lines().filter_map(id);
    ids.fold(0, |before, id| {
        assert_eq!(id, before + 1, "the rows count up");
        id
    })
}
