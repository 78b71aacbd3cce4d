//! The rows of documents out of the database: one transaction that reads, whatever their number.
//!
//! Its statements, three at most: what the caller must be able to see, the documents, and the rows of
//! their details.

use std::collections::HashMap;
use std::ops::Range;
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;

use super::bundle::MANIFEST;
use super::held::Held;
use crate::access::Scopes;
use crate::database::{Database, Dialect, Query, Read, Reading};
use crate::definitions::{self, Details, Document, Filters, Report, Selection};
use crate::error::{Error, Result};
use crate::names::Distinct;
use crate::rows::{Kind, RowSink, Value, Warning, ZoneClock};
use crate::runs::Stop;
use crate::spool::Spool;

/// Which documents are wanted.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    /// What their rows are narrowed by.
    pub(super) filters: Filters,
    /// What the rows of their details are narrowed by.
    pub(super) details: Filters,
    /// What their caller is held to.
    pub(super) scopes: Scopes,
    /// The zone in which times are shown.
    pub(super) zone: TimeZone,
    /// The one with this key, where one is wanted.
    pub(super) key: Option<String>,
}

/// A document's rows, and what it is called.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) key: String,
    /// Empty where it has none.
    pub(super) number: String,
    pub(super) title: String,
    /// Its entry in an archive.
    pub(super) name: String,
    /// The value that its details carry; nothing where it is NULL, which is nobody's.
    link: Option<String>,
    row: Range<u64>,
    details: Vec<Range<u64>>,
}

/// Everything that documents are made of.
#[derive(Debug)]
pub(super) struct Gathered {
    pub(super) items: Vec<Item>,
    pub(super) held: Held,
    pub(super) warnings: Vec<Warning>,
    /// How long a connection was held.
    pub(super) took: Duration,
}

/// Reads the documents that are wanted; blocks. `must_see` is a statement that has to give a row, and
/// what is said where it gives none.
///
/// # Errors
/// [`Error::NotFound`] for what must be seen; what the database says; the stop's; [`Error::SpoolFull`],
/// [`Error::NoSpace`].
pub(super) fn gather(
    document: &Document,
    wanted: &Wanted,
    must_see: Option<(Query, String)>,
    (database, application): (&Database, &str),
    spool: &Spool,
    stop: &Stop,
) -> Result<Gathered> {
    let begun = Instant::now();
    let mut warnings = Vec::new();
    let gathered = database.snapshot(application, stop, &mut warnings, |reading| {
        if let Some((query, said)) = must_see {
            let mut seen = Seen(false);
            reading.read(&query, &mut seen)?;
            if !seen.0 {
                return Err(Error::NotFound(said));
            }
        }
        read(document, wanted, database.dialect(), reading, spool)
    });
    let took = begun.elapsed();
    let (mut items, mut held) = gathered?;
    held.close(spool)?;
    name(&mut items);
    Ok(Gathered { items, held, warnings, took })
}

fn read(
    document: &Document,
    wanted: &Wanted,
    dialect: Dialect,
    reading: &mut dyn Reading,
    spool: &Spool,
) -> Result<(Vec<Item>, Held)> {
    let clock = ZoneClock::new(wanted.zone.clone());
    let mut rows = Rows { document, spool, clock, held: Held::default(), items: Vec::new() };
    reading.read(&documents(document, wanted, dialect), &mut rows)?;
    let Rows { mut items, mut held, clock, .. } = rows;
    if let Some(details) = &document.details
        && !items.is_empty()
    {
        let mut places: HashMap<String, Vec<usize>> = HashMap::new();
        for (index, item) in items.iter().enumerate() {
            if let Some(link) = &item.link {
                places.entry(link.clone()).or_default().push(index);
            }
        }
        let query = lines(details, wanted, &items, dialect);
        let mut sink =
            Lines { details, spool, clock, held: &mut held, items: &mut items, places: &places };
        reading.read(&query, &mut sink)?;
        if details.required {
            items.retain(|item| !item.details.is_empty());
        }
    }
    Ok((items, held))
}

/// The statement for the documents' rows.
fn documents(document: &Document, wanted: &Wanted, dialect: Dialect) -> Query {
    let all: Vec<usize> = (0..document.report.columns.len()).collect();
    let keyed = wanted.key.as_slice();
    let one_of = wanted.key.is_some().then_some((document.key, keyed));
    statement(&document.report, &all, &wanted.filters, one_of, &wanted.scopes, dialect)
}

/// The statement for the rows of the documents' details; named by what they carry, where that is short.
fn lines(details: &Details, wanted: &Wanted, items: &[Item], dialect: Dialect) -> Query {
    /// Databases take so many arguments, and look each of them up.
    const NAMED: usize = 200;
    let all: Vec<usize> = (0..details.report.columns.len()).collect();
    let links: Vec<String> = items.iter().filter_map(|item| item.link.clone()).collect();
    let one_of = (links.len() <= NAMED).then_some((details.column, &*links));
    statement(&details.report, &all, &wanted.details, one_of, &wanted.scopes, dialect)
}

