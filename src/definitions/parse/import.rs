//! The table of an import file → a checked [`Import`].

use std::collections::BTreeMap;

use toml::de::DeTable;

use super::import_fields::Fields;
use super::qualified;
use crate::definitions::fault::Faults;
use crate::definitions::import::{Field, Import, Target, UnknownColumns};
use crate::definitions::reader::{Part, Spot};
use crate::rows::Kind;

const KNOWN: [&str; 9] = [
    "title",
    "description",
    "database",
    "into",
    "key",
    "scope",
    "unknown_columns",
    "max_rows",
    "columns",
];
const UNKNOWN_COLUMNS: [(&str, UnknownColumns); 2] =
    [("ignore", UnknownColumns::Ignore), ("reject", UnknownColumns::Reject)];
/// More rows than any setting lets in.
const MOST_ROWS: u64 = 1_000_000_000;

pub(super) fn read(name: &str, table: &DeTable<'_>, faults: &mut Faults<'_>) -> Option<Import> {
    let part = Part::new(table, 0, "the import", &KNOWN, faults);
    let title = part.text("title", faults).map_or_else(|| name.to_owned(), |title| title.value);
    let description = part.text("description", faults).map(|text| text.value.trim().to_owned());
    let database = part.text("database", faults).map(|database| database.value);
    let into = into(&part, faults);
    let fields = Fields::read(&part, faults);
    let key = key(&part, &fields, faults);
    let scope = scope(&part, &fields, faults);
    let unknown_columns = part.word("unknown_columns", &UNKNOWN_COLUMNS, faults);
    let max_rows = part.whole("max_rows", (1, MOST_ROWS), faults);
    let (into, at) = into?;
    Some(Import {
        name: name.to_owned(),
        title,
        description,
        database,
        into,
        key,
        scope,
        unknown_columns: unknown_columns.map(|word| word.value).unwrap_or_default(),
        max_rows: max_rows.map(|rows| rows.value),
        fields: fields.into_fields(),
        file: faults.file().to_owned(),
        line: faults.line(at),
    })
}

fn into(part: &Part<'_>, faults: &mut Faults<'_>) -> Option<(Target, usize)> {
    let into = part.needed("into", "payments", faults)?;
    let Some((schema, table)) = qualified(&into.value) else {
        faults.at(
            into.at,
            format!("\"into\" is \"{}\", which is not the name of a table", into.value),
            "write a table as \"name\" or \"schema.name\"",
        );
        return None;
    };
    Some((Target { schema, table }, into.at))
}

/// The fields that make a row known again. Each of them has to be there in every row, since nothing
/// equals NULL, and none is unique by itself, since then it alone would be the key.
fn key(part: &Part<'_>, fields: &Fields, faults: &mut Faults<'_>) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    for entry in part.texts("key", faults) {
        let name = &entry.value;
        if keys.contains(name) {
            faults.at(
                entry.at,
                format!("\"key\" names the column \"{name}\" twice"),
                "take the second one out",
            );
            continue;
        }
        if let Some(field) = fields.named(name, "\"key\"", entry.at, faults) {
            check_key(field, entry.at, faults);
        }
        keys.push(entry.value);
    }
    keys
}

fn check_key(field: &Field, at: usize, faults: &mut Faults<'_>) {
    let name = &field.key;
    if !field.required {
        faults.at(
            at,
            format!("the column \"{name}\" is part of the key and may be empty"),
            format!("give the column \"{name}\" required = true, or take it out of the key"),
        );
    }
    if field.unique {
        faults.at(
            at,
            format!("the column \"{name}\" is part of the key and unique as well"),
            format!(
                "take unique out where the key is what makes a row known again, or write key = \
                 [\"{name}\"] and take unique out where it is known by \"{name}\" alone"
            ),
        );
    }
    if matches!(field.kind(), Kind::Float | Kind::Bool) {
        faults.at(
            at,
            format!("\"key\" names \"{name}\", a {} column", field.kind().word()),
            "make the key of text, int, decimal, date or time columns",
        );
    }
}

fn scope(part: &Part<'_>, fields: &Fields, faults: &mut Faults<'_>) -> BTreeMap<String, String> {
    let example = "{ merchant = \"merchant_id\" }";
    let mut scope = BTreeMap::new();
    for (dimension, value) in part.entries("scope", example, faults) {
        let at = value.span().start;
        let name = &dimension.value;
        if name.trim().is_empty() {
            faults.at(dimension.at, "a dimension of scope has no name", format!("write {example}"));
        }
        let Some(key) = value.get_ref().as_str().map(str::trim) else {
            faults.at(
                at,
                format!("the scope \"{name}\" is of type {}", value.get_ref().type_str()),
                format!("write {name} = \"a_column\""),
            );
            continue;
        };
        if let Some(field) = fields.named(key, &format!("the scope \"{name}\""), at, faults)
            && !matches!(field.kind(), Kind::Int | Kind::Text)
        {
            faults.at(
                at,
                format!("the scope \"{name}\" names \"{key}\", a {} column", field.kind().word()),
                "hold a scope against an int or text column",
            );
        }
        scope.insert(dimension.value, key.to_owned());
    }
    scope
}

/// A column of another table, such as `merchants.id`, with the schema before it or not.
pub(super) fn reference(
    text: &Spot<String>,
    faults: &mut Faults<'_>,
) -> Option<crate::definitions::Reference> {
    let found = text.value.rsplit_once('.').and_then(|(table, column)| {
        let (schema, table) = qualified(table)?;
        let column = column.trim();
        (!column.is_empty()).then(|| (schema, table, column.to_owned()))
    });
    let Some((schema, table, column)) = found else {
        faults.at(
            text.at,
            format!("\"references\" is \"{}\", which is not a column of a table", text.value),
            "write it as \"table.column\" or \"schema.table.column\"",
        );
        return None;
    };
    Some(crate::definitions::Reference { schema, table, column, line: faults.line(text.at) })
}
