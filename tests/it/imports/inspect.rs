//! `/inspect`: what an import would make of a file, told without doing it.

use serde_json::{Value as Json, json};

use super::{count, fixture, stop, transactions, upload};
use crate::support::{Answer, Place, Server, on_every_backend};

async fn look(server: &Server<'_>, parameters: &str, file: Vec<u8>) -> Answer {
    server.post(&format!("/api/v1/imports/transactions/inspect{parameters}"), &[], file).await
}

/// What became of each column of the file: its heading, the key, the state.
fn columns(found: &Json) -> Vec<(String, Option<String>, String)> {
    let text = |column: &Json, member: &str| column[member].as_str().map(str::to_owned);
    let columns = found["columns"].as_array().expect("columns are listed").iter().enumerate();
    columns
        .map(|(place, column)| {
            assert_eq!(column["position"], place + 1);
            let (title, state) = (text(column, "title"), text(column, "state"));
            (title.expect("a title"), text(column, "key"), state.expect("a state"))
        })
        .collect()
}

fn missing(found: &Json) -> Vec<(String, bool)> {
    let missing = found["missing"].as_array().expect("missing columns are listed").iter();
    missing
        .map(|column| {
            let key = column["key"].as_str().expect("a key").to_owned();
            (key, column["required"].as_bool().expect("it is said"))
        })
        .collect()
}

fn codes(list: &Json) -> Vec<&str> {
    let codes = list.as_array().expect("a list").iter();
    codes.map(|one| one["code"].as_str().expect("a code")).collect()
}

/// A server on an empty table of transactions.
async fn with_transactions(place: &Place) -> Server<'_> {
    transactions(place).await;
    Server::start(place, &[]).await
}

/// Asserts that nothing came of all the looking, and ends the server.
async fn nothing_came_of_it(place: &Place, server: Server<'_>) {
    assert_eq!(count(place, "transactions").await, "0");
    assert_eq!(server.json("/api/v1/runs?kind=import").await["items"], json!([]));
    assert_eq!(server.temporary_files(), Vec::<String>::new());
    stop(server).await;
}

#[tokio::test]
async fn texts_are_told_with_their_encoding_and_their_first_rows() {
    on_every_backend(async |place| {
        let server = with_transactions(&place).await;
        for (file, encoding) in
            [("cp949.csv", "CP949"), ("utf8.csv", "UTF-8"), ("utf8-bom.csv", "UTF-8")]
        {
            let found = look(&server, "", fixture(&format!("025-csv-cp949/{file}"))).await.json();
            assert_eq!((&found["format"], &found["encoding"]), (&json!("csv"), &json!(encoding)));
            assert_eq!((&found["delimiter"], &found["header_row"]), (&json!(","), &json!(1)));
            assert_eq!((&found["sheets"], &found["sheet"]), (&json!([]), &Json::Null));
            assert_eq!(found["problems"], json!([]), "{found}");
            assert_eq!(found["rows"][0]["values"][0], "거래번호");
            assert_eq!(
                columns(&found)[0],
                ("거래번호".into(), Some("code".into()), "taken".into())
            );
            assert_eq!(found["columns"][0]["letters"], "A");
        }
        let mut rows = String::from("﻿거래번호;비고;;수 량;tallyroll: problems;거래처명\n");
        for row in 1..=30 {
            rows.push_str(&format!("A-{row};\"a\nb\";x;{row};wrong;{}\n", "가".repeat(300)));
        }
        let found = look(&server, "", rows.into_bytes()).await.json();
        assert_eq!(found["delimiter"], ";");
        let column = |title: &str, key: Option<&str>, state: &str| {
            (title.to_owned(), key.map(str::to_owned), state.to_owned())
        };
        assert_eq!(
            columns(&found),
            [
                column("거래번호", Some("code"), "taken"),
                column("비고", None, "unknown"),
                column("", None, "ignored"),
                column("수 량", Some("qty"), "taken"),
                column("tallyroll: problems", None, "ignored"),
                column("거래처명", Some("name"), "taken"),
            ]
        );
        let gone = |key: &str, required| (key.to_owned(), required);
        let expected = [
            gone("amount", true),
            gone("date", true),
            gone("paid_at", false),
            gone("active", false),
        ];
        assert_eq!(missing(&found), expected);
        assert_eq!(codes(&found["problems"]), ["header_missing", "header_missing"], "{found}");
        assert_eq!(codes(&found["warnings"]), ["unknown_column"], "{found}");
        let rows = found["rows"].as_array().expect("rows");
        assert_eq!((rows.len(), &rows[9]["row"]), (10, &json!(10)));
        assert_eq!(rows[1]["values"][1], "a\nb", "as it is");
        assert_eq!(rows[1]["values"][5].as_str().map(|text| text.chars().count()), Some(201));
        nothing_came_of_it(&place, server).await;
    })
    .await;
}

