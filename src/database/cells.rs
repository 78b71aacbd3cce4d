//! What the sources of rows share: plain number text, JSON checks, and notes on odd cells.

use std::fmt::Write as _;

use super::Unit;
use crate::rows::{Instant, Warning};

/// The part of a place within which a double counts as the decimal it was meant to be: the sum of
/// 0.1 and 0.2 is 0.30, and 0.123 is not 0.12.
const MEANT: f64 = 1e-6;

/// Writes a finite double in digits without an exponent, into an empty buffer: rounded to `scale`
/// digits after the point where that is what it was meant to be, else its shortest digits.
pub(super) fn plain_digits(value: f64, scale: Option<u32>, out: &mut String) -> &str {
    if let Some(scale) = scale {
        let places = scale as usize;
        let _ = write!(out, "{value:.places$}");
        let meant = out.parse::<f64>().is_ok_and(|rounded| {
            (rounded - value).abs()
                <= MEANT * 10_f64.powi(-i32::try_from(scale).unwrap_or(i32::MAX))
        });
        if meant {
            return out;
        }
        out.clear();
    }
    // `{}` prints the shortest digits that read back as the same double, never an exponent.
    let _ = write!(out, "{value}");
    out
}

/// Pads a number with zeros to `scale` digits after the point.
pub(super) fn pad_to_scale(scale: Option<u32>, out: &mut String) {
    let Some(scale) = scale.filter(|scale| *scale > 0) else {
        return;
    };
    let after = out.find('.').map(|point| out.len() - point - 1);
    let held = after.unwrap_or_else(|| {
        out.push('.');
        0
    });
    for _ in held..scale as usize {
        out.push('0');
    }
}

/// Whether `text` is one valid JSON document.
pub(super) fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// The moment that a whole number of units since 1970 stands for.
pub(super) fn counted(value: i64, unit: Option<Unit>) -> Result<Instant, String> {
    let per_second = match unit {
        Some(Unit::Seconds) => 1,
        Some(Unit::Milliseconds) => 1_000,
        Some(Unit::Microseconds) => 1_000_000,
        None => {
            return Err(format!(
                "holds the integer {value}; say what it counts with unit = \"seconds\", \
                 \"milliseconds\" or \"microseconds\" in the definition"
            ));
        }
    };
    let rest = value.rem_euclid(per_second);
    Ok(Instant {
        seconds: value.div_euclid(per_second),
        nanos: u32::try_from(rest * (1_000_000_000 / per_second)).unwrap_or(0),
    })
}

/// Counts, by column, the cells that no format can say and that were written as null.
#[derive(Debug)]
pub(super) struct Unsayable {
    columns: Vec<(String, u64)>,
}

impl Unsayable {
    pub(super) fn new<'a>(keys: impl Iterator<Item = &'a str>) -> Self {
        Self { columns: keys.map(|key| (key.to_owned(), 0)).collect() }
    }

    pub(super) fn note(&mut self, column: usize) {
        if let Some((_, count)) = self.columns.get_mut(column) {
            *count += 1;
        }
    }

    pub(super) fn warnings(self) -> impl Iterator<Item = Warning> {
        self.columns.into_iter().filter(|(_, count)| *count > 0).map(|(key, count)| Warning {
            code: "not_a_finite_value".into(),
            detail: format!(
                "{count} cells of column \"{key}\" are NaN, infinite or dates that no calendar has, \
                     which no output format can say; they were written as null"
            ),
        })
    }
}
