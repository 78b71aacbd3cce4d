//! What was sent is what the database holds and what the run says: rows, sums, bytes, digest.

use std::time::Duration;

use serde_json::Value as Json;
use sha2::{Digest, Sha256};

use crate::support::{Body, End, Field, Place, Server, Stream, on_every_backend, parse_csv};

const ROWS: &str = "/api/v1/reports/settlements/rows";
const COUNT: u64 = 20_000;

pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn objects(format: &str, text: &str) -> Vec<Json> {
    if format == "json" {
        return serde_json::from_str(text).expect("an array");
    }
    text.lines().map(|line| serde_json::from_str(line).expect("an object")).collect()
}

/// Ids and the sum of `net` of an answer.
fn told(format: &str, bytes: &[u8]) -> (Vec<i64>, i64) {
    let text = std::str::from_utf8(bytes).expect("UTF-8");
    let pairs: Vec<(i64, i64)> = if format == "csv" {
        let records = parse_csv(text, ',');
        let place = |key: &str| records[0].iter().position(|field| field.as_deref() == Some(key));
        let (id, net) = (place("id").expect("a key"), place("net").expect("a key"));
        let number = |record: &[Field], place: usize| -> i64 {
            record[place].as_deref().and_then(|field| field.parse().ok()).expect("a number")
        };
        records[1..].iter().map(|record| (number(record, id), number(record, net))).collect()
    } else {
        let number = |row: &Json, key: &str| row[key].as_i64().expect("a number");
        let pair = |row: &Json| (number(row, "id"), number(row, "net"));
        objects(format, text).iter().map(pair).collect()
    };
    let sum = pairs.iter().map(|pair| pair.1).sum();
    let mut ids: Vec<i64> = pairs.into_iter().map(|pair| pair.0).collect();
    ids.sort_unstable();
    (ids, sum)
}

async fn stored(place: &Place) -> (u64, i64) {
    let number = async |sql: &str| place.value(sql).await.parse::<i64>().expect("a number");
    let count = number("SELECT count(*) FROM settlement_lines").await;
    let sum = number("SELECT sum(net) FROM settlement_lines").await;
    (u64::try_from(count).expect("not negative"), sum)
}

#[tokio::test]
async fn rows_sums_and_digest_agree_in_every_format_and_coding() {
    on_every_backend(async |place| {
        place.demo(COUNT).await;
        let (count, sum) = stored(&place).await;
        assert_eq!(count, COUNT);
        let server = Server::start(&place, &[]).await;
        let all: Vec<i64> = (1..=i64::try_from(COUNT).expect("small")).collect();
        for format in ["ndjson", "json", "csv"] {
            let mut plain: Option<Vec<u8>> = None;
            for coding in ["identity", "gzip", "zstd"] {
                let path = format!("{ROWS}?format={format}&header=key");
                let mut stream = Stream::get(&server, &path, &[("Accept-Encoding", coding)]).await;
                assert_eq!(stream.status(), 200);
                assert_eq!(stream.header("content-encoding").unwrap_or("identity"), coding);
                let body = stream.body().await;
                // As soon as the last chunk is here.
                let run = server.run(&stream.run()).await;
                assert_eq!(body.end, End::Complete);
                assert_run(&run, &body, format);
                assert!(
                    coding == "identity" || body.sent * 2 < body.bytes.len(),
                    "{coding} saves space"
                );
                let (ids, net) = told(format, &body.bytes);
                assert_eq!(ids, all, "{format} {coding}: every line once");
                assert_eq!(net, sum, "{format} {coding}");
                let same = plain.get_or_insert_with(|| body.bytes.clone());
                assert!(
                    *same == body.bytes,
                    "{format} {coding}: the same rows give the same bytes"
                );
            }
        }
        server.stop().await;
    })
    .await;
}

