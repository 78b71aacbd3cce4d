//! The databases that are measured: filled by the server's own `demo`, asked by their own command
//! line tools, gone afterwards.

mod service;
mod tools;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) use self::service::{MYSQL, POSTGRES};
pub(crate) use self::tools::{mysql_program, python};
use crate::bench::Bench;
use crate::error::{Error, Result};
use crate::program::{self, Printed};

/// A kind of database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Backend {
    /// A file.
    Sqlite,
    /// A server.
    Postgres,
    /// A server: MySQL or MariaDB.
    Mysql,
}

impl Backend {
    /// Every one.
    pub(crate) const ALL: [Self; 3] = [Self::Sqlite, Self::Postgres, Self::Mysql];

    /// The word for it on the command line.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
            Self::Mysql => "mysql",
        }
    }

    /// Its name in print.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
            Self::Mysql => "MySQL",
        }
    }

    /// The programs that its processes run, where it has any of its own.
    pub(crate) const fn programs(self) -> &'static [&'static str] {
        match self {
            Self::Sqlite => &[],
            Self::Postgres => &["postgres"],
            Self::Mysql => &["mysqld", "mariadbd"],
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
        Self::with(bench, backend, bench.options.rows)
    }

    /// Makes a database with so many lines.
    ///
    /// # Errors
    /// The server's `demo` or the database refuses.
    pub(crate) fn with(bench: &Bench, backend: Backend, rows: u64) -> Result<Made> {
        let file = bench.workplace.path().join("business.db");
        let made = match backend {
            Backend::Sqlite => Ok(format!("sqlite://{}", file.display())),
            Backend::Postgres => POSTGRES.create()?,
            Backend::Mysql => MYSQL.create()?,
        };
        let url = match made {
            Ok(url) => url,
            Err(why) => return Ok(Made::LeftOut(why)),
        };
        let database = Self { backend, url, rows, file };
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

    /// Has the database's own tool answer a statement with one line, its values with `|` between.
    ///
    /// # Errors
    /// A statement that is refused.
    pub(crate) fn ask(&self, sql: &str) -> Result<Printed<String>> {
        let printed = program::text(&mut match self.backend {
            Backend::Sqlite => self.sqlite3("-list", sql),
            Backend::Postgres => self.psql(sql),
            Backend::Mysql => self.mysql("--raw", sql),
        })?;
        Ok(match printed {
            Printed::Done(line) => Printed::Done(line.replace('\t', "|")),
            Printed::Missing => Printed::Missing,
        })
    }

    /// Has the database's own tool run a statement that changes something.
    ///
    /// # Errors
    /// A statement that is refused; no tool.
    pub(crate) fn change(&self, sql: &str) -> Result<()> {
        let mut command = match self.backend {
            Backend::Sqlite => self.writing_sqlite3(&[sql]),
            Backend::Postgres => self.psql(sql),
            Backend::Mysql => self.mysql("--raw", sql),
        };
        match program::text(&mut command)? {
            Printed::Done(_) => Ok(()),
            Printed::Missing => Err(Error::new("the database's own tool is not installed")),
        }
    }

    /// Has the database's own tool load a CSV file with a header into columns of a table.
    pub(crate) fn load_csv(&self, table: &str, columns: &str, file: &Path) -> Command {
        let file = file.display();
        match self.backend {
            Backend::Sqlite => {
                let import = format!(".import --csv --skip 1 '{file}' {table}");
                self.writing_sqlite3(&["PRAGMA synchronous = NORMAL", &import])
            }
            Backend::Postgres => self.psql(&format!(
                "\\copy {table} ({columns}) FROM '{file}' WITH (FORMAT csv, HEADER true)"
            )),
            Backend::Mysql => {
                let sql = format!(
                    "LOAD DATA LOCAL INFILE '{file}' INTO TABLE {table} FIELDS TERMINATED BY ',' \
                     OPTIONALLY ENCLOSED BY '\"' LINES TERMINATED BY '\\r\\n' IGNORE 1 LINES ({columns})"
                );
                self.mysql("--local-infile=1", &sql)
            }
        }
    }

    fn writing_sqlite3(&self, commands: &[&str]) -> Command {
        let mut command = Command::new("sqlite3");
        command.env("HOME", "/nonexistent").args(["-batch", "-bail"]);
        command.arg(&self.file).args(commands);
        command
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
        tools::psql(&self.url, sql)
    }

    /// `mariadb`, or `mysql`, with a further option and a statement, whose rows are printed as they
    /// come.
    pub(crate) fn mysql(&self, option: &str, sql: &str) -> Command {
        let mut command = tools::mysql(&self.url, sql);
        command.arg(option);
        command
    }

    /// The database's file, where it is one.
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let gone = match self.backend {
            Backend::Sqlite => remove(&self.file),
            Backend::Postgres => POSTGRES.drop_database(),
            Backend::Mysql => MYSQL.drop_database(),
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
