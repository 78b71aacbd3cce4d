//! Files that others stumbled over.

use serde_json::{Value as Json, json};

use super::{count, fixture, places, stop, stored, transactions, upload};
use crate::support::{Place, Server, on_every_backend};

fn expected(case: &str) -> Json {
    serde_json::from_slice(&fixture(&format!("{case}/expected.json"))).expect("a fixture")
}

/// A row of a fixture as the report tells it.
fn row(expected: &Json) -> Json {
    let paid_at = expected["paid_at"].as_str().map(|clock| format!("{clock}+09:00"));
    json!({
        "code": expected["code"],
        "name": expected["name"],
        "qty": expected["qty"].to_string(),
        "amount": expected["amount"],
        "day": expected["date"],
        "paid_at": paid_at,
        "active": expected["active"],
    })
}

fn rows(expected: &Json) -> Vec<Json> {
    let mut rows: Vec<Json> =
        expected.as_array().expect("rows are listed").iter().map(row).collect();
    rows.sort_by_key(|row| row["code"].as_str().unwrap_or_default().to_owned());
    rows
}

fn errors(expected: &Json) -> Vec<(u64, String)> {
    let errors = expected["errors"].as_array().expect("errors are listed");
    let place = |error: &Json| {
        let column = error["column"].as_str().unwrap_or_default().to_owned();
        (error["row"].as_u64().unwrap_or_default(), column)
    };
    errors.iter().map(place).collect()
}

/// A server on an empty table of transactions.
async fn with_transactions(place: &Place) -> Server<'_> {
    transactions(place).await;
    Server::start(place, &[]).await
}

#[tokio::test]
async fn good_files_are_stored_as_a_person_reads_them() {
    on_every_backend(async |place| {
        let server = with_transactions(&place).await;
        for (case, file, rows_of) in [
            ("001-xlsx-1904-dates", "upload.xlsx", "rows"),
            ("002-xlsx-trailing-styled-rows", "upload.xlsx", "rows"),
            ("009-xlsx-header-spellings", "upload.xlsx", "rows"),
            ("009-xlsx-header-spellings", "upload-english-reordered.xlsx", "second_rows"),
            ("025-csv-cp949", "cp949.csv", "rows"),
            ("025-csv-cp949", "utf8.csv", "rows"),
            ("025-csv-cp949", "utf8-bom.csv", "rows"),
        ] {
            let expected = expected(case);
            let answer =
                upload(&server, "transactions", "", fixture(&format!("{case}/{file}"))).await;
            let outcome = answer.json();
            let rows = rows(&expected[rows_of]);
            assert_eq!(outcome["inserted"], rows.len(), "{case} {file}: {outcome}");
            assert_eq!(stored(&server, "transactions").await, rows, "{case} {file}");
            place.execute("DELETE FROM transactions").await;
        }
        stop(server).await;
    })
    .await;
}

#[tokio::test]
async fn what_is_wrong_is_named_by_row_and_column_and_the_rest_can_be_stored() {
    on_every_backend(async |place| {
        let server = with_transactions(&place).await;
        for (case, file, good) in [
            ("013-xlsx-error-cells", "upload.xlsx", Some("good_rows")),
            ("007-xlsx-integer-column", "upload.xlsx", None),
            ("017-xlsx-rich-text-phonetic-escapes", "upload.xlsx", None),
            ("029-ods-repeats-and-types", "upload.ods", Some("rows")),
        ] {
            let expected = expected(case);
            let file = fixture(&format!("{case}/{file}"));
            let answer = upload(&server, "transactions", "", file.clone()).await;
            let problem = answer.problem(422, "import_rejected");
            let found = places(&problem);
            for place in errors(&expected) {
                assert!(found.contains(&place), "{case}: {place:?} in {found:?}");
            }
            assert_eq!(count(&place, "transactions").await, "0", "{case}");
            let skipped = upload(&server, "transactions", "?on_problem=skip", file).await.json();
            assert_eq!(skipped["rejected"], problem["rejected"], "{case}");
            if let Some(good) = good {
                let good = rows(&expected[good]);
                assert_eq!(skipped["inserted"], good.len(), "{case}: {skipped}");
                assert_eq!(stored(&server, "transactions").await, good, "{case}");
            }
            place.execute("DELETE FROM transactions").await;
        }
        stop(server).await;
    })
    .await;
}

