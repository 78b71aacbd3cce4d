//! Slots, the queue before them, and a disk that is full.

use std::time::Duration;

use futures::future::join_all;
use reqwest::Method;

use super::{documents, project};
use crate::faults::{LONG, nothing_is_kept};
use crate::support::{Backend, End, Place, Server, Stream, until};

#[tokio::test]
async fn who_finds_no_slot_waits_in_a_queue_that_shows_and_ends() {
    let place = Place::new(Backend::Sqlite).await;
    place.demo(5).await;
    let settings = [("document-slots", "1"), ("queue", "1"), ("queue_wait", "30s")];
    let server = Server::start(&place, &settings).await;
    // A reader that takes nothing more holds the slot of a direct bundle.
    let mut first = Stream::send(&server, &project(2, "direct"), &[]).await;
    first.head().await;
    let mut second = Stream::send(&server, &project(1, "direct"), &[]).await;
    until("the second one waits", LONG, async || {
        let waiting = server.json("/api/v1/runs?state=queued").await;
        let queue = &waiting["items"][0]["queue"];
        (queue["position"] == 1 && queue["length"] == 1).then_some(())
    })
    .await;
    let third = server.get(&project(1, "prepared")).await;
    third.problem(429, "busy");
    assert!(third.header("retry-after").is_some());
    assert!(third.text().contains("bundles"), "{}", third.text());
    // Reports have permits of their own.
    assert_eq!(server.get("/api/v1/reports/settlements/rows").await.status, 200);
    drop(first);
    second.head().await;
    assert_eq!(second.status(), 200);
    assert_eq!(second.body().await.end, End::Complete);
    server.stop().await;
}

#[tokio::test]
async fn a_prepared_bundle_holds_no_slot_while_it_is_fetched_slowly() {
    let place = Place::new(Backend::Sqlite).await;
    place.demo(5).await;
    let settings = [("document-slots", "1"), ("queue", "8"), ("queue_wait", "60s")];
    let server = Server::start(&place, &settings).await;
    let mut readers = Vec::new();
    for _ in 0..4 {
        // Larger than what lies between us and the server.
        let mut reader =
            Stream::send_with_buffer(&server, &project(1, "prepared"), &[], Some(4_096)).await;
        reader.head().await;
        assert_eq!(reader.status(), 200);
        readers.push(reader);
    }
    // All of them are still being fetched.
    let next = server.get("/api/v1/documents/ledger/zip?number=L1-0001&project=1&delivery=direct");
    assert_eq!(documents(&next.await).len(), 1);
    assert_eq!(server.sessions().await, 0);
    let runs: Vec<String> = readers.iter().map(Stream::run).collect();
    let bodies = join_all(readers.iter_mut().map(Stream::body)).await;
    assert!(bodies.iter().all(|body| body.end == End::Complete));
    for run in runs {
        server.request(Method::DELETE, &format!("/api/v1/runs/{run}"), &[]).await;
    }
    server.stop().await;
}

#[tokio::test]
async fn a_full_disk_is_told_and_nothing_is_left() {
    let place = Place::new(Backend::Sqlite).await;
    place.demo(5).await;
    let Some(server) = Server::start_on_a_small_disk(&place, 3 << 20, &[]).await else { return };
    let answer = server.get(&project(1, "prepared")).await;
    answer.problem(507, "no_space");
    nothing_is_kept(&server, std::time::Instant::now()).await;
    // What needs no file is not concerned.
    assert_eq!(documents(&server.get(&project(1, "direct")).await).len(), 200);
    server.stop().await;
}

#[tokio::test]
async fn rows_beyond_16_mib_are_put_aside_and_leave_nothing() {
    let place = Place::new(Backend::Sqlite).await;
    place.demo(5).await;
    let server = Server::start(&place, &[]).await;
    // 2,000 ledgers with 200 rows more each.
    place
        .execute(
            "UPDATE documents SET content = json_set(content, '$.note', hex(zeroblob(8000))) \
             WHERE project_id = 2",
        )
        .await;
    let mut stream = Stream::send(&server, &project(2, "direct"), &[]).await;
    stream.head().await;
    // The file has no name.
    assert_eq!(server.temporary_files(), Vec::<String>::new());
    let held = server.deleted_files();
    assert_eq!(held.len(), 1, "{held:?}");
    drop(stream);
    until("nothing is held", Duration::from_secs(5), async || {
        server.deleted_files().is_empty().then_some(())
    })
    .await;
    server.stop().await;
}
