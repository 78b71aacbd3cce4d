//! One JSON array: cut into its elements without understanding them, each of which is then a row.

use std::io::{BufRead, BufReader, Read};

use super::object::Objects;
use super::{LARGEST, Place, no_object, too_large};
use crate::error::{Error, Result};
use crate::runs::Stop;
use crate::sheets::fault::{self, fault};
use crate::sheets::sniff::reading;

/// How many bytes are read together.
const WINDOW: usize = 64 * 1024;

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// The array's `[`.
    Array,
    /// Its first element, or its end.
    First,
    /// An element.
    Element,
    /// More of an element: how deep in brackets, and whether in a string.
    More { depth: u32, string: bool, escaped: bool },
    /// A comma, or the array's end.
    Comma,
    /// Nothing.
    End,
}

struct Cutter {
    next: Next,
    element: Vec<u8>,
    place: Place,
    line: u64,
}

/// Gives each element.
pub(super) fn read(text: impl Read, stop: &Stop, objects: &mut Objects<'_>) -> Result<()> {
    let mut input = BufReader::with_capacity(WINDOW, text);
    let place = Place::Element { number: 0, line: 1 };
    let mut cutter = Cutter { next: Next::Array, element: Vec::new(), place, line: 1 };
    loop {
        stop.check()?;
        let bytes = input.fill_buf().map_err(reading)?;
        if bytes.is_empty() {
            break;
        }
        for byte in bytes {
            cutter.take(*byte, objects)?;
        }
        let taken = bytes.len();
        input.consume(taken);
    }
    if cutter.next == Next::End { objects.end() } else { Err(cut_off(cutter.line)) }
}

impl Cutter {
    #[inline]
    fn take(&mut self, byte: u8, objects: &mut Objects<'_>) -> Result<()> {
        if byte == b'\n' {
            self.line += 1;
        }
        self.next = match (self.next, byte) {
            (Next::More { depth, string, escaped }, byte) => {
                return self.more(byte, depth, string, escaped, objects);
            }
            (next, b' ' | b'\t' | b'\r' | b'\n') => next,
            (Next::Array, b'[') => Next::First,
            (Next::First | Next::Comma, b']') => Next::End,
            (Next::First | Next::Element, b'{') => {
                self.begin();
                self.element.push(byte);
                Next::More { depth: 1, string: false, escaped: false }
            }
            (Next::First | Next::Element, b']' | b',' | b'}' | b':') => {
                return Err(self.unexpected(byte));
            }
            (Next::First | Next::Element, _) => {
                self.begin();
                return Err(no_object(self.place));
            }
            (Next::Comma, b',') => Next::Element,
            (Next::Array | Next::Comma | Next::End, byte) => return Err(self.unexpected(byte)),
        };
        Ok(())
    }

    fn begin(&mut self) {
        self.element.clear();
        self.place = Place::Element { number: self.place.number() + 1, line: self.line };
    }

    #[inline]
    fn more(
        &mut self,
        byte: u8,
        depth: u32,
        string: bool,
        escaped: bool,
        objects: &mut Objects<'_>,
    ) -> Result<()> {
        self.element.push(byte);
        if self.element.len() > LARGEST {
            return Err(too_large(self.place));
        }
        let (depth, string, escaped) = match (byte, string) {
            (_, true) if escaped => (depth, true, false),
            (b'\\', true) => (depth, true, true),
            (b'"', string) => (depth, !string, false),
            (b'{' | b'[', false) => (depth + 1, false, false),
            (b'}' | b']', false) => (depth - 1, false, false),
            (_, string) => (depth, string, false),
        };
        self.next = Next::More { depth, string, escaped };
        if depth == 0 {
            let object = std::str::from_utf8(&self.element)
                .map_err(|error| Error::internal("reading a text that was UTF-8 before", error))?;
            objects.give(self.place, object)?;
            self.next = Next::Comma;
        }
        Ok(())
    }

    fn unexpected(&self, byte: u8) -> Error {
        let shown = char::from(byte).escape_default();
        fault(
            fault::JSON,
            format!(
                "line {} has \"{shown}\" where the array of rows cannot go on; the file is one JSON \
                 array of objects, [{{…}},{{…}}], or has an object on each line and no array",
                self.line
            ),
        )
    }
}

fn cut_off(line: u64) -> Error {
    fault(
        fault::JSON,
        format!(
            "the array of rows is not closed by line {line}, where the file ends; it was cut off, \
             so send it again"
        ),
    )
}