#[tokio::test]
async fn a_header_below_titles_is_found_and_one_that_is_asked_for_is_looked_at() {
    on_every_backend(async |place| {
        let server = with_transactions(&place).await;
        let header = "거래번호,거래처명,수량,금액,거래일자\n";
        let rows: String =
            (1..=30).map(|row| format!("A-{row},한빛,{row},1.50,2026-01-05\n")).collect();
        let titles: String = (1..=14).map(|row| format!("제목 {row}\n")).collect();
        let file = format!("{titles}{header}{rows}").into_bytes();
        let found = look(&server, "", file.clone()).await.json();
        assert_eq!((&found["header_row"], &found["problems"]), (&json!(15), &json!([])), "{found}");
        let numbers: Vec<_> = found["rows"].as_array().expect("rows").iter().collect();
        let numbers: Vec<_> = numbers.iter().filter_map(|row| row["row"].as_u64()).collect();
        assert_eq!(numbers, (1..=10).chain(15..=25).collect::<Vec<_>>());
        let far = format!("{}{header}{rows}", "위\n".repeat(40)).into_bytes();
        let found = look(&server, "?header_row=41", far.clone()).await.json();
        assert_eq!((&found["header_row"], &found["problems"]), (&json!(41), &json!([])), "{found}");
        let found = look(&server, "", far).await.json();
        assert_eq!(found["header_row"], Json::Null, "{found}");
        assert_eq!(codes(&found["problems"]), ["header_not_found"]);
        assert_eq!(missing(&found).len(), 7);
        // As asked for, though another row would do.
        let found = look(&server, "?header_row=16", file).await.json();
        assert_eq!(codes(&found["problems"]), ["header_not_found"], "{found}");
        assert_eq!(columns(&found)[0], ("A-1".into(), None, "unknown".into()));
        let twice = format!("거래번호,거래 번호,거래처\n{rows}").into_bytes();
        let found = look(&server, "", twice).await.json();
        assert_eq!(columns(&found)[1], ("거래 번호".into(), Some("code".into()), "doubled".into()));
        assert!(codes(&found["problems"]).contains(&"header_doubled"), "{found}");
        nothing_came_of_it(&place, server).await;
    })
    .await;
}

