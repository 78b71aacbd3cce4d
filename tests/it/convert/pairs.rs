//! Every pair of formats, with exact values.

use calamine::Data;
use rust_xlsxwriter::{Format, Workbook as Book, XlsxError};

use super::{convert, fixture};
use crate::support::{Server, Workbook, on_every_backend};

const NDJSON: &str = concat!(
    r#"{"code":"007","n":12345678901234567890.1234567890,"money":57.70,"int":9007199254740993,"#,
    r#""e":1.5E+3,"ok":true,"note":null,"day":"2026-01-31","nested":{"a": [1, "x y"]},"#,
    r#""text":"=1+1"}"#,
    "\n",
    r#"{"text":"쉼표, \"따옴표\"\n둘째 줄","code":"","n":-0.0,"money":1,"int":-1,"e":1e400,"#,
    r#""ok":false,"note":"-5","nested":[]}"#,
    "\n",
);

/// The same without white space that says nothing, in the order of the first row.
const SAME: &str = concat!(
    r#"{"code":"007","n":12345678901234567890.1234567890,"money":57.70,"int":9007199254740993,"#,
    r#""e":1.5E+3,"ok":true,"note":null,"day":"2026-01-31","nested":{"a":[1,"x y"]},"#,
    r#""text":"=1+1"}"#,
    "\n",
    r#"{"code":"","n":-0.0,"money":1,"int":-1,"e":1e400,"ok":false,"note":"-5","day":null,"#,
    r#""nested":[],"text":"쉼표, \"따옴표\"\n둘째 줄"}"#,
    "\n",
);

const AS_CSV: &str = "code,n,money,int,e,ok,note,day,nested,text\r\n\
     007,12345678901234567890.1234567890,57.70,9007199254740993,1.5E+3,true,,2026-01-31,\
     \"{\"\"a\"\":[1,\"\"x y\"\"]}\",'=1+1\r\n\
     \"\",-0.0,1,-1,1e400,false,-5,,[],\"쉼표, \"\"따옴표\"\"\n둘째 줄\"\r\n";

/// Objects a line as one array.
fn array(lines: &str) -> String {
    let objects: Vec<&str> = lines.lines().collect();
    format!("[\n{}\n]\n", objects.join(",\n"))
}

fn text(text: &str) -> Data {
    Data::String(text.into())
}

fn sheet(bytes: &[u8]) -> Vec<Vec<Data>> {
    let mut sheets = Workbook::new(bytes).sheets();
    assert_eq!(sheets.len(), 1);
    sheets.remove(0).1
}

