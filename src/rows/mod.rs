//! What a row is made of: values, kinds, columns, and the two ends that rows pass between.
//!
//! A source pushes rows into a [`RowSink`]; an [`Encoder`] turns rows into bytes. Both borrow:
//! a [`Value`] points into the driver's row buffer, and the output buffer is lent for one call.
//! This module knows no database, no format and no transport.

mod civil;
mod column;
mod decimal;
mod parse;
mod value;
mod zone;

#[cfg(test)]
mod tests;

pub use civil::{Date, Instant};
pub use column::{Column, Kind, Look};
pub(crate) use decimal::is_plain_number;
pub use decimal::{compare_decimals, is_decimal};
pub use parse::{ParseError, parse_bool, parse_date, parse_time};
pub use value::{Value, recycle};
pub use zone::ZoneClock;

use std::io::Write;

use crate::error::Result;

/// Takes the rows of a source, one call a row.
pub trait RowSink {
    /// Takes the columns of a source that learns them while it reads, before its first row. A source
    /// whose columns are known beforehand does not say them.
    ///
    /// # Errors
    /// Whatever stops the run.
    fn columns(&mut self, _columns: &[Column]) -> Result<()> {
        Ok(())
    }

    /// Takes one row, whose values stand in the order of the source's columns.
    ///
    /// The values are borrowed for this call alone.
    ///
    /// # Errors
    /// Whatever stops the run: a value the format cannot carry, a receiver that is gone. After an
    /// error the source calls nothing more.
    fn row(&mut self, row: &[Value<'_>]) -> Result<()>;

    /// Says that the source is about to wait for its next row, which may take a while.
    fn idle(&mut self) {}
}

/// Turns rows into the bytes of one format.
///
/// `begin` is called once, `row` for each row, `finish` once at the end of the rows. `out` is lent
/// for the call: the encoder appends to it, never clears it and never looks back at it, so that one
/// encoder serves a network chunk, a spool file and a ZIP entry alike. After an error nothing more
/// is called, in particular not `finish`.
pub trait Encoder {
    /// Writes what stands before the first row.
    ///
    /// # Errors
    /// [`crate::error::Error::Internal`] where the format cannot be begun.
    fn begin(&mut self, out: &mut Vec<u8>) -> Result<()>;

    /// Writes one row; `row` has one value for each column that the encoder was made for.
    ///
    /// # Errors
    /// A value that the format cannot carry, named with row and column.
    fn row(&mut self, row: &[Value<'_>], out: &mut Vec<u8>) -> Result<()>;

    /// Appends rows that are held back because they are worked on elsewhere: `all` of them, waiting for
    /// it, or what is ready by now. Whether some are still held back. The bytes of an answer are the
    /// same however often this is called.
    ///
    /// # Errors
    /// [`crate::error::Error::Internal`] where the work on them failed.
    fn flush(&mut self, _all: bool, _out: &mut Vec<u8>) -> Result<bool> {
        Ok(false)
    }

    /// Writes what stands after the last row. A format that gathers its rows elsewhere writes all of
    /// them here, which is why `out` is not a buffer: it passes on what it is given.
    ///
    /// # Errors
    /// Whatever `out` says; [`crate::error::Error::Internal`] where the format cannot be finished.
    fn finish(&mut self, out: &mut (dyn Write + Send)) -> Result<()>;

    /// What was noticed on the way and is not an error, for the run; empties the list.
    fn take_warnings(&mut self) -> Vec<Warning>;
}

/// Something a person should know about a run that went well nevertheless.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize, utoipa::ToSchema)]
pub struct Warning {
    /// A stable `snake_case` word.
    pub code: String,
    /// What happened, to which column, how often.
    pub detail: String,
}

/// Bytes as lower-case hexadecimal digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
