//! What a request for rows asks: every parameter typed, every fault found at once.

use jiff::tz::TimeZone;
use serde_json::Value as Json;

use crate::database::Arg;
use crate::definitions::{self, Filters, ROWS_PARAMETERS, Report};
use crate::delivery::Way;
use crate::error::Result;
use crate::formats::{Format, Options, Parameters, params};

/// The largest page that is read before its status goes out, in rows.
pub const PAGE: u64 = 10_000;

/// What was sent: decoded pairs in the order of the query string, and what the rest of the request
/// says about the format.
pub struct Request<'a> {
    /// The parameters.
    pub pairs: &'a [(String, String)],
    /// The zone where the request names none.
    pub zone: &'a TimeZone,
    /// The format where the parameter `format` is missing; a refusal of the client's media types.
    pub negotiated: Result<Format>,
}

/// Which rows and columns are wanted and how they are to be written; all of it valid.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Indexes into the report's columns, in the order wanted.
    pub columns: Vec<usize>,
    /// What the rows are narrowed by.
    pub filters: Filters,
    /// The place after which to begin.
    pub after: Option<Vec<Arg>>,
    /// How many rows at most.
    pub limit: Option<u64>,
    /// The format.
    pub format: Format,
    /// Its options.
    pub options: Options,
    /// Whether a last line says how it ended.
    pub summary: bool,
    /// How the answer is to leave.
    pub way: Way,
    /// The name for the download, without regard to what names may be.
    pub filename: Option<String>,
    pairs: Vec<(String, String)>,
}

/// What a request for a count asks.
pub struct Wanted {
    /// What the rows are narrowed by.
    pub filters: Filters,
}

impl Asked {
    /// Whether the answer is a page that is read before its status goes out.
    #[must_use]
    pub fn is_page(&self) -> bool {
        self.limit.is_some_and(|limit| limit <= PAGE)
    }

    /// The parameters as the run keeps them.
    #[must_use]
    pub fn params(&self) -> Json {
        params(&self.pairs)
    }
}

impl Wanted {
    /// Reads the parameters of a count.
    ///
    /// # Errors
    /// [`crate::error::Error::Malformed`] with every fault.
    pub fn parse(report: &Report, pairs: &[(String, String)], zone: &TimeZone) -> Result<Self> {
        let mut reader = Parameters::new(pairs);
        let zone = reader.zone().unwrap_or_else(|| zone.clone());
        let filters = filters(&mut reader, report, &zone, &["tz"]);
        reader.done(Self { filters })
    }
}

impl Request<'_> {
    /// Reads the parameters.
    ///
    /// # Errors
    /// [`crate::error::Error::Malformed`] with every fault; then
    /// [`crate::error::Error::NotAcceptable`] where no format fits.
    pub fn parse(self, report: &Report) -> Result<Asked> {
        let mut reader = Parameters::new(self.pairs);
        let zone = reader.zone().unwrap_or_else(|| self.zone.clone());
        let filters = filters(&mut reader, report, &zone, &ROWS_PARAMETERS);
        let format = reader.word("format", &Format::ALL, Format::name);
        let way = reader.word("delivery", &Way::ALL, Way::name);
        let limit = limit(&mut reader, report);
        let after = after(&mut reader, report, &filters);
        let columns = columns(&mut reader, report);
        let summary = reader.flag("summary", false);
        let filename = reader.value("filename").map(str::to_owned);
        let options = reader.options(zone, report.title.clone());
        if format.or(self.negotiated.as_ref().ok().copied()) == Some(Format::Xlsx) {
            reader.refuse_for_a_book(&options);
        }
        reader.done(())?;
        let format = format.map_or(self.negotiated, Ok)?;
        let pairs = self.pairs.to_vec();
        // A line behind an array or a table would break it.
        let summary = summary && format == Format::Ndjson;
        let way = way.unwrap_or_else(|| Way::of(format));
        Ok(Asked { columns, filters, after, limit, format, options, summary, way, filename, pairs })
    }
}

/// The filters are what is left when the endpoint's own parameters are taken out.
fn filters(reader: &mut Parameters<'_>, report: &Report, zone: &TimeZone, own: &[&str]) -> Filters {
    definitions::parse_filters(report, reader.pairs, own, zone, &mut reader.problems)
}

fn limit(reader: &mut Parameters<'_>, report: &Report) -> Option<u64> {
    let value = reader.value("limit")?;
    // The database takes a signed number, and is asked for one row more.
    let limit = value.parse::<i64>().ok().filter(|limit| (1..i64::MAX).contains(limit));
    let Some(limit) = limit.and_then(|limit| u64::try_from(limit).ok()) else {
        let detail = format!("\"limit\" is \"{value}\"; it takes a whole number of rows from 1 up");
        reader.refuse("limit", "not_a_count", value, detail);
        return None;
    };
    if report.order.is_empty() {
        unordered(reader, "limit", value, report);
    }
    Some(limit)
}

fn unordered(reader: &mut Parameters<'_>, name: &str, value: &str, report: &Report) {
    let detail = format!(
        "the report \"{}\" has no order, so it cannot be paged; ask for it without \"{name}\", or \
         give its definition an order_by that ends in a unique column",
        report.name
    );
    reader.refuse(name, "unordered_report", value, detail);
}

fn after(reader: &mut Parameters<'_>, report: &Report, filters: &Filters) -> Option<Vec<Arg>> {
    let token = reader.value("after")?;
    if report.order.is_empty() {
        unordered(reader, "after", token, report);
        return None;
    }
    definitions::decode_cursor(report, filters, token)
        .map_err(|problem| reader.problems.push(problem))
        .ok()
}

fn columns(reader: &mut Parameters<'_>, report: &Report) -> Vec<usize> {
    let Some(list) = reader.value("columns") else {
        return (0..report.columns.len()).collect();
    };
    let mut columns = Vec::new();
    for key in list.split(',').map(str::trim) {
        match report.column(key) {
            Some(index) if columns.contains(&index) => {
                let detail = format!("\"columns\" names \"{key}\" twice; name it once");
                reader.refuse("columns", "doubled_column", key, detail);
            }
            Some(index) => columns.push(index),
            None => {
                let known: Vec<_> =
                    report.columns.iter().map(|declared| &*declared.column.key).collect();
                let detail = format!(
                    "there is no column \"{key}\"; the report \"{}\" has {}",
                    report.name,
                    known.join(", ")
                );
                reader.refuse("columns", "unknown_column", key, detail);
            }
        }
    }
    columns
}
