//! Packages (ZIP): which kind of document one is, and which of its parts is which sheet.

use std::collections::HashMap;
use std::io::{Read, Seek};

use calamine::{Ods, Reader as _};
use zip::read::ZipArchive;

use super::scan::Seen;
use super::survey::{Parts, survey};
use super::tags::{Tag, tags};
use super::{Job, dense, refuse, xlsb, xlsx};
use crate::error::Result;
use crate::sheets::FileKind;
use crate::sheets::at::At;
use crate::sheets::sniff::unsupported;

/// The types that `OpenDocument` files and those like them begin with.
const SPREADSHEET: &str = "application/vnd.oasis.opendocument.spreadsheet";
/// Bytes of a type that are looked at.
const TYPE: u64 = 100;

/// Documents by a part that they have, and what they are.
const OTHERS: &[(&str, &str)] = &[
    ("word/", "a Word document"),
    ("ppt/", "a PowerPoint presentation"),
    ("visio/", "a Visio drawing"),
    ("index/", "a document of Apple Numbers, Pages or Keynote"),
    ("index.zip", "a document of Apple Numbers, Pages or Keynote"),
    ("meta-inf/manifest.mf", "a Java archive"),
];

/// Reads a package.
pub(super) fn read(at: &At, job: &mut Job<'_>) -> Result<()> {
    let survey = survey(at, job.head, job.limits)?;
    match survey.kind {
        FileKind::Xlsb => xlsb::read(at, &survey, job),
        FileKind::Ods => ods(at, |sheet| survey.hidden_rows(sheet), job),
        _ => xlsx::read(at, &survey, job),
    }
}

fn ods(at: &At, hidden_rows: impl Fn(usize) -> u64, job: &mut Job<'_>) -> Result<()> {
    let mut book = Ods::new(at.clone()).map_err(|error| refuse::ods(&error))?;
    let tabs = book.sheets_metadata().to_vec();
    let sheet = job.begin(FileKind::Ods, &tabs)?;
    let name = &tabs[sheet].name;
    job.hidden_rows(name, hidden_rows(sheet))?;
    let values = book.worksheet_range(name).map_err(|error| refuse::ods(&error))?;
    let formulas = book.worksheet_formula(name).map_err(|error| refuse::ods(&error))?;
    drop(book);
    dense::give(&values, Some(&formulas), false, job)
}

/// Tells which kind of spreadsheet a package is.
pub(super) fn kind<R: Read + Seek>(archive: &mut ZipArchive<R>) -> Result<FileKind> {
    let names: Vec<String> = archive
        .file_names()
        .filter_map(|name| Some(name.ok()?.replace('\\', "/").to_ascii_lowercase()))
        .collect();
    let has = |wanted: &str| names.iter().any(|name| name == wanted);
    if let Ok(part) = archive.by_name("mimetype") {
        let mut kind = String::new();
        // What is no text is no type.
        let _ = part.take(TYPE).read_to_string(&mut kind);
        return open_document(kind.trim());
    }
    if has("xl/workbook.bin") {
        return Ok(FileKind::Xlsb);
    }
    if has("[content_types].xml") && names.iter().any(|name| name.starts_with("xl/")) {
        return Ok(FileKind::Xlsx);
    }
    let begins = |begin: &str| names.iter().any(|name| name.starts_with(begin));
    Err(unsupported(match OTHERS.iter().find(|(begin, _)| begins(begin)) {
        Some((_, what)) => what,
        None if has("[content_types].xml") => return Ok(FileKind::Xlsx),
        None => "a ZIP archive and no spreadsheet (unpack it, and send what is in it)",
    }))
}

fn open_document(kind: &str) -> Result<FileKind> {
    if kind.starts_with(SPREADSHEET) {
        return Ok(FileKind::Ods);
    }
    Err(unsupported(match kind {
        "application/hwp+zip" => "a Hangul document (HWPX)",
        "application/epub+zip" => "a book (EPUB)",
        kind if kind.starts_with("application/vnd.oasis.opendocument.") => {
            "an OpenDocument file and no spreadsheet"
        }
        _ => "a ZIP archive and no spreadsheet",
    }))
}

