//! Which column of a file is which field: the header row is found, and its headings are matched whatever
//! a spreadsheet, a keyboard or a copy has done to them. Every fault of a header is told at once.
//!
//! The header row is the first of the first 20 rows in which every required field is found, and two
//! fields at least where there are as many; what stands above it is a title. Where no row is, the one
//! with the most known headings is complained about.

mod matched;

use std::collections::BTreeMap;

pub use matched::Matched;

use super::cells::{display, trim};
use crate::definitions::{Field, Import, UnknownColumns, fold};
use crate::error::Problem;
use crate::sheets::Cell;

/// The heading of the column that says what is wrong with a row that was handed back; a file that comes
/// back with it is read without.
pub const REASONS: &str = "tallyroll: problems";
/// Rows among which the header is looked for.
pub const SEARCHED: u64 = 20;
/// Cells of a row that a sentence repeats, and characters of each.
const REPEATED: (usize, usize) = (8, 40);

/// What a header row says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Headers {
    /// Its row as a person sees it; 0 for the keys of JSON objects.
    pub row: u64,
    /// For each column of the file the index of its field.
    pub columns: Vec<Option<usize>>,
    /// For each column of the file its heading; empty where it has none.
    pub titles: Vec<String>,
    /// The headings that are no field's.
    pub unknown: Vec<String>,
}

/// Looks for the header row, a row at a time.
#[derive(Debug)]
pub struct HeaderSearch<'i> {
    import: &'i Import,
    asked: Option<u64>,
    spellings: Spellings,
    /// The first row that was seen.
    first: Option<(u64, Vec<String>)>,
    /// How many fields were found in the best row so far, and what is wrong with it.
    best: Option<(usize, Vec<Problem>)>,
}

/// The field of each heading, by how headings are compared.
type Spellings = BTreeMap<String, usize>;

fn spellings(import: &Import) -> Spellings {
    let of_field = |(index, field): (usize, &Field)| -> Vec<(String, usize)> {
        field.spellings().map(|spelling| (fold(spelling), index)).collect()
    };
    import.fields.iter().enumerate().flat_map(of_field).collect()
}

impl<'i> HeaderSearch<'i> {
    /// A search for the header of a file for this import; in the row `asked` alone where one is.
    #[must_use]
    pub fn new(import: &'i Import, asked: Option<u64>) -> Self {
        Self { import, asked, spellings: spellings(import), first: None, best: None }
    }

    /// Looks at the next row: the headers if it is the header row, nothing if it stands above.
    ///
    /// # Errors
    /// Every fault of the header, where it is certain that no better row comes.
    pub fn row(
        &mut self,
        number: u64,
        cells: &[Cell<'_>],
    ) -> Result<Option<Headers>, Vec<Problem>> {
        let titles: Vec<String> =
            cells.iter().map(|cell| trim(&display(*cell)).to_owned()).collect();
        self.first.get_or_insert_with(|| (number, titles.clone()));
        if number > self.asked.unwrap_or(SEARCHED) {
            return Err(self.faults());
        }
        if self.asked.is_some_and(|asked| number < asked) {
            return Ok(None);
        }
        let read = Read::new(self.import, &self.spellings, titles, Some(number));
        if self.asked.is_some() || read.is_header() {
            return read.finish().map(Some);
        }
        let found = read.found();
        if found > self.best.as_ref().map_or(0, |(found, _)| *found) {
            self.best = Some((found, read.faults_as_found()));
        }
        Ok(None)
    }

    /// What is wrong with a file that has ended before a header row was found.
    #[must_use]
    pub fn not_found(self) -> Vec<Problem> {
        self.faults()
    }

    /// Matches the keys of JSON objects.
    ///
    /// # Errors
    /// Every fault of them.
    pub fn of_keys(import: &Import, keys: &[String]) -> Result<Headers, Vec<Problem>> {
        let titles = keys.iter().map(|key| trim(key).to_owned()).collect();
        Read::new(import, &spellings(import), titles, None).finish()
    }

    fn faults(&self) -> Vec<Problem> {
        if let Some((_, faults)) = &self.best {
            return faults.clone();
        }
        let titles: Vec<&str> =
            self.import.fields.iter().map(|field| field.title.as_str()).collect();
        let place = match self.asked {
            Some(asked) => format!("row {asked}, where the header was said to be, is empty"),
            None => format!("no header was found within the first {SEARCHED} rows"),
        };
        let holds = match &self.first {
            Some((row, titles)) => format!("row {row} holds {}", repeated(titles)),
            None => "the file has no rows".to_owned(),
        };
        let detail = format!(
            "{place}: {holds}. Put a row with the headings above the rows: {}",
            titles.join(", ")
        );
        vec![problem("header_not_found", None, detail)]
    }
}

/// A row as it is read for a header.
struct Read<'i> {
    import: &'i Import,
    headers: Headers,
    /// For each field the columns that are headed by it.
    places: Vec<Vec<usize>>,
    json: bool,
}

