//! A reader who takes nothing is broken off after `stall_timeout`; one who is slow is not.

use std::time::{Duration, Instant};

use super::{LONG, failed, long_report, nothing_works, rows};
use crate::support::{Backend, End, Place, Server, Stream, on_every_backend};

const STALL: Duration = Duration::from_secs(2);

#[tokio::test]
async fn a_reader_who_stops_reading_is_broken_off() {
    on_every_backend(async |place| {
        long_report(&place, 5_000_000);
        let settings = [("stall_timeout", "2s"), ("streams", "1"), ("queue_wait", "1s")];
        let server = Server::start(&place, &settings).await;
        for (format, coding) in [("ndjson", "identity"), ("csv", "gzip")] {
            let path = format!("{}?format={format}", rows("long"));
            let headers = [("Accept-Encoding", coding)];
            let mut stream =
                Stream::send_with_buffer(&server, &path, &headers, Some(16 << 10)).await;
            let begun = Instant::now();
            stream.head().await;
            let run = stream.run();
            let over = server.until_run(&run, |run| run["state"] != "running", LONG).await;
            let (over_after, over_at) = (begun.elapsed(), Instant::now());
            assert!(over_after >= STALL, "{over_after:?}: {over}");
            assert!(over_after < 2 * STALL, "{over_after:?}: {over}");
            failed(&server, &run, "stalled").await;
            nothing_works(&server, over_at).await;
            // Once it looks again, it finds the connection closed and the body cut.
            let body = tokio::time::timeout(LONG, stream.body()).await;
            assert_eq!(body.expect("the server closed the connection").end, End::BrokenOff);
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_slow_reader_who_reads_steadily_is_not_broken_off() {
    let place = Place::new(Backend::Sqlite).await;
    long_report(&place, 5_000_000);
    let server = Server::start(&place, &[("stall_timeout", "2s")]).await;
    let mut stream = Stream::send_with_buffer(&server, &rows("long"), &[], Some(16 << 10)).await;
    stream.head().await;
    // 64 KiB each half second.
    stream.limit_rate(128 << 10);
    let begun = Instant::now();
    while begun.elapsed() < 5 * STALL {
        let chunk = stream.next_chunk().await;
        assert!(chunk.is_some(), "broken off after {:?}", begun.elapsed());
    }
    let run = server.run(&stream.run()).await;
    assert_eq!(run["state"], "running", "{run}");
    drop(stream);
    server.stop().await;
}

#[tokio::test]
async fn a_small_answer_is_complete_though_nobody_reads_it() {
    on_every_backend(async |place| {
        long_report(&place, 2_000);
        let server = Server::start(&place, &[("stall_timeout", "2s")]).await;
        let stream = Stream::send(&server, &rows("long"), &[]).await;
        let mut run = server.newest_run().await;
        let begun = Instant::now();
        while run.as_ref().is_none_or(|run| run["state"] != "complete") {
            assert!(begun.elapsed() < STALL, "{run:?}");
            run = server.newest_run().await;
        }
        drop(stream);
        server.stop().await;
    })
    .await;
}
