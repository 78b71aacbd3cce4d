//! A server that is killed in the middle of an import, or taken for dead: asked again with the same key,
//! every row is there once, and the answer is the one that the first run would have given.

use serde_json::Value as Json;

use super::stand::{LONG, ROWS, entries, file, hold_up, pass, stand, stands, until_it_stands};
use super::{count, stop};
use crate::support::{Backend, Place, Server, Stream, on_every_backend, until};

const PATH: &str = "/api/v1/imports/entries";
const KEY: [(&str, &str); 1] = [("Idempotency-Key", "once")];
/// Rows of a file that takes a while to be read.
const MANY: u64 = 150_000;

/// Begins an import, and waits until this many of its rows were read; gives back its run.
async fn begin(server: &Server<'_>, file: &[u8], read: u64) -> (Stream, String) {
    let stream = Stream::post(server, PATH, &KEY, file).await;
    let run = until("rows are read", LONG, async || {
        let run = server.newest_run().await.filter(|run| run["rows"].as_u64() >= Some(read))?;
        run["id"].as_str().map(str::to_owned)
    })
    .await;
    (stream, run)
}

/// Kills a server in the middle of an import; its client gets no answer.
async fn kill(server: Server<'_>, mut stream: Stream) {
    server.kill("KILL");
    server.exited(LONG).await;
    assert!(!stream.answered().await, "the client knows nothing");
}

/// Starts the next server on what a killed one left, and waits until that one counts as dead.
async fn next<'p>(place: &'p Place, run: &str, file: &[u8]) -> Server<'p> {
    let server = Server::start(place, &[]).await;
    assert_eq!(server.temporary_files(), Vec::<String>::new(), "nothing is left of the other");
    let early = server.post(PATH, &KEY, file.to_vec()).await;
    if early.status == 200 {
        // It counts as dead already, and what it had committed is told.
        assert_eq!(early.run(), run, "{}", early.text());
        return server;
    }
    early.problem(409, "still_running");
    let run = server.until_run(run, |run| run["state"] == "failed", LONG).await;
    assert_eq!(run["error"]["code"], "node_lost", "{run}");
    server
}

/// Asks again, twice: the first time it is done if it was not, the second time it is told.
async fn ask_again(place: &Place, server: &Server<'_>, file: Vec<u8>, rows: u64) -> Json {
    let answer = server.post(PATH, &KEY, file.clone()).await;
    let outcome = answer.json();
    assert_eq!(answer.run(), outcome["run_id"], "{outcome}");
    let told = ["rows_read", "inserted", "updated", "unchanged", "rejected", "problems_total"];
    let told = told.map(|word| outcome[word].as_u64());
    assert_eq!(told, [Some(rows), Some(rows), Some(0), Some(0), Some(0), Some(0)], "{outcome}");
    assert_eq!(outcome["stored"], true, "{outcome}");
    let run = server.run(&answer.run()).await;
    assert_eq!((&run["state"], &run["result"]), (&"complete".into(), &outcome), "{run}");
    assert_eq!((&run["rows"], &run["error"]), (&rows.into(), &Json::Null), "{run}");

    let again = server.post(PATH, &KEY, file).await;
    assert_eq!((again.status, again.text()), (200, answer.text()), "the same answer");
    each_row_once(place, rows).await;
    outcome
}

/// Ends the sessions of a killed server that wait in the database of its own tables.
async fn end_state_sessions(place: &Place) {
    let (waiting, end) = match place.backend() {
        Backend::Sqlite => return,
        Backend::Postgres => (
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
             AND application_name = 'tallyroll'",
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
             WHERE datname = current_database() AND application_name = 'tallyroll'",
        ),
        Backend::MySql => (
            "SELECT count(*) FROM information_schema.processlist WHERE db = DATABASE() \
             AND id <> CONNECTION_ID() AND command <> 'Sleep'",
            "SELECT coalesce(min(id), 0) FROM information_schema.processlist \
             WHERE db = DATABASE() AND id <> CONNECTION_ID() AND command <> 'Sleep'",
        ),
    };
    until("no session of it is left", LONG, async || {
        let found = place.state_value(end).await;
        if place.backend() == Backend::MySql && found != "0" {
            place.hold_state(&format!("KILL QUERY {found}")).await.let_go().await;
        }
        (place.state_value(waiting).await == "0").then_some(())
    })
    .await;
}

async fn each_row_once(place: &Place, rows: u64) {
    assert_eq!(count(place, "entries").await, rows.to_string());
    let different = place.value("SELECT count(DISTINCT code) FROM entries").await;
    assert_eq!(different, rows.to_string());
    let sum = place.value("SELECT sum(qty) FROM entries").await;
    assert_eq!(sum, (rows * (rows + 1) / 2).to_string());
}

