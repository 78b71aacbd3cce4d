//! One JSON object as a row: its keys are columns, in the order in which they first appeared.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::de::Error as _;
use serde_json::error::Category;

use super::{Place, no_object};
use crate::error::{Error, Result};
use crate::json::{Pairs, string};
use crate::sheets::fault::{self, fault};
use crate::sheets::{Cell, SheetSink};

/// Gives objects to a sink as rows.
pub(super) struct Objects<'s> {
    sink: &'s mut dyn SheetSink,
    most: u32,
    keys: Vec<String>,
    places: HashMap<String, usize>,
    /// The last row that had each key.
    last: Vec<u64>,
    /// How many keys the sink knows; nothing before the first row.
    told: Option<usize>,
}

impl<'s> Objects<'s> {
    pub(super) fn new(most: u32, sink: &'s mut dyn SheetSink) -> Self {
        let places = HashMap::new();
        Self { sink, most, keys: Vec::new(), places, last: Vec::new(), told: None }
    }

    /// Gives the object in `text` to the sink, and the keys before if it has new ones.
    pub(super) fn give(&mut self, place: Place, text: &str) -> Result<()> {
        if !text.starts_with('{') {
            return Err(no_object(place));
        }
        let pairs: Pairs<'_> =
            serde_json::from_str(text).map_err(|error| not_json(place, &error))?;
        let mut values = Vec::with_capacity(self.keys.len());
        for (nth, (key, raw)) in pairs.0.iter().enumerate() {
            let column = self.column(nth, key, place)?;
            if values.len() <= column {
                values.resize_with(column + 1, Value::default);
            }
            values[column] = Value::of(raw.get()).map_err(|error| not_json(place, &error))?;
        }
        self.tell(Some(place))?;
        let mut cells: Vec<_> = values.iter().map(Value::cell).collect();
        let width = cells.iter().rposition(|cell| *cell != Cell::Empty).map_or(0, |last| last + 1);
        cells.truncate(width);
        self.sink.row(place.number(), &cells)
    }

    /// Says that there are no more.
    pub(super) fn end(&mut self) -> Result<()> {
        self.tell(None)
    }

    fn tell(&mut self, place: Option<Place>) -> Result<()> {
        match (self.told, place) {
            (Some(told), _) if told == self.keys.len() => return Ok(()),
            (Some(_), Some(place)) => self.sink.more_keys(&self.keys, &place.to_string())?,
            (None, _) | (Some(_), None) => self.sink.keys(&self.keys)?,
        }
        self.told = Some(self.keys.len());
        Ok(())
    }

    /// The column of the `nth` key of an object: objects mostly have the same keys in the same order.
    fn column(&mut self, nth: usize, key: &str, place: Place) -> Result<usize> {
        let column = match self.keys.get(nth) {
            Some(known) if known == key => nth,
            _ => match self.places.get(key) {
                Some(column) => *column,
                None => self.add(key, place)?,
            },
        };
        if self.last[column] == place.number() {
            return Err(doubled(place, key));
        }
        self.last[column] = place.number();
        Ok(column)
    }

    fn add(&mut self, key: &str, place: Place) -> Result<usize> {
        if self.keys.len() >= self.most as usize {
            return Err(fault(
                fault::COLUMNS,
                format!(
                    "{place} brings the keys to more than {}, and at most that many columns are \
                     read; take out those that are not needed",
                    self.most
                ),
            ));
        }
        self.keys.push(key.to_owned());
        self.places.insert(key.to_owned(), self.keys.len() - 1);
        // No row has the number 0.
        self.last.push(0);
        Ok(self.keys.len() - 1)
    }
}

fn doubled(place: Place, key: &str) -> Error {
    fault(
        fault::DOUBLED,
        format!("{place} has the key \"{key}\" twice; which value is meant cannot be told"),
    )
}

fn not_json(place: Place, error: &serde_json::Error) -> Error {
    let how = match error.classify() {
        Category::Eof => "breaks off within the object".to_owned(),
        Category::Io | Category::Syntax | Category::Data => {
            format!("cannot be parsed as JSON, from byte {} of it", error.column())
        }
    };
    fault(fault::JSON, format!("{place} {how}; mend it, and send the file again"))
}

/// A value on its way to its cell.
#[derive(Debug, Default)]
enum Value<'a> {
    #[default]
    Null,
    Bool(bool),
    Digits(&'a str),
    Text(Cow<'a, str>),
    Json(Cow<'a, str>),
}

impl<'a> Value<'a> {
    /// The value that is written so.
    fn of(raw: &'a str) -> Result<Self, serde_json::Error> {
        Ok(match raw.as_bytes() {
            [b'"', ..] => Self::Text(string(raw)?),
            [b'{' | b'[', ..] if raw.contains(['\n', '\r']) => {
                // Inside of strings they are escaped, so these are between tokens.
                Self::Json(Cow::Owned(raw.replace(['\n', '\r'], "")))
            }
            [b'{' | b'[', ..] => Self::Json(Cow::Borrowed(raw)),
            b"true" => Self::Bool(true),
            b"false" => Self::Bool(false),
            b"null" => Self::Null,
            [b'-' | b'0'..=b'9', ..] => Self::Digits(raw),
            _ => return Err(serde_json::Error::custom("no value")),
        })
    }

    fn cell(&self) -> Cell<'_> {
        match self {
            Self::Null => Cell::Empty,
            Self::Bool(truth) => Cell::Bool(*truth),
            Self::Digits(digits) => Cell::Digits(digits),
            Self::Text(text) => Cell::Text(text),
            Self::Json(json) => Cell::Json(json),
        }
    }
}
