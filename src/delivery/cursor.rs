//! Keyset paging on the way through: remembers the place of the last row, and whether more follow.

use crate::database::Arg;
use crate::rows::Value;

/// Watches the columns that carry a row's place in the order, which stand behind the answer's own.
pub struct Cursor {
    /// The answer's columns.
    width: usize,
    /// Rows to let through; the statement asks for one more, to know whether there is one.
    limit: u64,
    passed: u64,
    more: bool,
    place: Vec<Arg>,
    token: Tokens,
}

/// Makes a token of a place.
pub type Tokens = Box<dyn Fn(&[Arg]) -> String + Send>;

impl Cursor {
    /// For answers of `width` columns and at most `limit` rows; `token` makes a token of a place.
    #[must_use]
    pub fn new(width: usize, limit: u64, token: Tokens) -> Self {
        Self { width, limit, passed: 0, more: false, place: Vec::new(), token }
    }

    /// The part of the row that is the answer's, or nothing for the row beyond the limit.
    pub(super) fn take<'r, 'v>(&mut self, row: &'r [Value<'v>]) -> Option<&'r [Value<'v>]> {
        if self.passed == self.limit {
            self.more = true;
            return None;
        }
        self.passed += 1;
        if self.passed == self.limit {
            self.place = row.iter().skip(self.width).map(owned).collect();
        }
        row.get(..self.width)
    }

    /// The token of the next page, where there is one.
    #[must_use]
    pub fn next(&self) -> Option<String> {
        self.more.then(|| (self.token)(&self.place))
    }
}

fn owned(value: &Value<'_>) -> Arg {
    match value {
        Value::Int(value) => Arg::Int(*value),
        Value::Float(value) => Arg::Float(*value),
        Value::Real(value) => Arg::Float((*value).into()),
        Value::Bool(value) => Arg::Bool(*value),
        Value::Text(text) | Value::Decimal(text) | Value::Json(text) => Arg::Text((*text).into()),
        // Places come as they are stored, which is none of these.
        Value::Null | Value::Date(_) | Value::Time(_) => Arg::Null,
    }
}