#[tokio::test]
async fn killed_while_rows_are_read_it_is_done_when_asked_again() {
    on_every_backend(async |place| {
        entries(&place).await;
        let file = file(MANY);
        let server = Server::start(&place, &[]).await;
        let (stream, run) = begin(&server, &file, 1).await;
        kill(server, stream).await;
        let server = next(&place, &run, &file).await;
        assert_eq!(count(&place, "entries").await, "0", "it was far from stored");
        let outcome = ask_again(&place, &server, file, MANY).await;
        assert_ne!(outcome["run_id"], run, "another run did it");
        stop(server).await;
    })
    .await;
}

#[tokio::test]
async fn killed_within_the_merge_it_is_done_when_asked_again() {
    on_every_backend(async |place| {
        entries(&place).await;
        let file = file(ROWS);
        let server = Server::start(&place, &[]).await;
        let held = stand(&place).await;
        let (stream, run) = begin(&server, &file, ROWS).await;
        until_it_stands(&place).await;
        kill(server, stream).await;
        if place.backend() == Backend::Postgres {
            // The session sees that nobody is there any more, though what it waits for does not come.
            until("the session is gone", LONG, async || (!stands(&place).await).then_some(()))
                .await;
        }
        held.let_go().await;
        let server = next(&place, &run, &file).await;
        assert_eq!(count(&place, "entries").await, "0", "nothing of half a merge");
        pass(&place).await;
        let outcome = ask_again(&place, &server, file, ROWS).await;
        assert_ne!(outcome["run_id"], run, "another run did it");
        stop(server).await;
    })
    .await;
}

#[tokio::test]
async fn killed_between_the_commit_and_the_answer_it_is_told_when_asked_again() {
    on_every_backend(async |place| {
        entries(&place).await;
        let file = file(ROWS);
        let server = Server::start(&place, &[]).await;
        let held = hold_up(&place).await;
        let (stream, run) = begin(&server, &file, ROWS).await;
        until_it_stands(&place).await;
        // The run's end cannot be written down, and the answer waits for it.
        let row = format!("BEGIN; SELECT id FROM tallyroll_runs WHERE id = '{run}' FOR UPDATE");
        let state = place.backend().pick("BEGIN IMMEDIATE", row.as_str(), row.as_str());
        let state = place.hold_state(state).await;
        held.let_go().await;
        until("it is committed", LONG, async || {
            // SQLite makes the table first, which had to wait as well.
            let there = match place.backend() {
                Backend::Sqlite => {
                    "SELECT count(*) FROM sqlite_master WHERE name = 'tallyroll_imports'"
                }
                Backend::Postgres | Backend::MySql => "SELECT 1",
            };
            let noted = async || count(&place, "tallyroll_imports").await == "1";
            (place.value(there).await == "1" && noted().await).then_some(())
        })
        .await;
        kill(server, stream).await;
        // What a dead server has asked a database for is done nevertheless, unless its session ends.
        end_state_sessions(&place).await;
        state.let_go().await;
        if place.backend() != Backend::Sqlite {
            pass(&place).await;
        }
        each_row_once(&place, ROWS).await;
        let server = next(&place, &run, &file).await;
        let outcome = ask_again(&place, &server, file, ROWS).await;
        assert_eq!(outcome["run_id"], run, "the first run did it");
        stop(server).await;
    })
    .await;
}

#[tokio::test]
async fn a_server_that_was_only_taken_for_dead_stores_nothing_any_more() {
    on_every_backend(async |place| {
        entries(&place).await;
        let file = file(MANY);
        let first = Server::start(&place, &[]).await;
        let (mut stream, run) = begin(&first, &file, 1).await;
        first.kill("STOP");
        let data = place.path().join("other");
        let data = data.to_str().expect("a plain name");
        let second = Server::start(&place, &[("data-dir", data)]).await;
        second.until_run(&run, |run| run["state"] == "failed", LONG).await;
        let outcome = ask_again(&place, &second, file, MANY).await;
        assert_ne!(outcome["run_id"], run, "another run did it");

        first.kill("CONT");
        stream.head().await;
        let told: Json = serde_json::from_slice(&stream.body().await.bytes).expect("a problem");
        assert_eq!((stream.status(), &told["code"]), (503, &"node_lost".into()), "{told}");
        each_row_once(&place, MANY).await;
        let run = second.run(&run).await;
        assert_eq!(run["error"]["code"], "node_lost", "{run}");
        stop(first).await;
        second.stop().await;
    })
    .await;
}
