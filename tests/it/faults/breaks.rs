//! A direct answer that could not be completed never looks complete.

use std::time::Instant;

use futures::future::join_all;
use serde_json::Value as Json;

use super::{
    LONG, SECOND, assert_failed, failed, long_report, nothing_works, numbers, report, rows,
    whole_rows,
};
use crate::support::{
    Backend, Body, End, Listens, Place, Server, Stream, on_every_backend, on_every_server,
};

/// Rows that are good before the one that fails.
pub(crate) const GOOD: u64 = 50_000;
/// Bytes a second of a reader who is slower than the database.
pub(crate) const SLOW: u32 = 3_000_000;

/// Every format with and without a content coding.
pub(crate) fn ways() -> impl Iterator<Item = (&'static str, &'static str)> {
    let codings = |format| ["identity", "gzip"].map(|coding| (format, coding));
    ["ndjson", "json", "csv"].into_iter().flat_map(codings)
}

pub(crate) async fn begin(
    server: &impl Listens,
    report: &str,
    (format, coding): (&str, &str),
    rate: Option<u32>,
) -> Stream {
    let path = format!("{}?format={format}", rows(report));
    let headers = [("Accept-Encoding", coding)];
    // A small buffer, so that a slow reader is felt.
    let buffer = rate.map(|_| 64 << 10);
    let mut stream = Stream::send_with_buffer(server, &path, &headers, buffer).await;
    stream.head().await;
    assert_eq!(stream.status(), 200);
    if let Some(rate) = rate {
        stream.limit_rate(rate);
    }
    stream
}

/// Ends the session that works for a run.
pub(crate) async fn end_session(place: &Place, run: &str) {
    assert_eq!(place.end_session(run).await, 1, "one session carries the run's name");
}

#[track_caller]
pub(crate) fn assert_cut(format: &str, body: &Body) {
    assert_eq!(body.end, End::BrokenOff);
    if format == "json" {
        assert!(serde_json::from_slice::<Json>(&body.bytes).is_err(), "a cut array is no JSON");
    }
}

/// Asserts that what is seen is a beginning of what was encoded; what a reader had not taken yet may
/// be lost with the connection.
#[track_caller]
pub(crate) fn assert_beginning(way: (&str, &str), seen: u64, encoded: u64) {
    assert!(seen > 1_000 && seen <= encoded, "{way:?}: {seen} of {encoded}");
}

async fn a_session_that_dies(place: &Place, rate: Option<u32>) {
    long_report(place, 5_000_000);
    let server = Server::start(place, &[("streams", "6"), ("queue_wait", "1s")]).await;
    join_all(ways().map(async |way| {
        let mut stream = begin(&server, "long", way, rate).await;
        let run = stream.run();
        let ending = async {
            let far = |run: &Json| run["rows"].as_u64() >= Some(GOOD);
            server.until_run(&run, far, LONG).await;
            end_session(place, &run).await;
        };
        let (body, ()) = futures::join!(stream.body(), ending);
        assert_cut(way.0, &body);
        let run = failed(&server, &run, "database_lost").await;
        let detail = run["error"]["detail"].as_str().unwrap_or_default();
        assert!(detail.ends_with("try again"), "{detail}");
        let seen = whole_rows(way.0, &body.bytes);
        assert_beginning(way, seen, run["rows"].as_u64().unwrap_or_default());
    }))
    .await;
    nothing_works(&server, Instant::now()).await;
    // Six permits are free again.
    join_all(ways().map(async |way| {
        let mut stream = begin(&server, "long", way, None).await;
        assert!(stream.next_chunk().await.is_some());
    }))
    .await;
    server.stop().await;
}

#[tokio::test]
async fn an_answer_whose_session_dies_is_broken_off_for_a_fast_reader() {
    on_every_server(async |place| a_session_that_dies(&place, None).await).await;
}

#[tokio::test]
async fn an_answer_whose_session_dies_is_broken_off_for_a_slow_reader() {
    on_every_server(async |place| a_session_that_dies(&place, Some(SLOW)).await).await;
}

