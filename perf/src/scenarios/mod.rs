//! The scenarios: one file each, and one entry here.

mod rows;

use crate::bench::Bench;
use crate::error::Result;
use crate::results::Outcome;

/// Something to measure.
#[derive(Debug)]
pub(crate) struct Scenario {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// What it measures, in a sentence.
    pub(crate) about: &'static str,
    /// Does it.
    pub(crate) run: fn(&Bench) -> Result<Outcome>,
}

/// Every scenario.
pub(crate) static ALL: &[Scenario] = &[Scenario {
    name: "rows",
    about: "the whole of a report as ndjson, json and csv, beside psql and sqlite3",
    run: rows::run,
}];

/// The scenario of that name.
pub(crate) fn find(name: &str) -> Option<&'static Scenario> {
    ALL.iter().find(|scenario| scenario.name == name)
}
