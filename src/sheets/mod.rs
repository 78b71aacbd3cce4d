//! Files to rows: xlsx, xlsb, xls, ods, CSV, NDJSON and JSON arrays, told by content and never by name.
//!
//! [`Reader::read`] pushes a file's rows into a [`SheetSink`], each with the number that a person sees
//! beside it. Spreadsheets are read in a child process of our own binary, because a kilobyte of upload
//! can make a reader allocate terabytes and no caller survives that; texts are read here. What a file
//! is and what is wrong with it is said in words for whoever sent it. Nothing here knows what the
//! rows mean, HTTP or a database. Everything blocks.

mod at;
pub mod child;
mod csv;
mod fault;
mod frames;
mod json;
mod parent;
mod sniff;
mod text;
pub(crate) mod wire;
mod workbook;

#[cfg(test)]
mod tests;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use self::at::At;
pub(crate) use self::fault::{letters, listed};
use self::sniff::Found;
use crate::error::Result;
use crate::runs::Stop;

/// The head of a file: how much of a text is read, and of each sheet before its rows are given.
const HEAD: u64 = 8 << 20;

/// A cell as the file has it, before anybody asks what it should be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// Nothing, or a style alone.
    Empty,
    /// A text, as it is.
    Text(&'a str),
    /// A number of a spreadsheet: a binary float, whatever was typed.
    Number(f64),
    /// A number whose digits are known (JSON).
    Digits(&'a str),
    /// A number shown as a date or time, as Excel counts days, also where the workbook counts from
    /// 1904: 1 is 1900-01-01, 60 a day that there never was, 61 is 1900-03-01.
    Serial(f64),
    /// A date, a time of day or both in ISO 8601, without a zone unless one is written.
    Iso(&'a str),
    /// A number of days that is a duration and no date.
    Duration(f64),
    /// True or false.
    Bool(bool),
    /// What a formula could not calculate, such as `#N/A`.
    Error(&'a str),
    /// A formula whose result the file does not hold.
    Unevaluated,
    /// An array or object, on one line (JSON).
    Json(&'a str),
}

/// What a file turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    /// Office Open XML.
    Xlsx,
    /// The binary form of it.
    Xlsb,
    /// Excel 97–2003.
    Xls,
    /// `OpenDocument`.
    Ods,
    /// Separated values.
    Csv,
    /// A JSON object on each line.
    Ndjson,
    /// One JSON array of objects.
    Json,
}

/// One sheet of a spreadsheet.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SheetInfo {
    /// Its name.
    pub name: String,
    /// Whether a person sees it without looking for it.
    pub visible: bool,
}

/// What is known of a file before its rows.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Outline {
    /// What it is.
    pub kind: FileKind,
    /// How its text is encoded: `UTF-8`, `UTF-16LE`, `UTF-16BE` or `CP949`; nothing for spreadsheets.
    pub encoding: Option<String>,
    /// What separates values, in CSV.
    pub delimiter: Option<char>,
    /// The sheets of a spreadsheet, in the order of its tabs.
    pub sheets: Vec<SheetInfo>,
    /// Which of them is read, counted from 0.
    pub sheet: Option<usize>,
}

/// Something worth knowing about a file that was read nevertheless.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Remark {
    /// A stable `snake_case` word: `hidden_sheets`, `hidden_rows`.
    pub code: String,
    /// What and how many, in words.
    pub detail: String,
}

/// Which sheet is wanted: by name, else by number counted from 1, else the first visible one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// A name or a number as it was asked for.
    pub sheet: Option<String>,
}

/// How much a file may hold.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Columns of a row.
    pub columns: u32,
    /// Bytes of a workbook's shared texts.
    pub text: u64,
    /// Bytes of everything in an archive once it is inflated.
    pub inflated: u64,
    /// How long a spreadsheet may take to be read.
    pub time: Duration,
}

/// Takes the rows of a file.
pub trait SheetSink {
    /// What the file is; called once, before anything else.
    ///
    /// # Errors
    /// The sink's own; reading then ends.
    fn begin(&mut self, outline: &Outline) -> Result<()>;

    /// The keys of JSON objects, in the order of their first appearance: called before the first row,
    /// and again with all of them when a later object has one more. Never called for other files.
    ///
    /// # Errors
    /// The sink's own; reading then ends.
    fn keys(&mut self, keys: &[String]) -> Result<()>;

    /// Something worth knowing, as soon as it is known: before the rows. The reading gives all of them
    /// at its end, so that whoever goes that far need not listen.
    ///
    /// # Errors
    /// The sink's own; reading then ends.
    fn remark(&mut self, _remark: &Remark) -> Result<()> {
        Ok(())
    }

    /// The same for keys that a later object brings; `place` says where it stands, in words such as
    /// `line 7`.
    ///
    /// # Errors
    /// The sink's own; reading then ends.
    fn more_keys(&mut self, keys: &[String], place: &str) -> Result<()> {
        let _ = place;
        self.keys(keys)
    }