#[tokio::test]
async fn the_summary_says_failed_before_the_break_off() {
    on_every_server(async |place| {
        long_report(&place, 5_000_000);
        let server = Server::start(&place, &[]).await;
        for coding in ["identity", "gzip", "zstd"] {
            let path = format!("{}?summary=true", rows("long"));
            let mut stream = Stream::get(&server, &path, &[("Accept-Encoding", coding)]).await;
            let run = stream.run();
            let ending = async {
                let far = |run: &Json| run["rows"].as_u64() >= Some(GOOD);
                server.until_run(&run, far, LONG).await;
                end_session(&place, &run).await;
            };
            let (body, ()) = futures::join!(stream.body(), ending);
            assert_eq!(body.end, End::BrokenOff);
            let text = String::from_utf8(body.bytes).expect("whole lines are UTF-8");
            let last = text.strip_suffix('\n').expect("the last line is whole").lines().last();
            let last: Json = serde_json::from_str(last.unwrap_or_default()).expect("it is JSON");
            assert_eq!(last["_summary"]["state"], "failed", "{last}");
            assert_eq!(last["_summary"]["code"], "database_lost", "{last}");
            assert_eq!(last["_summary"]["run_id"], run, "{last}");
        }
        server.stop().await;
    })
    .await;
}

/// Declares a report that fails at row `at`, within the database.
pub(crate) fn failing_report(place: &Place, name: &str, at: u64) {
    // 1/0, and the one number that has no absolute value. Each depends on the row, so that no
    // planner meets it early.
    let sql = match place.backend() {
        Backend::Sqlite => format!(
            "SELECT g AS id, '{}' AS v, \
             abs(CASE WHEN g = {at} THEN -9223372036854775807 - 1 ELSE 0 END) AS x FROM {}",
            "가".repeat(20),
            numbers(Backend::Sqlite, 100_000)
        ),
        Backend::Postgres => format!(
            "SELECT g AS id, repeat('가',20) AS v, 1/({at}-g) AS x \
             FROM generate_series(1,100000) g"
        ),
        Backend::MySql => format!(
            "SELECT seq AS id, repeat('가',20) AS v, \
             abs(if(seq = {at}, -9223372036854775807 - 1, 0)) AS x FROM seq_1_to_100000"
        ),
    };
    report(place, name, &[("id", "int"), ("v", "text"), ("x", "int")], &sql);
}

fn cause(backend: Backend) -> &'static str {
    backend.pick("integer overflow", "division by zero", "out of range")
}

/// Asserts that the database's words and ours to it went to the log and not to the client.
#[track_caller]
pub(super) fn assert_cause_in_log(place: &Place, server: &Server<'_>, request: &str, shown: &str) {
    let cause = cause(place.backend());
    for word in [cause, "SELECT", "generate_series", "RECURSIVE", "abs(", "seq_1_to"] {
        assert!(!shown.contains(word), "{word} is shown: {shown}");
    }
    let log = server.log();
    let told = log.lines().any(|line| line.contains(request) && line.contains(cause));
    assert!(told, "the cause is in the log with the request's id {request}");
}

