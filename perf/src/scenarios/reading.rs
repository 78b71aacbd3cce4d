//! `import`: a workbook read, checked and stored, beside libraries that read the same workbook and do
//! nothing with it.

use super::imports::{self, TABLE};
use super::{on_each, started};
use crate::bench::Bench;
use crate::checks::Checks;
use crate::contest::{Contest, Turn, poured};
use crate::error::Result;
use crate::peers;
use crate::program;
use crate::results::Outcome;

const OPENPYXL: &str = "openpyxl, read-only, merely reading";
const CALAMINE: &str = "python-calamine, merely reading";
/// So many times as fast as the first of these is to be reached.
const LEAST: f64 = 4.0;

/// Runs the scenario.
///
/// # Errors
/// No database; an upload or a program that fails.
pub(super) fn run(bench: &Bench) -> Result<Outcome> {
    let mut checks = Checks::default();
    let (tables, left_out) = on_each(bench, |database| {
        let definitions = bench.workplace.path().join("definitions");
        imports::define(&definitions)?;
        let definitions = definitions.to_string_lossy().into_owned();
        let (server, _) = started(bench, database, &["--definitions", &definitions])?;
        let rows = database.rows.min(imports::ROWS);
        let book = bench.workplace.path().join("lines.xlsx");
        let bytes = imports::fetch(&server, "xlsx", rows, &book)?;
        imports::change(database, &[TABLE])?;
        let mut contest = Contest::default();
        contest.enter(&format!("tallyroll into {}", database.backend.title()), || {
            imports::change(database, &["DELETE FROM perf_lines"])?;
            let taken = imports::take(&server, &book)?;
            imports::stored_all(&taken, rows)?;
            Ok(Turn { whole: taken.whole, bytes, cpu: Some(taken.cpu), ..Turn::default() })
        });
        for (name, script, package) in [
            (OPENPYXL, "read_openpyxl.py", "openpyxl"),
            (CALAMINE, "read_calamine.py", "python-calamine"),
        ] {
            match peers::python(script, package) {
                Err(remedy) => contest.leave_out(name, &remedy),
                Ok(script) => contest.enter(name, {
                    let book = &book;
                    move || {
                        let mut reading = peers::by_python(&script, &[book.as_os_str()]);
                        let read = poured(name, program::pour(&mut reading))?;
                        Ok(Turn { bytes, ..read })
                    }
                }),
            }
        }
        let standing = contest.hold(bench.options.asked_rounds)?;
        standing.faster(OPENPYXL, LEAST, &mut checks);
        server.stop()?;
        Ok(format!("{rows} rows, {}:\n\n{}\n", database.backend.title(), standing.table()))
    })?;
    let head = "A workbook of the settlements report, twelve columns wide, uploaded over loopback HTTP into \
         an empty table with a primary key: every cell is read and checked, one column is looked up in \
         another table, every row is stored. Beside it programs that read every cell and store none. \
         Median (lowest–highest) of the rounds; MB are 10^6 bytes of workbook; CPU is that of the server \
         and the child that reads.\n\n";
    Ok(Outcome { text: left_out + head + &tables.join("\n"), checks })
}
