//! One filter with its values → one condition, in each dialect.
//!
//! No condition is true of NULL but `is_null`. Every value is bound; what has no native argument is
//! bound as text under a cast (PostgreSQL, MySQL), or compared by a function of ours (SQLite, whose
//! cells have no types), next to a coarse condition on the bare column that an index can serve.

use sea_orm::sea_query::{
    BinOper, Condition, Expr, ExprTrait, Func, extension::sqlite::SqliteExpr,
};

use super::filters::Given;
use super::mysql;
use super::report::{Filter, Op};
use super::sqlite_order::day_after;
use super::statement::column;
use super::times;
use crate::database::Dialect;
use crate::rows::{Date, Kind};

/// How two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Comparison {
    pub(super) fn of(self, left: Expr, right: impl Into<Expr>) -> Expr {
        let operator = match self {
            Self::Eq => BinOper::Equal,
            Self::Ne => BinOper::NotEqual,
            Self::Lt => BinOper::SmallerThan,
            Self::Le => BinOper::SmallerThanOrEqual,
            Self::Gt => BinOper::GreaterThan,
            Self::Ge => BinOper::GreaterThanOrEqual,
        };
        left.binary(operator, right)
    }
}

/// What a filter asks; `values` has one value unless the operation is [`Op::In`].
pub(super) fn condition(filter: &Filter, values: &[Given], dialect: Dialect) -> Expr {
    let each = |comparison| all_of(filter, comparison, values, dialect);
    match filter.op {
        Op::Eq => each(Comparison::Eq),
        Op::Ne => each(Comparison::Ne),
        Op::Lt => each(Comparison::Lt),
        Op::Le => each(Comparison::Le),
        Op::Gt => each(Comparison::Gt),
        Op::Ge => each(Comparison::Ge),
        Op::In => one_of(filter, values, dialect),
        Op::Contains => texts(filter, values, dialect, contains),
        Op::Prefix => texts(filter, values, dialect, prefix),
        Op::IsNull => match values {
            [Given::Bool(false)] => column(&filter.column).is_not_null(),
            _ => column(&filter.column).is_null(),
        },
    }
}

fn all_of(filter: &Filter, comparison: Comparison, values: &[Given], dialect: Dialect) -> Expr {
    let each = values.iter().map(|value| compare(filter, comparison, value, dialect));
    each.fold(Condition::all(), Condition::add).into()
}

fn one_of(filter: &Filter, values: &[Given], dialect: Dialect) -> Expr {
    if dialect == Dialect::MySql && matches!(filter.kind, Kind::Text | Kind::Json) {
        let texts = values.iter().filter_map(|value| match value {
            Given::Text(text) => Some(text.as_str()),
            Given::Bool(_)
            | Given::Int(_)
            | Given::Float(_)
            | Given::Decimal(_)
            | Given::Date(_)
            | Given::Time(_) => None,
        });
        return mysql::one_of(&filter.column, texts);
    }
    let native: Option<Vec<Expr>> = values.iter().map(|value| native(value, dialect)).collect();
    match native {
        Some(list) => comparable(&filter.column, filter.kind, dialect).is_in(list),
        None => values
            .iter()
            .map(|value| compare(filter, Comparison::Eq, value, dialect))
            .fold(Condition::any(), Condition::add)
            .into(),
    }
}

/// The value as an argument of its own type, where the dialect has one that compares exactly.
fn native(value: &Given, dialect: Dialect) -> Option<Expr> {
    match value {
        Given::Bool(value) => Some(match dialect {
            Dialect::Sqlite => Expr::val(i64::from(*value)),
            Dialect::Postgres | Dialect::MySql => Expr::val(*value),
        }),
        Given::Int(value) => Some(Expr::val(*value)),
        Given::Float(value) => Some(Expr::val(*value)),
        Given::Text(value) => Some(Expr::val(value.as_str())),
        Given::Decimal(_) | Given::Date(_) | Given::Time(_) => None,
    }
}

/// The column as it compares with an argument of its kind, in PostgreSQL under a cast: a text as
/// text, so that enums, UUIDs and the like compare too (of a text column the cast is nothing, and its
/// index is used); a float by the digits it is shown with, so that 0.1 finds a single-precision 0.1.
/// SQLite holds truth values in several forms, which a function of ours reads.
pub(super) fn comparable(name: &str, kind: Kind, dialect: Dialect) -> Expr {
    match (dialect, kind) {
        (Dialect::Postgres, Kind::Text) => column(name).cast_as("text"),
        (Dialect::Sqlite, Kind::Bool) => Func::cust("tallyroll_bool").arg(column(name)).into(),
        (Dialect::Postgres, Kind::Float) => column(name).cast_as("text").cast_as("float8"),
        _ => column(name),
    }
}

