//! Rows that come slowly reach the client while the query goes on: within 300 ms of the database's
//! giving them, which is the 250 ms that a row waits for its batch and the way there.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use futures::future::join_all;
use serde_json::Value as Json;

use super::{report, rows};
use crate::support::{Backend, End, Listens, Place, Server, Stream, on_every_backend};

/// Rows of the report `slow`.
pub(super) const SLOW_ROWS: usize = 8;
/// How long each of them takes the database, about.
const EACH: Duration = Duration::from_millis(200);
/// The most between a row's being made and its being here.
const WITHIN: Duration = Duration::from_millis(300);

/// Declares the report `slow`: each row takes the database a while, and says as `v` when it was
/// made, in seconds since 1970.
pub(crate) async fn slow_report(place: &Place) {
    let sql = match place.backend() {
        Backend::Postgres => {
            // A backend keeps what it sends until it has 8 KiB of it, or a notice to give.
            let function = format!(
                "CREATE FUNCTION slowly(g bigint) RETURNS text LANGUAGE plpgsql AS $$ BEGIN \
                 RAISE NOTICE 'row %', g; PERFORM pg_sleep({}); \
                 RETURN extract(epoch FROM clock_timestamp())::text; END $$",
                EACH.as_secs_f64()
            );
            place.execute(&function).await;
            format!("SELECT g AS id, slowly(g) AS v FROM generate_series(1, {SLOW_ROWS}) AS g")
        }
        Backend::MySql => {
            // A server keeps what it sends until it has 16 KiB of it, so every other row is there to
            // push the one before it out.
            format!(
                "SELECT seq AS id, IF(seq % 2 = 1, SLEEP({}) + UNIX_TIMESTAMP(SYSDATE(6)), \
                 REPEAT('x', 20000)) AS v FROM seq_1_to_{SLOW_ROWS}",
                2.0 * EACH.as_secs_f64()
            )
        }
        Backend::Sqlite => {
            let steps = sqlite_steps(place).await;
            // Both columns look at the row, so that neither is worked out once for all.
            format!(
                "WITH RECURSIVE n(g) AS (SELECT 1 UNION ALL SELECT g + 1 FROM n WHERE g < {SLOW_ROWS}) \
                 SELECT g + 0 * (WITH RECURSIVE c(i) AS (SELECT g UNION ALL \
                 SELECT i + 1 FROM c WHERE i < g + {steps}) SELECT count(*) FROM c) AS id, \
                 CAST(unixepoch('now', 'subsec', '+' || (g - g) || ' seconds') AS text) AS v FROM n"
            )
        }
    };
    report(place, "slow", &[("id", "int"), ("v", "text")], &sql);
}

/// How many steps take SQLite about as long as a row should take.
async fn sqlite_steps(place: &Place) -> u128 {
    const TRIED: u128 = 300_000;
    let begun = Instant::now();
    let steps = format!(
        "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < {TRIED}) \
         SELECT count(*) FROM c"
    );
    place.value(&steps).await;
    TRIED * EACH.as_micros() / begun.elapsed().as_micros().max(1)
}

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("it is later than 1970")
}

/// Reads the report from the server or what stands before it, and asserts of each row when it came.
pub(crate) async fn read(server: &Server<'_>, front: &impl Listens, coding: &str) {
    let mut stream = Stream::get(front, &rows("slow"), &[("Accept-Encoding", coding)]).await;
    let (instant, clock) = (Instant::now(), now());
    let body = stream.body().await;
    assert_eq!(body.end, End::Complete);
    let run = server.run(&stream.run()).await;
    assert_eq!(run["state"], "complete");

    let (mut end, mut number) = (0, 0);
    for line in body.bytes.split_inclusive(|byte| *byte == b'\n') {
        end += line.len();
        number += 1;
        let row: Json = serde_json::from_slice(line).expect("a row is JSON");
        let v = row["v"].as_str().expect("a text");
        if v.starts_with('x') {
            continue;
        }
        let made: f64 = v.parse().expect("a time");
        let arrival = body.arrivals.iter().find(|arrival| arrival.1 >= end).expect("it came");
        // Before `instant` for what came with the head.
        let came = (clock + arrival.0.saturating_duration_since(instant)).as_secs_f64();
        let took = came - made;
        assert!(took <= WITHIN.as_secs_f64(), "row {number} of {coding} took {took:.3} s");
    }
    assert_eq!(number, SLOW_ROWS);
    assert!(body.arrivals.len() > 2, "the rows came while the query went on");
}

#[tokio::test]
async fn rows_that_trickle_reach_the_client_within_300_ms() {
    on_every_backend(async |place| {
        slow_report(&place).await;
        let server = Server::start(&place, &[]).await;
        match place.backend() {
            // Sleeping costs no processor.
            Backend::Postgres | Backend::MySql => {
                join_all(["identity", "gzip", "zstd"].map(|coding| read(&server, &server, coding)))
                    .await;
            }
            Backend::Sqlite => {
                for coding in ["identity", "gzip", "zstd"] {
                    read(&server, &server, coding).await;
                }
            }
        }
        server.stop().await;
    })
    .await;
}
