//! Who is let in: everybody from here, or whoever says who he is.

use reqwest::Method;

use super::{ROWS, raw};
use crate::support::{Backend, Place, Server, on_every_backend};

#[tokio::test]
async fn while_nobody_has_to_say_who_he_is_nobody_comes_from_elsewhere() {
    on_every_backend(async |place| {
        place.demo(5).await;
        let server = Server::start(&place, &[]).await;
        let port = server.address().rsplit(':').next().expect("a port").to_owned();
        let elsewhere = [
            ("X-Forwarded-For", "10.0.0.1".to_owned()),
            ("X-Forwarded-Proto", "https".into()),
            ("X-Forwarded-Host", "localhost".into()),
            ("Forwarded", "for=127.0.0.1".into()),
            ("X-Real-IP", "127.0.0.1".into()),
            ("Host", "tallyroll.example".into()),
            ("Host", format!("tallyroll.example:{port}")),
            ("Host", "localhost.example".into()),
            ("Host", "127.0.0.1.example".into()),
            ("Host", "192.0.2.1".into()),
            ("Host", "0.0.0.0".into()),
            ("Origin", "http://tallyroll.example".into()),
            ("Origin", "http://localhost.example".into()),
            ("Origin", "null".into()),
        ];
        for (name, value) in &elsewhere {
            for path in [ROWS, "/api/v1/runs", "/api/openapi.json", "/nothing"] {
                let answer = server.request(Method::GET, path, &[(name, value)]).await;
                let problem = answer.problem(403, "forbidden");
                assert!(
                    problem["detail"].as_str().is_some_and(|detail| detail.contains("auth")),
                    "{problem}"
                );
            }
        }
        let hosts = ["localhost", "LOCALHOST", "127.0.0.1", "127.0.0.2:80", "[::1]", "[::1]:8080"];
        for host in hosts.map(str::to_owned).into_iter().chain([format!("localhost:{port}")]) {
            let answer = server.request(Method::GET, "/api/v1/reports", &[("Host", &host)]).await;
            assert_eq!(answer.status, 200, "{host}: {}", answer.text());
        }
        let own = format!("http://{}", server.address());
        let answer = server.request(Method::GET, "/api/v1/reports", &[("Origin", &own)]).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let nameless = raw(&server, "GET /api/v1/reports HTTP/1.0\r\n").await;
        assert_eq!(nameless.0, 403, "{}", nameless.1);
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn where_callers_must_say_who_they_are_those_who_do_not_are_refused_first() {
    on_every_backend(async |place| {
        place.demo(5).await;
        let server = Server::start(&place, &[("auth", "required")]).await;
        let paths =
            ["/api/v1/reports", "/api/v1/reports/none", ROWS, "/api/v1/runs", "/api/v1/runs/none"];
        for path in paths {
            let answer = server.request(Method::GET, &format!("{path}?limit=0"), &[]).await;
            answer.problem(401, "unauthenticated");
            assert_eq!(answer.header("www-authenticate"), Some("Bearer"), "{path}");
        }
        let keyed =
            server.request(Method::GET, ROWS, &[("Authorization", "Bearer nonsense")]).await;
        keyed.problem(401, "unauthenticated");
        let proxied = server.request(Method::GET, ROWS, &[("X-Forwarded-For", "10.0.0.1")]).await;
        proxied.problem(401, "unauthenticated");
        assert_eq!(server.get("/health/live").await.status, 200, "whoever watches needs no key");
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn callers_must_say_who_they_are_unless_that_is_switched_off() {
    let place = Place::new(Backend::Sqlite).await;
    place.write("tallyroll.toml", "listen = \"127.0.0.1:0\"\n");
    let server = Server::start(&place, &[("auth", "required"), ("config", "tallyroll.toml")]).await;
    server.get("/api/v1/reports").await.problem(401, "unauthenticated");
    server.stop().await;
}

#[tokio::test]
async fn an_open_server_does_not_start_where_others_reach_it() {
    let place = Place::new(Backend::Sqlite).await;
    for listen in ["0.0.0.0:0", "[::]:0"] {
        let refused = place.tallyroll(&["serve", "--auth", "off", "--listen", listen]).await;
        assert_eq!(refused.code, Some(1), "{listen}: {}", refused.stderr);
        assert!(
            refused.stderr.contains("127.0.0.1") && refused.stderr.contains("required"),
            "{}",
            refused.stderr
        );
        assert_eq!(refused.text(), "", "it did not listen");
        let demo = place.tallyroll(&["serve", "--demo", "--listen", listen]).await;
        assert_eq!(demo.code, Some(1), "--demo on {listen}");
    }
}
