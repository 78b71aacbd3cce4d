//! Columns of a table that a new row must bring a value for.

use super::plan::{TableName, is_same};
use crate::database::load::Loader;
use crate::database::{Database, Dialect};
use crate::error::{Error, Problem, Result};

/// Names of the columns that take no null and have nothing of their own to put in its place. None of a
/// table that has a trigger before its inserts, which may fill them.
pub(super) fn demanded(
    loader: &mut Loader,
    dialect: Dialect,
    table: &TableName,
) -> Result<Vec<String>> {
    let into = table.quoted(dialect);
    let schema = table.schema.as_deref().unwrap_or_default();
    let found = match dialect {
        // The number of a row is what its only key is where that is an INTEGER.
        Dialect::Sqlite => loader.texts(
            "SELECT name FROM pragma_table_xinfo(?1) WHERE \"notnull\" AND hidden = 0 \
             AND coalesce(upper(dflt_value), 'NULL') = 'NULL' AND NOT (pk = 1 \
             AND upper(type) = 'INTEGER' AND (SELECT max(pk) FROM pragma_table_xinfo(?1)) = 1)",
            &[&table.name],
        ),
        Dialect::Postgres => loader.texts(
            "SELECT a.attname::text FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid \
             WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped \
             AND a.attnotnull AND NOT a.atthasdef AND a.attidentity = '' AND t.typdefault IS NULL \
             AND NOT EXISTS (SELECT 1 FROM pg_trigger g WHERE g.tgrelid = a.attrelid \
             AND NOT g.tgisinternal AND g.tgtype & 6 = 6) ORDER BY a.attnum",
            &[&into],
        ),
        Dialect::MySql => loader.texts(
            "SELECT concat(c.column_name, '') FROM information_schema.columns c \
             WHERE c.table_schema = coalesce(nullif(?, ''), database()) AND c.table_name = ? \
             AND c.is_nullable = 'NO' AND c.column_default IS NULL \
             AND c.extra NOT LIKE '%auto_increment%' AND c.extra NOT LIKE '%GENERATED%' \
             AND NOT EXISTS (SELECT 1 FROM information_schema.triggers g \
             WHERE g.event_object_schema = c.table_schema \
             AND g.event_object_table = c.table_name AND g.action_timing = 'BEFORE' \
             AND g.event_manipulation = 'INSERT') ORDER BY c.ordinal_position",
            &[schema, &table.name],
        ),
    };
    Ok(found?.into_iter().flatten().collect())
}

/// The columns of a table that must be filled and are none of these. Blocks.
///
/// # Errors
/// [`Error::Unavailable`] where the database cannot be reached; what else it says.
pub fn unfilled(database: &Database, table: &TableName, filled: &[&str]) -> Result<Vec<String>> {
    let dialect = database.dialect();
    let mut loader = Loader::begin_reading(&database.target())?;
    let mut demanded = demanded(&mut loader, dialect, table)?;
    demanded.retain(|column| !filled.iter().any(|filled| is_same(filled, column, dialect)));
    Ok(demanded)
}

/// For new rows that cannot be stored, because these columns of their table have no value.
pub(super) fn refused(columns: &[String]) -> Error {
    let named: Vec<_> = columns.iter().map(|column| format!("\"{column}\"")).collect();
    let detail = format!(
        "new rows need a value for {} of their table, which this file does not have; nothing was \
         stored; add the column to the file where the import has it, or have whoever runs the server \
         add it to the import or give it a default in the database",
        named.join(", ")
    );
    let value = None;
    Error::Invalid(vec![Problem { parameter: None, code: "unfilled_column", value, detail }])
}
