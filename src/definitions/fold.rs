//! Headings as they are compared: what a spreadsheet, a keyboard or a copy changes in one without
//! anybody seeing it does not count.

use unicode_normalization::UnicodeNormalization;

/// A heading as it is compared: composed (NFC), in lower case, full-width letters and signs as plain
/// ones, and without white space, line breaks, byte order marks, zero-width and other characters that
/// nobody sees.
#[must_use]
pub fn fold(heading: &str) -> String {
    let seen = heading.chars().filter(|char| !is_unseen(*char) && !char.is_whitespace());
    seen.nfc().map(narrow).flat_map(char::to_lowercase).collect()
}

/// Whether a character shows nothing and takes no room: byte order marks, zero-width spaces and
/// joiners, soft hyphens, marks of direction, control characters.
#[must_use]
pub fn is_unseen(char: char) -> bool {
    matches!(
        char,
        '\u{AD}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{2069}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}'
    ) || (char.is_control() && !char.is_whitespace())
}

/// A full-width letter, digit or sign as the plain one: `Ａ` as `A`, `（` as `(`.
#[must_use]
pub fn narrow(char: char) -> char {
    match char {
        '\u{FF01}'..='\u{FF5E}' => {
            u32::from(char).checked_sub(0xFEE0).and_then(char::from_u32).unwrap_or(char)
        }
        '\u{3000}' => ' ',
        _ => char,
    }
}
