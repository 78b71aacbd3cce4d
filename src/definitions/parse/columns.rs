//! `[[columns]]`: each table → a declared column, and which of them reads a source column.

use jiff::tz::TimeZone;
use toml::de::DeTable;

use super::KINDS;
use crate::database::Unit;
use crate::definitions::fault::Faults;
use crate::definitions::reader::{Part, Spot};
use crate::definitions::report::{Declared, Zone};
use crate::rows::{Column, Kind, Look};

const KNOWN: [&str; 10] =
    ["key", "column", "title", "type", "width", "format", "scale", "zone", "unit", "not_null"];
const UNITS: [(&str, Unit); 3] = [
    ("seconds", Unit::Seconds),
    ("milliseconds", Unit::Milliseconds),
    ("microseconds", Unit::Microseconds),
];
/// Excel's widest column, in characters.
const WIDEST: f64 = 255.0;
/// The most digits after the point that Excel's number formats take.
const MOST_DIGITS: f64 = 30.0;

/// The columns of one report while it is read; one with a fault stays in, so that what names it is
/// not reported as well.
#[derive(Debug)]
pub(super) struct Columns(Vec<Draft>);

#[derive(Debug)]
struct Draft {
    key: String,
    source: String,
    declared: Option<Declared>,
}

/// What only some kinds of column can have.
struct Marks {
    scale: Option<Spot<u32>>,
    zone: Option<Spot<Zone>>,
    unit: Option<Spot<Unit>>,
}

/// What is declared for a source column.
#[derive(Debug)]
pub(super) enum Lookup<'c> {
    /// This.
    Sound(&'c Declared),
    /// Something that has a fault of its own.
    Broken,
    /// Nothing; a hint, to be put after the name, where it is the key of a column.
    Absent(String),
}

impl Columns {
    pub(super) fn read(report: &Part<'_>, faults: &mut Faults<'_>) -> Self {
        let tables = report.tables("columns", faults);
        if tables.is_empty() {
            faults.at(
                report.at(),
                "the report has no columns",
                "add [[columns]] with key = \"…\" and type = \"…\" for each one",
            );
        }
        let mut columns = Self(Vec::with_capacity(tables.len()));
        for (table, at) in tables {
            let draft = columns.draft(table, at, faults);
            columns.0.extend(draft);
        }
        columns
    }

    /// The first column that reads `source`, and is of this kind where one is named.
    pub(super) fn lookup(&self, source: &str, kind: Option<Kind>) -> Lookup<'_> {
        let mut drafts = self.0.iter().filter(|draft| draft.source == source);
        let first = drafts.next();
        let of_kind = |draft: &&Draft| {
            draft.declared.as_ref().is_some_and(|declared| Some(declared.column.kind) == kind)
        };
        match (first, first.into_iter().chain(drafts).find(of_kind).or(first)) {
            (_, Some(Draft { declared: Some(declared), .. })) => Lookup::Sound(declared),
            (Some(_), _) => Lookup::Broken,
            (None, _) => Lookup::Absent(self.hint(source)),
        }
    }

    pub(super) fn into_declared(self) -> Vec<Declared> {
        self.0.into_iter().filter_map(|draft| draft.declared).collect()
    }

    fn hint(&self, name: &str) -> String {
        let namesake = self.0.iter().find(|draft| draft.key == name);
        namesake.map_or_else(String::new, |draft| {
            format!(" (the column with the key \"{name}\" reads \"{}\")", draft.source)
        })
    }

    fn draft(&self, table: &DeTable<'_>, at: usize, faults: &mut Faults<'_>) -> Option<Draft> {
        let what = match table.get("key").and_then(|key| key.get_ref().as_str()) {
            Some(key) => format!("the column \"{key}\""),
            None => "a column".to_owned(),
        };
        let part = Part::new(table, at, what, &KNOWN, faults);
        let key = part.needed("key", "paid_at", faults);
        let source = part.text("column", faults).map(|column| column.value);
        let source = source.or_else(|| key.as_ref().map(|key| key.value.clone()))?;
        let declared = self.declared(&part, key.as_ref(), &source, faults);
        let key = key.map(|key| key.value).unwrap_or_default();
        Some(Draft { key, source, declared })
    }

    fn declared(
        &self,
        part: &Part<'_>,
        key: Option<&Spot<String>>,
        source: &str,
        faults: &mut Faults<'_>,
    ) -> Option<Declared> {
        if let Some(key) = key {
            self.check_key(key, faults);
        }
        let title = part.text("title", faults).map(|title| title.value);
        let kind = part.needed_word("type", &KINDS, faults);
        let look = Look {
            width: part.number("width", (0.1, WIDEST), faults).map(|width| width.value),
            format: part.text("format", faults).map(|format| format.value),
        };
        let marks = Marks {
            scale: scale(part, faults),
            zone: zone(part, faults),
            unit: part.word("unit", &UNITS, faults),
        };
        let not_null = part.flag("not_null", faults).unwrap_or(false);
        let (kind, key) = (kind?.value, key?);
        check_fit(key, kind, &marks, faults);
        Some(Declared {
            column: Column {
                key: key.value.clone(),
                title: title.unwrap_or_else(|| key.value.clone()),
                kind,
                look,
            },
            source: source.to_owned(),
            scale: marks.scale.map(|scale| scale.value),
            zone: marks.zone.map(|zone| zone.value),
            unit: marks.unit.map(|unit| unit.value),
            not_null,
            line: faults.line(key.at),
        })
    }

    fn check_key(&self, key: &Spot<String>, faults: &mut Faults<'_>) {
        let name = &key.value;
        if self.0.iter().any(|draft| draft.key == *name) {
            faults.at(
                key.at,
                format!("the key \"{name}\" is used twice"),
                "give each column a key of its own",
            );
        }
        if name.starts_with('_') {
            faults.at(
                key.at,
                format!("the key \"{name}\" begins with \"_\", which is kept for the server's own"),
                "begin it with a letter",
            );
        }
        if name.contains(|char: char| char == ',' || char.is_control()) {
            faults.at(
                key.at,
                format!("the key {name:?} has a comma or a control character in it"),
                "use letters, digits and \"_\"; put what people read into title",
            );
        }
    }
}

