//! Text that others have mangled: formulas, leading zeros, line breaks, quotes, emoji.

use super::csv::read;
use super::{column, encoded};
use crate::formats::{Format, Options};
use crate::rows::{Column, Kind, Value};

const ROWS: &str =
    include_str!("../../../tests/fixtures/033-export-text-and-formula-injection/rows.json");

#[derive(Debug, PartialEq, serde::Deserialize)]
struct Row {
    id: i64,
    v: String,
}

fn rows() -> Vec<Row> {
    serde_json::from_str(ROWS).unwrap()
}

fn columns() -> [Column; 2] {
    [column("id", Kind::Int), column("v", Kind::Text)]
}

fn written(format: Format, options: &Options) -> String {
    let rows = rows();
    let values: Vec<_> =
        rows.iter().map(|row| vec![Value::Int(row.id), Value::Text(&row.v)]).collect();
    encoded(format, &columns(), options, &values)
}

#[test]
fn ndjson_has_every_text_as_it_is_one_a_line() {
    let text = written(Format::Ndjson, &Options::default());
    let found: Vec<Row> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(found, rows());
}

#[test]
fn json_has_every_text_as_it_is() {
    let text = written(Format::Json, &Options::default());
    assert_eq!(serde_json::from_str::<Vec<Row>>(&text).unwrap(), rows());
}

#[test]
fn csv_without_the_guard_reads_back_exactly() {
    let options = Options { formula_guard: false, ..Options::default() };
    let records = read(&written(Format::Csv, &options), b',');
    let found: Vec<Row> = records[1..]
        .iter()
        .map(|record| Row {
            id: record[0].as_ref().unwrap().parse().unwrap(),
            v: record[1].clone().unwrap(),
        })
        .collect();
    assert_eq!(found, rows());
}

#[test]
fn csv_with_the_guard_prefixes_what_could_run_and_nothing_else() {
    let records = read(&written(Format::Csv, &Options::default()), b',');
    let guarded: Vec<i64> = rows()
        .iter()
        .zip(&records[1..])
        .filter(|(row, record)| {
            let field = record[1].as_deref().unwrap();
            assert_eq!(field.strip_prefix('\'').unwrap_or(field), row.v);
            field != row.v
        })
        .map(|(row, _)| row.id)
        .collect();
    assert_eq!(guarded, [1, 2, 3, 5, 6, 7, 8, 19]);
}
