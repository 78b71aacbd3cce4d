//! The two ways in which an answer leaves.

use crate::formats::Format;

/// How an answer leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Bytes leave as they are made.
    Direct,
    /// The whole file is built first.
    Prepared,
}

impl Way {
    /// Both ways.
    pub const ALL: [Self; 2] = [Self::Direct, Self::Prepared];

    /// The word for it in parameters.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Prepared => "prepared",
        }
    }

    /// What a format has where the request does not say.
    #[must_use]
    pub const fn of(format: Format) -> Self {
        match format {
            Format::Ndjson | Format::Json | Format::Csv => Self::Direct,
            // A workbook that broke off opens nowhere, and who fetches one waits for all of it anyway.
            Format::Xlsx => Self::Prepared,
        }
    }
}
