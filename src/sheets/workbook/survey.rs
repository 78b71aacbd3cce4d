//! Every part of a package, inflated once and counted, before anything else looks at it.
//!
//! What an archive declares of itself is believed nowhere: a bomb declares little. On the way the
//! parts are scanned for what calamine does not tell, and what leads from one part to another is kept.

use std::collections::HashMap;
use std::io::Read;

use zip::read::{ZipArchive, ZipFile};
use zip::result::ZipError;

use super::scan::{FormulaError, RecordScan, Rows, Seen, XmlScan};
use super::{package, refuse};
use crate::error::{Error, Result};
use crate::sheets::at::At;
use crate::sheets::fault::{self, SAVE_AGAIN, fault};
use crate::sheets::{FileKind, HEAD, Limits};

/// A part is a bomb when it inflates past this …
const LARGE_PART: u64 = 100 << 20;
/// … at more than this many bytes for one.
const RATIO: u64 = 200;
/// Parts that lead to others are kept up to this size each; honest ones have a few KiB.
const KEPT: usize = 4 << 20;
/// How many bytes are looked at together; a longer tag is passed over.
const WINDOW: usize = 128 * 1024;

/// What was found.
#[derive(Debug)]
pub(super) struct Survey {
    /// What the package is.
    pub(super) kind: FileKind,
    /// What was seen in each sheet, in the order of the tabs, as far as the parts could be followed.
    sheets: Vec<Seen>,
}

impl Survey {
    /// Hidden rows of a sheet, by the place of its tab.
    pub(super) fn hidden_rows(&self, sheet: usize) -> u64 {
        self.sheets.get(sheet).and_then(|seen| seen.hidden.first()).copied().unwrap_or(0)
    }

    /// Formulas of a sheet whose result is an error, for the kinds where calamine passes over them.
    pub(super) fn errors(&self, sheet: usize) -> &[FormulaError] {
        self.sheets.get(sheet).map_or(&[], |seen| &seen.errors)
    }
}

/// Parts by path, in lower case and with forward slashes, as calamine looks them up.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// What was seen in parts that may be sheets.
    pub(super) seen: HashMap<String, Seen>,
    /// The bytes of parts that lead to others.
    pub(super) kept: HashMap<String, Vec<u8>>,
}

/// Surveys a package; where the `head` is enough, its sheets no further than that.
///
/// # Errors
/// When it is no spreadsheet, is damaged or encrypted, or larger than the limits.
pub(super) fn survey(at: &At, head: bool, limits: &Limits) -> Result<Survey> {
    let mut archive = ZipArchive::new(at.clone()).map_err(|error| broken(&error))?;
    let kind = package::kind(&mut archive)?;
    let size = at.size().map_err(crate::sheets::sniff::reading)?;
    let mut all = Inflating { kind, size, head, limits, total: 0, window: vec![0; WINDOW] };
    let mut parts = Parts::default();
    for index in 0..archive.len() {
        match archive.by_index(index) {
            Ok(part) => all.part(part, &mut parts)?,
            Err(ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED)) => {
                return Err(refuse::password());
            }
            Err(error) => return Err(broken(&error)),
        }
    }
    let sheets = package::sheets(kind, parts);
    Ok(Survey { kind, sheets })
}

fn broken(error: &ZipError) -> Error {
    match error {
        ZipError::CompressionMethodNotSupported(_) => fault(
            fault::UNREADABLE,
            format!("the file is packed in a way that spreadsheets are not; {SAVE_AGAIN}"),
        ),
        _ => refuse::damaged(),
    }
}

/// What is looked at in a part.
enum Scan {
    Nothing,
    Xml(Box<XmlScan>),
    Records(RecordScan),
}

struct Inflating<'a> {
    kind: FileKind,
    /// Bytes of the file.
    size: u64,
    /// Whether the head of each part is enough that is read row by row.
    head: bool,
    limits: &'a Limits,
    /// Bytes of all parts so far.
    total: u64,
    window: Vec<u8>,
}

