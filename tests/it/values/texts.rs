//! Texts: every character, CSV's quoting and guard, and bytes that are no text.

use serde::Deserialize;
use serde_json::Value as Json;

use crate::support::{Backend, Field, Place, Server, on_every_backend, parse_csv};

/// A row of the texts.
#[derive(Debug, Deserialize)]
pub struct Text {
    pub id: u32,
    pub v: String,
}

/// The texts.
pub fn texts() -> Vec<Text> {
    let rows = include_str!("../../fixtures/033-export-text-and-formula-injection/rows.json");
    serde_json::from_str(rows).expect("a fixture")
}

/// Makes the report `tx` of the texts.
pub async fn make_texts(place: &Place) {
    place.execute("CREATE TABLE tx (id int, v text)").await;
    for Text { id, v } in texts() {
        let hex: String = v.bytes().map(|byte| format!("{byte:02x}")).collect();
        let text = place.backend().pick(
            format!("CAST(X'{hex}' AS text)"),
            format!("convert_from('\\x{hex}', 'UTF8')"),
            format!("CONVERT(X'{hex}' USING utf8mb4)"),
        );
        place.execute(&format!("INSERT INTO tx VALUES ({id}, {text})")).await;
    }
    place.report(
        "tx",
        r#"
        from = "tx"
        order_by = ["id"]
        [[columns]]
        key = "id"
        title = "번호"
        type = "int"
        [[columns]]
        key = "v"
        title = "=글"
        type = "text"
        "#,
    );
}

/// The texts that a spreadsheet would run.
const RUN: [u32; 8] = [1, 2, 3, 5, 6, 7, 8, 19];

