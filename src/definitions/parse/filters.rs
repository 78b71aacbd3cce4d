//! `[[filters]]`: each table → a filter whose operation fits what its column holds.

use toml::de::DeTable;

use super::KINDS;
use super::columns::{Columns, Lookup};
use crate::definitions::fault::Faults;
use crate::definitions::reader::{Part, Spot};
use crate::definitions::report::{Declared, Filter, Op, ROWS_PARAMETERS};
use crate::rows::Kind;

const KNOWN: [&str; 6] = ["name", "title", "column", "op", "type", "required"];

pub(super) fn read(report: &Part<'_>, columns: &Columns, faults: &mut Faults<'_>) -> Vec<Filter> {
    let mut names: Vec<String> = Vec::new();
    let mut filters = Vec::new();
    for (table, at) in report.tables("filters", faults) {
        filters.extend(filter(table, at, &mut names, columns, faults));
    }
    filters
}

fn filter(
    table: &DeTable<'_>,
    at: usize,
    names: &mut Vec<String>,
    columns: &Columns,
    faults: &mut Faults<'_>,
) -> Option<Filter> {
    let what = match table.get("name").and_then(|name| name.get_ref().as_str()) {
        Some(name) => format!("the filter \"{name}\""),
        None => "a filter".to_owned(),
    };
    let part = Part::new(table, at, what, &KNOWN, faults);
    let name = part.needed("name", "from", faults);
    if let Some(name) = &name {
        check_name(name, names, faults);
        names.push(name.value.clone());
    }
    let title = part.text("title", faults).map(|title| title.value);
    let column = part.needed("column", "paid_at", faults);
    let op = part.needed_word("op", &Op::WORDS, faults);
    let asked = part.word("type", &KINDS, faults);
    let required = part.flag("required", faults).unwrap_or(false);
    let (name, column, op) = (name?, column?, op?);
    let (kind, declared) = resolve(&name, &column, op.value, asked.as_ref(), columns, faults)?;
    check_fit(&name.value, &op, kind, faults);
    Some(Filter {
        title: title.unwrap_or_else(|| name.value.clone()),
        column: column.value,
        op: op.value,
        kind,
        zone: declared.and_then(|declared| declared.zone.clone()),
        unit: declared.and_then(|declared| declared.unit),
        scale: declared.and_then(|declared| declared.scale),
        required,
        line: faults.line(name.at),
        name: name.value,
    })
}

fn check_name(name: &Spot<String>, names: &[String], faults: &mut Faults<'_>) {
    let word = &name.value;
    if names.contains(word) {
        faults.at(
            name.at,
            format!("the filter name \"{word}\" is used twice"),
            "give each filter a name of its own",
        );
    }
    if ROWS_PARAMETERS.contains(&word.as_str()) {
        faults.at(
            name.at,
            format!("a filter is named \"{word}\", like a parameter that every report has"),
            format!("choose a name other than {}", ROWS_PARAMETERS.join(", ")),
        );
    }
    let fits = |char: char| char.is_alphanumeric() || "_-.".contains(char);
    if word.starts_with('_') || !word.chars().all(fits) {
        faults.at(
            name.at,
            format!("\"{word}\" cannot be the name of a filter"),
            "use letters, digits, \"_\", \"-\" and \".\", and do not begin with \"_\"",
        );
    }
}

/// What the column holds, and its declaration where there is one.
fn resolve<'c>(
    name: &Spot<String>,
    column: &Spot<String>,
    op: Op,
    asked: Option<&Spot<Kind>>,
    columns: &'c Columns,
    faults: &mut Faults<'_>,
) -> Option<(Kind, Option<&'c Declared>)> {
    match (asked, columns.lookup(&column.value, asked.map(|kind| kind.value))) {
        (None, Lookup::Broken) => None,
        (Some(asked), Lookup::Broken | Lookup::Absent(_)) => Some((asked.value, None)),
        (None, Lookup::Absent(_)) if op == Op::IsNull => Some((Kind::Bool, None)),
        (None, Lookup::Absent(hint)) => {
            faults.at(
                column.at,
                format!(
                    "the filter \"{}\" names \"{}\", which no declared column reads{hint}",
                    name.value, column.value
                ),
                "say what it holds: type = \"…\"",
            );
            None
        }
        (asked, Lookup::Sound(declared)) => {
            let held = declared.column.kind;
            if let Some(asked) = asked.filter(|asked| asked.value != held && op != Op::IsNull) {
                faults.at(
                    asked.at,
                    format!(
                        "the filter \"{}\" is of type {}, and its column \"{}\" is declared {}",
                        name.value,
                        asked.value.word(),
                        column.value,
                        held.word()
                    ),
                    "leave the type out, or declare the column otherwise",
                );
                return None;
            }
            Some((held, Some(declared)))
        }
    }
}

fn check_fit(name: &str, op: &Spot<Op>, kind: Kind, faults: &mut Faults<'_>) {
    let takes: &[Op] = match kind {
        Kind::Text => &Op::WORDS.map(|(_, op)| op),
        Kind::Int | Kind::Decimal | Kind::Float | Kind::Date | Kind::Time => {
            &[Op::Eq, Op::Ne, Op::Lt, Op::Le, Op::Gt, Op::Ge, Op::In, Op::IsNull]
        }
        Kind::Bool => &[Op::Eq, Op::Ne, Op::In, Op::IsNull],
        Kind::Json => &[Op::IsNull],
    };
    if !takes.contains(&op.value) {
        let words: Vec<&str> = takes.iter().map(|op| op.word()).collect();
        faults.at(
            op.at,
            format!(
                "the filter \"{name}\" asks \"{}\" of a column of type {}",
                op.value.word(),
                kind.word()
            ),
            format!("such a column can be asked {}", words.join(", ")),
        );
    }
}