/// Whether a part is needed to find out which parts are the sheets.
pub(super) fn leads_on(path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or(path);
    path == "_rels/.rels" || file.contains("workbook")
}

/// What was seen in the sheets, in the order of the tabs; nothing where they cannot be followed.
pub(super) fn sheets(kind: FileKind, mut parts: Parts) -> Vec<Seen> {
    let paths = match kind {
        FileKind::Xlsx => office_paths(&parts).unwrap_or_default(),
        FileKind::Xlsb => binary_paths(&parts).unwrap_or_default(),
        FileKind::Ods => {
            let content = parts.seen.remove("content.xml").unwrap_or_default();
            let table = |hidden| Seen { hidden: vec![hidden], ..Seen::default() };
            return content.hidden.into_iter().map(table).collect();
        }
        FileKind::Xls | FileKind::Csv | FileKind::Ndjson | FileKind::Json => Vec::new(),
    };
    let seen = paths.into_iter().map(|path| parts.seen.remove(&path.to_ascii_lowercase()));
    seen.map(Option::unwrap_or_default).collect()
}

/// Paths of the sheets of xlsx: package → workbook → relationships.
fn office_paths(parts: &Parts) -> Option<Vec<String>> {
    let package = parts.kept.get("_rels/.rels")?;
    let main = tags(package).find(|tag| {
        let kind = tag.attribute(b"Type").unwrap_or_default();
        tag.name() == b"Relationship" && kind.ends_with(b"/officeDocument")
    })?;
    let main = main.text(b"Target")?;
    let main = main.trim_start_matches('/');
    let (folder, file) = main.rsplit_once('/').map_or(("", main), |(folder, file)| (folder, file));
    let folder = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    let kept = |path: String| parts.kept.get(&path.to_ascii_lowercase());
    let targets = targets(kept(format!("{folder}_rels/{file}.rels"))?);
    let sheets = tags(kept(main.to_owned())?).filter(|tag| tag.name() == b"sheet");
    let path = |tag: Tag<'_>| {
        let target = targets.get(tag.attribute(b"id").unwrap_or_default());
        let target = target.map(String::as_str).unwrap_or_default();
        target.strip_prefix('/').map_or_else(|| format!("{folder}{target}"), str::to_owned)
    };
    Some(sheets.map(path).collect())
}

/// Targets of relationships by their ids.
fn targets(relationships: &[u8]) -> HashMap<Vec<u8>, String> {
    let pair = |tag: Tag<'_>| Some((tag.attribute(b"Id")?.to_vec(), tag.text(b"Target")?));
    tags(relationships).filter(|tag| tag.name() == b"Relationship").filter_map(pair).collect()
}

/// Paths of the sheets of xlsb: the records `BrtBundleSh` (MS-XLSB 2.4.311) of the workbook.
fn binary_paths(parts: &Parts) -> Option<Vec<String>> {
    const BUNDLE: u16 = 0x009C;
    let targets = targets(parts.kept.get("xl/_rels/workbook.bin.rels")?);
    let mut rest = parts.kept.get("xl/workbook.bin")?.as_slice();
    let mut paths = Vec::new();
    while let Some((kind, length, head)) = super::scan::record(rest) {
        let body = rest.get(head..head + length)?;
        rest = &rest[head + length..];
        let id_length = body.get(8..12).and_then(|bytes| bytes.first_chunk());
        let id_length = id_length.map(|bytes| u32::from_le_bytes(*bytes));
        if let (BUNDLE, Some(length @ 0..0xFFFF)) = (kind, id_length) {
            // UTF-16 of ids that are ASCII.
            let id = body.get(12..12 + 2 * length as usize)?.iter().step_by(2).copied();
            let target = targets.get(&id.collect::<Vec<u8>>())?;
            paths.push(format!("xl/{target}"));
        }
    }
    Some(paths)
}