#[tokio::test]
async fn texts_come_through_json_as_they_are() {
    on_every_backend(async |place| {
        make_texts(&place).await;
        let server = Server::start(&place, &[]).await;
        let ndjson = server.get("/api/v1/reports/tx/rows").await;
        let read: Vec<(u32, String)> = ndjson
            .text()
            .lines()
            .map(|line| serde_json::from_str::<Text>(line).expect("an object a line"))
            .map(|row| (row.id, row.v))
            .collect();
        let stored: Vec<_> = texts().into_iter().map(|row| (row.id, row.v)).collect();
        assert_eq!(read, stored);
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn csv_without_the_guard_reads_back_to_the_same_texts() {
    on_every_backend(async |place| {
        make_texts(&place).await;
        let server = Server::start(&place, &[]).await;
        for (parameter, delimiter) in
            [(",", ','), ("%3B", ';'), ("%7C", '|'), ("%09", '\t'), ("tab", '\t')]
        {
            let path = format!(
                "/api/v1/reports/tx/rows?format=csv&formula_guard=false&delimiter={parameter}"
            );
            let csv = server.get(&path).await;
            let record = |row: Text| -> Vec<Field> { vec![Some(row.id.to_string()), Some(row.v)] };
            let mut expected: Vec<Vec<Field>> = vec![vec![Some("번호".into()), Some("=글".into())]];
            expected.extend(texts().into_iter().map(record));
            assert_eq!(parse_csv(csv.text(), delimiter), expected, "delimiter {parameter}");
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn the_guard_marks_what_a_spreadsheet_would_run_and_nothing_else() {
    on_every_backend(async |place| {
        make_texts(&place).await;
        let server = Server::start(&place, &[]).await;
        let csv = server.get("/api/v1/reports/tx/rows?format=csv").await;
        let records = parse_csv(csv.text(), ',');
        for (record, Text { id, v }) in records.iter().skip(1).zip(texts()) {
            let guarded = if RUN.contains(&id) { format!("'{v}") } else { v };
            assert_eq!(record[1].as_deref(), Some(&*guarded), "row {id}");
        }
        assert_eq!(records[0][1].as_deref(), Some("'=글"), "a title is text too");
        let asked = server.get("/api/v1/reports/tx/rows?format=csv&formula_guard=true").await;
        assert_eq!(asked.body, csv.body, "the guard is on unless it is switched off");
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn csv_has_the_header_and_the_byte_order_mark_that_were_asked_for() {
    on_every_backend(async |place| {
        make_texts(&place).await;
        let server = Server::start(&place, &[]).await;
        let begin = async |parameters: &str| {
            let path =
                format!("/api/v1/reports/tx/rows?format=csv&formula_guard=false{parameters}");
            let csv = server.get(&path).await;
            csv.text().split_once("\r\n").expect("a record").0.to_owned()
        };
        assert_eq!(begin("").await, "번호,=글");
        assert_eq!(begin("&header=title").await, "번호,=글");
        assert_eq!(begin("&header=key").await, "id,v");
        assert_eq!(begin("&header=none").await, "1,=1+1");
        assert_eq!(begin("&bom=true&header=key").await, "\u{FEFF}id,v");
        assert_eq!(begin("&bom=true&header=none").await, "\u{FEFF}1,=1+1");
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn bytes_that_are_no_text_are_a_failure_that_names_row_and_column() {
    on_every_backend(async |place| {
        // The others take in no such bytes.
        if place.backend() != Backend::Sqlite {
            return;
        }
        place
            .execute("CREATE TABLE bad (id integer, v text); INSERT INTO bad VALUES (1, 'a'), (2, CAST(X'61ff' AS text))")
            .await;
        place.report(
            "bad",
            r#"
            from = "bad"
            order_by = ["id"]
            [[columns]]
            key = "id"
            type = "int"
            [[columns]]
            key = "words"
            column = "v"
            type = "text"
            "#,
        );
        let server = Server::start(&place, &[]).await;
        let answer = server.get("/api/v1/reports/bad/rows").await;
        let problem = answer.problem(500, "undecodable_value");
        let detail = problem["detail"].as_str().expect("a detail");
        assert!(detail.contains("row 2") && detail.contains("\"words\""), "{detail}");
        let run = server.run(&answer.run()).await;
        assert_eq!((&run["state"], &run["error"]["code"]), (&"failed".into(), &"undecodable_value".into()));
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn every_kind_of_character_comes_through() {
    on_every_backend(async |place| {
        let controls =
            (1..=0x1F).chain([0x20, 0x22, 0x27, 0x2C, 0x5C, 0x7F, 0x80, 0x9F, 0xA0, 0x300]);
        let others = [
            0x7FF, 0x800, 0x200B, 0x2028, 0x2029, 0xD7FF, 0xE000, 0xFEFF, 0xFFFD, 0xFFFF, 0x1_0000,
            0x10_FFFF,
        ];
        let characters: Vec<char> = controls.chain(others).filter_map(char::from_u32).collect();
        // Alone, doubled, and where an eight-byte step of a search begins and ends.
        let texts: Vec<String> = characters
            .iter()
            .flat_map(|c| {
                [format!("{c}"), format!("{c}{c}"), format!("1234567{c}"), format!("12345678{c}9")]
            })
            .collect();
        let hex =
            |text: &String| text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
        let value = |text: &String| {
            place.backend().pick(
                format!("CAST(X'{}' AS text)", hex(text)),
                format!("convert_from('\\x{}', 'UTF8')", hex(text)),
                format!("CONVERT(X'{}' USING utf8mb4)", hex(text)),
            )
        };
        let rows: Vec<String> =
            texts.iter().enumerate().map(|(id, text)| format!("({id}, {})", value(text))).collect();
        place
            .execute(&format!(
                "CREATE TABLE c (id int, v text); INSERT INTO c VALUES {}",
                rows.join(", ")
            ))
            .await;
        place.report(
            "c",
            "from = \"c\"\norder_by = [\"id\"]\n[[columns]]\nkey = \"v\"\ntype = \"text\"\n",
        );
        let server = Server::start(&place, &[]).await;
        let ndjson = server.get("/api/v1/reports/c/rows").await;
        let read = ndjson.text().split_terminator('\n').map(|line| {
            let row: Json =
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
            row["v"].as_str().expect("a text").to_owned()
        });
        assert_eq!(read.collect::<Vec<_>>(), texts);
        let csv =
            server.get("/api/v1/reports/c/rows?format=csv&header=none&formula_guard=false").await;
        let read =
            parse_csv(csv.text(), ',').into_iter().map(|record| record[0].clone().expect("a text"));
        assert_eq!(read.collect::<Vec<_>>(), texts);
        server.stop().await;
    })
    .await;
}
