//! Large answers and slow readers: nothing is kept in nginx, and what broke is resumed through it.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::Value as Json;

use super::forget;
use crate::faults::{SECOND, long_report, rows};
use crate::support::{Body, End, Nginx, Server, Stream, behind_nginx, once_behind_nginx};

/// What nginx's worker may grow by for one slow reader, in KiB: a buffer or two.
const GROWTH: u64 = 2_048;

#[tokio::test]
async fn a_slow_reader_of_a_large_answer_has_nothing_kept_in_nginx() {
    behind_nginx(async |place| {
        long_report(&place, 1_000_000);
        let server = Server::start(&place, &[]).await;
        let nginx = Nginx::start(&place, &server, &[]).await;
        // What a worker takes once, at its first request, is not of the reader.
        nginx.get(&format!("{}?limit=10", rows("long"))).await;
        let before = nginx.rss_kib();
        for delivery in ["direct", "prepared"] {
            let path = format!("{}?delivery={delivery}", rows("long"));
            let mut stream = Stream::send_with_buffer(&nginx, &path, &[], Some(64 << 10)).await;
            stream.head().await;
            stream.limit_rate(2 << 20);
            let begun = Instant::now();
            let mut read = 0;
            while begun.elapsed() < Duration::from_secs(3) {
                read += stream.next_chunk().await.expect("there is more").bytes.len();
                assert_eq!(nginx.temporary_files(), Vec::<std::path::PathBuf>::new());
                let grown = nginx.rss_kib().saturating_sub(before);
                assert!(grown < GROWTH, "{grown} KiB for {delivery}");
            }
            // The same to its end as fast as it comes.
            stream.limit_rate(u32::MAX);
            while let Some(chunk) = stream.next_chunk().await {
                read += chunk.bytes.len();
            }
            assert_eq!(stream.end(), End::Complete);
            assert_eq!(nginx.temporary_files(), Vec::<std::path::PathBuf>::new());
            let run = server.run(&stream.run()).await;
            assert_eq!((&run["state"], &run["bytes"]), (&"complete".into(), &read.into()), "{run}");
            if delivery == "prepared" {
                forget(&server, &stream.run()).await;
            }
        }
        nginx.stop().await;
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_slow_reader_who_reads_steadily_is_not_broken_off() {
    once_behind_nginx(async |place| {
        long_report(&place, 5_000_000);
        let settings = [("stall_timeout", "2s")];
        let server = Server::start(&place, &settings).await;
        let nginx = Nginx::start(&place, &server, &settings).await;
        let mut stream = Stream::send_with_buffer(&nginx, &rows("long"), &[], Some(16 << 10)).await;
        stream.head().await;
        // 1 MiB within the time-out.
        stream.limit_rate(512 << 10);
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(10) {
            let chunk = stream.next_chunk().await;
            assert!(chunk.is_some(), "broken off after {:?}", begun.elapsed());
        }
        let run = server.run(&stream.run()).await;
        assert_eq!(run["state"], "running", "{run}");
        drop(stream);
        nginx.stop().await;
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_prepared_file_is_resumed_by_range_after_its_first_connection_broke() {
    behind_nginx(async |place| {
        long_report(&place, 50_000);
        let server = Server::start(&place, &[]).await;
        let nginx = Nginx::start(&place, &server, &[]).await;
        let path = format!("{}?delivery=prepared", rows("long"));
        let mut stream = Stream::get(&nginx, &path, &[]).await;
        let begun = stream.next_chunk().await.expect("some bytes").bytes;
        let header = |name| stream.header(name).expect("the file says it").to_owned();
        let (run, etag, digest) = (stream.run(), header("etag"), header("repr-digest"));
        let (location, size) = (header("content-location"), header("content-length"));
        assert_eq!(location, format!("/api/v1/runs/{run}/file"));
        assert_eq!(header("accept-ranges"), "bytes");
        drop(stream);

        // A proxy that codes would weaken the tag.
        let coded = [("Accept-Encoding", "gzip, zstd")];
        let whole = nginx.request(Method::GET, &location, &coded).await;
        let direct = server.get(&location).await;
        assert_eq!(whole.body, direct.body);
        assert_eq!(whole.body.len().to_string(), size);
        for name in ["etag", "repr-digest", "content-type", "content-disposition", "accept-ranges"]
        {
            assert_eq!(whole.header(name), direct.header(name), "{name}");
        }
        assert_eq!(
            (whole.header("etag"), whole.header("repr-digest")),
            (Some(&*etag), Some(&*digest))
        );
        assert!(whole.body.starts_with(&begun) && begun.len() < whole.body.len());

        let asked =
            async |headers: &[(&str, &str)]| nginx.request(Method::GET, &location, headers).await;
        let from = begun.len();
        let range = format!("bytes={from}-");
        let part = asked(&[("Range", &range), ("If-Range", &etag)]).await;
        let content_range = format!("bytes {from}-{}/{size}", whole.body.len() - 1);
        assert_eq!((part.status, part.header("content-range")), (206, Some(&*content_range)));
        assert_eq!(part.body, whole.body[from..]);
        let other = asked(&[("Range", &range), ("If-Range", "\"x\"")]).await;
        assert_eq!((other.status, other.body.len()), (200, whole.body.len()));
        asked(&[("Range", "bytes=99999999-")]).await.problem(416, "range_not_satisfiable");
        assert_eq!(asked(&[("If-None-Match", &etag)]).await.status, 304);
        asked(&[("If-Match", "\"x\"")]).await.problem(412, "precondition_failed");
        let head = nginx.request(Method::HEAD, &location, &[]).await;
        assert_eq!((head.status, head.body.len()), (200, 0));
        assert_eq!(head.header("content-length"), Some(&*size));
        forget(&server, &run).await;
        asked(&[]).await.problem(410, "gone");
        nginx.stop().await;
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_whole_answer_is_whole_and_its_headers_are_those_of_the_server() {
    behind_nginx(async |place| {
        long_report(&place, 60_000);
        let server = Server::start(&place, &[]).await;
        let nginx = Nginx::start(&place, &server, &[]).await;
        for coding in ["identity", "gzip", "zstd"] {
            let headers = [("Accept-Encoding", coding)];
            let mut stream = Stream::get(&nginx, &rows("long"), &headers).await;
            let mut alone = Stream::get(&server, &rows("long"), &headers).await;
            for name in [
                "content-type",
                "content-disposition",
                "content-encoding",
                "transfer-encoding",
                "cache-control",
                "vary",
                "x-accel-buffering",
            ] {
                assert_eq!(stream.header(name), alone.header(name), "{name}");
            }
            let Body { bytes, end, .. } = stream.body().await;
            assert_eq!(end, End::Complete);
            let whole = |run: &Json| run["state"] == "complete" && run["bytes"] == bytes.len();
            server.until_run(&stream.run(), whole, SECOND).await;
            alone.body().await;
        }
        let checked = nginx.request(Method::HEAD, &rows("long"), &[]).await;
        assert_eq!((checked.status, checked.body.len()), (200, 0));
        assert_eq!(checked.header("x-run-id"), None, "nothing was begun");
        let refused = nginx.request(Method::HEAD, &format!("{}?limit=x", rows("long")), &[]).await;
        assert_eq!((refused.status, refused.body.len()), (400, 0));
        nginx.stop().await;
        server.stop().await;
    })
    .await;
}
