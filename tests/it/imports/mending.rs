//! Rows that were handed back as a workbook: what is coloured is mended with openpyxl, and the workbook
//! is uploaded as it then is.

use std::process::Command;

use rust_xlsxwriter::{Format, Workbook as Writer, Worksheet};
use serde_json::{Value as Json, json};

use super::{count, places, stop, stored, transactions, upload};
use crate::support::{Place, Server, on_every_backend};

const HEADINGS: [&str; 8] =
    ["거래번호", "거래처명", "수량", "금액", "거래일자", "결제일시", "사용여부", "비고"];

/// Writes a row of texts; what is empty stays so.
fn texts(sheet: &mut Worksheet, row: u32, texts: &[&str]) {
    for (column, text) in (0..).zip(texts).filter(|(_, text)| !text.is_empty()) {
        sheet.write_string(row, column, *text).expect("it can be written");
    }
}

/// A workbook with a title above its header, good rows, and something of every kind that is wrong.
fn book() -> Vec<u8> {
    let mut book = Writer::new();
    let sheet = book.add_worksheet();
    let day = Format::new().set_num_format("yyyy-mm-dd");
    sheet.write_string(0, 0, "1월 거래").expect("it can be written");
    texts(sheet, 2, &HEADINGS);
    texts(sheet, 3, &["A-1", "한빛", "1", "1.50", "2026-01-05", "2026-01-05 09:30", "예", "메모"]);
    // No number, too many decimals, no such day.
    texts(sheet, 4, &["00123", "한빛", "many", "1.555", "2026-02-30", "", "아니오"]);
    // A required cell is empty, a moment is none, a truth value is none.
    texts(sheet, 5, &["A-3", "", "3", "3", "2026-01-07", "tomorrow", "perhaps", "=1+1"]);
    // The first row again.
    texts(sheet, 6, &["A-1", "대한", "4", "4", "2026-01-08"]);
    // True dates and numbers beside what is wrong.
    texts(sheet, 7, &["A-5", "\"인용\", 그리고\n줄바꿈", "", "", "", "2026-01-09 10:00:00"]);
    sheet.write_number(7, 2, -1).expect("it can be written");
    sheet.write_number(7, 3, 1234.5).expect("it can be written");
    sheet.write_number_with_format(7, 4, 46_031, &day).expect("it can be written");
    sheet.write_boolean(7, 6, true).expect("it can be written");
    book.save_to_buffer().expect("it can be made")
}

/// Mends what is coloured; gives back the workbook and the cells.
fn mend(place: &Place, handed_back: &[u8], values: &Json) -> (Vec<u8>, Vec<(u64, String)>) {
    let from = place.write("handed-back.xlsx", handed_back);
    let to = place.path().join("mended.xlsx");
    let script = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/imports/mend.py");
    let mut python = Command::new("python3");
    python.arg("-B").arg(script).args([&from, &to]).arg(values.to_string());
    let done = python.output().expect("python3 is installed, which mends workbooks for this test");
    assert!(
        done.status.success(),
        "the workbook could not be mended: {}",
        String::from_utf8_lossy(&done.stderr)
    );
    let cells: Vec<(u64, String, Json)> = serde_json::from_slice(&done.stdout).expect("cells");
    let cells = cells.into_iter().map(|(row, heading, _)| (row, heading)).collect();
    (std::fs::read(to).expect("the mended workbook"), cells)
}

/// What is written into cells at fault, by their heading.
fn values() -> Json {
    json!({
        "거래번호": "M-{row}", "거래처명": "한빛", "수량": 7, "금액": "12.50",
        "거래일자": "2026-01-31", "결제일시": "2026-01-31 14:05:00", "사용여부": "예",
    })
}

async fn handed_back(server: &Server<'_>, run: &str) -> Vec<u8> {
    let answer = server.get(&format!("/api/v1/runs/{run}/problems?format=xlsx")).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.body
}

