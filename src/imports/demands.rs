//! Values that a definition takes and the table that they go into would not, or not as they are.

use super::cells::CellFault;
use crate::database::Demand;
use crate::definitions::Field;
use crate::rows::Value;

/// Gives a value back that its column takes as it is.
///
/// # Errors
/// What the column has against it.
pub(super) fn meet<'v>(
    field: &Field,
    value: Value<'v>,
    demand: &Demand,
) -> Result<Value<'v>, CellFault> {
    let fault = match value {
        Value::Null if demand.needed => Some(("required", "must be filled in".to_owned())),
        Value::Text(text) => {
            let long = demand.characters.and_then(|most| too_long(text, most));
            let large = long.or_else(|| demand.bytes.and_then(|most| too_large(text, most)));
            large.or_else(|| demand.binary.then(|| made_a_number(text)).flatten())
        }
        Value::Int(number) => {
            let digits = number.unsigned_abs().checked_ilog10().map_or(1, |digits| digits + 1);
            let whole = demand.whole.and_then(|bounds| beyond(number, bounds));
            whole.or_else(|| demand.digits.and_then(|digits_of| too_many(digits, 0, digits_of)))
        }
        Value::Decimal(text) => decimal(text, demand),
        // Its shortest digits, which never have an exponent here.
        Value::Float(number) if demand.whole.is_some() || demand.digits.is_some() => {
            decimal(&number.to_string(), demand)
        }
        Value::Time(_) if demand.part_of_moment => Some((
            "not_kept",
            "is a moment, and its column keeps a day or a time of day alone; have whoever runs the \
             server correct the column's type in the definition"
                .to_owned(),
        )),
        Value::Time(at) => demand.fraction.and_then(|digits| too_fine(at.nanos, digits)),
        Value::Null
        | Value::Bool(_)
        | Value::Float(_)
        | Value::Real(_)
        | Value::Date(_)
        | Value::Json(_) => None,
    };
    match fault {
        None => Ok(value),
        Some((code, detail)) => {
            let detail =
                format!("\"{}\" {detail}, as the table that it goes into has it", field.title);
            Err(CellFault { code, detail })
        }
    }
}

/// Decimal digits that a binary number keeps whatever they are.
const BINARY_DIGITS: usize = 15;

