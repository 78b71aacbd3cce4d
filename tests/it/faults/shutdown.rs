//! What a server that is told to stop does with what goes on, and what becomes of the runs of one
//! that dies.

use std::time::{Duration, Instant};

use futures::future::join_all;
use serde_json::Value as Json;

use super::{LONG, SECOND, assert_failed, long_report, rows};
use crate::support::{Backend, End, Place, Server, Stream, backends, on_every_backend, until};

/// What a dead process's runs may take to be given up.
const NODE_LOST: Duration = Duration::from_secs(15);

/// A run as the next server on the same state finds it.
async fn found_later(place: &Place, run: &str) -> Json {
    let server = Server::start(place, &[]).await;
    let run = server.run(run).await;
    server.stop().await;
    run
}

/// What a request comes to that meets a stopping server: its status, or nothing where it was refused
/// or cut off.
async fn knock(url: &str) -> Option<u16> {
    let client = reqwest::Client::builder().no_proxy().build().expect("a client can be made");
    let answer = tokio::time::timeout(LONG, client.get(url).send()).await;
    let answer = answer.expect("nobody is left waiting");
    answer.ok().map(|answer| answer.status().as_u16())
}

#[tokio::test]
async fn a_server_that_is_told_to_stop_breaks_off_what_takes_too_long() {
    on_every_backend(async |place| {
        long_report(&place, 5_000_000);
        let server = Server::start(&place, &[("shutdown_timeout", "1s")]).await;
        let mut stream = Stream::get(&server, &rows("long"), &[]).await;
        stream.next_chunk().await.expect("the first batch");
        let run = stream.run();

        server.kill("TERM");
        let told = Instant::now();
        let reading = async {
            // Slow enough to be in the middle when the time is up.
            stream.limit_rate(500_000);
            while stream.next_chunk().await.is_some() {
                if told.elapsed() > 2 * SECOND {
                    stream.limit_rate(u32::MAX);
                }
            }
            (stream.end(), told.elapsed())
        };
        let (status, (end, after)) = futures::join!(server.exited(LONG), reading);
        assert_eq!(status.code(), Some(0));
        assert_eq!(end, End::BrokenOff);
        assert!(after >= Duration::from_secs(1), "it had its second: {after:?}");
        assert_failed(&found_later(&place, &run).await, "shutting_down");
    })
    .await;
}

#[tokio::test]
async fn a_server_that_is_told_to_stop_ends_within_its_time() {
    on_every_backend(async |place| {
        long_report(&place, 5_000_000);
        let server = Server::start(&place, &[("shutdown_timeout", "1s")]).await;
        let mut stream = Stream::get(&server, &rows("long"), &[]).await;
        stream.next_chunk().await.expect("the first batch");
        let run = stream.run();
        // It reads nothing more, and so cannot be told either.
        server.kill("TERM");
        let told = Instant::now();
        assert_eq!(server.exited(LONG).await.code(), Some(0));
        let after = told.elapsed();
        // The second for what goes on, and what actix gives open connections.
        assert!(after < Duration::from_secs(6), "{after:?}");
        assert_failed(&found_later(&place, &run).await, "shutting_down");
    })
    .await;
}

#[tokio::test]
async fn a_server_that_is_told_to_stop_lets_what_is_short_come_to_its_end() {
    on_every_backend(async |place| {
        long_report(&place, 100_000);
        let server = Server::start(&place, &[("shutdown_timeout", "20s")]).await;
        let mut stream =
            Stream::send_with_buffer(&server, &rows("long"), &[], Some(16 << 10)).await;
        stream.head().await;
        let run = stream.run();
        server.kill("TERM");
        stream.limit_rate(4_000_000);
        let told = Instant::now();
        let (status, body) = futures::join!(server.exited(LONG), stream.body());
        assert_eq!(status.code(), Some(0));
        assert!(told.elapsed() < Duration::from_secs(10), "it ends when nothing goes on any more");
        assert_eq!(body.end, End::Complete);
        let run = found_later(&place, &run).await;
        assert_eq!((&run["state"], &run["rows"]), (&"complete".into(), &100_000.into()), "{run}");
        assert_eq!(run["bytes"], body.bytes.len(), "{run}");
    })
    .await;
}

