//! Which columns a conversion has: those of the file, chosen, renamed and put into order. Knows names
//! alone, no cells. Every fault is told at once.

use std::collections::HashMap;

use super::headers::Rename;
use crate::error::Problem;
use crate::sheets::{letters, listed};

/// What is wanted of the columns of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Wish {
    /// Which ones, by the names that the file has; all of them without.
    pub(super) columns: Option<Vec<String>>,
    /// New names, and an order, by a mapping that is kept.
    pub(super) mapping: Vec<Rename>,
    /// New names of the request's own, which go before those of the mapping.
    pub(super) renames: Vec<Rename>,
}

/// What is known of a file's columns.
#[derive(Debug, Clone, Copy)]
pub(super) enum Names<'a> {
    /// The headings of a row, nothing for a cell without one.
    Row(u64, &'a [Option<String>]),
    /// The keys of the first object.
    Keys(&'a [Option<String>]),
}

/// A column of the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chosen {
    /// What the file calls it.
    pub(super) source: String,
    /// What it is called.
    pub(super) name: String,
    /// Its place in the file, from 0; nothing while no object has had the key.
    pub(super) place: Option<usize>,
}

impl<'a> Names<'a> {
    fn all(self) -> &'a [Option<String>] {
        match self {
            Self::Row(_, names) | Self::Keys(names) => names,
        }
    }

    fn known(self) -> String {
        listed(self.all().iter().flatten().map(String::as_str))
    }

    /// `row 1 has "a", "b"`
    fn holds(self) -> String {
        match self {
            Self::Row(row, _) => format!("row {row}, where the headings are, has {}", self.known()),
            Self::Keys(_) => format!("the first object has {}", self.known()),
        }
    }
}

/// Chooses, renames and orders the columns of a file.
///
/// # Errors
/// A name that the file does not have or has twice, and two columns that would be called the same.
pub(super) fn choose(wish: &Wish, names: Names<'_>) -> Result<Vec<Chosen>, Vec<Problem>> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (place, name) in names.all().iter().enumerate() {
        if let Some(name) = name {
            places.entry(name).or_default().push(place);
        }
    }
    let mut problems = Vec::new();
    let sources = sources(wish, names, &places, &mut problems);
    let doubled = sources
        .iter()
        .filter(|name| places.get(name.as_str()).is_some_and(|places| places.len() > 1));
    problems.extend(doubled.map(|name| is_doubled(name, names, &places[name.as_str()])));
    let chosen: Vec<_> = sources
        .into_iter()
        .map(|source| Chosen {
            name: renamed(wish, &source).unwrap_or(&source).to_owned(),
            place: places.get(source.as_str()).and_then(|places| places.first().copied()),
            source,
        })
        .collect();
    problems.extend(same_names(&chosen));
    if problems.is_empty() { Ok(chosen) } else { Err(problems) }
}

/// The columns wanted, by the file's own names, each once.
fn sources(
    wish: &Wish,
    names: Names<'_>,
    places: &HashMap<&str, Vec<usize>>,
    problems: &mut Vec<Problem>,
) -> Vec<String> {
    let is_there = |name: &str| places.contains_key(name);
    if let Some(columns) = &wish.columns {
        // A key may come with a later object.
        if let Names::Row(..) = names {
            let strange = columns.iter().filter(|name| !is_there(name));
            problems.extend(strange.map(|name| is_unknown("columns", name, names)));
        }
        return columns.clone();
    }
    for (parameter, renames) in [("headers", &wish.mapping), ("rename", &wish.renames)] {
        let strange = renames.iter().filter(|rename| !is_there(&rename.from));
        problems.extend(strange.map(|rename| is_unknown(parameter, &rename.from, names)));
    }
    let first = wish.mapping.iter().map(|rename| &rename.from).filter(|name| is_there(name));
    let mut sources: Vec<String> = first.cloned().collect();
    for name in names.all().iter().flatten() {
        if !sources.contains(name) {
            sources.push(name.clone());
        }
    }
    sources
}

fn renamed<'w>(wish: &'w Wish, source: &str) -> Option<&'w str> {
    let of = |renames: &'w [Rename]| {
        renames.iter().find(|rename| rename.from == source).map(|rename| rename.to.as_str())
    };
    of(&wish.renames).or_else(|| of(&wish.mapping))
}

/// The refusal of a name that no column of the file has.
pub(super) fn is_unknown(parameter: &'static str, name: &str, names: Names<'_>) -> Problem {
    let what = match names {
        Names::Row(..) => "column",
        Names::Keys(_) => "key",
    };
    let from = match parameter {
        "headers" => "the mapping in headers names",
        "rename" => "rename names",
        _ => "columns names",
    };
    let detail = format!("{from} the {what} \"{name}\", and the file has none; {}", names.holds());
    Problem::parameter(parameter, "unknown_column", name, detail)
}

fn is_doubled(name: &str, names: Names<'_>, places: &[usize]) -> Problem {
    let cells: Vec<String> = places
        .iter()
        .map(|place| match names {
            Names::Row(row, _) => format!("{}{row}", letters(*place as u64)),
            Names::Keys(_) => format!("key {}", place + 1),
        })
        .collect();
    Problem {
        parameter: Some("file".into()),
        code: "doubled_column",
        value: Some(name.to_owned()),
        detail: format!(
            "{} columns are called \"{name}\", in {}; each needs a name of its own, so rename one \
             of them in the file, or choose others with columns=",
            places.len(),
            cells.join(" and ")
        ),
    }
}

/// Two columns that would be called the same, though the file has two names for them.
fn same_names(chosen: &[Chosen]) -> Vec<Problem> {
    let mut first: HashMap<&str, &str> = HashMap::new();
    let mut problems = Vec::new();
    for Chosen { source, name, .. } in chosen {
        match first.get(name.as_str()) {
            Some(other) => {
                let detail = format!(
                    "\"{other}\" and \"{source}\" would both be called \"{name}\"; give one of them \
                     another name"
                );
                problems.push(Problem::parameter("rename", "doubled_column", name, detail));
            }
            None => {
                first.insert(name, source);
            }
        }
    }
    problems
}
