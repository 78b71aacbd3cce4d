//! Rows that come slowly reach the client while the query goes on: within 300 ms of the database's
//! giving them, which is the 250 ms that a row waits for its batch and the way there.

use std::io::Read;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use flate2::read::DeflateDecoder;
use futures::future::join_all;
use serde_json::Value as Json;

use super::{report, rows};
use crate::support::{
    Backend, Body, End, Listens, Place, Server, Stream, Workbook, on_every_backend,
};

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

/// The report as it came.
struct Watched {
    body: Body,
    instant: Instant,
    clock: Duration,
}

impl Watched {
    /// Reads the report from the server or what stands before it.
    async fn read(server: &Server<'_>, front: &impl Listens, asked: &str, coding: &str) -> Self {
        let path = format!("{}?{asked}", rows("slow"));
        let mut stream = Stream::get(front, &path, &[("Accept-Encoding", coding)]).await;
        let (instant, clock) = (Instant::now(), now());
        let body = stream.body().await;
        assert_eq!(body.end, End::Complete);
        let run = server.run(&stream.run()).await;
        assert_eq!(run["state"], "complete");
        assert!(body.arrivals.len() > 2, "the rows came while the query went on");
        Self { body, instant, clock }
    }

    /// Asserts when a row was here that says `v`, which is so when so many bytes satisfy `is_here`.
    fn assert_soon(&self, v: &str, about: &str, is_here: impl Fn(usize) -> bool) {
        if v.starts_with('x') {
            return;
        }
        let made: f64 = v.parse().expect("a time");
        let arrival = self.body.arrivals.iter().find(|arrival| is_here(arrival.1));
        let arrival = arrival.expect("it came").0;
        // Before `instant` for what came with the head.
        let came = (self.clock + arrival.saturating_duration_since(self.instant)).as_secs_f64();
        let took = came - made;
        assert!(took <= WITHIN.as_secs_f64(), "{about} took {took:.3} s");
    }
}

/// Reads the report from the server or what stands before it, and asserts of each row when it came.
pub(crate) async fn read(server: &Server<'_>, front: &impl Listens, coding: &str) {
    let watched = Watched::read(server, front, "format=ndjson", coding).await;
    let (mut end, mut number) = (0, 0);
    for line in watched.body.bytes.split_inclusive(|byte| *byte == b'\n') {
        end += line.len();
        number += 1;
        let row: Json = serde_json::from_slice(line).expect("a row is JSON");
        let v = row["v"].as_str().expect("a text");
        watched.assert_soon(v, &format!("row {number} of {coding}"), |here| here >= end);
    }
    assert_eq!(number, SLOW_ROWS);
}

/// Reads the report as a workbook, and asserts of each row when it could be unpacked.
pub(crate) async fn read_book(server: &Server<'_>, front: &impl Listens) {
    let asked = "format=xlsx&delivery=direct";
    let watched = Watched::read(server, front, asked, "identity").await;
    let book = &watched.body.bytes;
    let (sheets, sheet) = (Workbook::new(book).sheets(), sheet_so_far(book));
    let rows = &sheets[0].1;
    assert_eq!(rows.len(), 1 + SLOW_ROWS);
    for (number, row) in rows.iter().enumerate().skip(1) {
        // The bits that do not make a byte yet may say how the row ends.
        let begins = format!("<row r=\"{}\"><c ", number + 1);
        assert!(sheet.contains(&begins), "{begins} is in the whole sheet");
        let about = format!("row {number} of a workbook");
        let is_here = |here: usize| sheet_so_far(&book[..here]).contains(&begins);
        watched.assert_soon(&row[1].to_string(), &about, is_here);
    }
}

/// What can be unpacked of the first sheet when so much of a workbook is here.
fn sheet_so_far(book: &[u8]) -> String {
    let path = b"xl/worksheets/sheet1.xml";
    let Some(at) = book.windows(path.len()).position(|bytes| bytes == path) else {
        return String::new();
    };
    let mut sheet = Vec::new();
    // That it does not end yet is no matter here.
    let _ = DeflateDecoder::new(&book[at + path.len()..]).read_to_end(&mut sheet);
    String::from_utf8_lossy(&sheet).into_owned()
}

#[tokio::test]
async fn rows_that_trickle_reach_the_client_within_300_ms() {
    on_every_backend(async |place| {
        slow_report(&place).await;
        let server = Server::start(&place, &[]).await;
        match place.backend() {
            // Sleeping costs no processor.
            Backend::Postgres | Backend::MySql => {
                let codings = ["identity", "gzip", "zstd"];
                let texts = join_all(codings.map(|coding| read(&server, &server, coding)));
                tokio::join!(texts, read_book(&server, &server));
            }
            Backend::Sqlite => {
                for coding in ["identity", "gzip", "zstd"] {
                    read(&server, &server, coding).await;
                }
                read_book(&server, &server).await;
            }
        }
        server.stop().await;
    })
    .await;
}
