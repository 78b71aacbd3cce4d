//! `[[sections]]`: each table → a part of the page.

use toml::de::DeTable;

use super::document::{FONT_SIZES, points, small};
use super::feeds::{FEED, feed, pointer, wording};
use crate::definitions::document::{
    Align, Field, Grid, GridColumn, Passage, Pictures, Section, Wording,
};
use crate::definitions::fault::Faults;
use crate::definitions::reader::Part;

const ALIGNS: [(&str, Align); 3] =
    [("left", Align::Left), ("center", Align::Center), ("right", Align::Right)];

/// The kinds of sections, in the order that messages list them.
const KINDS: [(&str, Kind); 8] = [
    ("heading", Kind::Heading),
    ("text", Kind::Text),
    ("fields", Kind::Fields),
    ("table", Kind::Table),
    ("totals", Kind::Totals),
    ("signatures", Kind::Signatures),
    ("images", Kind::Images),
    ("page_break", Kind::PageBreak),
];

#[derive(Debug, Clone, Copy)]
enum Kind {
    Heading,
    Text,
    Fields,
    Table,
    Totals,
    Signatures,
    Images,
    PageBreak,
}

impl Kind {
    const fn known(self) -> &'static [&'static str] {
        match self {
            Self::Heading | Self::Text => &["kind", "text", "size", "align"],
            Self::Fields => &["kind", "beside", "fields"],
            Self::Table => &["kind", "rows", "optional", "columns", "size", "empty"],
            Self::Totals => &["kind", "fields"],
            Self::Signatures => &["kind", "boxes"],
            Self::Images => &["kind", "pointer", "optional", "beside", "height"],
            Self::PageBreak => &["kind"],
        }
    }
}

/// The most that stands beside each other.
const BESIDE: (u64, u64) = (1, 6);

/// Reads the sections. What pointers into the row may begin with are `roots`, where they are known.
pub(super) fn read(
    part: &Part<'_>,
    roots: Option<&[String]>,
    faults: &mut Faults<'_>,
) -> Vec<Section> {
    let tables = part.tables("sections", faults);
    if tables.is_empty() {
        faults.at(
            part.at(),
            "the document has no sections",
            "add [[sections]] with kind = \"heading\", \"fields\", \"table\" or another",
        );
    }
    let mut sections = Vec::with_capacity(tables.len());
    for (table, at) in tables {
        sections.extend(section(table, at, roots, faults));
    }
    sections
}

fn section(
    table: &DeTable<'_>,
    at: usize,
    roots: Option<&[String]>,
    faults: &mut Faults<'_>,
) -> Option<Section> {
    // The kind says which keys are known; what has none has no key that would be unknown.
    let words: Vec<&str> = table.keys().map(|key| key.get_ref().as_ref()).collect();
    let kind =
        Part::new(table, at, "a section", &words, faults).needed_word("kind", &KINDS, faults);
    let kind = kind?.value;
    let word = KINDS[kind as usize].0;
    let part = Part::new(table, at, format!("the section \"{word}\""), kind.known(), faults);
    match kind {
        Kind::Heading => passage(&part, roots, faults).map(Section::Heading),
        Kind::Text => passage(&part, roots, faults).map(Section::Text),
        Kind::Fields => {
            let beside = part.whole("beside", BESIDE, faults).map_or(2, |beside| beside.value);
            let fields = fields(&part, roots, faults);
            Some(Section::Fields { beside: usize::try_from(beside).unwrap_or(1), fields })
        }
        Kind::Table => grid(&part, roots, faults).map(Section::Table),
        Kind::Totals => Some(Section::Totals(fields(&part, roots, faults))),
        Kind::Signatures => signatures(&part, roots, faults),
        Kind::Images => images(&part, roots, faults),
        Kind::PageBreak => Some(Section::PageBreak),
    }
}

fn passage(part: &Part<'_>, roots: Option<&[String]>, faults: &mut Faults<'_>) -> Option<Passage> {
    let text = part.needed("text", "{/title}", faults);
    let size = part.number("size", FONT_SIZES, faults).map(|size| small(size.value));
    let align = part.word("align", &ALIGNS, faults).map(|align| align.value).unwrap_or_default();
    let wording = wording(&text?, roots, faults)?;
    Some(Passage { wording, size, align })
}

