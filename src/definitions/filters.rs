//! What a request asks of a report's filters: texts → typed values, with every fault collected.
//!
//! Knows neither SQL nor a dialect: what a value means there is in `conditions`.

use jiff::tz::TimeZone;

use super::report::{Filter, Op, Report};
use crate::error::Problem;
use crate::rows::{Date, Instant, Kind, is_decimal, parse_date, parse_time};

/// The longest decimal that a filter takes, in characters; PostgreSQL's exact numbers end far beyond.
const MOST_DIGITS: usize = 1_000;
/// The most values that one `in` takes: each becomes an argument, and databases limit those.
const MOST_VALUES: usize = 1_000;
/// Bytes of a date without a time.
const DATE_LENGTH: usize = 10;

/// What a request narrows a report by.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filters {
    pub(super) asked: Vec<Asked>,
}

/// The values for one filter; never empty, and one unless the operation is [`Op::In`].
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Asked {
    /// Index into the report's filters.
    pub(super) filter: usize,
    pub(super) values: Vec<Given>,
}

/// One typed value.
#[derive(Debug, Clone, PartialEq)]
pub enum Given {
    /// A truth value.
    Bool(bool),
    /// A signed 64-bit integer.
    Int(i64),
    /// A finite double.
    Float(f64),
    /// Exact digits.
    Decimal(String),
    /// Text without NUL.
    Text(String),
    /// A day of the years 1 to 9999.
    Date(Date),
    /// A moment, or a day of the asker's zone.
    Time(Moment),
}

/// What a time is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// An instant.
    At(Instant),
    /// A whole day: its first instant, and the first of the next day.
    Day(Instant, Instant),
}

impl Filters {
    /// A value for one filter of the report, to see whether the database takes the statement.
    #[must_use]
    pub fn sample(report: &Report, filter: usize) -> Self {
        let sample = |filter: &Filter| match filter.takes() {
            Kind::Text | Kind::Json => Given::Text("a".into()),
            Kind::Int => Given::Int(1),
            Kind::Decimal => Given::Decimal("1.5".into()),
            Kind::Float => Given::Float(0.5),
            Kind::Bool => Given::Bool(true),
            Kind::Date => Given::Date(Date { days: 0 }),
            Kind::Time => Given::Time(Moment::At(Instant::from_seconds(0))),
        };
        let value = report.filters.get(filter).map(sample);
        Self {
            asked: value.into_iter().map(|value| Asked { filter, values: vec![value] }).collect(),
        }
    }

    /// What the filters mean, in an order of its own: equal for requests that ask the same in other
    /// words, and of another zone only where that makes no difference.
    pub(super) fn meaning(&self, report: &Report) -> Vec<String> {
        let meaning = |asked: &Asked| {
            let name = report.filters.get(asked.filter).map_or("", |filter| filter.name.as_str());
            let mut values: Vec<String> =
                asked.values.iter().map(|value| format!("{value:?}")).collect();
            values.sort_unstable();
            format!("{name}={}", values.join(","))
        };
        let mut all: Vec<String> = self.asked.iter().map(meaning).collect();
        all.sort_unstable();
        all
    }
}

/// Types the filters of a request.
///
/// `pairs` are its parameters, `own` the names of those that are the endpoint's own and are passed
/// over here; one that is neither its own nor a filter of the report is a problem that lists both.
/// `tz` is the zone whose days a date names where a time is asked for. Every fault is added to
/// `problems`; what is returned is whole if none was.
#[must_use]
pub fn parse(
    report: &Report,
    pairs: &[(String, String)],
    own: &[&str],
    tz: &TimeZone,
    problems: &mut Vec<Problem>,
) -> Filters {
    unknown(report, pairs, own, problems);
    let mut asked = Vec::new();
    for (index, filter) in report.filters.iter().enumerate() {
        let texts: Vec<&str> = pairs
            .iter()
            .filter(|(name, _)| *name == filter.name)
            .map(|(_, text)| text.as_str())
            .collect();
        if let Some(problem) = miscounted(filter, &texts) {
            problems.push(problem);
            continue;
        }
        let mut values = Vec::with_capacity(texts.len());
        for text in texts {
            match value(filter, text, tz) {
                Ok(value) if values.contains(&value) => {}
                Ok(value) => values.push(value),
                Err(problem) => problems.push(problem),
            }
        }
        if !values.is_empty() {
            asked.push(Asked { filter: index, values });
        }
    }
    Filters { asked }
}

