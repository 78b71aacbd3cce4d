//! The merge of staged rows into their table, and what it would come to.

use super::sql::{Part, ROWS};
use super::{Stage, unfilled};
use crate::error::{Error, Result};

/// What a merge does, or would do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Merged {
    /// Rows that were not there.
    pub inserted: u64,
    /// Rows that were there and differ.
    pub updated: u64,
    /// Rows that were there as they are.
    pub unchanged: u64,
}

impl Merged {
    fn of(rows: u64, updated: u64, inserted: u64) -> Self {
        Self { inserted, updated, unchanged: rows.saturating_sub(updated).saturating_sub(inserted) }
    }
}

/// What a merge takes over from the staged rows.
#[derive(Clone, Copy)]
struct Over<'c> {
    /// The columns that the file has.
    present: &'c [usize],
    /// Whether rows are added too; else all of them are stored already.
    inserts: bool,
}

impl Stage {
    /// What a merge of these columns would do.
    ///
    /// # Errors
    /// [`Error::Invalid`] where rows would be inserted without a value that they need; what the
    /// database says.
    pub fn foresee(&mut self, present: &[usize]) -> Result<Merged> {
        let rows = self.rows()?;
        let updates = self.sql().count_updates(present);
        let updated = updates.map_or(Ok(0), |sql| self.count(&sql))?;
        let inserts = self.sql().count_inserts();
        let inserted = self.count(&inserts)?;
        let lacking = self.lacking(present);
        if inserted > 0 && !lacking.is_empty() {
            return Err(unfilled::refused(&lacking));
        }
        Ok(Merged::of(rows, updated, inserted))
    }

    /// Merges these columns of the rows; columns that are not named stay as they are.
    ///
    /// # Errors
    /// [`Error::Invalid`] where rows would be inserted without a value that they need, or the database
    /// itself does not take a row, which is named; what else it says.
    pub fn merge(&mut self, present: &[usize]) -> Result<Merged> {
        let lacking = self.lacking(present);
        // MariaDB refuses an insert that lacks a column also where it has no row.
        let over = Over { present, inserts: lacking.is_empty() };
        if !over.inserts {
            let new = self.sql().count_inserts_for_good();
            if self.count(&new)? > 0 {
                return Err(unfilled::refused(&lacking));
            }
        }
        let rows = self.rows()?;
        self.run("SAVEPOINT tallyroll_merge")?;
        match self.merge_part(over, Part::All) {
            Ok((updated, inserted)) => Ok(Merged::of(rows, updated, inserted)),
            Err(Error::Invalid(problems)) => {
                self.run("ROLLBACK TO SAVEPOINT tallyroll_merge")?;
                Err(self.first_refused(over)?.unwrap_or(Error::Invalid(problems)))
            }
            Err(error) => Err(error),
        }
    }

    fn rows(&mut self) -> Result<u64> {
        self.count(&format!("SELECT count(*) FROM {ROWS}"))
    }

    /// What new rows of these columns need and do not have.
    fn lacking(&self, present: &[usize]) -> Vec<String> {
        let is_lacking = |column: &&String| {
            self.plan.named(column, self.dialect).is_none_or(|index| !present.contains(&index))
        };
        self.known.demanded.iter().filter(is_lacking).cloned().collect()
    }

    /// How many rows were updated and inserted.
    fn merge_part(&mut self, over: Over<'_>, part: Part) -> Result<(u64, u64)> {
        let update = self.sql().update(over.present, part);
        let updated = update.map_or(Ok(0), |sql| self.run(&sql))?;
        let insert = over.inserts.then(|| self.sql().insert(over.present, part));
        let inserted = insert.map_or(Ok(0), |sql| self.run(&sql))?;
        Ok((updated, inserted))
    }

    /// What the database says of the first row that it does not take, found by halves; nothing where
    /// it takes each by itself.
    fn first_refused(&mut self, over: Over<'_>) -> Result<Option<Error>> {
        let mut first = self.loader.integer(&format!("SELECT min(row_no) FROM {ROWS}"))?;
        let mut last = self.loader.integer(&format!("SELECT max(row_no) FROM {ROWS}"))?;
        let mut refused = None;
        while first < last || refused.is_none() {
            let middle = first + (last - first) / 2;
            self.run("SAVEPOINT tallyroll_part")?;
            match self.merge_part(over, Part::Rows(first, middle)) {
                // They stay, so that each row is merged twice at most.
                Ok(_) if middle == last => return Ok(None),
                Ok(_) => first = middle + 1,
                Err(Error::Invalid(problems)) => {
                    self.run("ROLLBACK TO SAVEPOINT tallyroll_part")?;
                    (last, refused) = (middle, Some(problems));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(refused.map(|mut problems| {
            for problem in &mut problems {
                problem.detail = format!("row {last}: {}", problem.detail);
            }
            Error::Invalid(problems)
        }))
    }
}
