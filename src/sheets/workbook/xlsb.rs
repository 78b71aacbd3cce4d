//! xlsb, row by row.
//!
//! calamine passes over formulas whose result is an error, which would make them blanks; the survey
//! has found them, and they are put back here.

use calamine::{Reader as _, Xlsb};

use super::cells::{Held, Rows};
use super::survey::Survey;
use super::{Job, refuse};
use crate::error::Result;
use crate::sheets::FileKind;
use crate::sheets::at::At;

/// Reads the sheet wanted.
pub(super) fn read(at: &At, survey: &Survey, job: &mut Job<'_>) -> Result<()> {
    let mut book = Xlsb::new(at.clone()).map_err(|error| refuse::xlsb(&error))?;
    let tabs = book.sheets_metadata().to_vec();
    let sheet = job.begin(FileKind::Xlsb, &tabs)?;
    let name = &tabs[sheet].name;
    job.hidden_rows(name, survey.hidden_rows(sheet))?;
    let from_1904 = book.has_1904_epoch();
    let mut errors = survey.errors(sheet).iter().peekable();
    let mut rows = Rows::new(&mut *job.sink, job.limits.columns, from_1904);
    let mut cells = book.worksheet_cells_reader(name).map_err(|error| refuse::xlsb(&error))?;
    while let Some(cell) = cells.next_cell().map_err(|error| refuse::xlsb(&error))? {
        let (row, column) = cell.get_position();
        while let Some(error) = errors.next_if(|error| (error.row, error.column) < (row, column)) {
            rows.put(error.row, error.column, Held::Error(error.text))?;
        }
        rows.put(row, column, Held::Ref(cell.get_value().clone()))?;
    }
    for error in errors {
        rows.put(error.row, error.column, Held::Error(error.text))?;
    }
    rows.finish()
}
