//! Files that are built first: whole or not there, resumed after a break, gone when nobody wants them.

use std::time::{Duration, Instant};

use futures::future::join_all;
use reqwest::Method;
use sha2::{Digest, Sha256};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{
    LONG, SECOND, at_work_without_a_row, cancelled, failed, long_report, nothing_is_kept,
    nothing_works, report, rows, short_report, sorting_report,
};
use crate::support::{Server, Stream, on_every_backend, until};

/// Forgets a run's file, as whoever has it would.
async fn forget(server: &Server<'_>, run: &str) {
    let path = format!("/api/v1/runs/{run}");
    assert_eq!(server.request(Method::DELETE, &path, &[]).await.status, 204);
}

#[tokio::test]
async fn a_prepared_answer_is_the_direct_one_with_a_length_and_a_name_of_its_own() {
    on_every_backend(async |place| {
        long_report(&place, 20_000);
        let server = Server::start(&place, &[]).await;
        for format in ["ndjson", "json", "csv"] {
            let path = format!("{}?format={format}", rows("long"));
            let prepared = server.get(&format!("{path}&delivery=prepared")).await;
            assert_eq!(prepared.status, 200, "{}", prepared.text());
            let sha256 = Sha256::digest(&prepared.body);
            let sha256 = sha256.iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
            let run = prepared.run();
            let length = prepared.body.len().to_string();
            assert_eq!(prepared.header("content-length"), Some(&*length));
            assert_eq!(prepared.header("etag"), Some(&*format!("\"{sha256}\"")));
            assert_eq!(prepared.header("accept-ranges"), Some("bytes"));
            assert_eq!(prepared.header("content-encoding"), None);
            let location = format!("/api/v1/runs/{run}/file");
            assert_eq!(prepared.header("content-location"), Some(&*location));
            assert!(prepared.header("server-timing").is_some_and(|value| value.contains("queue")));
            let seen = server.run(&run).await;
            assert_eq!((&seen["state"], &seen["rows"]), (&"complete".into(), &20_000.into()));
            assert_eq!(seen["sha256"], sha256);
            server.until_run(&run, |run| run["sent_bytes"] == prepared.body.len(), SECOND).await;
            // Who asks for the head alone is sent nothing.
            let head = server.request(Method::HEAD, &location, &[]).await;
            assert_eq!((head.status, head.header("content-length")), (200, Some(&*length)));
            let part = server.request(Method::GET, &location, &[("Range", "bytes=0-0")]).await;
            assert_eq!(part.status, 206);
            let sent = prepared.body.len() + 1;
            server.until_run(&run, |run| run["sent_bytes"] == sent, SECOND).await;
            forget(&server, &run).await;
            // SQLite's random texts differ from run to run; PostgreSQL's do not.
            let direct = server.get(&path).await;
            assert_eq!(direct.body.len(), prepared.body.len(), "{format}");
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_file_is_resumed_by_range_after_its_first_connection_broke() {
    on_every_backend(async |place| {
        long_report(&place, 50_000);
        let server = Server::start(&place, &[]).await;
        let path = format!("{}?delivery=prepared", rows("long"));
        let mut stream = Stream::get(&server, &path, &[]).await;
        let begun = stream.next_chunk().await.expect("some bytes");
        let (run, etag) = (stream.run(), stream.header("etag").expect("a tag").to_owned());
        drop(stream);
        let file = format!("/api/v1/runs/{run}/file");
        let whole = server.get(&file).await;
        assert_eq!((whole.status, whole.header("etag")), (200, Some(&*etag)));
        assert!(whole.header("repr-digest").is_some_and(|digest| digest.starts_with("sha-256=:")));
        let size = whole.body.len();
        assert!(whole.body.starts_with(&begun.bytes) && begun.bytes.len() < size);
        let from = begun.bytes.len();
        let rest = [("Range", format!("bytes={from}-")), ("If-Range", etag.clone())];
        let rest = rest.each_ref().map(|(name, value)| (*name, value.as_str()));
        let part = server.request(Method::GET, &file, &rest).await;
        assert_eq!(part.status, 206);
        let range = format!("bytes {from}-{}/{size}", size - 1);
        assert_eq!(part.header("content-range"), Some(&*range));
        assert_eq!(part.body, whole.body[from..]);
        let asked =
            async |method, headers: &[(&str, &str)]| server.request(method, &file, headers).await;
        let other = asked(Method::GET, &[("Range", "bytes=0-9"), ("If-Range", "\"x\"")]).await;
        assert_eq!((other.status, other.body.len()), (200, size));
        asked(Method::GET, &[("Range", "bytes=99999999-")])
            .await
            .problem(416, "range_not_satisfiable");
        assert_eq!(asked(Method::GET, &[("If-None-Match", &etag)]).await.status, 304);
        asked(Method::GET, &[("If-Match", "\"x\"")]).await.problem(412, "precondition_failed");
        let head = asked(Method::HEAD, &[("Range", "bytes=0-9")]).await;
        assert_eq!((head.status, head.body.len()), (200, 0));
        assert_eq!(head.header("content-length"), Some(&*size.to_string()));
        forget(&server, &run).await;
        asked(Method::GET, &[]).await.problem(410, "gone");
        forget(&server, &run).await;
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn every_answer_to_a_request_for_a_prepared_file_names_its_run() {
    on_every_backend(async |place| {
        short_report(&place);
        let server = Server::start(&place, &[]).await;
        let path = format!("{}?delivery=prepared", rows("short"));
        let asked = async |name, value| server.request(Method::GET, &path, &[(name, value)]).await;
        let same = asked("If-None-Match", "*").await;
        assert_eq!((same.status, same.body.len()), (304, 0));
        assert_eq!(same.header("cache-control"), Some("no-store"));
        let other = asked("If-Match", "\"x\"").await;
        other.problem(412, "precondition_failed");
        let beyond = asked("Range", "bytes=99999999-").await;
        beyond.problem(416, "range_not_satisfiable");
        // {"id":1} and its end of line.
        assert_eq!(beyond.header("content-range"), Some("bytes */9"));
        for words in ["9 bytes", "bytes=0-8", "leave Range out"] {
            assert!(beyond.text().contains(words), "{}", beyond.text());
        }
        for answer in [same, other, beyond] {
            assert_eq!(server.run(&answer.run()).await["state"], "complete");
            let file = format!("/api/v1/runs/{}/file", answer.run());
            assert_eq!(server.get(&file).await.text(), "{\"id\":1}\n", "which is there");
            forget(&server, &answer.run()).await;
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_file_that_cannot_be_made_whole_is_a_clean_refusal_and_leaves_nothing() {
    on_every_backend(async |place| {
        let (numbers, fault) = place.backend().pick(
            (
                "(WITH RECURSIVE n(g) AS (SELECT 1 UNION ALL SELECT g + 1 FROM n WHERE g < 60000) \
                 SELECT g FROM n)",
                "CASE WHEN g = 50001 THEN abs(-9223372036854775807 - 1) ELSE g END",
            ),
            ("generate_series(1, 60000)", "1 / (50001 - g)"),
            (
                "(SELECT seq AS g FROM seq_1_to_60000)",
                "abs(if(g = 50001, -9223372036854775807 - 1, 0))",
            ),
        );
        let alias = place.backend().pick("AS numbers", "AS g", "AS numbers");
        let sql = format!("SELECT g AS id, {fault} AS x FROM {numbers} {alias}");
        report(&place, "fails", &[("id", "int"), ("x", "int")], &sql);
        let server = Server::start(&place, &[]).await;
        for format in ["ndjson", "json", "csv"] {
            let answer =
                server.get(&format!("{}?format={format}&delivery=prepared", rows("fails"))).await;
            answer.problem(500, "query_failed");
            failed(&server, &answer.run(), "query_failed").await;
            let file = format!("/api/v1/runs/{}/file", answer.run());
            server.get(&file).await.problem(409, "run_has_no_file");
            nothing_is_kept(&server, Instant::now()).await;
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_client_that_leaves_while_his_file_is_built_stops_the_query_and_leaves_nothing() {
    on_every_backend(async |place| {
        sorting_report(&place);
        short_report(&place);
        let server = Server::start(&place, &[("builds", "1")]).await;
        let path = format!("{}?delivery=prepared", rows("sorting"));
        let stream = Stream::send(&server, &path, &[]).await;
        let run = at_work_without_a_row(&place, &server).await;
        server.get(&format!("/api/v1/runs/{run}/file")).await.problem(409, "run_not_finished");
        let closed = Instant::now();
        drop(stream);
        nothing_works(&server, closed).await;
        cancelled(&server, &run, closed).await;
        nothing_is_kept(&server, closed).await;
        let next = server.get(&format!("{}?delivery=prepared", rows("short"))).await;
        assert_eq!(next.status, 200, "the permit is free: {}", next.text());
        forget(&server, &next.run()).await;
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn builds_wait_for_one_another_in_order_and_streams_do_not_wait_for_them() {
    on_every_backend(async |place| {
        long_report(&place, 30_000);
        let server = Server::start(&place, &[("builds", "1"), ("keep_prepared", "1s")]).await;
        let path = format!("{}?delivery=prepared", rows("long"));
        let answers = join_all((0..6).map(|_| server.get(&path))).await;
        for answer in &answers {
            assert_eq!(answer.status, 200, "{}", answer.text());
        }
        // What was kept expires by itself.
        let file = format!("/api/v1/runs/{}/file", answers[0].run());
        until("the file has expired", LONG, async || {
            (server.get(&file).await.status == 410).then_some(())
        })
        .await;
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_client_of_http_1_0_gets_the_whole_file_with_its_length() {
    on_every_backend(async |place| {
        long_report(&place, 2_000);
        let server = Server::start(&place, &[]).await;
        let mut socket = tokio::net::TcpStream::connect(server.address()).await.expect("a socket");
        let request = format!("GET {} HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n", rows("long"));
        socket.write_all(request.as_bytes()).await.expect("sent");
        let mut answer = Vec::new();
        socket.read_to_end(&mut answer).await.expect("an answer");
        let at = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("a head") + 4;
        let head = String::from_utf8_lossy(&answer[..at]).to_lowercase();
        assert!(head.contains(" 200 ") && !head.contains("transfer-encoding"), "{head}");
        let length = format!("content-length: {}\r\n", answer.len() - at);
        assert!(head.contains(&length), "{head}");
        let run = server.newest_run().await.expect("a run");
        assert_eq!(run["state"], "complete");
        forget(&server, run["id"].as_str().expect("an id")).await;
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_full_spool_holds_a_build_back_and_a_file_larger_than_it_is_refused() {
    on_every_backend(async |place| {
        long_report(&place, 20_000);
        let server =
            Server::start(&place, &[("spool_cap", "1500KiB"), ("keep_prepared", "1s")]).await;
        let path = format!("{}?delivery=prepared", rows("long"));
        // One is kept when the next begins, which waits until the first has expired.
        for _ in 0..2 {
            let answer = server.get(&path).await;
            assert_eq!(answer.status, 200, "{}", answer.text());
        }
        server.stop().await;
        let server = Server::start(&place, &[("spool_cap", "100KiB")]).await;
        let answer = server.get(&path).await;
        answer.problem(507, "no_space");
        let run = failed(&server, &answer.run(), "no_space").await;
        let detail = run["error"]["detail"].as_str().unwrap_or_default();
        for words in
            ["larger than spool_cap", "102400 bytes", "delivery=direct", "a larger spool_cap"]
        {
            assert!(answer.text().contains(words) && detail.contains(words), "{}", answer.text());
        }
        let direct = server.get(&rows("long")).await;
        assert_eq!(direct.status, 200, "the way out is one");
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn what_a_killed_server_left_is_gone_at_the_next_start() {
    on_every_backend(async |place| {
        long_report(&place, 2_000_000);
        let server = Server::start(&place, &[]).await;
        let path = format!("{}?delivery=prepared", rows("long"));
        let stream = Stream::send(&server, &path, &[]).await;
        until("the file is begun", LONG, async || {
            server.temporary_files().iter().any(|name| name.contains(".part")).then_some(())
        })
        .await;
        server.kill("KILL");
        server.exited(Duration::from_secs(5)).await;
        drop(stream);
        let left = std::fs::read_dir(place.data().join("tmp")).expect("the directory");
        assert_ne!(left.count(), 0, "it was killed in the middle");
        let server = Server::start(&place, &[]).await;
        assert_eq!(server.temporary_files(), Vec::<String>::new());
        let lost = Duration::from_secs(20);
        let run = server.newest_run().await.expect("the run");
        let id = run["id"].as_str().expect("an id").to_owned();
        server.until_run(&id, |run| run["error"]["code"] == "node_lost", lost).await;
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_file_that_cannot_even_be_begun_is_a_failed_run_and_not_a_cancelled_one() {
    on_every_backend(async |place| {
        short_report(&place);
        let server = Server::start(&place, &[("builds", "1")]).await;
        let temporary = place.data().join("tmp");
        std::fs::remove_dir(&temporary).expect("an empty directory");
        let path = format!("{}?delivery=prepared", rows("short"));
        let answer = server.get(&path).await;
        answer.problem(500, "internal");
        failed(&server, &answer.run(), "internal").await;
        std::fs::create_dir(&temporary).expect("a directory");
        let answer = server.get(&path).await;
        assert_eq!(answer.status, 200, "the permit came back: {}", answer.text());
        forget(&server, &answer.run()).await;
        server.stop().await;
    })
    .await;
}