fn scale(part: &Part<'_>, faults: &mut Faults<'_>) -> Option<Spot<u32>> {
    let scale = part.number("scale", (0.0, MOST_DIGITS), faults)?;
    // Counted rather than cast: the number is at most thirty.
    let digits = (0..=30_u32).find(|digits| (f64::from(*digits) - scale.value).abs() < 1e-9);
    if digits.is_none() {
        faults.at(scale.at, "\"scale\" has a fraction", "write a whole number from 0 to 30");
    }
    digits.map(|value| Spot { value, at: scale.at })
}

pub(super) fn zone(part: &Part<'_>, faults: &mut Faults<'_>) -> Option<Spot<Zone>> {
    let zone = part.text("zone", faults)?;
    if let Ok(rules) = TimeZone::get(&zone.value) {
        return Some(Spot { value: Zone { name: zone.value, rules }, at: zone.at });
    }
    faults.at(
        zone.at,
        format!("\"{}\" is not a time zone", zone.value),
        "write an IANA name, such as \"Asia/Seoul\" or \"UTC\"",
    );
    None
}

/// `scale` is for decimals, `zone` and `unit` for times, one of the two.
fn check_fit(key: &Spot<String>, kind: Kind, marks: &Marks, faults: &mut Faults<'_>) {
    let name = &key.value;
    let misplaced = |what: &str, fit: &str| {
        let message = format!("the column \"{name}\" of type {} has a {what}", kind.word());
        (message, format!("take it out, or make the type {fit}"))
    };
    if let Some(scale) = marks.scale.as_ref().filter(|_| kind != Kind::Decimal) {
        let (message, remedy) = misplaced("scale", "decimal");
        faults.at(scale.at, message, remedy);
    }
    if let Some(zone) = marks.zone.as_ref().filter(|_| kind != Kind::Time) {
        let (message, remedy) = misplaced("zone", "time");
        faults.at(zone.at, message, remedy);
    }
    if let Some(unit) = marks.unit.as_ref().filter(|_| kind != Kind::Time) {
        let (message, remedy) = misplaced("unit", "time");
        faults.at(unit.at, message, remedy);
    }
    if let (Some(zone), Some(_)) = (&marks.zone, &marks.unit) {
        faults.at(
            zone.at,
            format!("the column \"{name}\" has both a zone and a unit"),
            "keep the unit alone: an integer counts from 1970-01-01T00:00:00Z",
        );
    }
}
