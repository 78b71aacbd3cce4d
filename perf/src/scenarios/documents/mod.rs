//! `bundle` and its kin: ledgers of two pages as PDFs in one archive.

mod cancel;
mod images;
mod many;
mod peer;
mod slow;
mod whole;

pub(super) use self::cancel::run as cancel;
pub(super) use self::images::run as images;
pub(super) use self::many::run as many;
pub(super) use self::slow::run as slow;
pub(super) use self::whole::run as whole;

use super::{at_rest, had};
use crate::bench::Bench;
use crate::database::{Backend, Database};
use crate::error::{Doing, Error, Result};
use crate::server::Server;

/// Lines of settlement in the databases; documents are read here.
const ROWS: u64 = 1_000;
/// The document as it comes with the program, which reads all of the table.
const LEDGER: &str = include_str!("../../../../src/documents/ledger.toml");
/// The table that it reads.
const ALL: &str = "from = \"documents\"\n";

/// The database that is read.
///
/// # Errors
/// It cannot be had.
fn database(bench: &Bench) -> Result<Database> {
    had(bench, Backend::Sqlite, ROWS)
}

/// A bundle of the first so many ledgers of a project.
fn bundle(documents: u64, delivery: &str) -> String {
    format!("/documents/{}/zip?delivery={delivery}", name(documents))
}

fn name(documents: u64) -> String {
    format!("ledgers-{documents}")
}

/// Starts a server that knows bundles of these sizes, with further settings.
///
/// # Errors
/// As [`Server::start`].
fn started(
    bench: &Bench,
    database: &Database,
    sizes: &[u64],
    settings: &[&str],
) -> Result<(Server, u64)> {
    let directory = definitions(bench, sizes)?;
    let settings = [&["--definitions", &directory], settings].concat();
    let (server, _) = at_rest(Server::start(bench, database, &settings)?)?;
    warmed(server, sizes[0])
}

/// The same on the first core alone.
///
/// # Errors
/// As [`Server::start_on_one_core`].
fn started_on_one_core(bench: &Bench, database: &Database, sizes: &[u64]) -> Result<(Server, u64)> {
    let directory = definitions(bench, sizes)?;
    let server = Server::start_on_one_core(bench, database, &["--definitions", &directory])?;
    let (server, _) = at_rest(server)?;
    warmed(server, sizes[0])
}

/// Has it render once, so that what is made once is there.
fn warmed(server: Server, documents: u64) -> Result<(Server, u64)> {
    server.get(&bundle(documents, "direct"))?.drain(crate::client::Pace::Fast, &mut |_| ())?;
    let idle = server.process().settled()?;
    Ok((server, idle))
}

/// Writes the definitions, each of which reads a part of the table.
fn definitions(bench: &Bench, sizes: &[u64]) -> Result<String> {
    let mut directory = String::new();
    for size in sizes {
        // Projects 1 and 2 have 200 and 2,000 of them.
        let project = if *size > 200 { 2 } else { 1 };
        let sql = format!(
            "sql = \"select * from documents where project_id = {project} and number <= 'L{project}-{size:04}'\"\n"
        );
        directory = definition(bench, &name(*size), |ledger| ledger.replacen(ALL, &sql, 1))?;
    }
    Ok(directory)
}

/// Writes what is made of the ledger's definition under a name of its own; gives the directory.
fn definition(bench: &Bench, name: &str, made: impl Fn(&str) -> String) -> Result<String> {
    let directory = bench.workplace.path().join("definitions");
    let documents = directory.join("documents");
    std::fs::create_dir_all(&documents).doing("making a directory of definitions")?;
    let text = made(LEDGER);
    if text == LEDGER {
        return Err(Error::new("the ledger's definition is another by now"));
    }
    let file = documents.join(format!("{name}.toml"));
    std::fs::write(&file, text).doing(format!("writing {}", file.display()))?;
    Ok(directory.display().to_string())
}
