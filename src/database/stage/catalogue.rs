//! What a database's catalogue says of the table that rows go into: the types of its columns, and
//! what it demands of rows by itself.

use super::demand::Demand;
use super::plan::{Plan, Referenced, Staged, TableName};
use super::unfilled;
use crate::database::Dialect;
use crate::database::load::Loader;
use crate::error::{Error, Result};

/// What stands between the parts of one answer: no name has it.
const APART: char = '\u{1F}';

/// What is known of a table.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The types of the plan's columns as PostgreSQL names them, where it is one.
    pub(super) types: Vec<Option<String>>,
    /// For each column the collation of the table's, where it has one that matters.
    pub(super) collations: Vec<Option<String>>,
    /// What each column demands.
    pub(super) demands: Vec<Demand>,
    /// Columns of the plan that no two rows may share together, of each unique index that is made of
    /// such columns alone.
    pub(super) unique: Vec<Vec<usize>>,
    /// Columns of the table, of the plan or not, that a new row must bring a value for.
    pub(super) demanded: Vec<String>,
}

impl Known {
    /// Asks for it; where a foreign key says where a column's values must be found and the plan does
    /// not, the plan does from here on.
    pub(super) fn ask(loader: &mut Loader, dialect: Dialect, plan: &mut Plan) -> Result<Self> {
        let blank = vec![None; plan.columns.len()];
        let mut known = Self {
            types: blank.clone(),
            collations: blank,
            demands: vec![Demand::default(); plan.columns.len()],
            unique: Vec::new(),
            demanded: unfilled::demanded(loader, dialect, &plan.into)?,
        };
        let into = plan.into.quoted(dialect);
        for (index, column) in plan.columns.iter().enumerate() {
            known.column(loader, dialect, &plan.into, &into, (index, column))?;
        }
        known.unique(loader, dialect, plan, &into)?;
        for (index, referenced) in references(loader, dialect, plan, &into)? {
            plan.columns[index].references.get_or_insert(referenced);
        }
        Ok(known)
    }

    fn column(
        &mut self,
        loader: &mut Loader,
        dialect: Dialect,
        table: &TableName,
        into: &str,
        (index, column): (usize, &Staged),
    ) -> Result<()> {
        let schema = table.schema.as_deref().unwrap_or_default();
        let found = match dialect {
            Dialect::Sqlite => loader.texts(
                "SELECT \"notnull\" || char(31) || '' || char(31) || type \
                 FROM pragma_table_xinfo(?1) WHERE name = ?2 COLLATE NOCASE",
                &[&table.name, &column.column],
            ),
            // Of a domain what it is made of; a type without its digits is cast to, lest a value be
            // cut to them.
            Dialect::Postgres => loader.texts(
                "SELECT concat_ws(chr(31), a.attnotnull::int, format_type(a.atttypid, -1), \
                 CASE t.typtype WHEN 'd' THEN format_type(t.typbasetype, t.typtypmod) \
                 ELSE format_type(a.atttypid, a.atttypmod) END) \
                 FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid \
                 WHERE a.attrelid = to_regclass($1) AND a.attname = $2 AND NOT a.attisdropped",
                &[into, &column.column],
            ),
            // Where null asks for a number or the time, it is none.
            Dialect::MySql => loader.texts(
                "SELECT concat_ws(char(31 USING utf8mb4), is_nullable = 'NO' AND extra NOT LIKE \
                 '%auto_increment%' AND data_type <> 'timestamp', coalesce(collation_name, ''), \
                 column_type) FROM information_schema.columns WHERE table_schema = \
                 coalesce(nullif(?, ''), database()) AND table_name = ? AND column_name = ?",
                &[schema, &table.name, &column.column],
            ),
        };
        let found = found?.into_iter().next().flatten().ok_or_else(|| missing(column))?;
        let mut parts = found.splitn(3, APART);
        let needed = parts.next() == Some("1");
        let second = parts.next().unwrap_or_default().to_owned();
        let declared = parts.next().unwrap_or_default();
        self.demands[index] = Demand { needed, ..Demand::of(dialect, declared) };
        match dialect {
            Dialect::Sqlite => {}
            Dialect::Postgres => self.types[index] = Some(second),
            Dialect::MySql => {
                self.collations[index] = Some(second).filter(|name| name.starts_with("utf8mb4"));
            }
        }
        Ok(())
    }

