//! One table of a TOML file, read key by key: what is of the wrong type, missing or unknown becomes
//! a fault at its line, and reading goes on.
//!
//! Knows TOML and faults, not what a definition is.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::fault::Faults;

/// A value and where it stands in the file, as a byte offset.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Spot<T> {
    pub(super) value: T,
    pub(super) at: usize,
}

/// One table, and the words that messages call it by.
#[derive(Debug, Clone)]
pub(super) struct Part<'t> {
    table: &'t DeTable<'t>,
    at: usize,
    what: String,
}

impl<'t> Part<'t> {
    /// Begins to read `table`; every key that is not among `known` is a fault.
    pub(super) fn new(
        table: &'t DeTable<'t>,
        at: usize,
        what: impl Into<String>,
        known: &[&str],
        faults: &mut Faults<'_>,
    ) -> Self {
        let part = Self { table, at, what: what.into() };
        for key in table.keys().filter(|key| !known.contains(&key.get_ref().as_ref())) {
            faults.at(
                key.span().start,
                format!("{} has the unknown key \"{}\"", part.what, key.get_ref()),
                format!("the known keys are {}", known.join(", ")),
            );
        }
        part
    }

    /// Where the table begins.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    fn get(&self, key: &str) -> Option<&'t Spanned<DeValue<'t>>> {
        self.table.get(key)
    }

    fn mistyped(
        &self,
        key: &str,
        value: &Spanned<DeValue<'_>>,
        wanted: &str,
        faults: &mut Faults<'_>,
    ) {
        faults.at(
            value.span().start,
            format!("\"{key}\" of {} is of type {}", self.what, value.get_ref().type_str()),
            format!("write {wanted}"),
        );
    }

    /// A text that is not empty, and that can be shown where people read it.
    pub(super) fn text(&self, key: &str, faults: &mut Faults<'_>) -> Option<Spot<String>> {
        self.filled(key, "give it a text, or leave the key out", faults)
    }

    /// A text that is not empty; `remedy` is for one that is.
    fn filled(&self, key: &str, remedy: &str, faults: &mut Faults<'_>) -> Option<Spot<String>> {
        let value = self.get(key)?;
        let at = value.span().start;
        match value.get_ref().as_str() {
            Some(text) if text.trim().is_empty() => {
                faults.at(at, format!("\"{key}\" of {} is empty", self.what), remedy);
                None
            }
            Some(text) if text.chars().any(|char| is_misplaced(key, char)) => {
                faults.at(
                    at,
                    format!("\"{key}\" of {} has a control character in it", self.what),
                    "take it out; it cannot be shown",
                );
                None
            }
            Some(text) => Some(Spot { value: text.to_owned(), at }),
            None => {
                self.mistyped(key, value, &format!("a text in quotes: {key} = \"…\""), faults);
                None
            }
        }
    }

    /// A text that must be there and not be empty.
    pub(super) fn needed(
        &self,
        key: &str,
        example: &str,
        faults: &mut Faults<'_>,
    ) -> Option<Spot<String>> {
        if self.get(key).is_none() {
            faults.at(
                self.at,
                format!("{} has no \"{key}\"", self.what),
                format!("add one, for example {key} = \"{example}\""),
            );
        }
        self.filled(key, &format!("give it a text, for example \"{example}\""), faults)
    }

    /// One of a few words, each with its meaning.
    pub(super) fn word<T: Copy>(
        &self,
        key: &str,
        words: &[(&str, T)],
        faults: &mut Faults<'_>,
    ) -> Option<Spot<T>> {
        let text = self.text(key, faults)?;
        self.meaning(key, words, &text, faults)
    }

    fn meaning<T: Copy>(
        &self,
        key: &str,
        words: &[(&str, T)],
        text: &Spot<String>,
        faults: &mut Faults<'_>,
    ) -> Option<Spot<T>> {
        let found = words.iter().find(|(word, _)| *word == text.value);
        if found.is_none() {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            faults.at(
                text.at,
                format!("\"{key}\" of {} is \"{}\"", self.what, text.value),
                format!("write one of {}", known.join(", ")),
            );
        }
        found.map(|(_, meaning)| Spot { value: *meaning, at: text.at })
    }

    /// One of a few words, which must be there.
    pub(super) fn needed_word<T: Copy>(
        &self,
        key: &str,
        words: &[(&str, T)],
        faults: &mut Faults<'_>,
    ) -> Option<Spot<T>> {
        let example = words.first().map_or("", |(word, _)| *word);
        let text = self.needed(key, example, faults)?;
        self.meaning(key, words, &text, faults)
    }

    /// `true` or `false`.
    pub(super) fn flag(&self, key: &str, faults: &mut Faults<'_>) -> Option<bool> {
        let value = self.get(key)?;
        let flag = value.get_ref().as_bool();
        if flag.is_none() {
            self.mistyped(key, value, "true or false, without quotes", faults);
        }
        flag
    }

    /// A number within `least..=most`, with or without a fraction.
    pub(super) fn number(
        &self,
        key: &str,
        (least, most): (f64, f64),
        faults: &mut Faults<'_>,
    ) -> Option<Spot<f64>> {
        let value = self.get(key)?;
        let at = value.span().start;
        let wanted = format!("a number from {least} to {most}, without quotes");
        let number: Option<f64> = match value.get_ref() {
            DeValue::Integer(digits) if digits.radix() == 10 => digits.as_str().parse().ok(),
            DeValue::Float(digits) => digits.as_str().parse().ok(),
            _ => {
                self.mistyped(key, value, &wanted, faults);
                return None;
            }
        };
        let number = number.filter(|number| (least..=most).contains(number));
        if number.is_none() {
            let message = format!("\"{key}\" of {} is out of bounds", self.what);
            faults.at(at, message, format!("write {wanted}"));
        }
        number.map(|value| Spot { value, at })
    }

    /// A whole number within `least..=most`.
    pub(super) fn whole(
        &self,
        key: &str,
        (least, most): (u64, u64),
        faults: &mut Faults<'_>,
    ) -> Option<Spot<u64>> {
        let value = self.get(key)?;
        let at = value.span().start;
        let wanted = format!("a whole number from {least} to {most}, without quotes");
        let Some(digits) = value.get_ref().as_integer() else {
            self.mistyped(key, value, &wanted, faults);
            return None;
        };
        let number = u64::from_str_radix(digits.as_str(), digits.radix()).ok();
        let number = number.filter(|number| (least..=most).contains(number));
        if number.is_none() {
            let message = format!("\"{key}\" of {} is out of bounds", self.what);
            faults.at(at, message, format!("write {wanted}"));
        }
        number.map(|value| Spot { value, at })
    }

    /// A number, date, time or text as it is written; `example` is one of what is wanted.
    pub(super) fn written(
        &self,
        key: &str,
        example: &str,
        faults: &mut Faults<'_>,
    ) -> Option<Spot<String>> {
        let value = self.get(key)?;
        let at = value.span().start;
        let written = match value.get_ref() {
            DeValue::Integer(digits) if digits.radix() == 10 => digits.as_str().to_owned(),
            DeValue::Float(digits) => digits.as_str().to_owned(),
            DeValue::Datetime(time) => time.to_string(),
            DeValue::String(_) => return self.text(key, faults),
            DeValue::Integer(_) | DeValue::Boolean(_) | DeValue::Array(_) | DeValue::Table(_) => {
                self.mistyped(key, value, &format!("{key} = {example}"), faults);
                return None;
            }
        };
        Some(Spot { value: written, at })
    }

    /// Where the value of a key stands, where it is there.
    pub(super) fn place(&self, key: &str) -> Option<usize> {
        self.get(key).map(|value| value.span().start)
    }

    /// A list of texts, none of them empty.
    pub(super) fn texts(&self, key: &str, faults: &mut Faults<'_>) -> Vec<Spot<String>> {
        let wanted = format!("a list of texts: {key} = [\"…\", \"…\"]");
        let Some(value) = self.get(key) else {
            return Vec::new();
        };
        let Some(list) = value.get_ref().as_array() else {
            self.mistyped(key, value, &wanted, faults);
            return Vec::new();
        };
        let mut texts = Vec::with_capacity(list.len());
        for entry in list {
            let at = entry.span().start;
            match entry.get_ref().as_str() {
                Some(text) if text.trim().is_empty() => faults.at(
                    at,
                    format!("\"{key}\" of {} has an empty entry", self.what),
                    "take the entry out",
                ),
                Some(text) => texts.push(Spot { value: text.trim().to_owned(), at }),
                None => self.mistyped(key, entry, &wanted, faults),
            }
        }
        texts
    }

    /// The tables of an array of tables, such as `[[columns]]`.
    pub(super) fn tables(
        &self,
        key: &str,
        faults: &mut Faults<'_>,
    ) -> Vec<(&'t DeTable<'t>, usize)> {
        let wanted = format!("each one as a table under [[{key}]]");
        let Some(value) = self.get(key) else {
            return Vec::new();
        };
        let Some(list) = value.get_ref().as_array() else {
            self.mistyped(key, value, &wanted, faults);
            return Vec::new();
        };
        let mut tables = Vec::with_capacity(list.len());
        for entry in list {
            match entry.get_ref().as_table() {
                Some(table) => tables.push((table, entry.span().start)),
                None => self.mistyped(key, entry, &wanted, faults),
            }
        }
        tables
    }

    /// A table of its own, such as `[page]`.
    pub(super) fn table(
        &self,
        key: &str,
        faults: &mut Faults<'_>,
    ) -> Option<(&'t DeTable<'t>, usize)> {
        let value = self.get(key)?;
        let Some(table) = value.get_ref().as_table() else {
            self.mistyped(key, value, &format!("a table under [{key}]"), faults);
            return None;
        };
        Some((table, value.span().start))
    }

    /// Whether this is `true` or `false`, where it may be something else.
    pub(super) fn flag_or_text(&self, key: &str) -> Option<bool> {
        self.get(key)?.get_ref().as_bool()
    }

    /// The entries of a table of the author's own keys, such as `scope`, in the order of the keys.
    pub(super) fn entries(
        &self,
        key: &str,
        example: &str,
        faults: &mut Faults<'_>,
    ) -> Vec<(Spot<String>, &'t Spanned<DeValue<'t>>)> {
        let Some(value) = self.get(key) else {
            return Vec::new();
        };
        let Some(table) = value.get_ref().as_table() else {
            self.mistyped(key, value, &format!("a table: {key} = {example}"), faults);
            return Vec::new();
        };
        let spot = |name: &Spanned<std::borrow::Cow<'_, str>>| Spot {
            value: name.get_ref().to_string(),
            at: name.span().start,
        };
        table.iter().map(|(name, value)| (spot(name), value)).collect()
    }
}

/// Whether a text under this key cannot have a character: what people read may be of several lines, and
/// has no other control characters; a NUL ends a text in some databases.
fn is_misplaced(key: &str, char: char) -> bool {
    match key {
        "title" | "description" => char.is_control() && !matches!(char, '\n' | '\r' | '\t'),
        _ => char == '\0',
    }
}
