//! Exports that are built while nobody waits, and runs that tell how far they are.

use reqwest::Method;
use serde_json::{Value as Json, json};

use crate::faults::{LONG, at_work_without_a_row, long_report, rows, short_report, sorting_report};
use crate::support::{Server, Stream, on_every_backend};

const EXPORTS: &str = "/api/v1/reports/short/exports";

/// The events of a text, each with its data.
fn events(text: &str) -> Vec<(String, Json)> {
    let event = |event: &str| {
        let (name, data) = event.split_once('\n').expect("two lines");
        let name = name.strip_prefix("event: ").expect("a name").to_owned();
        let data = data.strip_prefix("data: ").expect("data");
        (name, serde_json::from_str(data).expect("JSON"))
    };
    assert!(text.ends_with("\n\n"), "each event is whole: {text}");
    text.split_terminator("\n\n").map(event).collect()
}

#[tokio::test]
async fn an_export_is_the_file_that_a_prepared_answer_would_be() {
    on_every_backend(async |place| {
        short_report(&place);
        let server = Server::start(&place, &[]).await;
        for format in ["ndjson", "xlsx"] {
            let path = format!("{EXPORTS}?format={format}&filename=mine");
            let answer = server.post(&path, &[], Vec::new()).await;
            assert_eq!(answer.status, 202, "{}", answer.text());
            let run = answer.run();
            assert_eq!(answer.header("location"), Some(&*format!("/api/v1/runs/{run}")));
            assert!(answer.header("retry-after").is_some());
            assert_eq!(answer.json()["kind"], "export");
            let over = |run: &Json| run["finished_at"] != Json::Null;
            let done = server.until_run(&run, over, LONG).await;
            assert_eq!((&done["state"], &done["rows"]), (&json!("complete"), &json!(1)), "{done}");
            let file = server.get(&format!("/api/v1/runs/{run}/file")).await;
            assert_eq!(file.status, 200);
            let name = file.header("content-disposition").expect("a name");
            assert!(name.contains(&format!("mine.{format}")), "{name}");
            let prepared = format!("{}?format={format}&delivery=prepared", rows("short"));
            let prepared = server.get(&prepared).await;
            assert_eq!(file.body, prepared.body, "{format}");
            for run in [run, prepared.run()] {
                let path = format!("/api/v1/runs/{run}");
                assert_eq!(server.request(Method::DELETE, &path, &[]).await.status, 204);
            }
        }
        let unknown = server.post("/api/v1/reports/none/exports", &[], Vec::new()).await;
        unknown.problem(404, "not_found");
        let path = format!("{EXPORTS}?format=doc&limit=x");
        let faults = server.post(&path, &[], Vec::new()).await;
        faults.problem(400, "malformed_request");
        assert_eq!(faults.problems().len(), 2, "{}", faults.text());
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_run_tells_how_far_it_is_until_it_is_over() {
    on_every_backend(async |place| {
        long_report(&place, 200_000);
        let server = Server::start(&place, &[]).await;
        let path = "/api/v1/reports/long/exports?format=csv";
        let run = server.post(path, &[], Vec::new()).await.run();
        let watching = format!("/api/v1/runs/{run}/events");
        let told = server.get(&watching).await;
        assert_eq!(told.header("content-type"), Some("text/event-stream"));
        let told = events(told.text());
        let (last, earlier) = told.split_last().expect("at least one");
        let mut rows = 0;
        for (name, data) in earlier {
            assert_eq!(name, "progress");
            let now = data["rows"].as_u64().expect("a number");
            assert!(now >= rows && data["bytes"].is_u64() && data["elapsed_ms"].is_u64(), "{data}");
            assert_eq!(data["rows_estimated"], Json::Null);
            rows = now;
        }
        assert_eq!(last.0, "complete");
        assert_eq!((&last.1["id"], &last.1["rows"]), (&json!(run), &json!(200_000)));
        // Of a run that is over, its end is all that there is to tell.
        let again = server.get(&watching).await;
        assert_eq!(events(again.text()), std::slice::from_ref(last));
        let forgotten = server.request(Method::DELETE, &format!("/api/v1/runs/{run}"), &[]).await;
        assert_eq!(forgotten.status, 204);
        server.get("/api/v1/runs/nothing/events").await.problem(404, "not_found");
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn who_watches_sees_the_run_cancelled_and_holds_nobody_up() {
    on_every_backend(async |place| {
        sorting_report(&place);
        let server = Server::start(&place, &[]).await;
        let path = "/api/v1/reports/sorting/exports?format=ndjson";
        let run = server.post(path, &[], Vec::new()).await.run();
        let mut watching = Stream::get(&server, &format!("/api/v1/runs/{run}/events"), &[]).await;
        let first = watching.next_chunk().await.expect("progress comes at once");
        let first = String::from_utf8(first.bytes).expect("text");
        assert!(first.starts_with("event: progress\n"), "{first}");
        assert_eq!(at_work_without_a_row(&place, &server).await, run);
        let cancelled = server.request(Method::DELETE, &format!("/api/v1/runs/{run}"), &[]).await;
        assert_eq!(cancelled.status, 202, "{}", cancelled.text());
        let rest = String::from_utf8(watching.body().await.bytes).expect("text");
        let told = events(&rest);
        let (last, _) = told.split_last().expect("an end");
        assert_eq!((&*last.0, &last.1["state"]), ("cancelled", &json!("cancelled")));
        server.stop().await;
    })
    .await;
}