fn compare(filter: &Filter, comparison: Comparison, value: &Given, dialect: Dialect) -> Expr {
    match (value, dialect) {
        (Given::Decimal(digits), Dialect::Postgres) => {
            comparison.of(column(&filter.column), Expr::val(digits.as_str()).cast_as("numeric"))
        }
        (Given::Decimal(digits), Dialect::MySql) => {
            mysql::decimal(&filter.column, comparison, digits)
        }
        (Given::Decimal(digits), Dialect::Sqlite) => {
            let order = Func::cust("tallyroll_decimal")
                .arg(column(&filter.column))
                .arg(Expr::val(digits.as_str()))
                .arg(filter.scale.map_or_else(Expr::null, |scale| Expr::val(i64::from(scale))));
            comparison.of(order.into(), Expr::val(0_i64))
        }
        (Given::Date(date), Dialect::Postgres | Dialect::MySql) => {
            comparison.of(column(&filter.column), Expr::val(date_text(*date)).cast_as("date"))
        }
        (Given::Date(date), Dialect::Sqlite) => sqlite_date(filter, comparison, *date),
        (Given::Time(moment), _) => times::condition(filter, comparison, *moment, dialect),
        (Given::Text(text), Dialect::MySql) => mysql::text(&filter.column, comparison, text),
        (Given::Bool(_) | Given::Int(_) | Given::Float(_) | Given::Text(_), _) => {
            let value = native(value, dialect).unwrap_or_else(Expr::null);
            comparison.of(comparable(&filter.column, filter.kind, dialect), value)
        }
    }
}

/// A cell counts as the date that it begins with, whatever follows.
fn sqlite_date(filter: &Filter, comparison: Comparison, date: Date) -> Expr {
    let bound = |comparison: Comparison, text: String| {
        comparison.of(column(&filter.column), Expr::val(text))
    };
    let (day, next) = (date_text(date), day_after(date));
    match comparison {
        Comparison::Eq => bound(Comparison::Ge, day).and(bound(Comparison::Lt, next)),
        Comparison::Ne => bound(Comparison::Lt, day).or(bound(Comparison::Ge, next)),
        Comparison::Lt => bound(Comparison::Lt, day),
        Comparison::Le => bound(Comparison::Lt, next),
        Comparison::Gt => bound(Comparison::Ge, next),
        Comparison::Ge => bound(Comparison::Ge, day),
    }
}

fn texts(
    filter: &Filter,
    values: &[Given],
    dialect: Dialect,
    ask: fn(&str, Kind, &str, Dialect) -> Expr,
) -> Expr {
    let each = values.iter().map(|value| match value {
        Given::Text(text) => ask(&filter.column, filter.kind, text, dialect),
        Given::Bool(_)
        | Given::Int(_)
        | Given::Float(_)
        | Given::Decimal(_)
        | Given::Date(_)
        | Given::Time(_) => never(),
    });
    each.fold(Condition::all(), Condition::add).into()
}

fn contains(name: &str, kind: Kind, text: &str, dialect: Dialect) -> Expr {
    let find = match dialect {
        Dialect::Sqlite => Func::cust("instr"),
        Dialect::Postgres => Func::cust("strpos"),
        Dialect::MySql => return mysql::contains(name, text),
    };
    let find = find.arg(comparable(name, kind, dialect)).arg(Expr::val(text));
    Comparison::Gt.of(find.into(), Expr::val(0_i64))
}

fn prefix(name: &str, kind: Kind, text: &str, dialect: Dialect) -> Expr {
    let cell = comparable(name, kind, dialect);
    match dialect {
        Dialect::Sqlite => cell.glob(Expr::val(glob(text))),
        Dialect::Postgres => Func::cust("starts_with").arg(cell).arg(Expr::val(text)).into(),
        Dialect::MySql => mysql::prefix(name, text),
    }
}

/// A pattern for texts that begin with `text`, whatever signs are in it.
fn glob(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len() + 1);
    for char in text.chars() {
        if matches!(char, '*' | '?' | '[') {
            pattern.extend(['[', char, ']']);
        } else {
            pattern.push(char);
        }
    }
    pattern.push('*');
    pattern
}

/// A condition that no row meets.
pub(super) fn never() -> Expr {
    Expr::cust("1 = 0")
}

pub(super) fn date_text(date: Date) -> String {
    let (year, month, day) = date.ymd();
    format!("{year:04}-{month:02}-{day:02}")
}