fn fields(part: &Part<'_>, roots: Option<&[String]>, faults: &mut Faults<'_>) -> Vec<Field> {
    let tables = part.tables("fields", faults);
    if tables.is_empty() {
        faults.at(
            part.at(),
            "the section has no fields",
            "add [[sections.fields]] with label = \"…\" and pointer = \"/…\"",
        );
    }
    let mut fields = Vec::with_capacity(tables.len());
    for (table, at) in tables {
        let known: Vec<&str> = ["label"].iter().chain(&FEED).copied().collect();
        let part = Part::new(table, at, "a field", &known, faults);
        let label = part.needed("label", "공사명", faults);
        let value = feed(&part, roots, faults);
        if let (Some(label), Some(value)) = (label, value) {
            fields.push(Field { label: label.value, value });
        }
    }
    fields
}

fn grid(part: &Part<'_>, roots: Option<&[String]>, faults: &mut Faults<'_>) -> Option<Grid> {
    let rows = part.needed("rows", "/content/rows", faults);
    let rows = rows.and_then(|rows| pointer(&rows, roots, faults));
    let optional = part.flag("optional", faults).unwrap_or(false);
    let size = part.number("size", FONT_SIZES, faults).map(|size| small(size.value));
    let empty = part.text("empty", faults).map(|text| text.value);
    let tables = part.tables("columns", faults);
    if tables.is_empty() {
        faults.at(
            part.at(),
            "the table has no columns",
            "add [[sections.columns]] with title = \"…\" and pointer = \"/…\"",
        );
        return None;
    }
    let mut columns = Vec::with_capacity(tables.len());
    for (table, at) in tables {
        columns.extend(grid_column(table, at, faults));
    }
    Some(Grid { rows: rows?, optional, columns, size, empty: empty.unwrap_or_else(|| "-".into()) })
}

fn grid_column(table: &DeTable<'_>, at: usize, faults: &mut Faults<'_>) -> Option<GridColumn> {
    let known: Vec<&str> = ["title", "width", "align"].iter().chain(&FEED).copied().collect();
    let part = Part::new(table, at, "a column of a table", &known, faults);
    let title = part.needed("title", "금액", faults);
    let width = part.number("width", (0.1, 1_000.0), faults);
    let align = part.word("align", &ALIGNS, faults);
    // Within an element of the array, which no column declares.
    let value = feed(&part, None, faults)?;
    Some(GridColumn {
        title: title?.value,
        width: width.map_or(1.0, |width| small(width.value)),
        align: align.map(|align| align.value).unwrap_or_default(),
        value,
    })
}

fn signatures(
    part: &Part<'_>,
    roots: Option<&[String]>,
    faults: &mut Faults<'_>,
) -> Option<Section> {
    let boxes = part.texts("boxes", faults);
    if boxes.is_empty() || boxes.len() as u64 > BESIDE.1 {
        faults.at(
            part.at(),
            format!("the section has {} boxes to sign in", boxes.len()),
            format!("name 1 to {}: boxes = [\"담당\", \"승인\"]", BESIDE.1),
        );
        return None;
    }
    let boxes: Option<Vec<Wording>> =
        boxes.iter().map(|text| wording(text, roots, faults)).collect();
    boxes.map(Section::Signatures)
}

fn images(part: &Part<'_>, roots: Option<&[String]>, faults: &mut Faults<'_>) -> Option<Section> {
    const HEIGHT: f64 = 80.0;
    let place = part.needed("pointer", "/content/photos", faults);
    let place = place.and_then(|place| pointer(&place, roots, faults));
    let optional = part.flag("optional", faults).unwrap_or(false);
    let beside = part.whole("beside", BESIDE, faults).map_or(2, |beside| beside.value);
    let height = part.number("height", (5.0, 400.0), faults).map_or(HEIGHT, |mm| mm.value);
    Some(Section::Images(Pictures {
        pointer: place?,
        optional,
        beside: usize::try_from(beside).unwrap_or(1),
        height: points(height),
    }))
}
