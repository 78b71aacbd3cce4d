//! What a table demands by itself is found row by row, whether or not the definition says it.

use serde_json::json;

use super::{count, places, stop, upload};
use crate::rows::assert_run_times;
use crate::support::{Backend, Place, Server, on_every_backend, on_every_server};

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
async fn nothing_is_stored_otherwise_than_it_was_sent() {
    on_every_backend(async |place| {
        let types = place.backend().pick(
            ("text", "numeric(30,2)", "bigint", "text"),
            ("varchar(60000)", "numeric(15,2)", "integer", "date"),
            ("text", "decimal(15,2)", "int", "date"),
        );
        let (note, exact, whole, at) = types;
        place
            .execute(&format!(
                "CREATE TABLE kept (note {note}, exact {exact}, share {whole}, at {at})"
            ))
            .await;
        let column = |key: &str, rest: &str| format!("[[columns]]\nkey = \"{key}\"\n{rest}\n");
        let columns = [
            column("note", "type = \"text\""),
            column("exact", "type = \"decimal\"\nprecision = 28\nscale = 2"),
            column("share", "type = \"float\""),
            column("at", "type = \"time\"\nzone = \"Asia/Seoul\""),
        ];
        place.import("kept", &format!("into = \"kept\"\n{}", columns.concat()));
        let server = Server::start(&place, &[]).await;
        let row = |note: &str, exact: &str, share: &str, at: &str| {
            format!("{{\"note\":\"{note}\",\"exact\":{exact},\"share\":{share},\"at\":{at}}}\n")
        };
        let rows = [
            row("a", "1.50", "1", "null"),
            row(&"x".repeat(70_000), "1", "1", "null"),
            row("b", "99999999999999.99", "1", "null"),
            row("c", "1", "1.5", "null"),
            row("d", "1", "1", "\"2026-01-31 00:00\""),
        ];
        let answer = upload(&server, "kept", "", rows.concat().into()).await;
        let problem = answer.problem(422, "import_rejected");
        let at = |row: u64, column: &str| (row, column.to_owned());
        // SQLite has no types to speak of, but makes binary numbers of decimals.
        let expected = match place.backend() {
            Backend::Sqlite => vec![at(3, "exact")],
            Backend::Postgres | Backend::MySql => {
                vec![at(2, "note"), at(3, "exact"), at(4, "share"), at(5, "at")]
            }
        };
        assert_eq!(places(&problem), expected, "{problem}");
        assert_eq!(count(&place, "kept").await, "0");
        stop(server).await;
    })
    .await;
}

#[tokio::test]
async fn a_key_of_zero_is_zero_also_where_the_table_counts() {
    on_every_backend(async |place| {
        let id = place.backend().pick(
            "integer PRIMARY KEY",
            "bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY",
            "bigint AUTO_INCREMENT PRIMARY KEY",
        );
        place.execute(&format!("CREATE TABLE counted (id {id}, name varchar(20))")).await;
        let columns = "[[columns]]\nkey = \"id\"\ntype = \"int\"\n\
                       [[columns]]\nkey = \"name\"\ntype = \"text\"\n";
        place.import("counted", &format!("into = \"counted\"\n{columns}"));
        let server = Server::start(&place, &[]).await;
        let outcome = upload(&server, "counted", "", b"id,name\n0,a\n7,b\n".to_vec()).await.json();
        assert_eq!(outcome["inserted"], 2, "{outcome}");
        assert_eq!(place.value("SELECT min(id) FROM counted").await, "0");
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

#[tokio::test]
async fn a_value_that_an_enumeration_does_not_have_is_told_with_its_row() {
    on_every_server(async |place| {
        let (make, mood) = place.backend().pick(
            ("", ""),
            ("CREATE TYPE mood AS ENUM ('good', 'bad');", "mood"),
            ("", "enum('good', 'bad')"),
        );
        place.execute(&format!("{make} CREATE TABLE days (mood {mood})")).await;
        place.import("days", "into = \"days\"\n[[columns]]\nkey = \"mood\"\ntype = \"text\"\n");
        let server = Server::start(&place, &[]).await;
        let send = async |rows: &str| {
            upload(&server, "days", "?header_row=1", format!("mood\n{rows}").into()).await
        };
        assert_eq!(send("good\nbad\n").await.json()["inserted"], 2);
        let problem = send("good\nfair\n").await.problem(422, "invalid_request");
        let told = &problem["problems"][0];
        assert_eq!(told["code"], "refused_by_database", "{problem}");
        assert!(
            told["detail"].as_str().is_some_and(|detail| detail.starts_with("row 3: ")),
            "{told}"
        );
        assert_eq!(count(&place, "days").await, "2");
        stop(server).await;
    })
    .await;
}
