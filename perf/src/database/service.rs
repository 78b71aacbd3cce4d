//! Database servers that run already: a database is made in one, and dropped again.

use std::process::Command;

use super::tools;
use crate::error::Result;
use crate::program::{self, Printed};

/// The database that is made in a server, and dropped again.
const NAME: &str = "tallyroll_perf";

/// A database server, and its own tool.
#[derive(Debug)]
pub(crate) struct Service {
    /// Where the server is said to be.
    variable: &'static str,
    /// Where it is looked for otherwise.
    usual: &'static str,
    /// What is missing where the tool is.
    missing: &'static str,
    command: fn(&str, &str) -> Command,
    version: &'static str,
}

/// PostgreSQL.
pub(crate) static POSTGRES: Service = Service {
    variable: "TALLYROLL_TEST_POSTGRES",
    usual: "postgres://root@127.0.0.1:5432/postgres",
    missing: "psql is not",
    command: tools::psql,
    version: "SHOW server_version",
};

/// MySQL or MariaDB.
pub(crate) static MYSQL: Service = Service {
    variable: "TALLYROLL_TEST_MYSQL",
    usual: "mysql://root@127.0.0.1:3306/mysql",
    missing: "neither mariadb nor mysql is",
    command: tools::mysql,
    version: "SELECT version()",
};

impl Service {
    fn url(&self) -> String {
        let said = std::env::var(self.variable).ok().filter(|url| !url.is_empty());
        said.unwrap_or_else(|| self.usual.into())
    }

    fn run(&self, sql: &str) -> Result<Printed<String>> {
        program::text(&mut (self.command)(&self.url(), sql))
    }

    /// The server's version, where it is reachable.
    pub(crate) fn version(&self) -> Option<String> {
        match self.run(self.version) {
            Ok(Printed::Done(version)) => Some(version),
            Ok(Printed::Missing) | Err(_) => None,
        }
    }

    /// Makes an empty database and gives its URL, or says why the server is left out.
    pub(super) fn create(&self) -> Result<Result<String, String>> {
        match self.run("SELECT 1") {
            Ok(Printed::Done(_)) => {}
            Ok(Printed::Missing) => return Ok(Err(format!("{} installed", self.missing))),
            Err(error) => {
                let words = error.to_string();
                let first = words.lines().next().unwrap_or_default();
                let variable = self.variable;
                return Ok(Err(format!("no server is reachable ({variable}): {first}")));
            }
        }
        self.drop_database()?;
        self.run(&format!("CREATE DATABASE {NAME}"))?;
        Ok(Ok(with_database(&self.url(), NAME)))
    }

    pub(super) fn drop_database(&self) -> Result<()> {
        self.run(&format!("DROP DATABASE IF EXISTS {NAME}")).map(drop)
    }
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
            ("mysql://root@127.0.0.1:3306/mysql", "mysql://root@127.0.0.1:3306/x"),
        ] {
            assert_eq!(with_database(url, "x"), other);
        }
    }
}
