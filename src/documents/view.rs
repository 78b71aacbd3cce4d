//! A document as the API shows it.

use serde::Serialize;

use crate::definitions::Document;
use crate::rows::Kind;

/// A document: what it is, what its rows hold, and what it can be narrowed by.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct DocumentView {
    /// Names it in addresses.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// What it is for.
    pub description: Option<String>,
    /// The column that names one document in addresses.
    pub key: String,
    /// The column with its number.
    pub number: Option<String>,
    /// The column with its title.
    pub document_title: Option<String>,
    /// The order of the documents.
    pub order_by: Vec<String>,
    /// The columns of its rows, in order.
    pub columns: Vec<DocumentColumn>,
    /// What it can be narrowed by.
    pub filters: Vec<DocumentFilter>,
}

/// One column.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct DocumentColumn {
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
pub struct DocumentFilter {
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
    /// Whether it narrows what stands in the documents, not which there are.
    pub of_details: bool,
}

impl From<&Document> for DocumentView {
    fn from(document: &Document) -> Self {
        let report = &document.report;
        let key = |index: usize| report.columns[index].column.key.clone();
        let columns = report.columns.iter().map(|declared| DocumentColumn {
            key: declared.column.key.clone(),
            title: declared.column.title.clone(),
            kind: declared.column.kind,
        });
        let details = document.details.iter().flat_map(|details| &details.report.filters);
        let own = report.filters.iter().map(|filter| (filter, false));
        let filters = own.chain(details.map(|filter| (filter, true)));
        let filters = filters.map(|(filter, of_details)| DocumentFilter {
            name: filter.name.clone(),
            title: filter.title.clone(),
            kind: filter.takes(),
            op: filter.op.word(),
            required: filter.required,
            of_details,
        });
        Self {
            name: report.name.clone(),
            title: report.title.clone(),
            description: report.description.clone(),
            key: key(document.key),
            number: document.number.map(key),
            document_title: document.title.map(key),
            order_by: report.order_words(),
            columns: columns.collect(),
            filters: filters.collect(),
        }
    }
}
