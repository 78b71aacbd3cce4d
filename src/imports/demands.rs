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
        Value::Text(text) => demand.characters.and_then(|most| too_long(text, most)),
        Value::Int(number) => {
            let digits = number.unsigned_abs().checked_ilog10().map_or(1, |digits| digits + 1);
            let whole = demand.whole.and_then(|bounds| beyond(number, bounds));
            whole.or_else(|| demand.digits.and_then(|digits_of| too_many(digits, 0, digits_of)))
        }
        Value::Decimal(text) => decimal(text, demand),
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
    fn fractions_of_seconds_are_never_cut() {
        let code = |nanos, digits| too_fine(nanos, digits).map(|(code, _)| code);
        assert_eq!(code(123_456_000, 6), None);
        assert_eq!(code(123_456_700, 6), Some("too_fine"));
        assert_eq!(code(0, 0), None);
        assert_eq!(code(500_000_000, 0), Some("too_fine"));
        assert_eq!(code(1, 9), None);
    }
}
