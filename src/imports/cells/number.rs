//! Whole numbers, decimals and floats out of cells. Only floats go through binary arithmetic; of a
//! spreadsheet's number its shortest digits count, which are those that were typed.

use std::fmt::Display;
use std::fmt::Write;

use super::scan::narrowed;
use super::show::{number_text, quoted};
use super::{Beyond, CellFault, Scratch, beyond, holds};
use crate::definitions::{Bounds, NoUnits, to_units, units_text, write_units};
use crate::sheets::Cell;

mod digits;
mod float;

pub(super) use self::float::{float_units, is_inexact, spell, spell_shown};

/// What a column of numbers takes, for its sentences.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    code: &'static str,
    name: &'static str,
    example: &'static str,
}

const INT: Wanted = Wanted { code: "not_an_int", name: "a whole number", example: "1200" };
const DECIMAL: Wanted = Wanted { code: "not_a_decimal", name: "a number", example: "1200.50" };
const FLOAT: Wanted = Wanted { code: "not_a_float", name: "a number", example: "0.25" };

pub(super) fn int(
    cell: Cell<'_>,
    bounds: &Bounds<i64>,
    scratch: &mut Scratch,
) -> Result<i64, CellFault> {
    let value = match cell {
        Cell::Number(number) => {
            let units = float_units(number, 0).map_err(|fault| match fault {
                NoUnits::TooFine => not_whole(&number_text(number)),
                NoUnits::TooLarge => int_range(&number_text(number), number < 0.0, bounds),
                NoUnits::NotANumber => not_a_number(cell, INT),
            })?;
            let value = in_int(units, || number_text(number), bounds)?;
            within(value, bounds, i64::to_string)?;
            return if is_inexact(number) { Err(inexact(number)) } else { Ok(value) };
        }
        Cell::Text(_) | Cell::Digits(_) => {
            let plain = plain(cell, INT, scratch)?;
            let units = to_units(plain, 0).map_err(|fault| match fault {
                NoUnits::TooFine => not_whole(plain),
                NoUnits::TooLarge => int_range(plain, plain.starts_with('-'), bounds),
                NoUnits::NotANumber => not_a_number(cell, INT),
            })?;
            in_int(units, || plain.to_owned(), bounds)?
        }
        Cell::Empty
        | Cell::Serial(_)
        | Cell::Iso(_)
        | Cell::Duration(_)
        | Cell::Bool(_)
        | Cell::Error(_)
        | Cell::Unevaluated
        | Cell::Json(_) => return Err(wrong_kind(cell, INT)),
    };
    within(value, bounds, i64::to_string)?;
    Ok(value)
}

pub(super) fn decimal<'a>(
    cell: Cell<'a>,
    (precision, scale): (u32, u32),
    bounds: &Bounds<i128>,
    scratch: &'a mut Scratch,
) -> Result<&'a str, CellFault> {
    let units = match cell {
        Cell::Number(number) => float_units(number, scale)
            .map_err(|fault| decimal_fault(fault, cell, &number_text(number), precision, scale))?,
        Cell::Text(_) | Cell::Digits(_) => {
            let plain = plain(cell, DECIMAL, scratch)?;
            to_units(plain, scale)
                .map_err(|fault| decimal_fault(fault, cell, plain, precision, scale))?
        }
        Cell::Empty
        | Cell::Serial(_)
        | Cell::Iso(_)
        | Cell::Duration(_)
        | Cell::Bool(_)
        | Cell::Error(_)
        | Cell::Unevaluated
        | Cell::Json(_) => return Err(wrong_kind(cell, DECIMAL)),
    };
    within(units, bounds, |units| units_text(*units, scale))?;
    if units.unsigned_abs() >= 10_u128.pow(precision) {
        return Err(too_many_digits(&units_text(units, scale), units < 0, precision, scale));
    }
    if let Cell::Number(number) = cell
        && is_inexact(number)
    {
        return Err(inexact(number));
    }
    scratch.digits.clear();
    write_units(units, scale, &mut scratch.digits);
    Ok(&scratch.digits)
}

