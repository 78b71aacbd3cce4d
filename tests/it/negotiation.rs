//! Which format, which coding, under which name; and HEAD, which begins nothing.

use reqwest::Method;

use crate::support::{Place, Server, Stream, on_every_backend};

const ROWS: &str = "/api/v1/reports/one/rows";
const NDJSON: &str = "application/x-ndjson";
const JSON: &str = "application/json";
const CSV: &str = "text/csv; charset=utf-8";

async fn make(place: &Place) {
    place.execute("CREATE TABLE one (id bigint PRIMARY KEY); INSERT INTO one VALUES (1)").await;
    place.report(
        "one",
        "title = \"한 줄: 50% \\\"표\\\"\"\nfrom = \"one\"\norder_by = [\"id\"]\n[[columns]]\nkey = \"id\"\ntype = \"int\"\n",
    );
}

#[tokio::test]
async fn the_media_type_is_chosen_by_accept() {
    on_every_backend(async |place| {
        make(&place).await;
        let server = Server::start(&place, &[]).await;
        let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,\
                       */*;q=0.8,application/signed-exchange;v=b3;q=0.7";
        let table = [
            ("", NDJSON),
            ("*/*", NDJSON),
            (browser, NDJSON),
            ("application/x-ndjson", NDJSON),
            ("application/jsonl", "application/jsonl"),
            ("application/json", JSON),
            ("text/csv", CSV),
            ("text/*", CSV),
            ("TEXT/CSV", CSV),
            ("application/json;q=0.5, text/csv", CSV),
            ("application/json, text/csv;q=0.5", JSON),
            ("application/pdf, text/csv;q=0.1", CSV),
            ("*/*;q=0.1, application/json", JSON),
            ("application/x-ndjson;q=0, application/*", JSON),
            ("application/json;q=0, text/csv;q=0, */*", NDJSON),
        ];
        for (accept, media_type) in table {
            let headers: &[(&str, &str)] = if accept.is_empty() { &[] } else { &[("Accept", accept)] };
            // The raw client adds no Accept of its own.
            let mut stream = Stream::get(&server, ROWS, headers).await;
            assert_eq!((stream.status(), stream.header("content-type")), (200, Some(media_type)), "{accept}");
            let body = stream.body().await.bytes;
            let expected: &[u8] = match media_type {
                JSON => b"[\n{\"id\":1}\n]\n",
                CSV => b"id\r\n1\r\n",
                _ => b"{\"id\":1}\n",
            };
            assert_eq!(body, expected, "{accept}");
            assert_eq!(stream.header("vary"), Some("Accept, Accept-Encoding"));
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn accept_that_nothing_fits_is_a_406_that_names_what_there_is() {
    on_every_backend(async |place| {
        make(&place).await;
        let server = Server::start(&place, &[]).await;
        for accept in ["application/pdf", "image/*", "application/json;q=0", "*/*;q=0"] {
            let answer = server.request(Method::GET, ROWS, &[("Accept", accept)]).await;
            let problem = answer.problem(406, "not_acceptable");
            let detail = problem["detail"].as_str().expect("a detail");
            assert!([NDJSON, JSON, CSV].iter().all(|offer| detail.contains(offer)), "{detail}");
            assert_eq!(answer.header("x-run-id"), None, "{accept}: nothing was begun");
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn the_parameter_wins_over_accept() {
    on_every_backend(async |place| {
        make(&place).await;
        let server = Server::start(&place, &[]).await;
        for accept in ["application/json", "application/pdf", "*/*"] {
            let path = format!("{ROWS}?format=csv");
            let answer = server.request(Method::GET, &path, &[("Accept", accept)]).await;
            assert_eq!(
                (answer.status, answer.header("content-type")),
                (200, Some(CSV)),
                "{accept}"
            );
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn the_coding_is_chosen_by_accept_encoding() {
    on_every_backend(async |place| {
        make(&place).await;
        let server = Server::start(&place, &[]).await;
        let table = [
            ("", None),
            ("identity", None),
            ("br, deflate", None),
            ("gzip", Some("gzip")),
            ("GZIP", Some("gzip")),
            ("zstd", Some("zstd")),
            ("gzip, deflate, br, zstd", Some("zstd")),
            ("gzip;q=1.0, zstd;q=0.5", Some("gzip")),
            ("zstd;q=0, gzip", Some("gzip")),
            ("gzip;q=0, zstd;q=0.0", None),
            ("gzip;q=0, *", Some("zstd")),
            ("zstd;q=0, *;q=0.1", Some("gzip")),
        ];
        for (accepted, coding) in table {
            let headers: &[(&str, &str)] =
                if accepted.is_empty() { &[] } else { &[("Accept-Encoding", accepted)] };
            let mut stream = Stream::get(&server, ROWS, headers).await;
            assert_eq!(stream.header("content-encoding"), coding, "{accepted}");
            assert_eq!(stream.body().await.bytes, b"{\"id\":1}\n", "{accepted}");
        }
        let path = format!("{ROWS}?format=xlsx&delivery=direct");
        let book = Stream::get(&server, &path, &[("Accept-Encoding", "gzip, zstd")]).await;
        assert_eq!(book.header("content-encoding"), None, "a workbook is compressed already");
        drop(book);
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn plain_json_is_compressed_for_those_who_take_it() {
    on_every_backend(async |place| {
        make(&place).await;
        let server = Server::start(&place, &[]).await;
        let plain = server.get("/api/openapi.json").await;
        assert_eq!(plain.header("content-encoding"), None);
        let mut stream =
            Stream::get(&server, "/api/openapi.json", &[("Accept-Encoding", "gzip")]).await;
        assert_eq!(stream.header("content-encoding"), Some("gzip"));
        let vary = stream.header("vary").expect("the answer depends on a header").to_owned();
        assert!(vary.contains("Accept-Encoding"), "{vary}");
        let body = stream.body().await;
        assert!(body.sent < plain.body.len() / 2);
        assert_eq!(body.bytes, plain.body);
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn direct_answers_say_how_they_are_to_be_treated() {
    on_every_backend(async |place| {
        make(&place).await;
        let server = Server::start(&place, &[]).await;
        let answer = server.get(ROWS).await;
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert_eq!(answer.header("x-accel-buffering"), Some("no"));
        let timing = answer.header("server-timing").expect("where the time went");
        assert!(timing.contains("dur="), "{timing}");
        assert_eq!(answer.header("content-length"), None, "the length is not known beforehand");
        assert!(uuid::Uuid::parse_str(&answer.run()).is_ok_and(|id| id.get_version_num() == 7));
        server.stop().await;
    })
    .await;
}

/// The two names of a `Content-Disposition`; the second decoded.
fn names(header: &str) -> (String, Option<String>) {
    let rest = header.strip_prefix("attachment; filename=\"").expect("an attachment with a name");
    let (plain, rest) = rest.split_once('"').expect("the name is quoted");
    assert!(plain.is_ascii(), "{plain}");
    let extended = (!rest.is_empty()).then(|| {
        let coded = rest.strip_prefix("; filename*=UTF-8''").expect("RFC 8187");
        assert!(coded.is_ascii() && !coded.contains(['"', ' ', '\'', ';', ',']), "{coded}");
        let pair = format!("a={}", coded.replace('+', "%2B"));
        let (_, name) = url::form_urlencoded::parse(pair.as_bytes()).next().expect("a pair");
        name.into_owned()
    });
    (plain.to_owned(), extended)
}

#[tokio::test]
async fn a_download_has_a_name_for_every_client() {
    on_every_backend(async |place| {
        make(&place).await;
        let server = Server::start(&place, &[]).await;
        let named = async |parameters: &str| {
            let answer = server.get(&format!("{ROWS}?{parameters}")).await;
            names(answer.header("content-disposition").expect("a name"))
        };
        let (_, name) = named("format=csv").await;
        let name = name.expect("Hangul needs the second name");
        let date =
            name.strip_prefix("한 줄: 50% \"표\" ").and_then(|rest| rest.strip_suffix(".csv"));
        let date = date.unwrap_or_else(|| panic!("{name} is title and date"));
        assert!(date.parse::<jiff::civil::Date>().is_ok(), "{date}");
        let table = [
            ("march.csv", "march.csv"),
            ("march", "march.csv"),
            ("March.CSV", "March.csv"),
            ("3%EC%9B%94%20%EC%A0%95%EC%82%B0", "3월 정산.csv"),
            // Decomposed, as macOS sends it.
            ("%E1%84%80%E1%85%A1", "가.csv"),
            ("../../etc/passwd", "passwd.csv"),
            ("C:%5Cboot.csv", "boot.csv"),
            ("a%22b%0D%0AX-Evil:1%3B%25.csv", "a\"bX-Evil:1;%.csv"),
            ("%F0%9F%98%80", "😀.csv"),
        ];
        for (parameter, expected) in table {
            let (plain, extended) = named(&format!("format=csv&filename={parameter}")).await;
            assert_eq!(extended.unwrap_or(plain), expected, "{parameter}");
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn head_answers_as_get_without_a_body_and_begins_no_run() {
    on_every_backend(async |place| {
        make(&place).await;
        let server = Server::start(&place, &[]).await;
        let paths = [
            "/api/v1/reports",
            "/api/v1/reports/one",
            "/api/v1/reports/one/count",
            "/api/v1/runs",
            "/api/openapi.json",
            "/health/live",
            "/health/ready",
        ];
        for path in paths {
            let (head, get) =
                (server.request(Method::HEAD, path, &[]).await, server.get(path).await);
            assert_eq!((head.status, head.body.len()), (200, 0), "{path}");
            for header in ["content-type", "content-length", "vary", "cache-control"] {
                assert_eq!(head.header(header), get.header(header), "{path} {header}");
            }
        }
        let path = format!("{ROWS}?format=csv&filename=x");
        let head = server.request(Method::HEAD, &path, &[("Accept-Encoding", "gzip")]).await;
        assert_eq!((head.status, head.body.len(), head.header("x-run-id")), (200, 0, None));
        let runs = server.json("/api/v1/runs").await;
        assert_eq!(runs["items"], serde_json::json!([]), "HEAD began a run");
        let stream = Stream::get(&server, &path, &[("Accept-Encoding", "gzip")]).await;
        for header in
            ["content-type", "content-disposition", "content-encoding", "vary", "cache-control"]
        {
            assert_eq!(head.header(header), stream.header(header), "{header}");
        }
        drop(stream);
        let path = format!("{ROWS}?format=xlsx");
        let head = server.request(Method::HEAD, &path, &[]).await;
        let built = server.get(&path).await;
        for header in [
            "content-type",
            "content-disposition",
            "accept-ranges",
            "x-accel-buffering",
            "cache-control",
        ] {
            assert_eq!(head.header(header), built.header(header), "{header} of a prepared file");
        }
        let run = format!("/api/v1/runs/{}", built.header("x-run-id").expect("it has a run"));
        assert_eq!(server.request(Method::DELETE, &run, &[]).await.status, 204);
        for (path, status) in
            [(format!("{ROWS}?limit=0"), 400), ("/api/v1/reports/none/rows".into(), 404)]
        {
            let head = server.request(Method::HEAD, &path, &[]).await;
            assert_eq!((head.status, head.body.len()), (status, 0), "{path}");
        }
        server.stop().await;
    })
    .await;
}
