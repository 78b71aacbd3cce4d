//! What curl makes of an answer that was broken off: exit code 18 or 56, never 0.

use serde_json::Value as Json;

use super::breaks::end_session;
use super::{LONG, failed, long_report, rows};
use crate::support::{Backend, Place, Server, curl, on_every_server, until};

/// The newest run, once it has come this far.
async fn run_at(server: &Server<'_>, rows: u64) -> String {
    until("a run comes far enough", LONG, async || {
        let run = server.newest_run().await?;
        let far = run["state"] == "running" && run["rows"].as_u64() >= Some(rows);
        far.then(|| run["id"].as_str().unwrap_or_default().to_owned())
    })
    .await
}

/// Downloads a report into a file, ends what it waits for at row 50,000, and gives back the run.
async fn download(
    place: &Place,
    server: &Server<'_>,
    format: &str,
    compressed: bool,
    end: impl AsyncFn(&str),
) -> (Option<i32>, String) {
    let file = place.path().join(format!("answer.{format}"));
    let url = server.url(&format!("{}?format={format}", rows("long")));
    let mut arguments = vec!["-o", file.to_str().expect("a path in UTF-8"), &url];
    if compressed {
        arguments.push("--compressed");
    }
    let ending = async {
        let run = run_at(server, 50_000).await;
        end(&run).await;
        run
    };
    let (curl, run) = futures::join!(curl(&arguments), ending);
    (curl.code, run)
}

#[tokio::test]
async fn curl_tells_that_an_answer_whose_session_died_is_not_whole() {
    on_every_server(async |place| {
        long_report(&place, 5_000_000);
        // One permit, so that each download also shows that the one before gave it back.
        let server = Server::start(&place, &[("streams", "1"), ("queue_wait", "1s")]).await;
        for format in ["ndjson", "json", "csv"] {
            for compressed in [false, true] {
                let end = async |run: &str| end_session(&place, run).await;
                let (code, run) = download(&place, &server, format, compressed, end).await;
                assert!(matches!(code, Some(18 | 56)), "{format} {compressed}: {code:?}");
                failed(&server, &run, "database_lost").await;
            }
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn curl_tells_that_a_cancelled_answer_is_not_whole() {
    let place = Place::new(Backend::Sqlite).await;
    long_report(&place, 5_000_000);
    let server = Server::start(&place, &[]).await;
    for format in ["ndjson", "json", "csv"] {
        for compressed in [false, true] {
            let end = async |run: &str| {
                let path = format!("/api/v1/runs/{run}");
                let answer = server.request(reqwest::Method::DELETE, &path, &[]).await;
                assert_eq!(answer.status, 202);
            };
            let (code, run) = download(&place, &server, format, compressed, end).await;
            assert!(matches!(code, Some(18 | 56)), "{format} {compressed}: {code:?}");
            assert_eq!(server.run(&run).await["state"], "cancelled");
        }
    }
    server.stop().await;
}

#[tokio::test]
async fn curl_is_content_with_a_whole_answer() {
    let place = Place::new(Backend::Sqlite).await;
    long_report(&place, 60_000);
    let server = Server::start(&place, &[]).await;
    let file = place.path().join("answer");
    let url = server.url(&rows("long"));
    let arguments = ["--compressed", "-o", file.to_str().expect("a path in UTF-8"), &url];
    curl(&arguments).await.expect_success();
    let run: Json = server.newest_run().await.expect("a run was begun");
    assert_eq!(run["state"], "complete");
    let size = std::fs::metadata(&file).expect("the file is there").len();
    assert_eq!(run["bytes"], size, "{run}");
    server.stop().await;
}
