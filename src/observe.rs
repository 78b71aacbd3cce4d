//! Logs: one line an event, to stderr, under the ids of request and run.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt;

use crate::error::{Error, Problem, Result};

/// Starts logging with this filter (`info`, `tallyroll=debug,warn`, …).
///
/// # Errors
/// [`Error::Invalid`] for a filter that cannot be understood.
pub fn start(filter: &str) -> Result<()> {
    let parsed = EnvFilter::try_new(format!("sea_orm_migration=warn,sqlx=warn,{filter}")).map_err(|error| {
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
