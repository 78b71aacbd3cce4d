//! Exact numbers of a known scale as whole numbers of the last digit's units: with a scale of 2,
//! `1500.5` is 150050. Nothing here goes through a binary float.

use std::fmt::Write;

/// The most digits that units are counted with; the next power of ten is beyond 128 bits.
pub const MOST_DIGITS: u32 = 38;

/// Why digits are no number of units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoUnits {
    /// It is not `[+-]?digits(.digits)?`.
    NotANumber,
    /// Digits other than zero stand beyond the scale.
    TooFine,
    /// It has more than [`MOST_DIGITS`] digits.
    TooLarge,
}

/// The units of plain digits.
///
/// # Errors
/// [`NoUnits`], in the order of its variants.
pub fn to_units(text: &str, scale: u32) -> Result<i128, NoUnits> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (whole, fraction) = match unsigned.split_once('.') {
        Some((whole, fraction)) if !fraction.is_empty() => (whole, fraction),
        Some(_) => return Err(NoUnits::NotANumber),
        None => (unsigned, ""),
    };
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) {
        return Err(NoUnits::NotANumber);
    }
    let kept = fraction.len().min(scale as usize);
    let (fraction, finer) = fraction.split_at(kept);
    if finer.bytes().any(|byte| byte != b'0') {
        return Err(NoUnits::TooFine);
    }
    let missing = scale as usize - kept;
    let zeros = std::iter::repeat_n(b'0', missing);
    let units = units(whole.bytes().chain(fraction.bytes()).chain(zeros))?;
    Ok(if text.starts_with('-') { -units } else { units })
}

/// Counts in 64 bits as long as they last.
fn units(mut digits: impl Iterator<Item = u8>) -> Result<i128, NoUnits> {
    const LIMIT: i128 = 10_i128.pow(MOST_DIGITS);
    let small = digits.by_ref().skip_while(|digit| *digit == b'0').take(18);
    let small = small.fold(0_u64, |units, digit| units * 10 + u64::from(digit - b'0'));
    digits.try_fold(i128::from(small), |units, digit| {
        let units = units.checked_mul(10).and_then(|tens| tens.checked_add((digit - b'0').into()));
        units.filter(|units| *units < LIMIT).ok_or(NoUnits::TooLarge)
    })
}

/// Appends units as digits with exactly `scale` of them after the point: `-0.05` for -5 of two.
pub fn write_units(units: i128, scale: u32, out: &mut String) {
    if units < 0 {
        out.push('-');
    }
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(units.unsigned_abs());
    let scale = scale as usize;
    if digits.len() > scale {
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        out.push_str(whole);
        if scale > 0 {
            out.push('.');
        }
        out.push_str(fraction);
    } else {
        // Writing to a text cannot fail.
        let _ = write!(out, "0.{digits:0>scale$}");
    }
}

/// [`write_units`] into a text of its own.
#[must_use]
pub fn units_text(units: i128, scale: u32) -> String {
    let mut text = String::new();
    write_units(units, scale, &mut text);
    text
}
