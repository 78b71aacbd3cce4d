//! Example data of any size, the same on every machine and in every database.
//!
//! Row *n* is made from its number alone, without any state that earlier rows left behind, so that
//! data of any size costs no memory and any single line can be told again without the others. Nothing
//! is drawn by chance: what looks random is a hash of the row's number.
//!
//! It makes the tables of a settlement office: [`Merchant`]s, and the [`Line`]s that are paid out to
//! them; and those of a construction company: projects, and the ledgers that are kept for them. It does not know which database it fills.

mod fill;
mod hash;
mod lines;
mod merchants;
mod projects;

#[cfg(test)]
mod tests;

pub use fill::fill;
pub use lines::{LINES, Line};
pub use merchants::{MERCHANTS, Merchant};
pub use projects::{DOCUMENTS, PROJECTS};

use crate::error::Result;
use crate::rows::{Date, RowSink};

/// Lines between two words of progress.
const STEP: u64 = 10_000;

/// Example data with a number of settlement lines.
#[derive(Debug, Clone)]
pub struct Demo {
    rows: u64,
    merchants: Vec<Merchant>,
    days: Vec<Date>,
}

impl Demo {
    /// Data with `rows` settlement lines; the merchants are always the same 5,000.
    ///
    /// Order numbers repeat from line 100,000,000,001 on.
    #[must_use]
    pub fn new(rows: u64) -> Self {
        Self { rows, merchants: merchants::all(), days: lines::business_days() }
    }

    /// How many settlement lines there are.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Every merchant, in the order of their ids.
    #[must_use]
    pub fn merchants(&self) -> &[Merchant] {
        &self.merchants
    }

    /// Pushes every merchant as a row of [`MERCHANTS`].
    ///
    /// # Errors
    /// The sink's.
    pub fn push_merchants(&self, sink: &mut dyn RowSink) -> Result<()> {
        self.merchants.iter().try_for_each(|merchant| sink.row(&merchant.values()))
    }

    /// Pushes every project as a row of [`PROJECTS`]; they are always the same three.
    ///
    /// # Errors
    /// The sink's.
    pub fn push_projects(&self, sink: &mut dyn RowSink) -> Result<()> {
        projects::push_projects(sink)
    }

    /// Pushes every ledger as a row of [`DOCUMENTS`]: 200 of project 1, 2,000 of project 2, and none of
    /// project 3.
    ///
    /// # Errors
    /// The sink's.
    pub fn push_documents(&self, sink: &mut dyn RowSink) -> Result<()> {
        projects::push_documents(sink)
    }

    /// Pushes every line as a row of [`LINES`], in the order of their ids; tells `progress` how many
    /// are done, every 10,000 lines and at the end.
    ///
    /// # Errors
    /// The sink's.
    pub fn push_lines(&self, sink: &mut dyn RowSink, progress: &mut dyn FnMut(u64)) -> Result<()> {
        for number in 1..=self.rows {
            sink.row(&self.line(number).values())?;
            if number.is_multiple_of(STEP) {
                progress(number);
            }
        }
        progress(self.rows);
        Ok(())
    }
}
