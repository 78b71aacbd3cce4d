//! Whole workbooks: other people's reports, sheets, headers, and the same bytes for the same rows.

use std::fs;

use calamine::Data;

use super::{Limits, book, by, column, day, is_empty, limited, made, part, read, utc};
use crate::formats::xlsx::XlsxEncoder;
use crate::formats::{Header, Options, XlsxWriter};
use crate::rows::{Column, Kind, Value};

const TEXTS: &str =
    include_str!("../../../../tests/fixtures/033-export-text-and-formula-injection/rows.json");
const NUMBERS: &str = include_str!("../../../../tests/fixtures/031-export-numbers/rows.json");

#[test]
fn text_that_others_took_for_something_else_comes_back_as_it_was() {
    let rows: Vec<serde_json::Value> = serde_json::from_str(TEXTS).unwrap();
    let columns = [column("id", Kind::Int), column("v", Kind::Text)];
    let values: Vec<_> = rows
        .iter()
        .map(|row| {
            let id = row["id"].as_i64().unwrap();
            vec![Value::Int(id), Value::Text(row["v"].as_str().unwrap())]
        })
        .collect();
    let book = book(&columns, &utc(), &values);
    for (read, row) in read(&book)[0].1[1..].iter().zip(&rows) {
        let text = row["v"].as_str().unwrap();
        // The library leaves the cell of an empty text out.
        let expected = if text.is_empty() { Data::Empty } else { Data::String(text.into()) };
        assert_eq!(read[1], expected);
    }
    let sheet = part(&book, "xl/worksheets/sheet1.xml");
    assert!(!sheet.contains("<f>") && !sheet.contains("<hyperlink"));
}

#[test]
fn numbers_that_others_lost_digits_of_come_back_with_all_of_them() {
    let rows: Vec<serde_json::Value> = serde_json::from_str(NUMBERS).unwrap();
    let columns = [
        column("i8", Kind::Int),
        column("n", Kind::Decimal),
        column("money", Kind::Decimal),
        column("f8", Kind::Float),
    ];
    let values: Vec<_> = rows
        .iter()
        .map(|row| {
            let digits = |key: &str| row[key].as_str().map_or(Value::Null, Value::Decimal);
            let float = row["f8"].as_str().map(|text| Value::Float(text.parse().unwrap()));
            vec![digits("i8"), digits("n"), digits("money"), float.unwrap_or(Value::Null)]
        })
        .collect();
    let read = read(&book(&columns, &utc(), &values)).remove(0).1;
    let text = |text: &str| Data::String(text.into());
    assert_eq!(read[1][..2], [text("9007199254740993"), text("12345678901234567890.1234567890")]);
    assert_eq!(read[1][2..], [Data::Float(57.7), Data::Float(0.1)]);
    assert_eq!(
        read[2],
        [text("-9223372036854775808"), Data::Float(1e-10), Data::Float(-0.01), Data::Empty]
    );
    assert_eq!(read[3][1..3], [text("100000000.0000000001"), Data::Float(9_999_999_999_999.99)]);
    assert_eq!(read[4][0], text("1405202108700589"));
    assert_eq!(read[4][3], Data::Float(1e308));
    assert_eq!(read[5][0], Data::Float(123_456_789_012_345.0));
    // A last row of nulls has no cells.
    assert_eq!(read.len(), 7);
}

fn counted(limits: Limits, rows: i64) -> Vec<u8> {
    let rows: Vec<_> = (1..=rows).map(|n| vec![Value::Int(n), Value::Decimal("1.50")]).collect();
    limited(&[column("n", Kind::Int), column("d", Kind::Decimal)], &utc(), &rows, Some(limits))
}

#[test]
fn rows_beyond_a_sheet_go_on_in_a_further_one_with_the_same_header() {
    let book = counted(Limits { rows: 5, bytes: u64::MAX }, 11);
    let sheets = read(&book);
    let names: Vec<_> = sheets.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["정산 내역", "정산 내역 (2)", "정산 내역 (3)"]);
    let mut next = 1.0;
    for ((_, rows), count) in sheets.iter().zip([5, 5, 1]) {
        assert_eq!(rows.len(), count + 1);
        assert_eq!(rows[0][0], Data::String("n 제목".into()));
        for row in &rows[1..] {
            assert_eq!(row[0], Data::Float(next));
            next += 1.0;
        }
    }
    for (name, filter) in [("sheet1", "A1:B6"), ("sheet2", "A1:B6"), ("sheet3", "A1:B2")] {
        let sheet = part(&book, &format!("xl/worksheets/{name}.xml"));
        assert!(sheet.contains("<pane ySplit=\"1\""), "{sheet}");
        assert!(sheet.contains(&format!("<autoFilter ref=\"{filter}\"/>")), "{sheet}");
        assert!(sheet.contains("<col min=\"2\" max=\"2\" width=\"16.7109375\" style="), "{sheet}");
    }
}

