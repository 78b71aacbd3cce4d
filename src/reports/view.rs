//! A report as the API shows it.

use serde::Serialize;

use crate::definitions::Report;
use crate::formats::Format;
use crate::rows::Kind;

/// A report: what it is, what it holds, and what it can be narrowed by.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct ReportView {
    /// Names it in addresses.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// What it is for.
    pub description: Option<String>,
    /// The formats it can be had in.
    pub formats: Vec<&'static str>,
    /// The order of its rows; empty where it has none and so cannot be paged.
    pub order_by: Vec<String>,
    /// Its columns, in order.
    pub columns: Vec<ColumnView>,
    /// What it can be narrowed by.
    pub filters: Vec<FilterView>,
}

/// One column.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct ColumnView {
    /// Its name for machines.
    pub key: String,
    /// Its name for people.
    pub title: String,
    /// What it holds.
    #[serde(rename = "type")]
    pub kind: Kind,
}

/// One filter.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct FilterView {
    /// The parameter's name.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// What the parameter takes.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// What it asks of the column.
    pub op: &'static str,
    /// Whether a request without it is refused.
    pub required: bool,
}

impl From<&Report> for ReportView {
    fn from(report: &Report) -> Self {
        let columns = report.columns.iter().map(|declared| ColumnView {
            key: declared.column.key.clone(),
            title: declared.column.title.clone(),
            kind: declared.column.kind,
        });
        let filters = report.filters.iter().map(|filter| FilterView {
            name: filter.name.clone(),
            title: filter.title.clone(),
            kind: filter.takes(),
            op: filter.op.word(),
            required: filter.required,
        });
        Self {
            name: report.name.clone(),
            title: report.title.clone(),
            description: report.description.clone(),
            formats: Format::ALL.iter().map(|format| format.name()).collect(),
            order_by: report.order_words(),
            columns: columns.collect(),
            filters: filters.collect(),
        }
    }
}