type Said = (&'static str, String);

fn too_long(text: &str, most: usize) -> Option<Said> {
    // A text has no more characters than bytes.
    if text.len() <= most {
        return None;
    }
    let length = text.chars().count();
    (length > most).then(|| {
        let by = length - most;
        ("too_long", format!("takes {most} characters and has {length}; shorten it by {by}"))
    })
}

fn too_large(text: &str, most: usize) -> Option<Said> {
    (text.len() > most).then(|| {
        let detail = format!("takes {most} bytes of UTF-8 and has {}; shorten it", text.len());
        ("too_long", detail)
    })
}

/// Has something against a text that SQLite would take for a number, and write as one.
fn made_a_number(text: &str) -> Option<Said> {
    let number = text.trim().parse::<f64>().is_ok_and(f64::is_finite);
    let same = text.parse::<i64>().is_ok_and(|whole| whole.to_string() == text);
    (number && !same).then(|| {
        let detail = "would become a number that is written otherwise; have whoever runs the server \
                      make the column a text";
        ("not_kept", detail.to_owned())
    })
}

fn beyond(number: i64, (least, most): (i64, i64)) -> Option<Said> {
    if number < least {
        return Some(("too_small", format!("takes numbers from {least} on")));
    }
    (number > most).then(|| ("too_large", format!("takes numbers up to {most}")))
}

/// Has something against a number with so many digits before and after the point.
fn too_many(before: u32, after: u32, (precision, scale): (u32, u32)) -> Option<Said> {
    if after > scale {
        let takes = match scale {
            0 => "takes whole numbers".to_owned(),
            scale => format!("takes {scale} digits behind the point"),
        };
        return Some(("too_many_decimals", format!("{takes} and has {after}; round it")));
    }
    let most = precision.saturating_sub(scale);
    (before > most).then(|| ("too_large", format!("takes {most} digits before the point")))
}

fn decimal(text: &str, demand: &Demand) -> Option<Said> {
    let plain = text.trim_start_matches('-');
    let (before, after) = plain.split_once('.').unwrap_or((plain, ""));
    let (before, after) = (before.trim_start_matches('0'), after.trim_end_matches('0'));
    let digits = |text: &str| u32::try_from(text.len()).unwrap_or(u32::MAX);
    if let Some(bounds) = demand.whole {
        let whole = too_many(0, digits(after), (0, 0));
        return whole.or_else(|| {
            let sign = if text.starts_with('-') { "-" } else { "" };
            let number = format!("{sign}0{before}").parse();
            beyond(number.unwrap_or(if sign.is_empty() { i64::MAX } else { i64::MIN }), bounds)
        });
    }
    // Of a binary number so many are kept, whatever they are.
    let significant = format!("{before}{after}");
    let significant = significant.trim_matches('0').len();
    if demand.binary && significant > BINARY_DIGITS {
        let detail = format!(
            "has {significant} digits, and its column keeps {BINARY_DIGITS}; have whoever runs the \
             server make the column a text"
        );
        return Some(("not_kept", detail));
    }
    too_many(digits(before), digits(after), demand.digits?)
}

fn too_fine(nanos: u32, digits: u32) -> Option<Said> {
    let unit = 10_u32.checked_pow(9_u32.checked_sub(digits)?)?;
    (!nanos.is_multiple_of(unit)).then(|| {
        let takes = match digits {
            0 => "takes whole seconds".to_owned(),
            digits => format!("takes {digits} digits behind the second"),
        };
        ("too_fine", format!("{takes}; leave the rest of the fraction out"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_held_to_the_digits_of_their_column() {
        let digits = |digits| Demand { digits: Some(digits), ..Demand::default() };
        let code = |text, demand: &Demand| decimal(text, demand).map(|(code, _)| code);
        let demand = digits((5, 2));
        for good in ["0", "0.00", "-999.99", "000123.450", "999", "-0.5"] {
            assert_eq!(code(good, &demand), None, "{good}");
        }
        assert_eq!(code("1000", &demand), Some("too_large"));
        assert_eq!(code("-1000.00", &demand), Some("too_large"));
        assert_eq!(code("0.001", &demand), Some("too_many_decimals"));
        assert_eq!(code("1.5", &digits((5, 0))), Some("too_many_decimals"));
        assert_eq!(code("123456789.123", &Demand::default()), None);
        let whole = Demand { whole: Some((-128, 127)), ..Demand::default() };
        assert_eq!(code("-128.0", &whole), None);
        assert_eq!(code("128", &whole), Some("too_large"));
        assert_eq!(code("-99999999999999999999999", &whole), Some("too_small"));
        assert_eq!(code("99999999999999999999999", &whole), Some("too_large"));
        assert_eq!(code("0.5", &whole), Some("too_many_decimals"));
    }

    #[test]
    fn what_sqlite_would_make_a_binary_number_of_stays_what_it_is() {
        let binary = Demand { binary: true, ..Demand::default() };
        let code = |text| decimal(text, &binary).map(|(code, _)| code);
        assert_eq!(code("9999999999999.99"), None);
        assert_eq!(code("-0.000123"), None);
        assert_eq!(code("99999999999999.99"), Some("not_kept"));
        assert_eq!(code("9007199254740993"), Some("not_kept"));
        for kept in ["7", "-7", "A-7", "", "1,000"] {
            assert_eq!(made_a_number(kept), None, "{kept}");
        }
        for lost in ["007", "1e5", "1.50", "+7", " 7"] {
            assert!(made_a_number(lost).is_some(), "{lost}");
        }
    }

    #[test]
    fn fractions_of_seconds_are_never_cut() {
        let code = |nanos, digits| too_fine(nanos, digits).map(|(code, _)| code);
        assert_eq!(code(123_456_000, 6), None);
        assert_eq!(code(123_456_700, 6), Some("too_fine"));
        assert_eq!(code(0, 0), None);
        assert_eq!(code(500_000_000, 0), Some("too_fine"));
        assert_eq!(code(1, 9), None);
    }
}
