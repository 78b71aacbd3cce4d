//! Files that are broken, boundless or something else, over HTTP: each is refused in words or taken for
//! what it is, and nothing of it is left: no file, no process, no permit.

use serde_json::Value as Json;

use super::stand::LONG;
use super::{count, fixture, stop, transactions, upload};
use crate::support::{Answer, Place, Server, on_every_backend, until, xlsx};

/// What becomes of a file.
enum Becomes {
    /// A refusal of this status with a problem of this code, whose words say this.
    Refused(u16, &'static str, &'static str),
    /// So many rows are stored.
    Stored(u64),
}

use Becomes::{Refused, Stored};

const HEADER: [&str; 5] = ["거래번호", "거래처명", "수량", "금액", "거래일자"];
const ROW: [&str; 5] = ["A-1", "한빛", "1", "1.50", "2026-01-05"];

/// A row of texts as a sheet has it.
fn row(number: u32, texts: &[&str]) -> String {
    let cells = texts.iter().map(|text| format!("<c t=\"str\"><v>{text}</v></c>"));
    format!("<row r=\"{number}\">{}</row>", cells.collect::<String>())
}

/// A good workbook with more rows of XML behind.
fn with(more: &str) -> Vec<u8> {
    xlsx(&format!("{}{}{more}", row(1, &HEADER), row(2, &ROW)), ">")
}

fn csv(header: &str) -> Vec<u8> {
    format!("{header}\n{}\n", ROW.join(",")).into_bytes()
}

/// Bits that say that the parts of an archive are encrypted.
fn encrypted() -> Vec<u8> {
    let mut book = with("");
    for (mark, flags) in [(b"PK\x03\x04", 6), (b"PK\x01\x02", 8)] {
        let places: Vec<_> =
            (0..book.len() - 4).filter(|at| book[*at..].starts_with(mark)).collect();
        for at in places {
            book[at + flags] |= 1;
        }
    }
    book
}

/// Files that are workbooks, or say that they are.
fn books() -> Vec<(&'static str, Vec<u8>, Becomes)> {
    let whole = with("");
    let cut = whole[..whole.len() * 2 / 3].to_vec();
    let headings: Vec<String> = (1..=16_384).map(|column| format!("열{column}")).collect();
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    let wide = xlsx(&row(1, &headings), ">");
    let mut beside = HEADER.to_vec();
    beside.extend(&headings[..996]);
    let far = "<row r=\"1048576\"><c r=\"XFD1048576\"><v>1</v></c></row>";
    let low = format!(
        "<row r=\"1048576\">{}</row>",
        ROW.map(|text| format!("<c t=\"str\"><v>{}</v></c>", text.replace("A-1", "A-2"))).concat()
    );
    let empty: String = (3..1_000_003).map(|row| format!("<row r=\"{row}\" s=\"1\"/>")).collect();
    let texts = |count: &str| {
        let rows = format!("{}{}", row(1, &HEADER), row(2, &ROW));
        xlsx(&rows, &format!("count=\"{count}\" uniqueCount=\"{count}\">"))
    };
    vec![
        ("a good one", whole, Stored(1)),
        ("cut off", cut, Refused(422, "damaged_file", "send it again")),
        ("a bomb", with(&" ".repeat(110 << 20)), Refused(422, "compression_bomb", "100 MiB")),
        ("encrypted parts", encrypted(), Refused(422, "password_protected", "without")),
        ("a billion laughs", laughs(), Refused(422, "document_type", "")),
        ("the last cell", with(far), Refused(422, "too_many_columns", "1000")),
        ("the last row", with(&low), Stored(2)),
        ("a million empty rows", with(&empty), Stored(1)),
        ("16,384 columns", wide, Refused(422, "too_many_columns", "1000")),
        ("1,001 columns", xlsx(&row(1, &beside), ">"), Refused(422, "too_many_columns", "1000")),
        ("10^11 texts", texts("100000000000"), Refused(422, "too_much_memory", "CSV")),
        ("2^64 texts", texts("18446744073709551616"), Stored(1)),
        ("a header alone", xlsx(&row(1, &HEADER), ">"), Refused(422, "no_rows", "no row below")),
        ("no row at all", xlsx("", ">"), Refused(422, "header_not_found", "no rows")),
    ]
}

/// A document type in the sheet of a workbook.
fn laughs() -> Vec<u8> {
    let entities: String = (1..10)
        .map(|n| format!("<!ENTITY e{n} \"{}\">", format!("&e{};", n - 1).repeat(10)))
        .collect();
    let rows = format!(
        "</sheetData><!DOCTYPE w [<!ENTITY e0 \"ha\">{entities}]><sheetData>{}",
        row(1, &["&e9;"])
    );
    xlsx(&rows, ">")
}