impl Inflating<'_> {
    /// Inflates a part to its end.
    fn part<R: Read>(&mut self, mut part: ZipFile<'_, R>, parts: &mut Parts) -> Result<()> {
        let Some(path) = part.name().ok().map(|name| name.replace('\\', "/").to_ascii_lowercase())
        else {
            return Ok(());
        };
        // Not more than there is, whatever is declared.
        let packed = part.compressed_size().min(self.size).max(1);
        let matters = [".xml", ".rels", ".bin"].iter().any(|end| path.ends_with(end));
        let texts = path.ends_with("/sharedstrings.xml") || path.ends_with("/sharedstrings.bin");
        let mut scan = self.scan_for(&path);
        let mut seen = Seen::default();
        let mut kept = package::leads_on(&path).then(Vec::new);
        let (mut filled, mut inflated) = (0, 0);
        loop {
            let read = match part.read(&mut self.window[filled..]) {
                Ok(0) => break,
                Ok(read) => read,
                Err(_) if matters => return Err(refuse::damaged()),
                Err(_) => break,
            };
            inflated += read as u64;
            self.count(read as u64, inflated, packed, texts)?;
            if let Some(bytes) = &mut kept {
                bytes.extend_from_slice(&self.window[filled..filled + read]);
            }
            kept = kept.filter(|bytes| bytes.len() <= KEPT);
            filled += read;
            filled = self.look(filled, &mut scan, &mut seen);
            // What is loaded whole must be known to be harmless as a whole.
            if self.head && inflated >= HEAD && !texts && self.kind != FileKind::Ods {
                // How many there are in the whole sheet is not known.
                seen.hidden.clear();
                break;
            }
        }
        if seen.document_type && path != "meta-inf/manifest.xml" {
            return Err(document_type());
        }
        if let Some(bytes) = kept {
            parts.kept.insert(path.clone(), bytes);
        }
        parts.seen.insert(path, seen);
        Ok(())
    }

    fn scan_for(&self, path: &str) -> Scan {
        let rows = match self.kind {
            FileKind::Xlsx if path.ends_with("/sharedstrings.xml") => Rows::None,
            FileKind::Xlsx => Rows::Office,
            FileKind::Ods if path == "content.xml" => Rows::OpenDocument,
            _ => Rows::None,
        };
        if [".xml", ".rels"].iter().any(|end| path.ends_with(end)) {
            Scan::Xml(Box::new(XmlScan::new(rows)))
        } else if self.kind == FileKind::Xlsb && path.contains("sheets/") {
            Scan::Records(RecordScan::default())
        } else {
            Scan::Nothing
        }
    }

    /// Looks at what is in the window; gives how many bytes stay in it.
    fn look(&mut self, filled: usize, scan: &mut Scan, seen: &mut Seen) -> usize {
        let bytes = &self.window[..filled];
        let done = match scan {
            Scan::Nothing => filled,
            Scan::Xml(scan) => scan.eat(bytes, seen),
            Scan::Records(scan) => scan.eat(bytes, seen),
        };
        // What does not fit into the window as a whole is passed over.
        if done == 0 && filled == self.window.len() {
            return 0;
        }
        self.window.copy_within(done..filled, 0);
        filled - done
    }

    fn count(&mut self, read: u64, inflated: u64, packed: u64, texts: bool) -> Result<()> {
        self.total += read;
        if inflated > LARGE_PART && inflated / packed > RATIO {
            return Err(fault(
                fault::BOMB,
                format!(
                    "a part of the file unpacks to more than {} at more than {RATIO} bytes for one, \
                     as no table does; delete empty formatted rows and columns, and {SAVE_AGAIN}",
                    mebibytes(LARGE_PART)
                ),
            ));
        }
        if texts && inflated > self.limits.text {
            return Err(fault(
                fault::TEXT,
                format!(
                    "the texts of the workbook take more than {}; save the sheet as CSV, which is \
                     read row by row, or split it into several files",
                    mebibytes(self.limits.text)
                ),
            ));
        }
        if self.total > self.limits.inflated {
            return Err(fault(
                fault::INFLATED,
                format!(
                    "the file unpacks to more than {}; split it into several files, or delete \
                     sheets and pictures that are not needed",
                    mebibytes(self.limits.inflated)
                ),
            ));
        }
        Ok(())
    }
}

fn document_type() -> Error {
    fault(
        fault::ENTITIES,
        format!(
            "cannot read the file: it holds a document type definition, which spreadsheet programs \
             never write and attackers do; {SAVE_AGAIN}"
        ),
    )
}

fn mebibytes(bytes: u64) -> String {
    if bytes >= 1 << 20 { format!("{} MiB", bytes >> 20) } else { format!("{bytes} bytes") }
}
