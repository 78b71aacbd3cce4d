//! The text of one file → a checked [`Report`], [`Import`] or [`Document`], or every fault that can be found in it.

mod columns;
mod document;
mod feeds;
mod filters;
mod import;
mod import_bounds;
mod import_fields;
mod sections;
mod sql;

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use self::columns::{Columns, Lookup};
use super::document::Document;
use super::fault::{Fault, Faults};
use super::import::Import;
use super::reader::{Part, Spot};
use super::report::{Order, Origin, Report, ScopeColumn};
use crate::rows::Kind;

const KNOWN: [&str; 9] =
    ["title", "description", "database", "from", "sql", "order_by", "scope", "columns", "filters"];

/// The words for kinds, in the order that messages list them.
const KINDS: [(&str, Kind); 8] = [
    (Kind::Text.word(), Kind::Text),
    (Kind::Int.word(), Kind::Int),
    (Kind::Decimal.word(), Kind::Decimal),
    (Kind::Float.word(), Kind::Float),
    (Kind::Bool.word(), Kind::Bool),
    (Kind::Date.word(), Kind::Date),
    (Kind::Time.word(), Kind::Time),
    (Kind::Json.word(), Kind::Json),
];

/// Reads the report `name` out of `text`; `file` stands in its faults.
pub(super) fn report(name: &str, file: &str, text: &str) -> Result<Report, Vec<Fault>> {
    checked(file, text, |table, faults| read(name, table, faults))
}

/// Reads the import `name` out of `text`; `file` stands in its faults.
pub(super) fn import(name: &str, file: &str, text: &str) -> Result<Import, Vec<Fault>> {
    checked(file, text, |table, faults| import::read(name, table, faults))
}

/// What `read` makes of a file without faults.
fn checked<T>(
    file: &str,
    text: &str,
    read: impl FnOnce(&DeTable<'_>, &mut Faults<'_>) -> Option<T>,
) -> Result<T, Vec<Fault>> {
    let mut faults = Faults::new(file, text);
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        faults.at(
            error.span().map_or(0, |span| span.start),
            format!("the file is not TOML: {}", error.message().trim()),
            "mend it here; texts stand in double quotes, columns under [[columns]]",
        );
    }
    // What was recovered from a broken file has holes, which would be reported as faults of their own.
    let read = if errors.is_empty() { read(table.get_ref(), &mut faults) } else { None };
    match read {
        Some(read) if faults.is_empty() => Ok(read),
        _ => Err(faults.into_sorted()),
    }
}

/// Whether `name` can be a definition's name in addresses.
pub(super) fn is_name(name: &str) -> bool {
    let fits =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
    !name.is_empty() && name.bytes().all(fits)
}

/// Reads the document `name` out of `text`; `file` stands in its faults.
pub(super) fn document(name: &str, file: &str, text: &str) -> Result<Document, Vec<Fault>> {
    checked(file, text, |table, faults| document::read(name, table, text, faults))
}

fn read(name: &str, table: &DeTable<'_>, faults: &mut Faults<'_>) -> Option<Report> {
    report_of(name, &Part::new(table, 0, "the report", &KNOWN, faults), faults)
}

/// Reads which rows there are, and how they are typed, narrowed, ordered and held to a scope.
fn report_of(name: &str, part: &Part<'_>, faults: &mut Faults<'_>) -> Option<Report> {
    let title = part.text("title", faults).map_or_else(|| name.to_owned(), |title| title.value);
    let description = part.text("description", faults).map(|text| text.value.trim().to_owned());
    let database = part.text("database", faults).map(|database| database.value);
    let origin = origin(part, faults);
    let columns = Columns::read(part, faults);
    let order = order(part, &columns, faults);
    let scope = scope(part, &columns, faults);
    let filters = filters::read(part, &columns, faults);
    let (origin, at) = origin?;
    Some(Report {
        name: name.to_owned(),
        title,
        description,
        database,
        origin,
        order,
        scope,
        columns: columns.into_declared(),
        filters,
        file: faults.file().to_owned(),
        line: faults.line(at),
    })
}

fn origin(part: &Part<'_>, faults: &mut Faults<'_>) -> Option<(Origin, usize)> {
    match (part.text("from", faults), part.text("sql", faults)) {
        (Some(from), None) => table(&from, faults).map(|origin| (origin, from.at)),
        (None, Some(sql)) => match sql::checked(&sql.value) {
            Ok(text) => Some((Origin::Sql(text), sql.at)),
            Err((message, remedy)) => {
                faults.at(sql.at, message, remedy);
                None
            }
        },
        (Some(_), Some(sql)) => {
            faults.at(sql.at, "the report has both \"from\" and \"sql\"", "keep one of them");
            None
        }
        (None, None) => {
            faults.at(
                part.at(),
                "the report has neither \"from\" nor \"sql\"",
                "add from = \"a_table\", or sql = \"select …\"",
            );
            None
        }
    }
}

