//! What a driver's error means for whoever asked.

use std::time::Duration;

use crate::error::{Cause, Error};

/// For a database that cannot be reached or gives no connection.
pub(super) fn unavailable(error: sqlx::Error) -> Error {
    Error::Unavailable {
        code: "database_unavailable",
        detail: "the database cannot be reached or has no connection free; try again in a moment"
            .into(),
        source: Some(cause(error)),
    }
}

/// The cause for the log; a pool that tried in vain knows no other than that its time was up.
pub(super) fn cause(error: sqlx::Error) -> Cause {
    match error {
        sqlx::Error::PoolTimedOut => "no connection came about in time".into(),
        other => other.into(),
    }
}

/// The cause of a statement's failure: the database's own words alone where it said something, without
/// where in its sources.
pub(super) fn said(error: sqlx::Error) -> Cause {
    match error.as_database_error() {
        Some(said) => said.message().into(),
        None => error.into(),
    }
}

/// For rows that another writer is at, too.
pub(super) fn crossed(retry_after: Duration) -> Error {
    let detail =
        "another writer is at the same rows, and nothing was stored; try again when it is done";
    Error::Busy { detail: detail.into(), retry_after }
}

/// For a database that went away in the middle of an answer.
pub(super) fn lost(error: sqlx::Error) -> Error {
    Error::Unavailable {
        code: "database_lost",
        detail: "the database ended the connection while the rows were being read; try again"
            .into(),
        source: Some(error.into()),
    }
}

/// For a statement that was refused when it was prepared: the database's own words alone, without
/// what it tells of its own sources.
pub(super) fn refused(said: &dyn sqlx::error::DatabaseError) -> Error {
    Error::Query { doing: "preparing a report's statement".into(), source: said.message().into() }
}
