//! Pages: everything that a row says is on them, nothing lies over anything, and no program has anything
//! against them.

use std::time::Instant;

use serde_json::{Value as Json, json};

use super::{letters, of_pdf, once, text};
use crate::support::{Place, Server, on_every_backend};

/// Makes a table of one document with this content, and its definition of these sections.
async fn one(place: &Place, content: &Json, sections: &str) {
    place.execute("CREATE TABLE sheets (id bigint PRIMARY KEY, content text)").await;
    let content = content.to_string().replace('\'', "''");
    place.execute(&format!("INSERT INTO sheets VALUES (1, '{content}')")).await;
    place.document("sheet", &format!("{SHEET}{sections}"));
}

const SHEET: &str = r#"
title = "문서"
from = "sheets"
order_by = ["id"]
[document]
key = "id"
[[columns]]
key = "id"
type = "int"
not_null = true
[[columns]]
key = "content"
type = "json"
"#;

async fn pdf(server: &Server<'_>) -> Vec<u8> {
    let answer = server.get("/api/v1/documents/sheet/items/1/pdf").await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.body
}

#[tokio::test]
async fn everything_that_a_ledger_says_is_on_its_two_pages() {
    on_every_backend(async |place| {
        place.demo(5).await;
        let server = Server::start(&place, &[]).await;
        for key in [1, 57, 200, 1_000] {
            let number =
                if key > 200 { format!("L2-{:04}", key - 200) } else { format!("L1-{key:04}") };
            let row = server.get(&format!("/api/v1/documents/ledger/items?number={number}")).await;
            let row: Json = serde_json::from_str(row.text().trim()).expect("one row");
            let answer = server.get(&format!("/api/v1/documents/ledger/items/{key}/pdf")).await;
            let said = letters(&answer.body);
            let squeezed = |text: &str| text.split_whitespace().collect::<String>();
            assert_eq!(text(&answer.body).matches('\u{c}').count(), 2, "two pages");
            assert!(answer.body.len() < 40_000, "{}", answer.body.len());
            for part in [
                &row["number"],
                &row["title"],
                &row["content"]["site"],
                &row["content"]["contractor"],
            ] {
                let part = squeezed(part.as_str().expect("a text"));
                assert!(said.contains(&part), "{part}: {said}");
            }
            let lines = row["content"]["rows"].as_array().expect("rows");
            let mut sum = 0;
            for line in lines {
                let amount = line["amount"].as_i64().expect("a number");
                sum += amount;
                let item = squeezed(line["item"].as_str().expect("a text"));
                assert!(said.contains(&item), "{item}: {said}");
                assert!(said.replace(',', "").contains(&amount.to_string()), "{amount}: {said}");
            }
            assert!(said.replace(',', "").contains(&format!("합계{sum}원")), "{sum}: {said}");
            assert!(said.contains("1/2") && said.contains("2/2"), "{said}");
            of_pdf(&answer.body, "qpdf", &["--check", "FILE"]);
            let about = of_pdf(&answer.body, "pdfinfo", &["FILE"]);
            assert!(about.contains("Creator:         Tallyroll"), "{about}");
            assert!(about.contains(row["title"].as_str().expect("a title")), "{about}");
            let fonts = of_pdf(&answer.body, "pdffonts", &["FILE"]);
            // Each embedded, a subset, and with its letters' meaning.
            for font in fonts.lines().skip(2) {
                assert!(font.contains("yes yes yes"), "{fonts}");
            }
        }
        server.stop().await;
    })
    .await;
}

/// Sections of every kind.
const EVERY_KIND: &str = r##"
[page]
size = "A5"
orientation = "landscape"
numbers = "쪽 {page} 중 {pages}"
[[sections]]
kind = "heading"
text = "{/content/name} {{명세}}"
[[sections]]
kind = "fields"
beside = 2
[[sections.fields]]
label = "확인"
pointer = "/content/ok"
type = "bool"
words = ["예", "아니오"]
[[sections.fields]]
label = "시각"
pointer = "/content/at"
type = "time"
[[sections.fields]]
label = "없음"
pointer = "/content/missing"
optional = true
[[sections]]
kind = "table"
rows = "/content/rows"
[[sections.columns]]
title = "항목"
pointer = "/a"
[[sections.columns]]
title = "수량"
pointer = "/n"
type = "number"
format = "#,##0.000"
align = "right"
[[sections]]
kind = "totals"
[[sections.fields]]
label = "소계"
sum = "/content/rows"
pointer = "/n"
type = "number"
format = "0.00개"
[[sections]]
kind = "images"
pointer = "/content/photos"
height = 20
[[sections]]
kind = "page_break"
[[sections]]
kind = "images"
pointer = "/content/photo"
height = 20
[[sections]]
kind = "text"
text = "{/content/amount}\n둘째 줄"
align = "right"
[[sections]]
kind = "signatures"
boxes = ["작성 {/content/name}", "승인"]
"##;

