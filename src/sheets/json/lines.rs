//! NDJSON: an object on each line, blank lines passed over.

use std::io::{BufRead, BufReader, Read};

use super::object::Objects;
use super::{LARGEST, Place, too_large};
use crate::error::{Error, Result};
use crate::runs::Stop;
use crate::sheets::sniff::reading;

/// How many bytes are read together.
const WINDOW: usize = 64 * 1024;

/// Gives the object of each line.
pub(super) fn read(text: impl Read, stop: &Stop, objects: &mut Objects<'_>) -> Result<()> {
    let mut input = BufReader::with_capacity(WINDOW, text);
    let mut line = Vec::new();
    for number in 1.. {
        stop.check()?;
        line.clear();
        let most = LARGEST as u64 + 1;
        input.by_ref().take(most).read_until(b'\n', &mut line).map_err(reading)?;
        if line.is_empty() {
            break;
        }
        if line.len() > LARGEST {
            return Err(too_large(Place::Line(number)));
        }
        let object = line.trim_ascii();
        if !object.is_empty() {
            let object = std::str::from_utf8(object)
                .map_err(|error| Error::internal("reading a text that was UTF-8 before", error))?;
            objects.give(Place::Line(number), object)?;
        }
    }
    objects.end()
}