#[tokio::test]
async fn a_query_that_fails_midway_breaks_the_answer_off() {
    on_every_backend(async |place| {
        failing_report(&place, "failing", GOOD + 1);
        let server = Server::start(&place, &[]).await;
        for rate in [None, Some(SLOW)] {
            join_all(ways().map(async |way| {
                let mut stream = begin(&server, "failing", way, rate).await;
                let request = stream.header("x-request-id").expect("an id").to_owned();
                let body = stream.body().await;
                assert_cut(way.0, &body);
                assert_beginning(way, whole_rows(way.0, &body.bytes), GOOD);
                let run = failed(&server, &stream.run(), "query_failed").await;
                assert_eq!(run["rows"], GOOD, "{run}");
                let shown = run["error"].to_string();
                assert_cause_in_log(&place, &server, &request, &shown);
            }))
            .await;
            nothing_works(&server, Instant::now()).await;
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_reader_who_keeps_up_sees_every_row_before_the_failure() {
    on_every_backend(async |place| {
        failing_report(&place, "failing", 2_501);
        let server = Server::start(&place, &[]).await;
        for way in ways() {
            let body = begin(&server, "failing", way, None).await.body().await;
            assert_cut(way.0, &body);
            assert_eq!(whole_rows(way.0, &body.bytes), 2_500, "{way:?}");
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_query_that_fails_within_its_first_batch_is_a_clean_500() {
    on_every_backend(async |place| {
        failing_report(&place, "early", 500);
        failing_report(&place, "at_once", 1);
        let server = Server::start(&place, &[]).await;
        for report in ["early", "at_once"] {
            for (format, coding) in ways() {
                let path = format!("{}?format={format}&filename=a.txt", rows(report));
                let headers = [("Accept-Encoding", coding)];
                let answer = server.request(reqwest::Method::GET, &path, &headers).await;
                answer.problem(500, "query_failed");
                assert_eq!(answer.header("content-encoding"), None);
                assert_eq!(answer.header("content-disposition"), None);
                let run = server.run(&answer.run()).await;
                assert_failed(&run, "query_failed");
                let request = answer.header("x-request-id").expect("an id");
                assert_cause_in_log(&place, &server, request, answer.text());
            }
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_value_that_cannot_be_read_breaks_the_answer_off_and_is_named() {
    on_every_backend(async |place| {
        let at = GOOD + 1;
        let from = numbers(place.backend(), 60_000);
        // Bytes that are not UTF-8 and a text among the numbers; a text among the decimals and one
        // that is no JSON.
        let cases: &[(&str, &str, String)] = &match place.backend() {
            Backend::Sqlite => [
                ("v", "text", format!("CASE WHEN g = {at} THEN CAST(x'ff' AS TEXT) ELSE 'v' END")),
                ("v", "int", format!("CASE WHEN g = {at} THEN 'many' ELSE g END")),
            ],
            Backend::Postgres => [
                ("v", "decimal", format!("CASE WHEN g = {at} THEN 'many' ELSE g::text END")),
                ("v", "json", format!("CASE WHEN g = {at} THEN '{{' ELSE '1' END")),
            ],
            Backend::MySql => [
                ("v", "int", format!("g + IF(g = {at}, 0.5, 0)")),
                ("v", "json", format!("CASE WHEN g = {at} THEN '{{' ELSE '1' END")),
            ],
        };
        for (number, (key, kind, value)) in cases.iter().enumerate() {
            let sql = format!("SELECT g AS id, {value} AS v FROM {from} AS numbers");
            report(&place, &format!("spoilt{number}"), &[("id", "int"), (key, kind)], &sql);
        }
        let server = Server::start(&place, &[]).await;
        for number in 0..cases.len() {
            join_all(ways().map(async |way| {
                let mut stream = begin(&server, &format!("spoilt{number}"), way, None).await;
                let body = stream.body().await;
                assert_cut(way.0, &body);
                assert_beginning(way, whole_rows(way.0, &body.bytes), GOOD);
                let run = failed(&server, &stream.run(), "undecodable_value").await;
                let detail = run["error"]["detail"].as_str().unwrap_or_default();
                assert!(detail.contains("50001") && detail.contains("\"v\""), "{run}");
                assert_eq!(run["rows"], GOOD, "{run}");
            }))
            .await;
            nothing_works(&server, Instant::now()).await;
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_value_that_cannot_be_read_within_the_first_batch_is_a_clean_500_that_names_it() {
    on_every_backend(async |place| {
        let (kind, bad) = place.backend().pick(
            ("text", "CASE WHEN g = 7 THEN CAST(x'ff' AS TEXT) ELSE 'v' END"),
            ("decimal", "CASE WHEN g = 7 THEN 'many' ELSE '1' END"),
            ("json", "CASE WHEN g = 7 THEN 'many' ELSE '1' END"),
        );
        let from = numbers(place.backend(), 100);
        let sql = format!("SELECT g AS id, {bad} AS v FROM {from} AS numbers");
        report(&place, "spoilt", &[("id", "int"), ("v", kind)], &sql);
        let server = Server::start(&place, &[]).await;
        let answer = server.get(&rows("spoilt")).await;
        let problem = answer.problem(500, "undecodable_value");
        let detail = problem["detail"].as_str().unwrap_or_default();
        assert!(detail.contains("row 7") && detail.contains("\"v\""), "{problem}");
        let run = server.until_run(&answer.run(), |run| run["state"] == "failed", SECOND).await;
        assert_eq!(run["error"]["detail"], problem["detail"]);
        server.stop().await;
    })
    .await;
}
