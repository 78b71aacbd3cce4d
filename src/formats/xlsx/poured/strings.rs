//! Texts that come again and again, kept once behind the sheets: a fifth of the XML less.
//!
//! Only so many are kept, for they take memory until the end; a column in which hardly any text comes
//! twice keeps none any more. The other texts stand in their cells.

use std::collections::HashMap;

use super::xml;

/// Texts that are kept, and their bytes.
const TEXTS: usize = 32_768;
const BYTES: usize = 2 << 20;
/// Bytes of the longest text that is kept.
const LONGEST: usize = 255;
/// New texts of a column after which it must have had as many known ones.
const NEW: u32 = 4_096;

/// The texts of a workbook that cells refer to by their numbers.
#[derive(Debug)]
pub(super) struct Strings {
    known: HashMap<Box<str>, u32>,
    bytes: usize,
    /// As the workbook lists them.
    listed: Vec<u8>,
    uses: u64,
    columns: Vec<Seen>,
}

/// What a column's texts were so far.
#[derive(Debug, Default, Clone)]
struct Seen {
    known: u32,
    new: u32,
    shut: bool,
}

impl Strings {
    pub(super) fn new(columns: usize) -> Self {
        Self {
            known: HashMap::new(),
            bytes: 0,
            listed: Vec::new(),
            uses: 0,
            columns: vec![Seen::default(); columns],
        }
    }

    /// The number of a text; nothing where it is to stand in its cell.
    #[inline]
    pub(super) fn number(&mut self, column: u16, text: &str) -> Option<u32> {
        let seen = &mut self.columns[usize::from(column)];
        if seen.shut || text.len() > LONGEST {
            return None;
        }
        if let Some(number) = self.known.get(text) {
            seen.known = seen.known.saturating_add(1);
            self.uses += 1;
            return Some(*number);
        }
        self.keep(column, text)
    }

    fn keep(&mut self, column: u16, text: &str) -> Option<u32> {
        let seen = &mut self.columns[usize::from(column)];
        seen.new = seen.new.saturating_add(1);
        let full = self.known.len() >= TEXTS || self.bytes + text.len() > BYTES;
        if seen.new > NEW && (seen.new > seen.known || full) {
            seen.shut = true;
        }
        if seen.shut || full {
            return None;
        }
        let number = u32::try_from(self.known.len()).ok()?;
        self.known.insert(text.into(), number);
        self.bytes += text.len();
        self.uses += 1;
        self.listed.extend_from_slice(b"<si>");
        xml::content(text, &mut self.listed);
        self.listed.extend_from_slice(b"</si>");
        Some(number)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// The part of the workbook that lists them.
    pub(super) fn part(&self) -> Vec<u8> {
        let mut part = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n\
             <sst xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\" count=\"{}\" \
             uniqueCount=\"{}\">",
            self.uses,
            self.known.len()
        )
        .into_bytes();
        part.extend_from_slice(&self.listed);
        part.extend_from_slice(b"</sst>");
        part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_one_number_and_a_column_of_ever_new_ones_has_none_any_more() {
        let mut strings = Strings::new(2);
        assert_eq!(strings.number(0, "a"), Some(0));
        assert_eq!(strings.number(1, "b & c"), Some(1));
        assert_eq!(strings.number(1, "a"), Some(0));
        assert_eq!(strings.number(0, &"x".repeat(256)), None);
        let part = String::from_utf8(strings.part()).unwrap();
        assert!(part.contains("count=\"3\" uniqueCount=\"2\"><si><t>a</t></si>"), "{part}");
        assert!(part.ends_with("<si><t>b &amp; c</t></si></sst>"), "{part}");
        let last = (0..5_000).map(|number| strings.number(0, &format!("order {number}"))).last();
        assert_eq!(last, Some(None));
        assert_eq!((strings.number(0, "a"), strings.number(1, "a")), (None, Some(0)));
    }

    #[test]
    fn no_more_are_kept_than_memory_is_meant_for() {
        let mut strings = Strings::new(20);
        for number in 0..4_000 {
            for column in 0..20 {
                strings.number(column, &format!("{column} {number} {}", "y".repeat(100)));
            }
        }
        assert!(strings.known.len() <= TEXTS && strings.bytes <= BYTES);
        assert!(strings.listed.len() < 2 * BYTES);
    }
}
