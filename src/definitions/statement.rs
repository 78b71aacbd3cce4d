//! A report, what is asked of it and what its caller is held to → one statement.
//!
//! Every statement begins in [`narrowed`], which binds the scope before anything else: there is no
//! other `SELECT` here. Built with sea-query: identifiers quoted, values bound, nothing pasted but
//! the `sql` of a definition, which stands in the brackets of a `WITH`.

use std::collections::BTreeSet;

use sea_orm::sea_query::{
    self, Expr, ExprTrait, MysqlQueryBuilder, PostgresQueryBuilder, Query as Sea, SelectStatement,
    SqliteQueryBuilder, Value,
};

use super::conditions::{comparable, condition, never};
use super::filters::Filters;
use super::mysql;
use super::paging::beyond;
use super::report::{Origin, Report, ScopeColumn};
use crate::access::Scopes;
use crate::database::{Arg, Cell, Dialect, Query, Read};
use crate::rows::Kind;

/// What the report's rows are called within a statement. Columns are written with it because SQLite
/// takes a bare `"name"` that is no column for a text.
const ROWS: &str = "q";

/// Which rows and columns of a report are wanted.
#[derive(Debug, Clone, Copy)]
pub struct Selection<'a> {
    /// Indices into the report's columns, at least one, in the order wanted.
    pub columns: &'a [usize],
    /// What the request narrows by.
    pub filters: &'a Filters,
    /// What the caller is held to.
    pub scopes: &'a Scopes,
    /// The values that alone may stand in one of the report's int or text columns.
    pub one_of: Option<(usize, &'a [String])>,
    /// The place of the last row of the page before, one value for each column of the order.
    pub after: Option<&'a [Arg]>,
    /// The SQL types that the values of `after` are cast to, one for each column of the order, out of
    /// the database's own catalog; `None` or nothing where they compare as they are.
    pub types: &'a [Option<String>],
    /// The most rows.
    pub limit: Option<u64>,
    /// Whether the order's columns are selected once more, behind the others, as they are stored.
    pub cursor: bool,
}

/// The statement for a report's rows.
#[must_use]
pub fn rows(report: &Report, selection: &Selection<'_>, dialect: Dialect) -> Query {
    let mut select = narrowed(report, selection.filters, selection.scopes, dialect);
    let mut cells = Vec::with_capacity(selection.columns.len() + report.order.len());
    for declared in selection.columns.iter().filter_map(|index| report.columns.get(*index)) {
        select.expr(column(&declared.source));
        cells.push(Cell {
            key: declared.column.key.clone(),
            read: Read::As {
                kind: declared.column.kind,
                scale: declared.scale,
                zone: declared.zone.as_ref().map(|zone| zone.rules.clone()),
                unit: declared.unit,
            },
        });
    }
    for order in report.order.iter().filter(|_| selection.cursor) {
        select.expr(stored(&order.column, dialect));
        cells.push(Cell { key: order.column.clone(), read: Read::Stored });
    }
    if let Some((index, values)) = selection.one_of {
        let declared = report.columns.get(index);
        select.and_where(declared.map_or_else(never, |declared| {
            let values: Vec<&str> = values.iter().map(String::as_str).collect();
            among(&declared.source, declared.column.kind, &values, dialect)
        }));
    }
    if let Some(after) = selection.after {
        select.and_where(beyond(report, after, selection.types, dialect));
    }
    for order in &report.order {
        let direction =
            if order.descending { sea_query::Order::Desc } else { sea_query::Order::Asc };
        select.order_by_expr(column(&order.column), direction);
    }
    if let Some(limit) = selection.limit {
        select.limit(limit);
    }
    finished(report, &select, cells, dialect)
}

/// The statement for the number of a report's rows: one row with one whole number.
#[must_use]
pub fn count(report: &Report, filters: &Filters, scopes: &Scopes, dialect: Dialect) -> Query {
    let mut select = narrowed(report, filters, scopes, dialect);
    select.expr(Expr::col(sea_query::Asterisk).count());
    let read = Read::As { kind: Kind::Int, scale: None, zone: None, unit: None };
    finished(report, &select, vec![Cell { key: "rows".into(), read }], dialect)
}