fn table(from: &Spot<String>, faults: &mut Faults<'_>) -> Option<Origin> {
    let Some((schema, name)) = qualified(&from.value) else {
        faults.at(
            from.at,
            format!("\"from\" is \"{}\", which is not the name of a table", from.value),
            "write a table or view as \"name\" or \"schema.name\"; put a query into sql",
        );
        return None;
    };
    Some(Origin::Table { schema, name })
}

/// The parts of `name` or `schema.name`.
fn qualified(text: &str) -> Option<(Option<String>, String)> {
    let names: Vec<&str> = text.split('.').map(str::trim).collect();
    match *names.as_slice() {
        [name] if !name.is_empty() => Some((None, name.to_owned())),
        [schema, name] if !schema.is_empty() && !name.is_empty() => {
            Some((Some(schema.to_owned()), name.to_owned()))
        }
        _ => None,
    }
}

fn order(part: &Part<'_>, columns: &Columns, faults: &mut Faults<'_>) -> Vec<Order> {
    let mut order: Vec<Order> = Vec::new();
    for entry in part.texts("order_by", faults) {
        let (column, descending) = direction(&entry.value);
        let declared = match columns.lookup(column, None) {
            Lookup::Sound(declared) => Some(declared),
            Lookup::Broken | Lookup::Absent(_) => None,
        };
        if order.iter().any(|earlier| earlier.column == column) {
            faults.at(
                entry.at,
                format!("order_by names the column \"{column}\" twice"),
                "take the second one out",
            );
        }
        if declared.is_some_and(|declared| declared.column.kind == Kind::Json) {
            faults.at(
                entry.at,
                format!("order_by names \"{column}\", a json column, which has no order"),
                "order by another column",
            );
        }
        order.push(Order {
            column: column.to_owned(),
            descending,
            not_null: declared.is_some_and(|declared| declared.not_null),
            line: faults.line(entry.at),
        });
    }
    order
}

/// Takes `desc` or `asc` off the end.
fn direction(entry: &str) -> (&str, bool) {
    let Some((column, word)) = entry.rsplit_once(char::is_whitespace) else {
        return (entry, false);
    };
    if word.eq_ignore_ascii_case("desc") {
        (column.trim_end(), true)
    } else if word.eq_ignore_ascii_case("asc") {
        (column.trim_end(), false)
    } else {
        (entry, false)
    }
}

fn scope(
    part: &Part<'_>,
    columns: &Columns,
    faults: &mut Faults<'_>,
) -> BTreeMap<String, ScopeColumn> {
    let example = "{ merchant = \"merchant_id\" }";
    let mut scope = BTreeMap::new();
    for (dimension, value) in part.entries("scope", example, faults) {
        if dimension.value.trim().is_empty() {
            faults.at(dimension.at, "a dimension of scope has no name", format!("write {example}"));
        }
        if let Some(column) = scope_column(&dimension, value, columns, faults) {
            scope.insert(dimension.value, column);
        }
    }
    scope
}

fn scope_column(
    dimension: &Spot<String>,
    value: &Spanned<DeValue<'_>>,
    columns: &Columns,
    faults: &mut Faults<'_>,
) -> Option<ScopeColumn> {
    let at = value.span().start;
    let name = &dimension.value;
    let (column, kind) = match value.get_ref() {
        DeValue::String(column) => (column.trim().to_owned(), None),
        DeValue::Table(table) => {
            let what = format!("the scope \"{name}\"");
            let part = Part::new(table, at, what, &["column", "type"], faults);
            let column = part.needed("column", "merchant_id", faults)?;
            (column.value, part.word("type", &KINDS, faults).map(|kind| kind.value))
        }
        other => {
            faults.at(
                at,
                format!("the scope \"{name}\" is of type {}", other.type_str()),
                format!(
                    "write {name} = \"a_column\", or {name} = {{ column = \"…\", type = \"int\" }}"
                ),
            );
            return None;
        }
    };
    let kind = match (kind, columns.lookup(&column, kind)) {
        (Some(kind), _) => kind,
        (None, Lookup::Sound(declared)) => declared.column.kind,
        (None, Lookup::Broken) => return None,
        (None, Lookup::Absent(hint)) => {
            faults.at(
                at,
                format!(
                    "the scope \"{name}\" names \"{column}\", which no declared column reads{hint}"
                ),
                format!("say its type: {name} = {{ column = \"{column}\", type = \"int\" }}"),
            );
            return None;
        }
    };
    if !matches!(kind, Kind::Int | Kind::Text) {
        faults.at(
            at,
            format!("the scope \"{name}\" names \"{column}\", a {} column", kind.word()),
            "hold a scope against an int or text column",
        );
        return None;
    }
    Some(ScopeColumn { column, kind, line: faults.line(at) })
}