fn assert_run(run: &Json, body: &Body, format: &str) {
    assert_eq!(run["state"], "complete", "{run}");
    assert_eq!(run["kind"], "report");
    assert_eq!(run["name"], "settlements");
    assert_eq!(run["rows"], COUNT);
    assert_eq!(run["bytes"], body.bytes.len());
    assert_eq!(run["sent_bytes"], body.sent);
    assert_eq!(run["sha256"], sha256(&body.bytes));
    assert_eq!(run["params"], serde_json::json!({ "format": format, "header": "key" }));
    assert_eq!(run["caller"], "local");
    assert_eq!(run["error"], Json::Null);
    assert_eq!(run["warnings"], serde_json::json!([]));
    assert!(run["node"].as_str().is_some_and(|node| !node.is_empty()));
}

fn moment(run: &Json, member: &str) -> jiff::Timestamp {
    let text = run[member].as_str().unwrap_or_else(|| panic!("{member} is there: {run}"));
    assert!(text.ends_with('Z'), "{member} is UTC: {text}");
    text.parse().expect("RFC 3339")
}

#[tokio::test]
async fn the_timings_of_a_run_add_up_to_its_duration_and_say_who_waited() {
    on_every_backend(async |place| {
        place.demo(COUNT).await;
        let server = Server::start(&place, &[]).await;
        let slow = 2_000_000;
        let mut stream = Stream::send_with_buffer(&server, ROWS, &[], Some(64 << 10)).await;
        stream.limit_rate(slow);
        stream.head().await;
        let body = stream.body().await;
        let run = server.run(&stream.run()).await;
        assert_run_times(&run);
        let timing = |part: &str| run["timings_ms"][part].as_u64().expect("milliseconds");
        let total = timing("queue") + timing("query") + timing("encode") + timing("write");
        assert!(timing("write") * 2 > total, "a slow client was waited for: {run}");
        assert_eq!(body.end, End::Complete);
        let fast = server.get(ROWS).await;
        assert_run_times(&server.run(&fast.run()).await);
        server.stop().await;
    })
    .await;
}

pub(crate) fn assert_run_times(run: &Json) {
    let [created, started, finished] =
        ["created_at", "started_at", "finished_at"].map(|name| moment(run, name));
    assert!(created <= started && started <= finished, "{run}");
    let lasted = Duration::try_from(finished.duration_since(created)).expect("not negative");
    let part = |name: &str| run["timings_ms"][name].as_u64().expect("milliseconds");
    let total: u64 = ["queue", "query", "encode", "write"].map(part).iter().sum();
    let gap = lasted.abs_diff(Duration::from_millis(total));
    // The run's own bookkeeping, on a machine that does other things too.
    let most = Duration::from_millis(60) + lasted / 10;
    assert!(gap <= most, "{total} ms of {lasted:?} are accounted for: {run}");
}

