//! From a file to rows that are stored, or to the reasons why not. Blocks.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;

use super::back;
use super::checker::{Checker, Learnt, Rules};
use super::faults::{Fault, FaultFile, merged};
use super::headers::letters;
use super::outcome::{LISTED, Note, Outcome, RowProblem};
use super::rejects::{self, Rejects};
use super::request::{Asked, OnProblem};
use crate::database::{
    Clash, Database, Found, Plan, Referenced, Stage, Staged, TableName, committed,
};
use crate::definitions::{Field, Import, Takes};
use crate::error::{Error, Result};
use crate::rows::RowSink;
use crate::runs::{Progress, Stop, Timings};
use crate::sheets::{Reader, Remark, Wanted};
use crate::spool::{Spool, What};
use uuid::Uuid;

/// One import about to be done.
pub(super) struct Walk {
    pub(super) run: Uuid,
    pub(super) import: Arc<Import>,
    pub(super) database: Database,
    pub(super) reader: Reader,
    pub(super) asked: Asked,
    pub(super) held_to: Vec<Option<Vec<String>>>,
    pub(super) zone: TimeZone,
    pub(super) max_rows: u64,
    pub(super) spool: Spool,
    pub(super) stop: Stop,
    pub(super) progress: Arc<Progress>,
}

/// What is wrong with a file, on disk.
struct Wrong {
    cells: FaultFile,
    between: FaultFile,
}

/// How long the parts of a walk took, that are over or were broken off; the rest was storing.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Spent {
    /// Reading, checking and staging.
    read: Duration,
    /// Comparing rows with each other and with the table.
    compared: Duration,
}

impl Spent {
    /// The same as a run's record has it.
    pub(super) fn timings(self, at_work: Duration) -> Timings {
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Timings {
            queue: 0,
            query: millis(self.compared),
            encode: millis(self.read),
            write: millis(at_work.saturating_sub(self.read + self.compared)),
        }
    }
}

impl Walk {
    /// Goes the whole way with the file at `path`.
    pub(super) fn go(&self, path: &Path, spent: &mut Spent) -> Result<Outcome> {
        let directory = self.spool.directory();
        let mut wrong =
            Wrong { cells: FaultFile::new(directory)?, between: FaultFile::new(directory)? };
        let file = self.spool.free_name(&format!("{}-rows", self.run), "stage");
        let mut stage = Stage::begin(&self.database, &file, self.plan(), self.stop.clone())?;
        let begun = Instant::now();
        let filled = self.fill(path, &mut stage, &mut wrong);
        spent.read = begun.elapsed();
        let (learnt, remarks) = filled?;
        let begun = Instant::now();
        let compared = self.compare(&mut stage, &learnt, &mut wrong);
        spent.compared = begun.elapsed();
        compared?;
        let mut outcome = self.outcome(&learnt, &remarks, &mut wrong)?;
        outcome.rejected = stage.count_bad()?;
        if outcome.rejected > 0 {
            self.keep_rejects(path, &learnt, &mut wrong)?;
            self.fill_in(&mut outcome)?;
            if self.asked.on_problem == OnProblem::Reject {
                return Ok(outcome);
            }
            stage.discard_bad()?;
        }
        self.store(stage, &learnt, outcome)
    }

    /// Reads, checks and stages the rows.
    fn fill(
        &self,
        path: &Path,
        stage: &mut Stage,
        wrong: &mut Wrong,
    ) -> Result<(Learnt, Vec<Remark>)> {
        let demands = stage.demands().to_vec();
        let rules = Rules {
            import: &self.import,
            held_to: &self.held_to,
            demands: &demands,
            zone: &self.zone,
            header_row: self.asked.header_row,
            max_rows: self.import.max_rows.unwrap_or(u64::MAX).min(self.max_rows),
        };
        let (mut learnt, mut remarks) = (Learnt::default(), Vec::new());
        stage.fill(&mut |sink: &mut dyn RowSink| {
            let mut checker = Checker::new(
                &rules,
                sink,
                &mut wrong.cells,
                &self.progress,
                &self.stop,
                &mut learnt,
            );
            remarks = self.reader.read(path, &self.wanted(), &self.stop, &mut checker)?;
            checker.end()
        })?;
        Ok((learnt, remarks))
    }

    fn wanted(&self) -> Wanted {
        Wanted { sheet: self.asked.sheet.clone() }
    }

    /// Finds what is wrong between rows, and with what is stored, which from here on stays as it is.
    fn compare(&self, stage: &mut Stage, learnt: &Learnt, wrong: &mut Wrong) -> Result<()> {
        stage.hold(&self.database, self.asked.dry_run)?;
        stage.find(&mut |found: Found| {
            let (code, detail) = self.said(&found);
            let column = found.columns.first().copied().unwrap_or_default();
            let place = learnt.places.get(column).copied().flatten();
            wrong.between.push(&Fault {
                row: found.row,
                field: column,
                place,
                code: code.into(),
                // Told by the row itself, when it is shown.
                value: String::new(),
                detail,
            })
        })
    }

