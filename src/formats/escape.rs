//! Text inside quotes: finding what must not stand there eight bytes at a time, JSON's escapes, and
//! JSON documents on one line.
//!
//! Most text needs nothing done, so the search is what costs: it looks at words, never at single
//! bytes, and what lies between two finds is copied at once.

/// The same byte in all eight places of a word.
pub(super) const fn all(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// Marks, in their highest bit, the places of a word that hold the byte of which `pattern` is eight.
/// Places above a true mark may be marked as well; the lowest mark is always true.
#[inline]
pub(super) const fn places_of(word: u64, pattern: u64) -> u64 {
    let same = word ^ pattern;
    same.wrapping_sub(all(1)) & !same & all(0x80)
}

/// Marks the places below 0x20, with the same proviso as [`places_of`].
#[inline]
pub(super) const fn controls(word: u64) -> u64 {
    word.wrapping_sub(all(0x20)) & !word & all(0x80)
}

/// The first place that `marks` finds, which gets words in little-endian order and must not mark
/// anything that depends on more than one byte.
#[inline]
pub(super) fn first(bytes: &[u8], marks: impl Fn(u64) -> u64) -> Option<usize> {
    let (words, rest) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        if let Some(place) = lowest(marks(u64::from_le_bytes(*word))) {
            return Some(index * 8 + place);
        }
    }
    if rest.is_empty() {
        return None;
    }
    let length = bytes.len();
    // The last bytes are read as a word that overlaps those already known to be clean, or, in a
    // text shorter than a word, as halves that overlap each other.
    if let Some(word) = bytes.last_chunk::<8>() {
        return lowest(marks(u64::from_le_bytes(*word))).map(|place| length - 8 + place);
    }
    if let (Some(&[a, b, c, d]), Some(&[e, f, g, h])) =
        (bytes.first_chunk::<4>(), bytes.last_chunk::<4>())
    {
        let place = lowest(marks(u64::from_le_bytes([a, b, c, d, e, f, g, h])))?;
        return Some(if place < 4 { place } else { length + place - 8 });
    }
    let places = [0, length / 2, length - 1];
    let [a, b, c] = places.map(|place| bytes[place]);
    let place = lowest(marks(u64::from_le_bytes([a, b, c, c, c, c, c, c])))?;
    Some(places[place.min(2)])
}

#[inline]
fn lowest(marks: u64) -> Option<usize> {
    (marks != 0).then(|| (marks.trailing_zeros() / 8) as usize)
}

/// The first byte that may not stand in a JSON string as it is: a control, a quote, a backslash.
#[inline]
fn first_escaped(bytes: &[u8]) -> Option<usize> {
    first(bytes, |word| controls(word) | places_of(word, all(b'"')) | places_of(word, all(b'\\')))
}

/// What follows the backslash for each byte; `u` asks for four digits, 0 for no escape.
const ESCAPES: [u8; 256] = {
    let mut table = [0; 256];
    let mut control = 0;
    while control < 0x20 {
        table[control] = b'u';
        control += 1;
    }
    table[0x08] = b'b';
    table[0x09] = b't';
    table[0x0A] = b'n';
    table[0x0C] = b'f';
    table[0x0D] = b'r';
    table[b'"' as usize] = b'"';
    table[b'\\' as usize] = b'\\';
    table
};

/// Appends the inside of a JSON string (RFC 8259), escaping what must be escaped and nothing else.
#[inline]
pub(super) fn escape(text: &str, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    match first_escaped(bytes) {
        None => out.extend_from_slice(bytes),
        Some(at) => escape_from(bytes, at, out),
    }
}

/// The rare rest of [`escape`], kept out of line so that the usual case stays short.
fn escape_from(bytes: &[u8], first: usize, out: &mut Vec<u8>) {
    let (mut rest, mut next) = (bytes, Some(first));
    while let Some(at) = next {
        let (clean, from) = rest.split_at(at);
        out.extend_from_slice(clean);
        rest = from;
        // Breaks and quotes come in rows, so the table is asked until a clean byte turns up.
        while let Some((&byte, after)) = rest.split_first()
            && ESCAPES[usize::from(byte)] != 0
        {
            escape_byte(byte, out);
            rest = after;
        }
        next = first_escaped(rest);
    }
    out.extend_from_slice(rest);
}

fn escape_byte(byte: u8, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let (high, low) = (HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]);
    match ESCAPES[usize::from(byte)] {
        b'u' => out.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]),
        escape => out.extend_from_slice(&[b'\\', escape]),
    }
}

/// Appends a valid JSON document without the white space between its tokens, so on one line. What is
/// inside strings and numbers stays as it is, byte for byte.
pub(super) fn minify(json: &str, out: &mut Vec<u8>) {
    let mut rest = json.as_bytes();
    while let Some(&byte) = rest.first() {
        let taken = match byte {
            b' ' | b'\t' | b'\n' | b'\r' => 1,
            b'"' => copy_string(rest, out),
            _ => {
                let stop = |byte: &u8| matches!(byte, b'"' | b' ' | b'\t' | b'\n' | b'\r');
                let length = rest.iter().position(stop).unwrap_or(rest.len());
                out.extend_from_slice(&rest[..length]);
                length
            }
        };
        rest = &rest[taken..];
    }
}

/// Copies the string that `bytes` begins with, quotes included; how many bytes of it were read.
/// A bare control character, which lenient databases let pass, is escaped: the line must hold.
fn copy_string(bytes: &[u8], out: &mut Vec<u8>) -> usize {
    let mut read = 1;
    let mut copied = 0;
    while let Some(at) = first_escaped(&bytes[read..]) {
        let place = read + at;
        match bytes[place] {
            b'"' => {
                out.extend_from_slice(&bytes[copied..=place]);
                return place + 1;
            }
            b'\\' => read = (place + 2).min(bytes.len()),
            control => {
                out.extend_from_slice(&bytes[copied..place]);
                escape_byte(control, out);
                read = place + 1;
                copied = read;
            }
        }
    }
    out.extend_from_slice(&bytes[copied..]);
    bytes.len()
}
