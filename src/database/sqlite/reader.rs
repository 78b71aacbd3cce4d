//! From SQLite's cells to a row of values.

use rusqlite::types::ValueRef;

use super::cells::{blob, integer, real, text};
use crate::database::Cell;
use crate::error::{Error, Result};
use crate::rows::{RowSink, Value, recycle};

/// Makes rows of values, and passes them on.
pub(super) struct Reader<'q> {
    cells: &'q [Cell],
    /// One for each column, for values that are made here.
    scratch: Vec<String>,
    spare: Vec<Value<'static>>,
    number: u64,
}

impl<'q> Reader<'q> {
    pub(super) fn new(cells: &'q [Cell]) -> Self {
        let scratch = vec![String::new(); cells.len()];
        Self { cells, scratch, spare: Vec::with_capacity(cells.len()), number: 0 }
    }

    /// Columns of a row.
    pub(super) fn width(&self) -> usize {
        self.cells.len()
    }

    /// Takes the next row, whose cells `held` gives, each once and in order.
    ///
    /// # Errors
    /// [`Error::Cell`] for a cell that does not fit its column; what `held` and the sink say.
    #[inline]
    pub(super) fn row<'r>(
        &mut self,
        mut held: impl FnMut(usize) -> Result<ValueRef<'r>>,
        sink: &mut dyn RowSink,
    ) -> Result<()> {
        self.number += 1;
        let mut values = recycle(std::mem::take(&mut self.spare));
        for (index, (cell, scratch)) in self.cells.iter().zip(&mut self.scratch).enumerate() {
            // Taken apart where it comes, and put where it stays: copies of what was written in
            // two halves a moment ago took seven hundredths of the whole run.
            let read = match held(index) {
                Ok(ValueRef::Null) => {
                    values.push(Value::Null);
                    Ok(())
                }
                Ok(ValueRef::Integer(value)) => integer(value, &cell.read, scratch, &mut values),
                Ok(ValueRef::Real(value)) => real(value, &cell.read, scratch, &mut values),
                Ok(ValueRef::Text(bytes)) => text(bytes, &cell.read, scratch, &mut values),
                Ok(ValueRef::Blob(_)) => Err(blob()),
                Err(error) => return Err(error),
            };
            read.map_err(|detail| Error::Cell {
                row: self.number,
                column: cell.key.clone(),
                detail,
            })?;
        }
        sink.row(&values)?;
        self.spare = recycle(values);
        Ok(())
    }
}
