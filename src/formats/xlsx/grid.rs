//! Where cells go, and what they are shown as: the seam between what a value becomes and who writes it.

/// The row being written; columns count from 0.
pub(super) trait Grid {
    /// What may go wrong.
    type Error;

    /// Writes a text that is not empty and fits into a cell.
    fn text(&mut self, column: u16, text: &str) -> Result<(), Self::Error>;

    /// Writes a truth value.
    fn truth(&mut self, column: u16, truth: bool) -> Result<(), Self::Error>;

    /// Writes a number; `shown` where it is shown otherwise than its column.
    fn number(
        &mut self,
        column: u16,
        number: Number<'_>,
        shown: Option<Shown>,
    ) -> Result<(), Self::Error>;

    /// Has the column, which was shown as nothing so far, shown as this from here on.
    fn show(&mut self, column: u16, shown: Shown) -> Result<(), Self::Error>;
}

/// A number that a spreadsheet keeps as it is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Number<'a> {
    /// Of at most 15 digits.
    Int(i64),
    /// As in [`crate::rows::Value::Decimal`], of at most 15 digits that count.
    Digits(&'a str),
    /// Finite.
    Float(f64),
    /// Finite; by its own digits, 0.1 and not 0.10000000149011612.
    Real(f32),
}

/// What a cell or a column is shown as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    /// What the column's definition says.
    Given,
    Int,
    Date,
    Time,
    /// Seconds are rounded where their fraction is not shown, so one that has a fraction shows it.
    TimeWithMillis,
    /// So many fraction digits.
    Decimal(u8),
}

impl Shown {
    /// For so many fraction digits, at most [`super::looks::MOST_DIGITS`].
    pub(super) fn decimal(scale: usize) -> Self {
        Self::Decimal(u8::try_from(scale).unwrap_or(u8::MAX))
    }
}
