//! Refusals: every fault at once, as a problem that says how to put it right, in the promised order.

mod callers;

use reqwest::Method;
use serde_json::Value as Json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{Answer, Backend, Place, Server, on_every_backend};

const ROWS: &str = "/api/v1/reports/settlements/rows";

fn pairs<const N: usize>(expected: [(&str, &str); N]) -> Vec<(String, String)> {
    expected.map(|(name, code)| (name.to_owned(), code.to_owned())).to_vec()
}

fn sorted(mut problems: Vec<(String, String)>) -> Vec<(String, String)> {
    problems.sort_unstable();
    problems
}

#[tokio::test]
async fn one_request_with_many_faults_lists_all_of_them() {
    on_every_backend(async |place| {
        place.demo(5).await;
        let server = Server::start(&place, &[]).await;
        let parameters = "from=31/12/2026&limit=-1&format=pdf&columns=id,nope&colour=red&tz=Mars/Olympus&\
                          numbers=roman&summary=maybe&header=big&bom=1&delimiter=x&formula_guard=&\
                          kind=payment&kind=refund&min_gross=much&after=page2&delivery=pigeon&filename=";
        let answer = server.get(&format!("{ROWS}?{parameters}")).await;
        let expected = pairs([
            ("after", "bad_cursor"),
            ("bom", "unknown_value"),
            ("colour", "unknown_parameter"),
            ("columns", "unknown_column"),
            ("delimiter", "unknown_value"),
            ("delivery", "unknown_value"),
            ("filename", "empty_value"),
            ("format", "unknown_value"),
            ("formula_guard", "empty_value"),
            ("from", "not_a_time"),
            ("header", "unknown_value"),
            ("kind", "doubled_parameter"),
            ("limit", "not_a_count"),
            ("min_gross", "not_an_int"),
            ("numbers", "unknown_value"),
            ("summary", "unknown_value"),
            ("tz", "unknown_zone"),
        ]);
        assert_eq!(sorted(answer.problems()), expected);
        let problem = answer.problem(400, "malformed_request");
        let list = problem["problems"].as_array().expect("a list");
        let from = list.iter().find(|problem| problem["parameter"] == "from").expect("it is there");
        assert_eq!((&from["code"], &from["value"]), (&"not_a_time".into(), &"31/12/2026".into()));
        assert_eq!(answer.header("x-run-id"), None, "nothing was begun");
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn each_fault_is_refused_by_itself_too() {
    on_every_backend(async |place| {
        place.demo(5).await;
        let server = Server::start(&place, &[]).await;
        let table = [
            ("from=31/12/2026", "from", "not_a_time"),
            ("from=2026-02-29", "from", "not_a_time"),
            ("from=", "from", "empty_value"),
            ("limit=-1", "limit", "not_a_count"),
            ("limit=0", "limit", "not_a_count"),
            ("limit=1.5", "limit", "not_a_count"),
            ("limit=ten", "limit", "not_a_count"),
            ("limit=9223372036854775808", "limit", "not_a_count"),
            ("limit=", "limit", "empty_value"),
            ("limit=5&limit=6", "limit", "doubled_parameter"),
            ("limit=5&limit=5", "limit", "doubled_parameter"),
            ("format=pdf", "format", "unknown_value"),
            ("format=CSV", "format", "unknown_value"),
            ("format=csv&format=json", "format", "doubled_parameter"),
            ("columns=", "columns", "empty_value"),
            ("columns=id,id", "columns", "doubled_column"),
            ("columns=ID", "columns", "unknown_column"),
            ("merchant=1&merchant=", "merchant", "empty_value"),
            ("from=2026-01-01&from=2026-01-02", "from", "doubled_parameter"),
            ("tz=KST9", "tz", "unknown_zone"),
            ("_x=1", "_x", "unknown_parameter"),
        ];
        for (parameters, name, code) in table {
            let answer = server.get(&format!("{ROWS}?{parameters}")).await;
            assert_eq!(answer.problems(), pairs([(name, code)]), "{parameters}");
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn an_unknown_parameter_is_told_the_known_ones() {
    on_every_backend(async |place| {
        place.demo(5).await;
        let server = Server::start(&place, &[]).await;
        let known = async |path: &str, names: &[&str]| {
            let answer = server.get(path).await;
            let problem = answer.problem(400, "malformed_request");
            let detail = problem["problems"][0]["detail"].as_str().expect("a detail").to_owned();
            let missing: Vec<_> = names.iter().filter(|name| !detail.contains(**name)).collect();
            assert!(missing.is_empty(), "{path}: {missing:?} are not named in: {detail}");
        };
        known("/api/v1/runs?colour=red", &["kind", "name", "state", "limit", "after"]).await;
        known("/api/v1/reports/settlements/count?colour=red", &["from", "merchant", "tz"]).await;
        known(&format!("{ROWS}?colums=id"), &["from", "merchant", "columns", "format", "limit"])
            .await;
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_query_string_that_is_no_text_is_refused() {
    on_every_backend(async |place| {
        place.demo(5).await;
        let server = Server::start(&place, &[]).await;
        for query in ["product=%FF", "product=%EA%B0"] {
            let answer =
                raw(&server, &format!("GET {ROWS}?{query} HTTP/1.1\r\nHost: localhost\r\n")).await;
            assert_eq!(answer.0, 400, "{query}: {}", answer.1);
            assert!(answer.1.contains("application/problem+json"), "{query}: {}", answer.1);
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn what_is_not_there_is_a_404() {
    on_every_backend(async |place| {
        place.demo(5).await;
        let server = Server::start(&place, &[]).await;
        let paths = [
            "/nothing",
            "/api/v1",
            "/api/v1/nothing",
            "/api/v1/reports/none",
            "/api/v1/reports/none/rows",
            "/api/v1/reports/none/count",
            "/api/v1/reports/settlements/nothing",
            "/api/v1/reports/Settlements",
            "/api/v1/reports/..%2Fsettlements",
            "/api/v1/runs/0190aaaa-bbbb-7ccc-8ddd-eeeeffff0000",
            "/api/v1/runs/none",
        ];
        for path in paths {
            let problem = server.get(path).await.problem(404, "not_found");
            assert_eq!(problem["title"], "Not Found");
        }
        let problem = server.get("/api/v1/reports/none").await.problem(404, "not_found");
        assert!(
            problem["detail"].as_str().is_some_and(|detail| detail.contains("\"none\"")),
            "{problem}"
        );
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_method_that_an_address_does_not_take_is_a_405_with_allow() {
    on_every_backend(async |place| {
        place.demo(5).await;
        let server = Server::start(&place, &[]).await;
        let run = "/api/v1/runs/0190aaaa-bbbb-7ccc-8ddd-eeeeffff0000";
        let table = [
            (Method::POST, "/api/v1/reports", "GET, HEAD"),
            (Method::DELETE, "/api/v1/reports/settlements", "GET, HEAD"),
            (Method::PUT, ROWS, "GET, HEAD"),
            (Method::PATCH, "/api/v1/reports/settlements/count", "GET, HEAD"),
            (Method::DELETE, "/api/v1/runs", "GET, HEAD"),
            (Method::POST, run, "GET, HEAD, DELETE"),
            (Method::POST, "/health/live", "GET, HEAD"),
            (Method::DELETE, "/api/openapi.json", "GET, HEAD"),
        ];
        for (method, path, allowed) in table {
            let answer = server.request(method.clone(), path, &[]).await;
            answer.problem(405, "method_not_allowed");
            assert_eq!(answer.header("allow"), Some(allowed), "{method} {path}");
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn refusals_come_in_the_promised_order() {
    on_every_backend(async |place| {
        place.demo(5).await;
        let server = Server::start(&place, &[]).await;
        let accept = [("Accept", "application/pdf")];
        let get = async |path: &str| server.request(Method::GET, path, &accept).await;
        get("/api/v1/reports/none/rows?limit=0").await.problem(404, "not_found");
        get(&format!("{ROWS}?limit=0")).await.problem(400, "malformed_request");
        get(ROWS).await.problem(406, "not_acceptable");
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn every_answer_has_a_request_id_of_its_own() {
    on_every_backend(async |place| {
        place.demo(5).await;
        let server = Server::start(&place, &[]).await;
        let mut seen = std::collections::BTreeSet::new();
        for path in [ROWS, "/api/v1/runs", "/nothing", "/health/live", "/api/v1/reports/none"] {
            let answer = server.get(path).await;
            let id = answer.header("x-request-id").expect("an id").to_owned();
            assert!(server.log().contains(&id), "{path}: the log knows the request");
            assert!(seen.insert(id), "{path}");
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_table_that_is_not_there_is_a_problem_without_sql() {
    on_every_backend(async |place| {
        place.report("gone", "from = \"gone\"\n[[columns]]\nkey = \"id\"\ntype = \"int\"\n");
        let server = Server::start(&place, &[]).await;
        let answer = server.get("/api/v1/reports/gone/rows").await;
        let problem = answer.problem(500, "query_failed");
        let words = problem.to_string().to_lowercase();
        assert!(!words.contains("select") && !words.contains("no such table"), "{problem}");
        let run = server.run(&answer.run()).await;
        assert_eq!(
            (&run["state"], &run["error"]["code"]),
            (&"failed".into(), &"query_failed".into())
        );
        server.get("/api/v1/reports/gone/count").await.problem(500, "query_failed");
        server.stop().await;
    })
    .await;
}

/// The status and the whole answer to a request that is spelled out, without the empty line.
async fn raw(server: &Server<'_>, request: &str) -> (u16, String) {
    let mut connection =
        tokio::net::TcpStream::connect(server.address()).await.expect("it listens");
    let request = format!("{request}Connection: close\r\n\r\n");
    connection.write_all(request.as_bytes()).await.expect("it reads");
    let mut answer = Vec::new();
    connection.read_to_end(&mut answer).await.expect("it answers");
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.expect("an answer begins with a status"), answer)
}

#[tokio::test]
async fn problems_are_alike_whatever_is_wrong() {
    on_every_backend(async |place| {
        place.demo(5).await;
        let server = Server::start(&place, &[]).await;
        let answers: [Answer; 4] = [
            server.get("/nothing").await,
            server.get(&format!("{ROWS}?limit=0")).await,
            server.request(Method::POST, ROWS, &[]).await,
            server.request(Method::GET, ROWS, &[("Host", "elsewhere.example")]).await,
        ];
        for answer in answers {
            let problem: Json = serde_json::from_slice(&answer.body).expect("JSON");
            let mut members: Vec<_> =
                problem.as_object().expect("an object").keys().cloned().collect();
            members.retain(|member| member != "problems");
            members.sort_unstable();
            assert_eq!(members, ["code", "detail", "request_id", "status", "title", "type"]);
            assert_eq!(answer.header("cache-control"), Some("no-store"));
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn what_is_no_http_is_answered_by_a_status_alone_and_the_connection_ends() {
    let place = Place::new(Backend::Sqlite).await;
    let server = Server::start(&place, &[]).await;
    let host = format!("Host: {}\r\n\r\n", server.address());
    let get = |target: &[u8]| [b"GET ", target, b" HTTP/1.1\r\n", host.as_bytes()].concat();
    let long_header = format!("X-Long: {}\r\n{host}", "x".repeat(200_000));
    let table = [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n".to_vec(), 400),
        (get(&[b"/?x=".as_slice(), &vec![b'a'; 70_000]].concat()), 400),
        (get(b"/caf\xe9"), 400),
        ([b"GET / HTTP/1.1\r\n", long_header.as_bytes()].concat(), 431),
    ];
    for (request, status) in table {
        let mut connection =
            tokio::net::TcpStream::connect(server.address()).await.expect("it listens");
        // The server may hang up before it has all of it.
        let _ = connection.write_all(&request).await;
        let mut answer = Vec::new();
        let _ = connection.read_to_end(&mut answer).await;
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
        assert!(answer.ends_with("\r\n\r\n"), "there is no body: {answer}");
    }
    assert_eq!(server.json("/health/live").await["status"], "live");
    server.stop().await;
}
