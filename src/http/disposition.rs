//! `Content-Disposition` for downloads (RFC 6266, RFC 8187): one name for every browser, and none
//! that says more than a name.

use crate::names::{NAMELESS, safe_name};

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
