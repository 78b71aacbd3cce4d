//! What a request says of the format it wants: parameters read one by one, with everything that is
//! wrong with them. Knows no report, no file and no HTTP.

use jiff::tz::TimeZone;
use serde_json::Value as Json;

use super::{Header, Numbers, Options};
use crate::error::{Error, Problem, Result};

/// Reads parameters and gathers what is wrong with them.
#[derive(Debug)]
pub struct Parameters<'a> {
    /// Decoded, in the order in which they were sent.
    pub pairs: &'a [(String, String)],
    /// What was found to be wrong so far.
    pub problems: Vec<Problem>,
}

impl<'a> Parameters<'a> {
    /// Parameters of which none was read yet.
    #[must_use]
    pub fn new(pairs: &'a [(String, String)]) -> Self {
        Self { pairs, problems: Vec::new() }
    }

    /// What was read of them, where nothing is wrong.
    ///
    /// # Errors
    /// [`Error::Malformed`] with every fault.
    pub fn done<T>(self, read: T) -> Result<T> {
        if self.problems.is_empty() { Ok(read) } else { Err(Error::Malformed(self.problems)) }
    }

    /// Notes what is wrong with a parameter.
    pub fn refuse(&mut self, name: &str, code: &'static str, value: &str, detail: String) {
        self.problems.push(Problem::parameter(name, code, value, detail));
    }

    /// Refuses every parameter that is none of these.
    pub fn refuse_others(&mut self, known: &[&str]) {
        let strange = self.pairs.iter().filter(|(name, _)| !known.contains(&name.as_str()));
        let refusals = strange.map(|(name, value)| {
            let known = known.join(", ");
            let detail = format!("\"{name}\" is not a parameter here; the known ones are {known}");
            Problem::parameter(name, "unknown_parameter", value, detail)
        });
        self.problems.extend(refusals);
    }

    /// The only value of a parameter, if it was sent.
    pub fn value(&mut self, name: &str) -> Option<&'a str> {
        let mut values = self.pairs.iter().filter(|pair| pair.0 == name).map(|pair| &*pair.1);
        let value = values.next()?;
        if let Some(second) = values.next() {
            let detail = format!("\"{name}\" is given more than once; give it once");
            self.refuse(name, "doubled_parameter", second, detail);
            return None;
        }
        if value.is_empty() {
            let detail = format!("\"{name}\" is empty; give a value or leave it out");
            self.refuse(name, "empty_value", value, detail);
            return None;
        }
        Some(value)
    }

    /// The one of `all` that a parameter says, if it was sent.
    pub fn word<T: Copy>(
        &mut self,
        name: &str,
        all: &[T],
        say: impl Fn(T) -> &'static str,
    ) -> Option<T> {
        let value = self.value(name)?;
        let found = all.iter().copied().find(|word| say(*word) == value);
        if found.is_none() {
            let words: Vec<_> = all.iter().map(|word| say(*word)).collect();
            let detail = format!("\"{name}\" is \"{value}\"; it takes {}", words.join(", "));
            self.refuse(name, "unknown_value", value, detail);
        }
        found
    }

    /// A parameter that is `true` or `false`.
    pub fn flag(&mut self, name: &str, default: bool) -> bool {
        let say = |flag| if flag { "true" } else { "false" };
        self.word(name, &[true, false], say).unwrap_or(default)
    }

    /// The zone that `tz` names, if it was sent.
    pub fn zone(&mut self) -> Option<TimeZone> {
        let name = self.value("tz")?;
        let zone = TimeZone::get(name).ok();
        if zone.is_none() {
            let detail = format!(
                "\"tz\" is \"{name}\", which is not an IANA zone such as Asia/Seoul or UTC"
            );
            self.refuse("tz", "unknown_zone", name, detail);
        }
        zone
    }

    /// The options of every format; times in `zone`, sheets named after `title`.
    pub fn options(&mut self, zone: TimeZone, title: String) -> Options {
        let defaults = Options::default();
        Options {
            zone,
            numbers: self.word("numbers", &Numbers::ALL, Numbers::name).unwrap_or_default(),
            header: self.word("header", &Header::ALL, Header::name).unwrap_or_default(),
            bom: self.flag("bom", defaults.bom),
            delimiter: self.delimiter().unwrap_or(defaults.delimiter),
            formula_guard: self.flag("formula_guard", defaults.formula_guard),
            title,
            ..defaults
        }
    }

    /// Refuses what a workbook cannot be.
    pub fn refuse_for_a_book(&mut self, options: &Options) {
        if options.header == Header::None {
            let detail = "\"header\" is \"none\"; a workbook has a header, title or key";
            self.refuse("header", "unknown_value", "none", detail.into());
        }
    }

    fn delimiter(&mut self) -> Option<u8> {
        let value = self.value("delimiter")?;
        let found = match value {
            "," | ";" | "|" | "\t" => value.bytes().next(),
            "tab" | "\\t" => Some(b'\t'),
            _ => None,
        };
        if found.is_none() {
            let detail = format!(
                "\"delimiter\" is \"{value}\"; it takes one of , ; | and tab (write ; as %3B)"
            );
            self.refuse("delimiter", "unknown_value", value, detail);
        }
        found
    }
}

/// Parameters as they are written into a run.
#[must_use]
pub fn params(pairs: &[(String, String)]) -> Json {
    let mut params = serde_json::Map::new();
    for (name, value) in pairs {
        // PostgreSQL's jsonb cannot hold a NUL.
        let value = Json::from(value.replace('\0', "\u{FFFD}"));
        match params.get_mut(name) {
            None => {
                params.insert(name.clone(), value);
            }
            Some(Json::Array(values)) => values.push(value),
            Some(single) => *single = Json::Array(vec![single.take(), value]),
        }
    }
    Json::Object(params)
}
