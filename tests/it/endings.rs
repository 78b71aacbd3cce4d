//! How answers and servers end: the parts that every other test takes for granted.

use std::time::Duration;

use crate::support::{Backend, End, Place, Server, Stream, curl, on_every_backend};

const FAILS: &str = "/api/v1/reports/fails/rows";
const SOON: Duration = Duration::from_secs(3);

/// A report that fails at row 50,001, and one that goes on for very long.
fn make(place: &Place) {
    let (fails, long) = place.backend().pick(
        (
            "with recursive g(id) as (select 1 union all select id + 1 from g where id < 100000) \
             select id, case when id = 50001 then 'x' else 1 end as x from g",
            "with recursive g(id) as (select 1 union all select id + 1 from g where id < 100000000) \
             select id, 1 as x from g",
        ),
        (
            "select id, 1 / (50001 - id) as x from generate_series(1, 100000) as g (id)",
            "select id, 1 as x from generate_series(1, 100000000) as g (id)",
        ),
        (
            "select seq as id, abs(if(seq = 50001, -9223372036854775807 - 1, 0)) as x \
             from seq_1_to_100000",
            "select seq as id, 1 as x from seq_1_to_100000000",
        ),
    );
    let columns =
        "[[columns]]\nkey = \"id\"\ntype = \"int\"\n[[columns]]\nkey = \"x\"\ntype = \"int\"\n";
    place.report("fails", &format!("sql = \"{fails}\"\n{columns}"));
    place.report("long", &format!("sql = \"{long}\"\n{columns}"));
}

#[tokio::test]
async fn an_answer_that_fails_midway_is_broken_off_and_its_run_says_why() {
    on_every_backend(async |place| {
        make(&place);
        let server = Server::start(&place, &[]).await;
        let code = place.backend().pick("undecodable_value", "query_failed", "query_failed");
        for format in ["ndjson", "json", "csv"] {
            for coding in ["identity", "gzip", "zstd"] {
                let path = format!("{FAILS}?format={format}&header=none");
                let mut stream = Stream::get(&server, &path, &[("Accept-Encoding", coding)]).await;
                assert_eq!(stream.status(), 200);
                let body = stream.body().await;
                assert_eq!(body.end, End::BrokenOff, "{format} {coding}");
                let run =
                    server.until_run(&stream.run(), |run| run["state"] == "failed", SOON).await;
                assert_eq!(run["error"]["code"], code);
                assert_eq!(run["sha256"], serde_json::Value::Null, "there is no whole to digest");
                let lines = String::from_utf8(body.bytes).expect("UTF-8").lines().count();
                assert!(
                    (40_000..=50_001).contains(&lines),
                    "{format} {coding}: {lines} lines were seen"
                );
            }
        }
        let summary = server.url(&format!("{FAILS}?summary=true"));
        let broken = curl(&[&summary]).await;
        assert!(matches!(broken.code, Some(18 | 56)), "{:?} {}", broken.code, broken.stderr);
        let last = broken.text().lines().last().expect("lines");
        let last: serde_json::Value = serde_json::from_str(last).expect("the last line is whole");
        assert_eq!(
            (&last["_summary"]["state"], &last["_summary"]["code"]),
            (&"failed".into(), &code.into())
        );
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_client_that_hangs_up_or_is_cut_off_cancels_its_run() {
    on_every_backend(async |place| {
        make(&place);
        let server = Server::start(&place, &[]).await;
        for reset in [false, true] {
            let mut stream = Stream::get(&server, "/api/v1/reports/long/rows", &[]).await;
            assert!(stream.next_chunk().await.is_some());
            let id = stream.run();
            let run = server.newest_run().await.expect("it has begun");
            assert_eq!((&run["id"], &run["state"]), (&id.clone().into(), &"running".into()));
            server.until_pump_threads(1).await;
            if reset {
                stream.reset();
            } else {
                drop(stream);
            }
            let run = server.until_run(&id, |run| run["state"] == "cancelled", SOON).await;
            assert_eq!(run["error"], serde_json::Value::Null);
            server.settled().await;
        }
        assert!(server.rss_kib() <= server.peak_kib());
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn signals_are_heeded_from_the_moment_the_address_is_told() {
    on_every_backend(async |place| {
        for signal in ["INT", "TERM"].repeat(3) {
            let server = Server::start(&place, &[]).await;
            server.kill(signal);
            assert_eq!(server.exited(SOON).await.code(), Some(0), "SIG{signal} ends it in order");
        }
        for _ in 0..3 {
            let server = Server::start(&place, &[]).await;
            server.kill("HUP");
            assert_eq!(server.json("/health/live").await["status"], "live");
            server.stop().await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_port_that_is_taken_is_told_with_the_way_out() {
    let place = Place::new(Backend::Sqlite).await;
    let server = Server::start(&place, &[]).await;
    let address = server.address().trim_start_matches("http://");
    let second = place.tallyroll(&["serve", "--auth", "off", "--listen", address]).await;
    assert_eq!(second.code, Some(1), "{}", second.stderr);
    let told = format!("another program listens on \"{address}\" already");
    assert!(second.stderr.contains(&told), "{}", second.stderr);
    assert!(second.stderr.contains("--listen 127.0.0.1:0"), "{}", second.stderr);
    server.stop().await;
}
