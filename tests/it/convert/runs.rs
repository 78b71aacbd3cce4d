//! Conversions as runs: what their answer says, where the file stays, who waits, what memory they take.

use std::time::Duration;

use serde_json::json;
use tokio::io::AsyncWriteExt;

use super::{forget, send};
use crate::rows::sha256;
use crate::support::{Server, on_every_backend, until};

const SOON: Duration = Duration::from_secs(10);

#[tokio::test]
async fn the_answer_is_a_file_that_stays_for_a_while_and_can_be_resumed() {
    on_every_backend(async |place| {
        let server = Server::start(&place, &[]).await;
        let answer = send(&server, "to=csv&filename=3월", "{\"a\":1}\n{\"a\":2}\n").await;
        let run = answer.run();
        let location = format!("/api/v1/runs/{run}/file");
        assert_eq!(answer.text(), "a\r\n1\r\n2\r\n");
        for (name, value) in [
            ("content-type", "text/csv; charset=utf-8"),
            ("content-length", "9"),
            ("content-location", &location),
            ("accept-ranges", "bytes"),
            ("cache-control", "no-store"),
            ("etag", &format!("\"{}\"", sha256(&answer.body))),
        ] {
            assert_eq!(answer.header(name), Some(value), "{name}");
        }
        let name = answer.header("content-disposition").unwrap_or_default();
        assert!(name.ends_with("filename*=UTF-8''3%EC%9B%94.csv"), "{name}");
        let timing = answer.header("server-timing").unwrap_or_default();
        assert!(timing.contains("queue;dur="), "{timing}");
        let stored = server.run(&run).await;
        assert_eq!((&stored["kind"], &stored["name"]), (&json!("convert"), &json!("csv")));
        assert_eq!((&stored["state"], &stored["rows"]), (&json!("complete"), &json!(2)));
        assert_eq!(
            (&stored["bytes"], &stored["sha256"]),
            (&json!(9), &json!(sha256(&answer.body)))
        );
        let rest = server.request(reqwest::Method::GET, &location, &[("Range", "bytes=3-")]).await;
        assert_eq!((rest.status, rest.text()), (206, "1\r\n2\r\n"));
        forget(&server, &run).await;
        server.get(&location).await.problem(410, "gone");
        let again = send(&server, "to=xlsx", "{\"a\":1}\n").await;
        let unnamed = again.header("content-disposition").unwrap_or_default();
        assert!(
            unnamed.contains("filename=\"converted ") && unnamed.contains(".xlsx"),
            "{unnamed}"
        );
        forget(&server, &again.run()).await;
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn what_fills_the_spool_together_with_its_source_is_refused_and_nothing_waits_for_ever() {
    on_every_backend(async |place| {
        let server = Server::start(&place, &[("spool_cap", "1MiB")]).await;
        let file = "{\"a\":\"한\"}\n".repeat(60_000);
        let answer = tokio::time::timeout(SOON, send(&server, "to=json", file)).await;
        let problem = answer.expect("it does not wait for ever").problem(507, "no_space");
        let detail = problem["detail"].as_str().unwrap_or_default();
        assert!(detail.contains("spool_cap") && detail.contains("smaller file"), "{problem}");
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_client_that_leaves_stops_his_conversion() {
    on_every_backend(async |place| {
        let server = Server::start(&place, &[("builds", "1")]).await;
        let line = format!("{{\"a\":\"{}\"}}\n", "x".repeat(1_000));
        let body = line.repeat(50_000);
        let head = format!(
            "POST /api/v1/convert?to=xlsx HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n\r\n",
            server.address(),
            body.len()
        );
        let mut client = tokio::net::TcpStream::connect(server.address()).await.expect("a socket");
        client.write_all(head.as_bytes()).await.expect("sent");
        client.write_all(body.as_bytes()).await.expect("sent");
        until("the conversion is at work", SOON, async || {
            let run = server.newest_run().await?;
            (run["state"] == "running").then_some(())
        })
        .await;
        drop(client);
        until("the conversion is cancelled", SOON, async || {
            let run = server.newest_run().await?;
            (run["state"] == "cancelled").then_some(())
        })
        .await;
        // Its permit is free again.
        let next = send(&server, "to=csv", "a\n1\n").await;
        assert_eq!(next.status, 200);
        forget(&server, &next.run()).await;
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn memory_does_not_grow_with_the_rows() {
    on_every_backend(async |place| {
        let server = Server::start(&place, &[]).await;
        let file = |rows: usize| {
            let mut file = String::from("id,name,amount,note\n");
            for row in 0..rows {
                file.push_str(&format!("{row},한빛상사 {row},{row}.50,무엇인가 길게 적어 둔 말\n"));
            }
            file
        };
        let (small, large) = (file(1_000), file(300_000));
        for to in ["ndjson", "xlsx"] {
            let query = format!("to={to}");
            super::convert(&server, &query, small.clone()).await;
            let before = server.peak_kib();
            let answer = super::convert(&server, &query, large.clone()).await;
            let grown = server.peak_kib() - before;
            assert!(answer.body.len() > 1_000_000);
            assert!(grown < 48 << 10, "{to}: {grown} KiB more for {} MiB", large.len() >> 20);
        }
        server.stop().await;
    })
    .await;
}
