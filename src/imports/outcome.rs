//! What an import came to, as its answer, its run and its note say.

use serde::{Deserialize, Serialize};

/// Problems that are listed; all are counted.
pub const LISTED: usize = 1_000;

/// What an import came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Outcome {
    /// The run that did it.
    pub run_id: String,
    /// Whether rows were stored.
    pub stored: bool,
    /// Rows that hold something, below the header.
    pub rows_read: u64,
    /// Rows that were not there before.
    pub inserted: u64,
    /// Rows that were there and differed.
    pub updated: u64,
    /// Rows that were there as they are.
    pub unchanged: u64,
    /// Rows with problems.
    pub rejected: u64,
    /// What was noticed and is no problem.
    pub warnings: Vec<Note>,
    /// The first problems, in the order of the rows.
    pub problems: Vec<RowProblem>,
    /// How many there are in all.
    pub problems_total: u64,
}

/// Something noticed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Note {
    /// A stable `snake_case` word.
    pub code: String,
    /// What, in words.
    pub detail: String,
}

impl Note {
    /// That a column of a file is none of the import's.
    #[must_use]
    pub(super) fn unknown_column(title: &str) -> Self {
        Self {
            code: "unknown_column".into(),
            detail: format!("the column \"{title}\" is not known here and was passed over"),
        }
    }
}

/// What is wrong with one cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RowProblem {
    /// The row as a person sees it in the spreadsheet.
    pub row: u64,
    /// The column's title, as the file has it.
    pub column: String,
    /// A stable `snake_case` word.
    pub code: String,
    /// The value as it was sent.
    pub value: String,
    /// What is wrong and how to mend it.
    pub detail: String,
}
