//! The statements of each dialect: rows and their numbers go into a table of the session's own, what is
//! wrong between rows is found by sets, and one merge takes the rest over.
//!
//! Text alone; nothing here talks to a database.

use std::borrow::Cow;

use super::catalogue::Known;
use super::plan::{Plan, Referenced, TableName, quoted};
use crate::database::Dialect;
use crate::rows::Kind;

/// The staged rows, and what is wrong with them.
pub(super) const ROWS: &str = "tallyroll_staged";
pub(super) const FAULTS: &str = "tallyroll_faults";

/// Codes in the faults' table.
pub(super) const DOUBLED: i64 = 1;
pub(super) const MISSING: i64 = 2;
pub(super) const TAKEN: i64 = 3;
pub(super) const BEYOND: i64 = 4;

/// The faults in the order of the file.
pub(super) fn faults() -> String {
    format!("SELECT row_no, col, code, rule, other FROM {FAULTS} ORDER BY row_no, col, code")
}

/// How many rows have a fault, of a cell or of these.
pub(super) fn count_bad() -> String {
    format!("SELECT count(*) FROM {ROWS} WHERE {BAD}", BAD = bad())
}

/// Takes rows with faults away.
pub(super) fn discard() -> String {
    format!("DELETE FROM {ROWS} WHERE {BAD}", BAD = bad())
}

fn bad() -> String {
    format!("bad OR row_no IN (SELECT row_no FROM {FAULTS})")
}

fn note(select: &str) -> String {
    format!("INSERT INTO {FAULTS} (row_no, col, code, rule, other) {select}")
}

/// Which of the staged rows.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part {
    All,
    /// Those with numbers from the first to the last, both included.
    Rows(i64, i64),
}

impl Part {
    fn rows(self) -> Cow<'static, str> {
        match self {
            Self::All => ROWS.into(),
            Self::Rows(first, last) => {
                format!("(SELECT * FROM {ROWS} WHERE row_no BETWEEN {first} AND {last})").into()
            }
        }
    }
}

/// Makes the statements.
pub(super) struct Sql<'p> {
    pub(super) dialect: Dialect,
    pub(super) plan: &'p Plan,
    pub(super) known: &'p Known,
    /// The columns that no two rows may share together, the key's first where there is one.
    pub(super) rules: &'p [Vec<usize>],
}

