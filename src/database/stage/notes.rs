//! The notes beside the rows that say which imports were committed, whatever their server knew of it.

use crate::database::load::{Loader, Target};
use crate::database::{Database, Dialect};
use crate::error::{Error, Result};

/// The table in the business database that says which imports were committed.
pub(super) const NOTES: &str = "tallyroll_imports";

/// Makes the table of notes where it is not there.
pub(super) fn prepare_notes(target: &Target) -> Result<()> {
    let mut loader = Loader::begin_reading(target)?;
    if loader.texts(&format!("SELECT run_id FROM {NOTES} WHERE 1 = 0"), &[]).is_ok() {
        return Ok(());
    }
    drop(loader);
    let mut loader = Loader::begin(target)?;
    let text = match target {
        Target::Sqlite(_) | Target::Postgres { .. } => "text",
        Target::MySql { .. } => "longtext",
    };
    if matches!(target, Target::Postgres { .. }) {
        // Of two that make it at once, one would fail.
        loader.execute("SELECT pg_advisory_xact_lock(8386109806014461299)")?;
    }
    loader.execute(&format!(
        "CREATE TABLE IF NOT EXISTS {NOTES} (run_id varchar(36) NOT NULL PRIMARY KEY, \
         import varchar(200) NOT NULL, committed_at varchar(40) NOT NULL, result {text} NOT NULL)"
    ))?;
    loader.commit(&[])
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
