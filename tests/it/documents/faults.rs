//! A bundle that cannot be made whole is refused before it begins, or breaks off; it never looks whole.

use std::process::Command;
use std::time::Instant;

use reqwest::Method;

use super::project;
use crate::faults::{LONG, SECOND, cancelled, failed, nothing_is_kept};
use crate::support::{
    Backend, End, Nginx, Place, Server, Stream, behind_nginx, curl, on_every_backend,
    on_every_server, until,
};

/// Takes out of one document what its template needs.
async fn spoil(place: &Place) {
    let spoilt = "UPDATE documents SET content = '{\"site\":\"x\",\"spoilt\":true}' \
                  WHERE number = 'L1-0150'";
    place.execute(spoilt).await;
}

/// Asserts that no program takes the file for a whole archive.
#[track_caller]
fn assert_not_an_archive(file: &std::path::Path) {
    let unzip = Command::new("unzip").arg("-tq").arg(file).output().expect("unzip is needed here");
    assert!(!unzip.status.success(), "{}", String::from_utf8_lossy(&unzip.stdout));
    let program = "import sys, zipfile; zipfile.ZipFile(sys.argv[1])";
    let python = Command::new("python3").args(["-c", program]).arg(file).output();
    assert!(!python.expect("python3 is needed here").status.success());
}

#[tokio::test]
async fn a_document_that_cannot_be_rendered_is_named_and_nothing_is_kept() {
    on_every_backend(async |place| {
        place.demo(5).await;
        spoil(&place).await;
        let server = Server::start(&place, &[]).await;
        let answer = server.get(&project(1, "prepared")).await;
        let problem = answer.problem(500, "unrenderable_document");
        let detail = problem["detail"].as_str().expect("words");
        for part in ["\"L1-0150\" (key 150)", "시공사", "/content/contractor", "is missing"] {
            assert!(detail.contains(part), "{part}: {detail}");
        }
        failed(&server, &answer.run(), "unrenderable_document").await;
        nothing_is_kept(&server, Instant::now()).await;
        let single = server.get("/api/v1/documents/ledger/items/150/pdf").await;
        assert_eq!(single.problem(500, "unrenderable_document")["detail"], detail);
        let file = place.path().join("direct.zip");
        let url = server.url(&project(1, "direct"));
        let code = curl(&["-o", file.to_str().expect("UTF-8"), &url]).await.code;
        assert!(matches!(code, Some(18 | 56)), "{code:?}");
        assert!(std::fs::metadata(&file).expect("a file").len() > 1_000_000);
        assert_not_an_archive(&file);
        let run = server.newest_run().await.expect("a run");
        let run = run["id"].as_str().expect("an id").to_owned();
        assert_eq!(failed(&server, &run, "unrenderable_document").await["rows"], 149);
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn json_that_is_broken_in_the_database_is_told_by_its_document() {
    super::once(async |place| {
        place.demo(5).await;
        place.execute("UPDATE documents SET content = '{\"site\":' WHERE id = 150").await;
        let server = Server::start(&place, &[]).await;
        let problem =
            server.get(&project(1, "prepared")).await.problem(500, "unrenderable_document");
        let detail = problem["detail"].as_str().expect("words");
        assert!(detail.contains("\"L1-0150\" (key 150)"), "{detail}");
        assert!(detail.contains("\"content\" at /content is not JSON"), "{detail}");
        let mut stream = Stream::get(&server, &project(1, "direct"), &[]).await;
        let body = stream.body().await;
        assert_eq!(body.end, End::BrokenOff);
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn the_first_document_of_a_direct_bundle_is_the_last_moment_for_a_clean_refusal() {
    super::once(async |place| {
        place.demo(5).await;
        place.execute("UPDATE documents SET content = '[]' WHERE id = 1").await;
        let server = Server::start(&place, &[]).await;
        server.get(&project(1, "direct")).await.problem(500, "unrenderable_document");
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn behind_nginx_a_broken_bundle_is_broken_too_and_leaves_nothing() {
    behind_nginx(async |place| {
        place.demo(5).await;
        spoil(&place).await;
        let server = Server::start(&place, &[]).await;
        let nginx = Nginx::start(&place, &server, &[]).await;
        nginx.get(&project(1, "prepared")).await.problem(500, "unrenderable_document");
        let file = place.path().join("direct.zip");
        let url = nginx.url(&project(1, "direct"));
        let code = curl(&["-o", file.to_str().expect("UTF-8"), &url]).await.code;
        assert!(matches!(code, Some(18 | 56)), "{code:?}");
        assert_not_an_archive(&file);
        until("nginx keeps nothing", LONG, async || {
            nginx.temporary_files().is_empty().then_some(())
        })
        .await;
        nginx.stop().await;
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_client_that_leaves_ends_the_rendering() {
    on_every_backend(async |place| {
        place.demo(5).await;
        let server = Server::start(&place, &[("document-slots", "1")]).await;
        for delivery in ["direct", "prepared"] {
            let mut stream = Stream::send(&server, &project(2, delivery), &[]).await;
            if delivery == "direct" {
                stream.head().await;
                stream.next_chunk().await.expect("the first document");
            }
            let run = until("documents are rendered", LONG, async || {
                let run = server.newest_run().await?;
                let begun = run["state"] == "running" && run["rows"].as_u64() >= Some(1);
                begun.then(|| run["id"].as_str().unwrap_or_default().to_owned())
            })
            .await;
            let closed = Instant::now();
            drop(stream);
            until("nobody renders", SECOND, async || (server.render_threads() == 0).then_some(()))
                .await;
            cancelled(&server, &run, closed).await;
            nothing_is_kept(&server, closed).await;
            let rows = server.run(&run).await["rows"].as_u64().expect("a number");
            assert!(rows < 2_000, "{rows}");
            // The slot is free.
            let path = "/api/v1/documents/ledger/zip?project=1&number=L1-0001&delivery=direct";
            assert_eq!(server.get(path).await.status, 200);
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn no_session_is_in_a_transaction_while_documents_are_rendered() {
    on_every_server(async |place| {
        place.demo(5).await;
        let server = Server::start(&place, &[]).await;
        let mut stream = Stream::send(&server, &project(2, "direct"), &[]).await;
        stream.head().await;
        stream.next_chunk().await.expect("the first document");
        // Whatever was read is read by now, and most documents are still to be rendered.
        assert!(server.render_threads() > 0);
        assert_eq!(server.sessions().await, 0);
        if place.backend() == Backend::Postgres {
            let open = "SELECT count(*) FROM pg_stat_activity \
                        WHERE state LIKE 'idle in%' AND datname = current_database()";
            assert_eq!(place.value(open).await, "0");
        }
        drop(stream);
        until("nobody renders", SECOND, async || (server.render_threads() == 0).then_some(()))
            .await;
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_bundle_that_is_cancelled_is_broken_off() {
    super::once(async |place| {
        place.demo(5).await;
        let server = Server::start(&place, &[]).await;
        let mut stream = Stream::send(&server, &project(2, "direct"), &[]).await;
        stream.head().await;
        let path = format!("/api/v1/runs/{}", stream.run());
        assert_eq!(server.request(Method::DELETE, &path, &[]).await.status, 202);
        assert_eq!(stream.body().await.end, End::BrokenOff);
        server.stop().await;
    })
    .await;
}
