//! Reading a text piece by piece, from its beginning.

use crate::definitions::narrow;

/// The text with plain letters, digits, signs and spaces in place of full-width ones and their like; put
/// together in `buffer` where anything is to be replaced.
pub(super) fn narrowed<'a>(text: &'a str, buffer: &'a mut String) -> &'a str {
    if text.is_ascii() {
        return text;
    }
    buffer.clear();
    buffer.extend(text.chars().map(plain));
    buffer
}

fn plain(char: char) -> char {
    match char {
        // Minus signs and hyphens that typography has.
        '\u{2010}'..='\u{2013}' | '\u{2212}' | '\u{FE63}' => '-',
        '\u{FFE6}' => '₩',
        char if char.is_whitespace() => ' ',
        char => narrow(char),
    }
}

/// What of a text has not been read yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rest<'a>(pub(super) &'a str);

impl<'a> Rest<'a> {
    /// Takes this off the beginning; whether it stood there.
    pub(super) fn take(&mut self, word: &str) -> bool {
        let rest = self.0.strip_prefix(word);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    /// Takes one of these characters off the beginning.
    pub(super) fn one_of(&mut self, chars: &[char]) -> Option<char> {
        let first = self.0.chars().next().filter(|first| chars.contains(first))?;
        self.0 = self.0.get(first.len_utf8()..)?;
        Some(first)
    }

    /// Takes spaces off the beginning; whether there were any.
    pub(super) fn spaces(&mut self) -> bool {
        let rest = self.0.trim_start_matches(' ');
        let any = rest.len() < self.0.len();
        self.0 = rest;
        any
    }

    /// Takes digits off the beginning.
    pub(super) fn digits(&mut self) -> &'a str {
        let end = self.0.bytes().position(|byte| !byte.is_ascii_digit());
        let (digits, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
        self.0 = rest;
        digits
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
