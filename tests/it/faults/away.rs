//! A database that is away is a 503 that says so, for as long as it is away and no longer.

use std::time::{Duration, Instant};

use futures::future::join_all;

use super::{SECOND, assert_failed, nothing_works, report};
use crate::support::{Answer, Backend, Place, Server, Stream, on_every_server};

const ROWS: &str = "/api/v1/reports/settlements/rows";
/// What is waited for a connection, and a second.
const PATIENCE: Duration = Duration::from_secs(6);

async fn get(server: &Server<'_>, path: &str) -> Answer {
    let begun = Instant::now();
    let answer = server.get(path).await;
    assert!(begun.elapsed() < PATIENCE, "{path} after {:?}", begun.elapsed());
    answer
}

/// Asserts that everything that needs the business database says that it is away.
async fn assert_away(server: &Server<'_>) {
    let paths = [ROWS.to_owned(), format!("{ROWS}?format=csv&limit=10")];
    let answers = join_all(paths.iter().map(|path| get(server, path)));
    let count = get(server, "/api/v1/reports/settlements/count");
    let (ready, live) = (get(server, "/health/ready"), get(server, "/health/live"));
    let (ready, live, answers, count) = futures::join!(ready, live, answers, count);

    assert_eq!((ready.status, live.status), (503, 200));
    let ready: serde_json::Value = serde_json::from_slice(&ready.body).expect("JSON");
    assert_eq!(ready["databases"]["state_url"], "ok", "{ready}");
    let words = ready["databases"]["database_url"].as_str().unwrap_or_default();
    assert!(words.split(' ').count() >= 4, "{ready}");

    for answer in answers.iter().chain([&count]) {
        answer.problem(503, "database_unavailable");
        let after = answer.header("retry-after").and_then(|after| after.parse::<u64>().ok());
        assert!(after >= Some(1), "Retry-After is whole seconds: {after:?}");
        assert!(!answer.text().contains("127.0.0.1") && !answer.text().contains(".db"));
    }
    for answer in answers {
        assert_failed(&server.run(&answer.run()).await, "database_unavailable");
    }
}

/// A port on which nothing listens.
fn closed_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    listener.local_addr().expect("it has an address").port()
}

#[tokio::test]
async fn a_server_starts_without_its_postgresql_and_says_that_it_is_away() {
    let place = Place::new(Backend::Sqlite).await;
    let url = format!("postgres://nobody:secret@127.0.0.1:{}/nothing", closed_port());
    let server = Server::start(&place, &[("database_url", &url)]).await;
    assert_away(&server).await;
    assert!(!server.log().contains("secret"), "the password is in no log");
    server.stop().await;
}

#[tokio::test]
async fn a_server_with_many_reports_starts_though_its_postgresql_is_away() {
    let place = Place::new(Backend::Sqlite).await;
    for name in ["a", "b", "c", "d"] {
        report(&place, name, &[("id", "int")], "SELECT 1 AS id");
    }
    let url = format!("postgres://nobody@127.0.0.1:{}/nothing", closed_port());
    let begun = Instant::now();
    let server = Server::start(&place, &[("database_url", &url)]).await;
    assert!(begun.elapsed() < PATIENCE, "one wait is enough: {:?}", begun.elapsed());
    server.stop().await;
}

#[tokio::test]
async fn a_server_starts_without_its_sqlite_file_and_uses_it_once_it_is_there() {
    let place = Place::new(Backend::Sqlite).await;
    place.demo(20).await;
    let (file, away) = (place.path().join("business.db"), place.path().join("away.db"));
    std::fs::rename(&file, &away).expect("a file can be moved");
    let server = Server::start(&place, &[]).await;
    assert_away(&server).await;
    assert!(!file.exists(), "reading makes no file");
    std::fs::rename(&away, &file).expect("a file can be moved");
    assert_eq!(get(&server, "/health/ready").await.status, 200);
    assert_eq!(get(&server, ROWS).await.text().lines().count(), 20);
    server.stop().await;
}

#[tokio::test]
async fn a_database_that_comes_back_is_used_again_without_a_restart() {
    on_every_server(async |place| {
        place.demo(30_000).await;
        place.let_in(false).await;
        let server = Server::start(&place, &[]).await;
        for _ in 0..2 {
            assert_away(&server).await;
            place.let_in(true).await;
            assert_eq!(get(&server, "/health/ready").await.status, 200);
            // More than one connection, so that those that died are met.
            let streams = (0..4).map(async |_| {
                let mut stream = Stream::get(&server, ROWS, &[]).await;
                assert_eq!(stream.status(), 200);
                stream.body().await.end
            });
            join_all(streams).await;
            assert_eq!(get(&server, ROWS).await.text().lines().count(), 30_000);
            place.let_in(false).await;
        }
        place.let_in(true).await;
        let ended = Instant::now();
        assert_eq!(get(&server, ROWS).await.status, 200);
        assert!(ended.elapsed() < SECOND, "the first request finds it");
        nothing_works(&server, Instant::now()).await;
        server.stop().await;
    })
    .await;
}
