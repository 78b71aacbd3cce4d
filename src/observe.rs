//! Logs: one line an event, to stderr, under the ids of request and run.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt;

use crate::error::{Error, Problem, Result};

/// Libraries that say at length what is said here in a line: a broken-off answer is its run's to tell,
/// a statement takes as long as its client, and who waits too long for a connection is refused.
const QUIET: &str = "sea_orm_migration=warn,sqlx=warn,sqlx::query=error,sqlx::pool=error,\
     actix_http=off,actix_server=warn";

/// Starts logging with this filter (`info`, `tallyroll=debug,warn`, …).
///
/// # Errors
/// [`Error::Invalid`] for a filter that cannot be understood.
pub fn start(filter: &str) -> Result<()> {
    let parsed = EnvFilter::try_new(format!("{QUIET},{filter}")).map_err(|error| {
        Error::Invalid(vec![Problem::parameter(
            "log",
            "bad_filter",
            filter,
            format!("log is \"{filter}\", which is not a filter such as info or tallyroll=debug: {error}"),
        )])
    })?;
    let colours = std::io::stderr().is_terminal();
    let ours = fmt().with_env_filter(parsed).with_writer(std::io::stderr).with_ansi(colours);
    // A second start in one process changes nothing.
    let _ = ours.with_target(false).try_init();
    Ok(())
}
