//! Texts of numbers → plain digits, `-?digits(.digits)?`.

use crate::imports::cells::scan::Rest;
use crate::rows::is_decimal;

/// The largest exponent that is written out; what is beyond it is too large or too fine for any column.
const LARGEST_EXPONENT: i32 = 100;

/// Why a text is no plain number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// A number with `%` behind it.
    Percent,
    /// A number with an exponent.
    Exponent,
    /// A number with a triangle before it, as bookkeepers have it for a minus sign.
    Triangle,
    /// Digits, commas and points in other places than they belong.
    Groups,
    /// Anything else.
    Other,
}

/// Whether a text is plain digits already.
pub(super) fn is_plain(text: &str) -> bool {
    is_decimal(text)
}

/// Whether a text is digits with an exponent, `1.5e-7`.
pub(super) fn is_scientific(text: &str) -> bool {
    let (mantissa, exponent) = split_exponent(text);
    let mantissa = mantissa.strip_prefix('+').unwrap_or(mantissa);
    exponent.is_some() && is_decimal(mantissa)
}

/// The digits before an exponent, and the exponent as a number where there is one.
fn split_exponent(text: &str) -> (&str, Option<i32>) {
    let Some((mantissa, exponent)) = text.split_once(['e', 'E']) else {
        return (text, None);
    };
    let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    let sound = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    // An exponent beyond 32 bits is as good as the greatest.
    let end = if exponent.starts_with('-') { i32::MIN } else { i32::MAX };
    (mantissa, sound.then(|| exponent.parse().unwrap_or(end)))
}

/// The number of a text whose signs are plain ones.
pub(super) fn plain<'s>(text: &str, digits: &'s mut String) -> Result<&'s str, Unreadable> {
    let (negative, number) = unsigned(text).ok_or_else(|| reason(text))?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let sound = is_grouped(whole) || (whole.is_empty() && !fraction.is_empty());
    if !sound || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(reason(text));
    }
    digits.clear();
    if negative {
        digits.push('-');
    }
    if whole.is_empty() {
        digits.push('0');
    }
    digits.extend(whole.chars().filter(|char| *char != ','));
    if !fraction.is_empty() {
        digits.push('.');
        digits.push_str(fraction);
    }
    Ok(digits)
}

/// Takes brackets, one sign and the signs of the won off.
fn unsigned(text: &str) -> Option<(bool, &str)> {
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    let mut rest = Rest(inner.unwrap_or(text).trim_matches(' '));
    let (mut sign, mut won) = (inner.map(|_| '-'), false);
    loop {
        if let Some(found) = rest.one_of(&['+', '-']) {
            if sign.replace(found).is_some() {
                return None;
            }
        } else if rest.one_of(&['₩', '\\']).is_some() {
            if std::mem::replace(&mut won, true) {
                return None;
            }
        } else {
            break;
        }
        rest.spaces();
    }
    let number = rest.0.strip_suffix('원').unwrap_or(rest.0).trim_end_matches(' ');
    Some((sign == Some('-'), number))
}

/// Digits, or one to three of them and groups of three behind commas.
fn is_grouped(whole: &str) -> bool {
    let digits = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    let mut groups = whole.split(',');
    let first = groups.next().unwrap_or_default();
    let alone = first.len() == whole.len();
    !first.is_empty()
        && digits(first)
        && (alone || first.len() <= 3)
        && groups.all(|group| group.len() == 3 && digits(group))
}

fn reason(text: &str) -> Unreadable {
    if text.strip_suffix('%').is_some_and(is_numeric) {
        Unreadable::Percent
    } else if text.strip_prefix(['△', '▲', '▵', '▴']).is_some_and(is_numeric) {
        Unreadable::Triangle
    } else if is_scientific(text) {
        Unreadable::Exponent
    } else if text.contains([',', '.']) && is_numeric(text) {
        Unreadable::Groups
    } else {
        Unreadable::Other
    }
}

/// Whether a text has digits and nothing that is foreign to a number.
fn is_numeric(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_digit() || b",. -+()".contains(&byte))
}

/// The digits of a JSON number with its exponent written out.
pub(super) fn expanded<'s>(text: &'s str, digits: &'s mut String) -> Option<&'s str> {
    if is_decimal(text) {
        return Some(text);
    }
    let (mantissa, exponent) = split_exponent(text);
    let exponent = exponent?.clamp(-LARGEST_EXPONENT, LARGEST_EXPONENT);
    if !is_decimal(mantissa) {
        return None;
    }
    let unsigned = mantissa.strip_prefix('-').unwrap_or(mantissa);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    digits.clear();
    if mantissa.starts_with('-') {
        digits.push('-');
    }
    let point = i64::try_from(whole.len()).ok()? + i64::from(exponent);
    place_point(whole.bytes().chain(fraction.bytes()), whole.len() + fraction.len(), point, digits);
    Some(digits)
}

/// Appends `count` digits with the point behind the first `point` of them, and zeros where that lies
/// outside of them.
pub(super) fn place_point(
    digits: impl Iterator<Item = u8>,
    count: usize,
    point: i64,
    out: &mut String,
) {
    if point <= 0 {
        out.push_str("0.");
        out.extend((point..0).map(|_| '0'));
        out.extend(digits.map(char::from));
        return;
    }
    let point = usize::try_from(point).unwrap_or(usize::MAX);
    for (place, digit) in digits.enumerate() {
        if place == point {
            out.push('.');
        }
        out.push(char::from(digit));
    }
    out.extend((count..point).map(|_| '0'));
}