#[test]
fn a_sheet_that_is_just_full_is_not_followed_by_an_empty_one() {
    assert_eq!(read(&counted(Limits { rows: 5, bytes: u64::MAX }, 5)).len(), 1);
    assert_eq!(read(&counted(Limits { rows: 5, bytes: u64::MAX }, 10)).len(), 2);
}

#[test]
fn a_sheet_ends_before_it_has_too_many_bytes() {
    let rows: Vec<_> = (0..9_000).map(|n| vec![Value::Int(n)]).collect();
    for writer in XlsxWriter::ALL {
        let mut encoder = XlsxEncoder::new(&[column("n", Kind::Int)], &by(writer, &utc()));
        let limits = Limits { rows: u32::MAX, bytes: 100_000 };
        match &mut encoder {
            XlsxEncoder::Poured(encoder) => encoder.limits = limits,
            XlsxEncoder::Library(encoder) => encoder.limits = limits,
        }
        let book = made(&mut encoder, &rows).unwrap().0;
        let sheets = read(&book);
        assert_eq!(sheets.iter().map(|(_, rows)| rows.len() - 1).sum::<usize>(), 9_000);
        assert!(sheets.len() > 3, "{}", sheets.len());
        for number in 1..=sheets.len() {
            let sheet = part(&book, &format!("xl/worksheets/sheet{number}.xml"));
            assert!(sheet.len() < 102_000, "{}", sheet.len());
        }
    }
}

#[test]
fn a_workbook_without_rows_has_its_header() {
    let book = book(&[column("n", Kind::Int)], &utc(), &[]);
    assert_eq!(read(&book)[0].1, [[Data::String("n 제목".into())]]);
    let sheet = part(&book, "xl/worksheets/sheet1.xml");
    assert!(sheet.contains("<autoFilter ref=\"A1\"/>"), "{sheet}");
    let none: [Column; 0] = [];
    assert_eq!(read(&super::book(&none, &utc(), &[vec![]])).len(), 1);
}

#[test]
fn a_header_says_titles_or_keys_in_bold() {
    let header = |header| {
        let options = Options { header, ..utc() };
        read(&book(&[column("n", Kind::Int)], &options, &[])).remove(0).1[0][0].to_string()
    };
    assert_eq!(header(Header::Title), "n 제목");
    assert_eq!(header(Header::Key), "n");
    let styles = part(&book(&[column("n", Kind::Int)], &utc(), &[]), "xl/styles.xml");
    assert!(styles.contains("<b/>"), "{styles}");
}

#[test]
fn the_same_rows_give_the_same_bytes() {
    let columns = [
        column("n", Kind::Decimal),
        column("d", Kind::Date),
        column("t", Kind::Text),
        column("b", Kind::Int),
    ];
    let rows: Vec<_> = (0..3_000)
        .map(|n| {
            let digits = ["1.5", "1.50", "1.500"][n % 3];
            vec![
                Value::Decimal(digits),
                Value::Date(day(2026, 1, 1)),
                Value::Text("가나다"),
                Value::Int(7),
            ]
        })
        .collect();
    let first = book(&columns, &utc(), &rows);
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    assert!(first == book(&columns, &utc(), &rows));
    assert!(part(&first, "docProps/core.xml").contains("1980-01-01T00:00:00Z"));
}

#[test]
fn nothing_lies_in_the_temporary_directory_during_or_after() {
    let directory = tempfile::tempdir().unwrap();
    let options = Options { temp_dir: directory.path().into(), ..utc() };
    let options = by(XlsxWriter::Library, &options);
    let mut encoder = XlsxEncoder::new(&[column("n", Kind::Int)], &options);
    made(&mut encoder, &[vec![Value::Int(1)]]).unwrap();
    assert!(is_empty(directory.path()));
    crate::rows::Encoder::begin(&mut encoder, &mut Vec::new()).unwrap();
    assert!(is_empty(directory.path()));
    drop(encoder);
    fs::remove_dir(directory.path()).unwrap();
}
