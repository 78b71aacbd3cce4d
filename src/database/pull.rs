//! Rows that a server sends, pulled off the wire on the calling thread and pushed into a sink.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use futures::{FutureExt, Stream};
use sqlx::Row;

use super::cells::Unsayable;
use super::decode::Reading;
use super::{Cell, Read};
use crate::error::{Error, Result};
use crate::rows::{RowSink, Value, Warning, recycle};
use crate::runs::Stop;

/// The form in which one column's cells come.
pub trait Form: Copy {
    /// The driver's row.
    type Row: Row;

    /// How a column is read as declared, or in words why it cannot be.
    fn of(
        cell: &Cell,
        column: &<<Self::Row as Row>::Database as sqlx::Database>::Column,
    ) -> Result<Self, String>;

    /// Reads one cell, with an empty `scratch` for what has to be written out.
    fn read<'r>(
        self,
        row: &'r Self::Row,
        index: usize,
        read: &Read,
        scratch: &'r mut String,
    ) -> Reading<'r>;
}

/// Who ended a read: the database, or our side, whose query then still runs.
pub(super) enum Pulled {
    Database(sqlx::Error),
    Ours(Error),
}

/// The cells of one statement's rows on their way to being values.
pub(super) struct Cells<'q, F> {
    declared: &'q [Cell],
    /// Made from the first row.
    forms: Option<Vec<F>>,
    scratch: Vec<String>,
    unsayable: Unsayable,
    number: u64,
}

impl<'q, F: Form> Cells<'q, F> {
    pub(super) fn new(cells: &'q [Cell]) -> Self {
        Self {
            declared: cells,
            forms: None,
            scratch: vec![String::new(); cells.len()],
            unsayable: Unsayable::new(cells.iter().map(|cell| cell.key.as_str())),
            number: 0,
        }
    }

    /// Notes on cells that were written as null because no format can say them.
    pub(super) fn warnings(self) -> impl Iterator<Item = Warning> {
        self.unsayable.warnings()
    }

    fn row<'r>(&'r mut self, row: &'r F::Row, values: &mut Vec<Value<'r>>) -> Result<()> {
        self.number += 1;
        let number = self.number;
        let refuse =
            |cell: &Cell, detail| Error::Cell { row: number, column: cell.key.clone(), detail };
        let forms = match &mut self.forms {
            Some(forms) => forms,
            none @ None => {
                let columns = self.declared.iter().zip(row.columns());
                let forms = columns.map(|(cell, column)| {
                    F::of(cell, column).map_err(|detail| refuse(cell, detail))
                });
                none.insert(forms.collect::<Result<_>>()?)
            }
        };
        for (index, ((form, cell), scratch)) in
            forms.iter().zip(self.declared).zip(&mut self.scratch).enumerate()
        {
            scratch.clear();
            match form.read(row, index, &cell.read, scratch) {
                Ok(Some(value)) => values.push(value),
                Ok(None) => {
                    self.unsayable.note(index);
                    values.push(Value::Null);
                }
                Err(detail) => return Err(refuse(cell, detail)),
            }
        }
        Ok(())
    }
}

/// Pulls the stream to its end, unless the stop or the sink ends it.
pub(super) async fn pull<F: Form>(
    mut stream: Pin<&mut (impl Stream<Item = sqlx::Result<F::Row>> + ?Sized)>,
    cells: &mut Cells<'_, F>,
    sink: &mut dyn RowSink,
    stop: &Stop,
) -> Result<(), Pulled> {
    let mut spare: Vec<Value<'static>> = Vec::with_capacity(cells.declared.len());
    let mut fired = std::pin::pin!(stop.fired());
    loop {
        // The stop is polled only where the database makes us wait; otherwise one atomic load.
        let next = poll_fn(|context| match stream.as_mut().poll_next(context) {
            Poll::Ready(row) => Poll::Ready(Some(row)),
            Poll::Pending => {
                sink.idle();
                fired.as_mut().poll_unpin(context).map(|()| None)
            }
        });
        let Some(row) = next.await else {
            return Err(Pulled::Ours(stop.error()));
        };
        let Some(row) = row.transpose().map_err(Pulled::Database)? else {
            return Ok(());
        };
        stop.check().map_err(Pulled::Ours)?;
        let mut values = recycle(spare);
        cells.row(&row, &mut values).and_then(|()| sink.row(&values)).map_err(Pulled::Ours)?;
        spare = recycle(values);
    }
}