fn unknown(report: &Report, pairs: &[(String, String)], own: &[&str], problems: &mut Vec<Problem>) {
    let filters = report.filters.iter().map(|filter| filter.name.as_str());
    let known: Vec<&str> = filters.chain(own.iter().copied()).collect();
    for (name, text) in pairs.iter().filter(|(name, _)| !known.contains(&name.as_str())) {
        problems.push(Problem::parameter(
            name,
            "unknown_parameter",
            text,
            format!(
                "\"{name}\" is not a parameter of the report \"{}\"; it takes {}",
                report.name,
                known.join(", ")
            ),
        ));
    }
}

fn miscounted(filter: &Filter, texts: &[&str]) -> Option<Problem> {
    let name = &filter.name;
    match texts {
        [] if filter.required => Some(Problem {
            parameter: Some(name.clone()),
            code: "missing_parameter",
            value: None,
            detail: format!(
                "the filter \"{name}\" is required; give it as {name}={}",
                example(filter.takes())
            ),
        }),
        [_, second, ..] if filter.op != Op::In => Some(Problem::parameter(
            name,
            "doubled_parameter",
            *second,
            format!(
                "the filter \"{name}\" is given {} times and takes one value; keep one",
                texts.len()
            ),
        )),
        _ if texts.len() > MOST_VALUES => Some(Problem {
            parameter: Some(name.clone()),
            code: "too_many_values",
            value: None,
            detail: format!(
                "the filter \"{name}\" is given {} values and takes {MOST_VALUES}; ask in parts",
                texts.len()
            ),
        }),
        _ => None,
    }
}

fn value(filter: &Filter, text: &str, tz: &TimeZone) -> Result<Given, Problem> {
    let name = &filter.name;
    let takes = filter.takes();
    if text.is_empty() {
        return Err(Problem::parameter(
            name,
            "empty_value",
            text,
            format!(
                "the filter \"{name}\" is empty; leave it out, or give it as {name}={}",
                example(takes)
            ),
        ));
    }
    if let Some(problem) = too_long(name, takes, text) {
        return Err(problem);
    }
    typed(takes, text, tz).ok_or_else(|| {
        let (code, wanted) = wanted(takes);
        let several = several(name, takes, text, tz).unwrap_or_default();
        let detail =
            format!("the filter \"{name}\" takes {wanted}, such as {}{several}", example(takes));
        Problem::parameter(name, code, text, detail)
    })
}

/// How values are given that stand here in one, with commas between them.
fn several(name: &str, kind: Kind, text: &str, tz: &TimeZone) -> Option<String> {
    let (first, rest) = text.split_once(',')?;
    let second = rest.split(',').next()?;
    let good = |value: &str| typed(kind, value.trim(), tz).is_some();
    (good(first) && good(second)).then(|| {
        let (first, second) = (first.trim(), second.trim());
        format!("; where it takes several, each is given by itself: {name}={first}&{name}={second}")
    })
}

/// Numbers that are right but for their length.
fn too_long(name: &str, kind: Kind, text: &str) -> Option<Problem> {
    let long = kind == Kind::Decimal && text.len() > MOST_DIGITS && is_decimal(text);
    long.then(|| {
        let detail = format!(
            "the filter \"{name}\" is given a number of {} characters and takes {MOST_DIGITS} at \
             most; leave out digits that make no difference",
            text.len()
        );
        // The number itself would only be long.
        Problem { parameter: Some(name.into()), code: "not_a_decimal", value: None, detail }
    })
}