#[tokio::test]
async fn a_request_that_meets_a_stopping_server_is_refused_at_once() {
    let place = Place::new(Backend::Sqlite).await;
    long_report(&place, 5_000_000);
    let server = Server::start(&place, &[("shutdown_timeout", "20s")]).await;
    let mut stream = Stream::get(&server, &rows("long"), &[]).await;
    stream.next_chunk().await.expect("the first batch");
    let url = server.url("/api/v1/reports");
    // Its connection stays open, and so is there when no other is taken any more.
    let kept = reqwest::Client::builder().no_proxy().build().expect("a client can be made");
    let answer = kept.get(&url).send().await.expect("the server answers");
    assert_eq!(answer.status(), 200);
    answer.bytes().await.expect("the answer can be read");

    server.kill("TERM");
    until("the server stops", LONG, async || server.log().contains("stopping").then_some(())).await;
    let begun = Instant::now();
    let answer = tokio::time::timeout(SECOND, kept.get(&url).send()).await;
    let answer = answer.expect("it is refused at once");
    // It may have been closed already, for nothing went on over it.
    if let Ok(answer) = answer {
        assert_eq!(answer.status(), 503);
        assert!(answer.headers().contains_key("retry-after"));
    }
    let answer = knock(&url).await;
    assert!(begun.elapsed() < SECOND, "{answer:?} after {:?}", begun.elapsed());
    assert!(matches!(answer, None | Some(503)), "{answer:?}");

    drop(stream);
    assert_eq!(server.exited(LONG).await.code(), Some(0));
}

#[tokio::test]
async fn an_idle_server_stops_at_once() {
    on_every_backend(async |place| {
        let server = Server::start(&place, &[]).await;
        server.json("/health/live").await;
        server.kill("TERM");
        let told = Instant::now();
        assert_eq!(server.exited(LONG).await.code(), Some(0));
        assert!(told.elapsed() < 2 * SECOND, "{:?}", told.elapsed());
    })
    .await;
}

#[tokio::test]
async fn a_dead_process_loses_its_runs_and_a_living_one_keeps_its_own() {
    // Beside each other, for it is mostly waiting.
    join_all(backends().into_iter().map(async |backend| {
        let place = Place::new(backend).await;
        long_report(&place, 5_000_000);
        let dying = Server::start(&place, &[]).await;
        let living = Server::start(&place, &[]).await;
        let mut of_dying = Stream::get(&dying, &rows("long"), &[]).await;
        let mut of_living = Stream::get(&living, &rows("long"), &[]).await;
        of_dying.next_chunk().await.expect("the first batch");
        of_living.next_chunk().await.expect("the first batch");
        let (lost, kept) = (of_dying.run(), of_living.run());
        let (of_lost, of_kept) = (living.run(&lost).await, living.run(&kept).await);
        assert_ne!(of_lost["node"], of_kept["node"], "each has its own process");

        dying.kill("KILL");
        let died = Instant::now();
        let status = dying.exited(LONG).await;
        assert_eq!(status.code(), None);
        while of_dying.next_chunk().await.is_some() {}
        assert_eq!(of_dying.end(), End::BrokenOff);

        let restarted = Server::start(&place, &[]).await;
        loop {
            let run = restarted.run(&lost).await;
            if run["state"] == "failed" {
                assert_failed(&run, "node_lost");
                break;
            }
            assert!(died.elapsed() < NODE_LOST, "{run}");
            let run = living.run(&kept).await;
            assert_eq!(run["state"], "running", "{run}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        assert_eq!(living.run(&kept).await["state"], "running");
        assert_eq!(restarted.run(&kept).await["state"], "running", "seen from another process");
        assert!(of_living.next_chunk().await.is_some());
        // The session of the dead is gone too; its socket was closed.
        drop(of_living);
        restarted.stop().await;
        living.stop().await;
    }))
    .await;
}

#[tokio::test]
async fn a_run_of_another_process_can_be_cancelled() {
    on_every_backend(async |place| {
        long_report(&place, 5_000_000);
        let one = Server::start(&place, &[]).await;
        let other = Server::start(&place, &[]).await;
        let mut stream = Stream::get(&one, &rows("long"), &[]).await;
        stream.next_chunk().await.expect("the first batch");
        let run = stream.run();
        let path = format!("/api/v1/runs/{run}");
        let answer = other.request(reqwest::Method::DELETE, &path, &[]).await;
        assert_eq!(answer.status, 202);
        // Its own process looks once a second.
        other.until_run(&run, |run| run["state"] == "cancelled", 3 * SECOND).await;
        while stream.next_chunk().await.is_some() {}
        assert_eq!(stream.end(), End::BrokenOff);
        other.stop().await;
        one.stop().await;
    })
    .await;
}