impl<'i> Read<'i> {
    fn new(
        import: &'i Import,
        spellings: &Spellings,
        titles: Vec<String>,
        row: Option<u64>,
    ) -> Self {
        let columns: Vec<_> =
            titles.iter().map(|title| spellings.get(&fold(title)).copied()).collect();
        let mut places = vec![Vec::new(); import.fields.len()];
        for (column, field) in columns.iter().enumerate() {
            if let Some(places) = field.and_then(|field| places.get_mut(field)) {
                places.push(column);
            }
        }
        let unknown = titles.iter().zip(&columns).filter(|(title, field)| {
            // A heading of which nothing can be seen is none.
            field.is_none() && !is_passed_over(title)
        });
        let unknown = unknown.map(|(title, _)| title.clone()).collect();
        let headers = Headers { row: row.unwrap_or(0), columns, titles, unknown };
        Self { import, headers, places, json: row.is_none() }
    }

    fn found(&self) -> usize {
        self.places.iter().filter(|places| !places.is_empty()).count()
    }

    fn is_header(&self) -> bool {
        let missing = self.missing().next().is_some();
        !missing && self.found() >= self.import.fields.len().min(2)
    }

    fn missing(&self) -> impl Iterator<Item = &Field> {
        let fields = self.import.fields.iter().zip(&self.places);
        fields.filter(|(field, places)| field.required && places.is_empty()).map(|(field, _)| field)
    }

    fn finish(self) -> Result<Headers, Vec<Problem>> {
        let faults = self.faults();
        if faults.is_empty() { Ok(self.headers) } else { Err(faults) }
    }

    /// Why a row was not taken for the header that nobody has said to be it.
    fn faults_as_found(&self) -> Vec<Problem> {
        let faults = self.faults();
        if !faults.is_empty() {
            return faults;
        }
        let titles: Vec<&str> =
            self.import.fields.iter().map(|field| field.title.as_str()).collect();
        let row = self.headers.row;
        let detail = format!(
            "row {row} holds one of the headings alone, which may be chance: it holds {}. If it is the \
             header, say so with header_row={row}; otherwise put a row with the headings above the \
             rows: {}",
            repeated(&self.headers.titles),
            titles.join(", ")
        );
        vec![problem("header_not_found", None, detail)]
    }

    fn faults(&self) -> Vec<Problem> {
        if self.found() == 0 && !self.json {
            let titles: Vec<&str> =
                self.import.fields.iter().map(|field| field.title.as_str()).collect();
            let detail = format!(
                "row {} holds none of the headings; it holds {}. Put a row with the headings above \
                 the rows: {}",
                self.headers.row,
                repeated(&self.headers.titles),
                titles.join(", ")
            );
            return vec![problem("header_not_found", None, detail)];
        }
        let missing = self.missing().map(|field| self.is_missing(field));
        let doubled = self.import.fields.iter().zip(&self.places);
        let doubled = doubled.filter(|(_, places)| places.len() > 1);
        let doubled = doubled.map(|(field, places)| self.is_doubled(field, places));
        let mut faults: Vec<Problem> = missing.chain(doubled).collect();
        if self.import.unknown_columns == UnknownColumns::Reject {
            faults.extend(self.headers.unknown.iter().map(|title| is_unknown(title, self.import)));
        }
        faults
    }

