//! Workbooks that cannot be completed: a real status where nothing has left, else a file that nothing
//! opens.

use std::time::Instant;

use reqwest::Method;

use super::breaks::{assert_cause_in_log, failing_report};
use super::{SECOND, assert_failed, long_report, nothing_is_kept, nothing_works, rows};
use crate::support::{End, Server, Stream, Workbook, on_every_backend};

/// The signature of a ZIP archive's directory, of its end, and of a file in it.
const DIRECTORY: &[u8] = b"PK\x01\x02";
const DIRECTORY_END: &[u8] = b"PK\x05\x06";
const ENTRY: &[u8] = b"PK\x03\x04";

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

#[tokio::test]
async fn a_query_that_fails_midway_is_a_real_status_and_leaves_no_file() {
    on_every_backend(async |place| {
        failing_report(&place, "failing", 50_001);
        // The first byte of the library's comes after the last row, so a direct one has not begun either.
        let server = Server::start(&place, &[("xlsx_writer", "library")]).await;
        for delivery in ["", "&delivery=prepared", "&delivery=direct"] {
            let answer = server.get(&format!("{}?format=xlsx{delivery}", rows("failing"))).await;
            answer.problem(500, "query_failed");
            assert_eq!(answer.header("content-disposition"), None);
            let request = answer.header("x-request-id").expect("an id");
            assert_cause_in_log(&place, &server, request, answer.text());
            let run = server.run(&answer.run()).await;
            assert_failed(&run, "query_failed");
            assert_eq!(run["rows"], 50_000, "{run}");
            let file = format!("/api/v1/runs/{}/file", answer.run());
            server.get(&file).await.problem(409, "run_has_no_file");
            nothing_works(&server, Instant::now()).await;
            nothing_is_kept(&server, Instant::now()).await;
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_query_that_fails_midway_breaks_a_poured_workbook_off_and_refuses_a_prepared_one() {
    on_every_backend(async |place| {
        failing_report(&place, "failing", 50_001);
        let server = Server::start(&place, &[]).await;
        let path = format!("{}?format=xlsx", rows("failing"));
        let refused = server.get(&path).await;
        refused.problem(500, "query_failed");
        assert_failed(&server.run(&refused.run()).await, "query_failed");

        let mut stream = Stream::send(&server, &format!("{path}&delivery=direct"), &[]).await;
        stream.head().await;
        assert_eq!(stream.status(), 200);
        let mut bytes = Vec::new();
        while let Some(chunk) = stream.next_chunk().await {
            bytes.extend(chunk.bytes);
        }
        assert_eq!(stream.end(), End::BrokenOff);
        assert!(bytes.starts_with(ENTRY), "it began as a workbook");
        assert!(!contains(&bytes, DIRECTORY) && !contains(&bytes, DIRECTORY_END));
        let run = server.run(&stream.run()).await;
        assert_failed(&run, "query_failed");
        assert_eq!(run["rows"], 50_000, "{run}");
        nothing_works(&server, Instant::now()).await;
        nothing_is_kept(&server, Instant::now()).await;
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_direct_workbook_that_is_stopped_on_its_way_has_no_directory_and_opens_nowhere() {
    on_every_backend(async |place| {
        long_report(&place, 200_000);
        let server = Server::start(&place, &[]).await;
        let path = format!("{}?format=xlsx&delivery=direct", rows("long"));
        // A small buffer, so that the end is still to come when the run is stopped.
        let mut stream = Stream::send_with_buffer(&server, &path, &[], Some(64 << 10)).await;
        stream.head().await;
        assert_eq!(stream.status(), 200);
        let mut bytes = stream.next_chunk().await.expect("the beginning").bytes;
        let run = stream.run();
        assert_eq!(server.run(&run).await["state"], "running");
        let cancel = format!("/api/v1/runs/{run}");
        assert_eq!(server.request(Method::DELETE, &cancel, &[]).await.status, 202);
        let stopped = Instant::now();
        while let Some(chunk) = stream.next_chunk().await {
            bytes.extend(chunk.bytes);
        }
        assert_eq!(stream.end(), End::BrokenOff);
        assert!(bytes.starts_with(ENTRY), "it began as a workbook");
        assert!(!contains(&bytes, DIRECTORY) && !contains(&bytes, DIRECTORY_END));
        assert!(!Workbook::new(&bytes).opens(), "nothing opens what is cut");
        let run = server.until_run(&run, |run| run["state"] == "cancelled", SECOND).await;
        assert_eq!(run["sha256"], serde_json::Value::Null, "{run}");
        nothing_works(&server, stopped).await;
        nothing_is_kept(&server, stopped).await;

        // The same one, left alone, opens.
        let whole = server.get(&path).await;
        let book = Workbook::new(&whole.body);
        assert!(contains(&whole.body, DIRECTORY) && book.opens());
        assert_eq!(book.sheets()[0].1.len(), 200_001);
        server.stop().await;
    })
    .await;
}