    fn said(&self, found: &Found) -> (&'static str, String) {
        let fields = &self.import.fields;
        let titles = found.columns.iter().map(|index| fields[*index].title.as_str());
        let what = titles.collect::<Vec<_>>().join(" + ");
        match found.clash {
            Clash::Doubled(row) => (
                "doubled",
                format!("{what} is already used in row {row}; each may come once in a file"),
            ),
            Clash::Missing => {
                ("not_found", format!("there is no such {what}; correct it or add it first"))
            }
            Clash::Taken => (
                "already_stored",
                format!("{what} is already stored; each may come once, so leave the row out"),
            ),
            Clash::Beyond => {
                ("outside_scope", format!("{what} belongs to somebody else; leave the row out"))
            }
        }
    }

    fn outcome(&self, learnt: &Learnt, remarks: &[Remark], wrong: &mut Wrong) -> Result<Outcome> {
        let mut warnings: Vec<Note> = remarks
            .iter()
            .map(|remark| Note { code: remark.code.clone(), detail: remark.detail.clone() })
            .collect();
        let unknown = learnt.headers.iter().flat_map(|headers| &headers.unknown);
        warnings.extend(unknown.map(|title| Note::unknown_column(&storable(title))));
        warnings.extend(learnt.beyond.map(|(first, count)| Note {
            code: "cells_beyond_header".into(),
            detail: format!(
                "{count} rows, the first of them row {first}, have cells beyond the last heading, \
                 which were passed over"
            ),
        }));
        let problems_total = wrong.cells.count() + wrong.between.count();
        let listed = merged(wrong.cells.read()?, wrong.between.read()?).take(LISTED);
        let problems = listed.map(|fault| Ok(self.problem(learnt, fault?)));
        Ok(Outcome {
            run_id: self.run.to_string(),
            stored: false,
            rows_read: learnt.rows,
            inserted: 0,
            updated: 0,
            unchanged: 0,
            rejected: 0,
            warnings,
            problems: problems.collect::<Result<_>>()?,
            problems_total,
        })
    }

    fn problem(&self, learnt: &Learnt, fault: Fault) -> RowProblem {
        let titles = learnt.headers.as_ref().map_or(&[][..], |headers| &headers.titles);
        let column = match fault.place {
            Some(place) => titles.get(place).cloned().unwrap_or_else(|| letters(place)),
            None => self.import.fields[fault.field].title.clone(),
        };
        RowProblem {
            row: fault.row,
            column: storable(&column),
            code: fault.code,
            value: storable(&fault.value),
            detail: storable(&fault.detail),
        }
    }

    /// Keeps the rows at fault as they were sent, which takes a second look at the file.
    fn keep_rejects(&self, path: &Path, learnt: &Learnt, wrong: &mut Wrong) -> Result<()> {
        let Some(headers) = &learnt.headers else { return Ok(()) };
        let faults = merged(wrong.cells.read()?, wrong.between.read()?);
        let mut rejects =
            rejects::Writer::new(&self.spool, self.run, &self.import, headers, faults, &self.stop)?;
        self.reader.read(path, &self.wanted(), &self.stop, &mut rejects)?;
        rejects.finish()
    }

    /// The values of problems that were found between rows.
    fn fill_in(&self, outcome: &mut Outcome) -> Result<()> {
        match self.spool.find(self.run, What::Problems) {
            Some(kept) => back::fill_in(&mut Rejects::open(&kept)?, &mut outcome.problems),
            None => Ok(()),
        }
    }

    /// Stores what is good, or says what storing it would do.
    fn store(&self, mut stage: Stage, learnt: &Learnt, mut outcome: Outcome) -> Result<Outcome> {
        let present: Vec<usize> =
            (0..learnt.places.len()).filter(|field| learnt.places[*field].is_some()).collect();
        let merged =
            if self.asked.dry_run { stage.foresee(&present)? } else { stage.merge(&present)? };
        outcome.inserted = merged.inserted;
        outcome.updated = merged.updated;
        outcome.unchanged = merged.unchanged;
        if !self.asked.dry_run {
            outcome.stored = true;
            let note = serde_json::to_string(&outcome)
                .map_err(|source| Error::internal("noting an import", source))?;
            let run = self.run.to_string();
            stage.note(&run, &self.import.name, &note)?;
            // A connection that breaks on the commit does not say whether it was heard.
            if let Err(error) = stage.commit()
                && committed(&self.database, &run)?.is_none()
            {
                return Err(error);
            }
        }
        Ok(outcome)
    }

    fn plan(&self) -> Plan {
        let import = &self.import;
        let staged = |(field, held_to): (&Field, &Option<Vec<String>>)| Staged {
            column: field.column.clone(),
            kind: field.kind(),
            digits: match field.takes {
                Takes::Decimal { precision, scale, .. } => Some((precision, scale)),
                _ => None,
            },
            unique: field.unique,
            references: field.references.as_ref().map(|reference| Referenced {
                table: TableName {
                    schema: reference.schema.clone(),
                    name: reference.table.clone(),
                },
                column: reference.column.clone(),
            }),
            held_to: held_to.clone(),
        };
        Plan {
            into: TableName { schema: import.into.schema.clone(), name: import.into.table.clone() },
            columns: import.fields.iter().zip(&self.held_to).map(staged).collect(),
            key: import.key.iter().filter_map(|key| import.field(key)).collect(),
        }
    }
}

/// A text as a run's record takes it: PostgreSQL's jsonb cannot hold a NUL.
fn storable(text: &str) -> String {
    text.replace('\0', "\u{2400}")
}
