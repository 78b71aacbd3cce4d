//! The rows of a file as rows of the answer: the heading is taken, every cell is read for its column,
//! and what would be lost is refused, up to a hundred faults at once.

use super::cells::{Cells, heading};
use super::columns::{Chosen, Names, Wish, choose, is_unknown};
use crate::error::{Error, Problem, Result};
use crate::rows::{Column, Kind, Look, RowSink, Value, Warning, recycle};
use crate::sheets::{Cell, FileKind, Outline, SheetSink, letters, listed};

/// So many faults of a file are told.
const MOST: usize = 100;
/// Names of a sentence are cut to this many characters.
const NAMED: usize = 60;

/// Takes the rows of one file.
pub(super) struct Table<'a> {
    wish: &'a Wish,
    header_row: Option<u64>,
    cells: Cells,
    sink: &'a mut dyn RowSink,
    kind: FileKind,
    /// The row of the headings; nothing for keys.
    row: Option<u64>,
    /// The headings or keys of the file; nothing for a column without.
    names: Vec<Option<String>>,
    chosen: Option<Vec<Chosen>>,
    /// What a row's values are put together in, one for each column.
    scratch: Vec<String>,
    values: Vec<Value<'static>>,
    rows: u64,
    faults: Vec<Problem>,
    /// Cells whose formula failed: the first one, and how many.
    errors: Option<(String, u64)>,
}

impl<'a> Table<'a> {
    /// Rows for `sink`, in the columns that `wish` wants.
    pub(super) fn new(
        wish: &'a Wish,
        header_row: Option<u64>,
        cells: Cells,
        sink: &'a mut dyn RowSink,
    ) -> Self {
        Self {
            wish,
            header_row,
            cells,
            sink,
            kind: FileKind::Csv,
            row: None,
            names: Vec::new(),
            chosen: None,
            scratch: Vec::new(),
            values: Vec::new(),
            rows: 0,
            faults: Vec::new(),
            errors: None,
        }
    }

