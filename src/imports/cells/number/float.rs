//! A spreadsheet's numbers, which are binary floats: their shortest digits, as units of a scale and as
//! text. The shortest digits that mean a float are those that were typed, up to fifteen of them.

use std::fmt::Write;

use super::digits::place_point;
use crate::definitions::{MOST_DIGITS, NoUnits};

/// 2^53: from here on not every whole number is a float.
const INEXACT: f64 = 9_007_199_254_740_992.0;
/// A float counts as the number that it is less than a unit of the last digit by this divisor from.
const NEAR: u128 = 1_000_000;
/// Significant digits that spreadsheets show.
const SHOWN: u64 = 1_000_000_000_000_000;

/// Whether whole numbers of this size may differ from what was typed.
pub(in crate::imports::cells) fn is_inexact(number: f64) -> bool {
    number.abs() >= INEXACT
}

/// The units of a float with a scale.
pub(in crate::imports::cells) fn float_units(number: f64, scale: u32) -> Result<i128, NoUnits> {
    let whole = number.trunc();
    #[expect(clippy::float_cmp, reason = "whether it has a fraction is exact")]
    if whole == number && !is_inexact(number) {
        #[expect(clippy::cast_possible_truncation, reason = "whole, and below 2^53")]
        let whole = i128::from(number as i64);
        return whole.checked_mul(10_i128.pow(scale)).ok_or(NoUnits::TooLarge);
    }
    let shortest = Shortest::of(number).ok_or(NoUnits::NotANumber)?;
    let units = shortest.units(scale)?;
    Ok(if number < 0.0 { -units } else { units })
}

/// Appends a float in plain digits, as many as it takes to mean it.
pub(in crate::imports::cells) fn spell(number: f64, out: &mut String) {
    match Shortest::of(number) {
        Some(shortest) => shortest.spell(number < 0.0, out),
        None => out.push_str("NaN"),
    }
}

/// Appends a float in plain digits as a spreadsheet shows it: a whole one with all of them, one with a
/// fraction with fifteen.
pub(in crate::imports::cells) fn spell_shown(number: f64, out: &mut String) {
    let Some(shortest) = Shortest::of(number) else {
        return out.push_str("NaN");
    };
    if shortest.mantissa < SHOWN || shortest.exponent >= 0 {
        return shortest.spell(number < 0.0, out);
    }
    // Rounded in decimal, from the float itself, in the room that its digits will take.
    let start = out.len();
    let _ = write!(out, "{number:.14e}");
    let rounded = out.get(start..).and_then(Shortest::read).unwrap_or(shortest);
    out.truncate(start);
    rounded.spell(number < 0.0, out);
}

/// The size of a float as a whole number times a power of ten; no digit can be taken off.
#[derive(Debug, Clone, Copy)]
struct Shortest {
    mantissa: u64,
    exponent: i32,
}

impl Shortest {
    fn of(number: f64) -> Option<Self> {
        let finite = number.is_finite();
        finite.then(|| Self::read(zmij::Buffer::new().format_finite(number))).flatten()
    }

    /// Reads `-1.5e-7`.
    fn read(text: &str) -> Option<Self> {
        let unsigned = text.strip_prefix('-').unwrap_or(text);
        let (digits, exponent) = unsigned.split_once('e').unwrap_or((unsigned, "0"));
        let mut exponent: i32 = exponent.parse().ok()?;
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let fraction = fraction.trim_end_matches('0');
        exponent -= i32::try_from(fraction.len()).ok()?;
        let mut mantissa =
            whole.bytes().chain(fraction.bytes()).try_fold(0_u64, |all, digit| {
                all.checked_mul(10)?.checked_add(u64::from(digit.wrapping_sub(b'0')))
            })?;
        while mantissa != 0 && mantissa.is_multiple_of(10) {
            mantissa /= 10;
            exponent += 1;
        }
        Some(Self { mantissa, exponent })
    }

    fn units(self, scale: u32) -> Result<i128, NoUnits> {
        let shift = self.exponent + scale.cast_signed();
        let power = |exponent| (exponent <= MOST_DIGITS).then(|| 10_u128.pow(exponent));
        let mantissa = u128::from(self.mantissa);
        let Some(divisor) = power(shift.unsigned_abs()) else {
            return if shift > 0 && mantissa > 0 { Err(NoUnits::TooLarge) } else { Ok(0) };
        };
        let units = if shift >= 0 {
            mantissa.checked_mul(divisor).ok_or(NoUnits::TooLarge)?
        } else {
            let (whole, rest) = (mantissa / divisor, mantissa % divisor);
            // The rest is below 2^64 or, like the divisor, far below 2^128 / NEAR.
            let near = |rest: u128| rest.checked_mul(NEAR).is_some_and(|rest| rest < divisor);
            match (near(rest), near(divisor - rest)) {
                (true, _) => whole,
                (false, true) => whole + 1,
                (false, false) => return Err(NoUnits::TooFine),
            }
        };
        i128::try_from(units).map_err(|_| NoUnits::TooLarge)
    }

    fn spell(self, negative: bool, out: &mut String) {
        if negative && self.mantissa != 0 {
            out.push('-');
        }
        let mut buffer = itoa::Buffer::new();
        let digits = buffer.format(self.mantissa);
        let point = i64::try_from(digits.len()).unwrap_or(0) + i64::from(self.exponent);
        place_point(digits.bytes(), digits.len(), point, out);
    }
}
