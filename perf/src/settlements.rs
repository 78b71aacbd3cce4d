//! The report that is measured, and what the database itself says of it.

use crate::checks::Checks;
use crate::database::Database;
use crate::error::{Error, Result};
use crate::program::Printed;
use crate::scan::Counted;
use crate::server::Server;
use crate::stats::mebibytes;

/// The report, below `/api/v1`.
pub(crate) const REPORT: &str = "/reports/settlements";
/// The column that is added up.
pub(crate) const COLUMN: &str = "net";
/// What the report reads, in its order.
pub(crate) const ORDERED: &str = "SELECT * FROM settlement_lines ORDER BY paid_at, id";
/// What an answer may add to an idle server's memory, whatever its rows.
pub(crate) const CEILING: u64 = 32 << 20;

const TOTALS: &str = "SELECT count(*), sum(net) FROM settlement_lines";

/// The place of the column that is added up, from 0.
///
/// # Errors
/// A report without it.
pub(crate) fn place_of_column(server: &Server) -> Result<usize> {
    let report = server.json(REPORT)?;
    let columns = report["columns"].as_array();
    let place =
        columns.and_then(|columns| columns.iter().position(|column| column["key"] == COLUMN));
    place.ok_or_else(|| Error::new(format!("GET {REPORT} shows no column \"{COLUMN}\"")))
}

/// Rows and sum as the database has them; nothing where its command line tool is not installed.
///
/// # Errors
/// A database that does not answer.
pub(crate) fn stored(database: &Database) -> Result<Option<Counted>> {
    match database.ask(TOTALS)? {
        Printed::Done(line) => totals(&line).map(Some),
        Printed::Missing => Ok(None),
    }
}

fn totals(line: &str) -> Result<Counted> {
    let parsed = line
        .split_once('|')
        .and_then(|(rows, sum)| Some(Counted { rows: rows.parse().ok()?, sum: sum.parse().ok()? }));
    parsed.ok_or_else(|| Error::new(format!("\"{line}\" is no count and no sum")))
}

/// Checks what was counted in an answer against the database.
pub(crate) fn against_database(
    about: &str,
    seen: Counted,
    stored: Option<Counted>,
    checks: &mut Checks,
) {
    let Some(stored) = stored else {
        let why = "the database's command line tool is not installed";
        checks.left_out(&format!("{about}: rows and sum as the database has them"), why);
        return;
    };
    checks.same(&format!("{about}: rows as in the database"), &seen.rows, &stored.rows);
    let what = format!("{about}: sum({COLUMN}) as in the database");
    checks.same(&what, &seen.sum, &stored.sum);
}

/// Checks that an answer added no more to the idle server's memory than it may.
pub(crate) fn judge_memory(about: &str, above_idle: u64, checks: &mut Checks) {
    let (most, allowed) = (mebibytes(above_idle), mebibytes(CEILING));
    let what = format!("{about}: {most} MiB above idle, {allowed} allowed");
    checks.check(above_idle <= CEILING, &what);
}
