//! What the server says about itself: its document, its health, its reports.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value as Json, json};

use crate::faults::LONG;
use crate::support::{Server, on_every_backend, until};

/// Every address with its methods.
const ROUTES: [(&str, &[&str]); 29] = [
    ("/", &["get"]),
    ("/api/openapi.json", &["get"]),
    ("/api/v1/convert", &["post"]),
    ("/api/v1/documents", &["get"]),
    ("/api/v1/documents/{name}", &["get"]),
    ("/api/v1/documents/{name}/items", &["get"]),
    ("/api/v1/documents/{name}/items/{key}/pdf", &["get"]),
    ("/api/v1/documents/{name}/zip", &["get"]),
    ("/api/v1/headers", &["get"]),
    ("/api/v1/headers/{name}", &["delete", "get", "put"]),
    ("/api/v1/imports", &["get"]),
    ("/api/v1/imports/{name}", &["get", "post"]),
    ("/api/v1/imports/{name}/inspect", &["post"]),
    ("/api/v1/imports/{name}/template", &["get"]),
    ("/api/v1/projects/{id}/documents/zip", &["get"]),
    ("/api/v1/reports", &["get"]),
    ("/api/v1/reports/{name}", &["get"]),
    ("/api/v1/reports/{name}/count", &["get"]),
    ("/api/v1/reports/{name}/exports", &["post"]),
    ("/api/v1/reports/{name}/rows", &["get"]),
    ("/api/v1/runs", &["get"]),
    ("/api/v1/runs/{id}", &["delete", "get"]),
    ("/api/v1/runs/{id}/events", &["get"]),
    ("/api/v1/runs/{id}/file", &["get"]),
    ("/api/v1/runs/{id}/problems", &["get"]),
    ("/docs", &["get"]),
    ("/health/live", &["get"]),
    ("/health/ready", &["get"]),
    ("/reports/{name}/download", &["get"]),
];

fn routes(document: &Json) -> BTreeMap<String, Vec<String>> {
    let paths = document["paths"].as_object().expect("the document has paths");
    let methods = |item: &Json| {
        let known = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];
        let item = item.as_object().expect("a path has operations");
        item.keys().filter(|key| known.contains(&key.as_str())).cloned().collect()
    };
    paths.iter().map(|(path, item)| (path.clone(), methods(item))).collect()
}

