//! One file's rows on their way to being staged: the header is found, every cell is checked, and what
//! is wrong is written down beside it.

use std::sync::Arc;

use jiff::tz::TimeZone;

use super::cells::{self, Scratch};
use super::demands;
use super::faults::{Fault, FaultFile};
use super::headers::{HeaderSearch, Headers};
use crate::database::Demand;
use crate::definitions::{Field, Import};
use crate::error::{Error, Problem, Result};
use crate::rows::{RowSink, Value, recycle};
use crate::runs::{Progress, Stop};
use crate::sheets::{Cell, FileKind, Outline, SheetSink};

/// What a file is checked by.
pub(super) struct Rules<'a> {
    pub(super) import: &'a Import,
    /// For each field, the values that alone may stand in it for this caller.
    pub(super) held_to: &'a [Option<Vec<String>>],
    /// For each field, what the table itself demands.
    pub(super) demands: &'a [Demand],
    pub(super) zone: &'a TimeZone,
    /// The header's row, where it was asked for.
    pub(super) header_row: Option<u64>,
    /// Rows at most.
    pub(super) max_rows: u64,
}

/// What was learnt of a file on the way.
#[derive(Debug, Default)]
pub(super) struct Learnt {
    pub(super) headers: Option<Headers>,
    /// For each field the column of the file; empty without headers.
    pub(super) places: Vec<Option<usize>>,
    pub(super) rows: u64,
    /// Rows of a spreadsheet with cells beyond the last heading: the first one, and how many.
    pub(super) beyond: Option<(u64, u64)>,
}

pub(super) struct Checker<'a> {
    pub(super) rules: &'a Rules<'a>,
    pub(super) sink: &'a mut dyn RowSink,
    pub(super) faults: &'a mut FaultFile,
    pub(super) progress: &'a Arc<Progress>,
    pub(super) stop: &'a Stop,
    pub(super) learnt: &'a mut Learnt,
    search: HeaderSearch<'a>,
    scratch: Vec<Scratch>,
    text: String,
    spare: Vec<Value<'static>>,
    /// Whether a value too many may have moved those behind it.
    separated: bool,
}

impl<'a> Checker<'a> {
    pub(super) fn new(
        rules: &'a Rules<'a>,
        sink: &'a mut dyn RowSink,
        faults: &'a mut FaultFile,
        progress: &'a Arc<Progress>,
        stop: &'a Stop,
        learnt: &'a mut Learnt,
    ) -> Self {
        let fields = rules.import.fields.len();
        Self {
            rules,
            sink,
            faults,
            progress,
            stop,
            learnt,
            search: HeaderSearch::new(rules.import, rules.header_row),
            scratch: std::iter::repeat_with(Scratch::default).take(fields).collect(),
            text: String::new(),
            spare: Vec::new(),
            separated: false,
        }
    }

    /// Says that there are no more rows.
    pub(super) fn end(self) -> Result<()> {
        match &self.learnt.headers {
            Some(_) if self.learnt.rows > 0 => Ok(()),
            Some(headers) => Err(Error::Invalid(vec![no_rows(headers.row)])),
            None => Err(Error::Invalid(self.search.not_found())),
        }
    }

    fn found(&mut self, headers: Headers) -> Result<()> {
        let places = places(&headers, self.rules.import.fields.len());
        let fields = self.rules.import.fields.iter().zip(self.rules.held_to).zip(&places);
        // Without it rows would be nobody's, and so beyond what the caller may touch.
        let missing = fields.filter(|((_, held_to), place)| held_to.is_some() && place.is_none());
        let missing: Vec<_> = missing.map(|((field, _), _)| whose_is_missing(field)).collect();
        if !missing.is_empty() {
            return Err(Error::Invalid(missing));
        }
        self.learnt.headers = Some(headers);
        self.learnt.places = places;
        Ok(())
    }