#[tokio::test]
async fn numbers_in_a_text_column_keep_what_the_person_sees() {
    on_every_backend(async |place| {
        let server = with_transactions(&place).await;
        let case = "005-xlsx-numeric-cells-in-text-column";
        let file = fixture(&format!("{case}/upload.xlsx"));
        let outcome = upload(&server, "transactions", "?on_problem=skip", file).await.json();
        // A truth value is no code.
        assert_eq!(places(&outcome), [(8, "거래번호".into())], "{outcome}");
        assert_eq!(stored(&server, "transactions").await, rows(&expected(case)["rows"]));
        stop(server).await;
    })
    .await;
}

#[tokio::test]
async fn whole_numbers_are_read_in_every_spelling_that_leaves_no_doubt() {
    on_every_backend(async |place| {
        let server = with_transactions(&place).await;
        let case = "007-xlsx-integer-column";
        let file = fixture(&format!("{case}/upload.xlsx"));
        let outcome = upload(&server, "transactions", "?on_problem=skip", file).await.json();
        let wrong = places(&outcome);
        let expected = expected(case);
        let stored = stored(&server, "transactions").await;
        for (number, value) in expected["qty"].as_object().expect("rows") {
            let number: u64 = number.parse().expect("a row");
            let at_fault = wrong.iter().any(|place| place.0 == number);
            match value.as_u64() {
                Some(_) => assert!(!at_fault, "row {number} is good: {wrong:?}"),
                // Read as the first, or refused.
                None => assert!(at_fault || value[0].is_u64(), "row {number}"),
            }
        }
        let good = expected["qty"].as_object().expect("rows").len();
        let refused = expected["qty"]
            .as_object()
            .expect("rows")
            .keys()
            .filter(|number| wrong.iter().any(|place| place.0.to_string() == **number))
            .count();
        assert_eq!(stored.len(), good - refused, "{outcome}");
        stop(server).await;
    })
    .await;
}

#[tokio::test]
async fn doubles_stop_all_and_a_repeated_upload_stores_once() {
    on_every_backend(async |place| {
        let server = with_transactions(&place).await;
        let case = "015-xlsx-duplicates-all-or-nothing";
        let file = fixture(&format!("{case}/upload.xlsx"));
        let problem =
            upload(&server, "transactions", "", file).await.problem(422, "import_rejected");
        let found = places(&problem);
        assert!(found.contains(&(7, "거래번호".into())), "{found:?}");
        assert!(found.contains(&(10, "금액".into())), "{found:?}");
        let doubled = problem["problems"].as_array().expect("a list").iter();
        let doubled = doubled.clone().find(|problem| problem["row"] == 7).expect("row 7");
        assert!(doubled["detail"].as_str().is_some_and(|detail| detail.contains("row 4")));
        assert_eq!(doubled["value"], "A-003", "{doubled}");
        assert_eq!(count(&place, "transactions").await, "0");

        let fixed = fixture(&format!("{case}/fixed.xlsx"));
        let path = "/api/v1/imports/transactions";
        let key = [("Idempotency-Key", "fixed-1")];
        let first = server.post(path, &key, fixed.clone()).await;
        assert_eq!(first.json()["inserted"], 10);
        let again = server.post(path, &key, fixed.clone()).await;
        assert_eq!((again.status, again.text()), (200, first.text()), "the first answer again");
        assert_eq!(again.run(), first.run());
        assert_eq!(count(&place, "transactions").await, "10");
        server.post(path, &key, b"code\nx\n".to_vec()).await.problem(422, "invalid_request");
        let anew = server.post(path, &[], fixed).await.problem(422, "import_rejected");
        assert_eq!(anew["rejected"], 10, "{anew}");
        assert!(places(&anew).iter().all(|place| place.1 == "거래번호"), "{anew}");
        assert_eq!(count(&place, "transactions").await, "10");
        stop(server).await;
    })
    .await;
}

