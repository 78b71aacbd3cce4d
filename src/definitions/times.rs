//! Conditions on times: days as spans, zones, counted units, and in SQLite the exact comparison
//! behind one that an index serves.

use jiff::tz::TimeZone;
use sea_orm::sea_query::{Expr, ExprTrait, Func};

use super::conditions::{Comparison, date_text, never};
use super::filters::Moment;
use super::report::Filter;
use super::sqlite_order::{canonical_time, coarse_from, coarse_until};
use super::statement::column;
use crate::database::{Dialect, Unit};
use crate::rows::{Date, Instant, ZoneClock};

/// A day is a half-open span, so every comparison with it is one with its start or its end.
pub(super) fn condition(
    filter: &Filter,
    comparison: Comparison,
    moment: Moment,
    dialect: Dialect,
) -> Expr {
    let bound = |comparison, at| match dialect {
        Dialect::Sqlite => sqlite_time(filter, comparison, at),
        Dialect::Postgres => {
            micros_time(filter, comparison, at, |zone, at| Some(postgres_clock(zone, at)))
        }
        Dialect::MySql => micros_time(filter, comparison, at, mysql_clock),
    };
    match (comparison, moment) {
        (comparison, Moment::At(at)) => bound(comparison, at),
        (Comparison::Eq, Moment::Day(start, end)) => {
            bound(Comparison::Ge, start).and(bound(Comparison::Lt, end))
        }
        (Comparison::Ne, Moment::Day(start, end)) => {
            bound(Comparison::Lt, start).or(bound(Comparison::Ge, end))
        }
        (Comparison::Lt | Comparison::Ge, Moment::Day(start, _)) => bound(comparison, start),
        (Comparison::Le, Moment::Day(_, end)) => bound(Comparison::Lt, end),
        (Comparison::Gt, Moment::Day(_, end)) => bound(Comparison::Ge, end),
    }
}

/// PostgreSQL's and MySQL's times have microseconds and whole numbers have their unit, so a moment that
/// lies between two of them is moved to the one that leaves the comparison as it was.
///
/// A column without a zone is compared with the wall clock of the zone that is declared for it. Where
/// that clock is set back, the hour that comes twice is one hour there.
fn micros_time(
    filter: &Filter,
    comparison: Comparison,
    at: Instant,
    clock: fn(Option<TimeZone>, Instant) -> Option<Expr>,
) -> Expr {
    let cell = column(&filter.column);
    let (floor, exact) = units(at, filter.unit.unwrap_or(Unit::Microseconds));
    let count = match comparison {
        Comparison::Eq if !exact => return never(),
        Comparison::Ne if !exact => return cell.is_not_null(),
        Comparison::Eq | Comparison::Ne | Comparison::Le | Comparison::Gt => floor,
        Comparison::Lt | Comparison::Ge => floor.saturating_add(i64::from(!exact)),
    };
    if filter.unit.is_some() {
        return comparison.of(cell, Expr::val(count));
    }
    let zone = filter.zone.as_ref().map(|zone| zone.rules.clone());
    match clock(zone, Instant::from_micros(count)) {
        Some(bound) => comparison.of(cell, bound),
        None => of_the_end(cell, comparison),
    }
}

/// The comparison of a cell with what is later than any cell can be.
fn of_the_end(cell: Expr, comparison: Comparison) -> Expr {
    match comparison {
        Comparison::Lt | Comparison::Le | Comparison::Ne => cell.is_not_null(),
        Comparison::Gt | Comparison::Ge | Comparison::Eq => never(),
    }
}

fn postgres_clock(zone: Option<TimeZone>, at: Instant) -> Expr {
    let (suffix, kind) = if zone.is_some() { ("", "timestamp") } else { ("Z", "timestamptz") };
    let (date, clock) = wall(zone, at);
    let (year, month, day) = date.ymd();
    // It counts the years before 1 backwards, and has no year 0.
    let text = if year > 0 {
        format!("{} {clock}{suffix}", date_text(date))
    } else {
        format!("{:04}-{month:02}-{day:02} {clock}{suffix} BC", 1 - year)
    };
    Expr::val(text).cast_as(kind)
}

