//! Workbooks read back: by calamine, and as XML where a reader hides what it read.

mod beside;
mod books;
mod cells;
mod failures;
mod random;

use std::io::{Cursor, Read};
use std::path::Path;

use calamine::{Data, Reader, Xlsx};
use jiff::tz::TimeZone;

use super::{Limits, XlsxEncoder};
use crate::error::Result;
use crate::formats::{Options, XlsxWriter};
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

fn by(writer: XlsxWriter, options: &Options) -> Options {
    Options { writer, ..options.clone() }
}

/// A workbook with these rows, and what was noticed on the way.
fn made(encoder: &mut XlsxEncoder, rows: &[Vec<Value<'_>>]) -> Result<(Vec<u8>, Vec<Warning>)> {
    let mut out = Vec::new();
    encoder.begin(&mut out)?;
    let begun = out.len();
    for row in rows {
        encoder.row(row, &mut out)?;
    }
    match encoder {
        XlsxEncoder::Poured(_) => assert!(begun > 0, "a workbook begins at once"),
        XlsxEncoder::Library(_) => assert_eq!(out, b"", "nothing leaves before the end"),
    }
    encoder.finish(&mut out)?;
    Ok((out, encoder.take_warnings()))
}

/// The workbook that both writers make, poured.
fn book(columns: &[Column], options: &Options, rows: &[Vec<Value<'_>>]) -> Vec<u8> {
    limited(columns, options, rows, None)
}

fn limited(
    columns: &[Column],
    options: &Options,
    rows: &[Vec<Value<'_>>],
    limits: Option<Limits>,
) -> Vec<u8> {
    let [poured, library] = XlsxWriter::ALL.map(|writer| {
        let mut encoder = XlsxEncoder::new(columns, &by(writer, options));
        match (&mut encoder, limits) {
            (_, None) => {}
            (XlsxEncoder::Poured(encoder), Some(limits)) => encoder.limits = limits,
            (XlsxEncoder::Library(encoder), Some(limits)) => encoder.limits = limits,
        }
        let (book, warnings) = made(&mut encoder, rows).unwrap();
        assert_eq!(warnings, []);
        book
    });
    beside::assert_alike(&poured, &library);
    poured
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
    let book = book(&[column("v", kind)], &utc(), &[vec![value]]);
    let sheet = part(&book, "xl/worksheets/sheet1.xml");
    let Some((_, cell)) = sheet.split_once("<c r=\"A2\"") else { return String::new() };
    if cell.split_once('>').is_some_and(|(attributes, _)| attributes.ends_with('/')) {
        return String::new();
    }
    let cell = cell.split_once("</c>").unwrap().0.trim_start();
    // A text that is kept elsewhere, as it would stand here.
    let Some((before, _)) = cell.split_once("t=\"s\"><v>0</v>") else { return cell.to_owned() };
    let listed = part(&book, "xl/sharedStrings.xml");
    let (_, text) = listed.split_once("<si>").unwrap();
    format!("{before}t=\"inlineStr\"><is>{}</is>", text.split_once("</si>").unwrap().0)
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
