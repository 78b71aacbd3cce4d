//! Text as a cell takes it: how much of it, and how many bytes it becomes.

/// UTF-16 units that one cell holds ("Excel specifications and limits").
pub(super) const LONGEST: usize = 32_767;

/// The beginning of a text that has at most so many UTF-16 units, never half a character.
pub(super) fn within(text: &str, units: usize) -> &str {
    // A character has at least as many bytes as units.
    if text.len() <= units {
        return text;
    }
    let mut left = units;
    let end = text.char_indices().find(|(_, c)| {
        let room = left.checked_sub(c.len_utf16());
        left = room.unwrap_or(left);
        room.is_none()
    });
    end.map_or(text, |(at, _)| &text[..at])
}

/// The most bytes that a text becomes in a sheet's XML.
pub(super) fn xml_size(text: &str) -> u64 {
    // `_x000B_` is seven bytes, `_x005F_` too, `&amp;` five; all others stay as they are.
    let grows = |byte: &u8| matches!(byte, 0..0x20 | b'&' | b'<' | b'>' | b'_' | 0xEF);
    (text.len() + 6 * text.bytes().filter(|byte| grows(byte)).count()) as u64
}
