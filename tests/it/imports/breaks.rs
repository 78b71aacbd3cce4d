//! A database that dies, a client that leaves, a disk that is full in the middle of an import: nothing is
//! stored, the run says so, and nothing is left: no file, no session, no staged row, no permit.

use std::time::Instant;

use reqwest::Method;
use serde_json::Value as Json;

use super::stand::{LONG, ROWS, entries, file, hold_up, pass, stand, stands, until_it_stands};
use super::{count, stop, transactions};
use crate::faults::{cancelled, failed, nothing_is_kept, numbers};
use crate::support::{
    Backend, Held, Place, Server, Stream, on_every_backend, on_every_server, until,
};

const PATH: &str = "/api/v1/imports/entries";
/// One import at once, so that a permit that does not come back is missed.
const ONE: [(&str, &str); 2] = [("builds", "1"), ("queue_wait", "1s")];
/// Rows of a file that takes a while to be read.
const MANY: u64 = 150_000;

/// Begins an import, and waits until this many of its rows were read; gives back its run.
async fn begin(server: &Server<'_>, file: &[u8], read: u64) -> (Stream, String) {
    let stream = Stream::post(server, PATH, &[], file).await;
    let run = until("rows are read", LONG, async || {
        let run = server.newest_run().await.filter(|run| run["state"] == "running")?;
        run["id"].as_str().filter(|_| run["rows"].as_u64() >= Some(read)).map(str::to_owned)
    })
    .await;
    (stream, run)
}

/// Asserts that an import left nothing, and that the next one is taken.
async fn nothing_is_left(place: &Place, server: &Server<'_>) {
    nothing_is_kept(server, Instant::now()).await;
    until("no session works for an import", LONG, async || {
        (writers(place).await == "0").then_some(())
    })
    .await;
    assert_eq!(count(place, "entries").await, "0");
    let notes = place.backend().pick(
        "SELECT count(*) FROM sqlite_master WHERE name LIKE 'tallyroll_staged%'",
        "SELECT count(*) FROM pg_class WHERE relname IN ('tallyroll_staged', 'tallyroll_faults')",
        "SELECT 0",
    );
    assert_eq!(place.value(notes).await, "0", "no staged rows");
    let next = server.post(PATH, &[], file(3)).await.json();
    assert_eq!(next["inserted"], 3, "{next}");
    assert_eq!(count(place, "tallyroll_imports").await, "1", "of the next one alone");
}

/// Sessions of the server that are within a transaction or a statement, besides the one that asks.
async fn writers(place: &Place) -> String {
    let busy = place.backend().pick(
        "SELECT 0",
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
         AND application_name = 'tallyroll' AND state <> 'idle'",
        "SELECT count(*) FROM information_schema.processlist WHERE db = DATABASE() \
         AND id <> CONNECTION_ID() AND command <> 'Sleep'",
    );
    place.value(busy).await
}

/// The status and the problem of an answer.
pub(super) async fn problem(mut stream: Stream) -> (u16, Json) {
    stream.head().await;
    let body = stream.body().await.bytes;
    (stream.status(), serde_json::from_slice(&body).expect("a problem"))
}

/// Ends the session that stands, as an administrator would.
async fn end_what_stands(place: &Place) {
    let find = place.backend().pick(
        "",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
         WHERE datname = current_database() AND wait_event = 'advisory'",
        "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND state = 'User lock'",
    );
    let found = place.value(find).await;
    if place.backend() == Backend::MySql {
        place.execute(&format!("KILL {found}")).await;
    }
}

#[tokio::test]
async fn a_session_that_is_ended_within_the_merge_stores_nothing() {
    on_every_server(async |place| {
        entries(&place).await;
        let server = Server::start(&place, &ONE).await;
        let held = stand(&place).await;
        let (stream, run) = begin(&server, &file(ROWS), ROWS).await;
        until_it_stands(&place).await;
        end_what_stands(&place).await;
        let (status, told) = problem(stream).await;
        assert_eq!((status, &told["code"]), (503, &"database_unavailable".into()), "{told}");
        failed(&server, &run, "database_unavailable").await;
        held.let_go().await;
        pass(&place).await;
        nothing_is_left(&place, &server).await;
        stop(server).await;
    })
    .await;
}