#[tokio::test]
async fn json_and_ndjson_become_every_format_with_all_their_digits() {
    on_every_backend(async |place| {
        let server = Server::start(&place, &[]).await;
        let spaced = array(NDJSON).replace(",\"", " ,\n\t\"");
        for input in [NDJSON.to_owned(), array(NDJSON), spaced, format!("\u{feff}\n{NDJSON}\n\n")] {
            let ndjson = convert(&server, "to=ndjson", input.clone()).await;
            assert_eq!(ndjson.text(), SAME);
            assert_eq!(convert(&server, "to=json", input.clone()).await.text(), array(SAME));
            assert_eq!(convert(&server, "to=csv", input.clone()).await.text(), AS_CSV);
            let book = convert(&server, "to=xlsx", input).await.body;
            let rows = sheet(&book);
            let headings =
                ["code", "n", "money", "int", "e", "ok", "note", "day", "nested", "text"];
            assert_eq!(rows[0], headings.map(text));
            let expected = [
                text("007"),
                text("12345678901234567890.1234567890"),
                Data::Float(57.7),
                text("9007199254740993"),
                Data::Float(1500.0),
                Data::Bool(true),
                Data::Empty,
                text("2026-01-31"),
                text("{\"a\":[1,\"x y\"]}"),
                text("=1+1"),
            ];
            assert_eq!(rows[1], expected);
            let expected = [
                Data::Empty,
                Data::Float(0.0),
                Data::Float(1.0),
                Data::Float(-1.0),
                text("1e400"),
                Data::Bool(false),
                text("-5"),
                Data::Empty,
                text("[]"),
                text("쉼표, \"따옴표\"\n둘째 줄"),
            ];
            assert_eq!(rows[2], expected);
            let book = Workbook::new(&book);
            assert_eq!(book.number("C2").as_deref(), Some("57.7"));
            assert_eq!(book.number_format("C2"), "0.00", "the scale is kept");
            assert_eq!(book.number_format("D3"), "0");
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn every_cell_of_csv_is_a_text_in_every_format() {
    on_every_backend(async |place| {
        let server = Server::start(&place, &[]).await;
        // In CP949, with semicolons, the guard, a blank line, and an empty text.
        let mut input = "코드;이름;값;비고\r\n007;".as_bytes().to_vec();
        input.extend_from_slice("한빛;1,50;'=1+1\r\n\r\n1E5;\"\";TRUE;\r\n".as_bytes());
        let lines = concat!(
            r#"{"코드":"007","이름":"한빛","값":"1,50","비고":"=1+1"}"#,
            "\n",
            r#"{"코드":"1E5","이름":"","값":"TRUE","비고":null}"#,
            "\n",
        );
        assert_eq!(convert(&server, "to=ndjson", input.clone()).await.text(), lines);
        assert_eq!(convert(&server, "to=json", input.clone()).await.text(), array(lines));
        let csv = convert(&server, "to=csv", input.clone()).await;
        let expected = "코드,이름,값,비고\r\n007,한빛,\"1,50\",'=1+1\r\n1E5,\"\",TRUE,\r\n";
        assert_eq!(csv.text(), expected);
        let rows = sheet(&convert(&server, "to=xlsx", input.clone()).await.body);
        assert_eq!(rows[1], ["007", "한빛", "1,50", "=1+1"].map(text));
        assert_eq!(rows[2], [text("1E5"), Data::Empty, text("TRUE"), Data::Empty]);
        let other = "to=csv&bom=true&delimiter=tab&formula_guard=false&header=none";
        let csv = convert(&server, other, input).await;
        assert_eq!(csv.text(), "\u{feff}007\t한빛\t1,50\t=1+1\r\n1E5\t\"\"\tTRUE\t\r\n");
        server.stop().await;
    })
    .await;
}

/// A workbook with a cell of every kind.
fn book() -> Result<Vec<u8>, XlsxError> {
    let mut book = Book::new();
    let sheet = book.add_worksheet();
    sheet.set_name("표")?;
    let shown = |format: &str| Format::new().set_num_format(format);
    for (column, heading) in
        (0..).zip(["code", "n", "day", "moment", "clock", "ok", "note", "failed"])
    {
        sheet.write_string(0, column, heading)?;
    }
    sheet.write_string(1, 0, "007")?;
    sheet.write_number(1, 1, 1234.5)?;
    sheet.write_number_with_format(1, 2, 46_053.0, &shown("yyyy-mm-dd"))?;
    sheet.write_number_with_format(1, 3, 46_053.395_833_333_336, &shown("yyyy-mm-dd hh:mm"))?;
    sheet.write_number_with_format(1, 4, 0.395_833_333_333_333_3, &shown("hh:mm"))?;
    sheet.write_boolean(1, 5, true)?;
    sheet.write_formula(1, 7, rust_xlsxwriter::Formula::new("=1/0").set_result("#DIV/0!"))?;
    sheet.write_number(3, 0, 7)?;
    sheet.write_number(3, 1, 0.1 + 0.2)?;
    sheet.write_number_with_format(3, 2, 1.0, &shown("yyyy-mm-dd"))?;
    sheet.write_number_with_format(3, 3, 46_053.999_999, &shown("yyyy-mm-dd hh:mm:ss.000"))?;
    sheet.write_string(3, 6, " 두 칸 ")?;
    book.save_to_buffer()
}

#[tokio::test]
async fn a_workbook_becomes_every_format_cell_by_cell() {
    on_every_backend(async |place| {
        let server = Server::start(&place, &[]).await;
        let input = book().expect("a workbook");
        let lines = concat!(
            r##"{"code":"007","n":1234.5,"day":"2026-01-31","moment":"2026-01-31T09:30:00","clock":"09:30:00","ok":true,"note":null,"failed":"#DIV/0!"}"##,
            "\n",
            r#"{"code":7,"n":0.30000000000000004,"day":"1900-01-01","moment":"2026-01-31T23:59:59.914","clock":null,"ok":null,"note":" 두 칸 ","failed":null}"#,
            "\n",
        );
        let ndjson = convert(&server, "to=ndjson", input.clone()).await;
        assert_eq!(ndjson.text(), lines);
        let run = server.run(&ndjson.run()).await;
        assert_eq!(run["warnings"][0]["code"], "error_cells", "{run}");
        assert_eq!(convert(&server, "to=json", input.clone()).await.text(), array(lines));
        let csv = convert(&server, "to=csv&tz=Asia/Seoul", input.clone()).await;
        let expected = "code,n,day,moment,clock,ok,note,failed\r\n\
             007,1234.5,2026-01-31,2026-01-31T09:30:00+09:00,09:30:00,true,,#DIV/0!\r\n\
             7,0.30000000000000004,1900-01-01,2026-01-31T23:59:59.914+09:00,,, 두 칸 ,\r\n";
        assert_eq!(csv.text(), expected);
        // A zone changes nothing of what cells show.
        let made = convert(&server, "to=xlsx&tz=America/New_York&filename=3월", input).await;
        let made = Workbook::new(&made.body);
        assert_eq!(made.sheets()[0].0, "3월");
        for (cell, number, format) in [
            ("B2", "1234.5", "General"),
            ("C2", "46053", "yyyy-mm-dd"),
            ("D2", "46053.395833333336", "yyyy-mm-dd hh:mm:ss"),
            ("A3", "7", "0"),
            ("B3", "0.30000000000000004", "General"),
            ("C3", "1", "yyyy-mm-dd"),
        ] {
            assert_eq!(made.number(cell).as_deref(), Some(number), "{cell}");
            assert_eq!(made.number_format(cell), format, "{cell}");
        }
        let rows = &made.sheets()[0].1;
        assert_eq!((&rows[1][0], &rows[1][5]), (&text("007"), &Data::Bool(true)));
        assert_eq!((&rows[1][4], &rows[2][6]), (&text("09:30:00"), &text(" 두 칸 ")));
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn numbers_are_strings_for_readers_who_would_round_them() {
    on_every_backend(async |place| {
        let server = Server::start(&place, &[]).await;
        let quoted = convert(&server, "to=json&numbers=string", NDJSON).await;
        let rows: serde_json::Value = quoted.json();
        assert_eq!(rows[0]["int"], "9007199254740993");
        assert_eq!((&rows[0]["e"], &rows[0]["ok"]), (&"1.5E+3".into(), &true.into()));
        assert_eq!(rows[1]["n"], "-0.0");
        let book = book().expect("a workbook");
        let quoted = convert(&server, "to=ndjson&numbers=string&columns=code,n", book).await;
        let lines =
            "{\"code\":\"007\",\"n\":\"1234.5\"}\n{\"code\":\"7\",\"n\":\"0.30000000000000004\"}\n";
        assert_eq!(quoted.text(), lines);
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn texts_that_others_stumbled_over_come_back_from_every_format() {
    on_every_backend(async |place| {
        let server = Server::start(&place, &[]).await;
        let input = fixture("033-export-text-and-formula-injection/rows.json");
        let values = |lines: &str| -> Vec<serde_json::Value> {
            let value = |line: &str| {
                serde_json::from_str::<serde_json::Value>(line).expect("a row")["v"].clone()
            };
            lines.lines().map(value).collect()
        };
        let sent = values(convert(&server, "to=ndjson", input.clone()).await.text());
        let parsed: serde_json::Value = serde_json::from_slice(&input).expect("a fixture");
        let expected: Vec<_> =
            parsed.as_array().expect("rows").iter().map(|row| row["v"].clone()).collect();
        assert_eq!(sent, expected);
        for through in ["csv", "csv&delimiter=tab&bom=true", "json", "xlsx"] {
            let between = convert(&server, &format!("to={through}"), input.clone()).await.body;
            let back = convert(&server, "to=ndjson", between).await;
            let mut expected = sent.clone();
            if through == "xlsx" {
                // A spreadsheet's empty text is no cell.
                expected[21] = serde_json::Value::Null;
            }
            assert_eq!(values(back.text()), expected, "{through}");
        }
        server.stop().await;
    })
    .await;
}