fn typed(kind: Kind, text: &str, tz: &TimeZone) -> Option<Given> {
    match kind {
        Kind::Text | Kind::Json => (!text.contains('\0')).then(|| Given::Text(text.to_owned())),
        Kind::Int => {
            let digits = text.strip_prefix('-').unwrap_or(text);
            let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            plain.then(|| text.parse().ok()).flatten().map(Given::Int)
        }
        Kind::Decimal => is_decimal(text).then(|| Given::Decimal(text.to_owned())),
        Kind::Float => {
            text.parse().ok().filter(|number: &f64| number.is_finite()).map(Given::Float)
        }
        Kind::Bool => match text {
            "true" => Some(Given::Bool(true)),
            "false" => Some(Given::Bool(false)),
            _ => None,
        },
        Kind::Date => day(text).map(Given::Date),
        Kind::Time => moment(text, tz).map(Given::Time),
    }
}

/// The code for a value of another kind, and what the kind takes.
fn wanted(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::Text | Kind::Json => ("not_a_text", "a text without the character NUL"),
        Kind::Int => ("not_an_int", "a whole number of at most 64 bits, in digits alone"),
        Kind::Decimal => ("not_a_decimal", "a number in digits with a point, without exponent"),
        Kind::Float => ("not_a_float", "a finite number"),
        Kind::Bool => ("not_a_bool", "true or false"),
        Kind::Date => ("not_a_date", "a date of the years 0001 to 9999, as YYYY-MM-DD"),
        Kind::Time => (
            "not_a_time",
            "a date (YYYY-MM-DD) or an instant with its offset from UTC (RFC 3339) of the years \
             0001 to 9999",
        ),
    }
}

fn example(kind: Kind) -> &'static str {
    match kind {
        Kind::Text | Kind::Json => "abc",
        Kind::Int => "1000",
        Kind::Decimal => "1000.50",
        Kind::Float => "0.5",
        Kind::Bool => "true",
        Kind::Date => "2026-01-31",
        Kind::Time => "2026-01-31 or 2026-01-31T09:00:00+09:00 (in an address the + is %2B)",
    }
}

/// A date alone, of a year that every database can say.
fn day(text: &str) -> Option<Date> {
    let date = parse_date(text).ok().filter(|_| text.len() == DATE_LENGTH)?;
    (1..=9999).contains(&date.ymd().0).then_some(date)
}

fn moment(text: &str, tz: &TimeZone) -> Option<Moment> {
    if text.len() == DATE_LENGTH {
        let date = day(text)?;
        let next = Date { days: date.days + 1 };
        return Some(Moment::Day(midnight(date, tz)?, midnight(next, tz)?));
    }
    let text = with_plus(text);
    let clock = text.get(DATE_LENGTH..)?;
    let has_offset = clock.contains(['Z', 'z', '+', '-']);
    let at = parse_time(&text, None).ok().filter(|_| has_offset)?;
    let first = Date::from_ymd(1, 1, 1)?;
    let last = Date::from_ymd(9999, 12, 31)?;
    let days = at.seconds.div_euclid(86_400);
    (i64::from(first.days)..=i64::from(last.days)).contains(&days).then_some(Moment::At(at))
}

fn midnight(date: Date, tz: &TimeZone) -> Option<Instant> {
    let mut text = Vec::new();
    date.write(&mut text);
    parse_time(std::str::from_utf8(&text).ok()?, Some(tz)).ok()
}

/// Puts back the `+` of an offset, which an address that was not encoded turns into a space.
fn with_plus(text: &str) -> String {
    match text.rsplit_once(' ') {
        Some((time, offset)) if time.len() > DATE_LENGTH => format!("{time}+{offset}"),
        _ => text.to_owned(),
    }
}
