//! The rows as workbooks: every value as a spreadsheet has it, read back.

use calamine::Data;

use crate::faults::{numbers, report};
use crate::support::{Answer, Backend, Place, Server, Workbook, on_every_backend};
use crate::values::{Text, make_numbers, make_texts, texts};

const XLSX: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

async fn download(server: &Server<'_>, path: &str) -> Answer {
    let answer = server.get(path).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("content-type"), Some(XLSX));
    let name = answer.header("content-disposition").unwrap_or_default();
    assert!(name.starts_with("attachment") && name.contains(".xlsx"), "{name}");
    // What is prepared would stay for a while.
    let run = format!("/api/v1/runs/{}", answer.run());
    assert_eq!(server.request(reqwest::Method::DELETE, &run, &[]).await.status, 204);
    answer
}

async fn workbook(server: &Server<'_>, path: &str) -> Workbook {
    Workbook::new(&download(server, path).await.body)
}

fn text(text: &str) -> Data {
    Data::String(text.into())
}

#[tokio::test]
async fn numbers_are_numbers_as_long_as_a_spreadsheet_keeps_their_digits_and_else_text() {
    on_every_backend(async |place| {
        make_numbers(&place).await;
        let server = Server::start(&place, &[]).await;
        let book = workbook(&server, "/api/v1/reports/nums/rows?format=xlsx").await;
        let sheets = book.sheets();
        let [(_, rows)] = sheets.as_slice() else { panic!("one sheet, not {}", sheets.len()) };
        let column = |index: usize| rows[1..].iter().map(move |row| row[index].clone());
        assert_eq!(rows[0], ["id", "i8", "n", "money", "f8", "f4"].map(text));
        assert!(column(0).eq((1..=7).map(|id| Data::Float(f64::from(id)))));
        let i8 = [
            text("9007199254740993"),
            text("-9223372036854775808"),
            text("9223372036854775807"),
            text("1405202108700589"),
            Data::Float(123_456_789_012_345.0),
            Data::Float(0.0),
        ];
        assert!(column(1).take(6).eq(i8), "{:?}", column(1).collect::<Vec<_>>());
        let n = [
            text("12345678901234567890.1234567890"),
            Data::Float(1e-10),
            text("100000000.0000000001"),
            Data::Float(1.0),
            Data::Float(1.1),
            Data::Float(0.0),
        ];
        assert!(column(2).take(6).eq(n), "{:?}", column(2).collect::<Vec<_>>());
        let money = [57.7, -0.01, 9_999_999_999_999.99, 0.0, 1234.5, 0.0].map(Data::Float);
        assert!(column(3).take(6).eq(money), "{:?}", column(3).collect::<Vec<_>>());
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn numbers_are_written_plainly_and_shown_with_all_their_digits() {
    on_every_backend(async |place| {
        make_numbers(&place).await;
        let server = Server::start(&place, &[]).await;
        let book = workbook(&server, "/api/v1/reports/nums/rows?format=xlsx").await;
        let written = [
            ("B6", "123456789012345", "0"),
            ("D2", "57.7", "0.00"),
            ("D3", "-0.01", "0.00"),
            ("D4", "9999999999999.99", "0.00"),
            ("C5", "1", "0.0000000000"),
            ("C6", "1.1", "0.0000000000"),
            ("E2", "0.1", "General"),
            ("F2", "0.1", "General"),
        ];
        for (place, number, format) in written {
            assert_eq!(book.number(place).as_deref(), Some(number), "{place}");
            assert_eq!(book.number_format(place), format, "{place}");
        }
        let sheet = book.part("xl/worksheets/sheet1.xml");
        for word in ["NaN", "nan", "inf", "Infinity", "<f>", "<v>-0</v>", "#NUM!"] {
            assert!(!sheet.contains(word), "{word} is in the sheet");
        }
        // NaN and the infinities, and a row of NULLs.
        for place in ["E3", "F3", "E4", "F4", "B8", "C8", "D8", "E8", "F8"] {
            let empty = book.cell(place).is_none_or(|cell| !cell.contains("<v>"));
            assert!(empty, "{place}: {:?}", book.cell(place));
        }
        assert_eq!(book.number("A8").as_deref(), Some("7"), "the row is there nevertheless");
        let extremes = [("E5", 1e308), ("E6", 5e-324)];
        for (place, number) in extremes {
            let written = book.number(place).expect("a number");
            assert_eq!(written.parse::<f64>(), Ok(number), "{place}");
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn text_is_text_whatever_it_looks_like() {
    on_every_backend(async |place| {
        make_texts(&place).await;
        let server = Server::start(&place, &[]).await;
        let book = workbook(&server, "/api/v1/reports/tx/rows?format=xlsx").await;
        let sheets = book.sheets();
        let rows = &sheets[0].1;
        assert_eq!(rows[0], ["번호", "=글"].map(text), "a header is text too");
        let stored = texts();
        assert_eq!(rows.len(), stored.len() + 1);
        for (row, stored) in rows[1..].iter().zip(&stored) {
            assert_eq!(row[0], Data::Float(stored.id.into()));
            match &row[1] {
                Data::Empty => assert_eq!(stored.v, "", "{}", stored.id),
                Data::String(read) => assert_eq!(*read, stored.v, "{}", stored.id),
                other => panic!("{} is no text: {other:?}", stored.id),
            }
        }
        for (row, Text { id, v }) in (2..).zip(&stored) {
            let cell = book.cell(&format!("B{row}"));
            let Some(cell) = cell.filter(|_| !v.is_empty()) else {
                assert_eq!(v, "", "{id} has a cell");
                continue;
            };
            let is_text = [" t=\"s\"", " t=\"inlineStr\"", " t=\"str\""];
            assert!(is_text.iter().any(|kind| cell.contains(kind)), "{id}: {cell}");
            assert!(!cell.contains("<f"), "{id} is a formula: {cell}");
        }
        let sheet = book.part("xl/worksheets/sheet1.xml");
        assert!(!sheet.contains("hyperlink"), "nothing was made a link");
        assert!(!book.parts().iter().any(|part| part.contains("sheet1.xml.rels")));
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_workbook_is_the_same_however_and_whenever_it_is_asked_for() {
    on_every_backend(async |place| {
        make_texts(&place).await;
        let server = Server::start(&place, &[]).await;
        let path = "/api/v1/reports/tx/rows";
        let prepared = download(&server, &format!("{path}?format=xlsx")).await;
        assert!(prepared.header("content-length").is_some() && prepared.header("etag").is_some());
        assert_eq!(prepared.header("accept-ranges"), Some("bytes"));
        let accepted = server.request(reqwest::Method::GET, path, &[("Accept", XLSX)]).await;
        assert!(accepted.body == prepared.body, "by Accept");
        let run = format!("/api/v1/runs/{}", accepted.run());
        server.request(reqwest::Method::DELETE, &run, &[]).await;
        let direct = server.get(&format!("{path}?format=xlsx&delivery=direct")).await;
        assert_eq!((direct.status, direct.header("content-length")), (200, None));
        assert_eq!(direct.header("content-type"), Some(XLSX));
        assert!(direct.body == prepared.body, "direct");
        let keys = workbook(&server, &format!("{path}?format=xlsx&header=key&limit=1")).await;
        assert_eq!(keys.sheets()[0].1[0], ["id", "v"].map(text));
        server
            .get(&format!("{path}?format=xlsx&header=none"))
            .await
            .problem(400, "malformed_request");
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_sheet_is_named_after_the_title_as_far_as_a_spreadsheet_allows() {
    on_every_backend(async |place| {
        let names = include_str!("../fixtures/038-export-sheet-names/names.json");
        let names: Vec<String> = serde_json::from_str(names).expect("a fixture");
        place.execute("CREATE TABLE one (id int); INSERT INTO one VALUES (1)").await;
        for (number, name) in names.iter().enumerate() {
            // A JSON string is one of TOML.
            let title = serde_json::to_string(if name.is_empty() { "=" } else { name });
            let title = title.expect("a string");
            place.report(
                &format!("n{number}"),
                &format!(
                    "title = {title}\nfrom = \"one\"\n[[columns]]\nkey = \"id\"\ntype = \"int\"\n"
                ),
            );
        }
        let server = Server::start(&place, &[]).await;
        for (number, name) in names.iter().enumerate() {
            let path = format!("/api/v1/reports/n{number}/rows?format=xlsx");
            let sheets = workbook(&server, &path).await.sheets();
            let [(sheet, rows)] = sheets.as_slice() else { panic!("one sheet for {name:?}") };
            assert_eq!(rows[1], [Data::Float(1.0)], "{name:?}");
            assert!((1..=31).contains(&sheet.encode_utf16().count()), "{sheet:?}");
            let allowed = |c: char| !c.is_control() && !"[]:*?/\\".contains(c);
            assert!(sheet.chars().all(allowed), "{sheet:?}");
            assert!(!sheet.starts_with('\'') && !sheet.ends_with('\''), "{sheet:?}");
            assert!(!sheet.eq_ignore_ascii_case("history"), "{sheet:?}");
        }
        server.stop().await;
    })
    .await;
}

/// Rows of data that one sheet holds beside its header.
const SHEET: u64 = 1_048_575;

#[tokio::test]
async fn what_one_sheet_cannot_hold_goes_on_in_the_next_under_the_same_header() {
    // A sheet knows nothing of the database behind it.
    let place = Place::new(Backend::Sqlite).await;
    let sizes = [0, 1, SHEET, SHEET + 25];
    for size in sizes {
        let from = numbers(place.backend(), size.max(1));
        let sql = format!("SELECT g, printf('%09d', g) AS code FROM {from} WHERE g <= {size}");
        report(&place, &format!("of{size}"), &[("g", "int"), ("code", "text")], &sql);
    }
    let server = Server::start(&place, &[]).await;
    for size in sizes {
        let book = workbook(&server, &format!("/api/v1/reports/of{size}/rows?format=xlsx")).await;
        let (mut names, mut next) = (Vec::new(), 1_u32);
        for (name, rows) in book.sheets() {
            names.push(name);
            assert_eq!(rows[0], ["g", "code"].map(text), "{names:?}");
            assert!(rows.len() as u64 <= SHEET + 1, "{names:?}");
            for row in &rows[1..] {
                assert_eq!(*row, [Data::Float(next.into()), text(&format!("{next:09}"))]);
                next += 1;
            }
        }
        assert_eq!(u64::from(next - 1), size, "nothing is lost");
        let expected = [format!("of{size}"), format!("of{size} (2)")];
        assert_eq!(names, expected[..=usize::from(size > SHEET)]);
    }
    server.stop().await;
}