/// Has an import into `entries` stand at its row 1000 with what it has stored, and change `others` next.
async fn stand_before_others(place: &Place) -> Held {
    let numbers = numbers(place.backend(), 20_000);
    place
        .execute(&format!(
            "CREATE TABLE others (n bigint NOT NULL); \
             INSERT INTO others SELECT g FROM {numbers} AS numbers"
        ))
        .await;
    let trigger = place.backend().pick(
        "",
        "CREATE FUNCTION stand() RETURNS trigger LANGUAGE plpgsql AS \
         'BEGIN PERFORM pg_advisory_xact_lock(7); UPDATE others SET n = n + 1; RETURN NEW; END'; \
         CREATE TRIGGER stand BEFORE INSERT ON entries FOR EACH ROW WHEN (NEW.qty = 1000) \
         EXECUTE FUNCTION stand()",
        "CREATE TRIGGER stand BEFORE INSERT ON entries FOR EACH ROW IF NEW.qty = 1000 THEN \
         DO GET_LOCK(CONCAT('stand ', DATABASE()), 600); UPDATE others SET n = n + 1; END IF",
    );
    place.execute(trigger).await;
    place
        .hold(place.backend().pick(
            "",
            "SELECT pg_advisory_lock(7)",
            "DO GET_LOCK(CONCAT('stand ', DATABASE()), 0)",
        ))
        .await
}

#[tokio::test]
async fn two_writers_that_wait_for_each_other_are_told_apart_and_the_import_may_come_again() {
    on_every_server(async |place| {
        entries(&place).await;
        let server = Server::start(&place, &ONE).await;
        let held = stand_before_others(&place).await;
        let (stream, run) = begin(&server, &file(ROWS), ROWS).await;
        until_it_stands(&place).await;
        // The other has changed more, so that MariaDB lets it go first; of PostgreSQL's it is whoever
        // finds out.
        let (begin, wait) = place.backend().pick(
            ("", ""),
            (
                "SET deadlock_timeout = '1h'; BEGIN; UPDATE others SET n = n + 1",
                "LOCK TABLE entries IN SHARE ROW EXCLUSIVE MODE",
            ),
            ("BEGIN; UPDATE others SET n = n + 1", "SELECT count(*) FROM entries FOR UPDATE"),
        );
        let mut other = place.hold(begin).await;
        let waiting = tokio::spawn(async move {
            other.then(wait).await;
            other
        });
        let waits = place.backend().pick(
            "",
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
             AND wait_event_type = 'Lock' AND wait_event = 'relation'",
            // Counted in no time, where nobody is in the way.
            "SELECT count(*) FROM information_schema.processlist WHERE db = DATABASE() \
             AND info LIKE 'SELECT count(*) FROM entries FOR%' AND time_ms > 300",
        );
        until("the other waits", LONG, async || (place.value(waits).await == "1").then_some(()))
            .await;
        held.let_go().await;
        let (status, told) = problem(stream).await;
        assert_eq!((status, &told["code"]), (429, &"busy".into()), "{told}");
        failed(&server, &run, "busy").await;
        waiting.await.expect("the other goes on").let_go().await;
        pass(&place).await;
        nothing_is_left(&place, &server).await;
        stop(server).await;
    })
    .await;
}

#[tokio::test]
async fn a_database_that_goes_away_while_rows_are_staged_gets_nothing() {
    on_every_server(async |place| {
        entries(&place).await;
        let server = Server::start(&place, &ONE).await;
        let (stream, run) = begin(&server, &file(MANY), 1).await;
        place.let_in(false).await;
        let (status, told) = problem(stream).await;
        assert_eq!((status, &told["code"]), (503, &"database_unavailable".into()), "{told}");
        failed(&server, &run, "database_unavailable").await;
        let away = server.post(PATH, &[], file(1)).await;
        away.problem(503, "database_unavailable");
        place.let_in(true).await;
        nothing_is_left(&place, &server).await;
        stop(server).await;
    })
    .await;
}