impl Sql<'_> {
    pub(super) fn quoted(&self, name: &str) -> String {
        quoted(name, self.dialect)
    }

    pub(super) fn table(&self, table: &TableName) -> String {
        table.quoted(self.dialect)
    }

    /// Makes the tables that hold rows and faults until the session ends.
    pub(super) fn make(&self) -> Vec<String> {
        let columns: Vec<String> = (0..self.plan.columns.len())
            .map(|index| format!("c{index} {}", self.type_of(index)))
            .collect();
        let columns = columns.join(", ");
        let (create, number, end) = match self.dialect {
            // In a file that is attached under a name of its own.
            Dialect::Sqlite => ("CREATE TABLE stage.", "integer PRIMARY KEY", ""),
            Dialect::Postgres => ("CREATE TEMPORARY TABLE ", "bigint NOT NULL", "ON COMMIT DROP"),
            Dialect::MySql => ("CREATE TEMPORARY TABLE ", "bigint NOT NULL PRIMARY KEY", ""),
        };
        vec![
            format!("{create}{ROWS} (row_no {number}, bad boolean NOT NULL, {columns}) {end}"),
            format!(
                "{create}{FAULTS} (row_no bigint NOT NULL, col bigint NOT NULL, \
                 code bigint NOT NULL, rule bigint NOT NULL, other bigint NOT NULL) {end}"
            ),
        ]
    }

    fn type_of(&self, index: usize) -> String {
        let column = &self.plan.columns[index];
        let collation = self.known.collations.get(index).and_then(Option::as_deref);
        let word = match (self.dialect, column.kind) {
            (Dialect::Sqlite, Kind::Text) => {
                return format!("text COLLATE {}", collation.unwrap_or("BINARY"));
            }
            (Dialect::Sqlite, Kind::Int | Kind::Bool) => "integer",
            (Dialect::Sqlite, Kind::Float) => "real",
            (Dialect::Sqlite, _) | (Dialect::Postgres, Kind::Text | Kind::Json) => "text",
            (_, Kind::Int) => "bigint",
            (_, Kind::Bool) => "boolean",
            (Dialect::Postgres, Kind::Float) => "double precision",
            (Dialect::MySql, Kind::Float) => "double",
            (Dialect::Postgres, Kind::Decimal) => "numeric",
            (Dialect::MySql, Kind::Decimal) => {
                let (precision, scale) = column.digits.unwrap_or((65, 30));
                return format!("decimal({precision},{scale})");
            }
            (_, Kind::Date) => "date",
            (Dialect::Postgres, Kind::Time) => "timestamptz",
            (Dialect::MySql, Kind::Time) => "datetime(6)",
            (Dialect::MySql, Kind::Text | Kind::Json) => {
                return format!(
                    "longtext CHARACTER SET utf8mb4 COLLATE {}",
                    collation.unwrap_or("utf8mb4_bin")
                );
            }
        };
        word.to_owned()
    }

    /// A staged value as the table's column takes it.
    fn cast(&self, index: usize) -> String {
        match self.known.types.get(index).and_then(Option::as_deref) {
            Some(kind) => format!("CAST(s.c{index} AS {kind})"),
            None => format!("s.c{index}"),
        }
    }

    fn target(&self, index: usize) -> String {
        format!("t.{}", self.quoted(&self.plan.columns[index].column))
    }

    /// The condition that a staged row `s` and a stored one `t` are the same.
    fn same(&self) -> String {
        self.alike(&self.plan.key)
    }

    /// The condition that a staged row `s` and a stored one `t` share these columns.
    fn alike(&self, columns: &[usize]) -> String {
        let same: Vec<String> = columns
            .iter()
            // The stored one first: on SQLite its collation decides.
            .map(|index| format!("{} = {}", self.target(*index), self.cast(*index)))
            .collect();
        same.join(" AND ")
    }

    /// The condition that one of these columns of `t` is to be changed.
    fn differs(&self, columns: &[usize]) -> String {
        let differs = |index: &usize| {
            let (stored, staged) = (self.target(*index), self.cast(*index));
            match (self.dialect, self.plan.columns[*index].kind) {
                // Whatever their collation takes for equal.
                (Dialect::Sqlite, _) => format!("{stored} IS NOT {staged} COLLATE BINARY"),
                (Dialect::Postgres, _) => format!("{stored} IS DISTINCT FROM {staged}"),
                (Dialect::MySql, Kind::Text | Kind::Json) => format!(
                    "NOT (CONVERT({stored} USING utf8mb4) COLLATE utf8mb4_bin <=> \
                     {staged} COLLATE utf8mb4_bin)"
                ),
                (Dialect::MySql, _) => format!("NOT ({stored} <=> {staged})"),
            }
        };
        let differs: Vec<String> = columns.iter().map(differs).collect();
        format!("({})", differs.join(" OR "))
    }

    /// Statements that write down what is wrong between rows, and between rows and tables.
    pub(super) fn find(&self) -> Vec<String> {
        let mut statements = Vec::new();
        for (rule, columns) in self.rules.iter().enumerate() {
            statements.push(self.doubled(rule, columns));
            if *columns != self.plan.key {
                statements.push(self.taken(rule, columns));
            }
        }
        if let Some(first) = self.plan.key.first() {
            statements.extend(self.beyond(*first));
        }
        for (index, column) in self.plan.columns.iter().enumerate() {
            if let Some(references) = &column.references {
                statements.push(self.missing(index, references));
            }
        }
        statements
    }

    /// Rows whose values in these columns an earlier row has.
    fn doubled(&self, rule: usize, columns: &[usize]) -> String {
        let each = |part: &dyn Fn(usize) -> String, between| {
            columns.iter().map(|index| part(*index)).collect::<Vec<_>>().join(between)
        };
        note(&format!(
            "SELECT row_no, {}, {DOUBLED}, {rule}, earliest FROM (SELECT s.row_no, \
             min(s.row_no) OVER (PARTITION BY {}) AS earliest FROM {ROWS} AS s WHERE {}) AS d \
             WHERE earliest < row_no",
            columns.first().copied().unwrap_or_default(),
            each(&|index| self.cast(index), ", "),
            each(&|index| format!("s.c{index} IS NOT NULL"), " AND "),
        ))
    }

    fn missing(&self, index: usize, references: &Referenced) -> String {
        note(&format!(
            "SELECT s.row_no, {index}, {MISSING}, 0, 0 FROM {ROWS} AS s WHERE s.c{index} IS NOT NULL \
             AND NOT EXISTS (SELECT 1 FROM {} AS r WHERE r.{} = {})",
            self.table(&references.table),
            self.quoted(&references.column),
            self.cast(index)
        ))
    }

    /// Rows whose values in these columns another stored row has.
    fn taken(&self, rule: usize, columns: &[usize]) -> String {
        let other = if self.plan.key.is_empty() {
            String::new()
        } else {
            format!(" AND NOT ({})", self.same())
        };
        note(&format!(
            "SELECT DISTINCT s.row_no, {}, {TAKEN}, {rule}, 0 FROM {ROWS} AS s JOIN {} AS t \
             ON {}{other}",
            columns.first().copied().unwrap_or_default(),
            self.table(&self.plan.into),
            self.alike(columns),
        ))
    }

    /// Rows whose stored version lies beyond what the caller is held to.
    fn beyond(&self, at: usize) -> Vec<String> {
        let held = self.plan.columns.iter().enumerate();
        held.filter_map(|(index, column)| {
            let values: Vec<String> =
                column.held_to.as_ref()?.iter().map(|value| self.literal(value)).collect();
            let stored = self.target(index);
            let within = match values.as_slice() {
                [] => "1 = 0".to_owned(),
                values => format!("{stored} IN ({})", values.join(", ")),
            };
            Some(note(&format!(
                "SELECT DISTINCT s.row_no, {at}, {BEYOND}, 0, 0 FROM {ROWS} AS s JOIN {} AS t \
                 ON {} WHERE {stored} IS NULL OR NOT ({within})",
                self.table(&self.plan.into),
                self.same()
            )))
        })
        .collect()
    }

    /// A text as a literal, whatever the dialect makes of backslashes.
    pub(super) fn literal(&self, text: &str) -> String {
        let quoted = text.replace('\'', "''");
        match self.dialect {
            Dialect::Sqlite | Dialect::Postgres => format!("'{quoted}'"),
            Dialect::MySql => format!("'{}'", quoted.replace('\\', "\\\\")),
        }
    }

    /// What a file's columns change in a stored row.
    fn changed(&self, present: &[usize]) -> Vec<usize> {
        present.iter().copied().filter(|index| !self.plan.key.contains(index)).collect()
    }

    /// Changes stored rows that differ; nothing where there are none to change.
    pub(super) fn update(&self, present: &[usize], part: Part) -> Option<String> {
        let changed = self.changed(present);
        if self.plan.key.is_empty() || changed.is_empty() {
            return None;
        }
        let (into, rows) = (self.table(&self.plan.into), part.rows());
        let set = |index: &usize| {
            let name = self.quoted(&self.plan.columns[*index].column);
            let name = if self.dialect == Dialect::MySql { format!("t.{name}") } else { name };
            format!("{name} = {}", self.cast(*index))
        };
        let set: Vec<String> = changed.iter().map(set).collect();
        let (set, same, differs) = (set.join(", "), self.same(), self.differs(&changed));
        Some(match self.dialect {
            Dialect::MySql => {
                format!("UPDATE {into} AS t JOIN {rows} AS s ON {same} SET {set} WHERE {differs}")
            }
            Dialect::Sqlite | Dialect::Postgres => {
                format!("UPDATE {into} AS t SET {set} FROM {rows} AS s WHERE {same} AND {differs}")
            }
        })
    }

    /// Adds the rows that are not stored yet.
    pub(super) fn insert(&self, present: &[usize], part: Part) -> String {
        let names: Vec<String> =
            present.iter().map(|index| self.quoted(&self.plan.columns[*index].column)).collect();
        let values: Vec<String> = present.iter().map(|index| self.cast(*index)).collect();
        format!(
            "INSERT INTO {} ({}) SELECT {} FROM {} AS s{} ORDER BY s.row_no",
            self.table(&self.plan.into),
            names.join(", "),
            values.join(", "),
            part.rows(),
            self.unless_stored("")
        )
    }

    /// The condition that leaves out what is stored; what is found so stays so until the end of the
    /// transaction where `lock` says it.
    fn unless_stored(&self, lock: &str) -> String {
        if self.plan.key.is_empty() {
            return String::new();
        }
        let into = self.table(&self.plan.into);
        format!(" WHERE NOT EXISTS (SELECT 1 FROM {into} AS t WHERE {}{lock})", self.same())
    }

    /// How many rows an update would change; nothing where it would change none.
    pub(super) fn count_updates(&self, present: &[usize]) -> Option<String> {
        let changed = self.changed(present);
        if self.plan.key.is_empty() || changed.is_empty() {
            return None;
        }
        Some(format!(
            "SELECT count(*) FROM {ROWS} AS s JOIN {} AS t ON {} WHERE {}",
            self.table(&self.plan.into),
            self.same(),
            self.differs(&changed)
        ))
    }

    /// How many rows an insert would add.
    pub(super) fn count_inserts(&self) -> String {
        format!("SELECT count(*) FROM {ROWS} AS s{}", self.unless_stored(""))
    }

    /// How many rows an insert would add, also at the end of the transaction: those that are stored are
    /// kept from being deleted where nothing else keeps other writers out.
    pub(super) fn count_inserts_for_good(&self) -> String {
        let lock = match self.dialect {
            Dialect::MySql => " LOCK IN SHARE MODE",
            Dialect::Sqlite | Dialect::Postgres => "",
        };
        format!("SELECT count(*) FROM {ROWS} AS s{}", self.unless_stored(lock))
    }
}
