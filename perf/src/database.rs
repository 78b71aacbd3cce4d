//! The databases that are measured: filled by the server's own `demo`, asked by their own command
//! line tools, gone afterwards.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::bench::Bench;
use crate::error::{Error, Result};
use crate::program::{self, Printed};

/// Where a PostgreSQL server is said to be.
const VARIABLE: &str = "TALLYROLL_TEST_POSTGRES";
const POSTGRES: &str = "postgres://root@127.0.0.1:5432/postgres";
/// The database that is made there, and dropped again.
const NAME: &str = "tallyroll_perf";

/// A kind of database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Backend {
    /// A file.
    Sqlite,
    /// A server.
    Postgres,
}

impl Backend {
    /// Every one.
    pub(crate) const ALL: [Self; 2] = [Self::Sqlite, Self::Postgres];

    /// The word for it on the command line.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        }
    }

    /// Its name in print.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        }
    }
}

/// A database full of example data, or why there is none.
pub(crate) enum Made {
    /// It can be measured.
    Ready(Database),
    /// It cannot be had here.
    LeftOut(String),
}

/// A database that is gone when dropped.
#[derive(Debug)]
pub(crate) struct Database {
    /// Its kind.
    pub(crate) backend: Backend,
    /// What the server is told.
    pub(crate) url: String,
    /// Settlement lines in it.
    pub(crate) rows: u64,
    file: PathBuf,
}

impl Database {
    /// Makes a database with as many lines as were asked for.
    ///
    /// # Errors
    /// The server's `demo` or the database refuses.
    pub(crate) fn make(bench: &Bench, backend: Backend) -> Result<Made> {
        let file = bench.workplace.path().join("business.db");
        let url = match backend {
            Backend::Sqlite => format!("sqlite://{}", file.display()),
            Backend::Postgres => match create()? {
                Ok(url) => url,
                Err(why) => return Ok(Made::LeftOut(why)),
            },
        };
        let database = Self { backend, url, rows: bench.options.rows, file };
        database.fill(bench)?;
        Ok(Made::Ready(database))
    }

    fn fill(&self, bench: &Bench) -> Result<()> {
        println!("filling {} with {} lines", self.backend.title(), self.rows);
        let mut demo = bench.server_command();
        let rows = self.rows.to_string();
        demo.args(["demo", "--rows", &rows, "--database-url", &self.url]);
        match program::text(&mut demo)? {
            Printed::Done(_) => Ok(()),
            Printed::Missing => Err(Error::new(format!("{} is gone", bench.server.display()))),
        }
    }

    /// Has the database's own tool answer a statement with one line.
    ///
    /// # Errors
    /// A statement that is refused.
    pub(crate) fn ask(&self, sql: &str) -> Result<Printed<String>> {
        program::text(&mut match self.backend {
            Backend::Sqlite => self.sqlite3("-list", sql),
            Backend::Postgres => {
                let mut psql = self.psql(sql);
                psql.args(["-At", "-F", "|"]);
                psql
            }
        })
    }

    /// `sqlite3` with an output mode and a statement.
    pub(crate) fn sqlite3(&self, mode: &str, sql: &str) -> Command {
        let mut command = Command::new("sqlite3");
        // A person's own settings lie in his home.
        command.env("HOME", "/nonexistent");
        command.args(["-readonly", "-batch", mode]).arg(&self.file).arg(sql);
        command
    }

    /// `psql` with a statement.
    pub(crate) fn psql(&self, sql: &str) -> Command {
        psql(&self.url, sql)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let gone = match self.backend {
            Backend::Sqlite => remove(&self.file),
            Backend::Postgres => drop_database(),
        };
        if let Err(error) = gone {
            eprintln!("the example in {} is still there: {error}", self.backend.title());
        }
    }
}

fn remove(file: &Path) -> Result<()> {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::new(error.to_string())),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn psql(url: &str, sql: &str) -> Command {
    let mut command = Command::new("psql");
    command.env("PGCONNECT_TIMEOUT", "5");
    command.args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", url, "-c", sql]);
    command
}

/// The version of the PostgreSQL server, where one is reachable.
pub(crate) fn postgres_version() -> Option<String> {
    let mut psql = psql(&maintenance_url(), "SHOW server_version");
    match program::text(psql.arg("-At")) {
        Ok(Printed::Done(version)) => Some(version),
        Ok(Printed::Missing) | Err(_) => None,
    }
}

fn maintenance_url() -> String {
    std::env::var(VARIABLE).ok().filter(|url| !url.is_empty()).unwrap_or_else(|| POSTGRES.into())
}

/// Makes an empty database and gives its URL, or says why PostgreSQL is left out.
fn create() -> Result<Result<String, String>> {
    let server = maintenance_url();
    match program::text(&mut psql(&server, "SELECT 1")) {
        Ok(Printed::Done(_)) => {}
        Ok(Printed::Missing) => return Ok(Err("psql is not installed".into())),
        Err(error) => {
            let words = error.to_string();
            let first = words.lines().next().unwrap_or_default();
            return Ok(Err(format!("no server is reachable ({VARIABLE}): {first}")));
        }
    }
    drop_database()?;
    program::text(&mut psql(&server, &format!("CREATE DATABASE {NAME}")))?;
    Ok(Ok(with_database(&server, NAME)))
}

fn drop_database() -> Result<()> {
    let sql = format!("DROP DATABASE IF EXISTS {NAME}");
    program::text(&mut psql(&maintenance_url(), &sql)).map(drop)
}

/// The same URL with another database.
fn with_database(url: &str, name: &str) -> String {
    let (place, parameters) = match url.split_once('?') {
        Some((place, parameters)) => (place, format!("?{parameters}")),
        None => (url, String::new()),
    };
    let host = place.find("://").map_or(0, |at| at + 3);
    let end = place[host..].find('/').map_or(place.len(), |at| host + at);
    format!("{}/{name}{parameters}", &place[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_keeps_all_but_its_database() {
        for (url, other) in [
            ("postgres://a:b@h:5432/postgres", "postgres://a:b@h:5432/x"),
            ("postgres://h", "postgres://h/x"),
            ("postgres://h/y?sslmode=disable", "postgres://h/x?sslmode=disable"),
            ("postgres:///y?host=/run/postgresql", "postgres:///x?host=/run/postgresql"),
        ] {
            assert_eq!(with_database(url, "x"), other);
        }
    }
}
