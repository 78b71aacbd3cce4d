//! Exact numbers as their digits. Nothing here goes through a binary float, so nothing has a limit.

use std::cmp::Ordering;

/// Whether a text is `-?digits(.digits)?`, the only form that [`super::Value::Decimal`] carries.
#[must_use]
pub fn is_decimal(text: &str) -> bool {
    is_digits_with_point(text.strip_prefix('-').unwrap_or(text))
}

/// Whether a text is a plain number, `[+-]?digits(.digits)?`: what a spreadsheet cannot take for a
/// formula although it begins with a sign.
#[must_use]
pub(crate) fn is_plain_number(text: &str) -> bool {
    is_digits_with_point(text.strip_prefix(['+', '-']).unwrap_or(text))
}

fn is_digits_with_point(text: &str) -> bool {
    match text.split_once('.') {
        Some((whole, fraction)) => is_digits(whole) && is_digits(fraction),
        None => is_digits(text),
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Compares two decimals of any length by value: `1.10` equals `+01.1`, `-0` equals `0`.
///
/// A leading `+`, leading and trailing zeros and a bare point at either end (`.5`, `5.`) are
/// understood, exponents are not. `None` if either is not a number.
#[must_use]
pub fn compare_decimals(left: &str, right: &str) -> Option<Ordering> {
    let (left, right) = (Number::read(left)?, Number::read(right)?);
    Some(match (left.negative, right.negative) {
        (false, false) => left.compare_size(&right),
        (true, true) => right.compare_size(&left),
        (false, true) => Ordering::Greater,
        (true, false) => Ordering::Less,
    })
}

/// Digits without the zeros that say nothing.
struct Number<'a> {
    /// Never for zero.
    negative: bool,
    whole: &'a str,
    fraction: &'a str,
}

impl<'a> Number<'a> {
    fn read(text: &'a str) -> Option<Self> {
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let only_digits = |part: &str| part.is_empty() || is_digits(part);
        if !only_digits(whole) || !only_digits(fraction) || whole.len() + fraction.len() == 0 {
            return None;
        }
        let whole = whole.trim_start_matches('0');
        let fraction = fraction.trim_end_matches('0');
        let zero = whole.is_empty() && fraction.is_empty();
        Some(Self { negative: text.starts_with('-') && !zero, whole, fraction })
    }

    /// Compares without the sign. Fractions of different length compare rightly as text, because
    /// their trailing zeros are gone.
    fn compare_size(&self, other: &Self) -> Ordering {
        let whole = self.whole.len().cmp(&other.whole.len()).then(self.whole.cmp(other.whole));
        whole.then(self.fraction.cmp(other.fraction))
    }
}
