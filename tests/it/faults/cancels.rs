//! `DELETE /runs/{id}` ends what goes on, wherever it is.

use std::time::Instant;

use reqwest::Method;

use super::{LONG, at_work_without_a_row, cancelled, long_report, nothing_works, rows};
use super::{SECOND, sorting_report};
use crate::support::{Answer, Body, End, Server, Stream, on_every_backend, until};

async fn delete(server: &Server<'_>, run: &str) -> Answer {
    server.request(Method::DELETE, &format!("/api/v1/runs/{run}"), &[]).await
}

async fn rest(stream: &mut Stream) -> Body {
    tokio::time::timeout(LONG, stream.body()).await.expect("the server closed the connection")
}

#[tokio::test]
async fn a_run_that_is_deleted_while_it_streams_is_broken_off() {
    on_every_backend(async |place| {
        long_report(&place, 5_000_000);
        let server = Server::start(&place, &[("streams", "1"), ("queue_wait", "1s")]).await;
        for (format, coding) in [("ndjson", "identity"), ("json", "gzip"), ("csv", "zstd")] {
            // Whether the client reads on or has the server wait for it.
            for reading in [true, false] {
                let path = format!("{}?format={format}", rows("long"));
                let headers = [("Accept-Encoding", coding)];
                let mut stream = Stream::get(&server, &path, &headers).await;
                stream.next_chunk().await.expect("the first batch");
                let run = stream.run();
                let deleting = async {
                    let asked = Instant::now();
                    assert_eq!(delete(&server, &run).await.status, 202);
                    nothing_works(&server, asked).await;
                    cancelled(&server, &run, asked).await;
                };
                let end = if reading {
                    futures::join!(read_out(&mut stream), deleting).0
                } else {
                    deleting.await;
                    read_out(&mut stream).await
                };
                assert_eq!(end, End::BrokenOff, "{format} {coding} {reading}");
                assert_eq!(delete(&server, &run).await.status, 204, "it is over already");
            }
        }
        server.stop().await;
    })
    .await;
}

/// Reads what comes without decoding it, for its beginning was taken already.
async fn read_out(stream: &mut Stream) -> End {
    let reading = async { while stream.next_chunk().await.is_some() {} };
    tokio::time::timeout(LONG, reading).await.expect("the server closed the connection");
    stream.end()
}

#[tokio::test]
async fn a_run_that_is_deleted_before_its_first_row_is_refused_as_cancelled() {
    on_every_backend(async |place| {
        sorting_report(&place);
        let server = Server::start(&place, &[]).await;
        let mut stream = Stream::send(&server, &rows("sorting"), &[]).await;
        let run = at_work_without_a_row(&place, &server).await;
        let asked = Instant::now();
        assert_eq!(delete(&server, &run).await.status, 202);
        nothing_works(&server, asked).await;
        cancelled(&server, &run, asked).await;
        stream.head().await;
        assert_eq!((stream.status(), stream.run()), (409, run));
        let body = rest(&mut stream).await;
        let problem: serde_json::Value = serde_json::from_slice(&body.bytes).expect("a problem");
        assert_eq!(problem["code"], "cancelled", "{problem}");
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_run_that_is_deleted_in_the_queue_never_begins() {
    on_every_backend(async |place| {
        long_report(&place, 5_000_000);
        let server = Server::start(&place, &[("streams", "1"), ("queue", "1")]).await;
        let mut first = Stream::get(&server, &rows("long"), &[]).await;
        first.next_chunk().await.expect("the first batch");
        let mut second = Stream::send(&server, &rows("long"), &[]).await;
        let run = until("the second waits", SECOND, async || {
            let runs = server.json("/api/v1/runs?state=queued").await;
            runs["items"][0]["id"].as_str().map(str::to_owned)
        })
        .await;
        let asked = Instant::now();
        assert_eq!(delete(&server, &run).await.status, 202);
        let over = cancelled(&server, &run, asked).await;
        assert_eq!((&over["started_at"], &over["rows"]), (&serde_json::Value::Null, &0.into()));
        second.head().await;
        assert_eq!((second.status(), second.run()), (409, run));
        rest(&mut second).await;
        // The first never noticed.
        let first_run = server.run(&first.run()).await;
        assert_eq!(first_run["state"], "running", "{first_run}");
        assert!(first.next_chunk().await.is_some());
        drop(first);
        server.stop().await;
    })
    .await;
}
