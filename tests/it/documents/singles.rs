//! Single documents: the one of the bundle, with a tag that changes with its row and its template.

use reqwest::Method;

use super::{documents, once, project};
use crate::support::{Server, on_every_backend};

fn pdf(key: &str) -> String {
    format!("/api/v1/documents/ledger/items/{key}/pdf")
}

#[tokio::test]
async fn a_single_document_is_the_one_of_the_bundle_and_is_not_sent_twice() {
    on_every_backend(async |place| {
        place.demo(5).await;
        let server = Server::start(&place, &[]).await;
        let bundle = documents(&server.get(&project(1, "direct")).await);
        let answer = server.get(&pdf("7")).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(answer.header("content-type"), Some("application/pdf"));
        assert!(answer.body == bundle[6].1);
        let named = answer.header("content-disposition").expect("a name");
        assert!(named.starts_with("attachment;") && named.contains("L1-0007"), "{named}");
        let tag = answer.header("etag").expect("a tag").to_owned();
        let known = [("If-None-Match", tag.as_str())];
        let same = server.request(Method::GET, &pdf("7"), &known).await;
        assert_eq!((same.status, same.body.len()), (304, 0));
        assert_eq!(same.header("etag"), Some(&*tag));
        let other = server.request(Method::GET, &pdf("7"), &[("If-Match", "\"x\"")]).await;
        other.problem(412, "precondition_failed");
        place.execute("UPDATE documents SET title = '고친 제목' WHERE id = 7").await;
        let changed = server.request(Method::GET, &pdf("7"), &known).await;
        assert_eq!(changed.status, 200);
        assert_ne!(changed.header("etag"), Some(&*tag));
        assert!(super::text(&changed.body).contains("고친 제목"));
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn what_is_not_there_is_not_found() {
    on_every_backend(async |place| {
        place.demo(5).await;
        let server = Server::start(&place, &[]).await;
        for key in ["0", "99999", "x", "1%20OR%201=1", "9223372036854775808"] {
            server.get(&pdf(key)).await.problem(404, "not_found");
        }
        server.get(&format!("{}?colour=red", pdf("1"))).await.problem(400, "malformed_request");
        server.get("/api/v1/documents/plan/items/1/pdf").await.problem(404, "not_found");
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn another_template_is_another_document() {
    once(async |place| {
        place.demo(5).await;
        let built_in = include_str!("../../../src/documents/ledger.toml");
        place.document("ledger", built_in);
        let server = Server::start(&place, &[]).await;
        let before = server.get(&pdf("1")).await;
        place.document("ledger", &built_in.replace("\"작성\", \"검토\"", "\"기안\", \"검토\""));
        server.kill("HUP");
        crate::support::until("the definitions are read again", crate::faults::LONG, async || {
            let now = server.get(&pdf("1")).await;
            (now.header("etag") != before.header("etag")).then_some(())
        })
        .await;
        assert!(super::letters(&server.get(&pdf("1")).await.body).contains("기안"));
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn the_rows_of_documents_come_as_a_reports_do() {
    on_every_backend(async |place| {
        place.demo(5).await;
        let server = Server::start(&place, &[]).await;
        let list = server.json("/api/v1/documents").await;
        let names: Vec<_> = list["items"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|item| item["name"].clone())
            .collect();
        assert_eq!(names, ["ledger", "merchant-statement"]);
        let shown = server.json("/api/v1/documents/ledger").await;
        assert_eq!((&shown["key"], &shown["number"]), (&"id".into(), &"number".into()));
        let path = "/api/v1/documents/ledger/items?project=1&columns=id,number,content&limit=2";
        let page = server.get(path).await;
        let first = page.text().lines().next().expect("a row");
        assert!(first.starts_with(r#"{"id":1,"number":"L1-0001","content":{"#), "{first}");
        assert_eq!(page.text().lines().count(), 2);
        assert!(page.header("link").is_some_and(|link| link.contains("rel=\"next\"")));
        server.stop().await;
    })
    .await;
}
