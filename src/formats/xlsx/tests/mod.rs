//! Workbooks read back: by calamine, and as XML where a reader hides what it read.

mod books;
mod cells;
mod failures;

use std::io::{Cursor, Read};
use std::path::Path;

use calamine::{Data, Reader, Xlsx};
use jiff::tz::TimeZone;

use super::{Limits, XlsxEncoder};
use crate::error::Result;
use crate::formats::Options;
use crate::rows::{Column, Date, Encoder, Instant, Kind, Look, Value, Warning};

fn column(key: &str, kind: Kind) -> Column {
    Column { key: key.into(), title: format!("{key} 제목"), kind, look: Look::default() }
}

fn day(year: i32, month: u32, day: u32) -> Date {
    Date::from_ymd(year, month, day).unwrap()
}

fn at(text: &str) -> Instant {
    text.parse::<jiff::Timestamp>().unwrap().into()
}

fn utc() -> Options {
    Options { zone: TimeZone::UTC, title: "정산 내역".into(), ..Options::default() }
}

/// A workbook with these rows, and what was noticed on the way.
fn made(encoder: &mut XlsxEncoder, rows: &[Vec<Value<'_>>]) -> Result<(Vec<u8>, Vec<Warning>)> {
    let mut aside = Vec::new();
    encoder.begin(&mut aside)?;
    for row in rows {
        encoder.row(row, &mut aside)?;
    }
    assert_eq!(aside, b"", "nothing of a workbook leaves before its end");
    let mut out = Vec::new();
    encoder.finish(&mut out)?;
    Ok((out, encoder.take_warnings()))
}

fn book(columns: &[Column], options: &Options, rows: &[Vec<Value<'_>>]) -> Vec<u8> {
    let (book, warnings) = made(&mut XlsxEncoder::new(columns, options), rows).unwrap();
    assert_eq!(warnings, []);
    book
}

/// A part of a workbook as its XML.
fn part(book: &[u8], name: &str) -> String {
    let mut archive = zip::ZipArchive::new(Cursor::new(book)).unwrap();
    let mut text = String::new();
    archive.by_name(name).unwrap().read_to_string(&mut text).unwrap();
    text
}

/// The cell at `A2` of a workbook with one column and one value, as its XML without `<c>`'s place.
fn cell(kind: Kind, value: Value<'_>) -> String {
    let sheet =
        part(&book(&[column("v", kind)], &utc(), &[vec![value]]), "xl/worksheets/sheet1.xml");
    let Some((_, cell)) = sheet.split_once("<c r=\"A2\"") else { return String::new() };
    cell.split_once("</c>").unwrap().0.trim_start().to_owned()
}

/// The number format of the cell at `A2`.
fn number_format(book: &[u8]) -> String {
    let sheet = part(book, "xl/worksheets/sheet1.xml");
    let (_, cell) = sheet.split_once("<c r=\"A2\" s=\"").unwrap();
    let style: usize = cell.split_once('"').unwrap().0.parse().unwrap();
    let styles = part(book, "xl/styles.xml");
    let formats = styles.split_once("<cellXfs").unwrap().1;
    let format = formats.split("<xf ").nth(style + 1).unwrap();
    let id = format.strip_prefix("numFmtId=\"").unwrap().split_once('"').unwrap().0;
    match id {
        "0" => "General".into(),
        "1" => "0".into(),
        "2" => "0.00".into(),
        "3" => "#,##0".into(),
        id => {
            let code =
                styles.split_once(&format!("<numFmt numFmtId=\"{id}\" formatCode=\"")).unwrap();
            code.1.split_once('"').unwrap().0.to_owned()
        }
    }
}

/// The rows of every sheet as calamine reads them.
fn read(book: &[u8]) -> Vec<(String, Vec<Vec<Data>>)> {
    let mut book = Xlsx::new(Cursor::new(book)).unwrap();
    let sheets = book.worksheets().into_iter();
    sheets.map(|(name, range)| (name, range.rows().map(<[_]>::to_vec).collect())).collect()
}

fn is_empty(directory: &Path) -> bool {
    std::fs::read_dir(directory).unwrap().next().is_none()
}
