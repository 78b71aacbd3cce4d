//! A row of headings as it stands, whether it will do as a header or not.

use super::{Headers, Read, is_passed_over, spellings};
use crate::definitions::Import;
use crate::error::Problem;

/// What a row says as a header.
#[derive(Debug, Clone, PartialEq)]
pub struct Matched {
    /// Its headings, and which field each of them is.
    pub headers: Headers,
    /// For each field the columns that are headed by it.
    pub places: Vec<Vec<usize>>,
    /// Why it will not do; empty where it will.
    pub problems: Vec<Problem>,
}

impl Matched {
    /// Matches the headings of a row, or the keys of JSON objects where there is no row.
    #[must_use]
    pub fn new(import: &Import, titles: Vec<String>, row: Option<u64>) -> Self {
        let read = Read::new(import, &spellings(import), titles, row);
        let problems = read.faults();
        let Read { headers, places, .. } = read;
        Self { headers, places, problems }
    }

    /// How many fields are found in it.
    #[must_use]
    pub fn found(&self) -> usize {
        self.places.iter().filter(|places| !places.is_empty()).count()
    }

    /// Whether a column is passed over without a word: it has no heading that can be seen, or the one
    /// of what was wrong with a row that was handed back.
    #[must_use]
    pub fn is_ignored(&self, column: usize) -> bool {
        let title = self.headers.titles.get(column).map_or("", String::as_str);
        self.headers.columns.get(column).is_none_or(Option::is_none) && is_passed_over(title)
    }
}
