//! What definitions promise: faults with their lines, typed filters, exact statements, the scope in
//! every one of them, cursors that notice.

mod cursors;
mod files;
mod imports;
mod parsing;
mod request;
mod scope;
mod sqlite;
mod statements;
mod units;
mod words;

use std::path::Path;
use std::sync::Arc;

use jiff::tz::TimeZone;

use super::{BuiltIn, Definitions, Fault, Filters, Report, parse_filters};
use crate::error::Problem;

/// The definition that comes with the program.
const SETTLEMENTS: &str = include_str!("../../reports/settlements.toml");

/// A table with a column of every kind that filters tell apart.
const LEDGER: &str = r#"
from = "books.ledger"
order_by = ["at desc", "id"]
scope = { merchant = "merchant_id", region = { column = "region", type = "text" } }
columns = [
  { key = "id", type = "int" },
  { key = "merchant_id", type = "int" },
  { key = "note", type = "text" },
  { key = "amount", type = "decimal", scale = 2 },
  { key = "rate", type = "float" },
  { key = "open", type = "bool" },
  { key = "day", type = "date" },
  { key = "at", type = "time" },
  { key = "local", type = "time", zone = "Asia/Seoul" },
  { key = "epoch", type = "time", unit = "seconds" },
  { key = "extra", type = "json" },
]
filters = [
  { name = "id", column = "id", op = "in" },
  { name = "note", column = "note", op = "=" },
  { name = "note_has", column = "note", op = "contains" },
  { name = "note_begins", column = "note", op = "prefix" },
  { name = "amount", column = "amount", op = ">=" },
  { name = "amounts", column = "amount", op = "in" },
  { name = "rate", column = "rate", op = "<" },
  { name = "open", column = "open", op = "=" },
  { name = "day", column = "day", op = "=" },
  { name = "not_day", column = "day", op = "!=" },
  { name = "day_to", column = "day", op = "<=" },
  { name = "days", column = "day", op = "in" },
  { name = "at", column = "at", op = "=" },
  { name = "not_at", column = "at", op = "!=" },
  { name = "from", column = "at", op = ">=" },
  { name = "after_at", column = "at", op = ">" },
  { name = "to", column = "at", op = "<" },
  { name = "until", column = "at", op = "<=" },
  { name = "local", column = "local", op = ">=" },
  { name = "epoch", column = "epoch", op = ">=" },
  { name = "epoch_to", column = "epoch", op = "<=" },
  { name = "epoch_is", column = "epoch", op = "=" },
  { name = "no_extra", column = "extra", op = "is_null" },
  { name = "merchant", column = "merchant_id", op = "in" },
]
"#;

fn load(text: &str) -> Definitions {
    Definitions::load(BuiltIn { reports: &[("x", text)], ..BuiltIn::default() }, None::<&Path>)
}

#[track_caller]
fn report(text: &str) -> Arc<Report> {
    let definitions = load(text);
    assert_eq!(definitions.faults, Vec::<Fault>::new());
    definitions.reports.get("x").cloned().expect("a definition without faults gives a report")
}

fn seoul() -> TimeZone {
    TimeZone::get("Asia/Seoul").expect("the zone database has Seoul")
}

fn typed(report: &Report, pairs: &[(&str, &str)]) -> (Filters, Vec<Problem>) {
    let pairs: Vec<(String, String)> =
        pairs.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    let mut problems = Vec::new();
    let filters = parse_filters(report, &pairs, &[], &seoul(), &mut problems);
    (filters, problems)
}

#[track_caller]
fn filters(report: &Report, pairs: &[(&str, &str)]) -> Filters {
    let (filters, problems) = typed(report, pairs);
    assert_eq!(problems, Vec::new());
    filters
}
