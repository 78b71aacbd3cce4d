//! A column as formats see it.

/// What a column holds; it decides how a cell is decoded and how each format writes it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize, utoipa::ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Unicode text.
    Text,
    /// A whole number; beyond 64 bits signed it arrives as [`super::Value::Decimal`].
    Int,
    /// An exact number with its scale.
    Decimal,
    /// A binary floating-point number.
    Float,
    /// A truth value.
    Bool,
    /// A calendar day.
    Date,
    /// A moment in time, shown in a zone.
    Time,
    /// A JSON document.
    Json,
}

impl Kind {
    /// The word used for this kind in definitions and in the API.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Int => "int",
            Self::Decimal => "decimal",
            Self::Float => "float",
            Self::Bool => "bool",
            Self::Date => "date",
            Self::Time => "time",
            Self::Json => "json",
        }
    }
}

/// How a spreadsheet shows a column; formats without looks pass over it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Look {
    /// Width in characters of the default font, as spreadsheets count it.
    pub width: Option<f64>,
    /// A number format in Excel's notation, such as `#,##0`.
    pub format: Option<String>,
}

/// One column of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name for machines, unique in the answer, never beginning with `_`.
    pub key: String,
    /// Its name for people.
    pub title: String,
    /// What it holds.
    pub kind: Kind,
    /// How a spreadsheet shows it.
    pub look: Look,
}