fn statement(
    report: &Report,
    columns: &[usize],
    filters: &Filters,
    one_of: Option<(usize, &[String])>,
    scopes: &Scopes,
    dialect: Dialect,
) -> Query {
    let selection = Selection {
        columns,
        filters,
        scopes,
        one_of,
        after: None,
        types: &[],
        limit: None,
        cursor: false,
    };
    let mut query = definitions::rows(report, &selection, dialect);
    // Whether it is JSON is found out, and told, with its document.
    for cell in &mut query.cells {
        if let Read::As { kind: kind @ Kind::Json, .. } = &mut cell.read {
            *kind = Kind::Text;
        }
    }
    query
}

/// Whether a statement gave a row.
struct Seen(bool);

impl RowSink for Seen {
    fn row(&mut self, _row: &[Value<'_>]) -> Result<()> {
        self.0 = true;
        Ok(())
    }
}

/// Takes the documents' rows.
struct Rows<'g> {
    document: &'g Document,
    spool: &'g Spool,
    clock: ZoneClock,
    held: Held,
    items: Vec<Item>,
}

impl RowSink for Rows<'_> {
    fn row(&mut self, row: &[Value<'_>]) -> Result<()> {
        let document = self.document;
        let said = |index: Option<usize>| {
            index.and_then(|index| row.get(index)).and_then(word).unwrap_or_default()
        };
        let key = said(Some(document.key));
        if key.is_empty() {
            return Err(Error::Cell {
                row: self.items.len() as u64 + 1,
                column: document.report.columns[document.key].column.key.clone(),
                detail:
                    "is empty, and names the document; give it a value, or name another column as \
                         \"key\" of [document]"
                        .into(),
            });
        }
        let carried = document.details.as_ref().and_then(|details| row.get(details.document));
        let link = carried.and_then(word);
        let (number, title) = (said(document.number), said(document.title));
        let row = self.held.add(row, &document.report, &mut self.clock, self.spool)?;
        let details = Vec::new();
        self.items.push(Item { key, number, title, name: String::new(), link, row, details });
        Ok(())
    }
}

/// Takes the rows of details, each for the documents whose it is.
struct Lines<'g> {
    details: &'g Details,
    spool: &'g Spool,
    clock: ZoneClock,
    held: &'g mut Held,
    items: &'g mut [Item],
    places: &'g HashMap<String, Vec<usize>>,
}

impl RowSink for Lines<'_> {
    fn row(&mut self, row: &[Value<'_>]) -> Result<()> {
        let link = row.get(self.details.column).and_then(word);
        let Some(places) = link.and_then(|link| self.places.get(&link)) else { return Ok(()) };
        let report = &self.details.report;
        let place = self.held.add(row, report, &mut self.clock, self.spool)?;
        for index in places {
            let details = &mut self.items[*index].details;
            match details.last_mut() {
                // What lies together is read together.
                Some(last) if last.end == place.start => last.end = place.end,
                _ => details.push(place.clone()),
            }
        }
        Ok(())
    }
}

/// A value that names something, as text.
fn word(value: &Value<'_>) -> Option<String> {
    match value {
        Value::Int(number) => Some(number.to_string()),
        Value::Decimal(text) | Value::Text(text) | Value::Json(text) => Some((*text).to_owned()),
        // Columns that name something are of these kinds.
        Value::Null
        | Value::Bool(_)
        | Value::Float(_)
        | Value::Real(_)
        | Value::Date(_)
        | Value::Time(_) => None,
    }
}

impl Item {
    /// Its row, and behind it those of its details, as they are held.
    pub(super) fn bytes(&self, held: &Held) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        for range in std::iter::once(&self.row).chain(&self.details) {
            held.read(range, &mut bytes)?;
        }
        Ok(bytes)
    }

    /// What messages call it: by its number, and by its key where that is something else.
    pub(super) fn words(&self) -> String {
        let Self { key, number, .. } = self;
        if number.is_empty() || number == key {
            format!("\"{key}\"")
        } else {
            format!("\"{number}\" (key {key})")
        }
    }

    /// The name of its file, without regard to others: its number and title, or its key.
    fn file(&self) -> String {
        let Self { key, number, title, .. } = self;
        // What stands behind a slash is part of the name, not a name in a folder.
        let name = format!("{number} {title}").replace(['/', '\\'], "_");
        let name = name.trim();
        format!("{}.pdf", if name.is_empty() { key } else { name })
    }
}

/// Names the entries, in order.
fn name(items: &mut [Item]) {
    let mut names = Distinct::default();
    // The last entry's.
    let _ = names.take(MANIFEST);
    for item in items {
        item.name = names.take(&item.file());
    }
}