    fn is_missing(&self, field: &Field) -> Problem {
        let (thing, place) = match self.headers.row {
            0 => ("key", "the objects do not have it".to_owned()),
            row => ("column", format!("row {row} does not have it")),
        };
        let spellings: Vec<&str> = field.spellings().collect();
        let detail = format!(
            "the {thing} \"{}\" is required and {place}; add it, named {}",
            field.title,
            or(&spellings)
        );
        problem("header_missing", None, detail)
    }

    fn is_doubled(&self, field: &Field, places: &[usize]) -> Problem {
        let titles = places.iter().filter_map(|place| self.headers.titles.get(*place));
        let named: Vec<String> = titles.map(|title| format!("\"{}\"", cut(title))).collect();
        let detail = if self.json {
            format!(
                "the keys {} all mean \"{}\"; keep one of them",
                named.join(" and "),
                field.title
            )
        } else {
            let row = self.headers.row;
            let cells = places.iter().zip(&named);
            let cells: Vec<String> =
                cells.map(|(place, name)| format!("{}{row} ({name})", letters(*place))).collect();
            format!(
                "the column \"{}\" is there {} times, in {}; keep one of them",
                field.title,
                places.len(),
                cells.join(" and ")
            )
        };
        problem("header_doubled", Some(field.title.clone()), detail)
    }
}

/// Whether a heading is none, or that of a column that we wrote ourselves.
fn is_passed_over(title: &str) -> bool {
    fold(title).is_empty() || fold(title) == fold(REASONS)
}

fn is_unknown(title: &str, import: &Import) -> Problem {
    let known: Vec<&str> = import.fields.iter().map(|field| field.title.as_str()).collect();
    let detail = format!(
        "the column \"{}\" is not among those that are taken; take it out of the file, or head it {}",
        cut(title),
        or(&known)
    );
    problem("unknown_column", Some(title.to_owned()), detail)
}

fn problem(code: &'static str, value: Option<String>, detail: String) -> Problem {
    Problem { parameter: Some("file".into()), code, value, detail }
}

/// `a, b or c`
fn or(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
    }
}

/// What a row holds, in a sentence.
fn repeated(titles: &[String]) -> String {
    let (cells, _) = REPEATED;
    let seen: Vec<&String> = titles.iter().filter(|title| !title.is_empty()).collect();
    let shown: Vec<String> =
        seen.iter().take(cells).map(|title| format!("\"{}\"", cut(title))).collect();
    let more = if seen.len() > cells { ", …" } else { "" };
    if shown.is_empty() { "nothing".into() } else { format!("{}{more}", shown.join(", ")) }
}

fn cut(title: &str) -> String {
    let (_, characters) = REPEATED;
    // Line breaks would tear a sentence apart.
    let mut chars = title.chars().map(|char| if char.is_control() { ' ' } else { char });
    let shown: String = chars.by_ref().take(characters).collect();
    if chars.next().is_some() { format!("{shown}…") } else { shown }
}

/// The letters of a spreadsheet's column: `A` for 0, `AA` for 26.
#[must_use]
pub fn letters(column: usize) -> String {
    let mut letters = Vec::new();
    let mut rest = column + 1;
    while rest > 0 {
        rest -= 1;
        letters.push(b'A' + u8::try_from(rest % 26).unwrap_or(0));
        rest /= 26;
    }
    letters.reverse();
    String::from_utf8(letters).unwrap_or_default()
}

#[cfg(test)]
mod tests;
