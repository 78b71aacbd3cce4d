//! Uploads: what is in the file is in the table, or what is wrong is said; nothing between.

mod asked;
mod beside;
mod bodies;
mod breaks;
mod cases;
mod check;
mod command;
mod crashes;
mod demands;
mod form;
mod handed_back;
mod hostile;
mod inspect;
mod memory;
mod mending;
mod round_trip;
pub(crate) mod stand;
mod storing;
mod uploads;

use serde_json::Value as Json;

use crate::support::{Answer, Place, Server};

/// The import that other people's files are for.
const TRANSACTIONS: &str = include_str!("transactions.toml");

/// A file of the fixtures.
fn fixture(name: &str) -> Vec<u8> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Makes the table `transactions`, its import and a report of it.
async fn transactions(place: &Place) {
    let (amount, moment) = place.backend().pick(
        ("text", "text"),
        ("numeric(15,2)", "timestamptz"),
        ("decimal(15,2)", "datetime(6)"),
    );
    place
        .execute(&format!(
            "CREATE TABLE transactions (code varchar(20) NOT NULL, name varchar(50) NOT NULL, \
             qty bigint NOT NULL, amount {amount} NOT NULL, day date NOT NULL, paid_at {moment}, \
             active boolean)"
        ))
        .await;
    place.import("transactions", TRANSACTIONS);
    place.report(
        "transactions",
        "from = \"transactions\"
         order_by = [\"code\"]
         [[columns]]
         key = \"code\"
         type = \"text\"
         not_null = true
         [[columns]]
         key = \"name\"
         type = \"text\"
         [[columns]]
         key = \"qty\"
         type = \"int\"
         [[columns]]
         key = \"amount\"
         type = \"decimal\"
         [[columns]]
         key = \"day\"
         type = \"date\"
         [[columns]]
         key = \"paid_at\"
         type = \"time\"
         [[columns]]
         key = \"active\"
         type = \"bool\"",
    );
}

/// Uploads a file as the body.
async fn upload(server: &Server<'_>, import: &str, parameters: &str, file: Vec<u8>) -> Answer {
    server.post(&format!("/api/v1/imports/{import}{parameters}"), &[], file).await
}

/// What is stored, as the report tells it.
async fn stored(server: &Server<'_>, report: &str) -> Vec<Json> {
    let rows = server.get(&format!("/api/v1/reports/{report}/rows?numbers=string")).await;
    assert_eq!(rows.status, 200, "{}", rows.text());
    rows.text().lines().map(|line| serde_json::from_str(line).expect("a row")).collect()
}

/// How many rows a table has.
async fn count(place: &Place, table: &str) -> String {
    place.value(&format!("SELECT count(*) FROM {table}")).await
}

/// The places of the problems of an answer: row and column.
fn places(problem: &Json) -> Vec<(u64, String)> {
    let problems = problem["problems"].as_array().expect("problems are listed");
    problems
        .iter()
        .map(|problem| {
            let detail = problem["detail"].as_str().unwrap_or_default();
            assert!(detail.split(' ').count() >= 4, "the detail is words: {problem}");
            let column = problem["column"].as_str().expect("the column is named").to_owned();
            (problem["row"].as_u64().expect("the row is numbered"), column)
        })
        .collect()
}

/// Ends a server whose imports may have kept rejected rows, and whose reports may have kept files.
async fn stop(server: Server<'_>) {
    let runs = server.json("/api/v1/runs?limit=1000").await;
    for run in runs["items"].as_array().expect("a list") {
        let path = format!("/api/v1/runs/{}", run["id"].as_str().expect("an id"));
        let forgotten = server.request(reqwest::Method::DELETE, &path, &[]).await;
        assert_eq!(forgotten.status, 204, "{}", forgotten.text());
    }
    server.stop().await;
}