    fn unique(
        &mut self,
        loader: &mut Loader,
        dialect: Dialect,
        plan: &Plan,
        into: &str,
    ) -> Result<()> {
        let table = plan.into.name.as_str();
        let schema = plan.into.schema.as_deref().unwrap_or_default();
        // The index, a collation, and the column; an index over anything but whole columns has one
        // without a name, which is nobody's.
        let found = match dialect {
            Dialect::Sqlite => loader.texts(
                "SELECT l.name || char(31) || coalesce(c.coll, '') || char(31) || \
                 coalesce(c.name, '') FROM pragma_index_list(?1) AS l, \
                 pragma_index_xinfo(l.name) AS c WHERE l.\"unique\" AND NOT l.partial AND c.key \
                 UNION ALL SELECT char(31) || char(31) || name FROM pragma_table_info(?1) AS t \
                 WHERE pk > 0 AND NOT EXISTS (SELECT 1 FROM pragma_index_list(?1) \
                 WHERE origin = 'pk')",
                &[table],
            ),
            Dialect::Postgres => loader.texts(
                "SELECT concat(i.indexrelid::text, chr(31), chr(31), a.attname) FROM pg_index i \
                 CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k (number, place) \
                 LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number \
                 AND k.number > 0 WHERE i.indrelid = $1::text::regclass AND i.indisunique \
                 AND i.indisvalid AND i.indpred IS NULL AND k.place <= i.indnkeyatts \
                 ORDER BY i.indexrelid, k.place",
                &[into],
            ),
            Dialect::MySql => loader.texts(
                "SELECT concat(index_name, char(31 USING utf8mb4), char(31 USING utf8mb4), \
                 CASE WHEN sub_part IS NULL THEN coalesce(column_name, '') ELSE '' END) \
                 FROM information_schema.statistics WHERE NOT non_unique AND table_schema = \
                 coalesce(nullif(?, ''), database()) AND table_name = ? \
                 ORDER BY index_name, seq_in_index",
                &[schema, table],
            ),
        };
        let mut indexes: Vec<(String, Vec<Option<usize>>)> = Vec::new();
        for line in found?.into_iter().flatten() {
            let mut parts = line.splitn(3, APART);
            let index = parts.next().unwrap_or_default();
            let collation = parts.next().unwrap_or_default();
            let column = plan.named(parts.next().unwrap_or_default(), dialect);
            if let Some(column) = column
                && ["NOCASE", "RTRIM"].contains(&collation)
            {
                self.collations[column] = Some(collation.to_owned());
            }
            match indexes.last_mut() {
                Some((name, columns)) if name == index => columns.push(column),
                _ => indexes.push((index.to_owned(), vec![column])),
            }
        }
        let whole = indexes.into_iter().filter_map(|(_, columns)| columns.into_iter().collect());
        self.unique = whole.collect();
        Ok(())
    }
}

/// For columns of the plan the one column of another table that a foreign key says.
fn references(
    loader: &mut Loader,
    dialect: Dialect,
    plan: &Plan,
    into: &str,
) -> Result<Vec<(usize, Referenced)>> {
    let table = plan.into.name.as_str();
    let schema = plan.into.schema.as_deref().unwrap_or_default();
    // The column, and the schema, the table and the column that it refers to. Rows that refer to rows
    // of their own table may come with them.
    let found = match dialect {
        Dialect::Sqlite => loader.texts(
            "SELECT min(\"from\") || char(31) || char(31) || min(\"table\") || char(31) || \
             min(\"to\") FROM pragma_foreign_key_list(?1) \
             WHERE \"table\" <> ?1 COLLATE NOCASE GROUP BY id HAVING count(*) = 1",
            &[table],
        ),
        Dialect::Postgres => loader.texts(
            "SELECT concat_ws(chr(31), a.attname, n.nspname, r.relname, b.attname) \
             FROM pg_constraint c JOIN pg_class r ON r.oid = c.confrelid \
             JOIN pg_namespace n ON n.oid = r.relnamespace \
             JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1] \
             JOIN pg_attribute b ON b.attrelid = c.confrelid AND b.attnum = c.confkey[1] \
             WHERE c.contype = 'f' AND c.conrelid = $1::text::regclass \
             AND c.confrelid <> c.conrelid AND array_length(c.conkey, 1) = 1",
            &[into],
        ),
        Dialect::MySql => loader.texts(
            "SELECT concat_ws(char(31 USING utf8mb4), min(column_name), \
             min(referenced_table_schema), min(referenced_table_name), \
             min(referenced_column_name)) FROM information_schema.key_column_usage \
             WHERE referenced_table_name IS NOT NULL AND table_schema = \
             coalesce(nullif(?, ''), database()) AND table_name = ? \
             AND (referenced_table_schema, referenced_table_name) <> (table_schema, table_name) \
             GROUP BY constraint_name HAVING count(*) = 1",
            &[schema, table],
        ),
    };
    let reference = |line: String| {
        let mut parts = line.splitn(4, APART).map(str::to_owned);
        let index = plan.named(&parts.next()?, dialect)?;
        let schema = parts.next().filter(|schema| !schema.is_empty());
        let table = TableName { schema, name: parts.next()? };
        Some((index, Referenced { table, column: parts.next()? }))
    };
    Ok(found?.into_iter().flatten().filter_map(reference).collect())
}

fn missing(column: &Staged) -> Error {
    let source = format!("the table has no column \"{}\"", column.column).into();
    Error::Query { doing: "looking a table up that rows go into".into(), source }
}
