//! `[[columns]]` of an import: each table → a field, and whether their headings can be told apart.

use std::collections::BTreeMap;

use toml::de::DeTable;

use super::import::reference;
use super::import_bounds::{KINDS, takes};
use crate::definitions::fault::Faults;
use crate::definitions::fold::fold;
use crate::definitions::import::{Field, Reference};
use crate::definitions::reader::{Part, Spot};
use crate::rows::Kind;

const KNOWN: [&str; 18] = [
    "key",
    "column",
    "title",
    "headers",
    "type",
    "precision",
    "scale",
    "zone",
    "required",
    "max_length",
    "min",
    "max",
    "pattern",
    "pattern_hint",
    "one_of",
    "unique",
    "references",
    "example",
];

/// The fields of one import while it is read; one with a fault stays in, so that what names it is not
/// reported as well.
#[derive(Debug, Default)]
pub(super) struct Fields {
    drafts: Vec<Draft>,
    /// Which field a heading belongs to, by how it is compared: the field's key, and the heading.
    headings: BTreeMap<String, (String, String)>,
}

#[derive(Debug)]
struct Draft {
    key: String,
    column: String,
    field: Option<Field>,
}

impl Fields {
    pub(super) fn read(import: &Part<'_>, faults: &mut Faults<'_>) -> Self {
        let tables = import.tables("columns", faults);
        if tables.is_empty() {
            faults.at(
                import.at(),
                "the import has no columns",
                "add [[columns]] with key = \"…\" and type = \"…\" for each one",
            );
        }
        let mut fields = Self::default();
        for (table, at) in tables {
            fields.add(table, at, faults);
        }
        fields
    }

    pub(super) fn into_fields(self) -> Vec<Field> {
        self.drafts.into_iter().filter_map(|draft| draft.field).collect()
    }

    /// The field with this key; a fault where there is none, and nothing where it has faults of its own.
    pub(super) fn named(
        &self,
        key: &str,
        what: &str,
        at: usize,
        faults: &mut Faults<'_>,
    ) -> Option<&Field> {
        let draft = self.drafts.iter().find(|draft| draft.key == key);
        if draft.is_none() {
            let known: Vec<&str> = self.drafts.iter().map(|draft| draft.key.as_str()).collect();
            faults.at(
                at,
                format!("{what} names \"{key}\", which is not the key of a column"),
                format!("name one of {}", known.join(", ")),
            );
        }
        draft.and_then(|draft| draft.field.as_ref())
    }

    fn add(&mut self, table: &DeTable<'_>, at: usize, faults: &mut Faults<'_>) {
        let what = match table.get("key").and_then(|key| key.get_ref().as_str()) {
            Some(key) => format!("the column \"{key}\""),
            None => "a column".to_owned(),
        };
        let part = Part::new(table, at, what, &KNOWN, faults);
        let key = part.needed("key", "merchant_id", faults);
        let kind = part.needed_word("type", &KINDS, faults);
        let column = part.text("column", faults);
        let required = part.flag("required", faults).unwrap_or(false);
        let unique = part.flag("unique", faults).unwrap_or(false);
        let references = part.text("references", faults);
        let references = references.and_then(|text| reference(&text, faults));
        let example = part.text("example", faults).map(|text| text.value);
        let Some(key) = key else { return };
        let (title, headers) = self.headings(&part, &key, faults);
        let column = column.unwrap_or_else(|| key.clone());
        self.check_names(&key, &column, faults);
        let takes = kind.as_ref().and_then(|kind| takes(&part, kind.value, faults));
        if let Some(kind) = &kind {
            check_fit(&part, &key.value, kind, unique, references.as_ref(), faults);
        }
        let field = takes.map(|takes| Field {
            key: key.value.clone(),
            column: column.value.clone(),
            title,
            headers,
            takes,
            required,
            unique,
            references,
            example,
            line: faults.line(key.at),
        });
        self.drafts.push(Draft { key: key.value, column: column.value, field });
    }

