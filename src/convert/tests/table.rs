//! Rows through a table, as a file gives them.

use super::codes;
use crate::convert::cells::Cells;
use crate::convert::columns::Wish;
use crate::convert::table::Table;
use crate::error::{Error, Problem, Result};
use crate::formats::Format;
use crate::rows::{Column, RowSink, Value, Warning};
use crate::sheets::{Cell, FileKind, Outline, SheetSink};

/// What came out.
#[derive(Debug, Default)]
struct Got {
    columns: Vec<String>,
    rows: Vec<String>,
    warnings: Vec<Warning>,
}

impl RowSink for Got {
    fn columns(&mut self, columns: &[Column]) -> Result<()> {
        assert!(self.columns.is_empty(), "they are named once");
        self.columns = columns.iter().map(|column| column.key.clone()).collect();
        Ok(())
    }

    fn row(&mut self, row: &[Value<'_>]) -> Result<()> {
        assert_eq!(row.len(), self.columns.len());
        let shown = row.iter().map(|value| match value {
            Value::Text(text) => (*text).to_owned(),
            Value::Null => "-".into(),
            other => format!("{other:?}"),
        });
        self.rows.push(shown.collect::<Vec<_>>().join("|"));
        Ok(())
    }
}

fn outline(kind: FileKind) -> Outline {
    Outline { kind, encoding: None, delimiter: None, sheets: Vec::new(), sheet: None }
}

/// Feeds a table by `feed`.
fn fed(
    kind: FileKind,
    wish: &Wish,
    header_row: Option<u64>,
    feed: impl FnOnce(&mut Table<'_>) -> Result<()>,
) -> Result<Got, Vec<Problem>> {
    let mut got = Got::default();
    let mut warnings = Vec::new();
    let mut table = Table::new(wish, header_row, Cells::new(Format::Ndjson, false, None), &mut got);
    let fed = table.begin(&outline(kind)).and_then(|()| feed(&mut table));
    match fed.and_then(|()| table.end(&mut warnings)) {
        Ok(()) => Ok(Got { warnings, ..got }),
        Err(Error::Invalid(problems)) => Err(problems),
        Err(other) => panic!("{other:?}"),
    }
}

/// Rows of texts, the number in front; nothing for an empty one.
fn rows(table: &mut Table<'_>, rows: &[(u64, &[&'static str])]) -> Result<()> {
    for (number, texts) in rows {
        let cell = |text: &&'static str| match *text {
            "" => Cell::Empty,
            text => Cell::Text(text),
        };
        table.row(*number, &texts.iter().map(cell).collect::<Vec<_>>())?;
    }
    Ok(())
}

fn columns(names: &[&str]) -> Wish {
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    Wish { columns: Some(names), ..Wish::default() }
}

#[test]
fn headings_are_the_first_row_and_short_rows_end_in_nothing() {
    let got = fed(FileKind::Csv, &Wish::default(), None, |table| {
        rows(table, &[(2, &["\u{feff} a ", "b"]), (3, &["1"]), (5, &["", "2"])])
    });
    let got = got.unwrap();
    assert_eq!(
        (got.columns, got.rows),
        (vec!["a".into(), "b".into()], vec!["1|-".into(), "-|2".into()])
    );
}

#[test]
fn headings_are_in_the_row_that_was_named() {
    let file: &[(u64, &[&str])] = &[(1, &["title"]), (3, &["a", "b"]), (4, &["1", "2"])];
    let got = fed(FileKind::Xlsx, &Wish::default(), Some(3), |table| rows(table, file)).unwrap();
    assert_eq!((got.columns.len(), got.rows), (2, vec!["1|2".into()]));
    let faults = fed(FileKind::Xlsx, &Wish::default(), Some(2), |table| rows(table, file));
    let faults = faults.unwrap_err();
    assert_eq!(faults[0].code, "no_rows");
    assert!(faults[0].detail.contains("row 2"), "{}", faults[0].detail);
    let faults = fed(FileKind::Xlsx, &Wish::default(), None, |table| rows(table, file));
    let faults = faults.unwrap_err();
    // Every row that would lose something is told, with the way out.
    assert_eq!(codes(&faults), [("file", "value_without_heading"); 2]);
    assert!(faults[0].detail.contains("B3") && faults[0].detail.contains("header_row="));
}

