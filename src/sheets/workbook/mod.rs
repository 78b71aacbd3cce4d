//! Spreadsheets to rows: what the child process does, and what tests do in theirs.
//!
//! The only user of calamine. xlsx and xlsb are read row by row, xls and ods are loaded whole, as
//! calamine has it. Everything a file can do to memory or time is bounded from outside, by the
//! process that this runs in; what can be said beforehand is found by the survey.

mod cells;
mod choose;
mod dense;
mod iso;
mod ole;
mod package;
mod refuse;
mod scan;
mod survey;
mod tags;
mod xlsb;
mod xlsx;

use std::fs::File;
use std::sync::Arc;

pub(super) use self::refuse::{memory, unreadable};
use super::at::At;
use super::sniff::{reading, unsupported};
use super::{FileKind, Limits, Outline, Remark, SheetInfo, SheetSink, Wanted};
use crate::error::Result;

/// What every kind of spreadsheet is read with.
pub(super) struct Job<'a> {
    pub(super) wanted: &'a Wanted,
    pub(super) limits: &'a Limits,
    /// Whether the head of the file is enough.
    pub(super) head: bool,
    pub(super) sink: &'a mut dyn SheetSink,
    pub(super) remarks: Vec<Remark>,
}

/// Reads the spreadsheet in `file` from its beginning, wherever its offset stands.
///
/// # Errors
/// When the file is no spreadsheet, is damaged, protected or larger than the limits, or does not
/// have the sheet wanted; and the sink's own.
pub(super) fn read(
    file: Arc<File>,
    head: bool,
    wanted: &Wanted,
    limits: &Limits,
    sink: &mut dyn SheetSink,
) -> Result<Vec<Remark>> {
    let at = At::start(file);
    let mut begin = [0; 4];
    at.head(&mut begin).map_err(reading)?;
    let mut job = Job { wanted, limits, head, sink, remarks: Vec::new() };
    match &begin {
        b"PK\x03\x04" | b"PK\x05\x06" => package::read(&at, &mut job)?,
        b"\xD0\xCF\x11\xE0" => ole::read(&at, &mut job)?,
        _ => return Err(unsupported("no spreadsheet")),
    }
    Ok(job.remarks)
}

impl Job<'_> {
    /// Chooses the sheet to read, tells the sink what the file is, and gives the sheet's place.
    fn begin(&mut self, kind: FileKind, tabs: &[calamine::Sheet]) -> Result<usize> {
        let sheet = choose::choose(tabs, self.wanted, &mut self.remarks)?;
        let sheets = tabs
            .iter()
            .map(|tab| SheetInfo { name: tab.name.clone(), visible: choose::is_visible(tab) })
            .collect();
        let outline = Outline { kind, encoding: None, delimiter: None, sheets, sheet: Some(sheet) };
        self.sink.begin(&outline)?;
        for remark in &self.remarks {
            self.sink.remark(remark)?;
        }
        Ok(sheet)
    }

    /// Remarks that so many rows of the sheet are hidden.
    fn hidden_rows(&mut self, sheet: &str, count: u64) -> Result<()> {
        let how_many = match count {
            0 => return Ok(()),
            1 => "1 row of the sheet".to_owned(),
            count => format!("{count} rows of the sheet"),
        };
        let remark = Remark {
            code: "hidden_rows".into(),
            detail: format!(
                "hidden by a filter or by hand, and read like the others: {how_many} \"{sheet}\""
            ),
        };
        self.sink.remark(&remark)?;
        self.remarks.push(remark);
        Ok(())
    }
}
