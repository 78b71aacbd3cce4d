//! What a table demands by itself is found row by row, whether or not the definition says it.

use serde_json::json;

use super::{count, places, stop, upload};
use crate::rows::assert_run_times;
use crate::support::{Backend, Place, Server, on_every_backend};

/// A definition that says nothing of what the table demands.
const PARTS: &str = r#"
    into = "parts"
    [[columns]]
    key = "code"
    type = "text"
    [[columns]]
    key = "shelf"
    type = "int"
    [[columns]]
    key = "place"
    type = "int"
    [[columns]]
    key = "maker"
    type = "int"
    [[columns]]
    key = "price"
    type = "decimal"
    precision = 20
    scale = 4
    [[columns]]
    key = "made_at"
    type = "time"
    zone = "UTC"
"#;

/// A table of parts, in which one is stored.
async fn parts(place: &Place) {
    let moment = place.backend().pick("text", "timestamptz(3)", "datetime");
    let code = place.backend().pick("varchar(5) COLLATE NOCASE", "varchar(5)", "varchar(5)");
    // MariaDB reads a reference beside the column and forgets it.
    place
        .execute(&format!(
            "CREATE TABLE makers (id bigint PRIMARY KEY); \
             INSERT INTO makers VALUES (1), (2); \
             CREATE TABLE parts (code {code} NOT NULL UNIQUE, shelf smallint, place bigint, \
             maker bigint, price numeric(7,2), made_at {moment}, \
             FOREIGN KEY (maker) REFERENCES makers (id), CHECK (place <> 13)); \
             CREATE UNIQUE INDEX one_place ON parts (shelf, place); \
             INSERT INTO parts VALUES ('A-1', 1, 1, 1, 5, NULL)"
        ))
        .await;
    place.import("parts", PARTS);
}

fn file(rows: &[&str]) -> Vec<u8> {
    format!("code,shelf,place,maker,price,made_at\n{}\n", rows.join("\n")).into_bytes()
}

#[tokio::test]
async fn a_clash_with_a_stored_row_is_a_problem_of_the_row_that_clashes() {
    on_every_backend(async |place| {
        parts(&place).await;
        let server = Server::start(&place, &[]).await;
        let rows = file(&[
            "B-1,1,2,1,5,",
            // Stored already, by its code and by its place.
            "A-1,2,1,1,5,",
            "B-2,1,1,1,5,",
            // Row 2 again, by its place; and nobody's place twice, which is none.
            "B-3,1,2,,5,",
            "B-4,1,,,5,",
            "B-5,1,,,5,",
            // Of no maker.
            "B-6,3,3,9,5,",
            "B-1,3,4,1,5,",
        ]);
        let found = |problem: &serde_json::Value| {
            let codes = problem["problems"].as_array().expect("problems").clone();
            let codes = codes.into_iter().map(|problem| problem["code"].clone());
            places(problem).into_iter().zip(codes).collect::<Vec<_>>()
        };
        let at = |row: u64, column: &str, code: &str| ((row, column.to_owned()), json!(code));
        let expected = [
            at(3, "code", "already_stored"),
            at(4, "shelf", "already_stored"),
            at(5, "shelf", "doubled"),
            at(8, "maker", "not_found"),
            at(9, "code", "doubled"),
        ];
        for parameters in ["?dry_run=true", ""] {
            let answer = upload(&server, "parts", parameters, rows.clone()).await;
            let problem = answer.problem(422, "import_rejected");
            assert_eq!(found(&problem), expected, "{parameters}: {problem}");
            let told = problem["problems"][1]["detail"].as_str().expect("words");
            assert!(told.contains("shelf + place"), "{told}");
        }
        let outcome = upload(&server, "parts", "?on_problem=skip", rows).await.json();
        assert_eq!((&outcome["inserted"], &outcome["rejected"]), (&3.into(), &5.into()));
        assert_eq!(count(&place, "parts").await, "4");
        assert_run_times(&server.run(outcome["run_id"].as_str().expect("a run")).await);
        stop(server).await;
    })
    .await;
}

#[tokio::test]
async fn a_code_that_the_table_takes_for_the_same_is_the_same_in_the_file_too() {
    on_every_backend(async |place| {
        parts(&place).await;
        let server = Server::start(&place, &[]).await;
        let rows = file(&["b-1,1,2,1,5,", "B-1,1,3,1,5,", "a-1,1,4,1,5,"]);
        let answer = upload(&server, "parts", "", rows).await;
        // PostgreSQL tells them apart.
        if place.backend() == Backend::Postgres {
            assert_eq!(answer.json()["inserted"], 3);
        } else {
            let problem = answer.problem(422, "import_rejected");
            let at = |row: u64| (row, "code".to_owned());
            assert_eq!(places(&problem), [at(3), at(4)], "{problem}");
        }
        stop(server).await;
    })
    .await;
}

#[tokio::test]
async fn values_that_their_columns_would_cut_or_refuse_are_problems() {
    on_every_backend(async |place| {
        parts(&place).await;
        let server = Server::start(&place, &[]).await;
        let rows = file(&[
            "B-1,1,2,1,99999.99,2026-01-05 09:30:00",
            ",2,2,1,5,",
            "B-23456,3,2,1,5,",
            "B-4,40000,2,1,5,",
            "B-5,5,2,1,100000,",
            "B-6,6,2,1,5.005,",
            "B-7,7,2,1,5,2026-01-05 09:30:00.1234",
        ]);
        let server_says = [
            (3, "code", "required"),
            (4, "code", "too_long"),
            (5, "shelf", "too_large"),
            (6, "price", "too_large"),
            (7, "price", "too_many_decimals"),
            (8, "made_at", "too_fine"),
        ];
        let answer = upload(&server, "parts", "", rows).await;
        // SQLite has no types to speak of, and takes all of it as it is.
        let expected = match place.backend() {
            Backend::Sqlite => &server_says[..1],
            Backend::Postgres | Backend::MySql => &server_says[..],
        };
        let problem = answer.problem(422, "import_rejected");
        let found: Vec<_> = problem["problems"]
            .as_array()
            .expect("problems")
            .iter()
            .map(|one| (one["row"].clone(), one["column"].clone(), one["code"].clone()))
            .collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|(row, column, code)| (json!(row), json!(column), json!(code)))
            .collect();
        assert_eq!(found, expected, "{problem}");
        assert_eq!(count(&place, "parts").await, "1");
        stop(server).await;
    })
    .await;
}

#[tokio::test]
async fn a_row_that_the_database_alone_can_refuse_is_named() {
    on_every_backend(async |place| {
        parts(&place).await;
        let server = Server::start(&place, &[]).await;
        for at in [0, 1, 36, 98, 99] {
            let rows: Vec<String> = (0..100)
                .map(|row| match row {
                    row if row == at => format!("C-{row},1,13,1,5,"),
                    row => format!("C-{row},1,{},1,5,", 100 + row),
                })
                .collect();
            let rows = file(&rows.iter().map(String::as_str).collect::<Vec<_>>());
            let answer = upload(&server, "parts", "", rows).await;
            let problem = answer.problem(422, "invalid_request");
            let told = &problem["problems"][0];
            assert_eq!(told["code"], "refused_by_database", "{problem}");
            let detail = told["detail"].as_str().expect("words");
            assert!(detail.starts_with(&format!("row {}: ", at + 2)), "{at}: {detail}");
            assert_eq!(count(&place, "parts").await, "1");
            assert_eq!(count(&place, "tallyroll_imports").await, "0");
        }
        stop(server).await;
    })
    .await;
}