/// Texts, and what is neither.
fn texts() -> Vec<(&'static str, Vec<u8>, Becomes)> {
    let header = HEADER.join(",");
    let long = format!("{header}\nA-1,{},1,1.50,2026-01-05\n", "x".repeat(17 << 20));
    let many = format!("{header},{}", vec!["열"; 1_000].join(","));
    let object = "{\"code\":\"A\",\"name\":\"b\",\"qty\":1,\"amount\":1,\"date\":\"2026-01-05\"}";
    vec![
        ("0 bytes", Vec::new(), Refused(422, "empty_file", "empty")),
        ("line ends alone", b"\n\n\r\n".to_vec(), Refused(422, "header_not_found", "거래번호")),
        ("a header alone", format!("{header}\n").into(), Refused(422, "no_rows", "no row below")),
        ("no header", b"1,2,3\n4,5,6\n".to_vec(), Refused(422, "header_not_found", "거래번호")),
        (
            "a heading twice",
            csv("거래번호,거래처명,수량,거래번호,금액,거래일자"),
            Refused(422, "header_doubled", "거래번호"),
        ),
        (
            "a heading less",
            csv("거래번호,거래처명,수량,금액"),
            Refused(422, "header_missing", "거래일자"),
        ),
        ("a value without end", long.into(), Refused(422, "value_too_large", "")),
        ("too many columns", csv(&many), Refused(422, "too_many_columns", "1000")),
        (
            "a quote without end",
            format!("{header}\n\"A-1,").into(),
            Refused(422, "unterminated_quote", ""),
        ),
        ("an array without end", format!("[{object}").into(), Refused(422, "not_json", "")),
        (
            "a line that is no object",
            format!("{object}\n7\n").into(),
            Refused(422, "not_an_object", "line 2"),
        ),
        ("a PDF", b"%PDF-1.7\n%\xE2\xE3\n".to_vec(), Refused(422, "unsupported_file", "a PDF")),
        ("a page", b"<html><table><tr><td>1".to_vec(), Refused(422, "unsupported_file", "HTML")),
        (
            "noise",
            (0..=255).cycle().take(5_000).collect(),
            Refused(422, "unknown_encoding", "UTF-8"),
        ),
    ]
}

/// Asserts that an answer is what a file becomes.
#[track_caller]
fn assert_became(name: &str, answer: &Answer, becomes: &Becomes) {
    match becomes {
        Stored(rows) => {
            assert_eq!(answer.status, 200, "{name}: {}", answer.text());
            assert_eq!(answer.json()["inserted"], *rows, "{name}: {}", answer.text());
        }
        Refused(status, code, word) => {
            assert_eq!(answer.status, *status, "{name}: {}", answer.text());
            let problem = answer.problem(*status, "invalid_request");
            let problems = problem["problems"].as_array().expect("problems are listed");
            let found = problems.iter().find(|problem| problem["code"] == *code);
            let found = found.unwrap_or_else(|| panic!("{name}: no {code} in {problem}"));
            let detail = found["detail"].as_str().unwrap_or_default();
            assert!(detail.split(' ').count() > 4 && detail.contains(word), "{name}: {detail}");
            for inside in ["calamine", "panicked", "src/", "SQL"] {
                assert!(!detail.contains(inside), "{name}: {detail}");
            }
        }
    }
}

async fn each(place: &Place, files: Vec<(&'static str, Vec<u8>, Becomes)>) {
    transactions(place).await;
    // A permit that did not come back would have the next file wait.
    let server = Server::start(place, &[("builds", "1"), ("queue_wait", "1s")]).await;
    for (name, file, becomes) in files {
        let answer = upload(&server, "transactions", "", file).await;
        assert_became(name, &answer, &becomes);
        until(&format!("nothing is left of {name}"), LONG, async || {
            (server.temporary_files().is_empty() && children(&server) == 0).then_some(())
        })
        .await;
        let stored = if let Stored(rows) = becomes { rows } else { 0 };
        assert_eq!(count(place, "transactions").await, stored.to_string(), "{name}");
        let run = server.run(&answer.run()).await;
        let state = if answer.status == 200 { "complete" } else { "failed" };
        assert_eq!(run["state"], state, "{name}: {run}");
        place.execute("DELETE FROM transactions").await;
    }
    assert_eq!(server.get("/health/live").await.status, 200);
    stop(server).await;
}

/// Processes that read spreadsheets for a server.
fn children(server: &Server<'_>) -> usize {
    let parent = format!("PPid:\t{}", server.pid());
    let processes = std::fs::read_dir("/proc").expect("processes can be listed").flatten();
    let status =
        processes.filter_map(|process| std::fs::read_to_string(process.path().join("status")).ok());
    status.filter(|status| status.lines().any(|line| line == parent)).count()
}

#[tokio::test]
async fn workbooks_are_refused_in_words_or_taken_for_what_they_are() {
    on_every_backend(async |place| each(&place, books()).await).await;
}

#[tokio::test]
async fn texts_are_refused_in_words_or_taken_for_what_they_are() {
    on_every_backend(async |place| each(&place, texts()).await).await;
}

#[tokio::test]
async fn what_a_file_is_called_does_not_matter() {
    on_every_backend(async |place| {
        transactions(&place).await;
        let server = Server::start(&place, &[]).await;
        let pdf = Refused(422, "unsupported_file", "a PDF, whatever its name says");
        for (name, kind, file, becomes) in [
            ("a.csv", "text/csv", with(""), Stored(1)),
            ("a.xlsx", "application/octet-stream", csv(&HEADER.join(",")), Stored(1)),
            ("a.txt", "text/plain", fixture("029-ods-repeats-and-types/upload.ods"), Stored(0)),
            ("a.xlsx", "application/vnd.ms-excel", b"%PDF-1.7\n".to_vec(), pdf),
            ("../../a", "image/png", csv(&HEADER.join("\t")), Stored(0)),
        ] {
            let head = format!(
                "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
                 Content-Type: {kind}\r\n\r\n"
            );
            let body = [head.as_bytes(), &file, b"\r\n--x--\r\n"].concat();
            let form = [("Content-Type", "multipart/form-data; boundary=x")];
            let answer =
                server.post("/api/v1/imports/transactions?dry_run=true", &form, body).await;
            if answer.status == 200 || matches!(becomes, Refused(..)) {
                assert_became(name, &answer, &becomes);
            } else {
                // It was read: the rows themselves are what is wrong.
                let problem: Json = answer.problem(422, "import_rejected");
                assert!(problem["rows_read"].as_u64() > Some(0), "{name}: {problem}");
            }
        }
        assert_eq!(count(&place, "transactions").await, "0");
        stop(server).await;
    })
    .await;
}
