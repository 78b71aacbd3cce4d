//! A workbook as it is received: kept in a file, since its directory stands at its end, and then read
//! part by part without taking it apart any further and without the server's own code.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use zip::ZipArchive;

use crate::error::{Doing, Error, Result};
use crate::scan::{Counted, Scanner, Sum};

/// Bytes of a part that are held at once.
const PIECE: usize = 64 << 10;

/// Keeps a workbook as it comes and counts it when it is whole.
#[derive(Debug)]
pub(crate) struct Workbook {
    path: PathBuf,
    file: File,
    /// The place of the column that is added up, from 0.
    place: usize,
    failed: Option<Error>,
    /// Rows of each sheet, without its header, once they are counted.
    pub(crate) sheets: Vec<u64>,
}

impl Workbook {
    /// Keeps it at `path` until it is dropped.
    ///
    /// # Errors
    /// A file that cannot be made.
    pub(crate) fn keep(path: PathBuf, place: usize) -> Result<Self> {
        let file = File::create(&path).doing(format!("making {}", path.display()))?;
        Ok(Self { path, file, place, failed: None, sheets: Vec::new() })
    }
}

impl Drop for Workbook {
    fn drop(&mut self) {
        // The directory that it lies in goes as well.
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Scanner for Workbook {
    fn feed(&mut self, bytes: &[u8]) {
        if self.failed.is_none() {
            let written = self.file.write_all(bytes);
            self.failed = written.doing(format!("writing {}", self.path.display())).err();
        }
    }

    fn finish(&mut self) -> Result<Counted> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let (sheets, counted) = read(&self.path, self.place)?;
        self.sheets = sheets;
        Ok(counted)
    }
}

/// Rows of each sheet, and of all of them with the sum of a column.
///
/// # Errors
/// A file that is no whole workbook; a cell of the column that is no whole number.
pub(crate) fn read(path: &Path, place: usize) -> Result<(Vec<u64>, Counted)> {
    let about = format!("reading the workbook {}", path.display());
    let mut archive = ZipArchive::new(File::open(path).doing(&about)?).doing(&about)?;
    let cell = format!("<c r=\"{}", letters(place)).into_bytes();
    let (mut sheets, mut sum) = (Vec::new(), Sum::default());
    for index in 0..archive.len() {
        let part = archive.by_index(index).doing(&about)?;
        if part.name().doing(&about)?.starts_with("xl/worksheets/sheet") {
            let part = BufReader::with_capacity(PIECE, part);
            sheets.push(sheet(part, &cell, &mut sum).doing(&about)?);
        }
    }
    let counted = sum.finish(sheets.iter().sum())?;
    Ok((sheets, counted))
}

/// Counts the rows of a sheet without its header, and adds up the values of cells that begin like
/// this and go on with a row's number.
fn sheet(mut part: impl BufRead, cell: &[u8], sum: &mut Sum) -> std::io::Result<u64> {
    let (mut rows, mut inside) = (0_u64, false);
    let mut piece = Vec::new();
    while part.read_until(b'>', &mut piece)? > 0 {
        let begin = piece.iter().rposition(|byte| *byte == b'<').unwrap_or(0);
        let (text, tag) = piece.split_at(begin);
        if tag.starts_with(b"<row ") {
            rows += 1;
        } else if tag.starts_with(b"<c ") {
            let rest = tag.strip_prefix(cell).and_then(|rest| rest.first());
            inside = rows > 1 && rest.is_some_and(u8::is_ascii_digit);
        } else if inside && tag == b"</v>" {
            sum.add(text, b"");
        }
        piece.clear();
    }
    Ok(rows.saturating_sub(1))
}

/// A column's name in a spreadsheet: A to Z, AA, AB and so on.
fn letters(place: usize) -> String {
    let (before, last) = (place / 26, place % 26);
    let rest = if before == 0 { String::new() } else { letters(before - 1) };
    let last = u8::try_from(last).map_or('A', |last| char::from(b'A' + last));
    format!("{rest}{last}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_counted_without_the_header_and_a_column_is_added_up() {
        let part = "<sheetData><row r=\"1\"><c r=\"B1\" t=\"inlineStr\"><is><t>a</t></is></c></row>\
                    <row r=\"2\"><c r=\"A2\"><v>7</v></c><c r=\"B2\" s=\"1\"><v>5</v></c></row>\
                    <row r=\"3\"><c r=\"B3\"><v>-8</v></c><c r=\"BB3\"><v>9</v></c></row></sheetData>";
        let mut sum = Sum::default();
        assert_eq!(sheet(part.as_bytes(), b"<c r=\"B", &mut sum).unwrap(), 2);
        assert_eq!(sum.finish(2).unwrap(), Counted { rows: 2, sum: -3 });
    }

    #[test]
    fn columns_are_named_as_in_a_spreadsheet() {
        for (place, name) in [(0, "A"), (11, "L"), (25, "Z"), (26, "AA"), (701, "ZZ"), (702, "AAA")]
        {
            assert_eq!(letters(place), name);
        }
    }

    #[test]
    fn what_was_cut_off_is_an_error() {
        let path = std::env::temp_dir().join(format!("tallyroll-cut-{}", std::process::id()));
        let mut book = Workbook::keep(path, 0).unwrap();
        book.feed(b"PK\x03\x04 and no more");
        assert!(book.finish().is_err());
    }
}
