//! Statements that find out what a table has: they give no row, and whether the database takes them is
//! the answer.

use sea_orm::sea_query::{
    Expr, MysqlQueryBuilder, PostgresQueryBuilder, Query as Sea, SqliteQueryBuilder,
};

use super::import::Target;
use crate::database::{Cell, Dialect, Query, Read};

/// What the table is called within a statement. SQLite takes a bare `"name"` that is no column for a
/// text.
const TABLE: &str = "t";

/// A statement that reads these columns of a table, or nothing but its being there.
#[must_use]
pub fn probe_table(table: &Target, columns: &[&str], dialect: Dialect) -> Query {
    let mut select = Sea::select();
    match &table.schema {
        None => select.from_as(table.table.clone(), TABLE),
        Some(schema) => select.from_as((schema.clone(), table.table.clone()), TABLE),
    };
    for column in columns {
        select.expr(Expr::col((TABLE, (*column).to_owned())));
    }
    if columns.is_empty() {
        select.expr(Expr::cust("1"));
    }
    select.limit(0);
    let sql = match dialect {
        Dialect::Sqlite => select.to_string(SqliteQueryBuilder),
        Dialect::Postgres => select.to_string(PostgresQueryBuilder),
        Dialect::MySql => select.to_string(MysqlQueryBuilder),
    };
    let cell = |key: &&str| Cell { key: (*key).to_owned(), read: Read::Stored };
    Query { sql, args: Vec::new(), cells: columns.iter().map(cell).collect() }
}
