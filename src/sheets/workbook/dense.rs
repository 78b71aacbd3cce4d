//! Sheets that calamine loads whole: xls and ods.
//!
//! Formulas in them always have a result: Excel and `LibreOffice` write one, and the latter writes an
//! empty text as no value at all, so that a formula without a value is taken for that.

use calamine::{Data, Range};

use super::Job;
use super::cells::{loaded, too_far};
use crate::error::Result;
use crate::sheets::Cell;

/// What `OpenDocument` shows where a formula has no result, besides `Err:` and a number: it is kept
/// as a text.
const ERRORS: &[&str] =
    &["#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!", "#ERR!"];

/// Gives the rows of a loaded sheet to the sink. `formulas` tell errors from texts that look like one.
pub(super) fn give(
    values: &Range<Data>,
    formulas: Option<&Range<String>>,
    from_1904: bool,
    job: &mut Job<'_>,
) -> Result<()> {
    let Some((first_row, first_column)) = values.start() else { return Ok(()) };
    let has_formula = |row, column| {
        formulas
            .and_then(|formulas| formulas.get_value((row, column)))
            .is_some_and(|f| !f.is_empty())
    };
    let mut cells = Vec::new();
    for (row, values) in (first_row..).zip(values.rows()) {
        cells.clear();
        for (column, value) in (first_column..).zip(values) {
            let cell = match loaded(value, from_1904) {
                Cell::Empty => continue,
                Cell::Text(text) if is_error(text) && has_formula(row, column) => Cell::Error(text),
                cell => cell,
            };
            if column >= job.limits.columns {
                return Err(too_far(row, column, job.limits.columns));
            }
            cells.resize(column as usize, Cell::Empty);
            cells.push(cell);
        }
        if !cells.is_empty() {
            job.sink.row(u64::from(row) + 1, &cells)?;
        }
    }
    Ok(())
}

fn is_error(text: &str) -> bool {
    let code = text.strip_prefix("Err:");
    ERRORS.contains(&text)
        || code.is_some_and(|code| code.len() == 3 && code.bytes().all(|b| b.is_ascii_digit()))
}
