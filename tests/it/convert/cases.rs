//! Files that others stumbled over, as text.

use serde_json::Value as Json;

use super::{convert, fixture};
use crate::support::{Server, on_every_backend};

/// The rows of a file as NDJSON has them.
async fn rows(server: &Server<'_>, query: &str, file: &str) -> Vec<Json> {
    let answer = convert(server, &format!("to=ndjson{query}"), fixture(file)).await;
    answer.text().lines().map(|line| serde_json::from_str(line).expect("a row")).collect()
}

fn column(rows: &[Json], key: &str) -> Vec<Json> {
    rows.iter().map(|row| row[key].clone()).collect()
}

#[tokio::test]
async fn spreadsheets_are_read_as_a_person_sees_them() {
    on_every_backend(async |place| {
        let server = Server::start(&place, &[]).await;
        let from_1904 = rows(&server, "", "001-xlsx-1904-dates/upload.xlsx").await;
        assert_eq!(column(&from_1904, "거래일자"), ["2024-01-31", "1904-01-01"]);
        assert_eq!(from_1904[0]["결제일시"], "2024-01-31T09:30:00");
        let styled = rows(&server, "", "002-xlsx-trailing-styled-rows/upload.xlsx").await;
        assert_eq!(styled.len(), 3);
        let codes = rows(&server, "", "005-xlsx-numeric-cells-in-text-column/upload.xlsx").await;
        let expected: [Json; 7] = [
            10_401_029_008_u64.into(),
            "00123".into(),
            202_601.into(),
            1.23.into(),
            1000.into(),
            1_234_567_890_123_456_u64.into(),
            true.into(),
        ];
        assert_eq!(column(&codes, "거래번호"), expected);
        let errors = rows(&server, "", "013-xlsx-error-cells/upload.xlsx").await;
        assert_eq!(
            (&errors[0]["거래처명"], &errors[4]["거래처명"]),
            (&"#N/A".into(), &"#N/A".into())
        );
        let rich = rows(&server, "", "017-xlsx-rich-text-phonetic-escapes/upload.xlsx").await;
        let names = column(&rich, "거래처명");
        let expected = [
            "한빛 상사",
            "東京支店",
            "줄1\r\n줄2",
            "  양끝 공백  ",
            "리터럴 _x000D_ 유지",
            "A & B <주> 😀",
        ];
        assert_eq!(names[..6], expected);
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn titles_above_the_headings_are_named_by_their_row() {
    on_every_backend(async |place| {
        let server = Server::start(&place, &[]).await;
        let titled = "011-xlsx-title-rows-merged-header/title-rows.xlsx";
        let faults = super::refused(&server, "to=csv", fixture(titled)).await;
        assert!(faults[0].2.contains("header_row="), "{faults:?}");
        let below = rows(&server, "&header_row=3", titled).await;
        assert_eq!(below.len(), 3, "{below:?}");
        assert!(below[0]["거래번호"].is_string(), "{below:?}");
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn other_spreadsheets_and_encodings_are_read_too() {
    on_every_backend(async |place| {
        let server = Server::start(&place, &[]).await;
        let ods = rows(&server, "", "029-ods-repeats-and-types/upload.ods").await;
        assert_eq!(ods.len(), 5);
        assert_eq!(ods[0]["거래일자"], "2024-01-31");
        assert_eq!(ods[0]["결제일시"], "2024-01-31T09:30:00");
        assert_eq!(
            (&ods[1]["거래처명"], &ods[1]["사용여부"]),
            (&"첫 줄\n둘째 줄".into(), &false.into())
        );
        let zoned = rows(&server, "&tz=Asia/Seoul", "029-ods-repeats-and-types/upload.ods").await;
        assert_eq!(zoned[0]["결제일시"], "2024-01-31T09:30:00+09:00");
        for file in ["cp949.csv", "utf8.csv", "utf8-bom.csv"] {
            let rows = rows(&server, "", &format!("025-csv-cp949/{file}")).await;
            assert_eq!(rows[0]["거래처명"], "똠방각하, 뷁", "{file}");
            assert_eq!((&rows[0]["금액"], &rows[1]["결제일시"]), (&"1,500.50".into(), &Json::Null));
        }
        let quotes = rows(&server, "", "028-csv-ragged-unterminated-nul/stray-quote.csv").await;
        assert_eq!(column(&quotes, "거래처명"), ["5\" 모니터", "ab"]);
        let nul = rows(&server, "", "028-csv-ragged-unterminated-nul/nul.csv").await;
        assert_eq!(nul[0]["거래처명"], "널\0문자");
        for (book, query) in [("sheets/book.xls", ""), ("sheets/book.ods", "")] {
            let rows = rows(&server, query, book).await;
            assert!(!rows.is_empty(), "{book}");
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn numbers_keep_their_digits_from_json_to_csv_and_back() {
    on_every_backend(async |place| {
        let server = Server::start(&place, &[]).await;
        let input = fixture("031-export-numbers/rows.json");
        let parsed: Json = serde_json::from_slice(&input).expect("a fixture");
        // The fixture holds its numbers as strings: as numbers, they are sent by their digits.
        let mut lines = String::new();
        for row in parsed.as_array().expect("rows") {
            let number = |key: &str| row[key].as_str().unwrap_or("null").to_owned();
            let [id, i8, n, money] = ["id", "i8", "n", "money"].map(number);
            lines.push_str(&format!("{{\"id\":{id},\"i8\":{i8},\"n\":{n},\"money\":{money}}}\n"));
        }
        assert_eq!(convert(&server, "to=ndjson", lines.clone()).await.text(), lines);
        let csv = convert(&server, "to=csv", lines).await;
        let back = convert(&server, "to=ndjson", csv.body).await;
        for (row, line) in parsed.as_array().expect("rows").iter().zip(back.text().lines()) {
            let line: Json = serde_json::from_str(line).expect("a row");
            for key in ["id", "i8", "n", "money"] {
                assert_eq!(line[key], row[key], "{key}");
            }
        }
        server.stop().await;
    })
    .await;
}