#[tokio::test]
async fn a_workbook_is_told_with_its_sheets_as_a_person_sees_it() {
    on_every_backend(async |place| {
        let server = with_transactions(&place).await;
        let book = fixture("009-xlsx-header-spellings/upload-english-reordered.xlsx");
        let found = look(&server, "", book).await.json();
        assert_eq!(
            (&found["format"], &found["encoding"]),
            (&json!("xlsx"), &Json::Null),
            "{found}"
        );
        assert_eq!(found["problems"], json!([]), "{found}");
        assert_eq!(found["sheets"].as_array().map(Vec::len), Some(1), "{found}");
        assert_eq!(found["sheets"][0]["name"], found["sheet"]);
        assert_eq!(
            (&found["sheets"][0]["visible"], &found["sheets"][0]["chosen"]),
            (&true.into(), &true.into())
        );
        let dates = look(&server, "", fixture("001-xlsx-1904-dates/upload.xlsx")).await.json();
        assert_eq!(dates["rows"][1]["values"][4], "2024-01-31", "{dates}");
        let titled = fixture("011-xlsx-title-rows-merged-header/title-rows.xlsx");
        let found = look(&server, "?sheet=1", titled).await.json();
        assert_eq!((&found["header_row"], &found["problems"]), (&json!(3), &json!([])), "{found}");
        let ods = look(&server, "", fixture("029-ods-repeats-and-types/upload.ods")).await.json();
        assert_eq!((&ods["format"], &ods["problems"]), (&json!("ods"), &json!([])), "{ods}");
        let lines =
            "{\"code\":\"A-1\",\"name\":\"한빛\",\"x\":[1]}\n{\"code\":\"A-2\",\"qty\":7}\n";
        let found = look(&server, "", lines.into()).await.json();
        assert_eq!((&found["format"], &found["header_row"]), (&json!("ndjson"), &Json::Null));
        assert_eq!(
            found["rows"][1],
            json!({ "row": 2, "values": ["A-2", "", "", "7"] }),
            "{found}"
        );
        assert_eq!(codes(&found["problems"]), ["header_missing", "header_missing"], "{found}");
        assert_eq!(found["columns"][3]["key"], "qty");
        nothing_came_of_it(&place, server).await;
    })
    .await;
}

#[tokio::test]
async fn what_cannot_be_read_is_refused_as_the_import_refuses_it() {
    on_every_backend(async |place| {
        let server = with_transactions(&place).await;
        for file in [
            "019-xlsx-entity-bomb/upload.xlsx",
            "021-xlsx-password-protected/upload.xlsx",
            "023-empty-and-header-only/zero-bytes.csv",
            "023-empty-and-header-only/zero-sheets.xlsx",
            "025-csv-cp949/broken-utf8.csv",
            "028-csv-ragged-unterminated-nul/unterminated.csv",
        ] {
            let looked = look(&server, "", fixture(file)).await;
            let looked = looked.problem(422, "invalid_request");
            let imported = upload(&server, "transactions", "", fixture(file)).await;
            let imported = imported.problem(422, "invalid_request");
            assert_eq!(looked["problems"], imported["problems"], "{file}");
        }
        let good = fixture("025-csv-cp949/utf8.csv");
        let strange = look(&server, "?dry_run=true&header_row=0", good.clone()).await;
        assert_eq!(strange.problems().len(), 2);
        let sheet = look(&server, "?sheet=x", good.clone()).await;
        assert_eq!(sheet.problem(422, "invalid_request")["problems"][0]["code"], "no_such_sheet");
        let nothing = "/api/v1/imports/nothing/inspect";
        server.post(nothing, &[], good).await.problem(404, "not_found");
        stop(server).await;
    })
    .await;
}

#[tokio::test]
async fn the_head_is_read_and_no_more() {
    on_every_backend(async |place| {
        let server = with_transactions(&place).await;
        let row = "A-1,한빛,1,1.50,2026-01-05,,\n";
        let mut file = String::from("거래번호,거래처명,수량,금액,거래일자,결제일시,사용여부\n");
        file.push_str(&row.repeat((9 << 20) / row.len()));
        let mut file = file.into_bytes();
        // What no import takes, and nobody sees who does not go that far.
        file.extend_from_slice(b"\xFF\xFE,\"never closed");
        let found = look(&server, "", file.clone()).await.json();
        assert_eq!((&found["encoding"], &found["problems"]), (&json!("UTF-8"), &json!([])));
        assert_eq!(found["rows"].as_array().map(Vec::len), Some(11), "{found}");
        upload(&server, "transactions", "", file).await.problem(422, "invalid_request");
        // One line, as programs write arrays.
        let element = "{\"code\":\"A-1\",\"name\":\"한빛\",\"qty\":1,\"amount\":1.5,\"date\":\"2026-01-05\"},";
        let array = format!("[{}oops", element.repeat((9 << 20) / element.len()));
        let found = look(&server, "", array.into_bytes()).await.json();
        assert_eq!((&found["format"], &found["problems"]), (&json!("json"), &json!([])), "{found}");
        assert_eq!(found["rows"].as_array().map(Vec::len), Some(10));
        stop(server).await;
    })
    .await;
}
