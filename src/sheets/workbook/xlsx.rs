//! xlsx and xlsm, row by row.

use calamine::{DataRef, Reader as _, Xlsx, XlsxError};

use super::cells::{Held, Rows};
use super::survey::Survey;
use super::{Job, refuse};
use crate::error::Result;
use crate::sheets::FileKind;
use crate::sheets::at::At;

/// Reads the sheet wanted.
pub(super) fn read(at: &At, survey: &Survey, job: &mut Job<'_>) -> Result<()> {
    let mut book = Xlsx::new(at.clone()).map_err(|error| refuse::xlsx(&error))?;
    let tabs = book.sheets_metadata().to_vec();
    let sheet = job.begin(FileKind::Xlsx, &tabs)?;
    let name = &tabs[sheet].name;
    job.hidden_rows(name, survey.hidden_rows(sheet))?;
    let from_1904 = book.has_1904_epoch();
    let mut rows = Rows::new(&mut *job.sink, job.limits.columns, from_1904);
    let mut cells = book.worksheet_cells_reader(name).map_err(|error| refuse::xlsx(&error))?;
    let mut last = 0;
    loop {
        let record = match cells.next_cell_with_formula_metadata() {
            Ok(Some(record)) => record,
            Ok(None) => return rows.finish(),
            Err(XlsxError::CellError(text)) => return Err(refuse::error_value(&text, last)),
            Err(error) => return Err(refuse::xlsx(&error)),
        };
        last = record.pos.0;
        let value = match (record.value, record.formula) {
            (DataRef::Empty, Some(_)) => Held::Unevaluated,
            (value, _) => Held::Ref(value),
        };
        rows.put(record.pos.0, record.pos.1, value)?;
    }
}
