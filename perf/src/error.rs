//! The bench's one error: a sentence for the person who runs it.

use std::fmt;

/// What went wrong, in words that say what to do where that is known.
#[derive(Debug)]
pub(crate) struct Error(String);

/// A result with the bench's error.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub(crate) fn new(words: impl Into<String>) -> Self {
        Self(words.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.0)
    }
}

/// Says what was being done when something failed.
pub(crate) trait Doing<T> {
    /// Puts `what` in front of the failure's own words.
    fn doing(self, what: impl fmt::Display) -> Result<T>;
}

impl<T, E: fmt::Display> Doing<T> for std::result::Result<T, E> {
    fn doing(self, what: impl fmt::Display) -> Result<T> {
        self.map_err(|error| Error(format!("{what}: {error}")))
    }
}
