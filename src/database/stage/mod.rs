//! Rows on their way into a table that holds rows already: staged in a table of the session's own,
//! checked against each other and against what is stored, and merged in one transaction together with
//! a note that they were.
//!
//! Everything here blocks, like the [`Loader`] it goes through. Staging locks nothing that others use;
//! on PostgreSQL other writers of the table wait from the checks to the commit, on SQLite those of the
//! file, readers never. What is not committed leaves nothing.

mod catalogue;
mod demand;
mod merge;
mod notes;
mod plan;
mod sql;
mod unfilled;
mod watch;

use std::path::Path;

pub use demand::Demand;
pub use merge::Merged;
pub use notes::{can_note, committed};
pub use plan::{Plan, Referenced, Staged, TableName};
pub use unfilled::unfilled;

use self::catalogue::Known;
use self::notes::{NOTES, given_up, prepare_notes};
use self::sql::{BEYOND, DOUBLED, FAULTS, MISSING, ROWS, Sql, TAKEN};
use self::watch::Watch;
use super::load::{Loader, Table};
use super::{Database, Dialect};
use crate::error::{Error, Result};
use crate::rows::{Kind, RowSink};
use crate::runs::Stop;

/// What is wrong between a row and others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clash {
    /// An earlier row of the file, with this number, has the same.
    Doubled(u64),
    /// The value is not found where it must be.
    Missing,
    /// A stored row has it already.
    Taken,
    /// The stored row belongs to somebody else.
    Beyond,
}

/// One row at fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The row's number.
    pub row: u64,
    /// The columns that it is about, as indexes into the plan's: more than one where it is about all
    /// of them together; never empty.
    pub columns: Vec<usize>,
    /// What is wrong.
    pub clash: Clash,
}

/// Rows being staged.
#[derive(Debug)]
pub struct Stage {
    loader: Loader,
    dialect: Dialect,
    plan: Plan,
    known: Known,
    rules: Vec<Vec<usize>>,
    stop: Stop,
    _watch: Watch,
}

impl Stage {
    /// Makes room for rows in a session of its own. `file` is a name that is free, for what SQLite
    /// keeps; it is gone from its directory when this returns.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where the database cannot be reached, [`Error::Internal`] for a plan
    /// that names what is not there.
    pub fn begin(database: &Database, file: &Path, plan: Plan, stop: Stop) -> Result<Self> {
        let dialect = database.dialect();
        let target = database.target();
        let (mut loader, watch) = watch::open(database, &target, file, &stop)?;
        let mut plan = plan;
        let asked = Known::ask(&mut loader, dialect, &mut plan);
        let known = asked.map_err(|error| or_stopped(&stop, error))?;
        let rules = plan.rules(known.unique.clone());
        let mut stage = Self { loader, dialect, plan, known, rules, stop, _watch: watch };
        for statement in stage.sql().make() {
            stage.run(&statement)?;
        }
        Ok(stage)
    }