    /// Says that there are no more rows.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub(super) fn end(mut self, warnings: &mut Vec<Warning>) -> Result<()> {
        if let Some((first, count)) = self.errors.take() {
            warnings.push(Warning {
                code: "error_cells".into(),
                detail: format!(
                    "{count} cells hold what a formula could not calculate, the first of them \
                     {first}; they were written as the text that they show"
                ),
            });
        }
        if self.rows == 0 && self.faults.is_empty() {
            self.faults.push(self.no_rows());
        }
        if self.rows > 0 {
            // All objects were seen, and none had it.
            let names = Names::Keys(&self.names);
            let missing = self.chosen.iter().flatten().filter(|column| column.place.is_none());
            let missing: Vec<_> =
                missing.map(|column| is_unknown("columns", &column.source, names)).collect();
            self.faults.extend(missing);
        }
        if self.faults.is_empty() { Ok(()) } else { Err(Error::Invalid(self.faults)) }
    }

    fn is_json(&self) -> bool {
        matches!(self.kind, FileKind::Json | FileKind::Ndjson)
    }

    fn no_rows(&self) -> Problem {
        let how = match (self.row, self.header_row) {
            (Some(row), _) => format!("the file has its headings in row {row} and no rows below"),
            (None, Some(asked)) if !self.is_json() => {
                format!("row {asked}, where header_row says the headings are, is empty")
            }
            (None, _) => "the file has no rows".to_owned(),
        };
        fault("no_rows", None, format!("{how}; there is nothing to convert, so send one with rows"))
    }

    /// Takes the columns of the file.
    fn found(&mut self, names: Vec<Option<String>>) -> Result<()> {
        self.names = names;
        let names = match self.row {
            Some(row) => Names::Row(row, &self.names),
            None => Names::Keys(&self.names),
        };
        let chosen = choose(self.wish, names).map_err(Error::Invalid)?;
        if chosen.is_empty() {
            let (what, place) = match self.row {
                Some(row) => ("headings", format!("row {row} has")),
                None => ("keys", "the first object has".to_owned()),
            };
            let detail = format!("{place} no {what}, so the rows have no columns; add them");
            return Err(Error::Invalid(vec![fault("no_columns", None, detail)]));
        }
        let columns: Vec<_> = chosen.iter().map(column).collect();
        self.sink.columns(&columns)?;
        self.scratch = vec![String::new(); chosen.len()];
        self.chosen = Some(chosen);
        Ok(())
    }

    /// Takes the row of the headings, once it is there.
    fn header(&mut self, number: u64, cells: &[Cell<'_>]) -> Result<()> {
        match self.header_row {
            Some(asked) if number < asked => return Ok(()),
            Some(asked) if number > asked => return Err(Error::Invalid(vec![self.no_rows()])),
            Some(_) | None => {}
        }
        self.row = Some(number);
        let name = |cell: &Cell<'_>| {
            let shown = heading(*cell);
            Some(trimmed(&shown)).filter(|name| !name.is_empty()).map(str::to_owned)
        };
        self.found(cells.iter().map(name).collect())
    }

    /// Notes a fault; the rest of the file is only looked at for more of them.
    fn fault(&mut self, fault: Problem) -> Result<()> {
        self.faults.push(fault);
        if self.faults.len() < MOST {
            return Ok(());
        }
        Err(Error::Invalid(std::mem::take(&mut self.faults)))
    }

    /// Refuses what stands under no heading. With `columns` it was not asked for; but in separated
    /// values one too many may have moved the others.
    fn beyond(&mut self, number: u64, cells: &[Cell<'_>]) -> Result<()> {
        if self.is_json() {
            return Ok(());
        }
        let (row, width) = (self.row.unwrap_or_default(), self.names.len());
        let separated = self.kind == FileKind::Csv;
        let is_lost = |(place, cell): (usize, &Cell<'_>)| {
            let beyond = place >= width;
            let asked_for = self.wish.columns.is_none() || (beyond && separated);
            let unnamed = beyond || self.names[place].is_none();
            (*cell != Cell::Empty && unnamed && asked_for).then_some(place)
        };
        let Some(place) = cells.iter().enumerate().find_map(is_lost) else { return Ok(()) };
        let detail = if separated && place >= width {
            format!(
                "row {number} has {} values and the headings in row {row} are {width}; put a value \
                 that holds the separator into quotation marks, or take the one too many out",
                cells.len()
            )
        } else {
            format!(
                "cell {column}{number} holds a value and {column}{row} has no heading for it; add \
                 one, say with header_row= where the headings are, or choose with columns=",
                column = letters(place as u64)
            )
        };
        self.fault(fault("value_without_heading", None, detail))
    }

    fn read(&mut self, number: u64, cells: &[Cell<'_>]) -> Result<()> {
        let chosen = self.chosen.take().unwrap_or_default();
        let mut scratch = std::mem::take(&mut self.scratch);
        let mut values = recycle(std::mem::take(&mut self.values));
        let mut wrong = Vec::new();
        for (column, scratch) in chosen.iter().zip(&mut scratch) {
            let place = column.place;
            let cell = place.and_then(|place| cells.get(place)).copied().unwrap_or(Cell::Empty);
            if let (Cell::Error(shown), Some(place)) = (cell, place) {
                let first = || format!("{shown} in {}{number}", letters(place as u64));
                self.errors.get_or_insert_with(|| (first(), 0)).1 += 1;
            }
            match self.cells.value(cell, scratch) {
                Ok(value) => values.push(value),
                Err(fault) => wrong.push((fault, column)),
            }
        }
        if wrong.is_empty() && self.faults.is_empty() {
            self.sink.row(&values)?;
        }
        self.values = recycle(values);
        for (wrong, column) in wrong {
            let place = letters(column.place.unwrap_or_default() as u64);
            let (code, name) = (wrong.code, cut(&column.source));
            let detail = format!("cell {place}{number} (\"{name}\") {}", wrong.detail);
            self.fault(fault(code, None, detail))?;
        }
        self.scratch = scratch;
        self.chosen = Some(chosen);
        Ok(())
    }
}

impl SheetSink for Table<'_> {
    fn begin(&mut self, outline: &Outline) -> Result<()> {
        self.kind = outline.kind;
        match self.header_row.filter(|_| self.is_json()) {
            None => Ok(()),
            Some(asked) => {
                let detail = "the file is JSON, whose columns are its keys; leave header_row= out";
                let asked = asked.to_string();
                Err(Error::Invalid(vec![Problem::parameter(
                    "header_row",
                    "no_header_row",
                    asked,
                    detail,
                )]))
            }
        }
    }

    fn keys(&mut self, keys: &[String]) -> Result<()> {
        if keys.is_empty() {
            // Of no object at all, or of one that has none.
            return Ok(());
        }
        self.found(keys.iter().cloned().map(Some).collect())
    }

    fn more_keys(&mut self, keys: &[String], place: &str) -> Result<()> {
        let new = keys.get(self.names.len()..).unwrap_or_default().to_vec();
        self.names.extend(new.iter().cloned().map(Some));
        if self.wish.columns.is_some() {
            for column in self.chosen.iter_mut().flatten() {
                let found = keys.iter().position(|key| *key == column.source);
                column.place = column.place.or(found);
            }
            return Ok(());
        }
        let keys = if new.len() == 1 { "the key" } else { "the keys" };
        let detail = format!(
            "{place} has {keys} {}, and the first object, whose keys are the columns, does not; \
             give it there too (null will do), or choose the columns with columns=",
            listed(new.iter().map(String::as_str)),
        );
        self.fault(fault("late_key", new.first().cloned(), detail))
    }

    fn row(&mut self, number: u64, cells: &[Cell<'_>]) -> Result<()> {
        if self.chosen.is_none() {
            if self.is_json() {
                let detail = "the first object has no keys, so the rows have no columns; give it the \
                              keys of the others (null will do)";
                return Err(Error::Invalid(vec![fault("no_columns", None, detail.into())]));
            }
            return self.header(number, cells);
        }
        self.rows += 1;
        self.beyond(number, cells)?;
        self.read(number, cells)
    }

    fn idle(&mut self) {
        self.sink.idle();
    }
}

fn column(chosen: &Chosen) -> Column {
    let name = &chosen.name;
    // Cells say themselves what they are; what a text column holds is written by what it is.
    Column { key: name.clone(), title: name.clone(), kind: Kind::Text, look: Look::default() }
}

/// A heading without the white space, and without what nobody sees, at its ends.
fn trimmed(name: &str) -> &str {
    name.trim_matches(|char: char| {
        char.is_whitespace() || matches!(char, '\u{200B}' | '\u{2060}' | '\u{FEFF}')
    })
}

fn cut(name: &str) -> String {
    // Line breaks would tear a sentence apart.
    let mut chars = name.chars().map(|char| if char.is_control() { ' ' } else { char });
    let shown: String = chars.by_ref().take(NAMED).collect();
    if chars.next().is_some() { format!("{shown}…") } else { shown }
}

fn fault(code: &'static str, value: Option<String>, detail: String) -> Problem {
    Problem { parameter: Some("file".into()), code, value, detail }
}
