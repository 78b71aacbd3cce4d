//! Tests of what becomes of cells, columns, parameters and mappings, without files.

mod cells;
mod columns;
mod headers;
mod request;
mod table;

use super::headers::Rename;
use crate::error::Problem;

fn renames(pairs: &[(&str, &str)]) -> Vec<Rename> {
    let rename = |(from, to): &(&str, &str)| Rename { from: (*from).into(), to: (*to).into() };
    pairs.iter().map(rename).collect()
}

fn codes(problems: &[Problem]) -> Vec<(&str, &str)> {
    problems
        .iter()
        .map(|problem| (problem.parameter.as_deref().unwrap_or_default(), problem.code))
        .collect()
}
