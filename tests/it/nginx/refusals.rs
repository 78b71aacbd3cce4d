//! Refusals: those of the server pass unchanged, and those of nginx are problems too.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::Value as Json;
use tokio::net::TcpListener;

use super::raw;
use crate::faults::{long_report, rows, short_report, sorting_report};
use crate::imports::stand::{entries, file};
use crate::support::{Answer, Nginx, Server, Stream, behind_nginx, once_behind_nginx, until};

/// Everything of a problem but what differs from request to request.
fn same(answer: &Answer, status: u16, code: &str) -> (Json, Vec<(String, String)>) {
    let mut problem = answer.problem(status, code);
    problem["request_id"] = Json::Null;
    let theirs = ["allow", "cache-control", "content-type", "retry-after", "www-authenticate"];
    let mut headers = answer.headers.clone();
    headers.retain(|header| theirs.contains(&&*header.0));
    headers.sort();
    (problem, headers)
}

#[tokio::test]
async fn the_servers_problems_pass_unchanged() {
    behind_nginx(async |place| {
        short_report(&place);
        sorting_report(&place);
        let settings = [("first_row_timeout", "1s")];
        let server = Server::start(&place, &settings).await;
        let nginx = Nginx::start(&place, &server, &settings).await;
        let unknown = format!("{}?a=1&b=%22&format=pdf", rows("short"));
        for (method, path, status, code) in [
            (Method::GET, &*unknown, 400, "malformed_request"),
            (Method::GET, "/api/v1/runs?a=%ZZ", 400, "malformed_request"),
            (Method::GET, "/api/v1/reports/none", 404, "not_found"),
            (Method::GET, "/a//b/../c", 404, "not_found"),
            (Method::PUT, "/api/v1/runs", 405, "method_not_allowed"),
            (Method::GET, &rows("sorting"), 504, "first_row_timeout"),
        ] {
            let through = nginx.request(method.clone(), path, &[]).await;
            let alone = server.request(method, path, &[]).await;
            assert_eq!(same(&through, status, code), same(&alone, status, code), "{path}");
        }
        // An open server is open to its machine alone, also where nginx stands on it.
        for header in [("Host", "reports.example.com"), ("X-Forwarded-For", "10.0.0.1")] {
            let answer = nginx.request(Method::GET, "/api/v1/runs", &[header]).await;
            answer.problem(403, "forbidden");
        }
        nginx.stop().await;
        server.stop().await;
    })
    .await;
}

/// A problem that nginx gives for these words.
async fn nginx_says(nginx: &Nginx, request: &str, status: u16, code: &str) {
    let (head, body) = raw(nginx, request).await;
    let shown = &request[..request.len().min(60)];
    assert!(head.starts_with(&format!("http/1.1 {status} ")), "{shown}: {head}");
    let header = |name: &str| {
        let line = head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
        line.map(str::to_owned)
    };
    let pair = |name: &str| header(name).map(|value| (name.to_owned(), value));
    let names = ["content-type", "x-request-id"];
    let headers = names.into_iter().filter_map(pair).collect();
    Answer { status, headers, body }.problem(status, code);
    let retry = matches!(status, 502..=504).then(|| "5".to_owned());
    assert_eq!(header("retry-after"), retry, "{head}");
    assert_eq!(header("allow").is_some(), status == 405, "{head}");
}

