//! OLE compound files: xls, what is encrypted, and documents of other programs.

use std::io::{BufReader, ErrorKind, Read};

use calamine::{Reader as _, Xls, XlsError, Xlsx, XlsxError};
use memchr::memmem::find;

use super::{Job, dense, refuse};
use crate::error::{Error, Result};
use crate::sheets::FileKind;
use crate::sheets::at::At;
use crate::sheets::sniff::{reading, unsupported};

/// Streams that other programs' documents have, and what those are.
const OTHERS: &[(&str, &str)] = &[
    ("WordDocument", "a Word document"),
    ("PowerPoint Document", "a PowerPoint presentation"),
    ("HwpSummaryInformation", "a Hangul document (HWP)"),
    ("__properties_version1.0", "an Outlook message"),
    ("VisioDocument", "a Visio drawing"),
];

/// Sectors are at least this long, and streams begin with one.
const SECTOR: usize = 512;
/// How many bytes are looked at together.
const WINDOW: usize = 128 * 1024;
/// The record that a workbook's stream begins with (MS-XLS 2.4.21), as Excel 97 and later write it.
const BEGIN: &[u8] = &[0x09, 0x08, 0x10, 0x00, 0x00, 0x06, 0x05, 0x00];
/// The record that says that what follows is encrypted (MS-XLS 2.4.117).
const FILE_PASS: u16 = 0x002F;

/// Reads a compound file.
pub(super) fn read(at: &At, job: &mut Job<'_>) -> Result<()> {
    if matches!(Xlsx::new(at.clone()), Err(XlsxError::Password)) || is_obfuscated(at)? {
        return Err(refuse::password());
    }
    let mut book = match Xls::new(at.clone()) {
        Ok(book) => book,
        Err(XlsError::Cfb(_)) => return Err(no_book(at)?),
        Err(error) => return Err(refuse::xls(&error)),
    };
    let tabs = book.sheets_metadata().to_vec();
    let sheet = job.begin(FileKind::Xls, &tabs)?;
    let name = &tabs[sheet].name;
    let from_1904 = book.has_1904_epoch();
    let values = book.worksheet_range(name).map_err(|error| refuse::xls(&error))?;
    drop(book);
    dense::give(&values, None, from_1904, job)
}

/// Whether a workbook has Excel's oldest protection, whose number is 0 and which calamine therefore
/// takes for none, giving scrambled cells.
fn is_obfuscated(at: &At) -> Result<bool> {
    let mut sectors = BufReader::with_capacity(WINDOW, at.clone());
    let mut sector = [0; SECTOR];
    loop {
        match sectors.read_exact(&mut sector) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(false),
            Err(error) => return Err(reading(error)),
        }
        if sector.starts_with(BEGIN) {
            return Ok(has_file_pass(&sector));
        }
    }
}

/// Whether one of the records that a sector begins with is the one; it comes among the first.
fn has_file_pass(mut records: &[u8]) -> bool {
    while let Some((&[a, b, c, d], rest)) = records.split_first_chunk() {
        if u16::from_le_bytes([a, b]) == FILE_PASS {
            return true;
        }
        let Some(rest) = rest.get(usize::from(u16::from_le_bytes([c, d]))..) else { break };
        records = rest;
    }
    false
}

/// The refusal of a compound file without a workbook: by what it is, if that is known.
fn no_book(at: &At) -> Result<Error> {
    /// Longer than any name.
    const OVERLAP: usize = 128;
    let mut at = at.clone();
    let mut window = vec![0; WINDOW];
    let mut filled = 0;
    loop {
        let read = at.read(&mut window[filled..]).map_err(reading)?;
        if read == 0 {
            return Ok(refuse::damaged());
        }
        filled += read;
        let has = |name: &str| {
            let name: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
            find(&window[..filled], &name).is_some()
        };
        if let Some((_, what)) = OTHERS.iter().find(|(stream, _)| has(stream)) {
            return Ok(unsupported(what));
        }
        let kept = filled.min(OVERLAP);
        window.copy_within(filled - kept..filled, 0);
        filled = kept;
    }
}
