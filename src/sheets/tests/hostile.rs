//! Files that are something else, cut off, altered, or meant to harm.

#![expect(clippy::format_collect, reason = "workbooks are put together for reading, not for speed")]

use std::panic::catch_unwind;

use proptest::prelude::*;

use super::books::{Tab, package, rows, xlsx};
use super::{LIMITS, case, read_bytes, read_bytes_with, refused, refused_for};
use crate::error::Error;
use crate::sheets::Limits;

/// A part of a package.
type Part = (&'static str, &'static [u8]);

#[test]
fn a_file_that_is_something_else_is_called_what_it_is() {
    let cases: &[(&[u8], &str)] = &[
        (b"%PDF-1.7\n", "a PDF"),
        (b"\x89PNG\r\n\x1A\n", "an image"),
        (b"\xFF\xD8\xFF\xE0", "an image"),
        (b"{\\rtf1\\ansi", "RTF"),
        (b"\x1F\x8B\x08", "gzip"),
        (b"<html><table>", "an HTML page"),
        (b"\xEF\xBB\xBF \r\n<!DOCTYPE html>", "an HTML page"),
        (b"<table border=1>", "an HTML page"),
        (b"\xFF\xFE<\0h\0t\0m\0l\0>\0", "an HTML page"),
        (b"<?xml version=\"1.0\"?><Workbook/>", "an XML file"),
        (b"MIME-Version: 1.0\r\n", "a web page"),
        (b"a\x00,\x00b\x00\n\x001\x00,\x002\x00\n\x00", "neither a spreadsheet"),
    ];
    for (bytes, words) in cases {
        refused_for(read_bytes(bytes), "unsupported_file", &[words, "xlsx"]);
    }
    let ole = |name: &str| {
        let name: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
        [b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1".to_vec(), vec![0; 3000], name, vec![0; 3000]].concat()
    };
    refused_for(read_bytes(&ole("WordDocument")), "unsupported_file", &["a Word document"]);
    refused_for(read_bytes(&ole("HwpSummaryInformation")), "unsupported_file", &["Hangul"]);
    refused_for(read_bytes(&ole("")), "damaged_file", &["send it again"]);
}

#[test]
fn a_package_of_another_program_is_called_what_it_is() {
    let types: Part = ("[Content_Types].xml", b"<Types/>");
    let cases: &[(&[Part], &str)] = &[
        (&[types, ("word/document.xml", b"<a/>")], "a Word document"),
        (&[types, ("ppt/presentation.xml", b"<a/>")], "PowerPoint"),
        (&[("Index/Document.iwa", b"x")], "Apple Numbers"),
        (&[("mimetype", b"application/vnd.oasis.opendocument.text")], "OpenDocument"),
        (&[("mimetype", b"application/hwp+zip")], "Hangul"),
        (&[("a/b.csv", b"x")], "unpack it"),
        (&[], "unpack it"),
    ];
    for (parts, words) in cases {
        refused_for(read_bytes(&package(parts)), "unsupported_file", &[words]);
    }
}

#[test]
fn a_workbook_that_is_cut_off_anywhere_is_damaged() {
    let whole = std::fs::read(case("002-xlsx-trailing-styled-rows/upload.xlsx")).expect("a case");
    for tenth in 1..10 {
        let cut = &whole[..whole.len() * tenth / 10];
        refused_for(read_bytes(cut), "damaged_file", &["cut off", "send it again"]);
    }
}

#[test]
fn the_oldest_protection_of_excel_is_a_password_too() {
    // FilePass with the number 0, which is XOR obfuscation.
    let stream = [
        &[0x09, 0x08, 0x10, 0x00, 0x00, 0x06, 0x05, 0x00][..],
        &[0; 12],
        &[0x2F, 0x00, 0x06, 0x00, 0x00, 0x00, 0x12, 0x34, 0x56, 0x78],
        &[0; 600],
    ]
    .concat();
    let mut file = b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1".to_vec();
    file.resize(1024, 0);
    file.extend_from_slice(&stream);
    refused_for(read_bytes(&file), "password_protected", &["save it without one"]);
}

#[test]
fn an_encrypted_archive_is_protected_with_a_password() {
    let mut book = rows("<row><c><v>1</v></c></row>");
    for (mark, flags) in [(b"PK\x03\x04", 6), (b"PK\x01\x02", 8)] {
        let places: Vec<_> = memchr::memmem::find_iter(&book, mark).collect();
        for at in places {
            book[at + flags] |= 1;
        }
    }
    refused_for(read_bytes(&book), "password_protected", &[]);
}

#[test]
fn a_bomb_is_stopped_while_it_unpacks() {
    let spaces = " ".repeat(110 << 20);
    let book = xlsx(&[Tab { name: "a", state: "visible", xml: &spaces }], "");
    assert!(book.len() < 1 << 20);
    refused_for(read_bytes(&book), "compression_bomb", &["100 MiB", "200"]);
    // A part that is no sheet counts as well.
    let other = package(&[
        ("[Content_Types].xml", b"<Types/>"),
        ("xl/media/image1.png", spaces.as_bytes()),
    ]);
    refused_for(read_bytes(&other), "compression_bomb", &[]);
}

#[test]
fn what_parts_declare_of_their_size_is_not_believed() {
    let book = rows(&"<row><c><v>1</v></c></row>".repeat(100_000));
    let limits = Limits { inflated: 1 << 20, ..LIMITS };
    refused_for(read_bytes_with(&book, None, &limits), "too_large_inflated", &["1 MiB"]);
    let mut lying = book;
    let places: Vec<_> = memchr::memmem::find_iter(&lying, b"PK\x01\x02").collect();
    for at in places {
        lying[at + 24..at + 28].copy_from_slice(&10_u32.to_le_bytes());
    }
    let problem = refused(read_bytes_with(&lying, None, &limits));
    assert!(["too_large_inflated", "damaged_file"].contains(&problem.code), "{problem:?}");
}

#[test]
fn shared_texts_have_a_limit_of_their_own() {
    let texts = format!(">{}", "<si><t>abcdefgh</t></si>".repeat(50_000));
    let xml = "<sheetData><row><c t=\"s\"><v>1</v></c></row></sheetData>";
    let book = xlsx(&[Tab { name: "a", state: "visible", xml }], &texts);
    assert_eq!(read_bytes(&book).expect("it is read").rows(), [(1, "abcdefgh")]);
    let limits = Limits { text: 1 << 20, ..LIMITS };
    refused_for(read_bytes_with(&book, None, &limits), "too_much_text", &["1 MiB", "CSV"]);
}

#[test]
fn a_document_type_is_found_wherever_it_stands() {
    for before in [0, 1, 131_060, 131_064, 131_071, 131_072, 200_000] {
        let xml = format!("{}<!dOcTyPe x [<!ENTITY a \"b\">]><sheetData/>", " ".repeat(before));
        let book = xlsx(&[Tab { name: "a", state: "visible", xml: &xml }], "");
        refused_for(read_bytes(&book), "document_type", &[]);
    }
}

#[test]
fn rows_of_styles_alone_are_no_rows_however_many() {
    let styled: String = (2..=300_000)
        .map(|row| format!("<row r=\"{row}\" s=\"1\"><c r=\"A{row}\" s=\"1\"/></row>"))
        .collect();
    let book = rows(&format!("<row r=\"1\"><c r=\"A1\"><v>1</v></c></row>{styled}"));
    assert_eq!(read_bytes(&book).expect("it is read").rows(), [(1, "n:1")]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// What calamine does to such a file may be a panic, which the child makes a refusal of.
    #[test]
    fn an_altered_file_is_read_or_refused_and_never_a_failure_of_ours(
        file in prop::sample::select(vec![
            "013-xlsx-error-cells/upload.xlsx",
            "029-ods-repeats-and-types/upload.ods",
            "sheets/book.xls",
            "021-xlsx-password-protected/upload.xlsx",
        ]),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = std::fs::read(case(file)).expect("a case");
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            // What an xls file says of its size is believed by calamine: that is for the child.
            if !(file.ends_with("xls") && byte > 3) {
                bytes[at] = byte;
            }
        }
        if let Ok(Err(error)) = catch_unwind(|| read_bytes(&bytes)) {
            prop_assert!(matches!(error, Error::Invalid(_)), "{:?}", error);
        }
    }
}
