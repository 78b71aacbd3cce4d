//! Mappings of headings that are kept: which names columns get, and in which order. They are the
//! server's own, in the state database, and everybody's who may call.

use entity::headers::{ActiveModel, Column, Entity, Model};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::Converter;
use crate::access::Caller;
use crate::error::{Error, Problem, Result};
use crate::runs::away;

/// Characters of the longest name of a mapping.
const LONGEST_NAME: usize = 100;
/// Characters of the longest heading in one.
const LONGEST_HEADING: usize = 255;
/// Columns of one.
const COLUMNS: usize = 1_000;
/// What a body looks like, for messages.
const EXAMPLE: &str = r#"{"columns":[{"from":"Order No","to":"order_no"}]}"#;

/// A column's new name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Rename {
    /// What the file calls it.
    pub from: String,
    /// What it is to be called.
    pub to: String,
}

/// A mapping that is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Headers {
    /// Names it in addresses: letters, digits, `-`, `_` and `.`, at most 100 of them.
    pub name: String,
    /// The columns in the order that they get; those that are not among them follow as they are.
    pub columns: Vec<Rename>,
}

/// A mapping as it is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct HeadersBody {
    /// The columns in the order that they get; those that are not among them follow as they are.
    pub columns: Vec<Rename>,
}

/// Some mappings, by name.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct HeadersPage {
    /// The mappings.
    pub items: Vec<Headers>,
    /// What `after` takes for the page behind this one; nothing where there is none.
    pub next: Option<String>,
}

/// Reads a mapping as it is sent.
///
/// # Errors
/// [`Error::Malformed`] for what is no JSON, [`Error::Invalid`] with every fault of the rest.
pub fn read_headers(name: &str, body: &[u8]) -> Result<HeadersBody> {
    let body: Json = serde_json::from_slice(body).map_err(|error| {
        let detail = format!(
            "the body cannot be read as JSON, from line {}, column {}; send {EXAMPLE}",
            error.line(),
            error.column()
        );
        Error::Malformed(vec![fault("body", "not_json", None, detail)])
    })?;
    let mut problems = Vec::new();
    if !is_name(name) {
        let detail = format!(
            "\"{name}\" cannot name a mapping; use 1 to {LONGEST_NAME} letters, digits, \"-\", \
             \"_\" and \".\", a letter or digit first"
        );
        problems.push(Problem::parameter("name", "bad_name", name, detail));
    }
    let columns = read_columns(&body, &mut problems);
    if problems.is_empty() { Ok(HeadersBody { columns }) } else { Err(Error::Invalid(problems)) }
}

fn read_columns(body: &Json, problems: &mut Vec<Problem>) -> Vec<Rename> {
    let Some(members) = body.as_object() else {
        let detail = format!("the body is no object; send {EXAMPLE}");
        problems.push(fault("body", "not_an_object", None, detail));
        return Vec::new();
    };
    refuse_others(members, &["columns"], "", problems);
    let items = match members.get("columns") {
        Some(Json::Array(items)) if (1..=COLUMNS).contains(&items.len()) => items,
        Some(Json::Array(items)) => {
            let detail =
                format!("\"columns\" has {} entries; give 1 to {COLUMNS} of them", items.len());
            problems.push(fault("columns", "bad_length", None, detail));
            return Vec::new();
        }
        Some(_) | None => {
            let detail = format!("\"columns\" is to be a list; send {EXAMPLE}");
            problems.push(fault("columns", "not_a_list", None, detail));
            return Vec::new();
        }
    };
    let columns: Vec<_> =
        items.iter().enumerate().map(|(index, item)| read_column(index, item, problems)).collect();
    let read = || columns.iter().map(Option::as_ref);
    let from = read().map(|column| column.map(|column| column.from.as_str()));
    refuse_doubles("from", from, problems);
    let to = read().map(|column| column.map(|column| column.to.as_str()));
    refuse_doubles("to", to, problems);
    columns.into_iter().flatten().collect()
}

fn read_column(index: usize, item: &Json, problems: &mut Vec<Problem>) -> Option<Rename> {
    let place = format!("columns[{index}]");
    let Some(members) = item.as_object() else {
        let detail =
            format!("{place} is no object; each column is {{\"from\":\"…\",\"to\":\"…\"}}");
        problems.push(fault(&place, "not_an_object", None, detail));
        return None;
    };
    refuse_others(members, &["from", "to"], &format!("{place}."), problems);
    let mut heading = |side: &str| {
        let place = format!("{place}.{side}");
        let Some(text) = members.get(side).and_then(Json::as_str) else {
            let detail = format!("{place} is to be a text: the column's name");
            problems.push(fault(&place, "not_a_text", None, detail));
            return None;
        };
        check_heading(&place, text).map_err(|problem| problems.push(problem)).ok()
    };
    let (from, to) = (heading("from"), heading("to"));
    Some(Rename { from: from?, to: to? })
}