#[tokio::test]
async fn rows_are_flushed_every_thousand_and_decodable_as_they_come() {
    on_every_backend(async |place| {
        place.demo(COUNT).await;
        let server = Server::start(&place, &[]).await;
        let whole = server.get(ROWS).await;
        let mut borders = vec![0];
        let mut bytes = 0;
        for (index, line) in whole.text().lines().enumerate() {
            bytes += line.len() + 1;
            if (index + 1) % 1_000 == 0 {
                borders.push(bytes);
            }
        }
        for coding in ["gzip", "zstd"] {
            let mut stream = Stream::get(&server, ROWS, &[("Accept-Encoding", coding)]).await;
            let body = stream.body().await;
            // However the connection cuts it: at each thousand rows, everything before can be read.
            let seen: Vec<usize> = body.arrivals.iter().map(|arrival| arrival.1).collect();
            for border in &borders[1..] {
                assert!(seen.contains(border), "{coding}: nothing ends at byte {border}: {seen:?}");
            }
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn the_summary_is_a_last_line_that_does_not_count() {
    on_every_backend(async |place| {
        place.demo(100).await;
        let server = Server::start(&place, &[]).await;
        let plain = server.get(ROWS).await;
        for coding in ["identity", "gzip", "zstd"] {
            let path = format!("{ROWS}?summary=true");
            let mut stream = Stream::get(&server, &path, &[("Accept-Encoding", coding)]).await;
            let body = stream.body().await;
            let text = String::from_utf8(body.bytes).expect("UTF-8");
            let last = text.strip_prefix(plain.text()).expect("the rows come first");
            let run = server.run(&stream.run()).await;
            assert_eq!(run["sha256"], sha256(&plain.body));
            assert_eq!((&run["rows"], &run["bytes"]), (&100.into(), &plain.body.len().into()));
            assert_eq!(run["sent_bytes"], body.sent, "what was sent has the summary in it");
            let expected = serde_json::json!({ "_summary": {
                "run_id": stream.run(), "state": "complete", "rows": 100, "sha256": run["sha256"], "next": null,
            }});
            assert!(last.ends_with("}\n"), "{last:?}");
            assert_eq!(serde_json::from_str::<Json>(last).expect("one line of JSON"), expected);
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn no_rows_are_nothing_an_empty_array_or_a_header_alone() {
    on_every_backend(async |place| {
        place.demo(10).await;
        let server = Server::start(&place, &[]).await;
        let header = "ID,가맹점ID";
        for (format, expected) in
            [("ndjson", String::new()), ("json", "[]\n".into()), ("csv", format!("{header}\r\n"))]
        {
            for coding in ["identity", "gzip", "zstd"] {
                let path = format!("{ROWS}?format={format}&from=2999-01-01&columns=id,merchant_id");
                let mut stream = Stream::get(&server, &path, &[("Accept-Encoding", coding)]).await;
                assert_eq!(stream.status(), 200, "{format}");
                let body = stream.body().await;
                assert_eq!(body.end, End::Complete);
                assert_eq!(String::from_utf8_lossy(&body.bytes), expected, "{format} {coding}");
                let run = server.run(&stream.run()).await;
                assert_eq!((&run["state"], &run["rows"]), (&"complete".into(), &0.into()), "{run}");
                assert_eq!(run["sha256"], sha256(expected.as_bytes()));
            }
        }
        let page = server.get(&format!("{ROWS}?from=2999-01-01&limit=10")).await;
        assert_eq!((page.text(), page.header("link")), ("", None));
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_report_of_sql_is_narrowed_like_a_table() {
    on_every_backend(async |place| {
        place.demo(500).await;
        place.report(
            "by-merchant",
            r#"
            sql = '''
            select merchant_id, count(*) as n, sum(net) as net -- one row each; "q" and $tag$ stay text
            from settlement_lines group by merchant_id
            -- the end
            '''
            order_by = ["merchant_id"]
            [[columns]]
            key = "merchant_id"
            type = "int"
            [[columns]]
            key = "n"
            type = "int"
            [[columns]]
            key = "net"
            type = "int"
            [[filters]]
            name = "most"
            column = "merchant_id"
            op = "<="
            "#,
        );
        let server = Server::start(&place, &[]).await;
        let answer = server.get("/api/v1/reports/by-merchant/rows").await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let rows: Vec<Json> = answer.text().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let sum: i64 = rows.iter().map(|row| row["net"].as_i64().expect("a number")).sum();
        assert_eq!((500, sum), stored(&place).await);
        let lines: i64 = rows.iter().map(|row| row["n"].as_i64().expect("a number")).sum();
        assert_eq!(lines, 500);
        let few = server.get("/api/v1/reports/by-merchant/rows?most=2000").await;
        let expected: String = rows
            .iter()
            .zip(answer.text().split_inclusive('\n'))
            .filter(|(row, _)| row["merchant_id"].as_i64() <= Some(2_000))
            .map(|(_, line)| line)
            .collect();
        assert!(!expected.is_empty());
        assert_eq!(few.text(), expected);
        server.stop().await;
    })
    .await;
}
