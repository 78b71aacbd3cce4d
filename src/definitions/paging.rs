//! Keyset paging: the condition for the rows behind a place in the order.
//!
//! NULL compares with nothing, so rows whose order holds one would be lost behind every page. Where a
//! column is not declared `not_null`, the condition takes in the NULLs that sort behind the place, at
//! the price that an index serves it less well.

use sea_orm::sea_query::{Condition, Expr, ExprTrait};

use super::conditions::{Comparison, never};
use super::report::{Order, Report};
use super::statement::column;
use crate::database::{Arg, Dialect};
use crate::rows::Kind;

/// A place in the order such as a cursor could hold, to see whether the database takes the statement
/// for a later page; `None` where a column of the order is not declared, or there is none.
#[must_use]
pub fn sample_place(report: &Report) -> Option<Vec<Arg>> {
    let sample = |order: &Order| {
        Some(match order.kind? {
            Kind::Int => Arg::Int(0),
            Kind::Float => Arg::Float(0.0),
            Kind::Bool => Arg::Text("false".into()),
            Kind::Decimal => Arg::Text("0".into()),
            Kind::Time if order.unit.is_some() => Arg::Int(0),
            Kind::Date | Kind::Time => Arg::Text("2000-01-01".into()),
            Kind::Text | Kind::Json => Arg::Text(String::new()),
        })
    };
    let place: Option<Vec<Arg>> = report.order.iter().map(sample).collect();
    place.filter(|place| !place.is_empty())
}

/// The rows that come after the place `after` in the report's order.
pub(super) fn beyond(report: &Report, after: &[Arg], not_null: bool, dialect: Dialect) -> Expr {
    if after.len() != report.order.len() || after.is_empty() {
        return never();
    }
    let steps: Vec<Step> = report
        .order
        .iter()
        .zip(after)
        .map(|(order, arg)| Step {
            cell: column(&order.column),
            place: place(order, arg, dialect),
            descending: order.descending,
            nulls_follow: !(not_null || order.not_null) && nulls_come_last(order, dialect),
        })
        .collect();
    let alike = steps.iter().all(|step| step.descending == report.order[0].descending);
    if alike && !steps.iter().any(|step| step.nulls_follow) {
        at_once(steps)
    } else {
        step_by_step(&steps)
    }
}

/// One column of the order and the value that is to be passed.
struct Step {
    cell: Expr,
    place: Expr,
    descending: bool,
    nulls_follow: bool,
}

impl Step {
    fn passed(&self) -> Expr {
        let comparison = if self.descending { Comparison::Lt } else { Comparison::Gt };
        let passed = comparison.of(self.cell.clone(), self.place.clone());
        if self.nulls_follow { passed.or(self.cell.clone().is_null()) } else { passed }
    }

    fn level(&self) -> Expr {
        Comparison::Eq.of(self.cell.clone(), self.place.clone())
    }
}

/// `(a, b) > (?, ?)`, which an index over both columns serves.
fn at_once(steps: Vec<Step>) -> Expr {
    let comparison =
        if steps.iter().any(|step| step.descending) { Comparison::Lt } else { Comparison::Gt };
    let (mut cells, mut places): (Vec<Expr>, Vec<Expr>) =
        steps.into_iter().map(|step| (step.cell, step.place)).unzip();
    match (cells.len(), cells.pop(), places.pop()) {
        (1, Some(cell), Some(place)) => comparison.of(cell, place),
        (_, cell, place) => {
            cells.extend(cell);
            places.extend(place);
            comparison.of(Expr::tuple(cells), Expr::tuple(places))
        }
    }
}

/// `a > ? OR (a = ? AND b < ?)`, with a bound on the first column alone where one holds.
fn step_by_step(steps: &[Step]) -> Expr {
    let mut any = Condition::any();
    for (index, step) in steps.iter().enumerate() {
        let level = steps.iter().take(index).map(Step::level);
        any = any.add(level.fold(Condition::all(), Condition::add).add(step.passed()));
    }
    match steps.first() {
        Some(first) if !first.nulls_follow => {
            let comparison = if first.descending { Comparison::Le } else { Comparison::Ge };
            let bound = comparison.of(first.cell.clone(), first.place.clone());
            Condition::all().add(bound).add(any).into()
        }
        _ => any.into(),
    }
}

/// PostgreSQL sorts NULL as the greatest, SQLite as the least.
fn nulls_come_last(order: &Order, dialect: Dialect) -> bool {
    match dialect {
        Dialect::Postgres => !order.descending,
        Dialect::Sqlite => order.descending,
    }
}

/// A stored value as an argument that its column compares with. PostgreSQL does not compare a text
/// argument with a column of another type, so it is cast to what the column is declared as.
fn place(order: &Order, arg: &Arg, dialect: Dialect) -> Expr {
    let text = match arg {
        Arg::Null => return Expr::null(),
        Arg::Bool(value) => return Expr::val(*value),
        Arg::Int(value) => return Expr::val(*value),
        Arg::Float(value) => return Expr::val(*value),
        Arg::Text(text) => Expr::val(text.as_str()),
    };
    if dialect == Dialect::Sqlite {
        return text;
    }
    match order.kind {
        Some(Kind::Time) if order.zone.is_some() => text.cast_as("timestamp"),
        Some(Kind::Time) => text.cast_as("timestamptz"),
        Some(Kind::Date) => text.cast_as("date"),
        Some(Kind::Decimal | Kind::Int) => text.cast_as("numeric"),
        Some(Kind::Float) => text.cast_as("float8"),
        Some(Kind::Bool) => text.cast_as("boolean"),
        Some(Kind::Text | Kind::Json) | None => text,
    }
}
