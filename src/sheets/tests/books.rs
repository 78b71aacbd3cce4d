//! Makes workbooks part by part, honest and otherwise.

#![expect(clippy::format_collect, reason = "workbooks are put together for reading, not for speed")]

use std::io::{Cursor, Write};

use zip::write::{SimpleFileOptions, ZipWriter};

const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const RELATIONS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006/relationships";

/// A ZIP archive of these parts.
pub(super) fn package(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, bytes) in parts {
        archive.start_file(*path, SimpleFileOptions::default()).expect("a part can begin");
        archive.write_all(bytes).expect("it can be written");
    }
    archive.finish().expect("it can be finished").into_inner()
}

/// The relationships of a part: identifiers `rId1` … with the last words of their types and targets.
fn relationships(targets: &[(String, String)]) -> String {
    let each = |((kind, target), number): (&(String, String), u32)| {
        format!(
            "<Relationship Id=\"rId{number}\" Type=\"{RELATIONS}/{kind}\" Target=\"{target}\"/>"
        )
    };
    let all: String = targets.iter().zip(1..).map(each).collect();
    format!("<Relationships xmlns=\"{PACKAGE}\">{all}</Relationships>")
}

/// A sheet to be put into a book.
pub(super) struct Tab<'a> {
    pub(super) name: &'a str,
    /// `visible`, `hidden` or `veryHidden`.
    pub(super) state: &'a str,
    /// What is between `<worksheet>` and `</worksheet>`.
    pub(super) xml: &'a str,
}

/// An xlsx file; style 1 is a date, style 2 a duration, and 3, which is there where it is used, five
/// digits at least.
pub(super) fn xlsx(tabs: &[Tab<'_>], texts: &str) -> Vec<u8> {
    let sheets: String = tabs
        .iter()
        .zip(1..)
        .map(|(tab, number)| {
            let Tab { name, state, .. } = tab;
            format!("<sheet name=\"{name}\" sheetId=\"{number}\" state=\"{state}\" r:id=\"rId{number}\"/>")
        })
        .collect();
    let workbook = format!(
        "<workbook xmlns=\"{MAIN}\" xmlns:r=\"{RELATIONS}\"><sheets>{sheets}</sheets></workbook>"
    );
    let targets: Vec<_> = (1..=tabs.len())
        .map(|number| ("worksheet".to_owned(), format!("worksheets/sheet{number}.xml")))
        .collect();
    let pads = tabs.iter().any(|tab| tab.xml.contains("s=\"3\""));
    let (format, style) = if pads {
        ("<numFmt numFmtId=\"165\" formatCode=\"00000\"/>", "<xf numFmtId=\"165\"/>")
    } else {
        ("", "")
    };
    let styles = format!(
        "<styleSheet xmlns=\"{MAIN}\"><numFmts><numFmt numFmtId=\"164\" formatCode=\"[h]:mm\"/>\
         {format}</numFmts><cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/><xf numFmtId=\"164\"/>\
         {style}</cellXfs></styleSheet>"
    );
    let package_targets = [("officeDocument".to_owned(), "xl/workbook.xml".to_owned())];
    let mut parts = vec![
        ("[Content_Types].xml".to_owned(), "<Types/>".to_owned()),
        ("_rels/.rels".to_owned(), relationships(&package_targets)),
        ("xl/workbook.xml".to_owned(), workbook),
        ("xl/_rels/workbook.xml.rels".to_owned(), relationships(&targets)),
        ("xl/styles.xml".to_owned(), styles),
    ];
    if !texts.is_empty() {
        parts.push((
            "xl/sharedStrings.xml".to_owned(),
            format!("<sst xmlns=\"{MAIN}\"{texts}</sst>"),
        ));
    }
    for (tab, number) in tabs.iter().zip(1..) {
        let xml = format!("<worksheet xmlns=\"{MAIN}\">{}</worksheet>", tab.xml);
        parts.push((format!("xl/worksheets/sheet{number}.xml"), xml));
    }
    let parts: Vec<_> = parts.iter().map(|(path, xml)| (path.as_str(), xml.as_bytes())).collect();
    package(&parts)
}

/// An xlsx file of one sheet with these rows.
pub(super) fn rows(rows: &str) -> Vec<u8> {
    let xml = format!("<sheetData>{rows}</sheetData>");
    xlsx(&[Tab { name: "Sheet1", state: "visible", xml: &xml }], "")
}

/// A record of an xlsb part.
pub(super) fn record(kind: u16, body: &[u8]) -> Vec<u8> {
    let mut bytes = if kind < 0x80 {
        kind.to_le_bytes()[..1].to_vec()
    } else {
        vec![(kind & 0x7F).to_le_bytes()[0] | 0x80, (kind >> 7).to_le_bytes()[0]]
    };
    let mut length = body.len();
    while length >= 0x80 {
        bytes.push(length.to_le_bytes()[0] | 0x80);
        length >>= 7;
    }
    bytes.push(length.to_le_bytes()[0]);
    bytes.extend_from_slice(body);
    bytes
}

fn wide(text: &str) -> Vec<u8> {
    let units: Vec<u16> = text.encode_utf16().collect();
    let length = u32::try_from(units.len()).expect("short").to_le_bytes();
    length.into_iter().chain(units.into_iter().flat_map(u16::to_le_bytes)).collect()
}

/// An xlsb file of one sheet, `Sheet1`, with these records.
pub(super) fn xlsb(records: &[u8]) -> Vec<u8> {
    let bundle = [&[0; 4][..], &1_u32.to_le_bytes(), &wide("rId1"), &wide("Sheet1")].concat();
    let workbook = [record(0x9C, &bundle), record(0x90, &[]), record(0x9D, &[])].concat();
    let sheet = [
        record(0x81, &[]),
        record(0x93, &[0; 23]),
        record(0x94, &[0; 16]),
        record(0x91, &[]),
        records.to_vec(),
        record(0x92, &[]),
        record(0x82, &[]),
    ]
    .concat();
    let targets = [("worksheet".to_owned(), "worksheets/sheet1.bin".to_owned())];
    package(&[
        ("[Content_Types].xml", b"<Types/>"),
        ("xl/_rels/workbook.bin.rels", relationships(&targets).as_bytes()),
        ("xl/workbook.bin", &workbook),
        ("xl/worksheets/sheet1.bin", &sheet),
    ])
}

/// An ods file with this between `<office:spreadsheet>` and its end, and these automatic styles.
pub(super) fn ods(styles: &str, tables: &str) -> Vec<u8> {
    let content = format!(
        "<office:document-content><office:automatic-styles>{styles}</office:automatic-styles>\
         <office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body>\
         </office:document-content>"
    );
    package(&[
        ("mimetype", b"application/vnd.oasis.opendocument.spreadsheet"),
        ("META-INF/manifest.xml", b"<manifest:manifest/>"),
        ("content.xml", content.as_bytes()),
    ])
}
