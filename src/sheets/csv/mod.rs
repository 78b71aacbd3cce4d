//! Separated values: RFC 4180, and what spreadsheet programs make of it.
//!
//! Every record is a row, blank lines too, as a spreadsheet counts them. A field that begins with a
//! quote ends with one, and holds what is between, line ends and delimiters too; text behind the
//! closing quote is added as it is, as Excel does, so `"a"b` is `ab`. A quote anywhere else is a
//! quote. `sep=;` in the first line names the delimiter and is no row. The `'` by which our own files
//! keep a text from being run as a formula is taken off again.

mod delimiter;
mod records;

use std::io::{Cursor, Read};

use self::records::{Record, Records};
use super::at::At;
use super::sniff::reading;
use super::text::{Decoded, find};
use super::{Cell, FileKind, Limits, Outline, SheetSink};
use crate::error::Result;
use crate::rows::is_plain_number;
use crate::runs::Stop;
use crate::sheets::fault::{self, fault, letters};

/// How much of a file the delimiter is found in.
const SAMPLE: u64 = 64 * 1024;

/// Reads a file.
///
/// # Errors
/// When its encoding is not known, a quote is not closed, or something in it is larger than it may
/// be; and the sink's own.
pub(super) fn read(at: &At, limits: &Limits, stop: &Stop, sink: &mut dyn SheetSink) -> Result<()> {
    let encoding = find(at, true, stop)?;
    let mut text = Decoded::new(at, encoding).map_err(reading)?;
    let mut sample = Vec::new();
    text.by_ref().take(SAMPLE).read_to_end(&mut sample).map_err(reading)?;
    let found = delimiter::find(&sample, (sample.len() as u64) < SAMPLE);
    sink.begin(&Outline {
        kind: FileKind::Csv,
        encoding: Some(encoding.name.into()),
        delimiter: Some(char::from(found.delimiter)),
        sheets: Vec::new(),
        sheet: None,
    })?;
    let rest = Cursor::new(&sample[found.skip..]).chain(text);
    let mut records = Records::new(rest, found.delimiter);
    while let Some(record) = records.next()? {
        stop.check()?;
        give(&record, limits, sink)?;
    }
    Ok(())
}

/// Gives a record to the sink, if it holds anything.
fn give(record: &Record<'_>, limits: &Limits, sink: &mut dyn SheetSink) -> Result<()> {
    let mut cells: Vec<_> = record.fields().map(|(text, quoted)| cell(text, quoted)).collect();
    let width = cells.iter().rposition(|cell| *cell != Cell::Empty).map_or(0, |last| last + 1);
    cells.truncate(width);
    if width as u64 > u64::from(limits.columns) {
        return Err(fault(
            fault::COLUMNS,
            format!(
                "row {} has {width} values, and at most {} columns are read, up to {}; take out \
                 those that are not needed",
                record.number,
                limits.columns,
                letters(u64::from(limits.columns).saturating_sub(1))
            ),
        ));
    }
    if cells.is_empty() { Ok(()) } else { sink.row(record.number, &cells) }
}

fn cell(text: &str, quoted: bool) -> Cell<'_> {
    if text.is_empty() && !quoted { Cell::Empty } else { Cell::Text(unguarded(text)) }
}

/// A text without the guard that `formats::csv` puts before what a spreadsheet would run.
fn unguarded(text: &str) -> &str {
    match text.strip_prefix('\'') {
        Some(rest) if rest.starts_with(['=', '+', '-', '@', '\t', '\r']) => {
            if is_plain_number(rest) { text } else { rest }
        }
        _ => text,
    }
}