    /// A row that holds something, with its number as a person sees it: the sheet's row, the record of
    /// a CSV file as a spreadsheet counts it, the line of an NDJSON file, the element of an array, all
    /// from 1. Numbers only grow; empty rows are left out, but each JSON object is a row, also one
    /// that holds nothing. `cells` begins with the first column and ends with the last one that holds
    /// something. An empty text is a text in CSV (`""`) and JSON; in a spreadsheet it is nothing.
    ///
    /// # Errors
    /// The sink's own; reading then ends.
    fn row(&mut self, number: u64, cells: &[Cell<'_>]) -> Result<()>;

    /// Says that nothing is there to be read for the moment.
    fn idle(&mut self) {}
}

/// Reads files.
#[derive(Debug, Clone)]
pub struct Reader {
    /// The binary that reads spreadsheets as a child process: our own.
    pub program: PathBuf,
    /// What a file may hold.
    pub limits: Limits,
}

impl Reader {
    /// Reads a file to its end: `sink` is told what it is, then gets its rows. Blocks; a spreadsheet's
    /// rows come from a child process, which is gone when this returns, and is started and watched by
    /// the calling thread, with which it dies.
    ///
    /// The time limit counts the reading alone, not what the sink does with the rows. `stop` is looked
    /// at before each row of a text, and every 50 ms while the child is silent.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::error::Error::Invalid) with one problem for whatever is wrong with
    /// the file, in words for whoever sent it: the parameter is `file`, or `sheet` where that names
    /// none; the codes are in `fault.rs`. Rows may have been given before. Further the sink's own
    /// errors, that of `stop`, and failures of ours.
    pub fn read(
        &self,
        path: &Path,
        wanted: &Wanted,
        stop: &Stop,
        sink: &mut dyn SheetSink,
    ) -> Result<Vec<Remark>> {
        let at = At::start(Arc::new(File::open(path).map_err(sniff::reading)?));
        self.go(&at, false, wanted, stop, sink)
    }

    /// Reads the head of a file: as [`Reader::read`] does as far as the sink goes on, but of a text no
    /// more than its first 8 MiB, by which its encoding is told, and of a spreadsheet's sheets no more
    /// than that either before its rows are given. A sheet that goes on behind it has its hidden rows
    /// not remarked. What can only be loaded whole (xls, ods) is.
    ///
    /// # Errors
    /// As [`Reader::read`]; that the head is over is none.
    pub fn read_head(
        &self,
        path: &Path,
        wanted: &Wanted,
        stop: &Stop,
        sink: &mut dyn SheetSink,
    ) -> Result<Vec<Remark>> {
        let at = At::start(Arc::new(File::open(path).map_err(sniff::reading)?));
        match self.go(&at.up_to(HEAD), true, wanted, stop, sink) {
            Err(error) if at::is_end_of_head(&error) => Ok(Vec::new()),
            read => read,
        }
    }

    fn go(
        &self,
        at: &At,
        head: bool,
        wanted: &Wanted,
        stop: &Stop,
        sink: &mut dyn SheetSink,
    ) -> Result<Vec<Remark>> {
        stop.check()?;
        let mut packed =
            |sink: &mut dyn SheetSink| parent::read(self, at, head, wanted, stop, sink);
        read_by(at, &mut packed, wanted, &self.limits, stop, sink)
    }
}

/// Reads a file as [`Reader::read`] does, but a spreadsheet in this process too: for tests and for
/// fuzzing alone, since a hostile one can make it panic or take all the memory there is.
///
/// # Errors
/// As [`Reader::read`], without what becomes of a child.
pub fn read_in_this_process(
    file: File,
    wanted: &Wanted,
    limits: &Limits,
    stop: &Stop,
    sink: &mut dyn SheetSink,
) -> Result<Vec<Remark>> {
    let file = Arc::new(file);
    let at = At::start(Arc::clone(&file));
    let mut packed =
        |sink: &mut dyn SheetSink| workbook::read(Arc::clone(&file), false, wanted, limits, sink);
    read_by(&at, &mut packed, wanted, limits, stop, sink)
}

/// Reads a file by what it is, one that is packed by `packed`.
fn read_by(
    at: &At,
    packed: &mut dyn FnMut(&mut dyn SheetSink) -> Result<Vec<Remark>>,
    wanted: &Wanted,
    limits: &Limits,
    stop: &Stop,
    sink: &mut dyn SheetSink,
) -> Result<Vec<Remark>> {
    let text = |()| Vec::new();
    let found = sniff::sniff(at)?;
    if let (Some(asked), false) = (&wanted.sheet, found == Found::Packed) {
        no_sheets(asked)?;
    }
    match found {
        Found::Packed => packed(sink),
        Found::Csv => csv::read(at, limits, stop, sink).map(text),
        Found::Ndjson => json::read(at, FileKind::Ndjson, limits, stop, sink).map(text),
        Found::Json => json::read(at, FileKind::Json, limits, stop, sink).map(text),
    }
}

/// Refuses a sheet of a text, unless it is the first.
fn no_sheets(asked: &str) -> Result<()> {
    if asked.trim() == "1" {
        return Ok(());
    }
    let detail = "the file is a text and has no sheets; leave sheet= out";
    Err(fault::sheet_fault(fault::NO_SUCH_SHEET, asked, detail))
}