pub(super) fn float(
    cell: Cell<'_>,
    bounds: &Bounds<f64>,
    scratch: &mut Scratch,
) -> Result<f64, CellFault> {
    let value = match cell {
        Cell::Number(number) => Some(number),
        Cell::Digits(digits) => as_float(digits),
        Cell::Text(text) => {
            let narrow = narrowed(text, &mut scratch.narrow);
            // An exponent is how floats are written; one with other signs is read without.
            let plain = Some(narrow).filter(|text| digits::is_scientific(text));
            plain.or_else(|| digits::plain(narrow, &mut scratch.digits).ok()).and_then(as_float)
        }
        Cell::Empty
        | Cell::Serial(_)
        | Cell::Iso(_)
        | Cell::Duration(_)
        | Cell::Bool(_)
        | Cell::Error(_)
        | Cell::Unevaluated
        | Cell::Json(_) => return Err(wrong_kind(cell, FLOAT)),
    };
    let value = value.filter(|value: &f64| value.is_finite());
    let value = value.ok_or_else(|| not_a_number(cell, FLOAT))?;
    within(value, bounds, |value| number_text(*value))?;
    Ok(value)
}

/// The float nearest to a number; none where that is zero and the number is not.
fn as_float(number: &str) -> Option<f64> {
    let mantissa = number.split(['e', 'E']).next().unwrap_or_default();
    let is_zero = !mantissa.bytes().any(|byte| matches!(byte, b'1'..=b'9'));
    number.parse().ok().filter(|float: &f64| *float != 0.0 || is_zero)
}

/// The plain digits of a text or of JSON.
fn plain<'s>(
    cell: Cell<'s>,
    wanted: Wanted,
    scratch: &'s mut Scratch,
) -> Result<&'s str, CellFault> {
    match cell {
        Cell::Digits(text) => {
            digits::expanded(text, &mut scratch.digits).ok_or_else(|| not_a_number(cell, wanted))
        }
        Cell::Text(text) => {
            if digits::is_plain(text) {
                return Ok(text);
            }
            let narrow = narrowed(text, &mut scratch.narrow);
            digits::plain(narrow, &mut scratch.digits)
                .map_err(|fault| unreadable(fault, text, wanted))
        }
        Cell::Empty
        | Cell::Number(_)
        | Cell::Serial(_)
        | Cell::Iso(_)
        | Cell::Duration(_)
        | Cell::Bool(_)
        | Cell::Error(_)
        | Cell::Unevaluated
        | Cell::Json(_) => Err(wrong_kind(cell, wanted)),
    }
}

fn in_int(
    units: i128,
    text: impl FnOnce() -> String,
    bounds: &Bounds<i64>,
) -> Result<i64, CellFault> {
    i64::try_from(units).map_err(|_| int_range(&text(), units < 0, bounds))
}

/// The fault of a number beyond 64 bits, by the bound that it passes first.
fn int_range(text: &str, negative: bool, bounds: &Bounds<i64>) -> CellFault {
    if negative {
        passes(text, &Beyond::Min(bounds.min.unwrap_or(i64::MIN)), i64::to_string)
    } else {
        passes(text, &Beyond::Max(bounds.max.unwrap_or(i64::MAX)), i64::to_string)
    }
}

fn within<T: PartialOrd + Copy>(
    value: T,
    bounds: &Bounds<T>,
    text: impl Fn(&T) -> String,
) -> Result<(), CellFault> {
    match beyond(value, bounds) {
        None => Ok(()),
        Some(bound) => Err(passes(text(&value), &bound, text)),
    }
}

