//! A statement ready to be run: its text, its arguments, and how each cell is to be read.
//!
//! Made by `definitions/`, run by the sources beside this file. Knows no driver.

use jiff::tz::TimeZone;

use crate::rows::Kind;

/// The SQL dialects spoken here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Embedded SQLite.
    Sqlite,
    /// PostgreSQL.
    Postgres,
    /// MySQL and MariaDB.
    MySql,
}

/// One bound argument. What has no native form here (times, dates, decimals) is bound as text under
/// a `CAST`, or under one of the functions that [`crate::database`] registers on SQLite.
#[derive(Debug, Clone, PartialEq)]
pub enum Arg {
    /// SQL NULL.
    Null,
    /// A truth value.
    Bool(bool),
    /// A signed 64-bit integer.
    Int(i64),
    /// A double.
    Float(f64),
    /// Text.
    Text(String),
}

/// What an integer in a time column counts since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
}

/// How the cells of one result column are read.
#[derive(Debug, Clone)]
pub struct Cell {
    /// Names the column in messages.
    pub key: String,
    /// What its cells are read as.
    pub read: Read,
}

/// What cells are read as.
#[derive(Debug, Clone)]
pub enum Read {
    /// As the declared kind; a cell that does not fit it is an error that names row and column.
    As {
        /// The declared kind.
        kind: Kind,
        /// Digits after the point that a decimal held as a binary float is padded to.
        scale: Option<u32>,
        /// The zone of a time without one; UTC when none is declared.
        zone: Option<TimeZone>,
        /// What an integer in a time column counts.
        unit: Option<Unit>,
    },
    /// As it is stored, for the place in the order that a cursor remembers: integers, floats and
    /// text come unchanged, everything else as text that the database would read back as the same
    /// value.
    Stored,
}

/// One statement with its arguments, read-only.
#[derive(Debug, Clone)]
pub struct Query {
    /// SQL with the dialect's own placeholders.
    pub sql: String,
    /// The arguments, in the order of the placeholders.
    pub args: Vec<Arg>,
    /// How each result column is read, in order.
    pub cells: Vec<Cell>,
}
