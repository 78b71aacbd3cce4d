//! What may stand in a column of an import: lengths, patterns, choices, least and greatest values,
//! each in the terms of the column's type.

use std::fmt::Debug;

use jiff::tz::TimeZone;
use regex::RegexBuilder;

use super::columns::zone;
use crate::definitions::fault::Faults;
use crate::definitions::import::{Bounds, Pattern, Takes};
use crate::definitions::reader::{Part, Spot};
use crate::definitions::units::{MOST_DIGITS, NoUnits, to_units};
use crate::rows::{Date, Instant, Kind, parse_date, parse_time};

/// The words for types, in the order that messages list them.
pub(super) const KINDS: [(&str, Kind); 7] = [
    (Kind::Text.word(), Kind::Text),
    (Kind::Int.word(), Kind::Int),
    (Kind::Decimal.word(), Kind::Decimal),
    (Kind::Float.word(), Kind::Float),
    (Kind::Bool.word(), Kind::Bool),
    (Kind::Date.word(), Kind::Date),
    (Kind::Time.word(), Kind::Time),
];
/// More characters than the largest cell has.
const LONGEST: u64 = 1_000_000;
/// The most digits after a point, as MySQL has them.
const MOST_SCALE: u64 = 30;
/// Bytes that a compiled pattern may take.
const PATTERN_SIZE: usize = 1 << 20;

/// What the column takes; `None` where that cannot be known for a fault.
pub(super) fn takes(part: &Part<'_>, kind: Kind, faults: &mut Faults<'_>) -> Option<Takes> {
    Some(match kind {
        Kind::Text | Kind::Json => text(part, faults),
        Kind::Int => Takes::Int(bounds(part, "0", faults, int)),
        Kind::Decimal => return decimal(part, faults),
        Kind::Float => Takes::Float(bounds(part, "0.0", faults, float)),
        Kind::Bool => Takes::Bool,
        Kind::Date => Takes::Date(bounds(part, "2026-01-31", faults, date)),
        Kind::Time => {
            let zone = zone(part, faults).map(|zone| zone.value);
            let rules = zone.as_ref().map(|zone| zone.rules.clone());
            let read = |text: &str| time(text, rules.as_ref());
            let bounds = bounds(part, "2026-01-31T00:00:00+09:00", faults, read);
            Takes::Time { zone, bounds }
        }
    })
}

fn text(part: &Part<'_>, faults: &mut Faults<'_>) -> Takes {
    let length = part.whole("max_length", (1, LONGEST), faults);
    let length = length.and_then(|length| usize::try_from(length.value).ok());
    let pattern = pattern(part, faults);
    let mut one_of: Vec<String> = Vec::new();
    for choice in part.texts("one_of", faults) {
        let text = &choice.value;
        if one_of.contains(text) {
            let message = format!("\"one_of\" has \"{text}\" twice");
            faults.at(choice.at, message, "take the second one out");
            continue;
        }
        if length.is_some_and(|length| text.chars().count() > length) {
            faults.at(
                choice.at,
                format!("\"one_of\" has \"{text}\", which is longer than max_length"),
                "take it out, or make max_length greater",
            );
        }
        if pattern.as_ref().is_some_and(|pattern| !pattern.whole.is_match(text)) {
            faults.at(
                choice.at,
                format!("\"one_of\" has \"{text}\", which the pattern does not match"),
                "take the pattern out: the choices say enough",
            );
        }
        one_of.push(choice.value);
    }
    Takes::Text { max_length: length, pattern, one_of }
}

