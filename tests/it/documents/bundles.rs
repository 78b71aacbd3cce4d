//! Bundles: every document once, in order, the same bytes whichever way they come.

use std::collections::BTreeSet;

use futures::future::join_all;
use reqwest::Method;
use serde_json::Value as Json;

use super::{documents, once, project};
use crate::faults::LONG;
use crate::support::{Server, on_every_backend};

#[tokio::test]
async fn a_projects_ledgers_come_as_one_archive_prepared_and_direct() {
    on_every_backend(async |place| {
        place.demo(5).await;
        let server = Server::start(&place, &[]).await;
        let prepared = server.get(&project(1, "prepared")).await;
        let direct = server.get(&project(1, "direct")).await;
        let found = documents(&prepared);
        assert_eq!(found.len(), 200);
        let numbers: Vec<&str> = found.iter().map(|(name, _)| &name[..7]).collect();
        assert!(numbers.is_sorted(), "{numbers:?}");
        assert_eq!(found[0].0, "L1-0001 2월 토공사 원장.pdf");
        assert_eq!(documents(&direct).len(), 200);
        assert!(prepared.body == direct.body, "both ways give the same bytes");
        assert!(prepared.header("content-length").is_some());
        assert_eq!(direct.header("content-length"), None);
        let run = server.run(&prepared.run()).await;
        assert_eq!((&run["kind"], &run["name"]), (&"bundle".into(), &"ledger".into()));
        assert_eq!((&run["state"], &run["rows"]), (&"complete".into(), &200.into()));
        assert_eq!(run["bytes"], prepared.body.len());
        let plain = server.get("/api/v1/documents/ledger/zip?project=1").await;
        assert!(plain.body == prepared.body, "the project's address is short for a filter");
        for run in [&prepared, &plain] {
            let path = format!("/api/v1/runs/{}", run.run());
            server.request(Method::DELETE, &path, &[]).await;
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_project_without_documents_has_the_manifest_alone_and_one_that_is_not_there_is_not_found()
{
    on_every_backend(async |place| {
        place.demo(5).await;
        let server = Server::start(&place, &[]).await;
        for delivery in ["direct", "prepared"] {
            let empty = server.get(&project(3, delivery)).await;
            assert_eq!(documents(&empty).len(), 0);
            let missing = server.get(&project(4, delivery)).await;
            missing.problem(404, "not_found");
            assert!(missing.text().contains("there is no project 4"), "{}", missing.text());
            let path = format!("/api/v1/projects/one/documents/zip?delivery={delivery}");
            server.get(&path).await.problem(400, "malformed_request");
            let others = format!("{}&project=2", project(1, delivery));
            server.get(&others).await.problem(400, "malformed_request");
            let path = format!("/api/v1/runs/{}", empty.run());
            server.request(Method::DELETE, &path, &[]).await;
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn filters_narrow_a_bundle_and_what_is_asked_wrongly_is_refused() {
    once(async |place| {
        place.demo(5).await;
        let server = Server::start(&place, &[]).await;
        let narrowed = "/api/v1/documents/ledger/zip?project=2&number=L2-000&delivery=direct";
        let found = documents(&server.get(narrowed).await);
        assert_eq!(found.len(), 9);
        for (wrong, code) in [
            ("project=x", "malformed_request"),
            ("delivery=fast", "malformed_request"),
            ("colour=red", "malformed_request"),
            ("tz=Mars/Olympus", "malformed_request"),
            ("format=csv", "malformed_request"),
        ] {
            let path = format!("/api/v1/documents/ledger/zip?{wrong}");
            server.get(&path).await.problem(400, code);
        }
        server.get("/api/v1/documents/plan/zip").await.problem(404, "not_found");
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn statements_of_merchants_hold_their_own_lines_alone() {
    on_every_backend(async |place| {
        place.demo(3_000).await;
        let server = Server::start(&place, &[]).await;
        let days = "settle_from=2026-01-05&settle_to=2026-01-31";
        let lines =
            server.get(&format!("/api/v1/reports/settlements/rows?{days}&numbers=string")).await;
        let lines: Vec<Json> =
            lines.text().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let merchants: BTreeSet<&str> =
            lines.iter().filter_map(|line| line["merchant_id"].as_str()).collect();
        assert!(merchants.len() > 20, "{}", merchants.len());
        let path = "/api/v1/documents/merchant-statement/zip";
        let answer =
            server.get(&format!("{path}?from=2026-01-05&to=2026-01-31&delivery=direct")).await;
        assert_eq!(documents(&answer).len(), merchants.len());
        let merchant = lines[0]["merchant_id"].as_str().expect("an id");
        let one =
            format!("{path}?from=2026-01-05&to=2026-01-31&merchant={merchant}&delivery=direct");
        let one = documents(&server.get(&one).await);
        let [(_, pdf)] = one.as_slice() else { panic!("one merchant was asked for") };
        let text = super::letters(pdf);
        let theirs = lines.iter().filter(|line| line["merchant_id"] == merchant);
        let mut net = 0;
        for line in theirs {
            let order = line["order_no"].as_str().expect("a number");
            assert_eq!(text.matches(order).count(), 1, "{order}: {text}");
            net += line["net"].as_str().and_then(|net| net.parse::<i64>().ok()).expect("a number");
        }
        assert!(text.replace(',', "").contains(&format!("정산금액합계{net}원")), "{net}: {text}");
        // Days that a month does not have, and none at all.
        server
            .get(&format!("{path}?from=2026-02-31&to=2026-03-01"))
            .await
            .problem(400, "malformed_request");
        server.get(path).await.problem(400, "malformed_request");
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn bundles_that_are_rendered_at_once_are_those_that_are_rendered_alone() {
    once(async |place| {
        place.demo(5).await;
        let server = Server::start(&place, &[("document-slots", "8")]).await;
        let path = "/api/v1/documents/ledger/zip?project=2&number=L2-004&delivery=direct";
        let alone = server.get(path).await;
        assert_eq!(documents(&alone).len(), 10);
        let together = join_all((0..8).map(|_| server.get(path))).await;
        assert!(together.iter().all(|answer| answer.body == alone.body));
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn who_would_rather_not_wait_fetches_the_bundle_from_its_run() {
    once(async |place| {
        place.demo(5).await;
        let server = Server::start(&place, &[]).await;
        let prefer = [("Prefer", "respond-async")];
        let answer = server.request(Method::GET, &project(1, "prepared"), &prefer).await;
        assert_eq!(answer.status, 202, "{}", answer.text());
        let run = answer.run();
        server.until_run(&run, |run| run["state"] == "complete", LONG).await;
        let file = server.get(&format!("/api/v1/runs/{run}/file")).await;
        assert_eq!(super::entries(&file.body).len(), 201);
        server.request(Method::DELETE, &format!("/api/v1/runs/{run}"), &[]).await;
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn the_command_line_writes_the_same_archive() {
    on_every_backend(async |place| {
        place.demo(5).await;
        let arguments = ["bundle", "ledger", "-o", "all.zip", "--filter", "project=1"];
        place.tallyroll(&arguments).await.expect_success();
        let server = Server::start(&place, &[]).await;
        let answer = server.get(&project(1, "direct")).await;
        let written = std::fs::read(place.path().join("all.zip")).expect("the file is there");
        assert!(written == answer.body);
        place.tallyroll(&["bundle", "1", "-o", "one.zip"]).await.expect_success();
        let one = std::fs::read(place.path().join("one.zip")).expect("the file is there");
        assert!(one == written, "a project's number is short for its ledgers");
        let missing = place.tallyroll(&["bundle", "4", "-o", "x.zip"]).await;
        assert_eq!(missing.code, Some(1));
        assert!(missing.stderr.contains("there is no project 4"), "{}", missing.stderr);
        let refused = place.tallyroll(&["bundle", "plan", "-o", "x.zip"]).await;
        assert_eq!(refused.code, Some(1));
        assert!(refused.stderr.contains("there is no document \"plan\""), "{}", refused.stderr);
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn details_that_belong_to_nobody_are_in_no_document() {
    on_every_backend(async |place| {
        place
            .execute(
                "CREATE TABLE heads (id bigint PRIMARY KEY, link bigint);
                 CREATE TABLE details (id bigint PRIMARY KEY, head bigint, word varchar(9));
                 INSERT INTO heads VALUES (1, 7), (2, NULL), (3, 7);
                 INSERT INTO details VALUES (1, 7, 'seven'), (2, NULL, 'nobody'), (3, 8, 'eight')",
            )
            .await;
        place.document("head", HEADS);
        let server = Server::start(&place, &[]).await;
        let found = documents(&server.get("/api/v1/documents/head/zip?delivery=direct").await);
        let texts: Vec<String> = found.iter().map(|(_, pdf)| super::letters(pdf)).collect();
        for (text, has) in texts.iter().zip([true, false, true]) {
            assert_eq!(text.contains("seven"), has, "{texts:?}");
            assert!(!text.contains("nobody") && !text.contains("eight"), "{texts:?}");
        }
        assert_eq!(texts.len(), 3);
        server.stop().await;
    })
    .await;
}

const HEADS: &str = r#"
title = "Heads"
from = "heads"
order_by = ["id"]
[document]
key = "id"
[[columns]]
key = "id"
type = "int"
not_null = true
[[columns]]
key = "link"
type = "int"
[[details]]
name = "lines"
from = "details"
order_by = ["id"]
on = { head = "link" }
[[details.columns]]
key = "head"
type = "int"
[[details.columns]]
key = "word"
type = "text"
[[sections]]
kind = "table"
rows = "/lines"
[[sections.columns]]
title = "word"
pointer = "/word"
"#;
