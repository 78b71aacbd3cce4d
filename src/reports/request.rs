//! What a request for rows asks: every parameter typed, every fault found at once.

use jiff::tz::TimeZone;
use serde_json::Value as Json;

use crate::database::Arg;
use crate::definitions::{self, Filters, ROWS_PARAMETERS, Report};
use crate::error::{Error, Problem, Result};
use crate::formats::{Format, Header, Numbers, Options};

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

/// How an answer leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Bytes leave as rows arrive.
    Direct,
    /// The whole file is built first.
    Prepared,
}

impl Way {
    const ALL: [Self; 2] = [Self::Direct, Self::Prepared];

    const fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Prepared => "prepared",
        }
    }

    /// What a format has where the request does not say.
    const fn of(format: Format) -> Self {
        match format {
            Format::Ndjson | Format::Json | Format::Csv => Self::Direct,
            // Nothing of a workbook can leave before its last row is there.
            Format::Xlsx => Self::Prepared,
        }
    }
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
        super::params(&self.pairs)
    }
}

impl Wanted {
    /// Reads the parameters of a count.
    ///
    /// # Errors
    /// [`Error::Malformed`] with every fault.
    pub fn parse(report: &Report, pairs: &[(String, String)], zone: &TimeZone) -> Result<Self> {
        let mut reader = Reader::new(pairs);
        let zone = reader.zone(zone);
        let filters = reader.filters(report, &zone, &["tz"]);
        reader.done(Self { filters })
    }
}