fn passes<T>(value: impl Display, bound: &Beyond<T>, text: impl Fn(&T) -> String) -> CellFault {
    let (code, detail) = match bound {
        Beyond::Min(min) => {
            ("too_small", format!("{value} is less than {}, the least that is taken", text(min)))
        }
        Beyond::Max(max) => {
            ("too_large", format!("{value} is more than {}, the most that is taken", text(max)))
        }
    };
    CellFault::new(code, format!("{detail}; correct the number"))
}

fn decimal_fault(
    fault: NoUnits,
    cell: Cell<'_>,
    text: &str,
    precision: u32,
    scale: u32,
) -> CellFault {
    match fault {
        NoUnits::NotANumber => not_a_number(cell, DECIMAL),
        NoUnits::TooFine if scale == 0 => not_whole(text),
        NoUnits::TooFine => CellFault::new(
            "too_many_decimals",
            format!(
                "{text} has more than the {scale} digits after the point that the column keeps; round it"
            ),
        ),
        NoUnits::TooLarge => too_many_digits(text, text.starts_with('-'), precision, scale),
    }
}

fn too_many_digits(text: &str, negative: bool, precision: u32, scale: u32) -> CellFault {
    let before = precision.saturating_sub(scale);
    let code = if negative { "too_small" } else { "too_large" };
    let detail = format!(
        "{text} has more than the {before} digits before the point that the column keeps; correct the \
         number"
    );
    CellFault::new(code, detail)
}

fn not_whole(text: &str) -> CellFault {
    let fraction = text.split_once('.').map_or("", |(_, fraction)| fraction);
    let detail = format!(
        "{text} is not a whole number: it has the fraction 0.{fraction}; round it, or take the \
         fraction off"
    );
    CellFault::new("not_whole", detail)
}

pub(super) fn inexact(number: f64) -> CellFault {
    let detail = format!(
        "{} is longer than a spreadsheet can keep: it drops the digits after the fifteenth; format the \
         cell as text and type all digits again",
        number_text(number)
    );
    CellFault::new("inexact_number", detail)
}

fn not_a_number(cell: Cell<'_>, wanted: Wanted) -> CellFault {
    let value = quoted(&super::display(cell));
    let Wanted { code, name, example } = wanted;
    let detail = format!("{value} is not {name}; write digits alone, such as {example}");
    CellFault::new(code, detail)
}

fn wrong_kind(cell: Cell<'_>, wanted: Wanted) -> CellFault {
    let Wanted { code, name, example } = wanted;
    let detail = format!(
        "the cell holds {}, where {name} is taken; format the cell as a number and type the number, \
         such as {example}",
        holds(cell)
    );
    CellFault::new(code, detail)
}

/// Why a text is no plain number, with what is to be done about it.
fn unreadable(fault: digits::Unreadable, text: &str, wanted: Wanted) -> CellFault {
    let value = quoted(text);
    let mut detail = String::new();
    let Wanted { code, name, example } = wanted;
    // Writing to a text cannot fail.
    let (code, _) = match fault {
        digits::Unreadable::Percent => (
            "percent",
            write!(
                detail,
                "{value} is a percentage, which can mean two numbers; write the number \
                    that is to be stored, without the sign"
            ),
        ),
        digits::Unreadable::Exponent => (
            "shortened_number",
            write!(
                detail,
                "{value} is how a spreadsheet shortens a long number, and its last digits \
                    may be lost; format the column as a number without decimals, save the file again, \
                    and see that all digits are there"
            ),
        ),
        digits::Unreadable::Triangle => (
            code,
            write!(
                detail,
                "{value} is not {name}: a triangle means less than nothing to some and a rise \
                    or fall to others; write a minus sign, such as -{example}"
            ),
        ),
        digits::Unreadable::Groups => (
            code,
            write!(
                detail,
                "{value} is not {name}: commas stand between groups of three digits, and the \
                    decimals behind one point; write it without commas, such as {example}"
            ),
        ),
        digits::Unreadable::Other => {
            (code, write!(detail, "{value} is not {name}; write digits alone, such as {example}"))
        }
    };
    CellFault::new(code, detail)
}