/// A moment's type has no zone of its own here: the session's makes it UTC. What begins in a zone to
/// the west on the last day, or ends there, lies behind the last year that the type has, and would be
/// read as NULL; on the other side it has a year 0, which no zone goes behind.
fn mysql_clock(zone: Option<TimeZone>, at: Instant) -> Option<Expr> {
    let (date, clock) = wall(zone, at);
    let held = date.ymd().0 <= MYSQL_LAST_YEAR;
    held.then(|| Expr::val(format!("{} {clock}", date_text(date))).cast_as("datetime(6)"))
}

/// Whole units since 1970, rounded down, and whether nothing was left over.
fn units(at: Instant, unit: Unit) -> (i64, bool) {
    let per_second = match unit {
        Unit::Seconds => 1,
        Unit::Milliseconds => 1_000,
        Unit::Microseconds => 1_000_000,
    };
    let nanos = 1_000_000_000 / per_second;
    let fraction = i64::from(at.nanos);
    let whole = at.seconds.saturating_mul(per_second).saturating_add(fraction / nanos);
    (whole, fraction % nanos == 0)
}

/// The exact comparison by `tallyroll_time`, behind a coarse one that an index can serve.
fn sqlite_time(filter: &Filter, comparison: Comparison, at: Instant) -> Expr {
    let word = |text: Option<&str>| text.map_or_else(Expr::null, Expr::val);
    let cell = Func::cust("tallyroll_time")
        .arg(column(&filter.column))
        .arg(word(filter.unit.map(unit_word)))
        .arg(word(filter.zone.as_ref().map(|zone| zone.name.as_str())));
    let exact = comparison.of(cell.into(), Expr::val(canonical_time(at)));
    let from = || Comparison::Ge.of(column(&filter.column), coarse(filter.unit, at, Edge::From));
    let until = || Comparison::Lt.of(column(&filter.column), coarse(filter.unit, at, Edge::Until));
    match comparison {
        Comparison::Eq => from().and(until()).and(exact),
        Comparison::Ne => exact,
        Comparison::Lt | Comparison::Le => until().and(exact),
        Comparison::Gt | Comparison::Ge => from().and(exact),
    }
}

#[derive(Debug, Clone, Copy)]
enum Edge {
    From,
    Until,
}

/// A bound that leaves out no cell of the moment itself, and few that are far from it.
fn coarse(unit: Option<Unit>, at: Instant, edge: Edge) -> Expr {
    match (unit, edge) {
        (Some(unit), Edge::From) => Expr::val(units(at, unit).0),
        (Some(unit), Edge::Until) => Expr::val(units(at, unit).0.saturating_add(1)),
        (None, Edge::From) => Expr::val(coarse_from(at)),
        (None, Edge::Until) => Expr::val(coarse_until(at)),
    }
}

const fn unit_word(unit: Unit) -> &'static str {
    match unit {
        Unit::Seconds => "seconds",
        Unit::Milliseconds => "milliseconds",
        Unit::Microseconds => "microseconds",
    }
}

/// The last year of a `datetime`.
const MYSQL_LAST_YEAR: i32 = 9999;

/// What the wall clock of a zone shows, of UTC without one: the day, and the time to the microsecond as
/// both databases read it.
fn wall(zone: Option<TimeZone>, at: Instant) -> (Date, String) {
    let (date, second, nanos) = ZoneClock::new(zone.unwrap_or(TimeZone::UTC)).civil(at);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    let clock = format!("{hour:02}:{minute:02}:{second:02}");
    (date, if nanos == 0 { clock } else { format!("{clock}.{:06}", nanos / 1_000) })
}
