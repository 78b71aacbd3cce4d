//! An answer that was broken off looks broken off, whatever ended it and whatever the client speaks.

use std::time::{Duration, Instant};

use futures::StreamExt;
use futures::future::join_all;
use reqwest::Method;
use serde_json::Value as Json;

use super::{forget, old_client};
use crate::faults::breaks::{
    GOOD, SLOW, assert_beginning, assert_cut, begin, end_session, failing_report, ways,
};
use crate::faults::{LONG, failed, long_report, nothing_works, numbers, report, rows, whole_rows};
use crate::support::{
    Backend, End, Listens, Nginx, Place, Server, Stream, behind_nginx, curl, once_behind_nginx,
    until,
};

#[tokio::test]
async fn a_query_that_fails_midway_breaks_the_answer_off() {
    behind_nginx(async |place| {
        failing_report(&place, "failing", GOOD + 1);
        let server = Server::start(&place, &[]).await;
        let nginx = Nginx::start(&place, &server, &[]).await;
        for rate in [None, Some(SLOW)] {
            join_all(ways().map(async |way| {
                let mut stream = begin(&nginx, "failing", way, rate).await;
                let body = stream.body().await;
                assert_cut(way.0, &body);
                assert_beginning(way, whole_rows(way.0, &body.bytes), GOOD);
                failed(&server, &stream.run(), "query_failed").await;
            }))
            .await;
            nothing_works(&server, Instant::now()).await;
        }
        nginx.stop().await;
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_value_that_cannot_be_read_breaks_the_answer_off() {
    behind_nginx(async |place| {
        // A text among the numbers, the decimals, the documents.
        let (kind, value) = place.backend().pick(
            ("int", "g"),
            ("decimal", "concat(g, '')"),
            ("json", "concat(g, '')"),
        );
        let (at, from) = (GOOD + 1, numbers(place.backend(), 60_000));
        let sql = format!(
            "SELECT g AS id, CASE WHEN g = {at} THEN 'many' ELSE {value} END AS v FROM {from} AS numbers"
        );
        report(&place, "spoilt", &[("id", "int"), ("v", kind)], &sql);
        let server = Server::start(&place, &[]).await;
        let nginx = Nginx::start(&place, &server, &[]).await;
        join_all(ways().map(async |way| {
            let mut stream = begin(&nginx, "spoilt", way, None).await;
            let body = stream.body().await;
            assert_cut(way.0, &body);
            assert_beginning(way, whole_rows(way.0, &body.bytes), GOOD);
            failed(&server, &stream.run(), "undecodable_value").await;
        }))
        .await;
        nginx.stop().await;
        server.stop().await;
    })
    .await;
}

/// Waits until a run has come to its middle, and ends what it reads from: its session where there is
/// one, else itself.
async fn end_midway(place: &Place, server: &Server<'_>, run: &str) {
    server.until_run(run, |run| run["rows"].as_u64() >= Some(GOOD), LONG).await;
    if place.backend() == Backend::Sqlite {
        let path = format!("/api/v1/runs/{run}");
        assert_eq!(server.request(Method::DELETE, &path, &[]).await.status, 202);
    } else {
        end_session(place, run).await;
    }
}

#[tokio::test]
async fn a_session_that_dies_breaks_the_answer_off() {
    behind_nginx(async |place| {
        long_report(&place, 5_000_000);
        let server = Server::start(&place, &[]).await;
        let nginx = Nginx::start(&place, &server, &[]).await;
        for rate in [None, Some(SLOW)] {
            join_all(ways().map(async |way| {
                let mut stream = begin(&nginx, "long", way, rate).await;
                let run = stream.run();
                let ending = end_midway(&place, &server, &run);
                let (body, ()) = futures::join!(stream.body(), ending);
                assert_cut(way.0, &body);
                let run = server.until_run(&run, |run| run["state"] != "running", LONG).await;
                let encoded = run["rows"].as_u64().unwrap_or_default();
                assert_beginning(way, whole_rows(way.0, &body.bytes), encoded);
            }))
            .await;
        }
        nginx.stop().await;
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_server_that_is_killed_breaks_the_answer_off() {
    once_behind_nginx(async |place| {
        long_report(&place, 5_000_000);
        let server = Server::start(&place, &[]).await;
        let nginx = Nginx::start(&place, &server, &[]).await;
        let streams = ways().map(|way| begin(&nginx, "long", way, Some(SLOW)));
        let mut streams = join_all(streams).await;
        server.kill("KILL");
        server.exited(LONG).await;
        for (stream, way) in streams.iter_mut().zip(ways()) {
            assert_cut(way.0, &stream.body().await);
        }
        nginx.get(&rows("long")).await.problem(502, "server_away");
        nginx.stop().await;
    })
    .await;
}

/// The newest run, once it streams.
async fn streaming(server: &Server<'_>) -> String {
    until("a run streams", LONG, async || {
        let run = server.newest_run().await.filter(|run| run["state"] == "running")?;
        run["id"].as_str().map(str::to_owned)
    })
    .await
}

#[tokio::test]
async fn curl_and_reqwest_tell_that_an_answer_is_not_whole() {
    behind_nginx(async |place| {
        long_report(&place, 5_000_000);
        let server = Server::start(&place, &[("streams", "1"), ("queue_wait", "1s")]).await;
        let nginx = Nginx::start(&place, &server, &[]).await;
        let ending = async || end_midway(&place, &server, &streaming(&server).await).await;
        let file = place.path().join("answer");
        for (format, _) in ways() {
            for more in [["--http1.1"].as_slice(), &["--http1.1", "--compressed"]] {
                let url = nginx.url(&format!("{}?format={format}", rows("long")));
                let mut arguments = more.to_vec();
                arguments.extend(["-o", file.to_str().expect("a path in UTF-8"), &url]);
                let (curl, ()) = futures::join!(curl(&arguments), ending());
                assert!(matches!(curl.code, Some(18 | 56)), "{format} {more:?}: {curl:?}");
                server.settled().await;
            }
        }
        let reading = async {
            let answer = reqwest::get(nginx.url(&rows("long"))).await.expect("a head");
            answer.bytes_stream().all(async |chunk| chunk.is_ok()).await
        };
        assert!(!futures::join!(reading, ending()).0, "reqwest reports an error");
        nginx.stop().await;
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_client_of_http_2_tells_that_an_answer_is_not_whole() {
    once_behind_nginx(async |place| {
        long_report(&place, 5_000_000);
        let server = Server::start(&place, &[]).await;
        // As in the comment, but without a certificate.
        let http_2 = |site: &str| {
            let lines = site.lines().map(|line| match line.strip_suffix(';') {
                Some(listen) if listen.trim().starts_with("listen ") => {
                    format!("{listen} http2;\n")
                }
                Some(_) | None => format!("{line}\n"),
            });
            lines.collect()
        };
        let nginx = Nginx::start_with(&place, server.address(), &[], http_2).await;
        let (file, url) = (place.path().join("answer"), nginx.url(&rows("long")));
        let file = file.to_str().expect("a path in UTF-8");
        let arguments = ["--http2-prior-knowledge", "-o", file, &url];
        let ending = async { end_midway(&place, &server, &streaming(&server).await).await };
        let (cut, ()) = futures::join!(curl(&arguments), ending);
        // 92: the stream was reset.
        assert!(matches!(cut.code, Some(18 | 56 | 92)), "{cut:?}");
        assert!(std::fs::metadata(file).is_ok_and(|file| file.len() > 1_000_000), "rows came");
        let url = nginx.url(&format!("{}?delivery=direct", rows("long")));
        let head = curl(&["--http2-prior-knowledge", "-I", &url]).await.expect_success();
        assert!(head.text().starts_with("HTTP/2 200"), "{}", head.text());
        nginx.stop().await;
        server.stop().await;
    })
    .await;
}

const STALL: Duration = Duration::from_secs(2);

#[tokio::test]
async fn a_reader_who_stops_reading_is_broken_off_by_the_server() {
    behind_nginx(async |place| {
        long_report(&place, 5_000_000);
        let settings = [("stall_timeout", "2s"), ("streams", "1"), ("queue_wait", "1s")];
        let server = Server::start(&place, &settings).await;
        let nginx = Nginx::start(&place, &server, &settings).await;
        let mut stream = Stream::send_with_buffer(&nginx, &rows("long"), &[], Some(16 << 10)).await;
        let begun = Instant::now();
        stream.head().await;
        let run = stream.run();
        let over = server.until_run(&run, |run| run["state"] != "running", LONG).await;
        assert!(begun.elapsed() >= STALL && begun.elapsed() < 3 * STALL, "{over}");
        failed(&server, &run, "stalled").await;
        nothing_works(&server, Instant::now()).await;
        // Once it looks again, it finds what nginx still had, and then the cut.
        let body = tokio::time::timeout(LONG, stream.body()).await;
        assert_cut("ndjson", &body.expect("nginx closed the connection"));
        nginx.stop().await;
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_client_of_http_1_0_gets_a_whole_file_or_a_refusal_and_never_a_cut_one() {
    behind_nginx(async |place| {
        long_report(&place, 2_000);
        failing_report(&place, "failing", GOOD + 1);
        let server = Server::start(&place, &[]).await;
        let nginx = Nginx::start(&place, &server, &[]).await;
        for format in ["ndjson", "json", "csv"] {
            let path = format!("{}?format={format}", rows("long"));
            let (head, body) = old_client(&nginx, &path, "").await;
            assert!(head.contains(" 200 ") && !head.contains("transfer-encoding"), "{head}");
            assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "{head}");
            assert_eq!(whole_rows(format, &body), 2_000);
            let run = server.newest_run().await.expect("a run");
            assert_eq!(run["state"], "complete");
            forget(&server, run["id"].as_str().expect("an id")).await;

            let path = format!("{}?format={format}&delivery=direct", rows("failing"));
            let (head, body) = old_client(&nginx, &path, "").await;
            assert!(head.contains(" 500 ") && head.contains("application/problem+json"), "{head}");
            let problem: Json = serde_json::from_slice(&body).expect("a problem");
            assert_eq!(problem["code"], "query_failed", "{problem}");
        }
        nginx.stop().await;
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_client_of_http_1_0_behind_a_further_proxy_gets_a_whole_file() {
    once_behind_nginx(async |place| {
        long_report(&place, 2_000);
        let server = Server::start(&place, &[]).await;
        let nginx = Nginx::start(&place, &server, &[]).await;
        for (via, chunked) in
            [("1.0 old", false), ("1.1 new, HTTP/1.0 old", false), ("1.1 new", true)]
        {
            let mut stream = Stream::get(&nginx, &rows("long"), &[("Via", via)]).await;
            assert_eq!(stream.header("content-length").is_none(), chunked, "{via}");
            assert_eq!(stream.body().await.end, End::Complete);
            if !chunked {
                forget(&server, &stream.run()).await;
            }
        }
        // Before HTTP/1.0 there was nothing by which a refusal could be told from an answer.
        let mut socket = tokio::net::TcpStream::connect(nginx.address()).await.expect("a socket");
        let answer = super::exchange(&mut socket, &format!("GET {}\r\n", rows("long"))).await;
        let problem: Json = serde_json::from_slice(&answer).expect("a problem without a head");
        assert_eq!(problem["status"], 400, "{problem}");
        nginx.stop().await;
        server.stop().await;
    })
    .await;
}
