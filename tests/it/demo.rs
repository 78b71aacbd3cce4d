//! The worked example: the same everywhere, and never over somebody's rows.

use crate::rows::sha256;
use crate::support::{Backend, Place, Server, on_every_backend};

async fn lines(place: &Place) -> Vec<u8> {
    let export = ["export", "settlements", "--format", "ndjson", "-o", "-"];
    place.tallyroll(&export).await.expect_success().stdout
}

#[tokio::test]
async fn the_example_is_the_same_in_every_database_and_every_time() {
    let digests = std::sync::Mutex::new(Vec::new());
    // Twice, so that it is compared on one backend too.
    for _ in 0..2 {
        on_every_backend(async |place| {
            place.demo(20_000).await;
            let lines = lines(&place).await;
            assert_eq!(lines.iter().filter(|byte| **byte == b'\n').count(), 20_000);
            digests.lock().expect("no test panicked").push(sha256(&lines));
        })
        .await;
    }
    let digests = digests.into_inner().expect("no test panicked");
    assert!(digests.len() >= 2 && digests.windows(2).all(|pair| pair[0] == pair[1]), "{digests:?}");
}

#[tokio::test]
async fn tables_that_hold_rows_are_refused_and_replaced_only_when_that_is_asked_for() {
    on_every_backend(async |place| {
        place.demo(50).await;
        let before = lines(&place).await;
        let refused = place.tallyroll(&["demo", "--rows", "70"]).await;
        assert_eq!(refused.code, Some(1));
        assert!(refused.stderr.contains("--replace"), "{}", refused.stderr);
        assert_eq!(lines(&place).await, before, "nothing was changed");
        place.tallyroll(&["demo", "--rows", "70", "--replace"]).await.expect_success();
        assert_eq!(place.value("SELECT count(*) FROM settlement_lines").await, "70");
    })
    .await;
}

#[tokio::test]
async fn a_table_that_somebody_else_made_is_never_touched() {
    on_every_backend(async |place| {
        place
            .execute("CREATE TABLE merchants (mine text); INSERT INTO merchants VALUES ('kept')")
            .await;
        for arguments in [&["demo", "--rows", "7"][..], &["demo", "--rows", "7", "--replace"]] {
            let refused = place.tallyroll(arguments).await;
            assert_eq!(refused.code, Some(1), "{}", refused.stderr);
            assert!(refused.stderr.contains("merchants"), "{}", refused.stderr);
        }
        assert_eq!(place.value("SELECT mine FROM merchants").await, "kept");
    })
    .await;
}

#[tokio::test]
async fn serving_the_example_makes_it_in_a_file_of_its_own() {
    let place = Place::new(Backend::Sqlite).await;
    let own = format!("sqlite://{}", place.data().join("business.db").display());
    for _ in 0..2 {
        let server = Server::start(&place, &[("demo", ""), ("database_url", &own)]).await;
        let count = server.json("/api/v1/reports/settlements/count").await;
        assert_eq!(count["rows"], 100_000);
        server.stop().await;
    }
}

#[tokio::test]
async fn serving_the_example_leaves_a_database_alone_that_was_there() {
    on_every_backend(async |place| {
        let server = Server::start(&place, &[("demo", "")]).await;
        assert_eq!(server.get("/api/v1/reports/settlements/rows").await.status, 500);
        let tables = place.backend().pick(
            "SELECT count(*) FROM sqlite_master",
            "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'public'",
            "SELECT count(*) FROM information_schema.tables WHERE table_schema = DATABASE()",
        );
        assert_eq!(place.value(tables).await, "0");
        server.stop().await;
    })
    .await;
}
