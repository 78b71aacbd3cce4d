//! What a file is, by its first bytes and never by its name.
//!
//! Whatever is packed (ZIP, OLE) is a spreadsheet until the child process has looked into it; of the
//! rest, texts are told apart here and everything else is refused by its name. This knows beginnings
//! alone.

use std::io;

use serde::de::IgnoredAny;

use super::at::At;
use super::fault::{self, SAVE_AGAIN, fault};
use crate::error::{Error, Result};

/// How much of a file is looked at.
const HEAD: usize = 4096;

/// What a file turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// Something packed, for the child to look into.
    Packed,
    /// Separated values.
    Csv,
    /// A JSON object on each line.
    Ndjson,
    /// One JSON array.
    Json,
}

/// Beginnings of files that no table can be read from, and what they are.
const OTHERS: &[(&[u8], &str)] = &[
    (b"%PDF-", "a PDF"),
    (b"{\\rtf", "a rich text document (RTF)"),
    (b"\x89PNG\r\n", "an image (PNG)"),
    (b"\xFF\xD8\xFF", "an image (JPEG)"),
    (b"GIF87a", "an image (GIF)"),
    (b"GIF89a", "an image (GIF)"),
    (b"II*\0", "an image (TIFF)"),
    (b"MM\0*", "an image (TIFF)"),
    (b"RIFF", "an image, sound or film (RIFF)"),
    (b"\x1F\x8B", "a gzip archive"),
    (b"BZh91AY&SY", "a bzip2 archive"),
    (b"7z\xBC\xAF\x27\x1C", "a 7z archive"),
    (b"Rar!\x1A\x07", "a RAR archive"),
    (b"\xFD7zXZ\0", "an xz archive"),
    (b"\x28\xB5\x2F\xFD", "a zstd archive"),
    (b"EGGA", "an EGG archive"),
    (b"ALZ\x01", "an ALZ archive"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"PAR1", "a Parquet file"),
    (b"\x7FELF", "a program"),
    (b"MZ\x90\0", "a program"),
    (b"HWP Document File", "a Hangul document (HWP)"),
    (b"\x09\x00\x04\x00", "a workbook of Excel 2"),
    (b"\x09\x02\x06\x00", "a workbook of Excel 3"),
    (b"\x09\x04\x06\x00", "a workbook of Excel 4"),
    (b"\x00\x00\x02\x00", "a Lotus 1-2-3 workbook"),
    (b"\x00\x00\x1A\x00", "a Lotus 1-2-3 workbook"),
];

/// Beginnings of marked-up text, in lower case.
const MARKUP: &[(&[u8], &str)] = &[
    (b"<?xml", "an XML file"),
    (b"<workbook", "an XML file"),
    (b"<!doctype", "an HTML page"),
    (b"<html", "an HTML page"),
    (b"<head", "an HTML page"),
    (b"<meta", "an HTML page"),
    (b"<body", "an HTML page"),
    (b"<style", "an HTML page"),
    (b"<script", "an HTML page"),
    (b"<table", "an HTML page"),
    (b"<div", "an HTML page"),
    (b"<!--", "an HTML page"),
    (b"mime-version:", "a web page saved as one file"),
];

/// Tells what a file is.
///
/// # Errors
/// When it is empty, or something that holds no table; and when it cannot be read.
pub(super) fn sniff(at: &At) -> Result<Found> {
    let mut room = [0; HEAD];
    let head = at.head(&mut room).map_err(reading)?;
    let head = &room[..head];
    if head.starts_with(b"PK\x03\x04")
        || head.starts_with(b"PK\x05\x06")
        || head.starts_with(b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1")
    {
        return Ok(Found::Packed);
    }
    if let Some((_, what)) = OTHERS.iter().find(|(begin, _)| head.starts_with(begin)) {
        return Err(unsupported(what));
    }
    let text = plain(head);
    if text.is_empty() {
        return Err(fault(
            fault::EMPTY,
            "the file is empty; save it again in the program that made it, with its rows in it",
        ));
    }
    let text = text.trim_ascii_start();
    let low = text[..text.len().min(16)].to_ascii_lowercase();
    if let Some((_, what)) = MARKUP.iter().find(|(begin, _)| low.starts_with(begin)) {
        return Err(unsupported(what));
    }
    if text.iter().filter(|byte| **byte == 0).count() * 4 > text.len() {
        return Err(unsupported("neither a spreadsheet nor a text in a known encoding"));
    }
    Ok(match text.first() {
        Some(b'{') => Found::Ndjson,
        Some(b'[') if is_array(text) => Found::Json,
        _ => Found::Csv,
    })
}

/// Whether a text that begins with `[` is JSON: a CSV file may well begin with `[draft] title`.
fn is_array(text: &[u8]) -> bool {
    matches!(text[1..].trim_ascii_start().first(), Some(b'{' | b']' | b'[' | b'"') | None)
        // Of numbers and words as far as can be seen, which is refused in better words than a table.
        || serde_json::from_slice::<IgnoredAny>(text).map_or_else(|error| error.is_eof(), |_| true)
}

/// The head of a text without byte order mark, and without every other byte where it is UTF-16.
fn plain(head: &[u8]) -> Vec<u8> {
    match head {
        [0xEF, 0xBB, 0xBF, rest @ ..] => rest.to_vec(),
        [0xFF, 0xFE, rest @ ..] | [0xFE, 0xFF, rest @ ..] => {
            rest.iter().copied().filter(|byte| *byte != 0).collect()
        }
        _ => head.to_vec(),
    }
}

/// The refusal of a file that is something else.
pub(super) fn unsupported(what: &str) -> Error {
    fault(
        fault::UNSUPPORTED,
        format!(
            "the file is {what}, whatever its name says; {SAVE_AGAIN}, or send xlsx, xlsb, xls, \
             ods, CSV, NDJSON or a JSON array of objects"
        ),
    )
}

/// The failure to read a file of our own.
pub(super) fn reading(error: io::Error) -> Error {
    Error::internal("reading an uploaded file", error)
}
