//! A checked import definition. What is in it can be relied on; whether its tables and columns
//! exist is found out against the live database, which finds the lines here.

use std::collections::BTreeMap;

use regex::Regex;

use super::report::Zone;
use crate::access::Caller;
use crate::rows::{Date, Instant, Kind};

/// An import: which columns a file has, what may stand in them, and where its rows go.
#[derive(Debug, Clone, PartialEq)]
pub struct Import {
    /// Names it in addresses: lowercase letters, digits, `-` and `_`.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// What it is for, in a sentence or two.
    pub description: Option<String>,
    /// The configured database that it writes to, where it is not the first one.
    pub database: Option<String>,
    /// The table that it writes to.
    pub into: Target,
    /// The keys of the fields by which a row is known again, each of them required. Empty: rows are
    /// inserted and never updated.
    pub key: Vec<String>,
    /// For each dimension that a caller may be held to, the key of the field that says it, a whole
    /// number or a text.
    pub scope: BTreeMap<String, String>,
    /// What is done about a column of the file that no field takes.
    pub unknown_columns: UnknownColumns,
    /// The most rows that one file may have, where it is fewer than the server lets in.
    pub max_rows: Option<u64>,
    /// Its fields, in the order of the file; never empty.
    pub fields: Vec<Field>,
    /// The file it was read from, for messages.
    pub file: String,
    /// The line of `into`, counted from 1.
    pub line: usize,
}

/// A table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The schema, where one is named.
    pub schema: Option<String>,
    /// The table's name.
    pub table: String,
}

/// What is done about a column of a file that no field takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnknownColumns {
    /// It is passed over, with a warning that names it.
    #[default]
    Ignore,
    /// The file is refused.
    Reject,
}

/// One column of the file and of the table.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Its name for machines, unique in the import.
    pub key: String,
    /// The table's column.
    pub column: String,
    /// Its name for people.
    pub title: String,
    /// Further headings that it is known by; [`Field::spellings`] has all of them.
    pub headers: Vec<String>,
    /// What may stand in it.
    pub takes: Takes,
    /// Whether an empty cell is a fault.
    pub required: bool,
    /// Whether no value may come twice, in the file and in the table.
    pub unique: bool,
    /// The column of another table in which each value must be found.
    pub references: Option<Reference>,
    /// A value for people to see what is meant.
    pub example: Option<String>,
    /// Where it stands, counted from 1.
    pub line: usize,
}

/// What may stand in a column, by its type.
#[derive(Debug, Clone, PartialEq)]
pub enum Takes {
    /// Any text.
    Text {
        /// The most characters (Unicode scalar values, as databases count them).
        max_length: Option<usize>,
        /// What it must look like.
        pattern: Option<Pattern>,
        /// The texts that it may be, exactly; empty: any.
        one_of: Vec<String>,
    },
    /// A whole number of at most 64 bits.
    Int(Bounds<i64>),
    /// An exact number.
    Decimal {
        /// Digits in all, 1 to 38.
        precision: u32,
        /// Digits after the point, 0 to 30 and not more than `precision`.
        scale: u32,
        /// Counted in units of the last digit after the point: 1.50 with a scale of 2 is 150.
        bounds: Bounds<i128>,
    },
    /// A finite binary floating-point number.
    Float(Bounds<f64>),
    /// A truth value.
    Bool,
    /// A day of the years 1 to 9999.
    Date(Bounds<Date>),
    /// A moment of the years 1 to 9999.
    Time {
        /// The zone of wall clock times written without one; the server's when none is declared.
        zone: Option<Zone>,
        /// The first and the last moment.
        bounds: Bounds<Instant>,
    },
}

/// The least and the greatest value that is taken, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds<T> {
    /// The least.
    pub min: Option<T>,
    /// The greatest.
    pub max: Option<T>,
}

impl<T> Default for Bounds<T> {
    fn default() -> Self {
        Self { min: None, max: None }
    }
}

/// What a text must look like, as a whole.
#[derive(Debug, Clone)]
pub struct Pattern {
    /// The expression as it was written.
    pub source: String,
    /// The same in words for people.
    pub hint: Option<String>,
    /// The expression, held to the whole text.
    pub whole: Regex,
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source && self.hint == other.hint
    }
}

/// A column of another table in which values must be found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// Its schema, where one is named.
    pub schema: Option<String>,
    /// Its table.
    pub table: String,
    /// Its column.
    pub column: String,
    /// Where it stands, counted from 1.
    pub line: usize,
}

impl Takes {
    /// The kind of the values that come of it.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Text { .. } => Kind::Text,
            Self::Int(_) => Kind::Int,
            Self::Decimal { .. } => Kind::Decimal,
            Self::Float(_) => Kind::Float,
            Self::Bool => Kind::Bool,
            Self::Date(_) => Kind::Date,
            Self::Time { .. } => Kind::Time,
        }
    }
}

impl Field {
    /// The kind of its values.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        self.takes.kind()
    }

    /// Every heading that it is known by: its title, its key, and the others.
    pub fn spellings(&self) -> impl Iterator<Item = &str> {
        let names = [self.title.as_str(), self.key.as_str()];
        let second = usize::from(self.title == self.key);
        let others = self.headers.iter().map(String::as_str);
        let others = others.filter(move |other| !names.contains(other));
        names.into_iter().skip(second).chain(others)
    }
}

impl Import {
    /// Whether this caller may know that the import exists: each dimension that he is held to must
    /// be mapped to a field. Where it is not, the answer is "not found".
    #[must_use]
    pub fn accessible(&self, caller: &Caller) -> bool {
        caller.scopes.keys().all(|dimension| self.scope.contains_key(dimension))
    }

    /// Whether it came with the program.
    #[must_use]
    pub fn is_built_in(&self) -> bool {
        self.file.starts_with(super::load::BUILT_IN)
    }

    /// The index of the field with this key.
    #[must_use]
    pub fn field(&self, key: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.key == key)
    }
}
