//! A fault in a definition file, and the list that one reading of a file fills.

use std::fmt;
use std::path::Path;

/// What is wrong with a definition file, where, and how to put it right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The file, such as `reports/settlements.toml`.
    pub file: String,
    /// The line, counted from 1; 0 where the fault is of the file as a whole.
    pub line: usize,
    /// What is wrong.
    pub message: String,
    /// How to put it right.
    pub remedy: String,
}

impl Fault {
    /// Whether it is a fault of the directory, not of one file in it.
    #[must_use]
    pub fn is_of_directory(&self) -> bool {
        Path::new(&self.file).extension().is_none_or(|extension| extension != "toml")
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        write!(f, ": {}; {}", self.message, self.remedy)
    }
}

/// The faults of one file, each put where it stands in the text.
#[derive(Debug)]
pub(super) struct Faults<'t> {
    file: &'t str,
    text: &'t str,
    list: Vec<Fault>,
}

impl<'t> Faults<'t> {
    pub(super) fn new(file: &'t str, text: &'t str) -> Self {
        Self { file, text, list: Vec::new() }
    }

    pub(super) fn file(&self) -> &'t str {
        self.file
    }

    /// The line, counted from 1, that the byte at `offset` stands in.
    pub(super) fn line(&self, offset: usize) -> usize {
        let before = self.text.as_bytes().iter().take(offset);
        before.filter(|byte| **byte == b'\n').count() + 1
    }

    pub(super) fn at(
        &mut self,
        offset: usize,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.on_line(self.line(offset), message, remedy);
    }

    pub(super) fn on_line(
        &mut self,
        line: usize,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.list.push(Fault {
            file: self.file.to_owned(),
            line,
            message: message.into(),
            remedy: remedy.into(),
        });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The faults in the order of their lines.
    pub(super) fn into_sorted(mut self) -> Vec<Fault> {
        self.list.sort_by_key(|fault| fault.line);
        self.list
    }
}
