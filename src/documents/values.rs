//! What a template's pointers find in a row, as text; what they do not find, or find to be something
//! else, in words.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use crate::definitions::{
    Bit, Feed, MOST_DIGITS, NumberFormat, Pointer, Show, Wording, to_units, units_text,
};
use crate::json::Node;
use crate::rows::{is_decimal, parse_date};

/// Why a document cannot be rendered: the field, the pointer, and what is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unfit(pub(super) String);

/// The text of a value that `what` needs. `whole` is what the pointer leads into, and stands at `place`
/// of the row, which is empty for the row itself.
pub(super) fn shown(
    feed: &Feed,
    what: &str,
    whole: &Node<'_>,
    place: &str,
) -> Result<String, Unfit> {
    if let Some(rows) = &feed.sum {
        return sum(feed, rows, what, whole);
    }
    let at = || format!("{what} at {place}{}", feed.pointer);
    match whole.find(feed.pointer.steps()) {
        None | Some(Node::Null) if feed.optional => Ok(String::new()),
        None => Err(Unfit(format!("{} is missing", at()))),
        Some(Node::Null) => Err(Unfit(format!("{} is null", at()))),
        Some(node) => show(&feed.show, node)
            .map(Cow::into_owned)
            .map_err(|wanted| Unfit(format!("{} is {}, and must be {wanted}", at(), said(node)))),
    }
}

/// The sum of what is found in the elements of an array, exact.
fn sum(feed: &Feed, rows: &Pointer, what: &str, row: &Node<'_>) -> Result<String, Unfit> {
    let elements = list(rows, feed.optional, what, row)?;
    let plain = Feed { sum: None, show: Show::Number(NumberFormat::default()), ..feed.clone() };
    let mut numbers = Vec::with_capacity(elements.len());
    for (index, element) in elements.iter().enumerate() {
        numbers.push(shown(&plain, what, element, &format!("{rows}/{index}"))?);
    }
    // What may be missing, adds nothing.
    numbers.retain(|number| !number.is_empty());
    let decimals = |number: &String| number.split_once('.').map_or(0, |(_, digits)| digits.len());
    let scale = numbers.iter().map(decimals).max().unwrap_or(0);
    let scale = u32::try_from(scale).unwrap_or(u32::MAX);
    let added = numbers.iter().try_fold(0_i128, |sum, number| {
        to_units(number, scale).ok().and_then(|units| sum.checked_add(units))
    });
    let added = added.ok_or_else(|| {
        Unfit(format!("{what}, the sum of {rows}, has more than {MOST_DIGITS} digits"))
    })?;
    let digits = units_text(added, scale);
    match &feed.show {
        Show::Number(format) => {
            Ok(number(format, &digits).map_or_else(String::new, Cow::into_owned))
        }
        Show::Plain | Show::Date | Show::Time | Show::Bool(_) => Ok(digits),
    }
}

/// The array that a pointer leads to; nothing where there need not be one and is none.
pub(super) fn list<'n, 'a>(
    pointer: &Pointer,
    optional: bool,
    what: &str,
    row: &'n Node<'a>,
) -> Result<&'n [Node<'a>], Unfit> {
    match row.find(pointer.steps()) {
        Some(Node::List(elements)) => Ok(elements),
        None | Some(Node::Null) if optional => Ok(&[]),
        None => Err(Unfit(format!("{what} at {pointer} is missing"))),
        Some(other) => {
            Err(Unfit(format!("{what} at {pointer} is {}, and must be an array", said(other))))
        }
    }
}

/// Words with the values among them.
pub(super) fn worded(wording: &Wording, what: &str, row: &Node<'_>) -> Result<String, Unfit> {
    let mut text = String::new();
    for bit in &wording.0 {
        match bit {
            Bit::Words(words) => text.push_str(words),
            Bit::Value(feed) => text.push_str(&shown(feed, what, row, "")?),
        }
    }
    Ok(text)
}

/// A value in words, cut where it is long.
fn said(node: &Node<'_>) -> String {
    const LONGEST: usize = 60;
    let value = match node {
        Node::Digits(digits) => (*digits).to_owned(),
        Node::Text(text) => format!("\"{text}\""),
        Node::Bool(truth) => truth.to_string(),
        Node::Null | Node::List(_) | Node::Object(_) => return node.word().to_owned(),
    };
    let short: String = value.chars().take(LONGEST).collect();
    let more = if short.len() < value.len() { "…" } else { "" };
    format!("{} ({short}{more})", node.word())
}

/// A value as it is shown, or what it must be.
fn show<'n>(show: &Show, node: &'n Node<'_>) -> Result<Cow<'n, str>, &'static str> {
    match show {
        Show::Plain => match node {
            Node::Text(text) => Ok(Cow::Borrowed(text)),
            Node::Digits(digits) => Ok(Cow::Borrowed(digits)),
            _ => Err("a text or a number"),
        },
        Show::Number(format) => match node {
            Node::Digits(digits) => number(format, digits).ok_or("a number such as 1234.50"),
            Node::Text(text) => number(format, text.trim()).ok_or("a number such as 1234.50"),
            _ => Err("a number such as 1234.50"),
        },
        Show::Date => day(node).ok_or("a date such as 2026-01-31"),
        Show::Time => moment(node).ok_or("a time such as 2026-01-31T09:30:00+09:00"),
        Show::Bool([yes, no]) => match node {
            Node::Bool(true) => Ok(Cow::Owned(yes.clone())),
            Node::Bool(false) => Ok(Cow::Owned(no.clone())),
            _ => Err("true or false"),
        },
    }
}

fn day<'n>(node: &'n Node<'_>) -> Option<Cow<'n, str>> {
    let Node::Text(text) = node else { return None };
    let day = text.get(..10)?;
    let rest = &text[10..];
    let is_day = parse_date(day).is_ok() && (rest.is_empty() || rest.starts_with(['T', ' ']));
    is_day.then_some(Cow::Borrowed(day))
}

/// To the minute; what stands behind it is seconds and a zone, which is the one that all are shown in.
fn moment<'n>(node: &'n Node<'_>) -> Option<Cow<'n, str>> {
    day(node)?;
    let Node::Text(text) = node else { return None };
    let (day, time) = (text.get(..10)?, text.get(11..16)?);
    let [h1, h2, b':', m1, m2] = time.as_bytes() else { return None };
    let is_time = [h1, h2, m1, m2].iter().all(|byte| byte.is_ascii_digit()) && time < "24:00";
    is_time.then(|| Cow::Owned(format!("{day} {time}")))
}

/// A number as its format has it, with every digit that it has.
fn number<'n>(format: &NumberFormat, digits: &'n str) -> Option<Cow<'n, str>> {
    if !is_decimal(digits) {
        return None;
    }
    if *format == NumberFormat::default() {
        return Some(Cow::Borrowed(digits));
    }
    let (sign, unsigned) = match digits.strip_prefix('-') {
        Some(unsigned) => ("-", unsigned),
        None => ("", digits),
    };
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let mut text = format!("{sign}{}", format.prefix);
    for (index, digit) in whole.char_indices() {
        if format.grouped && index > 0 && (whole.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    // Zeros behind those asked for say nothing.
    let significant = fraction.trim_end_matches('0').len().max(format.decimals);
    if significant > 0 {
        text.push('.');
        text.push_str(&fraction[..fraction.len().min(significant)]);
        text.extend(std::iter::repeat_n('0', significant.saturating_sub(fraction.len())));
    }
    text.push_str(&format.suffix);
    Some(Cow::Owned(text))
}
