//! A checked document definition: the rows of a report, and how each of them becomes the pages of a PDF.
//!
//! A template is fed by JSON pointers (RFC 6901) into the row as an object: its keys are those of the
//! columns, a json column is what it holds, and the rows of `[[details]]` are an array under their name.

use std::fmt;

use super::report::Report;
use crate::access::Caller;

/// A document: which rows there are, and how each of them is rendered.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Its rows. Their order is that of the documents.
    pub report: Report,
    /// The column that names one document in addresses; no two rows have the same value in it.
    pub key: usize,
    /// The column with the number that a document's file is named by.
    pub number: Option<usize>,
    /// The column with the title that it is named by, too.
    pub title: Option<usize>,
    /// The column with the day on which it was made, for those who look at the file's properties.
    pub date: Option<usize>,
    /// Rows of another table that belong to each document.
    pub details: Option<Details>,
    /// How it is rendered.
    pub template: Template,
    /// SHA-256 in hex of the definition's text: other pages come of another template.
    pub fingerprint: String,
}

/// Rows that belong to documents.
#[derive(Debug, Clone, PartialEq)]
pub struct Details {
    /// What the array is called in the row.
    pub name: String,
    /// The rows, in order.
    pub report: Report,
    /// The document's column whose value they carry.
    pub document: usize,
    /// Their column that carries it.
    pub column: usize,
    /// Whether a document without any is left out.
    pub required: bool,
}

/// How a row becomes pages.
#[derive(Debug, Clone, PartialEq)]
pub struct Template {
    /// The paper.
    pub page: PageSetup,
    /// What stands on it, from top to bottom.
    pub sections: Vec<Section>,
}

/// The paper and what all pages share.
#[derive(Debug, Clone, PartialEq)]
pub struct PageSetup {
    /// Width in points, 1/72 inch.
    pub width: f32,
    /// Height in points.
    pub height: f32,
    /// What is left free on each side, in points.
    pub margin: f32,
    /// The size of the text in points, where nothing else is said.
    pub font_size: f32,
    /// The page's number at the foot, `{page}` and `{pages}` in it; nothing where it is empty.
    pub numbers: String,
}

/// One part of a page.
#[derive(Debug, Clone, PartialEq)]
pub enum Section {
    /// A heading.
    Heading(Passage),
    /// A paragraph, or several.
    Text(Passage),
    /// Labels with their values.
    Fields {
        /// How many stand beside each other.
        beside: usize,
        /// The fields.
        fields: Vec<Field>,
    },
    /// A table.
    Table(Grid),
    /// Labels with values at the right margin.
    Totals(Vec<Field>),
    /// Boxes to sign in, each with what stands over it.
    Signatures(Vec<Wording>),
    /// Pictures.
    Images(Pictures),
    /// The end of a page.
    PageBreak,
}

/// Text over the whole width.
#[derive(Debug, Clone, PartialEq)]
pub struct Passage {
    /// What it says; line breaks begin new lines.
    pub wording: Wording,
    /// Its size in points, where it is not the page's own.
    pub size: Option<f32>,
    /// Where its lines stand.
    pub align: Align,
}

/// Where a line stands in its space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Align {
    /// At the left.
    #[default]
    Left,
    /// In the middle.
    Center,
    /// At the right.
    Right,
}

/// Words, with values among them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Wording(pub Vec<Bit>);

/// A bit of a wording.
#[derive(Debug, Clone, PartialEq)]
pub enum Bit {
    /// As it stands.
    Words(String),
    /// What is found in the row.
    Value(Feed),
}

/// A label and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// What the value is.
    pub label: String,
    /// The value.
    pub value: Feed,
}

/// A table whose rows are the elements of an array.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// The array.
    pub rows: Pointer,
    /// Whether there may be none.
    pub optional: bool,
    /// The columns, at least one.
    pub columns: Vec<GridColumn>,
    /// The size of its text in points, where it is not the page's own.
    pub size: Option<f32>,
    /// What stands in place of rows where there are none.
    pub empty: String,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct GridColumn {
    /// Its heading.
    pub title: String,
    /// Its share of the width, beside those of the others.
    pub width: f32,
    /// Where its values stand.
    pub align: Align,
    /// The value, in an element of the array.
    pub value: Feed,
}

/// Pictures in rows: one in base64, or an array of such.
#[derive(Debug, Clone, PartialEq)]
pub struct Pictures {
    /// Where they are.
    pub pointer: Pointer,
    /// Whether there may be none.
    pub optional: bool,
    /// How many stand beside each other.
    pub beside: usize,
    /// The most height of each, in points.
    pub height: f32,
}

/// A value, and how it is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Feed {
    /// Where it is.
    pub pointer: Pointer,
    /// The array in whose elements it is, where it is the sum of them.
    pub sum: Option<Pointer>,
    /// Whether it may be missing or null; nothing is shown then.
    pub optional: bool,
    /// How it is shown.
    pub show: Show,
}

/// What a value must be, and how it is shown.
#[derive(Debug, Clone, PartialEq)]
pub enum Show {
    /// A text or a number, as it stands.
    Plain,
    /// A number, or a text that is one.
    Number(NumberFormat),
    /// A day, or the day of a moment, such as 2026-01-31.
    Date,
    /// A moment, to the minute, such as 2026-01-31 09:30.
    Time,
    /// A truth value, in words: for true, and for false.
    Bool([String; 2]),
}

/// How a number is shown. Digits that it has are never left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NumberFormat {
    /// What stands before it, behind its sign.
    pub prefix: String,
    /// What stands behind it.
    pub suffix: String,
    /// Whether thousands are separated.
    pub grouped: bool,
    /// Digits that it has behind the point at least.
    pub decimals: usize,
}

/// The place of a value in a document (RFC 6901).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pointer {
    text: String,
    steps: Vec<String>,
}

impl Pointer {
    /// Reads a pointer: nothing for what does not begin with a slash, and for a tilde that is not `~0`
    /// or `~1`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let steps = text.strip_prefix('/')?.split('/').map(unescaped).collect::<Option<_>>()?;
        Some(Self { text: text.to_owned(), steps })
    }

    /// Its steps: keys, and indexes of arrays.
    #[must_use]
    pub fn steps(&self) -> &[String] {
        &self.steps
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn unescaped(step: &str) -> Option<String> {
    let mut parts = step.split('~');
    let mut plain = parts.next()?.to_owned();
    for part in parts {
        let rest = match part.as_bytes().first()? {
            b'0' => '~',
            b'1' => '/',
            _ => return None,
        };
        plain.push(rest);
        plain.push_str(&part[1..]);
    }
    Some(plain)
}

impl Document {
    /// Whether this caller may know that the document exists: as [`Report::accessible`], for all that
    /// it reads.
    #[must_use]
    pub fn accessible(&self, caller: &Caller) -> bool {
        self.report.accessible(caller)
            && self.details.as_ref().is_none_or(|details| details.report.accessible(caller))
    }
}
