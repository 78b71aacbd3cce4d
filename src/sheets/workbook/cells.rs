//! What calamine calls a value, as cells; cells gathered to rows.

use calamine::{CellErrorType, Data, DataRef, ExcelDateTime};

use super::iso;
use crate::error::{Error, Result};
use crate::sheets::fault::{self, fault, letters};
use crate::sheets::{Cell, SheetSink};

/// Days from 1899-12-30 to 1904-01-01, where the other calendar begins.
const TO_1904: f64 = 1462.0;

/// A value on its way to its row.
#[derive(Debug, Clone, Default)]
pub(super) enum Held<'a> {
    /// Nothing.
    #[default]
    Empty,
    /// A value of a sheet that is read row by row.
    Ref(DataRef<'a>),
    /// A number with the zeros before it that it is shown with, which no number has.
    Padded(String),
    /// An error that calamine passed over.
    Error(&'static str),
    /// A formula without a result.
    Unevaluated,
}

/// Gathers cells to rows and gives them to a sink, without what is empty at a row's end.
pub(super) struct Rows<'a, 's> {
    sink: &'s mut dyn SheetSink,
    columns: u32,
    from_1904: bool,
    /// The row being gathered, counted from 0.
    row: u32,
    held: Vec<Held<'a>>,
}

impl<'a, 's> Rows<'a, 's> {
    pub(super) fn new(sink: &'s mut dyn SheetSink, columns: u32, from_1904: bool) -> Self {
        Self { sink, columns, from_1904, row: 0, held: Vec::new() }
    }

    /// Takes a cell, of the row being gathered or a later one.
    #[inline]
    pub(super) fn put(&mut self, row: u32, column: u32, value: Held<'a>) -> Result<()> {
        if row != self.row {
            self.finish()?;
            if row < self.row {
                return Err(disorder(row));
            }
            self.row = row;
        }
        if is_nothing(&value) {
            return Ok(());
        }
        if column >= self.columns {
            return Err(too_far(row, column, self.columns));
        }
        let place = column as usize;
        if self.held.len() <= place {
            self.held.resize_with(place + 1, Held::default);
        }
        self.held[place] = value;
        Ok(())
    }

    /// Gives the gathered row to the sink, if it holds anything.
    pub(super) fn finish(&mut self) -> Result<()> {
        if self.held.is_empty() {
            return Ok(());
        }
        let cells: Vec<_> = self.held.iter().map(|held| cell(held, self.from_1904)).collect();
        self.sink.row(u64::from(self.row) + 1, &cells)?;
        self.held.clear();
        Ok(())
    }
}

/// Whether a value is none: an empty text looks blank, and so it is.
fn is_nothing(value: &Held<'_>) -> bool {
    match value {
        Held::Empty | Held::Ref(DataRef::Empty) => true,
        Held::Ref(DataRef::String(text)) => text.is_empty(),
        Held::Ref(DataRef::SharedString(text)) => text.is_empty(),
        Held::Ref(_) | Held::Padded(_) | Held::Error(_) | Held::Unevaluated => false,
    }
}

fn cell<'c>(held: &'c Held<'_>, from_1904: bool) -> Cell<'c> {
    match held {
        Held::Empty => Cell::Empty,
        Held::Padded(text) => Cell::Text(text),
        Held::Error(text) => Cell::Error(text),
        Held::Unevaluated => Cell::Unevaluated,
        Held::Ref(value) => match value {
            DataRef::Int(number) => int(*number),
            DataRef::Float(number) => float(*number),
            DataRef::String(text) => Cell::Text(text),
            DataRef::SharedString(text) => Cell::Text(text),
            DataRef::Bool(truth) => Cell::Bool(*truth),
            DataRef::DateTime(moment) => serial(moment, from_1904),
            DataRef::DateTimeIso(text) => Cell::Iso(text),
            DataRef::DurationIso(text) => duration(text),
            DataRef::Error(error) => Cell::Error(words(error)),
            DataRef::Empty => Cell::Empty,
        },
    }
}

/// The cell of a value of a sheet that was loaded whole.
pub(super) fn loaded(value: &Data, from_1904: bool) -> Cell<'_> {
    match value {
        Data::Int(number) => int(*number),
        Data::Float(number) => float(*number),
        Data::String(text) if text.is_empty() => Cell::Empty,
        Data::String(text) => Cell::Text(text),
        Data::Bool(truth) => Cell::Bool(*truth),
        Data::DateTime(moment) => serial(moment, from_1904),
        Data::DateTimeIso(text) => Cell::Iso(text),
        Data::DurationIso(text) => duration(text),
        Data::Error(error) => Cell::Error(words(error)),
        Data::Empty => Cell::Empty,
    }
}

#[expect(clippy::cast_precision_loss, reason = "a workbook has whole numbers of 30 bits at most")]
fn int(number: i64) -> Cell<'static> {
    Cell::Number(number as f64)
}

/// A number; what is none is the error that Excel has for it.
fn float(number: f64) -> Cell<'static> {
    if number.is_finite() { Cell::Number(number) } else { Cell::Error("#NUM!") }
}

/// A date or time, by Excel's own number. Less than a day is a time of day and stays one.
fn serial(moment: &ExcelDateTime, from_1904: bool) -> Cell<'static> {
    let days = moment.as_f64();
    if !days.is_finite() {
        Cell::Error("#NUM!")
    } else if moment.is_duration() {
        Cell::Duration(days)
    } else if from_1904 {
        Cell::Serial(days + TO_1904)
    } else {
        Cell::Serial(days)
    }
}

fn duration(text: &str) -> Cell<'_> {
    iso::days(text).map_or(Cell::Text(text), Cell::Duration)
}

fn words(error: &CellErrorType) -> &'static str {
    match error {
        CellErrorType::Div0 => "#DIV/0!",
        CellErrorType::NA => "#N/A",
        CellErrorType::Name => "#NAME?",
        CellErrorType::Null => "#NULL!",
        CellErrorType::Num => "#NUM!",
        CellErrorType::Ref => "#REF!",
        CellErrorType::Value => "#VALUE!",
        CellErrorType::GettingData => "#GETTING_DATA",
    }
}

fn disorder(row: u32) -> Error {
    fault(
        fault::ORDER,
        format!(
            "row {} of the sheet comes after a later one, so its row numbers cannot be trusted; {}",
            u64::from(row) + 1,
            fault::SAVE_AGAIN
        ),
    )
}

/// The refusal of a value beyond the last column.
pub(super) fn too_far(row: u32, column: u32, columns: u32) -> Error {
    fault(
        fault::COLUMNS,
        format!(
            "cell {}{} holds a value, and at most {columns} columns are read, up to {}; delete what \
             lies right of it",
            letters(column.into()),
            u64::from(row) + 1,
            letters(u64::from(columns).saturating_sub(1))
        ),
    )
}
