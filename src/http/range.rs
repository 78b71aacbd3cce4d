//! Ranges and conditions (RFC 9110, 13 and 14) as decisions over their headers' text.

/// What a request wants of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// All of it.
    Whole,
    /// Bytes from the first to the last of these, both counted from 0.
    Part(u64, u64),
    /// Bytes that it does not have.
    Beyond,
}

/// Reads a `Range` header. What is no range of bytes, or asks for several pieces, is answered with
/// the whole, as the RFC allows; only a range that is one and lies outside is refused.
pub fn range(header: Option<&str>, size: u64) -> Wanted {
    let Some(list) = header.and_then(|header| header.strip_prefix("bytes=")) else {
        return Wanted::Whole;
    };
    let specs: Vec<Option<Wanted>> = list.split(',').map(|spec| piece(spec.trim(), size)).collect();
    match specs.as_slice() {
        [Some(one)] => *one,
        specs if specs.iter().all(|spec| *spec == Some(Wanted::Beyond)) => Wanted::Beyond,
        _ => Wanted::Whole,
    }
}

/// One piece; nothing where it cannot be understood.
fn piece(spec: &str, size: u64) -> Option<Wanted> {
    let (first, last) = spec.split_once('-')?;
    if first.is_empty() {
        return number(last).map(|length| match length.min(size) {
            0 => Wanted::Beyond,
            length => Wanted::Part(size - length, size - 1),
        });
    }
    let first = number(first)?;
    let last = if last.is_empty() { u64::MAX } else { number(last)? };
    if last < first {
        return None;
    }
    Some(if first >= size { Wanted::Beyond } else { Wanted::Part(first, last.min(size - 1)) })
}

/// Digits alone; more than 64 bits count as the most there is.
fn number(text: &str) -> Option<u64> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(text.parse().unwrap_or(u64::MAX))
}

/// Whether a list of entity tags (`If-Match`, `If-None-Match`) names this strong one. `weak` also
/// takes its weak form.
pub fn names(list: &str, etag: &str, weak: bool) -> bool {
    list.split(',')
        .map(str::trim)
        .any(|tag| tag == "*" || tag == etag || (weak && tag.strip_prefix("W/") == Some(etag)))
}