impl Request<'_> {
    /// Reads the parameters.
    ///
    /// # Errors
    /// [`Error::Malformed`] with every fault; then [`Error::NotAcceptable`] where no format fits.
    pub fn parse(self, report: &Report) -> Result<Asked> {
        let mut reader = Reader::new(self.pairs);
        let zone = reader.zone(self.zone);
        let filters = reader.filters(report, &zone, &ROWS_PARAMETERS);
        let format = reader.word("format", &Format::ALL, Format::name);
        let way = reader.word("delivery", &Way::ALL, Way::name);
        let limit = reader.limit(report);
        let after = reader.after(report, &filters);
        let columns = reader.columns(report);
        let summary = reader.flag("summary", false);
        let filename = reader.filename();
        let defaults = Options::default();
        let options = Options {
            zone,
            numbers: reader.word("numbers", &Numbers::ALL, Numbers::name).unwrap_or_default(),
            header: reader.word("header", &Header::ALL, Header::name).unwrap_or_default(),
            bom: reader.flag("bom", defaults.bom),
            delimiter: reader.delimiter().unwrap_or(defaults.delimiter),
            formula_guard: reader.flag("formula_guard", defaults.formula_guard),
            title: report.title.clone(),
            ..defaults
        };
        let wants_book = format.or(self.negotiated.as_ref().ok().copied()) == Some(Format::Xlsx);
        if wants_book && options.header == Header::None {
            let detail = "\"header\" is \"none\"; a workbook has a header, title or key";
            reader.refuse("header", "unknown_value", "none", detail.into());
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

/// Reads parameters one by one and gathers what is wrong with them.
struct Reader<'a> {
    pairs: &'a [(String, String)],
    problems: Vec<Problem>,
}

impl<'a> Reader<'a> {
    fn new(pairs: &'a [(String, String)]) -> Self {
        Self { pairs, problems: Vec::new() }
    }

    fn done<T>(self, read: T) -> Result<T> {
        if self.problems.is_empty() { Ok(read) } else { Err(Error::Malformed(self.problems)) }
    }

    fn refuse(&mut self, name: &str, code: &'static str, value: &str, detail: String) {
        self.problems.push(Problem::parameter(name, code, value, detail));
    }

    /// The only value of a parameter, if it was sent.
    fn value(&mut self, name: &str) -> Option<&'a str> {
        let mut values = self.pairs.iter().filter(|pair| pair.0 == name).map(|pair| &*pair.1);
        let value = values.next()?;
        if let Some(second) = values.next() {
            let detail = format!("\"{name}\" is given more than once; give it once");
            self.refuse(name, "doubled_parameter", second, detail);
            return None;
        }
        if value.is_empty() {
            let detail = format!("\"{name}\" is empty; give a value or leave it out");
            self.refuse(name, "empty_value", value, detail);
            return None;
        }
        Some(value)
    }

    fn word<T: Copy>(
        &mut self,
        name: &str,
        all: &[T],
        say: impl Fn(T) -> &'static str,
    ) -> Option<T> {
        let value = self.value(name)?;
        let found = all.iter().copied().find(|word| say(*word) == value);
        if found.is_none() {
            let words: Vec<_> = all.iter().map(|word| say(*word)).collect();
            let detail = format!("\"{name}\" is \"{value}\"; it takes {}", words.join(", "));
            self.refuse(name, "unknown_value", value, detail);
        }
        found
    }

    fn flag(&mut self, name: &str, default: bool) -> bool {
        let say = |flag| if flag { "true" } else { "false" };
        self.word(name, &[true, false], say).unwrap_or(default)
    }

    fn zone(&mut self, default: &TimeZone) -> TimeZone {
        let Some(name) = self.value("tz") else { return default.clone() };
        TimeZone::get(name).unwrap_or_else(|_| {
            let detail = format!(
                "\"tz\" is \"{name}\", which is not an IANA zone such as Asia/Seoul or UTC"
            );
            self.refuse("tz", "unknown_zone", name, detail);
            default.clone()
        })
    }

    /// The filters are what is left when the endpoint's own parameters are taken out.
    fn filters(&mut self, report: &Report, zone: &TimeZone, own: &[&str]) -> Filters {
        definitions::parse_filters(report, self.pairs, own, zone, &mut self.problems)
    }

    fn limit(&mut self, report: &Report) -> Option<u64> {
        let value = self.value("limit")?;
        // The database takes a signed number, and is asked for one row more.
        let limit = value.parse::<i64>().ok().filter(|limit| (1..i64::MAX).contains(limit));
        let Some(limit) = limit.and_then(|limit| u64::try_from(limit).ok()) else {
            let detail =
                format!("\"limit\" is \"{value}\"; it takes a whole number of rows from 1 up");
            self.refuse("limit", "not_a_count", value, detail);
            return None;
        };
        if report.order.is_empty() {
            self.unordered("limit", value, report);
        }
        Some(limit)
    }

    fn unordered(&mut self, name: &str, value: &str, report: &Report) {
        let detail = format!(
            "the report \"{}\" has no order, so it cannot be paged; ask for it without \"{name}\", or \
             give its definition an order_by that ends in a unique column",
            report.name
        );
        self.refuse(name, "unordered_report", value, detail);
    }

    fn after(&mut self, report: &Report, filters: &Filters) -> Option<Vec<Arg>> {
        let token = self.value("after")?;
        if report.order.is_empty() {
            self.unordered("after", token, report);
            return None;
        }
        definitions::decode_cursor(report, filters, token)
            .map_err(|problem| self.problems.push(problem))
            .ok()
    }

    fn columns(&mut self, report: &Report) -> Vec<usize> {
        let Some(list) = self.value("columns") else {
            return (0..report.columns.len()).collect();
        };
        let mut columns = Vec::new();
        for key in list.split(',').map(str::trim) {
            match report.column(key) {
                Some(index) if columns.contains(&index) => {
                    let detail = format!("\"columns\" names \"{key}\" twice; name it once");
                    self.refuse("columns", "doubled_column", key, detail);
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
                    self.refuse("columns", "unknown_column", key, detail);
                }
            }
        }
        columns
    }

    fn delimiter(&mut self) -> Option<u8> {
        let value = self.value("delimiter")?;
        let found = match value {
            "," | ";" | "|" | "\t" => value.bytes().next(),
            "tab" | "\\t" => Some(b'\t'),
            _ => None,
        };
        if found.is_none() {
            let detail = format!(
                "\"delimiter\" is \"{value}\"; it takes one of , ; | and tab (write ; as %3B)"
            );
            self.refuse("delimiter", "unknown_value", value, detail);
        }
        found
    }

    fn filename(&mut self) -> Option<String> {
        self.value("filename").map(str::to_owned)
    }
}