#[tokio::test]
async fn a_client_that_leaves_while_rows_are_staged_stops_the_import() {
    on_every_backend(async |place| {
        entries(&place).await;
        let server = Server::start(&place, &ONE).await;
        let (stream, run) = begin(&server, &file(MANY), 1).await;
        let closed = Instant::now();
        drop(stream);
        cancelled(&server, &run, closed).await;
        nothing_is_left(&place, &server).await;
        stop(server).await;
    })
    .await;
}

#[tokio::test]
async fn a_merge_is_ended_by_whoever_leaves_and_by_whoever_cancels_it() {
    on_every_backend(async |place| {
        entries(&place).await;
        let server = Server::start(&place, &ONE).await;
        let held = stand(&place).await;
        for leaves in [true, false] {
            let (stream, run) = begin(&server, &file(ROWS), ROWS).await;
            until_it_stands(&place).await;
            let ended = Instant::now();
            if leaves {
                drop(stream);
            } else {
                let path = format!("/api/v1/runs/{run}");
                assert_eq!(server.request(Method::DELETE, &path, &[]).await.status, 202);
                let (status, told) = problem(stream).await;
                assert_eq!((status, &told["code"]), (409, &"cancelled".into()), "{told}");
            }
            cancelled(&server, &run, ended).await;
            until("the merge is over", LONG, async || (!stands(&place).await).then_some(())).await;
        }
        held.let_go().await;
        pass(&place).await;
        nothing_is_left(&place, &server).await;
        stop(server).await;
    })
    .await;
}

#[tokio::test]
async fn what_is_committed_is_told_by_its_run_whoever_has_left() {
    on_every_backend(async |place| {
        entries(&place).await;
        let server = Server::start(&place, &ONE).await;
        let held = hold_up(&place).await;
        let (stream, run) = begin(&server, &file(ROWS), ROWS).await;
        until_it_stands(&place).await;
        let row = format!("BEGIN; SELECT id FROM tallyroll_runs WHERE id = '{run}' FOR UPDATE");
        let state = place.backend().pick("BEGIN IMMEDIATE", row.as_str(), row.as_str());
        let state = place.hold_state(state).await;
        held.let_go().await;
        until("it is committed", LONG, async || {
            (count(&place, "entries").await == ROWS.to_string()).then_some(())
        })
        .await;
        drop(stream);
        state.let_go().await;
        let run = server.until_run(&run, |run| run["state"] == "complete", LONG).await;
        assert_eq!(run["result"]["inserted"], ROWS, "{run}");
        nothing_is_kept(&server, Instant::now()).await;
        stop(server).await;
    })
    .await;
}

#[tokio::test]
async fn a_disk_that_is_full_takes_no_upload_and_no_list_of_problems() {
    on_every_backend(async |place| {
        transactions(&place).await;
        let Some(server) = Server::start_on_a_small_disk(&place, 1 << 20, &ONE).await else {
            return;
        };
        let path = "/api/v1/imports/transactions";
        let large = vec![b'x'; 3 << 20];
        let answer = server.post(path, &[], large.clone()).await;
        let told = answer.problem(507, "no_space");
        assert!(told["detail"].to_string().split(' ').count() > 4, "{told}");
        assert_eq!(answer.header("x-run-id"), None, "it was not begun");
        let form = "--x\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n";
        let form = [form.as_bytes(), &large, b"\r\n--x--\r\n"].concat();
        let kind = [("Content-Type", "multipart/form-data; boundary=x")];
        server.post(path, &kind, form).await.problem(507, "no_space");
        assert_eq!(server.temporary_files(), Vec::<String>::new());

        // Small by itself, and with too much to say of it.
        let rows = "A,B,many,some,never\n".repeat(10_000);
        let file = format!("거래번호,거래처명,수량,금액,거래일자\n{rows}");
        let answer = server.post(path, &[], file.into_bytes()).await;
        answer.problem(507, "no_space");
        failed(&server, &answer.run(), "no_space").await;
        nothing_is_kept(&server, Instant::now()).await;
        assert_eq!(count(&place, "transactions").await, "0");
        let good = "거래번호,거래처명,수량,금액,거래일자\nA-1,한빛,1,1.50,2026-01-05\n";
        let outcome = server.post(path, &[], good.into()).await.json();
        assert_eq!(outcome["inserted"], 1, "{outcome}");
        assert!(!server.log().contains("panicked"));
        stop(server).await;
    })
    .await;
}