#[test]
fn what_was_not_asked_for_may_stand_beside_the_table_but_not_move_values() {
    let file: &[(u64, &[&str])] = &[(1, &["a", "b"]), (2, &["1", "2", "note"])];
    let got = fed(FileKind::Xlsx, &columns(&["b"]), None, |table| rows(table, file)).unwrap();
    assert_eq!(got.rows, ["2"]);
    let faults = fed(FileKind::Csv, &columns(&["b"]), None, |table| rows(table, file)).unwrap_err();
    assert!(faults[0].detail.contains("row 2 has 3 values"), "{}", faults[0].detail);
    let unnamed: &[(u64, &[&str])] = &[(1, &["a", "", "b"]), (2, &["1", "", "2"])];
    let got = fed(FileKind::Csv, &Wish::default(), None, |table| rows(table, unnamed)).unwrap();
    assert_eq!(got.rows, ["1|2"]);
    let lost: &[(u64, &[&str])] = &[(1, &["a", "", "b"]), (2, &["1", "x", "2"])];
    let faults = fed(FileKind::Csv, &Wish::default(), None, |table| rows(table, lost)).unwrap_err();
    assert!(faults[0].detail.contains("cell B2"), "{}", faults[0].detail);
}

#[test]
fn a_file_without_rows_says_so() {
    let empty = fed(FileKind::Xlsx, &Wish::default(), None, |_| Ok(())).unwrap_err();
    let header = |table: &mut Table<'_>| rows(table, &[(1, &["a"])]);
    let header = fed(FileKind::Csv, &Wish::default(), None, header).unwrap_err();
    let none = fed(FileKind::Json, &Wish::default(), None, |table| table.keys(&[])).unwrap_err();
    for faults in [empty, header, none] {
        assert_eq!(codes(&faults), [("file", "no_rows")]);
    }
}

#[test]
fn a_key_that_comes_later_is_told_with_its_line() {
    let keys = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let feed = |table: &mut Table<'_>| {
        table.keys(&keys(&["a"]))?;
        rows(table, &[(1, &["1"])])?;
        table.more_keys(&keys(&["a", "b", "c"]), "line 3")?;
        rows(table, &[(3, &["2", "3", "4"]), (4, &["5", "", "6"])])?;
        table.more_keys(&keys(&["a", "b", "c", "d"]), "line 9")?;
        rows(table, &[(9, &["2", "", "", "7"])])
    };
    let faults = fed(FileKind::Ndjson, &Wish::default(), None, feed).unwrap_err();
    assert_eq!(codes(&faults), [("file", "late_key"); 2]);
    assert!(faults[0].detail.starts_with("line 3 has the keys \"b\", \"c\","));
    assert!(faults[1].detail.starts_with("line 9 has the key \"d\","), "{}", faults[1].detail);
    let got = fed(FileKind::Ndjson, &columns(&["c", "a"]), None, feed).unwrap();
    assert_eq!(got.rows, ["-|1", "4|2", "6|5", "-|2"]);
    let faults = fed(FileKind::Ndjson, &columns(&["c", "e"]), None, feed).unwrap_err();
    assert_eq!(codes(&faults), [("columns", "unknown_column")]);
    assert!(faults[0].detail.contains("\"e\""), "{}", faults[0].detail);
}

#[test]
fn an_object_without_keys_has_no_columns_and_json_no_header_row() {
    let feed = |table: &mut Table<'_>| {
        table.keys(&[])?;
        table.row(1, &[])
    };
    let faults = fed(FileKind::Ndjson, &Wish::default(), None, feed).unwrap_err();
    assert_eq!(codes(&faults), [("file", "no_columns")]);
    let faults = fed(FileKind::Json, &Wish::default(), Some(1), |_| Ok(())).unwrap_err();
    assert_eq!(codes(&faults), [("header_row", "no_header_row")]);
}

#[test]
fn failed_formulas_are_counted_and_those_without_a_result_refused() {
    let feed = |last: Cell<'static>| {
        move |table: &mut Table<'_>| {
            rows(table, &[(1, &["a", "b"])])?;
            table.row(2, &[Cell::Text("x"), Cell::Error("#N/A")])?;
            table.row(7, &[Cell::Error("#REF!"), last])
        }
    };
    let got = fed(FileKind::Xlsx, &Wish::default(), None, feed(Cell::Empty)).unwrap();
    assert_eq!(got.rows, ["x|#N/A", "#REF!|-"]);
    let [warning] = got.warnings.as_slice() else { panic!("{:?}", got.warnings) };
    assert!(warning.detail.contains("2 cells") && warning.detail.contains("#N/A in B2"));
    let faults = fed(FileKind::Xlsx, &Wish::default(), None, feed(Cell::Unevaluated));
    let faults = faults.unwrap_err();
    assert_eq!(codes(&faults), [("file", "unevaluated_formula")]);
    assert!(faults[0].detail.contains("cell B7 (\"b\")"), "{}", faults[0].detail);
}

#[test]
fn a_file_full_of_faults_is_given_up_after_a_hundred() {
    let faults = fed(FileKind::Xlsx, &Wish::default(), None, |table| {
        rows(table, &[(1, &["a"])])?;
        for number in 2..1_000_000 {
            table.row(number, &[Cell::Unevaluated])?;
        }
        Ok(())
    });
    assert_eq!(faults.unwrap_err().len(), 100);
}
