//! What is staged for which table.

use crate::database::Dialect;
use crate::rows::Kind;

/// A table, in a schema where one is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableName {
    /// The schema.
    pub schema: Option<String>,
    /// The table's name, unquoted.
    pub name: String,
}

/// Where a column's values must be found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Referenced {
    /// The table.
    pub table: TableName,
    /// Its column.
    pub column: String,
}

/// One column that rows bring.
#[derive(Debug, Clone)]
pub struct Staged {
    /// The column of the table that it goes into, unquoted.
    pub column: String,
    /// What it holds.
    pub kind: Kind,
    /// Digits of a decimal, and those after the point.
    pub digits: Option<(u32, u32)>,
    /// Whether a value may come once only, in the file and in the table.
    pub unique: bool,
    /// Where its values must be found.
    pub references: Option<Referenced>,
    /// The values that alone may be touched, for a caller who is held to some.
    pub held_to: Option<Vec<String>>,
}

/// What is staged for which table.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Where the rows go.
    pub into: TableName,
    /// The columns, in the order of the rows' values.
    pub columns: Vec<Staged>,
    /// The columns that tell rows apart; none: every row is a new one.
    pub key: Vec<usize>,
}

impl TableName {
    /// The name as statements have it.
    pub(super) fn quoted(&self, dialect: Dialect) -> String {
        let name = quoted(&self.name, dialect);
        match &self.schema {
            Some(schema) => format!("{}.{name}", quoted(schema, dialect)),
            None => name,
        }
    }
}

/// An identifier as statements have it.
pub(super) fn quoted(name: &str, dialect: Dialect) -> String {
    match dialect {
        Dialect::Sqlite | Dialect::Postgres => format!("\"{}\"", name.replace('"', "\"\"")),
        Dialect::MySql => format!("`{}`", name.replace('`', "``")),
    }
}

/// Whether two names of columns are one, which case does not tell apart where the dialect's names do not
/// know it.
pub(super) fn is_same(name: &str, other: &str, dialect: Dialect) -> bool {
    match dialect {
        Dialect::Postgres => name == other,
        Dialect::Sqlite | Dialect::MySql => name.eq_ignore_ascii_case(other),
    }
}

impl Plan {
    /// The column that goes into the table's column of this name.
    pub(super) fn named(&self, name: &str, dialect: Dialect) -> Option<usize> {
        self.columns.iter().position(|column| is_same(&column.column, name, dialect))
    }

    /// The columns that no two rows may share together: the key, what is declared, and of the
    /// table's own indexes those that say more.
    pub(super) fn rules(&self, mut indexes: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
        indexes.sort_by_key(Vec::len);
        let declared = (0..self.columns.len()).filter(|index| self.columns[*index].unique);
        let key = Some(self.key.clone()).filter(|key| !key.is_empty());
        let mut rules: Vec<Vec<usize>> = Vec::new();
        for columns in key.into_iter().chain(declared.map(|index| vec![index])).chain(indexes) {
            let says_more = |rule: &Vec<usize>| !rule.iter().all(|index| columns.contains(index));
            if rules.iter().all(says_more) {
                rules.push(columns);
            }
        }
        rules
    }
}
