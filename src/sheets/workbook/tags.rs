//! Just enough XML to follow a workbook's parts to one another: start tags and their attributes, by
//! local name. It knows no text, and no entity but those that occur in names of parts.

use memchr::memchr;

/// The start tags of a document, in its order.
pub(super) fn tags(xml: &[u8]) -> impl Iterator<Item = Tag<'_>> {
    let mut rest = xml;
    std::iter::from_fn(move || {
        loop {
            rest = &rest[memchr(b'<', rest)? + 1..];
            if !matches!(rest.first(), Some(b'/' | b'!' | b'?') | None) {
                let end = memchr(b'>', rest)?;
                let (tag, after) = rest.split_at(end);
                rest = after;
                return Some(Tag(tag));
            }
        }
    })
}

/// What stands between `<` and `>`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tag<'a>(pub(super) &'a [u8]);

impl<'a> Tag<'a> {
    /// The name without its prefix.
    pub(super) fn name(self) -> &'a [u8] {
        let end = self.0.iter().position(|byte| byte.is_ascii_whitespace() || *byte == b'/');
        local(&self.0[..end.unwrap_or(self.0.len())])
    }

    /// The value of the attribute of this local name, as it is written.
    pub(super) fn attribute(self, name: &[u8]) -> Option<&'a [u8]> {
        let mut rest = self.0;
        loop {
            let equals = memchr(b'=', rest)?;
            let before = rest[..equals].trim_ascii_end();
            let begin = before.iter().rposition(u8::is_ascii_whitespace).map_or(0, |at| at + 1);
            let key = &before[begin..];
            let value = rest[equals + 1..].trim_ascii_start();
            let (quote, value) = value.split_first()?;
            let end = memchr(*quote, value)?;
            if local(key) == name {
                return Some(&value[..end]);
            }
            rest = &value[end + 1..];
        }
    }

    /// The same as text, with `&amp;` read.
    pub(super) fn text(self, name: &[u8]) -> Option<String> {
        let text = String::from_utf8_lossy(self.attribute(name)?);
        Some(text.replace("&amp;", "&"))
    }
}

fn local(name: &[u8]) -> &[u8] {
    name.iter().rposition(|byte| *byte == b':').map_or(name, |colon| &name[colon + 1..])
}
