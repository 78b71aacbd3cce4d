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
use crate::rows::{Instant, ZoneClock};

/// A day is a half-open span, so every comparison with it is one with its start or its end.
pub(super) fn condition(
    filter: &Filter,
    comparison: Comparison,
    moment: Moment,
    dialect: Dialect,
) -> Expr {
    let bound = |comparison, at| match dialect {
        Dialect::Sqlite => sqlite_time(filter, comparison, at),
        Dialect::Postgres => micros_time(filter, comparison, at, postgres_clock),
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
    clock: fn(Option<TimeZone>, Instant) -> Expr,
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
    comparison.of(cell, clock(zone, Instant::from_micros(count)))
}

fn postgres_clock(zone: Option<TimeZone>, at: Instant) -> Expr {
    match zone {
        Some(zone) => Expr::val(clock_text(zone, at)).cast_as("timestamp"),
        None => Expr::val(clock_text(TimeZone::UTC, at) + "Z").cast_as("timestamptz"),
    }
}

/// A moment's type has no zone of its own here: the session's makes it UTC.
fn mysql_clock(zone: Option<TimeZone>, at: Instant) -> Expr {
    Expr::val(clock_text(zone.unwrap_or(TimeZone::UTC), at)).cast_as("datetime(6)")
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

/// What the wall clock of `zone` shows, to the microsecond, as both databases read it.
fn clock_text(zone: TimeZone, at: Instant) -> String {
    let (date, second, nanos) = ZoneClock::new(zone).civil(at);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    let clock = format!("{} {hour:02}:{minute:02}:{second:02}", date_text(date));
    if nanos == 0 { clock } else { format!("{clock}.{:06}", nanos / 1_000) }
}
