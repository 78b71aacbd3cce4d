//! `Content-Disposition` for downloads (RFC 6266, RFC 8187): one name for every browser, and none
//! that says more than a name.

use unicode_normalization::UnicodeNormalization;

/// The longest name in bytes, as most file systems have it.
const LONGEST: usize = 255;
/// What a name without anything nameable becomes.
const NAMELESS: &str = "download";

/// The header's value for a file that is to be saved under `name`.
pub fn attachment(name: &str) -> String {
    let name = safe_name(name);
    let plain: String = name.chars().map(fallback).collect();
    format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{}", encode(&name))
}

/// The name that a client asked for, with this ending; nothing where it is no name.
pub fn asked_name(name: &str, extension: &str) -> Option<String> {
    let name = safe_name(name);
    let ending = format!(".{extension}");
    let stem = if name.to_lowercase().ends_with(&ending) {
        &name[..name.len() - ending.len()]
    } else {
        &name
    };
    (!stem.is_empty() && name != NAMELESS).then(|| format!("{stem}{ending}"))
}

/// A name that is one path segment, composed (NFC), without control characters, and short enough.
pub fn safe_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let kept: String = last.nfc().filter(|c| !c.is_control() && !is_hidden(*c)).collect();
    let trimmed = kept.trim().trim_end_matches('.').trim_end();
    let named = if trimmed.trim_matches('.').is_empty() { NAMELESS } else { trimmed };
    shorten(named)
}

/// Characters that turn text around or take no place: a name must read as it is.
fn is_hidden(c: char) -> bool {
    matches!(c, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}')
}

/// Cuts on a character's border and keeps the ending.
fn shorten(name: &str) -> String {
    if name.len() <= LONGEST {
        return name.to_owned();
    }
    let ending = name.rfind('.').map_or("", |point| &name[point..]);
    let ending = if ending.len() > 16 { "" } else { ending };
    let mut cut = LONGEST - ending.len();
    while !name.is_char_boundary(cut) {
        cut -= 1;
    }
    format!("{}{ending}", &name[..cut])
}

/// What old clients see: ASCII, and nothing that ends the quotes, looks encoded, or looks like a
/// further parameter to a parser that does not heed quotes.
fn fallback(c: char) -> char {
    if c.is_ascii_alphanumeric() || " ._-+,()[]".contains(c) { c } else { '_' }
}

/// RFC 8187's `value-chars`.
fn encode(name: &str) -> String {
    use std::fmt::Write as _;
    name.bytes().fold(String::with_capacity(name.len() * 3), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"!#$&+-.^_`|~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
        out
    })
}
