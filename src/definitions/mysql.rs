//! Exact conditions in MySQL and MariaDB, which compare texts by a collation that may take "a" for "A"
//! and "a " for "a", and decimals with texts as doubles.

use sea_orm::sea_query::{Expr, ExprTrait, Func, LikeExpr};

use super::conditions::{Comparison, never};
use super::statement::column;

/// The most digits of a decimal.
const MOST_DIGITS: usize = 65;
/// The most of them after the point; MariaDB has some more.
const MOST_PLACES: usize = 30;

/// One of these texts, byte for byte. The first condition is coarse, and what an index serves: texts of
/// the same bytes are the same by every collation. A text beyond ASCII goes without it, because the
/// server refuses to compare one with a column whose character set does not have it.
pub(super) fn one_of<'t>(name: &str, texts: impl Iterator<Item = &'t str> + Clone) -> Expr {
    let exact = bytes(name).is_in(texts.clone().map(as_bytes));
    if texts.clone().all(str::is_ascii) {
        column(name).is_in(texts.map(Expr::val)).and(exact)
    } else {
        exact
    }
}

/// A text compared: for equality byte for byte, for order as the column sorts.
pub(super) fn text(name: &str, comparison: Comparison, text: &str) -> Expr {
    match comparison {
        Comparison::Eq => one_of(name, std::iter::once(text)),
        Comparison::Ne => Comparison::Ne.of(bytes(name), as_bytes(text)),
        Comparison::Lt | Comparison::Le | Comparison::Gt | Comparison::Ge => {
            let cell = if text.is_ascii() { column(name) } else { utf8(name) };
            comparison.of(cell, Expr::val(text))
        }
    }
}

/// Whether a text is part of a cell's, byte for byte.
pub(super) fn contains(name: &str, text: &str) -> Expr {
    Comparison::Gt.of(found_at(name, text), Expr::val(0_i64))
}

/// Whether a cell begins with a text, byte for byte, behind a pattern that an index serves.
pub(super) fn prefix(name: &str, text: &str) -> Expr {
    let mut pattern = String::with_capacity(text.len() + 1);
    for char in text.chars() {
        if matches!(char, '%' | '_' | '!') {
            pattern.push('!');
        }
        pattern.push(char);
    }
    pattern.push('%');
    let exact = Comparison::Eq.of(found_at(name, text), Expr::val(1_i64));
    if text.is_ascii() {
        column(name).like(LikeExpr::new(pattern).escape('!')).and(exact)
    } else {
        exact
    }
}

fn found_at(name: &str, text: &str) -> Expr {
    Func::cust("LOCATE").arg(as_bytes(text)).arg(bytes(name)).into()
}

/// A cell's text in UTF-8, whatever it is stored in.
fn utf8(name: &str) -> Expr {
    Expr::cust_with_expr("CONVERT(? USING utf8mb4)", column(name))
}

/// Its bytes.
fn bytes(name: &str) -> Expr {
    Expr::cust_with_expr("CAST(? AS BINARY)", utf8(name))
}

/// An argument's bytes; a connection's texts are UTF-8.
fn as_bytes(text: &str) -> Expr {
    Expr::cust_with_expr("CAST(? AS BINARY)", Expr::val(text))
}

/// A decimal compared. One with more digits than any column holds is moved to the next that has room,
/// which leaves every comparison as it was.
pub(super) fn decimal(name: &str, comparison: Comparison, digits: &str) -> Expr {
    let cell = column(name);
    let negative = digits.starts_with('-');
    let unsigned = digits.strip_prefix(['-', '+']).unwrap_or(digits);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
    if whole.len() > MOST_DIGITS {
        return beyond_all(cell, comparison, negative);
    }
    let room = MOST_PLACES.min(MOST_DIGITS - whole.len());
    let kept = &fraction[..fraction.len().min(room)];
    let exact = kept.len() == fraction.len();
    let comparison = match comparison {
        Comparison::Eq if !exact => return never(),
        Comparison::Ne if !exact => return cell.is_not_null(),
        // What was cut off brought the number nearer to zero, past no number that a column holds.
        Comparison::Lt | Comparison::Le if !exact && !negative => Comparison::Le,
        Comparison::Gt | Comparison::Ge if !exact && !negative => Comparison::Gt,
        Comparison::Lt | Comparison::Le if !exact => Comparison::Lt,
        Comparison::Gt | Comparison::Ge if !exact => Comparison::Ge,
        exact => exact,
    };
    let sign = if negative { "-" } else { "" };
    let whole = if whole.is_empty() { "0" } else { whole };
    let point = if kept.is_empty() { "" } else { "." };
    let value = format!("{sign}{whole}{point}{kept}");
    let cast = decimal_type(&value);
    comparison.of(cell, Expr::val(value).cast_as(cast))
}

/// Every number lies on the same side of one with too many digits.
fn beyond_all(cell: Expr, comparison: Comparison, negative: bool) -> Expr {
    let met = match comparison {
        Comparison::Eq => false,
        Comparison::Ne => true,
        Comparison::Lt | Comparison::Le => !negative,
        Comparison::Gt | Comparison::Ge => negative,
    };
    if met { cell.is_not_null() } else { never() }
}

/// The type with room for exactly these digits, which stand without an exponent.
pub(super) fn decimal_type(digits: &str) -> String {
    let unsigned = digits.strip_prefix('-').unwrap_or(digits);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    format!("decimal({},{})", whole.len() + fraction.len(), fraction.len())
}
