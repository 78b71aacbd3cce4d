//! `xlsx`: a workbook of half a million lines, direct and prepared, beside the libraries that make the same.

use std::path::Path;
use std::process::Command;

use super::{had, started};
use crate::bench::Bench;
use crate::checks::Checks;
use crate::client::Pace;
use crate::contest::{Contest, Turn};
use crate::database::{Backend, Database};
use crate::error::{Error, Result};
use crate::peers::{self, Found};
use crate::program::{self, Printed};
use crate::results::Outcome;
use crate::sample::Sample;
use crate::seen::Seen;
use crate::server::Server;
use crate::settlements::{REPORT, against_database, judge_memory, place_of_column, stored};
use crate::workbook::{self, Workbook};

/// Lines at most.
const ROWS: u64 = 500_000;
/// How much larger than theirs a workbook may be.
const LARGER: f64 = 1.2;

/// How a program is called to make a workbook at a path.
type Making = Box<dyn Fn(&Path) -> Command>;

/// A program that makes a workbook.
struct Peer {
    name: &'static str,
    /// So many times as fast is to be reached.
    least: f64,
    command: Found<Making>,
}

/// Runs the scenario.
///
/// # Errors
/// A request or a program that fails.
pub(super) fn run(bench: &Bench) -> Result<Outcome> {
    let database = had(bench, Backend::Sqlite, bench.options.rows.min(ROWS))?;
    let (server, idle) = started(bench, &database, &[])?;
    let mut checks = Checks::default();
    verify(bench, &server, &database, &mut checks)?;
    let made = bench.workplace.path().join("peer.xlsx");
    let peers = peers(bench, &server, &database);
    let mut contest = Contest::default();
    let ours = |delivery: &'static str| {
        let server = &server;
        move || {
            let path = format!("{REPORT}/rows?format=xlsx&delivery={delivery}");
            let (sample, run) = Sample::take(server, &path, Pace::Fast, idle)?;
            if delivery == "prepared" {
                server.forget(&run)?;
            }
            Ok(sample.into())
        }
    };
    contest.enter("tallyroll, direct", ours("direct"));
    contest.enter("tallyroll, prepared", ours("prepared"));
    let place = place_of_column(&server)?;
    for peer in &peers {
        match &peer.command {
            Err(remedy) => contest.leave_out(peer.name, remedy),
            Ok(command) => {
                // Once outside of the rounds, to see that it does what is asked of it.
                write(peer.name, command, &made)?;
                let (_, counted) = workbook::read(&made, place)?;
                against_database(peer.name, counted, stored(&database)?, &mut checks);
                contest.enter(peer.name, || write(peer.name, command, &made));
            }
        }
    }
    let standing = contest.hold(bench.options.asked_rounds)?;
    for peer in &peers {
        standing.faster(peer.name, peer.least, &mut checks);
        if let Some(size) = standing.size(peer.name) {
            let what = format!("{size:.2} × the size of {}'s, at most {LARGER} wanted", peer.name);
            checks.check(size <= LARGER, &what);
        }
    }
    judge_memory("sqlite xlsx", standing.memory(), &mut checks);
    server.stop()?;
    let head = format!(
        "{} lines of `settlements` in the order of `paid_at, id` as a workbook: the server's over loopback \
         HTTP, thrown away as it comes; the others' out of the same SQLite file into a file, with the \
         same header, widths and number formats, each packed as hard as it does of itself. Median \
         (lowest–highest) of the rounds; MB are 10^6 bytes; CPU and memory are the server's.\n\n",
        database.rows
    );
    Ok(Outcome { text: head + &standing.table(), checks })
}

/// Receives a workbook, direct, and checks all that is known of it.
fn verify(bench: &Bench, server: &Server, database: &Database, checks: &mut Checks) -> Result<()> {
    let file = bench.workplace.path().join("received.xlsx");
    let mut book = Workbook::keep(file, place_of_column(server)?)?;
    let path = format!("{REPORT}/rows?format=xlsx&delivery=direct");
    let seen = Seen::take(server, &path, &mut book)?;
    against_database("sqlite xlsx", seen.counted, stored(database)?, checks);
    seen.against_record("sqlite xlsx", server, checks)
}

fn peers(bench: &Bench, server: &Server, database: &Database) -> Vec<Peer> {
    let lines = database.rows.to_string();
    let from_database = |program: std::path::PathBuf, with_python: bool| {
        let (file, lines) = (database.file().to_owned(), lines.clone());
        let command: Making = Box::new(move |made| {
            let mut command =
                if with_python { peers::by_python(&program, &[]) } else { Command::new(&program) };
            command.arg(&file).arg(made).arg(&lines);
            command
        });
        command
    };
    let c = peers::in_c(
        bench,
        "book_libxlsxwriter.c",
        &["xlsxwriter", "sqlite3"],
        "gcc libxlsxwriter-dev libsqlite3-dev",
    );
    let exceljs = peers::exceljs(bench).and_then(|home| {
        let lines = home.join("lines.ndjson");
        keep_lines(server, &lines).map_err(|error| error.to_string())?;
        let command: Making = Box::new(move |made| {
            let mut command = Command::new("node");
            command.current_dir(&home).arg(peers::source("book_exceljs.mjs")).arg(&lines).arg(made);
            command
        });
        Ok(command)
    });
    vec![
        Peer {
            name: "rust_xlsxwriter, constant memory",
            least: 4.5,
            command: peers::own("peer-book").map(|program| from_database(program, false)),
        },
        Peer {
            name: "libxlsxwriter, constant memory",
            least: 8.0,
            command: c.map(|program| from_database(program, false)),
        },
        Peer {
            name: "XlsxWriter, constant memory",
            least: 25.0,
            command: peers::python("book_xlsxwriter.py", "xlsxwriter")
                .map(|script| from_database(script, true)),
        },
        Peer { name: "ExcelJS, streaming", least: 25.0, command: exceljs },
    ]
}

/// Keeps the lines as NDJSON.
fn keep_lines(server: &Server, file: &Path) -> Result<()> {
    use std::io::Write;
    let mut out = std::fs::File::create(file).map_err(|error| Error::new(error.to_string()))?;
    let mut written = Ok(());
    server.get(&format!("{REPORT}/rows?format=ndjson"))?.drain(Pace::Fast, &mut |bytes| {
        if written.is_ok() {
            written = out.write_all(bytes);
        }
    })?;
    written.map_err(|error| Error::new(error.to_string()))
}

fn write(name: &str, command: &dyn Fn(&Path) -> Command, made: &Path) -> Result<Turn> {
    let _ = std::fs::remove_file(made);
    let Printed::Done(poured) = program::pour(&mut command(made))? else {
        return Err(Error::new(format!("{name} is gone")));
    };
    let bytes = std::fs::metadata(made).map_or(0, |made| made.len());
    Ok(Turn { whole: poured.whole, bytes, ..Turn::default() })
}
