//! A checked report definition. What is in it can be relied on; whether its tables and columns
//! exist is found out against the live database, which finds the lines here.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;

use crate::access::Caller;
use crate::database::Unit;
use crate::rows::{Column, Kind};

/// The parameters of a report's rows that are the endpoint's own; no filter is named like one.
pub const ROWS_PARAMETERS: [&str; 13] = [
    "format",
    "delivery",
    "columns",
    "limit",
    "after",
    "tz",
    "numbers",
    "summary",
    "header",
    "bom",
    "delimiter",
    "formula_guard",
    "filename",
];

/// A report: which rows there are, how they are typed, narrowed, ordered and held to a scope.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Names it in addresses: lowercase letters, digits, `-` and `_`.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// What it is for, in a sentence or two.
    pub description: Option<String>,
    /// The configured database it reads, where it is not the first one.
    pub database: Option<String>,
    /// What it reads.
    pub origin: Origin,
    /// Its order. Empty: the rows come as the database gives them and cannot be paged.
    pub order: Vec<Order>,
    /// For each dimension that a caller may be held to, the column that says it.
    pub scope: BTreeMap<String, ScopeColumn>,
    /// Its columns, in order; never empty.
    pub columns: Vec<Declared>,
    /// What it can be narrowed by.
    pub filters: Vec<Filter>,
    /// The file it was read from, for messages.
    pub file: String,
    /// The line of `from` or `sql`, counted from 1.
    pub line: usize,
}

/// What a report reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A table or view.
    Table {
        /// The schema, where one is named.
        schema: Option<String>,
        /// The table's name.
        name: String,
    },
    /// One `select`, without a semicolon at its end and without placeholders.
    Sql(String),
}

/// One column of the order.
#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    /// The source column.
    pub column: String,
    /// Whether the greatest comes first.
    pub descending: bool,
    /// Whether it is declared never to be NULL.
    pub not_null: bool,
    /// Where it stands, counted from 1.
    pub line: usize,
}

/// The column that one dimension of scopes is held against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeColumn {
    /// The source column.
    pub column: String,
    /// [`Kind::Int`] or [`Kind::Text`].
    pub kind: Kind,
    /// Where it stands, counted from 1.
    pub line: usize,
}

/// A zone with the name it was declared by.
#[derive(Debug, Clone, PartialEq)]
pub struct Zone {
    /// The IANA name.
    pub name: String,
    /// Its rules.
    pub rules: TimeZone,
}

/// A declared column.
#[derive(Debug, Clone, PartialEq)]
pub struct Declared {
    /// As formats see it.
    pub column: Column,
    /// The column of the table or statement that it is read from.
    pub source: String,
    /// Digits after the point of a decimal held as a binary float, 0 to 30.
    pub scale: Option<u32>,
    /// The zone of times that are stored without one; UTC when none is declared.
    pub zone: Option<Zone>,
    /// What an integer in a time column counts since 1970-01-01T00:00:00Z.
    pub unit: Option<Unit>,
    /// Whether it is never NULL, so that pages ordered by it need not look for NULLs.
    pub not_null: bool,
    /// Where it stands, counted from 1.
    pub line: usize,
}

/// What a filter asks of its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Op {
    /// `=`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// One of several values; the parameter may be repeated.
    In,
    /// Has the text within it, by letter case.
    Contains,
    /// Begins with the text, by letter case.
    Prefix,
    /// `true`: is NULL. `false`: is not.
    IsNull,
}

impl Op {
    /// Every operation with its word, in the order that messages list them.
    pub const WORDS: [(&'static str, Self); 10] = [
        ("=", Self::Eq),
        ("!=", Self::Ne),
        ("<", Self::Lt),
        ("<=", Self::Le),
        (">", Self::Gt),
        (">=", Self::Ge),
        ("in", Self::In),
        ("contains", Self::Contains),
        ("prefix", Self::Prefix),
        ("is_null", Self::IsNull),
    ];

    /// The word used for it in definitions and in the API.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Eq => "=",
            Self::Ne => "!=",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
            Self::In => "in",
            Self::Contains => "contains",
            Self::Prefix => "prefix",
            Self::IsNull => "is_null",
        }
    }
}

/// What a report can be narrowed by.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    /// The parameter's name.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// The source column that it narrows.
    pub column: String,
    /// What it asks of the column.
    pub op: Op,
    /// What the column holds and, but for [`Op::IsNull`], what the parameter takes.
    pub kind: Kind,
    /// The declared zone of a time column.
    pub zone: Option<Zone>,
    /// The declared unit of an integer time column.
    pub unit: Option<Unit>,
    /// The declared scale of a decimal column.
    pub scale: Option<u32>,
    /// Whether a request without it is refused.
    pub required: bool,
    /// Where it stands, counted from 1.
    pub line: usize,
}

impl Filter {
    /// What the parameter takes: the column's kind, or `true` and `false` for [`Op::IsNull`].
    #[must_use]
    pub fn takes(&self) -> Kind {
        if self.op == Op::IsNull { Kind::Bool } else { self.kind }
    }
}

impl Report {
    /// Whether this caller may know that the report exists: each dimension that he is held to must
    /// be mapped to a column. Where it is not, the answer is "not found".
    #[must_use]
    pub fn accessible(&self, caller: &Caller) -> bool {
        caller.scopes.keys().all(|dimension| self.scope.contains_key(dimension))
    }

    /// Whether it came with the program.
    #[must_use]
    pub fn is_built_in(&self) -> bool {
        self.file.starts_with(super::load::BUILT_IN)
    }

    /// The index of the column with this key.
    #[must_use]
    pub fn column(&self, key: &str) -> Option<usize> {
        self.columns.iter().position(|declared| declared.column.key == key)
    }

    /// The order as the API shows it, such as `["paid_at", "id desc"]`.
    #[must_use]
    pub fn order_words(&self) -> Vec<String> {
        let word = |order: &Order| {
            let suffix = if order.descending { " desc" } else { "" };
            format!("{}{suffix}", order.column)
        };
        self.order.iter().map(word).collect()
    }
}