#[tokio::test]
async fn what_nginx_refuses_by_itself_is_a_problem_too() {
    once_behind_nginx(async |place| {
        let server = Server::start(&place, &[]).await;
        let nginx = Nginx::start(&place, &server, &[]).await;
        let uri = |length: usize| format!("/api/v1/runs?x={}", "a".repeat(length - 15));
        let host = "HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n";
        let get = |uri: &str, more: &str| format!("GET {uri} {host}{more}\r\n");
        // The longest that the server understands, and more than that.
        nginx_says(&nginx, &get(&uri(65_534), ""), 400, "malformed_request").await;
        nginx_says(&nginx, &get(&uri(65_535), ""), 414, "uri_too_long").await;
        nginx_says(&nginx, &get(&uri(300_000), ""), 414, "uri_too_long").await;
        let header = |length: usize| format!("X-A: {0}\r\nX-B: {0}\r\n", "a".repeat(length / 2));
        nginx_says(&nginx, &get("/nothing", &header(90_000)), 404, "not_found").await;
        nginx_says(&nginx, &get("/", &header(110_000)), 431, "head_too_large").await;
        nginx_says(&nginx, &get("/", &header(280_000)), 431, "head_too_large").await;
        // Beyond a file of max_upload and what a form has around it.
        let length = (512 << 20) + (64 << 10) + 1;
        let much = format!("POST /api/v1/imports/payments {host}Content-Length: {length}\r\n\r\n");
        nginx_says(&nginx, &much, 413, "too_large").await;
        nginx_says(&nginx, &get("/", "Content-Length: x\r\n"), 400, "malformed_request").await;
        nginx_says(&nginx, &get("/%ZZ", ""), 400, "malformed_request").await;
        nginx_says(&nginx, "hello\r\n\r\n", 400, "malformed_request").await;
        nginx_says(&nginx, &format!("TRACE / {host}\r\n"), 405, "method_not_allowed").await;
        nginx_says(&nginx, &get("/.problem", ""), 404, "not_found").await;
        nginx_says(&nginx, "GET / HTTP/9.0\r\n\r\n", 505, "version_not_supported").await;
        assert!(server.newest_run().await.is_none());
        nginx.stop().await;
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_server_that_is_away_or_silent_or_stopping_is_a_problem_that_says_when_to_come_again() {
    once_behind_nginx(async |place| {
        long_report(&place, 5_000_000);
        let request = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
        let server = Server::start(&place, &[("shutdown_timeout", "30s")]).await;
        let nginx = Nginx::start(&place, &server, &[]).await;
        // The server refuses while the last answer goes on.
        let mut stream = crate::support::Stream::get(&nginx, &rows("long"), &[]).await;
        stream.next_chunk().await.expect("the first batch");
        server.kill("TERM");
        let stopping = until("the server stops", Duration::from_secs(5), async || {
            let answer = nginx.get("/api/v1/runs").await;
            (answer.status == 503).then_some(answer)
        })
        .await;
        stopping.problem(503, "shutting_down");
        assert_eq!(stopping.header("retry-after"), Some("5"));
        drop(stream);
        server.exited(Duration::from_secs(10)).await;
        nginx_says(&nginx, request, 502, "server_away").await;
        nginx.stop().await;

        // One that takes connections and says nothing.
        let silent = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = silent.local_addr().expect("an address").to_string();
        let impatient = |site: &str| {
            let lines = site.lines().map(|line| match line.trim().split(' ').next() {
                Some("proxy_read_timeout") => "proxy_read_timeout 500ms;\n".to_owned(),
                Some(_) | None => format!("{line}\n"),
            });
            lines.collect()
        };
        let nginx = Nginx::start_with(&place, &address, &[], impatient).await;
        nginx_says(&nginx, request, 504, "server_silent").await;
        nginx.stop().await;
    })
    .await;
}

#[tokio::test]
async fn connections_to_the_server_are_used_again() {
    once_behind_nginx(async |place| {
        short_report(&place);
        let server = Server::start(&place, &[]).await;
        let nginx = Nginx::start(&place, &server, &[]).await;
        let begun = Instant::now();
        for _ in 0..20 {
            assert_eq!(nginx.get(&rows("short")).await.status, 200);
            assert_eq!(nginx.get("/api/v1/none").await.status, 404);
        }
        assert!(
            begun.elapsed() < Duration::from_secs(30),
            "the kernel remembers them for a minute"
        );
        assert_eq!(ports_to(server.address()).len(), 1);
        nginx.stop().await;
        server.stop().await;
    })
    .await;
}

/// The ports from which connections were made to an address lately: those that are there, and those
/// that the kernel remembers.
fn ports_to(address: &str) -> BTreeSet<String> {
    let port: u16 = address.rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
    let port = format!(":{port:04X}");
    let table = std::fs::read_to_string("/proc/net/tcp").expect("the kernel's table");
    let ends = table.lines().skip(1).filter_map(|line| {
        let mut fields = line.split_whitespace().skip(1);
        let (near, far) = (fields.next()?, fields.next()?);
        // A listening socket has no other end.
        let far_port = far.rsplit(':').next().filter(|port| *port != "0000")?;
        let near_port = near.rsplit(':').next()?;
        if near.ends_with(&port) {
            Some(far_port.to_owned())
        } else {
            far.ends_with(&port).then(|| near_port.to_owned())
        }
    });
    ends.collect()
}

#[tokio::test]
async fn what_is_printed_is_a_configuration_that_nginx_takes() {
    once_behind_nginx(async |place| {
        let server = Server::start(&place, &[]).await;
        let named = [("server-name", "localhost"), ("server-name", "127.0.0.1")];
        let nginx = Nginx::start(&place, &server, &named).await;
        assert_eq!(nginx.get("/health/live").await.status, 200);
        nginx.stop().await;
        // Where callers must say who they are, the server hears where they come from.
        let keyed = [("auth", "required")];
        let other = Server::start(&place, &keyed).await;
        let nginx = Nginx::start(&place, &other, &keyed).await;
        nginx.get("/api/v1/runs").await.problem(401, "unauthenticated");
        nginx.stop().await;
        let nginx = Nginx::start_with(&place, server.address(), &keyed, str::to_owned).await;
        let answer = nginx.get("/api/v1/runs").await;
        let problem = answer.problem(403, "forbidden");
        assert!(problem["detail"].as_str().is_some_and(|detail| detail.contains("x-forwarded")));
        nginx.stop().await;
        let refused = place.tallyroll(&["ops", "nginx", "--listen", "127.0.0.1:0"]).await;
        assert_eq!((refused.code, refused.text()), (Some(1), ""));
        assert!(refused.stderr.contains("a port that stays the same"), "{}", refused.stderr);
        other.stop().await;
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_file_is_taken_through_nginx_up_to_what_the_server_takes() {
    once_behind_nginx(async |place| {
        entries(&place).await;
        let settings = [("max-upload", "4MiB")];
        let server = Server::start(&place, &settings).await;
        let nginx = Nginx::start(&place, &server, &settings).await;
        let path = "/api/v1/imports/entries";
        let rows = file(200_000);
        assert!(rows.len() > 2 << 20, "more than nginx takes unless it is told to");
        let mut taken = Stream::post(&nginx, path, &[], &rows).await;
        taken.head().await;
        let outcome: Json = serde_json::from_slice(&taken.body().await.bytes).expect("JSON");
        assert_eq!((taken.status(), &outcome["inserted"]), (200, &200_000.into()), "{outcome}");
        let mut much = Stream::post(&nginx, path, &[], &vec![b'x'; (4 << 20) + 1]).await;
        much.head().await;
        let told: Json = serde_json::from_slice(&much.body().await.bytes).expect("a problem");
        assert_eq!((much.status(), &told["code"]), (413, &"too_large".into()), "{told}");
        assert_eq!(server.temporary_files(), Vec::<String>::new());
        nginx.stop().await;
        server.stop().await;
    })
    .await;
}