    /// The title and the further headings; each must lead to one column alone.
    fn headings(
        &mut self,
        part: &Part<'_>,
        key: &Spot<String>,
        faults: &mut Faults<'_>,
    ) -> (String, Vec<String>) {
        let title = part.text("title", faults);
        let headers = part.texts("headers", faults);
        self.claim(key, key, faults);
        if let Some(title) = &title {
            self.claim(key, title, faults);
        }
        for header in &headers {
            self.claim(key, header, faults);
        }
        let title = title.map_or_else(|| key.value.clone(), |title| title.value.trim().to_owned());
        (title, headers.into_iter().map(|header| header.value).collect())
    }

    fn claim(&mut self, key: &Spot<String>, heading: &Spot<String>, faults: &mut Faults<'_>) {
        let folded = fold(&heading.value);
        if folded.is_empty() {
            faults.at(
                heading.at,
                format!("the heading {:?} has nothing in it that can be seen", heading.value),
                "take it out",
            );
            return;
        }
        let owner = self.headings.entry(folded);
        let (owner, earlier) = owner.or_insert_with(|| (key.value.clone(), heading.value.clone()));
        if *owner != key.value {
            faults.at(
                heading.at,
                format!(
                    "the heading \"{}\" of the column \"{}\" also belongs to the column \"{owner}\" \
                     (\"{earlier}\"; case and white space do not count)",
                    heading.value, key.value
                ),
                "take it out of one of them",
            );
        }
    }

    fn check_names(&self, key: &Spot<String>, column: &Spot<String>, faults: &mut Faults<'_>) {
        let name = &key.value;
        if self.drafts.iter().any(|draft| draft.key == *name) {
            faults.at(
                key.at,
                format!("the key \"{name}\" is used twice"),
                "give each column a key of its own",
            );
        } else if self.drafts.iter().any(|draft| draft.column == column.value) {
            faults.at(
                column.at,
                format!("the table's column \"{}\" is written twice", column.value),
                "let each column of the file write to one of its own: column = \"…\"",
            );
        }
        if name.starts_with('_') {
            faults.at(
                key.at,
                format!("the key \"{name}\" begins with \"_\", which is kept for the server's own"),
                "begin it with a letter",
            );
        }
        if name.contains(|char: char| char == ',' || char.is_control()) {
            faults.at(
                key.at,
                format!("the key {name:?} has a comma or a control character in it"),
                "use letters, digits and \"_\"; put what people read into title",
            );
        }
    }
}

/// Which keys only some types of column can have, with the types.
const FITS: [(&str, &[Kind]); 9] = [
    ("precision", &[Kind::Decimal]),
    ("scale", &[Kind::Decimal]),
    ("zone", &[Kind::Time]),
    ("max_length", &[Kind::Text]),
    ("pattern", &[Kind::Text]),
    ("pattern_hint", &[Kind::Text]),
    ("one_of", &[Kind::Text]),
    ("min", &[Kind::Int, Kind::Decimal, Kind::Float, Kind::Date, Kind::Time]),
    ("max", &[Kind::Int, Kind::Decimal, Kind::Float, Kind::Date, Kind::Time]),
];
/// What can be looked for in another table, or be told apart from all others.
const COMPARED: [Kind; 5] = [Kind::Text, Kind::Int, Kind::Decimal, Kind::Date, Kind::Time];

fn check_fit(
    part: &Part<'_>,
    name: &str,
    kind: &Spot<Kind>,
    unique: bool,
    references: Option<&Reference>,
    faults: &mut Faults<'_>,
) {
    let words = |kinds: &[Kind]| {
        let words: Vec<&str> = kinds.iter().map(|kind| kind.word()).collect();
        words.join(" or ")
    };
    let mut misplaced = |key: &str, kinds: &[Kind]| {
        faults.at(
            part.place(key).unwrap_or(kind.at),
            format!("the column \"{name}\" of type {} has \"{key}\"", kind.value.word()),
            format!("take it out, or make the type {}", words(kinds)),
        );
    };
    for (key, kinds) in FITS {
        if part.place(key).is_some() && !kinds.contains(&kind.value) {
            misplaced(key, kinds);
        }
    }
    if unique && !COMPARED.contains(&kind.value) {
        misplaced("unique", &COMPARED);
    }
    if references.is_some() && !COMPARED.contains(&kind.value) {
        misplaced("references", &COMPARED);
    }
}
