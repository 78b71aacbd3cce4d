//! One workbook beside another, cell by cell.

use std::collections::BTreeMap;

use super::{part, read};

/// What a cell holds: its type, its value (a number by its bits), its number format.
type Cell = (String, String, String);

/// Fails unless both have the same sheets with the same cells, by their XML and as calamine reads them.
pub(super) fn assert_alike(book: &[u8], other: &[u8]) {
    let (sheets, others) = (read(book), read(other));
    assert_eq!(sheets, others);
    for number in 1..=sheets.len() {
        let path = format!("xl/worksheets/sheet{number}.xml");
        let (cells, expected) = (cells(book, &path), cells(other, &path));
        for (place, cell) in &expected {
            assert_eq!(cells.get(place), Some(cell), "{path} {place}");
        }
        assert_eq!(cells.len(), expected.len(), "{path}");
        let around = |book: &[u8]| {
            let sheet = part(book, &path);
            let ends = ["</sheetData>", "<sheetData/>"];
            let (_, after) = ends.iter().find_map(|end| sheet.split_once(end)).unwrap();
            let views = sheet.split_once("<sheetViews>").unwrap().1;
            (views.split_once("</sheetViews>").unwrap().0.to_owned(), after.to_owned())
        };
        assert_eq!(around(book), around(other));
    }
    for path in ["xl/workbook.xml", "docProps/app.xml", "docProps/core.xml"] {
        assert_eq!(part(book, path), part(other, path));
    }
}

fn cells(book: &[u8], path: &str) -> BTreeMap<String, Cell> {
    let formats = formats(&part(book, "xl/styles.xml"));
    let sheet = part(book, path);
    let shared = shared(book);
    // A cell that holds nothing is none.
    let cells = sheet.split("<c r=\"").skip(1).filter_map(|cell| {
        let (place, rest) = cell.split_once('"').unwrap();
        let (attributes, content) = rest.split_once('>').unwrap();
        let attribute = |name: &str| {
            let (_, value) = attributes.split_once(&format!(" {name}=\""))?;
            value.split_once('"').map(|(value, _)| value)
        };
        let style: usize = attribute("s").unwrap_or("0").parse().unwrap();
        if attributes.ends_with('/') {
            return None;
        }
        let kind = attribute("t").unwrap_or("n");
        let content = content.split_once("</c>").unwrap().0;
        let value = match kind {
            "n" => {
                let number: f64 = between(content, "<v>", "</v>").parse().unwrap();
                format!("{:x}", number.to_bits())
            }
            "b" => between(content, "<v>", "</v>").to_owned(),
            "inlineStr" => {
                let text = between(content, "<is><t", "</t></is>");
                let (attributes, text) = text.split_once('>').unwrap();
                let ends = text.starts_with([' ', '\t', '\n']) || text.ends_with([' ', '\t', '\n']);
                assert_eq!(attributes == " xml:space=\"preserve\"", ends, "{content}");
                plain(text)
            }
            "s" => {
                let number: usize = between(content, "<v>", "</v>").parse().unwrap();
                plain(&shared[number])
            }
            other => panic!("a cell of the type {other}"),
        };
        // Where a text is kept makes no difference.
        let kind = if kind == "s" { "inlineStr" } else { kind };
        Some((place.to_owned(), (kind.to_owned(), value, formats[style].clone())))
    });
    cells.collect()
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    text.split_once(before).unwrap().1.rsplit_once(after).unwrap().0
}

/// The texts that cells share, as they stand in the XML.
pub(super) fn shared(book: &[u8]) -> Vec<String> {
    let archive = zip::ZipArchive::new(std::io::Cursor::new(book)).unwrap();
    if archive.index_for_name("xl/sharedStrings.xml").is_none() {
        return Vec::new();
    }
    let listed = part(book, "xl/sharedStrings.xml");
    let texts = listed.split("<si><t").skip(1);
    let text = |text: &str| {
        let text = text.split_once("</t></si>").unwrap().0;
        text.split_once('>').unwrap().1.to_owned()
    };
    texts.map(text).collect()
}

/// The number formats of a workbook, by style.
fn formats(styles: &str) -> Vec<String> {
    let own: BTreeMap<&str, &str> = styles
        .split("<numFmt numFmtId=\"")
        .skip(1)
        .map(|format| {
            let (id, rest) = format.split_once("\" formatCode=\"").unwrap();
            (id, rest.split_once('"').unwrap().0)
        })
        .collect();
    let used = between(styles, "<cellXfs", "</cellXfs>");
    let format = |style: &str| {
        let id = style.split_once("numFmtId=\"").unwrap().1.split_once('"').unwrap().0;
        own.get(id).map_or_else(|| id.to_owned(), |code| (*code).to_owned())
    };
    used.split("<xf ").skip(1).map(format).collect()
}

/// A text as a reader takes it: without XML's escapes, then without Excel's.
fn plain(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    let mut plain = String::new();
    let mut rest = &*text;
    while let Some(at) = rest.find("_x") {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let digits = rest.get(2..6).filter(|_| rest.as_bytes().get(6) == Some(&b'_'));
        let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let escape = if let Some(character) = code.and_then(char::from_u32) {
            plain.push(character);
            7
        } else {
            plain.push_str("_x");
            2
        };
        rest = &rest[escape..];
    }
    plain + rest
}

#[test]
fn excels_escapes_are_read_once() {
    assert_eq!(plain("a_x000B_b &amp;lt;"), "a\u{b}b &lt;");
    assert_eq!(plain("_x005F_x0041_ _x004"), "_x0041_ _x004");
}
