//! Permits: who comes too late waits, not too many of them, and not too long.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value as Json, json};

use super::{LONG, SECOND, cancelled, long_report, rows, short_report};
use crate::support::{Answer, Place, Server, Stream, on_every_backend, until};

/// A stream that keeps its permit, for it is not read on.
async fn hold(server: &Server<'_>) -> Stream {
    let mut stream = Stream::get(server, &rows("long"), &[]).await;
    assert_eq!(stream.status(), 200);
    stream.next_chunk().await.expect("the first batch");
    stream
}

/// Sends a request that has to wait, and gives back its run.
async fn wait_behind(server: &Server<'_>) -> (Stream, String) {
    let queued = async || server.json("/api/v1/runs?state=queued").await["items"].clone();
    let before = queued().await[0]["id"].clone();
    let stream = Stream::send(server, &rows("short"), &[]).await;
    let run = until("the request waits", SECOND, async || {
        let newest = queued().await[0].clone();
        let waits = newest["id"] != before && newest["queue"] != Json::Null;
        newest["id"].as_str().filter(|_| waits).map(str::to_owned)
    })
    .await;
    (stream, run)
}

#[track_caller]
fn assert_busy(answer: &Answer) {
    answer.problem(429, "busy");
    let after = answer.header("retry-after").and_then(|after| after.parse::<u64>().ok());
    assert!(after >= Some(1), "Retry-After is whole seconds: {after:?}");
    assert!(after < Some(30), "permits are held for moments, not for the longest wait: {after:?}");
}

/// Asserts that a run waited for so many milliseconds, which is all its time.
#[track_caller]
fn assert_all_of_it_was_waiting(run: &Json, least: u64) {
    let timings = &run["timings_ms"];
    let queue = timings["queue"].as_u64().expect("a number");
    assert!((least..least + 2_000).contains(&queue), "{run}");
    for other in ["query", "encode", "write"] {
        assert_eq!(timings[other], 0, "{run}");
    }
}

async fn one_permit<'p>(place: &'p Place, queue_wait: &str) -> Server<'p> {
    server_of(place, "1", queue_wait).await
}

async fn server_of<'p>(place: &'p Place, queue: &str, queue_wait: &str) -> Server<'p> {
    long_report(place, 5_000_000);
    short_report(place);
    let settings = [("streams", "1"), ("queue", queue), ("queue_wait", queue_wait)];
    Server::start(place, &settings).await
}

fn run_path(run: &str) -> String {
    format!("/api/v1/runs/{run}")
}