#[tokio::test]
async fn titles_above_the_header_do_not_shift_the_rows() {
    on_every_backend(async |place| {
        let server = with_transactions(&place).await;
        let case = "011-xlsx-title-rows-merged-header";
        let titled = fixture(&format!("{case}/title-rows.xlsx"));
        let outcome = upload(&server, "transactions", "", titled).await.json();
        assert_eq!(outcome["inserted"], 3, "{outcome}");
        place.execute("DELETE FROM transactions").await;
        let merged = fixture(&format!("{case}/two-line-header-merged-name.xlsx"));
        let answer = upload(&server, "transactions", "?header_row=2", merged).await;
        assert_eq!(answer.status, 422, "{}", answer.text());
        stop(server).await;
    })
    .await;
}

#[tokio::test]
async fn files_that_are_none_are_refused_in_words_and_leave_nothing() {
    on_every_backend(async |place| {
        let server = with_transactions(&place).await;
        for (file, word) in [
            ("019-xlsx-entity-bomb/upload.xlsx", ""),
            ("021-xlsx-password-protected/upload.xlsx", "password"),
            ("023-empty-and-header-only/zero-bytes.xlsx", "empty"),
            ("023-empty-and-header-only/zero-bytes.csv", "empty"),
            ("023-empty-and-header-only/bom-only.csv", "empty"),
            ("023-empty-and-header-only/empty-sheet.xlsx", ""),
            ("023-empty-and-header-only/zero-sheets.xlsx", "sheet"),
            ("023-empty-and-header-only/header-only.xlsx", "no row below"),
            ("023-empty-and-header-only/header-only.csv", "no row below"),
            ("025-csv-cp949/broken-utf8.csv", "line"),
            ("028-csv-ragged-unterminated-nul/unterminated.csv", "line 2"),
        ] {
            let answer = upload(&server, "transactions", "", fixture(file)).await;
            assert!((400..500).contains(&answer.status), "{file}: {}", answer.text());
            let problem: Json = serde_json::from_slice(&answer.body).expect("a problem");
            let detail = problem["detail"].as_str().unwrap_or_default();
            assert!(detail.split(' ').count() > 4, "{file}: {problem}");
            assert!(detail.to_lowercase().contains(word), "{file}: {problem}");
            assert_eq!(server.temporary_files(), Vec::<String>::new(), "{file}");
            assert_eq!(count(&place, "transactions").await, "0", "{file}");
        }
        let external = fixture("019-xlsx-entity-bomb/external-entity.xlsx");
        let answer = upload(&server, "transactions", "", external).await;
        assert!((400..500).contains(&answer.status), "{}", answer.text());
        assert!(!answer.text().contains("root:"), "nothing of another file is shown");
        stop(server).await;
    })
    .await;
}

#[tokio::test]
async fn ragged_rows_and_strange_characters_are_problems_of_their_rows() {
    on_every_backend(async |place| {
        let server = with_transactions(&place).await;
        let case = "028-csv-ragged-unterminated-nul";
        let ragged = fixture(&format!("{case}/ragged.csv"));
        let problem =
            upload(&server, "transactions", "", ragged).await.problem(422, "import_rejected");
        let found = places(&problem);
        for column in ["금액", "거래일자"] {
            assert!(found.contains(&(2, column.into())), "{found:?}");
        }
        assert!(!found.iter().any(|place| place.0 == 4), "row 4 is good: {found:?}");
        let nul = fixture(&format!("{case}/nul.csv"));
        let problem =
            upload(&server, "transactions", "", nul).await.problem(422, "import_rejected");
        assert!(places(&problem).contains(&(2, "거래처명".into())), "{problem}");
        stop(server).await;
    })
    .await;
}