    fn sql(&self) -> Sql<'_> {
        Sql { dialect: self.dialect, plan: &self.plan, known: &self.known, rules: &self.rules }
    }

    /// What the table's columns demand of values by themselves, in the order of the plan.
    #[must_use]
    pub fn demands(&self) -> &[Demand] {
        &self.known.demands
    }

    /// Stages the rows that `source` pushes: the row's number, whether a cell of it is at fault, and
    /// the values of the plan's columns, null where they are at fault.
    ///
    /// # Errors
    /// As [`Loader::load`]; the stop's.
    pub fn fill(&mut self, source: &mut dyn FnMut(&mut dyn RowSink) -> Result<()>) -> Result<u64> {
        let names: Vec<String> =
            (0..self.plan.columns.len()).map(|index| format!("c{index}")).collect();
        let kinds = names.iter().zip(&self.plan.columns);
        let columns: Vec<(&str, Kind)> = [("row_no", Kind::Int), ("bad", Kind::Bool)]
            .into_iter()
            .chain(kinds.map(|(name, column)| (name.as_str(), column.kind)))
            .collect();
        let table = Table { name: ROWS, columns: &columns };
        // One transaction of the file that is attached; the main one is not touched.
        let alone = self.dialect == Dialect::Sqlite;
        if alone {
            self.loader.execute("BEGIN")?;
        }
        let filled = self.loader.load(&table, source);
        let filled = self.or_stopped(filled)?;
        if alone {
            self.loader.execute("COMMIT")?;
        }
        if self.dialect == Dialect::Postgres {
            self.loader.execute(&format!("ANALYZE {ROWS}"))?;
        }
        Ok(filled)
    }

    /// Begins what must be seen as one: the checks against what is stored, and the merge. From here
    /// to the commit other writers wait, unless this is a trial.
    ///
    /// # Errors
    /// [`Error::Busy`] where another writer is in the way for too long.
    pub fn hold(&mut self, database: &Database, trial: bool) -> Result<()> {
        // Over a connection of its own, before anything is locked; a trial leaves no trace.
        if trial {
            can_note(database)?;
        } else {
            prepare_notes(&database.target())?;
        }
        let statement = match (self.dialect, trial) {
            (Dialect::Sqlite, false) => "BEGIN IMMEDIATE".to_owned(),
            // What others commit meanwhile is not seen.
            (Dialect::Sqlite, true) => "BEGIN".to_owned(),
            (Dialect::Postgres, false) => format!(
                "SET LOCAL lock_timeout = '10s'; LOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE",
                self.sql().table(&self.plan.into)
            ),
            (Dialect::Postgres, true) => return Ok(()),
            (Dialect::MySql, _) => {
                self.loader.execute("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")?;
                "START TRANSACTION".to_owned()
            }
        };
        self.run(&statement).map(drop)
    }

    /// Finds what is wrong between rows and with what is stored, and tells it in the order of the
    /// rows, of a row in the order of the columns.
    ///
    /// # Errors
    /// What the database says; what `each` does.
    pub fn find(&mut self, each: &mut dyn FnMut(Found) -> Result<()>) -> Result<()> {
        for statement in self.sql().find() {
            self.run(&statement)?;
        }
        let (faults, rules) = (sql::faults(), &self.rules);
        let told = self.loader.integers(&faults, &mut |row| each(found(row, rules)?));
        self.or_stopped(told)
    }

    /// How many rows are at fault, with a cell or by what was found.
    ///
    /// # Errors
    /// What the database says.
    pub fn count_bad(&mut self) -> Result<u64> {
        self.count(&sql::count_bad())
    }

    /// Takes the rows at fault away.
    ///
    /// # Errors
    /// What the database says.
    pub fn discard_bad(&mut self) -> Result<()> {
        self.run(&sql::discard()).map(drop)
    }

    /// Notes that a run was committed, with what it came to; the commit is of both.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where the run was given up for another; the stop's; what the database
    /// says.
    pub fn note(&mut self, run: &str, import: &str, result: &str) -> Result<()> {
        let sql = self.sql();
        let note = format!(
            "INSERT INTO {NOTES} (run_id, import, committed_at, result) VALUES ({}, {}, {}, {})",
            sql.literal(run),
            sql.literal(import),
            sql.literal(&jiff::Timestamp::now().to_string()),
            sql.literal(result)
        );
        self.run(&note).map_err(|error| match error {
            // The other has written so in its place.
            Error::Invalid(_) => given_up(),
            other => other,
        })?;
        self.stop.check()
    }

    /// Commits the merge and its note.
    ///
    /// # Errors
    /// What the database says; whether it was committed is then told by [`committed`].
    pub fn commit(self) -> Result<()> {
        self.loader.commit(&[])
    }

    fn run(&mut self, sql: &str) -> Result<u64> {
        let ran = self.loader.execute(sql);
        self.or_stopped(ran)
    }

    fn count(&mut self, sql: &str) -> Result<u64> {
        let counted = self.loader.integer(sql);
        let counted = self.or_stopped(counted)?;
        Ok(u64::try_from(counted).unwrap_or_default())
    }

    /// What a stopped statement says is that it was stopped.
    fn or_stopped<T>(&self, result: Result<T>) -> Result<T> {
        result.map_err(|error| or_stopped(&self.stop, error))
    }
}

fn or_stopped(stop: &Stop, error: Error) -> Error {
    if stop.is_fired() { stop.error() } else { error }
}

fn found(row: &[Option<i64>], rules: &[Vec<usize>]) -> Result<Found> {
    let [Some(row), Some(column), Some(code), Some(rule), Some(other)] = row else {
        return Err(Error::internal("checking staged rows", format!("{FAULTS} holds nulls")));
    };
    let number = |value: i64| u64::try_from(value).unwrap_or_default();
    let index = |value: i64| usize::try_from(value).unwrap_or_default();
    let together = || rules.get(index(*rule)).cloned().unwrap_or_default();
    let (clash, columns) = match *code {
        DOUBLED => (Clash::Doubled(number(*other)), together()),
        TAKEN => (Clash::Taken, together()),
        MISSING => (Clash::Missing, vec![index(*column)]),
        BEYOND => (Clash::Beyond, together()),
        code => return Err(Error::internal("checking staged rows", format!("the code {code}"))),
    };
    Ok(Found { row: number(*row), columns, clash })
}
