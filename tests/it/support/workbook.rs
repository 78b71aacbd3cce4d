//! Workbooks put together by hand, and read back: by calamine, and as XML where a reader hides what it
//! read.

use std::io::{Cursor, Read, Write};

use calamine::{Data, Reader as _, Xlsx};
use zip::write::{SimpleFileOptions, ZipWriter};

/// A workbook of one sheet with this XML for its rows, and what follows `<sst ` of its shared strings.
pub fn xlsx(rows: &str, texts: &str) -> Vec<u8> {
    let office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let relation = |kind: &str, target: &str| {
        format!(
            "<Relationships><Relationship Id=\"r\" Type=\"{office}/{kind}\" Target=\"{target}\"/>\
             </Relationships>"
        )
    };
    let parts = [
        ("[Content_Types].xml", "<Types/>".to_owned()),
        ("_rels/.rels", relation("officeDocument", "xl/workbook.xml")),
        ("xl/_rels/workbook.xml.rels", relation("worksheet", "sheet1.xml")),
        (
            "xl/workbook.xml",
            "<workbook><sheets><sheet name=\"a\" r:id=\"r\"/></sheets></workbook>".into(),
        ),
        ("xl/sheet1.xml", format!("<worksheet><sheetData>{rows}</sheetData></worksheet>")),
        ("xl/sharedStrings.xml", format!("<sst {texts}</sst>")),
    ];
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, xml) in parts {
        archive.start_file(path, SimpleFileOptions::default()).expect("a part can begin");
        archive.write_all(xml.as_bytes()).expect("it can be written");
    }
    archive.finish().expect("it can be finished").into_inner()
}

/// A workbook as it was downloaded.
#[derive(Debug)]
pub struct Workbook(Vec<u8>);

impl Workbook {
    /// What these bytes are.
    pub fn new(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }

    /// Whether anything can open it: the archive, or a spreadsheet's reader.
    pub fn opens(&self) -> bool {
        zip::ZipArchive::new(Cursor::new(&self.0)).is_ok()
            || Xlsx::<_>::new(Cursor::new(&self.0)).is_ok()
    }

    /// The sheets' names with their rows, as calamine reads them.
    pub fn sheets(&self) -> Vec<(String, Vec<Vec<Data>>)> {
        let mut book = Xlsx::<_>::new(Cursor::new(&self.0)).expect("calamine opens it");
        let sheets = book.worksheets().into_iter();
        sheets.map(|(name, range)| (name, range.rows().map(<[Data]>::to_vec).collect())).collect()
    }

    /// The names of its parts.
    pub fn parts(&self) -> Vec<String> {
        let archive = zip::ZipArchive::new(Cursor::new(&self.0)).expect("it is an archive");
        let name = |name: zip::result::ZipResult<std::borrow::Cow<'_, str>>| {
            name.expect("a name is text").into_owned()
        };
        archive.file_names().map(name).collect()
    }

    /// A part as its XML.
    pub fn part(&self, name: &str) -> String {
        let mut archive = zip::ZipArchive::new(Cursor::new(&self.0)).expect("it is an archive");
        let mut text = String::new();
        let mut part = archive.by_name(name).unwrap_or_else(|error| panic!("{name}: {error}"));
        part.read_to_string(&mut text).expect("XML is UTF-8");
        text
    }

    /// A cell of the first sheet, such as `B2`, as its XML; nothing where there is none.
    pub fn cell(&self, place: &str) -> Option<String> {
        let sheet = self.part("xl/worksheets/sheet1.xml");
        let start = sheet.find(&format!("<c r=\"{place}\""))?;
        let cell = &sheet[start..];
        let end = cell.find("</c>").into_iter().chain(cell.find("/>")).min()?;
        Some(cell[..end].to_owned())
    }

    /// The number in a cell of the first sheet, as it is written there; nothing where it has none.
    pub fn number(&self, place: &str) -> Option<String> {
        let cell = self.cell(place).filter(|cell| !cell.contains(" t=\""))?;
        let (_, value) = cell.split_once("<v>")?;
        Some(value.split_once("</v>")?.0.to_owned())
    }

    /// The number format that a cell of the first sheet is shown in: its own, else its column's.
    pub fn number_format(&self, place: &str) -> String {
        let cell = self.cell(place).expect("the cell is there");
        let style = cell.split_once(" s=\"").map(|(_, rest)| number(rest));
        let style = style.unwrap_or_else(|| self.column_style(place));
        let styles = self.part("xl/styles.xml");
        let (_, formats) = styles.split_once("<cellXfs").expect("there are formats");
        let format = formats.split("<xf ").nth(style + 1).expect("the format is there");
        let id = number(format.strip_prefix("numFmtId=\"").expect("it begins with a number"));
        match id {
            0 => "General".into(),
            1 => "0".into(),
            2 => "0.00".into(),
            3 => "#,##0".into(),
            id => {
                let (_, code) = styles
                    .split_once(&format!("numFmtId=\"{id}\" formatCode=\""))
                    .expect("it is defined");
                code.split_once('"').expect("its end").0.to_owned()
            }
        }
    }

    /// The style of a cell's column, counted from 0.
    fn column_style(&self, place: &str) -> usize {
        let letter = place.bytes().next().expect("a letter");
        let column = usize::from(letter - b'A') + 1;
        let sheet = self.part("xl/worksheets/sheet1.xml");
        let declared = sheet.split("<col ").skip(1).find(|declared| {
            let of = |name: &str| declared.split_once(name).map_or(0, |(_, rest)| number(rest));
            (of("min=\"")..=of("max=\"")).contains(&column)
        });
        let declared = declared.and_then(|declared| declared.split_once("/>")).map(|col| col.0);
        declared.and_then(|col| col.split_once("style=\"")).map_or(0, |(_, rest)| number(rest))
    }
}

fn number(text: &str) -> usize {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..digits].parse().expect("a number")
}
