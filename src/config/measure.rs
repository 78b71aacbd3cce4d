//! Settings that are numbers: counts, and durations and sizes with their units.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::de::{Deserialize, Deserializer, Visitor};

use crate::error::Problem;

/// A number as it was written, such as `48`, `45s` or `10GiB`. In a file it may be of any simple type,
/// so that a forgotten unit, or quotes that are not needed, are told by the name of the setting.
#[derive(Debug, Clone)]
pub(super) struct Measure(String);

impl FromStr for Measure {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}

impl<'de> Deserialize<'de> for Measure {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Written;

        impl Visitor<'_> for Written {
            type Value = Measure;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "a number, or one with its unit in quotes, such as \"45s\" or \"10GiB\"",
                )
            }

            fn visit_str<E>(self, text: &str) -> Result<Measure, E> {
                Ok(Measure(text.to_owned()))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Measure, E> {
                Ok(Measure(number.to_string()))
            }

            fn visit_f64<E>(self, number: f64) -> Result<Measure, E> {
                Ok(Measure(number.to_string()))
            }

            fn visit_bool<E>(self, truth: bool) -> Result<Measure, E> {
                Ok(Measure(truth.to_string()))
            }
        }

        deserializer.deserialize_any(Written)
    }
}

/// A whole number that was given, or the default; `least` and `most` are taken too.
pub(super) fn count<T: TryFrom<u64> + fmt::Display + Copy>(
    name: &str,
    given: Option<Measure>,
    default: T,
    (least, most): (u64, u64),
    faults: &mut Vec<Problem>,
) -> T {
    let Some(Measure(text)) = given else { return default };
    let number = text.parse().ok().filter(|number| (least..=most).contains(number));
    if let Some(number) = number.and_then(|number| T::try_from(number).ok()) {
        return number;
    }
    let bounds = match most {
        u64::MAX => format!("of at least {least}"),
        most => format!("from {least} to {most}"),
    };
    let detail =
        format!("{name} is {}; it takes a whole number {bounds}, such as {default}", said(&text));
    faults.push(Problem::parameter(name, "not_a_count", &*text, detail));
    default
}

/// What was written, for messages.
fn said(text: &str) -> String {
    if text.is_empty() { "empty".into() } else { format!("\"{text}\"") }
}

/// A duration that must not be 0, for what would come of it, in words behind "so".
pub(super) fn some_time(
    name: &str,
    given: Option<Measure>,
    default: &str,
    otherwise: &str,
    faults: &mut Vec<Problem>,
) -> Duration {
    let before = faults.len();
    let time = duration(name, given, default, faults);
    if time.is_zero() && faults.len() == before {
        faults.push(nothing(name, otherwise, default));
    }
    time
}

/// A size that must not be 0, for what would come of it, in words behind "so".
pub(super) fn some_size(
    name: &str,
    given: Option<Measure>,
    default: &str,
    otherwise: &str,
    faults: &mut Vec<Problem>,
) -> u64 {
    let before = faults.len();
    let size = size(name, given, default, faults);
    if size == 0 && faults.len() == before {
        faults.push(nothing(name, otherwise, default));
    }
    size
}

fn nothing(name: &str, otherwise: &str, default: &str) -> Problem {
    let detail = format!("{name} is 0, so {otherwise}; give more than that, such as {default}");
    Problem::parameter(name, "too_small", "0", detail)
}

/// A duration that was given, or the default.
pub(super) fn duration(
    name: &str,
    given: Option<Measure>,
    default: &str,
    faults: &mut Vec<Problem>,
) -> Duration {
    let text = given.map_or_else(|| default.to_owned(), |given| given.0);
    parse_duration(&text).unwrap_or_else(|| {
        let bare = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let (code, detail) = if bare {
            let detail = format!(
                "{name} is {text} without a unit; write \"{text}s\" for seconds, or another of \
                 ms, s, m, h, d (in a file in quotes)"
            );
            ("no_unit", detail)
        } else {
            let detail = format!(
                "{name} is {}, which is not a duration such as 45s, 10m, 24h or 400d",
                said(&text)
            );
            ("not_a_duration", detail)
        };
        faults.push(Problem::parameter(name, code, &*text, detail));
        Duration::ZERO
    })
}

/// A size in bytes that was given, or the default.
pub(super) fn size(
    name: &str,
    given: Option<Measure>,
    default: &str,
    faults: &mut Vec<Problem>,
) -> u64 {
    let text = given.map_or_else(|| default.to_owned(), |given| given.0);
    parse_size(&text).unwrap_or_else(|| {
        let detail =
            format!("{name} is {}, which is not a size such as 512MiB or 10GiB", said(&text));
        faults.push(Problem::parameter(name, "not_a_size", &*text, detail));
        0
    })
}

/// Reads `250ms`, `45s`, `10m`, `24h`, `400d`.
fn parse_duration(text: &str) -> Option<Duration> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let number: u64 = text[..digits].parse().ok()?;
    match text[digits..].trim_start() {
        "ms" => Some(Duration::from_millis(number)),
        "s" => Some(Duration::from_secs(number)),
        "m" => number.checked_mul(60).map(Duration::from_secs),
        "h" => number.checked_mul(3_600).map(Duration::from_secs),
        "d" => number.checked_mul(86_400).map(Duration::from_secs),
        _ => None,
    }
}

/// Reads `1024`, `64KiB`, `512MiB`, `10GiB`.
fn parse_size(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..digits].parse().ok()?;
    let shift = match text[digits..].trim_start() {
        "" | "B" => 0,
        "KiB" => 10,
        "MiB" => 20,
        "GiB" => 30,
        "TiB" => 40,
        _ => return None,
    };
    number.checked_mul(1 << shift)
}
