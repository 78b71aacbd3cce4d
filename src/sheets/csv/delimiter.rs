//! Which character separates the values of a file.

use super::records::Records;

/// What may, the likeliest first.
const CANDIDATES: [u8; 4] = [b',', b';', b'\t', b'|'];
/// So many records are looked at.
const LOOKED_AT: usize = 200;

/// What was found at a file's beginning.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) delimiter: u8,
    /// Bytes of the line that named it.
    pub(super) skip: usize,
}

/// Finds the delimiter in the beginning of a file, which is all of it where it is `whole`.
pub(super) fn find(sample: &[u8], whole: bool) -> Found {
    if let Some(found) = named(sample) {
        return found;
    }
    let mut best = (Fit::default(), CANDIDATES[0]);
    for delimiter in CANDIDATES {
        let fit = fit(sample, whole, delimiter);
        if fit > best.0 {
            best = (fit, delimiter);
        }
    }
    Found { delimiter: best.1, skip: 0 }
}

/// A first line `sep=;`, which Excel takes for an instruction.
fn named(sample: &[u8]) -> Option<Found> {
    let rest = sample.get(..4).filter(|begin| begin.eq_ignore_ascii_case(b"sep="))?;
    let (delimiter, after) = sample[rest.len()..].split_first()?;
    let end = match after {
        [] => 0,
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        _ => return None,
    };
    let may_be = delimiter.is_ascii() && !matches!(delimiter, b'"' | b'\r' | b'\n');
    may_be.then_some(Found { delimiter: *delimiter, skip: rest.len() + 1 + end })
}

/// How well a delimiter fits; the better is the greater.
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Fit {
    /// Whether the first record, most likely the headers, is as wide as most: decimal commas are not
    /// in headers.
    first: bool,
    /// Records of the commonest width, of a thousand.
    share: usize,
    /// That width.
    width: usize,
}

fn fit(sample: &[u8], whole: bool, delimiter: u8) -> Fit {
    let mut records = Records::new(sample, delimiter);
    let mut widths = Vec::new();
    while widths.len() <= LOOKED_AT {
        match records.next() {
            Ok(Some(record)) if record.is_blank() => {}
            Ok(Some(record)) => widths.push(record.fields().count()),
            Ok(None) | Err(_) => break,
        }
    }
    if !whole && widths.len() > 1 {
        // The last one may be cut off.
        widths.pop();
    }
    let times = |width: &usize| widths.iter().filter(|other| *other == width).count();
    match widths.iter().copied().max_by_key(|width| (times(width), *width)) {
        None | Some(1) => Fit::default(),
        Some(width) => Fit {
            first: widths.first() == Some(&width),
            share: times(&width) * 1000 / widths.len(),
            width,
        },
    }
}
