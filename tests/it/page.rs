//! The page, as a browser without scripts has it: what it shows, what its forms send, what it says of
//! what is wrong.

mod browser;
mod refused;

use std::collections::BTreeSet;
use std::io::Read;

use reqwest::Method;
use serde_json::Value as Json;
use url::form_urlencoded;

use self::browser::{form, sent, tags};
use crate::support::{Answer, Nginx, Place, Server, Stream, on_every_backend, once_behind_nginx};

const HOSTILE: &str = "<script>alert('1')</script> & \"quoted\"";

async fn page(server: &Server<'_>) -> String {
    let page = server.get("/").await;
    assert_eq!(page.status, 200, "{}", page.text());
    page.text().to_owned()
}

#[track_caller]
fn assert_page(answer: &Answer, status: u16) {
    assert_eq!(answer.status, status, "{}", answer.text());
    assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let policy = answer.header("content-security-policy").expect("a policy");
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    assert!(!policy.contains("unsafe") && !policy.contains("script-src"), "{policy}");
    assert!(!answer.text().to_lowercase().contains("<script"), "{}", answer.text());
    assert!(answer.text().starts_with("<!DOCTYPE html><html lang=\"en\">"));
}

#[tokio::test]
async fn every_address_of_the_contract_is_shown_to_people() {
    on_every_backend(async |place| {
        let server = Server::start(&place, &[]).await;
        let docs = server.get("/docs").await;
        assert_page(&docs, 200);
        let api = server.json("/api/openapi.json").await;
        let mut shown = 0;
        for (path, operations) in api["paths"].as_object().expect("an object") {
            for (method, operation) in operations.as_object().expect("an object") {
                let heading = format!("<h2>{} {path}</h2>", method.to_uppercase());
                assert!(docs.text().contains(&heading), "{heading}");
                let id = operation["operationId"].as_str().expect("a name");
                assert!(docs.text().contains(&format!("<article id=\"{id}\">")), "{id}");
                shown += 1;
            }
        }
        assert!(shown > 20, "{shown}");
        server.stop().await;
    })
    .await;
}

/// A report with a filter of every kind.
async fn make_things(place: &Place) {
    let types = place.backend().pick(
        "t text, i integer, d text, f real, b integer, day text, at text",
        "t text, i bigint, d numeric(20, 2), f double precision, b boolean, day date, at timestamptz",
        "t text, i bigint, d decimal(20, 2), f double, b boolean, day date, at datetime(6)",
    );
    place.execute(&format!("CREATE TABLE things (id bigint PRIMARY KEY, {types})")).await;
    let columns = [
        ("id", "int"),
        ("t", "text"),
        ("i", "int"),
        ("d", "decimal"),
        ("f", "float"),
        ("b", "bool"),
        ("day", "date"),
        ("at", "time"),
    ];
    let columns: String = columns
        .iter()
        .map(|(key, kind)| {
            format!("[[columns]]\nkey = \"{key}\"\ntitle = \"The {key}\"\ntype = \"{kind}\"\n")
        })
        .collect();
    let filters = ["t", "i", "d", "f", "b", "day", "at"];
    let filters: String = filters
        .iter()
        .map(|key| format!("[[filters]]\nname = \"by_{key}\"\ntitle = \"By {key}\"\ncolumn = \"{key}\"\nop = \"=\"\n"))
        .collect();
    place.report(
        "things",
        &format!(
            "title = \"Things\"\ndescription = \"All of them.\"\nfrom = \"things\"\n\
             order_by = [\"id\"]\n{columns}{filters}\
             [[filters]]\nname = \"none\"\ncolumn = \"t\"\nop = \"is_null\"\n\
             [[filters]]\nname = \"needed\"\ncolumn = \"i\"\nop = \">\"\nrequired = true\n"
        ),
    );
}

