//! An import as it is shown.

use serde::Serialize;

use crate::definitions::{Field, Import, Takes};

/// An import, for whoever wants to fill in a file for it.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct ImportView {
    /// Its name in addresses.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The columns by which a row is known again; none: rows are only added.
    pub key: Vec<String>,
    /// The columns of a file.
    pub columns: Vec<ImportColumnView>,
}

/// A column of an import's file.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct ImportColumnView {
    /// Its key, which is a known header too.
    pub key: String,
    /// Its title, which is the first of its headers.
    pub title: String,
    /// `text`, `int`, `decimal`, `float`, `bool`, `date` or `time`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Further headers that it is known by.
    pub headers: Vec<String>,
    /// Whether every row must have a value.
    pub required: bool,
    /// Whether a value may come once only.
    pub unique: bool,
    /// The only values that are taken, where they are few.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub one_of: Vec<String>,
    /// A value that would be taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<String>,
}

impl ImportView {
    /// The view of an import.
    #[must_use]
    pub fn new(import: &Import) -> Self {
        Self {
            name: import.name.clone(),
            title: import.title.clone(),
            description: import.description.clone(),
            key: import.key.clone(),
            columns: import.fields.iter().map(column).collect(),
        }
    }
}

fn column(field: &Field) -> ImportColumnView {
    let one_of = match &field.takes {
        Takes::Text { one_of, .. } => one_of.clone(),
        _ => Vec::new(),
    };
    ImportColumnView {
        key: field.key.clone(),
        title: field.title.clone(),
        kind: field.kind().word(),
        headers: field.headers.clone(),
        required: field.required,
        unique: field.unique,
        one_of,
        example: field.example.clone(),
    }
}