#[tokio::test]
async fn the_second_waits_for_the_first_and_the_third_is_refused() {
    on_every_backend(async |place| {
        let server = one_permit(&place, "30s").await;
        let first = hold(&server).await;
        let (mut second, run) = wait_behind(&server).await;

        let begun = Instant::now();
        let third = server.get(&rows("long")).await;
        assert!(begun.elapsed() < SECOND, "a refusal does not wait");
        assert_busy(&third);
        let refused = server.run(&third.run()).await;
        assert_eq!(
            (&refused["state"], &refused["error"]["code"]),
            (&"failed".into(), &"busy".into())
        );

        for path in ["/health/live", "/health/ready", "/api/v1/reports", "/api/v1/runs?limit=1"] {
            let begun = Instant::now();
            server.json(path).await;
            assert!(begun.elapsed() < SECOND, "{path} answers meanwhile");
        }

        let waiting = server.run(&run).await;
        assert_eq!(waiting["state"], "queued");
        assert_eq!(waiting["queue"], json!({ "position": 1, "length": 1 }));
        drop(first);
        let ended = Instant::now();
        second.head().await;
        assert!(ended.elapsed() < SECOND, "the second is served after {:?}", ended.elapsed());
        assert_eq!((second.status(), second.run()), (200, run.clone()));
        second.body().await;
        let served = server.until_run(&run, |run| run["state"] == "complete", SECOND).await;
        assert!(served["timings_ms"]["queue"].as_u64() > Some(0), "{served}");
        assert_eq!(served["queue"], Json::Null);
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn who_waited_too_long_is_refused() {
    on_every_backend(async |place| {
        let server = one_permit(&place, "1s").await;
        let first = hold(&server).await;
        let begun = Instant::now();
        let second = server.get(&rows("long")).await;
        let waited = begun.elapsed();
        assert!(waited >= Duration::from_secs(1) && waited < Duration::from_secs(2), "{waited:?}");
        assert_busy(&second);
        let refused = server.run(&second.run()).await;
        assert_eq!(refused["error"]["code"], "busy");
        assert_all_of_it_was_waiting(&refused, 1_000);
        drop(first);
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_client_that_leaves_the_queue_frees_its_place() {
    on_every_backend(async |place| {
        let server = one_permit(&place, "30s").await;
        let first = hold(&server).await;
        let (second, run) = wait_behind(&server).await;
        let waiting = Instant::now();
        until("it has waited for a while", SECOND, async || {
            (waiting.elapsed() >= Duration::from_millis(200)).then_some(())
        })
        .await;
        let left = Instant::now();
        drop(second);
        let over = cancelled(&server, &run, left).await;
        assert_eq!(over["started_at"], Json::Null, "{over}");
        assert_all_of_it_was_waiting(&over, 200);
        // Its place is another's now, who then is served.
        let (mut third, run) = wait_behind(&server).await;
        drop(first);
        tokio::time::timeout(LONG, third.head()).await.expect("the third is served");
        assert_eq!((third.status(), third.run()), (200, run));
        third.body().await;
        server.stop().await;
    })
    .await;
}

/// Where each of these runs stands in the queue.
async fn places(server: &Server<'_>, runs: &[String]) -> Vec<Json> {
    let mut places = Vec::new();
    for run in runs {
        places.push(server.run(run).await["queue"].clone());
    }
    places
}

/// The places 1 to `length` of a queue of that length.
fn in_a_row(length: usize) -> Vec<Json> {
    (1..=length).map(|position| json!({ "position": position, "length": length })).collect()
}

#[tokio::test]
async fn requests_are_served_in_the_order_in_which_they_came() {
    on_every_backend(async |place| {
        let server = server_of(&place, "10", "60s").await;
        let first = hold(&server).await;
        let (mut streams, mut runs) = (Vec::new(), Vec::new());
        for length in 1..=6 {
            let (stream, run) = wait_behind(&server).await;
            streams.push(stream);
            runs.push(run);
            assert_eq!(places(&server, &runs).await, in_a_row(length));
        }
        // One gives up, one is cancelled; those behind them move up.
        let left = Instant::now();
        drop(streams.remove(1));
        cancelled(&server, &runs.remove(1), left).await;
        assert_eq!(places(&server, &runs).await, in_a_row(5));
        let ended = server.request(Method::DELETE, &run_path(&runs[2]), &[]).await;
        assert_eq!(ended.status, 202);
        cancelled(&server, &runs.remove(2), Instant::now()).await;
        let mut refused = streams.remove(2);
        refused.head().await;
        assert_eq!(refused.status(), 409);
        assert_eq!(places(&server, &runs).await, in_a_row(4));

        drop(first);
        let mut started = Vec::new();
        for (stream, run) in streams.iter_mut().zip(&runs) {
            stream.head().await;
            assert_eq!((stream.status(), &stream.run()), (200, run));
            stream.body().await;
            let run = server.until_run(run, |run| run["state"] == "complete", LONG).await;
            assert_eq!(run["queue"], Json::Null);
            started.push(run["started_at"].as_str().expect("a time").to_owned());
        }
        assert!(started.is_sorted_by(|earlier, later| earlier < later), "{started:?}");
        server.stop().await;
    })
    .await;
}