fn pattern(part: &Part<'_>, faults: &mut Faults<'_>) -> Option<Pattern> {
    let hint = part.text("pattern_hint", faults);
    let source = part.text("pattern", faults);
    if let (None, Some(hint), None) = (part.place("pattern"), &hint, &source) {
        faults.at(hint.at, "there is a pattern_hint and no pattern", "add pattern = '…'");
    }
    let source = source?;
    let compiled = |text: &str| RegexBuilder::new(text).size_limit(PATTERN_SIZE).build();
    // By itself first, so that its brackets are its own.
    let whole =
        compiled(&source.value).and_then(|_| compiled(&format!(r"\A(?:{})\z", source.value)));
    match whole {
        Ok(whole) => {
            Some(Pattern { source: source.value, hint: hint.map(|hint| hint.value), whole })
        }
        Err(error) => {
            let error = error.to_string();
            let reason = error.lines().last().unwrap_or_default().trim_start_matches("error: ");
            faults.at(
                source.at,
                format!("\"pattern\" is no regular expression: {reason}"),
                "mend it, and put it in single quotes, where backslashes stand for themselves",
            );
            None
        }
    }
}

fn decimal(part: &Part<'_>, faults: &mut Faults<'_>) -> Option<Takes> {
    for (key, example) in [("precision", 15), ("scale", 2)] {
        if part.place(key).is_none() {
            faults.at(
                part.at(),
                format!("a decimal column has no \"{key}\""),
                format!("add one, for example {key} = {example}"),
            );
        }
    }
    let precision = part.whole("precision", (1, MOST_DIGITS.into()), faults);
    let scale = part.whole("scale", (0, MOST_SCALE), faults)?;
    let precision = precision?;
    if scale.value > precision.value {
        faults.at(
            scale.at,
            format!("\"scale\" is {} and \"precision\" {}", scale.value, precision.value),
            "write as precision how many digits there are in all, before and after the point",
        );
        return None;
    }
    let small = |spot: &Spot<u64>| u32::try_from(spot.value).ok();
    let (precision, scale) = (small(&precision)?, small(&scale)?);
    let read = |text: &str| {
        let units = to_units(text, scale).map_err(|fault| match fault {
            NoUnits::NotANumber => "is not a number in digits with a point".to_owned(),
            NoUnits::TooFine => format!("has more than {scale} digits after the point"),
            NoUnits::TooLarge => format!("has more than {precision} digits"),
        })?;
        let within = units.unsigned_abs() < 10_u128.pow(precision);
        within.then_some(units).ok_or_else(|| format!("has more than {precision} digits"))
    };
    let bounds = bounds(part, "0", faults, read);
    Some(Takes::Decimal { precision, scale, bounds })
}

/// `min` and `max`, as `read` understands them or says why not.
fn bounds<T: PartialOrd + Copy + Debug>(
    part: &Part<'_>,
    example: &str,
    faults: &mut Faults<'_>,
    read: impl Fn(&str) -> Result<T, String>,
) -> Bounds<T> {
    let mut bound = |key: &str| {
        let written = part.written(key, example, faults)?;
        match read(written.value.trim()) {
            Ok(value) => Some((value, written)),
            Err(reason) => {
                faults.at(
                    written.at,
                    format!("\"{key}\" is {}, which {reason}", written.value),
                    format!("write it such as {key} = {example}"),
                );
                None
            }
        }
    };
    let (min, max) = (bound("min"), bound("max"));
    if let (Some((least, min)), Some((most, max))) = (&min, &max)
        && least > most
    {
        faults.at(
            max.at,
            format!("\"min\" is {} and \"max\" {}: nothing lies between", min.value, max.value),
            "exchange them",
        );
    }
    Bounds { min: min.map(|(min, _)| min), max: max.map(|(max, _)| max) }
}

fn int(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| "is not a whole number of at most 64 bits".to_owned())
}

fn float(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| "is not a finite number".to_owned())
}

fn date(text: &str) -> Result<Date, String> {
    let date = parse_date(text).ok().filter(|date| (1..=9999).contains(&date.ymd().0));
    date.ok_or_else(|| "is not a date of the years 0001 to 9999".to_owned())
}

/// Without an offset it needs the column's zone: that of the server is not known here.
fn time(text: &str, zone: Option<&TimeZone>) -> Result<Instant, String> {
    let clock = text.get(10..).unwrap_or_default();
    if zone.is_none() && !clock.contains(['Z', 'z', '+', '-']) {
        return Err("has no offset from UTC, and the column no zone".to_owned());
    }
    parse_time(text, zone).map_err(|_| "is not a time".to_owned())
}