/// A statement that reads a source column, declared or not, and gives no row: whether the database
/// takes it says whether the column is there.
#[must_use]
pub fn probe(report: &Report, source: &str, dialect: Dialect) -> Query {
    let mut select = narrowed(report, &Filters::default(), &Scopes::new(), dialect);
    select.expr(column(source)).limit(0);
    let cell = Cell { key: source.to_owned(), read: Read::Stored };
    finished(report, &select, vec![cell], dialect)
}

/// A source column, of the report's rows and of nothing else.
pub(super) fn column(name: &str) -> Expr {
    Expr::col((ROWS, name.to_owned()))
}

/// A cell as it is stored. PostgreSQL says every type as text that it reads back as the same value.
fn stored(name: &str, dialect: Dialect) -> Expr {
    match dialect {
        Dialect::Sqlite | Dialect::MySql => column(name),
        Dialect::Postgres => column(name).cast_as("text"),
    }
}

/// The report's rows within the scope, narrowed by the filters, with nothing selected yet.
fn narrowed(
    report: &Report,
    filters: &Filters,
    scopes: &Scopes,
    dialect: Dialect,
) -> SelectStatement {
    let mut select = Sea::select();
    match &report.origin {
        Origin::Table { schema: None, name } => select.from_as(name.clone(), ROWS),
        Origin::Table { schema: Some(schema), name } => {
            select.from_as((schema.clone(), name.clone()), ROWS)
        }
        Origin::Sql(_) => select.from(ROWS),
    };
    for held in within(report, scopes, dialect) {
        select.and_where(held);
    }
    for asked in &filters.asked {
        // A filter that the report does not have must not widen the answer.
        let filter = report.filters.get(asked.filter);
        select.and_where(
            filter.map_or_else(never, |filter| condition(filter, &asked.values, dialect)),
        );
    }
    select
}

/// The one place where the scope is bound: each dimension must hold, with one of its values. A
/// dimension that the report does not map, or without a value that its column can hold, lets no row
/// through.
fn within(report: &Report, scopes: &Scopes, dialect: Dialect) -> Vec<Expr> {
    scopes
        .iter()
        .map(|(dimension, values)| match report.scope.get(dimension) {
            Some(mapped) => held_to(mapped, values, dialect),
            None => never(),
        })
        .collect()
}

fn held_to(mapped: &ScopeColumn, values: &BTreeSet<String>, dialect: Dialect) -> Expr {
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    among(&mapped.column, mapped.kind, &values, dialect)
}

/// Whether a column holds one of these values, as far as it can.
fn among(name: &str, kind: Kind, values: &[&str], dialect: Dialect) -> Expr {
    if kind == Kind::Text && dialect == Dialect::MySql && !values.is_empty() {
        return mysql::one_of(name, values.iter().copied());
    }
    let values: Vec<Expr> = values
        .iter()
        .filter_map(|value| match kind {
            Kind::Int => value.parse::<i64>().ok().map(Expr::val),
            Kind::Text => Some(Expr::val(*value)),
            Kind::Decimal | Kind::Float | Kind::Bool | Kind::Date | Kind::Time | Kind::Json => None,
        })
        .collect();
    if values.is_empty() {
        return never();
    }
    comparable(name, kind, dialect).is_in(values)
}

fn finished(
    report: &Report,
    select: &SelectStatement,
    cells: Vec<Cell>,
    dialect: Dialect,
) -> Query {
    let (select, values) = match dialect {
        Dialect::Sqlite => select.build(SqliteQueryBuilder),
        Dialect::Postgres => select.build(PostgresQueryBuilder),
        Dialect::MySql => select.build(MysqlQueryBuilder),
    };
    let sql = match &report.origin {
        Origin::Table { .. } => select,
        // The line break ends a comment on the last line.
        Origin::Sql(text) => format!("WITH {ROWS} AS ({text}\n) {select}"),
    };
    Query { sql, args: values.into_iter().map(argument).collect(), cells }
}

/// Turns back what sea-query carried. It carries what is bound above, and LIMIT.
fn argument(value: Value) -> Arg {
    match value {
        Value::Bool(Some(value)) => Arg::Bool(value),
        Value::BigInt(Some(value)) => Arg::Int(value),
        Value::BigUnsigned(Some(value)) => Arg::Int(i64::try_from(value).unwrap_or(i64::MAX)),
        Value::Double(Some(value)) => Arg::Float(value),
        Value::String(Some(value)) => Arg::Text(value),
        // Nothing else is bound; NULL is what matches nothing.
        _ => Arg::Null,
    }
}
