//! One cell, borrowed from wherever the driver keeps it.

use super::{Date, Instant};

/// One cell of a row.
///
/// Text, decimals and JSON point into the source's buffer; nothing is copied on the way to the
/// output. Unsigned 64-bit integers and exact numerics are [`Value::Decimal`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// SQL NULL.
    Null,
    /// A truth value.
    Bool(bool),
    /// A signed 64-bit integer.
    Int(i64),
    /// A double; NaN and the infinities are allowed here and each format says what it makes of them.
    Float(f64),
    /// A single-precision float, printed to its own width (`0.1`, not `0.10000000149011612`).
    Real(f32),
    /// Exact digits: `-?[0-9]+(\.[0-9]+)?`, scale kept, no exponent, no leading `+`.
    Decimal(&'a str),
    /// Any text.
    Text(&'a str),
    /// A calendar day.
    Date(Date),
    /// A moment in time.
    Time(Instant),
    /// A JSON document as the database holds it, known to be valid; may contain line breaks.
    Json(&'a str),
}

/// Gives an emptied row vector back for values of another lifetime, keeping its allocation.
#[must_use]
pub fn recycle<'b>(mut row: Vec<Value<'_>>) -> Vec<Value<'b>> {
    row.clear();
    // In-place collection reuses the buffer; there is nothing to convert.
    row.into_iter().map(|_| Value::Null).collect()
}