#[tokio::test]
async fn the_document_lists_exactly_the_routes() {
    on_every_backend(async |place| {
        place.demo(5).await;
        let server = Server::start(&place, &[]).await;
        let document = server.json("/api/openapi.json").await;
        let expected: BTreeMap<String, Vec<String>> = ROUTES
            .iter()
            .map(|(path, methods)| {
                ((*path).to_owned(), methods.iter().map(ToString::to_string).collect())
            })
            .collect();
        assert_eq!(routes(&document), expected);
        let run = server.get("/api/v1/reports/settlements/rows").await.run();
        let mapping = "{\"columns\":[{\"from\":\"a\",\"to\":\"b\"}]}";
        server.send(Method::PUT, "/api/v1/headers/settlements", mapping).await.json();
        for (path, methods) in routes(&document) {
            let name = match path.as_str() {
                path if path.contains("/imports/") => "payments",
                path if path.contains("/documents/") => "ledger",
                _ => "settlements",
            };
            let id = if path.contains("/projects/") { "3" } else { &run };
            let path = path.replace("{name}", name).replace("{key}", "1").replace("{id}", id);
            // What is built first stays for a while.
            let direct = if path.ends_with("/zip") { "?delivery=direct" } else { "" };
            let path = path + direct;
            for method in ["get", "put", "post", "delete", "patch"] {
                let sent = Method::from_bytes(method.to_uppercase().as_bytes()).expect("a method");
                let answer = server.request(sent, &path, &[]).await;
                // Also where there is nothing to be had: no file any more, no rejected rows, nothing
                // sent.
                let answered = ![404, 405].contains(&answer.status);
                assert_eq!(
                    answered,
                    methods.iter().any(|known| known == method),
                    "{method} {path}: {}",
                    answer.status
                );
                if answer.status == 202 {
                    let begun = answer.run();
                    let over = |run: &Json| run["finished_at"] != Json::Null;
                    server.until_run(&begun, over, LONG).await;
                    // Its file stays otherwise.
                    let begun = format!("/api/v1/runs/{begun}");
                    assert_eq!(server.request(Method::DELETE, &begun, &[]).await.status, 204);
                }
            }
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn the_document_can_be_made_a_client_of() {
    on_every_backend(async |place| {
        let server = Server::start(&place, &[]).await;
        let document = server.json("/api/openapi.json").await;
        assert!(document["openapi"].as_str().is_some_and(|version| version.starts_with("3.")));
        let mut names = BTreeSet::new();
        for (path, item) in document["paths"].as_object().expect("paths") {
            for (method, operation) in item.as_object().expect("operations") {
                let name = operation["operationId"].as_str().expect("an operation has a name");
                assert!(
                    names.insert(name.to_owned()),
                    "{method} {path}: \"{name}\" names two operations"
                );
                assert!(operation["summary"].is_string(), "{method} {path} says what it does");
                let declared: BTreeSet<_> = operation["parameters"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter(|parameter| parameter["in"] == "path")
                    .filter_map(|parameter| parameter["name"].as_str())
                    .collect();
                let named: BTreeSet<_> = path.split(['{', '}']).skip(1).step_by(2).collect();
                assert_eq!(declared, named, "{method} {path}");
            }
        }
        let mut references = Vec::new();
        gather(&document, &mut references);
        assert!(!references.is_empty());
        for reference in references {
            let pointer = reference.strip_prefix('#').expect("within the document");
            assert!(document.pointer(pointer).is_some(), "{reference} points at nothing");
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn the_document_names_every_media_type_of_the_rows() {
    on_every_backend(async |place| {
        place.demo(5).await;
        let server = Server::start(&place, &[]).await;
        let document = server.json("/api/openapi.json").await;
        let rows = &document["paths"]["/api/v1/reports/{name}/rows"]["get"]["responses"]["200"];
        let named = rows["content"].as_object().expect("media types").keys();
        let named: BTreeSet<_> = named.map(String::as_str).collect();
        let mut sent = BTreeSet::from(["application/jsonl".to_owned()]);
        for format in ["ndjson", "json", "csv", "xlsx"] {
            let path = format!("/api/v1/reports/settlements/rows?format={format}");
            let answer = server.request(Method::HEAD, &path, &[]).await;
            let media_type = answer.header("content-type").unwrap_or_default();
            sent.extend(media_type.split(';').next().map(str::to_owned));
        }
        assert_eq!(named, sent.iter().map(String::as_str).collect());
        server.stop().await;
    })
    .await;
}

fn gather(value: &Json, references: &mut Vec<String>) {
    match value {
        Json::Object(members) => {
            for (key, member) in members {
                match member.as_str().filter(|_| key == "$ref") {
                    Some(reference) => references.push(reference.to_owned()),
                    None => gather(member, references),
                }
            }
        }
        Json::Array(items) => items.iter().for_each(|item| gather(item, references)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

#[tokio::test]
async fn a_report_says_what_it_holds() {
    on_every_backend(async |place| {
        place.demo(5).await;
        place.report(
            "small",
            r#"
            title = "작은 표"
            description = "Two columns"
            from = "merchants"
            order_by = ["name desc", "id"]
            [[columns]]
            key = "id"
            title = "번호"
            type = "int"
            [[columns]]
            key = "name"
            type = "text"
            [[filters]]
            name = "since"
            title = "부터"
            column = "created_at"
            op = ">="
            type = "time"
            "#,
        );
        let server = Server::start(&place, &[]).await;
        let small = server.json("/api/v1/reports/small").await;
        assert_eq!(
            small,
            json!({
                "name": "small", "title": "작은 표", "description": "Two columns",
                "formats": small["formats"], "order_by": ["name desc", "id"],
                "columns": [
                    { "key": "id", "title": "번호", "type": "int" },
                    { "key": "name", "title": "name", "type": "text" },
                ],
                "filters": [{ "name": "since", "title": "부터", "type": "time", "op": ">=", "required": false }],
            })
        );
        for format in ["ndjson", "json", "csv"] {
            assert!(small["formats"].as_array().is_some_and(|formats| formats.contains(&format.into())));
        }
        let list = server.json("/api/v1/reports").await;
        let names: Vec<_> = list["items"].as_array().expect("a list").iter().map(|item| &item["name"]).collect();
        assert_eq!(names, ["settlements", "small"]);
        assert_eq!(list["items"][1], small);
        assert_eq!(list["next"], Json::Null);
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn health_names_what_is_wrong_with_a_definition_until_it_is_mended() {
    on_every_backend(async |place| {
        place.demo(5).await;
        place.report("bad", "from = \"merchants\"\n[[columns]]\nkey = \"id\"\ntype = \"number\"\n");
        let sound = "from = \"merchants\"\n[[columns]]\nkey = \"id\"\ntype = \"int\"\n";
        place.report("wrong", &format!("{sound}[[columns]]\nkey = \"nothing\"\ntype = \"int\"\n"));
        let server = Server::start(&place, &[]).await;
        assert_eq!(server.json("/health/live").await["status"], "live");
        let ready = server.json("/health/ready").await;
        assert_eq!(ready["databases"], json!({ "database_url": "ok", "state_url": "ok" }));
        // What a database says of them is for whoever runs the server.
        assert_eq!(ready["definitions"], json!(["reports/bad.toml:4", "reports/wrong.toml:6"]));
        server.get("/api/v1/reports/bad/rows").await.problem(404, "not_found");
        for name in ["bad", "wrong"] {
            place.report(name, sound);
        }
        server.kill("HUP");
        until("the definitions are read again", Duration::from_secs(10), async || {
            let ready = server.json("/health/ready").await;
            (ready["definitions"] == json!([])).then_some(())
        })
        .await;
        until("the log says so", Duration::from_secs(10), async || {
            let log = server.log();
            let said = log.lines().find(|line| line.contains("the definitions were read again"));
            said.filter(|line| line.contains("reports=3") && line.contains("faults=0")).map(|_| ())
        })
        .await;
        for name in ["bad", "wrong"] {
            let rows = server.get(&format!("/api/v1/reports/{name}/rows")).await;
            assert_eq!(rows.text().lines().count(), 5_000, "{name}");
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_definition_of_a_built_in_name_replaces_it() {
    on_every_backend(async |place| {
        place.demo(5).await;
        place.report("settlements", "title = \"우리 것\"\nfrom = \"merchants\"\n[[columns]]\nkey = \"id\"\ntype = \"int\"\n");
        let server = Server::start(&place, &[]).await;
        assert_eq!(server.json("/api/v1/reports/settlements").await["title"], "우리 것");
        server.stop().await;
    })
    .await;
}
