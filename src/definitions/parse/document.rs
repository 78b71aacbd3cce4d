//! The table of a document file → a checked [`Document`]: a report's part, and what makes pages of it.

use sha2::{Digest, Sha256};
use toml::de::DeTable;

use super::{KNOWN as REPORT, report_of, sections};
use crate::definitions::document::{Details, Document, PageSetup, Template};
use crate::definitions::fault::Faults;
use crate::definitions::reader::{Part, Spot};
use crate::definitions::report::Report;
use crate::rows::{Kind, hex};

/// What a document has besides a report's part.
const OWN: [&str; 4] = ["document", "page", "sections", "details"];
/// What details have besides a report's part.
const OF_DETAILS: [&str; 3] = ["name", "on", "required"];

/// Points of a millimetre.
const MILLIMETRE: f32 = 72.0 / 25.4;
/// Paper by its name, in millimetres (ISO 216; ANSI Y14.1 in whole inches).
const SIZES: [(&str, [f32; 2]); 6] = [
    ("A4", [210.0, 297.0]),
    ("A3", [297.0, 420.0]),
    ("A5", [148.0, 210.0]),
    ("B5", [176.0, 250.0]),
    ("letter", [215.9, 279.4]),
    ("legal", [215.9, 355.6]),
];
const ORIENTATIONS: [(&str, bool); 2] = [("portrait", false), ("landscape", true)];
/// Smaller cannot be read, larger fills a page with a few words.
pub(super) const FONT_SIZES: (f64, f64) = (4.0, 72.0);

pub(super) fn read(
    name: &str,
    table: &DeTable<'_>,
    text: &str,
    faults: &mut Faults<'_>,
) -> Option<Document> {
    let known: Vec<&str> = REPORT.iter().chain(&OWN).copied().collect();
    let part = Part::new(table, 0, "the document", &known, faults);
    let report = report_of(name, &part, faults);
    let details = details(name, &part, report.as_ref(), faults);
    let named = naming(&part, report.as_ref(), faults);
    let page = page(&part, faults);
    let mut roots: Vec<String> = Vec::new();
    if let Some(report) = &report {
        roots.extend(report.columns.iter().map(|declared| declared.column.key.clone()));
    }
    roots.extend(details.iter().map(|details| details.name.clone()));
    let sections = sections::read(&part, report.is_some().then_some(&*roots), faults);
    let (report, [key, number, title, date]) = (report?, named?);
    Some(Document {
        report,
        key: key?,
        number,
        title,
        date,
        details,
        template: Template { page, sections },
        fingerprint: hex(&Sha256::digest(text)),
    })
}

/// The columns that name a document.
fn naming(
    part: &Part<'_>,
    report: Option<&Report>,
    faults: &mut Faults<'_>,
) -> Option<[Option<usize>; 4]> {
    let Some((table, at)) = part.table("document", faults) else {
        faults.at(
            part.at(),
            "the document has no [document]",
            "add [document] with key = \"id\", the column that names one of them",
        );
        return None;
    };
    let part = Part::new(table, at, "[document]", &["key", "number", "title", "date"], faults);
    let key = part.needed("key", "id", faults);
    let (number, title) = (part.text("number", faults), part.text("title", faults));
    let date = part.text("date", faults);
    let report = report?;
    let key = key.and_then(|key| column(report, &key, "key", &NAMES, faults));
    let number = number.and_then(|number| column(report, &number, "number", &NAMES, faults));
    let title = title.and_then(|title| column(report, &title, "title", &NAMES, faults));
    let date =
        date.and_then(|date| column(report, &date, "date", &[Kind::Date, Kind::Time], faults));
    Some([key, number, title, date])
}

/// What can name something.
const NAMES: [Kind; 2] = [Kind::Int, Kind::Text];

/// The column of this key, which is of one of these kinds.
fn column(
    report: &Report,
    key: &Spot<String>,
    what: &str,
    kinds: &[Kind],
    faults: &mut Faults<'_>,
) -> Option<usize> {
    let Some(index) = report.column(&key.value) else {
        let known: Vec<_> = report.columns.iter().map(|declared| &*declared.column.key).collect();
        faults.at(
            key.at,
            format!("\"{what}\" names \"{}\", which is no column's key", key.value),
            format!("name one of {}, or add the column", known.join(", ")),
        );
        return None;
    };
    if !kinds.contains(&report.columns[index].column.kind) {
        let kind = report.columns[index].column.kind.word();
        let wanted: Vec<&str> = kinds.iter().map(|kind| kind.word()).collect();
        faults.at(
            key.at,
            format!("\"{what}\" names \"{}\", a {kind} column", key.value),
            format!("name a column of type {}", wanted.join(" or ")),
        );
        return None;
    }
    Some(index)
}

