//! `Prefer: respond-async`: the answer comes when the upload is whole, and the import goes on.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value as Json, json};
use tokio::io::AsyncWriteExt;

use super::{count, places, stop, transactions, upload};
use crate::faults::{SECOND, at_work_without_a_row, rows, sorting_report};
use crate::support::{Answer, Place, Server, Stream, on_every_backend, until};

const PATH: &str = "/api/v1/imports/transactions";
const ASYNC: (&str, &str) = ("Prefer", "respond-async");
const HEADER: &str = "거래번호,거래처명,수량,금액,거래일자\n";
const SOON: Duration = Duration::from_secs(20);

fn file(code: &str) -> Vec<u8> {
    format!("{HEADER}{code},한빛,1,1.50,2026-01-05\n").into_bytes()
}

/// The run that a 202 leads to, after looking at everything that such answers have in common.
#[track_caller]
fn accepted(answer: &Answer) -> String {
    assert_eq!(answer.status, 202, "{}", answer.text());
    let run = answer.run();
    assert_eq!(answer.header("location"), Some(&*format!("/api/v1/runs/{run}")));
    assert_eq!(answer.header("preference-applied"), Some("respond-async"));
    let after = answer.header("retry-after").and_then(|after| after.parse::<u64>().ok());
    assert!(after.is_some_and(|after| after >= 1), "{after:?}");
    let body = answer.json();
    assert_eq!((&body["id"], &body["kind"]), (&json!(run), &json!("import")), "{body}");
    assert_eq!(body["name"], "transactions");
    run
}

async fn over(server: &Server<'_>, run: &str) -> Json {
    let over = |run: &Json| run["finished_at"] != Json::Null;
    server.until_run(run, over, SOON).await
}

#[tokio::test]
async fn the_outcome_is_the_runs_result_and_a_refusal_its_error() {
    on_every_backend(async |place| {
        transactions(&place).await;
        let server = Server::start(&place, &[]).await;
        let preferred = [("Prefer", "return=representation; a=\"b, c\", Respond-Async;x, wait=5")];
        let run = accepted(&server.post(PATH, &preferred, file("A-1")).await);
        let done = over(&server, &run).await;
        assert_eq!((&done["state"], &done["error"]), (&json!("complete"), &Json::Null), "{done}");
        let result = &done["result"];
        assert_eq!((&result["inserted"], &result["stored"]), (&1.into(), &true.into()), "{done}");
        assert_eq!(result["run_id"], run);
        assert_eq!(count(&place, "transactions").await, "1");

        let wrong = format!("{HEADER}A-2,한빛,many,1.50,2026-01-05\n");
        let run = accepted(&server.post(PATH, &[ASYNC], wrong.into()).await);
        let failed = over(&server, &run).await;
        assert_eq!(
            (&failed["state"], &failed["error"]["code"]),
            (&json!("failed"), &json!("import_rejected"))
        );
        assert_eq!(places(&failed["result"]), [(2, "수량".into())], "{failed}");
        let rejected = server.get(&format!("/api/v1/runs/{run}/problems?format=csv")).await;
        assert!(rejected.text().contains("many"), "{}", rejected.text());

        let run = accepted(&server.post(PATH, &[ASYNC], b"%PDF-1.7".to_vec()).await);
        let failed = over(&server, &run).await;
        assert_eq!((&failed["state"], &failed["result"]), (&json!("failed"), &Json::Null));
        assert!(failed["error"]["detail"].to_string().contains("PDF"), "{failed}");

        // What can be refused at once is.
        let strange = format!("{PATH}?on_problem=x");
        server.post(&strange, &[ASYNC], file("A-3")).await.problem(400, "malformed_request");
        let gone = "/api/v1/imports/nothing";
        server.post(gone, &[ASYNC], file("A-3")).await.problem(404, "not_found");
        // Whoever does not prefer it waits.
        let waited =
            server.post(PATH, &[("Prefer", "wait=1, x=\"respond-async\"")], file("A-3")).await;
        assert_eq!((waited.status, waited.header("preference-applied")), (200, None));
        assert_eq!(count(&place, "transactions").await, "2");
        stop(server).await;
    })
    .await;
}

