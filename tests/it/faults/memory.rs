//! Memory does not grow with the row count, nor with the slowness of the reader.

use std::time::{Duration, Instant};

use futures::future::join_all;

use crate::support::{Backend, End, Place, Server, Stream, on_every_backend, on_every_server};

const ROWS: u64 = 300_000;
const MIB: u64 = 1 << 10;
/// What one stream may take beyond an idle server.
const ONE: u64 = 32 * MIB;
/// What each of many may take on top of that.
const EACH: u64 = 4 * MIB;

const WAYS: [(&str, &str); 5] = [
    ("ndjson", "identity"),
    ("json", "identity"),
    ("csv", "identity"),
    ("ndjson", "gzip"),
    ("ndjson", "zstd"),
];

async fn stream(
    server: &Server<'_>,
    (format, coding): (&str, &str),
    buffer: Option<u32>,
) -> Stream {
    let path = format!("/api/v1/reports/settlements/rows?format={format}");
    let headers = [("Accept-Encoding", coding)];
    let mut stream = Stream::send_with_buffer(server, &path, &headers, buffer).await;
    stream.head().await;
    assert_eq!(stream.status(), 200);
    stream
}

/// Sets the most memory that was ever resident to what is resident now.
pub(crate) fn forget_peak(server: &Server<'_>) {
    std::fs::write(format!("/proc/{}/clear_refs", server.pid()), "5").expect("Linux takes it");
}

/// Memory of a server that has served and is at rest.
async fn idle(server: &Server<'_>) -> u64 {
    server.get("/api/v1/reports/settlements/rows?limit=10").await;
    server.settled().await;
    forget_peak(server);
    server.rss_kib()
}

#[track_caller]
pub(crate) fn assert_within(server: &Server<'_>, idle: u64, limit: u64, what: &str) {
    let grown = server.peak_kib().saturating_sub(idle);
    eprintln!("{what}: {grown} KiB beyond {idle} KiB");
    assert!(grown <= limit, "{what}: {grown} KiB beyond {idle} KiB, more than {limit} KiB");
}

/// Reads to the end without keeping anything; gives back how many bytes came.
async fn read_out(stream: &mut Stream) -> usize {
    let mut bytes = 0;
    while let Some(chunk) = stream.next_chunk().await {
        bytes += chunk.bytes.len();
    }
    bytes
}

async fn fast_and_slow(place: &Place) {
    place.demo(ROWS).await;
    let server = Server::start(place, &[]).await;
    let idle = idle(&server).await;
    for way in WAYS {
        forget_peak(&server);
        let mut fast = stream(&server, way, None).await;
        read_out(&mut fast).await;
        assert_eq!(fast.end(), End::Complete);
        let run = server.run(&fast.run()).await;
        assert_eq!(run["rows"], ROWS, "{run}");
        assert_within(&server, idle, ONE, &format!("{way:?} to a fast reader"));

        forget_peak(&server);
        let mut slow = stream(&server, way, Some(16 << 10)).await;
        slow.limit_rate(1 << 20);
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(1_500) {
            slow.next_chunk().await.expect("there is more");
        }
        drop(slow);
        assert_within(&server, idle, ONE, &format!("{way:?} to a slow reader"));
        server.settled().await;
    }
    server.stop().await;
}

#[tokio::test]
async fn one_stream_stays_within_32_mib_on_sqlite() {
    fast_and_slow(&Place::new(Backend::Sqlite).await).await;
}

#[tokio::test]
async fn one_stream_stays_within_32_mib_on_every_server() {
    on_every_server(async |place| fast_and_slow(&place).await).await;
}

#[tokio::test]
async fn twenty_streams_stay_within_4_mib_each() {
    on_every_backend(async |place| {
        place.demo(50_000).await;
        let server = Server::start(&place, &[]).await;
        let idle = idle(&server).await;
        // Each way four times; half of the readers are slower than the server.
        let streams = (0..20).map(async |number| {
            let buffer = (number % 2 == 1).then_some(16 << 10);
            let mut stream = stream(&server, WAYS[number % 5], buffer).await;
            if buffer.is_some() {
                stream.limit_rate(4 << 20);
            }
            read_out(&mut stream).await;
            assert_eq!(stream.end(), End::Complete);
        });
        join_all(streams).await;
        assert_within(&server, idle, 20 * EACH + ONE, "twenty streams");
        server.stop().await;
    })
    .await;
}
