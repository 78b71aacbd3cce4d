//! Files read in this process, by the same functions that the child runs.

mod books;
mod cases;
mod csv;
mod hostile;
mod json;
mod packages;
mod wire;

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Cell, Limits, Outline, Remark, SheetSink, Wanted, read_in_this_process};
use crate::error::{Error, Problem, Result};
use crate::runs::Stop;

/// Room enough for every honest test.
const LIMITS: Limits =
    Limits { columns: 1000, text: 64 << 20, inflated: 2 << 30, time: Duration::from_mins(1) };

/// What a file gave.
#[derive(Debug, Default)]
struct Given {
    outline: Option<Outline>,
    keys: Vec<Vec<String>>,
    /// Row numbers, and each cell as [`shown`] writes it, with `|` between.
    rows: Vec<(u64, String)>,
    remarks: Vec<Remark>,
}

impl Given {
    fn outline(&self) -> &Outline {
        self.outline.as_ref().expect("the sink was told what the file is")
    }

    /// The rows as they are compared.
    fn rows(&self) -> Vec<(u64, &str)> {
        self.rows.iter().map(|(number, cells)| (*number, cells.as_str())).collect()
    }

    fn codes(&self) -> Vec<&str> {
        self.remarks.iter().map(|remark| remark.code.as_str()).collect()
    }
}

impl SheetSink for Given {
    fn begin(&mut self, outline: &Outline) -> Result<()> {
        assert!(self.outline.is_none(), "begun once");
        self.outline = Some(outline.clone());
        Ok(())
    }

    fn keys(&mut self, keys: &[String]) -> Result<()> {
        assert!(self.keys.last().is_none_or(|known| known.len() < keys.len()), "keys only grow");
        self.keys.push(keys.to_vec());
        Ok(())
    }

    fn row(&mut self, number: u64, cells: &[Cell<'_>]) -> Result<()> {
        assert!(self.outline.is_some(), "begun before");
        assert!(self.rows.last().is_none_or(|(last, _)| *last < number), "numbers only grow");
        assert_ne!(cells.last(), Some(&Cell::Empty), "nothing empty at the end");
        let cells: Vec<_> = cells.iter().map(|cell| shown(*cell)).collect();
        self.rows.push((number, cells.join("|")));
        Ok(())
    }
}

/// A text as it is; everything else with a letter and a colon before.
fn shown(cell: Cell<'_>) -> String {
    match cell {
        Cell::Empty => String::new(),
        Cell::Text("") => "\"\"".into(),
        Cell::Text(text) => text.into(),
        Cell::Number(number) => format!("n:{number}"),
        Cell::Digits(digits) => format!("d:{digits}"),
        Cell::Serial(days) => format!("s:{days}"),
        Cell::Iso(text) => format!("i:{text}"),
        Cell::Duration(days) => format!("p:{days}"),
        Cell::Bool(truth) => format!("b:{truth}"),
        Cell::Error(text) => format!("e:{text}"),
        Cell::Unevaluated => "u:".into(),
        Cell::Json(json) => format!("j:{json}"),
    }
}

/// Reads a file as [`Reader::read`](super::Reader::read) does, spreadsheets too in this process.
fn read_with(path: &Path, sheet: Option<&str>, limits: &Limits) -> Result<Given> {
    let file = File::open(path).expect("a test's file can be opened");
    let wanted = Wanted { sheet: sheet.map(str::to_owned) };
    let mut given = Given::default();
    given.remarks = read_in_this_process(file, &wanted, limits, &Stop::new(), &mut given)?;
    Ok(given)
}

fn read(path: &Path) -> Result<Given> {
    read_with(path, None, &LIMITS)
}

/// Reads bytes as a file.
fn read_bytes(bytes: &[u8]) -> Result<Given> {
    read_bytes_with(bytes, None, &LIMITS)
}

fn read_bytes_with(bytes: &[u8], sheet: Option<&str>, limits: &Limits) -> Result<Given> {
    let mut file = tempfile::NamedTempFile::new().expect("a file can be made");
    file.write_all(bytes).expect("it can be written");
    read_with(file.path(), sheet, limits)
}

/// A file of the cases.
fn case(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(path)
}

/// The one problem that a file was refused for.
#[track_caller]
fn refused(read: Result<Given>) -> Problem {
    match read {
        Err(Error::Invalid(problems)) => {
            let [problem] = <[Problem; 1]>::try_from(problems).expect("one problem");
            problem
        }
        other => panic!("it is refused, and not {other:?}"),
    }
}

#[track_caller]
fn refused_for(read: Result<Given>, code: &str, words: &[&str]) {
    let problem = refused(read);
    assert_eq!(problem.code, code, "{}", problem.detail);
    for word in words {
        assert!(problem.detail.contains(word), "{word:?} is missing: {}", problem.detail);
    }
}
