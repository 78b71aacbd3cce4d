//! JSON objects as rows: one on each line (NDJSON), or the elements of one array. An object is held at
//! a time, never a file.

mod array;
mod lines;
mod object;

use self::object::Objects;
use super::at::At;
use super::sniff::reading;
use super::text::{Decoded, find};
use super::{FileKind, Limits, Outline, SheetSink};
use crate::error::{Error, Result};
use crate::runs::Stop;
use crate::sheets::fault::{self, fault};

/// A line or an element may have this many bytes.
const LARGEST: usize = 16 << 20;

/// Reads a file of `kind`, which is [`FileKind::Ndjson`] or [`FileKind::Json`].
///
/// # Errors
/// When its encoding is not known, or a row is no object, has a key twice or is too large; and the
/// sink's own.
pub(super) fn read(
    at: &At,
    kind: FileKind,
    limits: &Limits,
    stop: &Stop,
    sink: &mut dyn SheetSink,
) -> Result<()> {
    let encoding = find(at, false, stop)?;
    let text = Decoded::new(at, encoding).map_err(reading)?;
    sink.begin(&Outline {
        kind,
        encoding: Some(encoding.name.into()),
        delimiter: None,
        sheets: Vec::new(),
        sheet: None,
    })?;
    let mut objects = Objects::new(limits.columns, sink);
    if kind == FileKind::Json {
        array::read(text, stop, &mut objects)
    } else {
        lines::read(text, stop, &mut objects)
    }
}

/// Where in a file something stands, for messages.
#[derive(Debug, Clone, Copy)]
enum Place {
    Line(u64),
    Element { number: u64, line: u64 },
}

impl Place {
    /// The number that its row has.
    fn number(self) -> u64 {
        match self {
            Self::Line(number) | Self::Element { number, .. } => number,
        }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Element { number, line } => write!(f, "element {number} (line {line})"),
        }
    }
}

fn too_large(place: Place) -> Error {
    fault(
        fault::ROW,
        format!(
            "{place} is longer than {} MiB; a row of a table is shorter, so see whether it ends \
             where it should",
            LARGEST >> 20
        ),
    )
}

fn no_object(place: Place) -> Error {
    fault(
        fault::NO_OBJECT,
        format!("{place} is no JSON object; each row is one, such as {{\"key\":\"value\"}}"),
    )
}
