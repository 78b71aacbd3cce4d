//! The notes beside the rows that say which imports were committed, whatever their server knew of it.

use crate::database::load::{Loader, Target};
use crate::database::{Database, Dialect};
use crate::error::{Cause, Error, Result};

/// The table in the business database that says which imports were committed.
pub(super) const NOTES: &str = "tallyroll_imports";

/// Makes the table of notes where it is not there.
pub(super) fn prepare_notes(target: &Target) -> Result<()> {
    if are_there(target)? {
        return Ok(());
    }
    let mut loader = Loader::begin(target)?;
    let text = match target {
        Target::Sqlite(_) | Target::Postgres { .. } => "text",
        Target::MySql { .. } => "longtext",
    };
    if matches!(target, Target::Postgres { .. }) {
        // Of two that make it at once, one would fail.
        loader.execute("SELECT pg_advisory_xact_lock(8386109806014461299)")?;
    }
    let made = loader.execute(&creation(text));
    made.map_err(|error| match error {
        Error::Query { source, .. } | Error::Internal { source, .. } => {
            not_allowed(text, Some(source))
        }
        other => other,
    })?;
    loader.commit(&[])
}

/// Whether the table of notes can be read.
fn are_there(target: &Target) -> Result<bool> {
    let mut loader = Loader::begin_reading(target)?;
    Ok(loader.texts(&format!("SELECT run_id FROM {NOTES} WHERE 1 = 0"), &[]).is_ok())
}

fn creation(text: &str) -> String {
    format!(
        "CREATE TABLE IF NOT EXISTS {NOTES} (run_id varchar(36) NOT NULL PRIMARY KEY, \
         import varchar(200) NOT NULL, committed_at varchar(40) NOT NULL, result {text} NOT NULL)"
    )
}

fn not_allowed(text: &str, source: Option<Cause>) -> Error {
    Error::Unavailable {
        code: "imports_not_set_up",
        detail: format!(
            "imports note what they stored in the table {NOTES} of the same database, which is not \
             there and which the server's user may not make; nothing was stored; whoever runs the \
             database lets the user make it, or makes it: {}",
            creation(text)
        ),
        source,
    }
}

/// Whether notes can be kept: their table is there, or nothing is known that keeps it from being made.
/// Blocks.
///
/// # Errors
/// [`Error::Unavailable`] where they cannot, or the database is away.
pub fn can_note(database: &Database) -> Result<()> {
    let target = database.target();
    if are_there(&target)? {
        return Ok(());
    }
    let mut loader = Loader::begin_reading(&target)?;
    // Whoever has a role may have its rights.
    let (text, barred) = match database.dialect() {
        Dialect::Sqlite => return Ok(()),
        Dialect::Postgres => (
            "text",
            "SELECT 'barred' WHERE NOT coalesce(has_schema_privilege(current_schema(), 'CREATE'), \
             false)",
        ),
        Dialect::MySql => (
            "longtext",
            "SELECT 'barred' FROM information_schema.schemata WHERE schema_name = database() \
             AND NOT EXISTS (SELECT 1 FROM information_schema.user_privileges \
             WHERE privilege_type = 'CREATE') \
             AND NOT EXISTS (SELECT 1 FROM information_schema.schema_privileges \
             WHERE privilege_type = 'CREATE') AND current_role() IS NULL",
        ),
    };
    if loader.texts(barred, &[])?.is_empty() { Ok(()) } else { Err(not_allowed(text, None)) }
}

pub(super) fn given_up() -> Error {
    Error::Unavailable {
        code: "node_lost",
        detail: "this process was taken for dead and its import given up for another; ask again"
            .into(),
        source: None,
    }
}

/// What a run came to that was committed. Nothing where it was not, and then it never will be: its
/// process may only have been taken for dead, and would go on when it comes back.
///
/// # Errors
/// [`Error::Unavailable`] where the database cannot be reached, [`Error::Busy`] where another writer
/// is in the way for too long.
pub fn committed(database: &Database, run: &str) -> Result<Option<String>> {
    let target = database.target();
    prepare_notes(&target)?;
    let mut loader = Loader::begin(&target)?;
    // A note without a result takes the place of the one that must not come any more; where that
    // one is being committed, this waits for it.
    let (insert, unless, place) = match database.dialect() {
        Dialect::Sqlite => ("INSERT OR IGNORE INTO", "", "?"),
        Dialect::Postgres => ("INSERT INTO", "ON CONFLICT DO NOTHING", "$1"),
        Dialect::MySql => ("INSERT IGNORE INTO", "", "?"),
    };
    if database.dialect() == Dialect::Postgres {
        loader.execute("SET LOCAL lock_timeout = '10s'")?;
    }
    let run = run.replace('\'', "''");
    loader.execute(&format!(
        "{insert} {NOTES} (run_id, import, committed_at, result) VALUES ('{run}', '', 'never', '') {unless}"
    ))?;
    let sql = format!("SELECT result FROM {NOTES} WHERE run_id = {place}");
    let result = loader.texts(&sql, &[&run])?.into_iter().next().flatten();
    loader.commit(&[])?;
    Ok(result.filter(|result| !result.is_empty()))
}
