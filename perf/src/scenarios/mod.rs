//! The scenarios: a file or folder each, and one entry here.

mod books;
mod convert_many;
mod crowd;
mod documents;
mod first_bytes;
mod flush_batch;
mod imports;
mod many_clients;
mod reading;
mod rows;
mod sheets;
mod slow_reader;
mod streams;

use crate::bench::Bench;
use crate::checks::Checks;
use crate::database::{Backend, Database, Made};
use crate::error::{Error, Result};
use crate::results::Outcome;
use crate::server::Server;
use crate::settlements::REPORT;

/// Something to measure.
#[derive(Debug)]
pub(crate) struct Scenario {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// What it measures, in a sentence.
    pub(crate) about: &'static str,
    /// Does it.
    pub(crate) run: fn(&Bench) -> Result<Outcome>,
}

/// The name on the command line for every scenario in turn.
pub(crate) const EVERY: &str = "all";

/// Every scenario.
pub(crate) static ALL: &[Scenario] = &[
    Scenario {
        name: "rows",
        about: "the whole of a report as ndjson, json and csv, beside psql, sqlite3 and mariadb",
        run: rows::run,
    },
    Scenario {
        name: "books",
        about: "the whole of a report as a prepared xlsx file, beside Python's xlsxwriter",
        run: books::run,
    },
    Scenario {
        name: "crowd",
        about: "300 requests at once, and how short ones fare meanwhile",
        run: crowd::run,
    },
    Scenario {
        name: "imports",
        about: "a workbook of up to 500,000 rows into a table, empty or with half of them there",
        run: imports::run,
    },
    Scenario {
        name: "convert-many",
        about: "a hundred uploads of a thousand rows at once, each converted to xlsx and fetched",
        run: convert_many::run,
    },
    Scenario {
        name: "ndjson-postgres",
        about: "the whole of a report from PostgreSQL, beside COPY and beside a Tomcat",
        run: streams::ndjson_postgres,
    },
    Scenario {
        name: "ndjson-sqlite",
        about: "the same from SQLite, beside its shell and beside bare stepping",
        run: streams::ndjson_sqlite,
    },
    Scenario { name: "csv-sqlite", about: "the same as CSV", run: streams::csv_sqlite },
    Scenario {
        name: "xlsx",
        about: "a workbook of up to 500,000 lines, beside four libraries that write workbooks",
        run: sheets::run,
    },
    Scenario {
        name: "import",
        about: "a workbook of up to 500,000 rows into a table, beside libraries that only read it",
        run: reading::run,
    },
    Scenario {
        name: "ttfb",
        about: "how soon the first byte of every format comes, on every database",
        run: first_bytes::run,
    },
    Scenario {
        name: "slow-reader",
        about: "what the server's memory does while somebody reads at 20 MB/s",
        run: slow_reader::run,
    },
    Scenario {
        name: "many-clients",
        about: "50 clients at once, up to 100,000 lines each",
        run: many_clients::run,
    },
    Scenario {
        name: "bundle",
        about: "1 to 2,000 ledgers as PDFs in one ZIP, beside PDFBox",
        run: documents::whole,
    },
    Scenario {
        name: "bundle-many",
        about: "16 bundles of 200 ledgers at once, with 1 to 16 slots",
        run: documents::many,
    },
    Scenario {
        name: "bundle-slow",
        about: "8 readers who take their prepared bundles slowly",
        run: documents::slow,
    },
    Scenario {
        name: "bundle-images",
        about: "20 photos of 3 MB, one a document and all in one",
        run: documents::images,
    },
    Scenario {
        name: "bundle-cancel",
        about: "what is still rendered for a client that left",
        run: documents::cancel,
    },
    Scenario { name: "flush-batch", about: "from 1 to 10,000 rows a chunk", run: flush_batch::run },
];

/// The scenarios of that name.
pub(crate) fn find(name: &str) -> Option<&'static [Scenario]> {
    if name == EVERY {
        return Some(ALL);
    }
    ALL.iter().find(|scenario| scenario.name == name).map(std::slice::from_ref)
}

/// Measures the same on every database that was asked for, one after the other. Also says, in
/// Markdown, which were left out.
///
/// # Errors
/// No database could be had, or one could not be measured.
fn on_each<T>(
    bench: &Bench,
    mut measure: impl FnMut(&Database) -> Result<T>,
) -> Result<(Vec<T>, String)> {
    let mut measured = Vec::new();
    let mut left_out = String::new();
    for &backend in &bench.options.backends {
        match Database::make(bench, backend)? {
            Made::Ready(database) => measured.push(measure(&database)?),
            Made::LeftOut(why) => {
                let words = format!("{} is left out: {why}.", backend.title());
                println!("{words}");
                left_out = left_out + &words + "\n\n";
            }
        }
    }
    if measured.is_empty() {
        return Err(Error::new("no database could be had, so nothing was measured"));
    }
    Ok((measured, left_out))
}

/// One database with so many lines.
///
/// # Errors
/// It cannot be had.
fn had(bench: &Bench, backend: Backend, rows: u64) -> Result<Database> {
    match Database::with(bench, backend, rows)? {
        Made::Ready(database) => Ok(database),
        Made::LeftOut(why) => Err(Error::new(format!("{} is not here: {why}", backend.title()))),
    }
}

/// A server that has answered once, and what it takes with nothing to do.
///
/// # Errors
/// As [`Server::start`].
fn started(bench: &Bench, database: &Database, settings: &[&str]) -> Result<(Server, u64)> {
    let server = Server::start(bench, database, settings)?;
    at_rest(server)
}

fn at_rest(server: Server) -> Result<(Server, u64)> {
    server.get(&format!("{REPORT}/rows?limit=1"))?.text()?;
    let idle = server.process().settled()?;
    Ok((server, idle))
}

/// Checks that something came out the same on every database.
fn same_on_each<'a>(
    what: &str,
    each: impl IntoIterator<Item = (Backend, &'a String)>,
    checks: &mut Checks,
) {
    let mut each = each.into_iter();
    let Some((first, expected)) = each.next() else { return };
    let mut others = each.peekable();
    if others.peek().is_none() {
        checks.left_out(&format!("{what} from every database"), "one alone was measured");
    }
    for (other, found) in others {
        let what = format!("{what} from {} as from {}", other.word(), first.word());
        checks.same(&what, found, expected);
    }
}
