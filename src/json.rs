//! JSON as it is written: numbers keep their digits, objects their order.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

/// What a text is that is no JSON.
pub(crate) type Fault = serde_json::Error;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as it is written.
    Digits(&'a str),
    /// A string.
    Text(Cow<'a, str>),
    /// An array.
    List(Vec<Node<'a>>),
    /// An object.
    Object(Vec<(Cow<'a, str>, Node<'a>)>),
}

impl<'a> Node<'a> {
    /// Reads a text that is one value.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub(crate) fn parse(text: &'a str) -> Result<Self, Fault> {
        Self::of(serde_json::from_str(text)?)
    }

    fn of(raw: &'a RawValue) -> Result<Self, Fault> {
        let text = raw.get();
        Ok(match text.as_bytes().first() {
            Some(b'"') => Self::Text(string(text)?),
            Some(b'[') => {
                let elements: Vec<&RawValue> = serde_json::from_str(text)?;
                Self::List(elements.into_iter().map(Node::of).collect::<Result<_, _>>()?)
            }
            Some(b'{') => {
                let Pairs(pairs) = serde_json::from_str(text)?;
                let read = |(key, value)| Ok((key, Node::of(value)?));
                Self::Object(pairs.into_iter().map(read).collect::<Result<_, Fault>>()?)
            }
            Some(b't') => Self::Bool(true),
            Some(b'f') => Self::Bool(false),
            Some(b'n') => Self::Null,
            Some(_) => Self::Digits(text),
            None => return Err(Fault::custom("no value")),
        })
    }

    /// The value that these steps lead to (RFC 6901); of a key that comes twice, the last one.
    pub(crate) fn find(&self, steps: &[String]) -> Option<&Self> {
        steps.iter().try_fold(self, |node, step| match node {
            Self::Object(pairs) => {
                pairs.iter().rfind(|(key, _)| key == step).map(|(_, value)| value)
            }
            Self::List(elements) => index(step).and_then(|index| elements.get(index)),
            Self::Null | Self::Bool(_) | Self::Digits(_) | Self::Text(_) => None,
        })
    }

    /// What it is, in a word.
    pub(crate) const fn word(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a truth value",
            Self::Digits(_) => "a number",
            Self::Text(_) => "a text",
            Self::List(_) => "an array",
            Self::Object(_) => "an object",
        }
    }
}

/// An index of an array, which has no sign and no leading zeros.
fn index(step: &str) -> Option<usize> {
    let is_plain = step == "0" || !step.starts_with(['0', '+']);
    is_plain.then(|| step.parse().ok()).flatten()
}

/// The text of a string that is written so.
pub(crate) fn string(raw: &str) -> Result<Cow<'_, str>, Fault> {
    match raw.as_bytes() {
        [b'"', inside @ .., b'"'] if !inside.contains(&b'\\') => {
            Ok(Cow::Borrowed(&raw[1..raw.len() - 1]))
        }
        _ => serde_json::from_str(raw).map(Cow::Owned),
    }
}

/// The pairs of an object, as they stand in it.
pub(crate) struct Pairs<'a>(pub(crate) Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Pairs<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reads;
        impl<'de> Visitor<'de> for Reads {
            type Value = Pairs<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some((Key(key), value)) = map.next_entry()? {
                    pairs.push((key, value));
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Reads)
    }
}

/// A key, borrowed where it has no escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reads;
        impl<'de> Visitor<'de> for Reads {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_borrowed_str<E: serde::de::Error>(self, key: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(key)))
            }

            fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(key.to_owned())))
            }
        }
        deserializer.deserialize_str(Reads)
    }
}