#[tokio::test]
async fn every_report_is_there_with_its_columns_and_filters() {
    on_every_backend(async |place| {
        place.demo(5).await;
        make_things(&place).await;
        let server = Server::start(&place, &[]).await;
        let html = page(&server).await;
        let reports = server.json("/api/v1/reports").await;
        let reports = reports["items"].as_array().expect("a list");
        assert_eq!(reports.len(), 2);
        let all = tags(&html);
        let text = |report: &Json, member: &str| report[member].as_str().map(str::to_owned);
        for report in reports {
            let title = text(report, "title").expect("a title");
            assert!(all.iter().any(|tag| tag.name == "h2" && tag.text == title), "{title}");
            let description = text(report, "description").expect("a description");
            assert!(all.iter().any(|tag| tag.name == "p" && tag.text == description));
            let form = form(&html, report["name"].as_str().expect("a name"));
            let formats: BTreeSet<_> = form
                .iter()
                .filter(|tag| tag.name == "button")
                .filter_map(|tag| tag.get("value"))
                .collect();
            assert_eq!(formats, BTreeSet::from(["csv", "json", "ndjson", "xlsx"]));
            for column in report["columns"].as_array().expect("columns") {
                let key = column["key"].as_str().expect("a key");
                assert!(form.iter().any(|tag| tag.is("input", "value", key)), "{key}");
            }
            for filter in report["filters"].as_array().expect("filters") {
                let name = filter["name"].as_str().expect("a name");
                let fields = form.iter().filter(|tag| tag.get("name") == Some(name)).count();
                assert_eq!(fields, if filter["op"] == "in" { 3 } else { 1 }, "{name}");
            }
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn fields_are_of_their_type_and_each_has_a_name_for_whoever_does_not_see_it() {
    on_every_backend(async |place| {
        place.demo(5).await;
        make_things(&place).await;
        let server = Server::start(&place, &[]).await;
        let html = page(&server).await;
        let things = form(&html, "things");
        let expected = [
            ("by_t", "input", Some("text"), None),
            ("by_i", "input", Some("number"), Some("1")),
            ("by_d", "input", Some("number"), Some("any")),
            ("by_f", "input", Some("number"), Some("any")),
            ("by_b", "select", None, None),
            ("by_day", "input", Some("date"), None),
            ("by_at", "input", Some("text"), None),
            ("none", "select", None, None),
        ];
        for (name, element, kind, step) in expected {
            let field = things.iter().find(|tag| tag.is(element, "name", name));
            let field = field.unwrap_or_else(|| panic!("{name} is a {element}"));
            assert_eq!((field.get("type"), field.get("step")), (kind, step), "{name}");
            assert_eq!(field.get("required"), None, "{name}");
        }
        let needed = things.iter().find(|tag| tag.is("input", "name", "needed"));
        assert!(needed.is_some_and(|field| field.get("required").is_some()));
        let details = things.iter().find(|tag| tag.name == "details").expect("the filters");
        assert!(details.get("open").is_some(), "what is required is in sight");

        let all = tags(&html);
        let ids: Vec<_> = all.iter().filter_map(|tag| tag.get("id")).collect();
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "ids are unique");
        let pointing = ["for", "aria-labelledby", "aria-describedby"];
        let pointed = all.iter().flat_map(|tag| pointing.iter().filter_map(|name| tag.get(name)));
        for id in pointed.flat_map(str::split_whitespace) {
            assert!(ids.contains(&id), "{id} is pointed at and not there");
        }
        let mut before = "";
        for tag in &all {
            if matches!(&*tag.name, "input" | "select") {
                let labelled = tag
                    .get("id")
                    .is_some_and(|id| all.iter().any(|tag| tag.is("label", "for", id)));
                let named = labelled || tag.get("aria-label").is_some() || before == "label";
                assert!(named, "{tag:?} has a name");
            }
            before = &tag.name;
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_form_as_a_browser_sends_it_leads_to_the_rows_without_its_empty_fields() {
    on_every_backend(async |place| {
        place.demo(3_000).await;
        let server = Server::start(&place, &[]).await;
        let form = form(&page(&server).await, "settlements");
        let typed = [
            ("from", "2026-03-01"),
            ("method", "카드"),
            ("method", "휴대폰"),
            ("product", "a+b & c"),
            ("tz", "UTC"),
        ];
        for format in ["csv", "json", "ndjson", "xlsx"] {
            let query = sent(&form, &typed, format);
            assert!(query.contains("&order_no=&"), "a browser sends empty fields: {query}");
            let path = format!("/reports/settlements/download?{query}");
            let mut stream = Stream::get(&server, &path, &[]).await;
            assert_eq!(stream.status(), 303);
            assert!(stream.body().await.bytes.is_empty());
            let location = stream.header("location").expect("an address").to_owned();
            let (rows, query) = location.split_once('?').expect("parameters");
            assert_eq!(rows, "/api/v1/reports/settlements/rows");
            let led: BTreeSet<_> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
            let expected = typed.into_iter().chain([("format", format)]);
            let expected: BTreeSet<_> =
                expected.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
            assert_eq!(led, expected);
            let led = server.get(&location).await;
            assert_eq!(led.status, 200, "{}", led.text());
            let head = server.request(Method::HEAD, &path, &[]).await;
            assert_eq!(head.status, 200, "HEAD is led on too");
        }
        let all = format!("/reports/settlements/download?{}", sent(&form, &[], "csv"));
        let all = server.get(&all).await;
        assert!(all.body == server.get("/api/v1/reports/settlements/rows?format=csv").await.body);
        let saved = all.header("content-disposition").expect("it is saved");
        assert!(saved.starts_with("attachment"), "{saved}");
        forget_files(&server).await;
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn the_page_and_its_forms_work_behind_nginx() {
    once_behind_nginx(async |place| {
        place.demo(50).await;
        let server = Server::start(&place, &[]).await;
        let nginx = Nginx::start(&place, &server, &[]).await;
        let home = nginx.get("/").await;
        assert_page(&home, 200);
        let query = sent(&form(home.text(), "settlements"), &[("from", "2020-01-01")], "csv");
        let through = nginx.get(&format!("/reports/settlements/download?{query}")).await;
        let rows = "/api/v1/reports/settlements/rows?format=csv&from=2020-01-01";
        assert!(through.status == 200 && through.body == server.get(rows).await.body);
        let wrong = nginx.get("/reports/settlements/download?from=soon").await;
        assert_page(&wrong, 400);
        assert_page(&nginx.get("/reports/none/download").await, 404);
        nginx.stop().await;
        server.stop().await;
    })
    .await;
}

/// Forgets the files of prepared answers, which would stay for a while.
async fn forget_files(server: &Server<'_>) {
    let runs = server.json("/api/v1/runs?limit=100").await;
    for run in runs["items"].as_array().expect("runs") {
        let path = format!("/api/v1/runs/{}", run["id"].as_str().expect("an id"));
        assert_eq!(server.request(Method::DELETE, &path, &[]).await.status, 204);
    }
}

#[tokio::test]
async fn chosen_columns_come_in_one_list() {
    on_every_backend(async |place| {
        place.demo(5).await;
        let server = Server::start(&place, &[]).await;
        let answer = server
            .get("/reports/settlements/download?columns=net&columns=id&limit=2&format=ndjson&tz=")
            .await;
        let keys: Vec<_> = answer.text().lines().map(|line| line.split('"').nth(1)).collect();
        assert_eq!(keys, [Some("net"), Some("net")], "{}", answer.text());
        assert_eq!(answer.text().matches("\"id\"").count(), 2);
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn what_looks_like_markup_is_text_wherever_it_comes_from() {
    on_every_backend(async |place| {
        place.execute("CREATE TABLE h (id int)").await;
        let text = format!("'''{HOSTILE}'''");
        place.report(
            "h",
            &format!(
                "title = {text}\ndescription = {text}\nfrom = \"h\"\n[[columns]]\nkey = \"id\"\n\
                 title = {text}\ntype = \"int\"\n[[filters]]\nname = \"one\"\ntitle = {text}\n\
                 column = \"id\"\nop = \"=\"\n[[filters]]\nname = \"many\"\ntitle = {text}\n\
                 column = \"id\"\nop = \"in\"\n"
            ),
        );
        let server = Server::start(&place, &[]).await;
        let home = server.get("/").await;
        assert_page(&home, 200);
        let seen = tags(home.text()).iter().filter(|tag| tag.text.trim() == HOSTILE).count();
        assert_eq!(seen, 5, "title, description, column, two filters");
        let evil: String = form_urlencoded::byte_serialize(HOSTILE.as_bytes()).collect();
        let again = server.get(&format!("/reports/h/download?one={evil}&{evil}={evil}")).await;
        assert_page(&again, 400);
        let typed = tags(again.text());
        assert!(typed.iter().any(|tag| tag.is("input", "value", HOSTILE)), "it is kept as it was");
        let nowhere = server.get("/reports/%3Cscript%3Ealert(1)%3C%2Fscript%3E/download").await;
        assert_page(&nowhere, 404);
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn the_page_loads_nothing_and_leads_to_what_is_there() {
    on_every_backend(async |place| {
        place.demo(5).await;
        let server = Server::start(&place, &[]).await;
        let home = server.get("/").await;
        assert_page(&home, 200);
        let (_, rest) = home.text().split_once("<style>").expect("a style");
        let (style, _) = rest.split_once("</style>").expect("its end");
        assert!(!style.contains("url(") && !style.contains("@import"));
        let digest = {
            use base64::Engine as _;
            use sha2::Digest as _;
            base64::prelude::BASE64_STANDARD.encode(sha2::Sha256::digest(style))
        };
        let policy = home.header("content-security-policy").expect("a policy");
        assert!(policy.contains(&format!("style-src 'sha256-{digest}'")), "it allows this style");
        for tag in tags(home.text()) {
            assert_eq!((tag.get("src"), tag.get("style")), (None, None), "{tag:?}");
            assert!(!tag.attributes.keys().any(|name| name.starts_with("on")), "{tag:?}");
            let Some(target) = tag.get("href").or(tag.get("action")) else { continue };
            if tag.name == "link" {
                assert!(target.starts_with("data:image/svg+xml,"), "{target}");
            } else if !target.starts_with('#') {
                assert!(target.starts_with('/') && !target.starts_with("//"), "{target}");
                let answer = server.get(target).await;
                assert_eq!(answer.status, 200, "{target}: {}", answer.text());
            }
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn head_answers_as_get_and_the_page_is_compressed_for_whoever_takes_it() {
    on_every_backend(async |place| {
        place.demo(5).await;
        let server = Server::start(&place, &[]).await;
        let get = server.get("/").await;
        assert_eq!(get.header("content-encoding"), None);
        let head = server.request(Method::HEAD, "/", &[]).await;
        assert_page(&Answer { body: get.body.clone(), ..head.clone() }, 200);
        assert!(head.body.is_empty());
        let length = get.body.len().to_string();
        assert_eq!(head.header("content-length"), Some(&*length));
        let packed = server.request(Method::GET, "/", &[("Accept-Encoding", "gzip")]).await;
        assert_eq!(packed.header("content-encoding"), Some("gzip"));
        assert_eq!(packed.header("vary"), Some("Accept-Encoding"));
        let mut plain = String::new();
        flate2::read::GzDecoder::new(&*packed.body).read_to_string(&mut plain).expect("gzip");
        assert_eq!(plain, get.text());
        server.stop().await;
    })
    .await;
}