#[tokio::test]
async fn every_kind_of_section_is_on_the_page() {
    once(async |place| {
        let pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
        let content = json!({
            "name": "한강", "ok": true, "no": false, "amount": 1_234_567, "at": "2026-03-01T09:30:00+09:00",
            "rows": [{"a": "가", "n": "1.50"}, {"a": "나", "n": "-0.25"}],
            "photos": [pixel, pixel], "photo": format!("data:image/png;base64,{pixel}"),
        });
        one(&place, &content, EVERY_KIND).await;
        let server = Server::start(&place, &[]).await;
        let pdf = pdf(&server).await;
        let said = letters(&pdf);
        for part in [
            "한강{명세}", "확인예", "시각2026-03-0109:30", "없음", "항목수량", "가1.500", "나-0.250",
            "소계1.25개", "1234567", "둘째줄", "작성한강", "승인", "쪽1중2", "쪽2중2",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
        let pictures = of_pdf(&pdf, "pdfimages", &["-list", "FILE"]);
        assert!(pictures.lines().count() > 2, "{pictures}");
        assert!(of_pdf(&pdf, "pdfinfo", &["FILE"]).contains("595.276 x 419.528"));
        of_pdf(&pdf, "qpdf", &["--check", "FILE"]);
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn letters_that_the_font_has_not_are_seen_and_told() {
    once(async |place| {
        let sections = "[[sections]]\nkind = \"text\"\ntext = \"{/content/name}\"\n";
        one(&place, &json!({"name": "웃음 😀 끝"}), sections).await;
        let server = Server::start(&place, &[]).await;
        let answer = server.get("/api/v1/documents/sheet/zip?delivery=direct").await;
        let found = super::documents(&answer);
        assert!(letters(&found[0].1).contains("웃음〓끝"));
        let run = server.run(&answer.run()).await;
        assert_eq!(run["warnings"][0]["code"], "missing_glyphs", "{run}");
        assert!(
            run["warnings"][0]["detail"].as_str().is_some_and(|detail| detail.contains("U+1F600"))
        );
        assert!(server.log().contains("U+1F600"), "{}", server.log());
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_row_taller_than_a_page_goes_on_and_no_other_is_split() {
    once(async |place| {
        let fixture = include_str!("../../fixtures/050-pdf-table-page-breaks/document.json");
        let content: Json = serde_json::from_str(fixture).expect("JSON");
        let sections = r#"
[[sections]]
kind = "heading"
text = "{/content/title}"
[[sections]]
kind = "table"
rows = "/content/rows"
[[sections.columns]]
title = "번호"
pointer = "/0"
width = 1
[[sections.columns]]
title = "품목"
pointer = "/1"
width = 4
[[sections.columns]]
title = "금액"
pointer = "/2"
width = 2
align = "right"
"#;
        one(&place, &content, sections).await;
        let server = Server::start(&place, &[]).await;
        let begun = Instant::now();
        let pdf = pdf(&server).await;
        assert!(begun.elapsed().as_secs() < 2);
        assert!(pdf.len() < 1 << 20, "{}", pdf.len());
        assert_table(&content, &text(&pdf));
        of_pdf(&pdf, "qpdf", &["--check", "FILE"]);
        assert_nothing_overlaps(&pdf);
        server.stop().await;
    })
    .await;
}

/// Asserts that every number stands once and every word of the tall row is there, below a header on
/// every page.
fn assert_table(content: &Json, text: &str) {
    let pages: Vec<&str> = text.split_terminator('\u{c}').collect();
    for (index, page) in pages.iter().enumerate() {
        assert!(page.contains("번호") && page.contains("품목"), "page {index}: {page}");
        let squeezed: String = page.split_whitespace().collect();
        assert!(squeezed.ends_with(&format!("{}/{}", index + 1, pages.len())), "{page}");
    }
    let rows = content["rows"].as_array().expect("rows");
    for row in rows {
        for cell in [row[0].to_string(), row[2].as_str().expect("a text").to_owned()] {
            let number = cell.parse::<u64>().ok();
            let same = |row: &&Json| row[0].as_u64() == number || row[2] == *cell;
            let wanted = rows.iter().filter(same).count();
            let found = text.split_whitespace().filter(|word| **word == cell).count();
            assert_eq!(found, wanted, "{cell}");
        }
    }
    let (tall, rest): (Vec<_>, Vec<_>) = rows
        .iter()
        .map(|row| row[1].as_str().expect("a text"))
        .partition(|text| text.len() > 5_000);
    let [tall] = tall.as_slice() else { panic!("one row is taller than a page") };
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let mut all: Vec<String> = rest.iter().flat_map(|text| words(text)).collect();
    all.extend(words(tall));
    for word in ["품목", "설명"] {
        let wanted = all.iter().filter(|other| *other == word).count();
        let found = text.split_whitespace().filter(|other| *other == word).count();
        // The header says it once a page, too.
        let headers = if word == "품목" { pages.len() } else { 0 };
        assert_eq!(found, wanted + headers, "{word}");
    }
}

/// Asserts that no word lies over another, or beyond the page.
fn assert_nothing_overlaps(pdf: &[u8]) {
    let said = of_pdf(pdf, "pdftotext", &["-bbox", "FILE", "-"]);
    let number = |line: &str, name: &str| -> f64 {
        let rest = line.split_once(&format!("{name}=\"")).expect("an attribute").1;
        rest.split('"').next().and_then(|number| number.parse().ok()).expect("a number")
    };
    let mut page: Vec<[f64; 4]> = Vec::new();
    for line in said.lines().map(str::trim) {
        if line.starts_with("<page") {
            page.clear();
        }
        if !line.starts_with("<word") {
            continue;
        }
        let found = ["xMin", "yMin", "xMax", "yMax"].map(|name| number(line, name));
        let [left, top, right, bottom] = found;
        assert!(left >= 0.0 && top >= 0.0 && right <= 596.0 && bottom <= 842.0, "{line}");
        for other in &page {
            // Boxes are as high as the font's tallest letters; what is written is lower.
            let slack = (bottom - top) * 0.3;
            let across = left < other[2] - 0.1 && other[0] < right - 0.1;
            let down = top < other[3] - slack && other[1] < bottom - slack;
            assert!(!(across && down), "{line} lies over {other:?}");
        }
        page.push(found);
    }
}
