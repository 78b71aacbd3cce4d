//! Permits: who comes too late waits, not too many of them, and not too long.

use std::time::{Duration, Instant};

use serde_json::Value as Json;

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
    let stream = Stream::send(server, &rows("short"), &[]).await;
    let run = until("the request waits", SECOND, async || {
        let runs = server.json("/api/v1/runs?state=queued").await;
        runs["items"][0]["id"].as_str().map(str::to_owned)
    })
    .await;
    (stream, run)
}

#[track_caller]
fn assert_busy(answer: &Answer) {
    answer.problem(429, "busy");
    let after = answer.header("retry-after").and_then(|after| after.parse::<u64>().ok());
    assert!(after >= Some(1), "Retry-After is whole seconds: {after:?}");
}

async fn one_permit<'p>(place: &'p Place, queue_wait: &str) -> Server<'p> {
    long_report(place, 5_000_000);
    short_report(place);
    let settings = [("streams", "1"), ("queue", "1"), ("queue_wait", queue_wait)];
    Server::start(place, &settings).await
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

        assert_eq!(server.run(&run).await["state"], "queued");
        drop(first);
        let ended = Instant::now();
        second.head().await;
        assert!(ended.elapsed() < SECOND, "the second is served after {:?}", ended.elapsed());
        assert_eq!((second.status(), second.run()), (200, run.clone()));
        second.body().await;
        let served = server.until_run(&run, |run| run["state"] == "complete", SECOND).await;
        assert!(served["timings_ms"]["queue"].as_u64() > Some(0), "{served}");
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
        assert_eq!(server.run(&second.run()).await["error"]["code"], "busy");
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
        let left = Instant::now();
        drop(second);
        let over = cancelled(&server, &run, left).await;
        assert_eq!(over["started_at"], Json::Null, "{over}");
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
