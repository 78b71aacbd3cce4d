//! A client that leaves stops its query: within a second nothing works for it and its permit is free.

use std::time::Instant;

use futures::future::join_all;

use super::{
    LONG, SECOND, at_work_without_a_row, cancelled, long_report, nothing_works, numbers, report,
    rows, short_report, sorting_report,
};
use crate::support::{Backend, Place, Server, Stream, on_every_backend, on_every_server, until};

/// Asserts that what was closed at `closed` left nothing within a second, with its one permit free.
async fn left_nothing(server: &Server<'_>, run: &str, closed: Instant) {
    nothing_works(server, closed).await;
    cancelled(server, run, closed).await;
    let next = server.get(&rows("short")).await;
    assert_eq!(next.status, 200, "{}", next.text());
    assert!(closed.elapsed() < SECOND, "the permit came back after {:?}", closed.elapsed());
}

#[tokio::test]
async fn a_client_that_leaves_at_row_1000_of_a_million_stops_the_query() {
    on_every_backend(async |place| {
        long_report(&place, 1_000_000);
        short_report(&place);
        let server = Server::start(&place, &[("streams", "1")]).await;
        for (format, coding) in [("ndjson", "identity"), ("csv", "gzip"), ("json", "zstd")] {
            for reset in [false, true] {
                let path = format!("{}?format={format}", rows("long"));
                let mut stream = Stream::get(&server, &path, &[("Accept-Encoding", coding)]).await;
                stream.next_chunk().await.expect("the first batch");
                let run = stream.run();
                let closed = Instant::now();
                if reset {
                    stream.reset();
                } else {
                    drop(stream);
                }
                left_nothing(&server, &run, closed).await;
            }
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_client_that_leaves_before_the_first_row_of_a_long_sort_stops_the_query() {
    on_every_backend(async |place| {
        short_report(&place);
        sorting_report(&place);
        let server = Server::start(&place, &[("streams", "1")]).await;
        for reset in [false, true] {
            let stream = Stream::send(&server, &rows("sorting"), &[]).await;
            let run = at_work_without_a_row(&place, &server).await;
            let closed = Instant::now();
            if reset {
                stream.reset();
            } else {
                drop(stream);
            }
            left_nothing(&server, &run, closed).await;
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_client_that_leaves_while_the_database_sleeps_stops_the_query() {
    on_every_server(async |place| {
        short_report(&place);
        let columns = [("id", "int"), ("v", "text")];
        let asleep = place.backend().pick("", "pg_sleep(30)::text", "CAST(SLEEP(30) AS CHAR)");
        report(&place, "asleep", &columns, &format!("SELECT 1 AS id, {asleep} AS v"));
        // Here the sleep comes after rows that were sent.
        let numbers = numbers(place.backend(), 2_000);
        let later = format!(
            "SELECT g AS id, CASE WHEN g > 1500 THEN {asleep} ELSE 'v' END AS v FROM {numbers} AS numbers"
        );
        report(&place, "later", &columns, &later);
        let server = Server::start(&place, &[("streams", "1")]).await;

        let stream = Stream::send(&server, &rows("asleep"), &[]).await;
        let run = at_work_without_a_row(&place, &server).await;
        let closed = Instant::now();
        drop(stream);
        left_nothing(&server, &run, closed).await;

        let mut stream = Stream::get(&server, &rows("later"), &[]).await;
        stream.next_chunk().await.expect("the first batch");
        let closed = Instant::now();
        let run = stream.run();
        drop(stream);
        left_nothing(&server, &run, closed).await;
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_client_that_leaves_while_its_rows_are_counted_stops_the_query() {
    on_every_backend(async |place| {
        sorting_report(&place);
        let server = Server::start(&place, &[]).await;
        let stream = Stream::send(&server, "/api/v1/reports/sorting/count", &[]).await;
        until("the count is at work", LONG, async || counting(&place, &server).await.then_some(()))
            .await;
        let closed = Instant::now();
        drop(stream);
        until("nothing counts", SECOND, async || (!counting(&place, &server).await).then_some(()))
            .await;
        assert!(closed.elapsed() < SECOND);
        server.stop().await;
    })
    .await;
}

/// Whether the server is busy for itself, or its session at work.
async fn counting(place: &Place, server: &Server<'_>) -> bool {
    match place.backend() {
        // A count has no thread of a name of its own; it is seen by what it burns.
        Backend::Sqlite => {
            let ticks = || {
                let stat = std::fs::read_to_string(format!("/proc/{}/stat", server.pid()));
                let stat = stat.expect("the server lives");
                let fields: Vec<_> = stat.split_whitespace().collect();
                fields[13].parse::<u64>().expect("ticks are a number")
            };
            let before = ticks();
            let begun = Instant::now();
            let mut after = before;
            while after < before + 4 && begun.elapsed().as_millis() < 200 {
                tokio::task::yield_now().await;
                after = ticks();
            }
            after >= before + 4
        }
        Backend::Postgres | Backend::MySql => server.sessions().await == 1,
    }
}

#[tokio::test]
async fn twenty_clients_that_leave_at_once_leave_nothing() {
    on_every_backend(async |place| {
        long_report(&place, 1_000_000);
        let server = Server::start(&place, &[("streams", "20"), ("queue_wait", "1s")]).await;
        let begin = async || {
            join_all((0..20).map(async |_| {
                let mut stream = Stream::get(&server, &rows("long"), &[]).await;
                assert_eq!(stream.status(), 200);
                stream.next_chunk().await.expect("the first batch");
                stream
            }))
            .await
        };
        let streams = begin().await;
        server.until_pump_threads(20).await;
        at_rest(&server).await;
        let closed = Instant::now();
        drop(streams);
        nothing_works(&server, closed).await;
        let left = SECOND.saturating_sub(closed.elapsed());
        until("twenty runs are cancelled", left, async || {
            let runs = server.json("/api/v1/runs?state=cancelled").await;
            (runs["items"].as_array()?.len() == 20).then_some(())
        })
        .await;
        // All twenty permits are back.
        let closed = Instant::now();
        drop(begin().await);
        assert!(closed.elapsed() < LONG);
        server.stop().await;
    })
    .await;
}

/// Waits until every stream waits for its client, who reads no more.
async fn at_rest(server: &Server<'_>) {
    let rows = async || {
        let runs = server.json("/api/v1/runs?state=running").await;
        let runs = runs["items"].as_array().expect("a list").clone();
        runs.iter().map(|run| run["rows"].clone()).collect::<Vec<_>>()
    };
    let mut last = (rows().await, Instant::now());
    until("every stream waits for its client", LONG, async || {
        let now = rows().await;
        if now != last.0 {
            last = (now, Instant::now());
        }
        (last.1.elapsed().as_millis() > 300).then_some(())
    })
    .await;
}