    fn check(&mut self, number: u64, cells: &[Cell<'_>]) -> Result<()> {
        self.learnt.rows += 1;
        if self.learnt.rows > self.rules.max_rows {
            return Err(too_many_rows(self.rules.max_rows));
        }
        let mut bad = self.beyond(number, cells)?;
        let (rules, faults) = (self.rules, &mut *self.faults);
        let mut values: Vec<Value<'_>> = recycle(std::mem::take(&mut self.spare));
        values.extend([Value::Int(i64::try_from(number).unwrap_or(i64::MAX)), Value::Bool(false)]);
        let fields = rules.import.fields.iter().enumerate().zip(&mut self.scratch);
        for ((index, field), scratch) in fields {
            let place = self.learnt.places[index];
            // A column that the file does not have is not touched.
            let Some(place) = place else {
                values.push(Value::Null);
                continue;
            };
            let cell = cells.get(place).copied().unwrap_or(Cell::Empty);
            let held_to = rules.held_to[index].as_deref();
            let checked = cells::check(field, cell, rules.zone, scratch);
            let checked = checked.and_then(|value| within(field, value, held_to, &mut self.text));
            let checked =
                checked.and_then(|value| demands::meet(field, value, &rules.demands[index]));
            match checked {
                Ok(value) => values.push(value),
                Err(fault) => {
                    bad = true;
                    faults.push(&Fault {
                        row: number,
                        field: index,
                        place: Some(place),
                        code: fault.code.to_owned(),
                        value: cells::shown(cell).into_owned(),
                        detail: fault.detail,
                    })?;
                    values.push(Value::Null);
                }
            }
        }
        values[1] = Value::Bool(bad);
        self.sink.row(&values)?;
        self.spare = recycle(values);
        self.progress.encoded(self.learnt.rows, 0);
        Ok(())
    }
}

impl Checker<'_> {
    /// Looks at cells beyond the last heading. In separated values one too many is a fault, for those
    /// behind it may have moved; beside a table in a spreadsheet people write what they like.
    fn beyond(&mut self, number: u64, cells: &[Cell<'_>]) -> Result<bool> {
        let width = self.learnt.headers.as_ref().map_or(usize::MAX, |headers| headers.titles.len());
        let beyond = cells.get(width..).unwrap_or_default();
        let Some(at) = beyond.iter().position(|cell| *cell != Cell::Empty) else {
            return Ok(false);
        };
        if !self.separated {
            let (_, count) = self.learnt.beyond.get_or_insert((number, 0));
            *count += 1;
            return Ok(false);
        }
        self.faults.push(&Fault {
            row: number,
            field: 0,
            place: Some(width + at),
            code: "extra_value".into(),
            value: cells::shown(beyond[at]).into_owned(),
            detail: format!(
                "the row has {} values and the header {width}; put a value that holds the \
                 separator into quotation marks, or take the one too many out",
                cells.len()
            ),
        })?;
        Ok(true)
    }
}

impl SheetSink for Checker<'_> {
    fn begin(&mut self, outline: &Outline) -> Result<()> {
        self.separated = outline.kind == FileKind::Csv;
        Ok(())
    }

    fn keys(&mut self, keys: &[String]) -> Result<()> {
        let headers = HeaderSearch::of_keys(self.rules.import, keys).map_err(Error::Invalid)?;
        self.found(headers)
    }

    fn row(&mut self, number: u64, cells: &[Cell<'_>]) -> Result<()> {
        self.stop.check()?;
        if self.learnt.headers.is_some() {
            return self.check(number, cells);
        }
        match self.search.row(number, cells).map_err(Error::Invalid)? {
            Some(headers) => self.found(headers),
            None => Ok(()),
        }
    }
}

/// For each field the column of the file.
fn places(headers: &Headers, fields: usize) -> Vec<Option<usize>> {
    let mut places = vec![None; fields];
    for (place, field) in headers.columns.iter().enumerate() {
        if let Some(field) = field {
            places[*field] = Some(place);
        }
    }
    places
}

/// Refuses a value that a caller who is held to others may not touch.
fn within<'v>(
    field: &Field,
    value: Value<'v>,
    held_to: Option<&[String]>,
    text: &mut String,
) -> Result<Value<'v>, cells::CellFault> {
    let Some(held_to) = held_to else { return Ok(value) };
    text.clear();
    match value {
        Value::Int(number) => text.push_str(itoa::Buffer::new().format(number)),
        Value::Text(held) => text.push_str(held),
        _ => {}
    }
    if !text.is_empty() && held_to.contains(text) {
        return Ok(value);
    }
    Err(cells::CellFault {
        code: "outside_scope",
        detail: format!(
            "{} is not one that you may import for; leave the row out, or ask for the right to",
            field.title
        ),
    })
}

pub(super) fn whose_is_missing(field: &Field) -> Problem {
    Problem {
        parameter: Some("file".into()),
        code: "header_missing",
        value: None,
        detail: format!(
            "the file has no column \"{}\", which says whose rows they are; add it, for you may \
             import for some alone",
            field.title
        ),
    }
}

fn no_rows(header: u64) -> Problem {
    Problem {
        parameter: Some("file".into()),
        code: "no_rows",
        value: None,
        detail: format!(
            "the file has its headings in row {header} and no row below them, so there is nothing to \
             store; fill rows in and send it again"
        ),
    }
}

fn too_many_rows(max: u64) -> Error {
    Error::Invalid(vec![Problem {
        parameter: Some("file".into()),
        code: "too_many_rows",
        value: None,
        detail: format!("the file has more than {max} rows; split it and upload the parts"),
    }])
}