#[tokio::test]
async fn what_is_coloured_is_what_is_wrong_and_once_mended_the_workbook_is_taken_as_it_is() {
    on_every_backend(async |place| {
        transactions(&place).await;
        let server = Server::start(&place, &[]).await;
        let answer = upload(&server, "transactions", "?on_problem=skip", book()).await;
        let outcome = answer.json();
        assert_eq!((&outcome["inserted"], &outcome["rejected"]), (&1.into(), &4.into()));
        let problems = places(&outcome);
        assert_eq!(problems.len(), 8, "{outcome}");

        let (mended, cells) = mend(&place, &handed_back(&server, &answer.run()).await, &values());
        // Row 5 of the file is the second row of what is handed back, and so on.
        let wrong: Vec<_> = problems.into_iter().map(|(row, heading)| (row - 3, heading)).collect();
        assert_eq!(cells, wrong, "the coloured cells are those at fault");
        let outcome = upload(&server, "transactions", "", mended).await.json();
        let told = ["inserted", "rejected", "problems_total"].map(|word| outcome[word].as_u64());
        assert_eq!(told, [Some(4), Some(0), Some(0)], "{outcome}");

        let rows = stored(&server, "transactions").await;
        let row = |code: &str, name: &str, qty: &str, amount: &str, day: &str, rest: [Json; 2]| {
            let [paid_at, active] = rest;
            json!({"code": code, "name": name, "qty": qty, "amount": amount, "day": day,
                "paid_at": paid_at, "active": active})
        };
        let [none, yes, no] = [Json::Null, true.into(), false.into()];
        let quoted = "\"인용\", 그리고\n줄바꿈";
        let at = |clock: &str| Json::from(format!("{clock}+09:00"));
        let ten = at("2026-01-09T10:00:00");
        let expected = [
            row("00123", "한빛", "7", "12.50", "2026-01-31", [none.clone(), no]),
            row("A-1", "한빛", "1", "1.50", "2026-01-05", [at("2026-01-05T09:30:00"), yes.clone()]),
            row("A-3", "한빛", "3", "3.00", "2026-01-07", [at("2026-01-31T14:05:00"), yes.clone()]),
            row("A-5", quoted, "7", "1234.50", "2026-01-09", [ten, yes]),
            row("M-4", "대한", "4", "4.00", "2026-01-08", [none.clone(), none]),
        ];
        assert_eq!(rows, expected);
        stop(server).await;
    })
    .await;
}

#[tokio::test]
async fn a_workbook_that_was_mended_in_part_is_handed_back_again() {
    on_every_backend(async |place| {
        transactions(&place).await;
        let server = Server::start(&place, &[]).await;
        let answer = upload(&server, "transactions", "", book()).await;
        answer.problem(422, "import_rejected");
        let mut halfway = values();
        halfway["수량"] = "several".into();
        let (file, _) = mend(&place, &handed_back(&server, &answer.run()).await, &halfway);
        let answer = upload(&server, "transactions", "", file).await;
        let problem = answer.problem(422, "import_rejected");
        assert_eq!(places(&problem), [(2, "수량".into()), (5, "수량".into())], "{problem}");
        let warnings = problem["warnings"].as_array().expect("a list");
        let [other] = warnings.as_slice() else { panic!("the column of what was wrong is known") };
        assert!(other["detail"].to_string().contains("비고"), "{other}");
        let (file, cells) = mend(&place, &handed_back(&server, &answer.run()).await, &values());
        assert_eq!(cells, [(2, "수량".into()), (3, "수량".into())]);
        let outcome = upload(&server, "transactions", "", file).await.json();
        assert_eq!((&outcome["inserted"], &outcome["rejected"]), (&2.into(), &0.into()));
        assert_eq!(count(&place, "transactions").await, "2");
        stop(server).await;
    })
    .await;
}

#[tokio::test]
async fn a_formula_that_nobody_calculated_is_never_handed_back_as_an_empty_cell() {
    on_every_backend(async |place| {
        transactions(&place).await;
        let server = Server::start(&place, &[]).await;
        let mut book = Writer::new();
        let sheet = book.add_worksheet();
        texts(sheet, 0, &HEADINGS[..6]);
        texts(sheet, 1, &["A-1", "한빛", "1", "1.50", "2026-01-05", "tomorrow"]);
        let sent = book.save_to_buffer().expect("it can be made");
        let codes = |problem: &Json| problem["problems"][0]["code"].clone();
        let refused = upload(&server, "transactions", "", sent).await;
        assert_eq!(codes(&refused.problem(422, "import_rejected")), "not_a_time");
        // openpyxl writes formulas and calculates none.
        let back = handed_back(&server, &refused.run()).await;
        let (mended, _) = mend(&place, &back, &json!({ "결제일시": "=NOW()" }));
        let refused = upload(&server, "transactions", "", mended).await;
        assert_eq!(codes(&refused.problem(422, "import_rejected")), "unevaluated_formula");
        // The cell may be empty in this import, and would be taken so.
        let back = handed_back(&server, &refused.run()).await;
        let refused = upload(&server, "transactions", "", back).await;
        assert_eq!(codes(&refused.problem(422, "import_rejected")), "error_cell");
        assert_eq!(count(&place, "transactions").await, "0");
        stop(server).await;
    })
    .await;
}