fn details(
    name: &str,
    part: &Part<'_>,
    report: Option<&Report>,
    faults: &mut Faults<'_>,
) -> Option<Details> {
    let mut tables = part.tables("details", faults).into_iter();
    let (table, at) = tables.next()?;
    if let Some((_, second)) = tables.next() {
        faults.at(
            second,
            "the document has [[details]] twice",
            "keep one of them; join the others in its sql, or in a view",
        );
    }
    let known: Vec<&str> = REPORT.iter().chain(&OF_DETAILS).copied().collect();
    let part = Part::new(table, at, "[[details]]", &known, faults);
    let rows = report_of(name, &part, faults);
    let called = part.needed("name", "lines", faults);
    let required = part.flag("required", faults).unwrap_or(false);
    let on = part.entries("on", "{ merchant_id = \"id\" }", faults);
    let (rows, report, called) = (rows?, report?, called?);
    check_details(&rows, report, &called, at, faults);
    let [(own, theirs)] = on.as_slice() else {
        faults.at(
            at,
            "[[details]] has not one pair of columns in \"on\"",
            "say which of its columns carries which of the document's: on = { merchant_id = \"id\" }",
        );
        return None;
    };
    let theirs = Spot {
        value: theirs.get_ref().as_str().unwrap_or_default().trim().to_owned(),
        at: theirs.span().start,
    };
    let (own, theirs) =
        (column(&rows, own, "on", &NAMES, faults)?, column(report, &theirs, "on", &NAMES, faults)?);
    let kind = |report: &Report, index: usize| report.columns[index].column.kind;
    if kind(&rows, own) != kind(report, theirs) {
        faults.at(at, "the two columns of \"on\" differ in type", "declare both alike");
    }
    Some(Details { name: called.value, report: rows, document: theirs, column: own, required })
}

/// What details must not be, whose rows are read together with the document's, and are narrowed by the
/// same parameters.
fn check_details(
    rows: &Report,
    report: &Report,
    called: &Spot<String>,
    at: usize,
    faults: &mut Faults<'_>,
) {
    if report.column(&called.value).is_some() {
        faults.at(
            called.at,
            format!("[[details]] are called \"{}\", as a column is", called.value),
            "give them another name",
        );
    }
    if rows.database != report.database {
        faults.at(
            at,
            "[[details]] are read from another database than the document",
            "leave \"database\" out; both are read in one transaction",
        );
    }
    for filter in &rows.filters {
        if report.filters.iter().any(|other| other.name == filter.name) {
            faults.on_line(
                filter.line,
                format!("the filter \"{}\" is one of the document, too", filter.name),
                "give one of them another name",
            );
        }
    }
}

fn page(part: &Part<'_>, faults: &mut Faults<'_>) -> PageSetup {
    const MARGIN: f32 = 15.0;
    const FONT_SIZE: f32 = 9.0;
    let mut size = SIZES[0].1;
    let (mut margin, mut font_size, mut numbers) = (MARGIN, FONT_SIZE, "{page} / {pages}".into());
    let mut wide = false;
    if let Some((table, at)) = part.table("page", faults) {
        let known = ["size", "orientation", "margin", "font_size", "numbers"];
        let part = Part::new(table, at, "[page]", &known, faults);
        size = part.word("size", &SIZES, faults).map_or(size, |size| size.value);
        wide = part.word("orientation", &ORIENTATIONS, faults).is_some_and(|word| word.value);
        margin = part.number("margin", (5.0, 60.0), faults).map_or(margin, |mm| small(mm.value));
        font_size =
            part.number("font_size", FONT_SIZES, faults).map_or(font_size, |pt| small(pt.value));
        numbers = page_numbers(&part, faults).unwrap_or(numbers);
    }
    let [width, height] = if wide { [size[1], size[0]] } else { size };
    PageSetup {
        width: width * MILLIMETRE,
        height: height * MILLIMETRE,
        margin: margin * MILLIMETRE,
        font_size,
        numbers,
    }
}

/// What stands at the foot of a page; an empty text for nothing.
fn page_numbers(part: &Part<'_>, faults: &mut Faults<'_>) -> Option<String> {
    if part.flag_or_text("numbers") == Some(false) {
        return Some(String::new());
    }
    let numbers = part.text("numbers", faults)?;
    if !numbers.value.contains("{page}") {
        faults.at(
            numbers.at,
            "\"numbers\" of [page] has no {page} in it",
            "write numbers = \"{page} / {pages}\", or numbers = false for none",
        );
    }
    Some(numbers.value)
}

/// Sizes are given to a hundredth at most.
#[expect(clippy::cast_possible_truncation, reason = "bounds are a few hundred")]
pub(super) fn small(number: f64) -> f32 {
    number as f32
}

/// Points of so many millimetres.
pub(super) fn points(millimetres: f64) -> f32 {
    small(millimetres) * MILLIMETRE
}