/// A server that can build one thing at a time, and builds something for minutes.
async fn busy(place: &Place) -> (Server<'_>, Stream, String) {
    transactions(place).await;
    sorting_report(place);
    let server = Server::start(place, &[("builds", "1"), ("queue", "1")]).await;
    let path = format!("{}?delivery=prepared", rows("sorting"));
    let holder = Stream::send(&server, &path, &[]).await;
    let run = at_work_without_a_row(place, &server).await;
    (server, holder, run)
}

async fn cancel(server: &Server<'_>, run: &str) {
    let path = format!("/api/v1/runs/{run}");
    assert_eq!(server.request(Method::DELETE, &path, &[]).await.status, 202);
}

#[tokio::test]
async fn it_waits_in_the_queue_though_the_client_has_left_and_a_repetition_is_told_so() {
    on_every_backend(async |place| {
        let (server, holder, holding) = busy(&place).await;
        let key = [ASYNC, ("Idempotency-Key", "one")];
        // Its connection is closed when it has its answer.
        let run = accepted(&server.post(PATH, &key, file("A-1")).await);
        assert_eq!(server.run(&run).await["queue"], json!({ "position": 1, "length": 1 }));
        server.post(PATH, &key, file("A-1")).await.problem(409, "still_running");
        server.post(PATH, &key[1..], file("A-1")).await.problem(409, "still_running");
        server.post(PATH, &key, file("A-2")).await.problem(422, "invalid_request");
        // The queue is full, before anything is accepted, and for whoever only looks.
        let full = server.post(PATH, &[ASYNC], file("A-2")).await;
        full.problem(429, "busy");
        assert!(full.header("retry-after").is_some());
        assert_eq!(server.run(&full.run()).await["error"]["code"], "busy");
        let look = server.post(&format!("{PATH}/inspect"), &[], file("A-2")).await;
        look.problem(429, "busy");

        cancel(&server, &holding).await;
        let done = over(&server, &run).await;
        assert_eq!((&done["state"], &done["result"]["inserted"]), (&json!("complete"), &1.into()));
        assert!(done["timings_ms"]["queue"].as_u64() > Some(0), "{done}");
        let again = server.post(PATH, &key, file("A-1")).await;
        assert_eq!(accepted(&again), run, "the first answer again");
        assert_eq!(again.json()["state"], "complete");
        let waited = server.post(PATH, &key[1..], file("A-1")).await;
        assert_eq!((waited.run(), &waited.json()), (run, &done["result"]));
        assert_eq!(count(&place, "transactions").await, "1");
        drop(holder);
        stop(server).await;
    })
    .await;
}

#[tokio::test]
async fn one_that_waits_is_cancelled_and_one_that_is_not_preferred_ends_with_its_client() {
    on_every_backend(async |place| {
        let (server, holder, holding) = busy(&place).await;
        let run = accepted(&server.post(PATH, &[ASYNC], file("A-1")).await);
        cancel(&server, &run).await;
        assert_eq!(over(&server, &run).await["state"], "cancelled");

        let mut client = tokio::net::TcpStream::connect(server.address()).await.expect("a socket");
        let body = file("A-2");
        let head = format!(
            "POST {PATH} HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n\r\n",
            server.address(),
            body.len()
        );
        client.write_all(head.as_bytes()).await.expect("sent");
        client.write_all(&body).await.expect("sent");
        let queued = "/api/v1/runs?kind=import&state=queued";
        let left = until("it waits", SOON, async || {
            server.json(queued).await["items"][0]["id"].as_str().map(str::to_owned)
        })
        .await;
        let since = Instant::now();
        drop(client);
        assert_eq!(over(&server, &left).await["state"], "cancelled");
        assert!(since.elapsed() < SECOND, "{:?}", since.elapsed());

        cancel(&server, &holding).await;
        drop(holder);
        // Nothing came of either.
        let outcome = upload(&server, "transactions", "", file("A-3")).await.json();
        assert_eq!(outcome["inserted"], 1);
        assert_eq!(count(&place, "transactions").await, "1");
        stop(server).await;
    })
    .await;
}