/// A heading without white space at its ends, as the headings of files are read.
pub(super) fn check_heading(place: &str, text: &str) -> Result<String, Problem> {
    let text = text.trim();
    let (code, detail) = if text.is_empty() {
        ("empty_value", format!("{place} is empty; write the column's name"))
    } else if text.contains('\0') {
        ("nul_character", format!("{place} has a NUL, which no heading has; take it out"))
    } else if text.chars().count() > LONGEST_HEADING {
        let length = text.chars().count();
        let detail =
            format!("{place} has {length} characters and may have {LONGEST_HEADING}; shorten it");
        ("too_long", detail)
    } else {
        return Ok(text.to_owned());
    };
    Err(fault(place, code, None, detail))
}

fn refuse_others(
    members: &serde_json::Map<String, Json>,
    known: &[&str],
    place: &str,
    problems: &mut Vec<Problem>,
) {
    let strange = members.keys().filter(|key| !known.contains(&key.as_str()));
    problems.extend(strange.map(|key| {
        let detail = format!("{place}{key} is not known here; there are {}", known.join(", "));
        fault(&format!("{place}{key}"), "unknown_member", None, detail)
    }));
}

fn refuse_doubles<'a>(
    side: &str,
    names: impl Iterator<Item = Option<&'a str>>,
    problems: &mut Vec<Problem>,
) {
    let mut first = std::collections::HashMap::new();
    for (index, name) in names.enumerate() {
        let Some(name) = name else { continue };
        if let Some(earlier) = first.get(name) {
            let place = format!("columns[{index}].{side}");
            let detail = format!(
                "{place} is \"{name}\", as columns[{earlier}].{side} is already; each may come once"
            );
            problems.push(fault(&place, "doubled_column", Some(name), detail));
        } else {
            first.insert(name, index);
        }
    }
}

fn fault(place: &str, code: &'static str, value: Option<&str>, detail: String) -> Problem {
    Problem { parameter: Some(place.into()), code, value: value.map(str::to_owned), detail }
}

/// The fault of a request that names a mapping which is not there.
pub(super) fn unknown(name: &str, detail: String) -> Problem {
    Problem::parameter("headers", "unknown_headers", name, detail)
}

fn is_name(name: &str) -> bool {
    let may_be = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let begins = name.starts_with(char::is_alphanumeric);
    begins && name.chars().count() <= LONGEST_NAME && name.chars().all(may_be)
}

fn not_there(name: &str) -> Error {
    Error::NotFound(format!(
        "there is no mapping of headings \"{name}\"; GET /api/v1/headers lists the ones there are"
    ))
}

fn view(stored: Model) -> Result<Headers> {
    let columns = serde_json::from_value(stored.columns)
        .map_err(|source| Error::internal("reading a mapping of headings", source))?;
    Ok(Headers { name: stored.name, columns })
}

impl Converter {
    /// A mapping by its name.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Unavailable`].
    pub async fn headers(&self, name: &str) -> Result<Headers> {
        // Nothing else was ever kept, and not every database takes a NUL.
        let found = if is_name(name) {
            Entity::find_by_id(name).one(&self.reads).await.map_err(away)?
        } else {
            None
        };
        found.map(view).transpose()?.ok_or_else(|| not_there(name))
    }

    /// Mappings by name, at most `limit` of them, those behind the name `after`.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub async fn list_headers(&self, limit: u64, after: Option<&str>) -> Result<HeadersPage> {
        let mut query = Entity::find().order_by_asc(Column::Name).limit(limit + 1);
        if let Some(after) = after {
            query = query.filter(Column::Name.gt(after));
        }
        let stored = query.all(&self.reads).await.map_err(away)?;
        let more = stored.len() as u64 > limit;
        let kept = stored.into_iter().take(usize::try_from(limit).unwrap_or(usize::MAX));
        let items: Vec<_> = kept.map(view).collect::<Result<_>>()?;
        let next = items.last().filter(|_| more).map(|last| last.name.clone());
        Ok(HeadersPage { items, next })
    }

    /// Keeps a mapping under a name, in place of the one that may be there; whether it is new.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub async fn keep_headers(
        &self,
        name: &str,
        columns: &[Rename],
        caller: &Caller,
    ) -> Result<bool> {
        let known = Entity::find_by_id(name).one(&self.state).await.map_err(away)?;
        let columns = serde_json::to_value(columns)
            .map_err(|source| Error::internal("writing a mapping of headings", source))?;
        let row = ActiveModel { name: Set(name.to_owned()), columns: Set(columns) };
        let instead = OnConflict::column(Column::Name).update_column(Column::Columns).to_owned();
        let kept = Entity::insert(row).on_conflict(instead);
        kept.exec_without_returning(&self.state).await.map_err(away)?;
        tracing::info!(headers = name, caller = caller.name, "a mapping of headings was kept");
        Ok(known.is_none())
    }

    /// Forgets a mapping.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Unavailable`].
    pub async fn forget_headers(&self, name: &str, caller: &Caller) -> Result<()> {
        if !is_name(name) {
            return Err(not_there(name));
        }
        let gone = Entity::delete_by_id(name).exec(&self.state).await.map_err(away)?;
        if gone.rows_affected == 0 {
            return Err(not_there(name));
        }
        tracing::info!(headers = name, caller = caller.name, "a mapping of headings was forgotten");
        Ok(())
    }
}
