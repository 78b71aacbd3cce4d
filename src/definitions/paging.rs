//! Keyset paging: the condition for the rows behind a place in the order.
//!
//! NULL compares with nothing, so rows whose order holds one would be lost behind every page. Where a
//! column is not declared `not_null`, the condition takes in the NULLs that sort behind the place, at
//! the price that an index serves it less well.

use sea_orm::sea_query::{Condition, Expr, ExprTrait};

use super::conditions::{Comparison, never};
use super::mysql;
use super::report::{Order, Report};
use super::statement::column;
use crate::database::{Arg, Dialect};

/// The rows that come after the place `after` in the report's order. `types` are the types
/// that its values are cast to, one for each column of the order.
pub(super) fn beyond(
    report: &Report,
    after: &[Arg],
    types: &[Option<String>],
    dialect: Dialect,
) -> Expr {
    if after.len() != report.order.len() || after.is_empty() {
        return never();
    }
    let steps: Vec<Step> = report
        .order
        .iter()
        .zip(after)
        .enumerate()
        .map(|(index, (order, arg))| Step {
            cell: column(&order.column),
            place: place(arg, types.get(index).and_then(Option::as_deref)),
            descending: order.descending,
            nullable: !order.not_null,
            nulls_last: nulls_come_last(order, dialect),
        })
        .collect();
    let alike = steps.iter().all(|step| step.descending == report.order[0].descending);
    // MySQL takes no range of an index from a comparison of tuples.
    let alike = alike && (dialect != Dialect::MySql || steps.len() == 1);
    if alike && steps.iter().all(|step| step.place.is_some() && !step.nulls_follow()) {
        at_once(steps)
    } else {
        step_by_step(&steps)
    }
}

/// One column of the order and the value that is to be passed; none for NULL.
struct Step {
    cell: Expr,
    place: Option<Expr>,
    descending: bool,
    nullable: bool,
    nulls_last: bool,
}

impl Step {
    fn nulls_follow(&self) -> bool {
        self.nullable && self.nulls_last
    }

    fn passed(&self) -> Expr {
        let Some(place) = &self.place else {
            // Behind a NULL come all others, or nothing.
            return if self.nulls_last { never() } else { self.cell.clone().is_not_null() };
        };
        let comparison = if self.descending { Comparison::Lt } else { Comparison::Gt };
        let passed = comparison.of(self.cell.clone(), place.clone());
        if self.nulls_follow() { passed.or(self.cell.clone().is_null()) } else { passed }
    }

    fn level(&self) -> Expr {
        match &self.place {
            Some(place) => Comparison::Eq.of(self.cell.clone(), place.clone()),
            None => self.cell.clone().is_null(),
        }
    }
}

/// `(a, b) > (?, ?)`, which an index over both columns serves.
fn at_once(steps: Vec<Step>) -> Expr {
    let comparison =
        if steps.iter().any(|step| step.descending) { Comparison::Lt } else { Comparison::Gt };
    let (mut cells, mut places): (Vec<Expr>, Vec<Expr>) =
        steps.into_iter().filter_map(|step| Some((step.cell, step.place?))).unzip();
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
    let first = steps.first().filter(|step| !step.nulls_follow());
    match first.and_then(|step| Some((step, step.place.clone()?))) {
        Some((first, place)) => {
            let comparison = if first.descending { Comparison::Le } else { Comparison::Ge };
            let bound = comparison.of(first.cell.clone(), place);
            Condition::all().add(bound).add(any).into()
        }
        None => any.into(),
    }
}

/// PostgreSQL sorts NULL as the greatest, the others as the least.
fn nulls_come_last(order: &Order, dialect: Dialect) -> bool {
    match dialect {
        Dialect::Postgres => !order.descending,
        Dialect::Sqlite | Dialect::MySql => order.descending,
    }
}

/// A stored value as an argument that its column compares with: PostgreSQL does not compare a text
/// argument with a column of another type, nor as that type orders, and MySQL compares it as a double,
/// so it is cast to the column's own.
fn place(arg: &Arg, column_type: Option<&str>) -> Option<Expr> {
    let value = match arg {
        Arg::Null => return None,
        Arg::Bool(value) => Expr::val(*value),
        Arg::Int(value) => Expr::val(*value),
        Arg::Float(value) => Expr::val(*value),
        Arg::Text(text) => Expr::val(text.as_str()),
    };
    Some(match (column_type, arg) {
        // MySQL's own name, where a cast has no room for a fraction unless it is asked for.
        (Some("decimal"), Arg::Text(digits)) => value.cast_as(mysql::decimal_type(digits)),
        (Some(name), _) => value.cast_as(name.to_owned()),
        (None, _) => value,
    })
}
