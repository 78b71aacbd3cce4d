//! Definitions against the live databases: are the tables there that rows go into and are looked up in,
//! with the columns that are named, and would an import take its own examples?

use std::collections::BTreeSet;

use tokio::task::spawn_blocking;

use super::{Imports, cells};
use crate::database::{Database, TableName, can_note, unfilled};
use crate::definitions::{Fault, Field, Import, Reference, Target, probe_table};
use crate::error::Error;

impl Imports {
    /// What the databases and the examples have against definitions that could be read. A database that
    /// is away is no fault of a definition.
    pub async fn check(&self) -> Vec<Fault> {
        let definitions = self.definitions.get();
        let mut faults = Vec::new();
        let mut away = BTreeSet::new();
        for import in definitions.imports.values() {
            faults.extend(cells::check_examples(import));
            let name = import.database.as_deref().unwrap_or_default();
            match self.database(import) {
                // One wait for a database that is away is enough.
                Ok(_) if away.contains(name) => {}
                Ok(database) => {
                    if check_import(import, database, &mut faults).await == Reached::Away {
                        away.insert(name);
                    }
                }
                Err(_) => faults.push(self.unknown_database(import, name)),
            }
        }
        faults
    }

    fn unknown_database(&self, import: &Import, name: &str) -> Fault {
        let known: Vec<_> =
            self.databases.keys().map(String::as_str).filter(|name| !name.is_empty()).collect();
        Fault {
            file: import.file.clone(),
            line: import.line,
            message: format!("the database \"{name}\" is not configured"),
            remedy: match known.as_slice() {
                [] => {
                    "add it under [databases] in tallyroll.toml, or leave \"database\" out".into()
                }
                known => format!("name one of {}, or add it under [databases]", known.join(", ")),
            },
        }
    }
}

/// Whether a database answered.
#[derive(Debug, PartialEq, Eq)]
enum Reached {
    Yes,
    Away,
}

async fn check_import(import: &Import, database: &Database, faults: &mut Vec<Fault>) -> Reached {
    let found = found(database, &import.into, &[]).await;
    match found {
        Found::Yes => {}
        Found::Away => return Reached::Away,
        // What comes with the program is for whoever has its tables.
        Found::No(_) if import.is_built_in() => return Reached::Yes,
        Found::No(cause) => {
            faults.push(Fault {
                file: import.file.clone(),
                line: import.line,
                message: format!(
                    "the database refuses the table {} that rows are to go into: {cause}",
                    shown(&import.into)
                ),
                remedy: "correct \"into\", or make the table".into(),
            });
            return Reached::Yes;
        }
    }
    let before = faults.len();
    check_columns(import, database, faults).await;
    // A column that is misspelt would be told twice.
    if faults.len() == before {
        check_new_rows(import, database, faults).await;
    }
    for field in &import.fields {
        if let Some(reference) = &field.references {
            check_reference(import, field, reference, database, faults).await;
        }
    }
    Reached::Yes
}

/// Whether rows could be added: every column that needs a value has one, and what was stored can be
/// noted.
async fn check_new_rows(import: &Import, database: &Database, faults: &mut Vec<Fault>) {
    let table = TableName { schema: import.into.schema.clone(), name: import.into.table.clone() };
    let filled: Vec<String> = import.fields.iter().map(|field| field.column.clone()).collect();
    let database = database.clone();
    let asked = spawn_blocking(move || {
        let filled: Vec<&str> = filled.iter().map(String::as_str).collect();
        (unfilled(&database, &table, &filled), can_note(&database))
    });
    let asked = asked.await.map_err(|source| Error::internal("checking an import", source));
    let (unfilled, noted) = match asked {
        Ok((unfilled, noted)) => (unfilled, noted),
        Err(error) => (Err(error), Ok(())),
    };
    let unfilled = unfilled.unwrap_or_else(|error| {
        faults.extend(not_looked_up(import, &error));
        Vec::new()
    });
    for column in unfilled {
        faults.push(Fault {
            file: import.file.clone(),
            line: import.line,
            message: format!(
                "the column \"{column}\" of the table {} takes no null and has no default, and the \
                 import does not fill it, so that no row could be added",
                shown(&import.into)
            ),
            remedy: "add it to [[columns]], or give it a default in the database".into(),
        });
    }
    match noted {
        Ok(()) => {}
        Err(Error::Unavailable { code: "imports_not_set_up", detail, .. }) => faults.push(Fault {
            file: import.file.clone(),
            line: import.line,
            message: "nothing could be stored".into(),
            remedy: detail,
        }),
        Err(error) => faults.extend(not_looked_up(import, &error)),
    }
}

/// The fault where a database does not say what it demands; none where it is away.
fn not_looked_up(import: &Import, error: &Error) -> Option<Fault> {
    if matches!(error, Error::Unavailable { .. }) {
        return None;
    }
    Some(Fault {
        file: import.file.clone(),
        line: import.line,
        message: format!("what new rows of {} need is not to be had: {error}", shown(&import.into)),
        remedy: "let the server's user read the database's catalogue".into(),
    })
}

/// All at once, and one by one only where one is missing.
async fn check_columns(import: &Import, database: &Database, faults: &mut Vec<Fault>) {
    let columns: Vec<&str> = import.fields.iter().map(|field| field.column.as_str()).collect();
    if !matches!(found(database, &import.into, &columns).await, Found::No(_)) {
        return;
    }
    for field in &import.fields {
        if let Found::No(cause) = found(database, &import.into, &[&field.column]).await {
            let role = if import.key.contains(&field.key) { ", which is in \"key\"," } else { "" };
            faults.push(Fault {
                file: import.file.clone(),
                line: field.line,
                message: format!(
                    "the column \"{}\"{role} is not to be had of the table {}: {cause}",
                    field.column,
                    shown(&import.into)
                ),
                remedy: "name the table's column with \"column\", or add it to the table".into(),
            });
        }
    }
}

async fn check_reference(
    import: &Import,
    field: &Field,
    reference: &Reference,
    database: &Database,
    faults: &mut Vec<Fault>,
) {
    let Reference { schema, table, column, line } = reference;
    let target = Target { schema: schema.clone(), table: table.clone() };
    if let Found::No(cause) = found(database, &target, &[column]).await {
        faults.push(Fault {
            file: import.file.clone(),
            line: *line,
            message: format!(
                "the values of the column \"{}\" are to be found in \"{column}\" of the table {}, \
                 which the database refuses: {cause}",
                field.key,
                shown(&target)
            ),
            remedy: "correct \"references\", or make what it names".into(),
        });
    }
}

/// What a database says to columns of a table.
enum Found {
    Yes,
    Away,
    /// Why not.
    No(String),
}

async fn found(database: &Database, table: &Target, columns: &[&str]) -> Found {
    match database.describe(&probe_table(table, columns, database.dialect())).await {
        Ok(()) => Found::Yes,
        Err(Error::Unavailable { .. }) => Found::Away,
        // The database's own words: definitions are checked for whoever runs the server.
        Err(Error::Query { source, .. }) => Found::No(source.to_string()),
        Err(other) => Found::No(other.to_string()),
    }
}

fn shown(Target { schema, table }: &Target) -> String {
    match schema {
        Some(schema) => format!("\"{schema}.{table}\""),
        None => format!("\"{table}\""),
    }
}
