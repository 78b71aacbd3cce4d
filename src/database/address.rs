//! What a database's URL names, and how messages name it: without user and password.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use sqlx::mysql::MySqlConnectOptions;
use sqlx::postgres::PgConnectOptions;

use super::Database;
use crate::error::{Error, Problem, Result};

/// What the URL of an SQLite file begins with.
pub(super) const SQLITE: &str = "sqlite:";

/// What a URL names.
pub(super) enum Address {
    Sqlite(PathBuf),
    Postgres(Box<PgConnectOptions>),
    MySql(Box<MySqlConnectOptions>),
}

pub(super) fn parse(setting: &str, url: &str) -> Result<Address> {
    let refuse = |code, detail: String| {
        // The URL may hold a password, so it is not repeated.
        Error::Invalid(vec![Problem { parameter: Some(setting.into()), code, value: None, detail }])
    };
    if let Some(rest) = url.strip_prefix(SQLITE) {
        let path = rest.strip_prefix("//").unwrap_or(rest);
        let path = path.split('?').next().unwrap_or(path);
        if path.is_empty() || path == ":memory:" {
            return Err(refuse(
                "memory_database",
                format!(
                    "{setting} names a database in memory, which the server's connections cannot \
                     share; name a file, such as sqlite://data/business.db"
                ),
            ));
        }
        return Ok(Address::Sqlite(path.into()));
    }
    if url.starts_with("postgres:") || url.starts_with("postgresql:") {
        return PgConnectOptions::from_str(url)
            .map(|options| Address::Postgres(Box::new(options)))
            .map_err(|error| {
                refuse("bad_url", format!("{setting} cannot be understood: {error}"))
            });
    }
    if url.starts_with("mysql:") || url.starts_with("mariadb:") {
        let options = MySqlConnectOptions::from_str(url).map_err(|error| {
            refuse("bad_url", format!("{setting} cannot be understood: {error}"))
        })?;
        return match options.get_database() {
            Some(_) => Ok(Address::MySql(Box::new(options))),
            None => Err(refuse(
                "no_database",
                format!(
                    "{setting} names a server but no database on it; write its name at the end, such \
                     as mysql://user@host/business"
                ),
            )),
        };
    }
    Err(refuse(
        "unknown_database",
        format!("{setting} must begin with sqlite://, postgres:// or mysql://"),
    ))
}

impl Address {
    /// The file, or host and port.
    pub(super) fn place(&self) -> String {
        match self {
            Self::Sqlite(path) => path.display().to_string(),
            Self::Postgres(options) => postgres_place(options),
            Self::MySql(options) => mysql_place(options),
        }
    }
}

impl Database {
    /// The file, or host and port, for whoever runs the server.
    #[must_use]
    pub fn place(&self) -> String {
        match self {
            Self::Sqlite { path, .. } => path.display().to_string(),
            Self::Postgres { control, .. } => {
                postgres_place(&control.get_postgres_connection_pool().connect_options())
            }
            Self::MySql { control, .. } => {
                mysql_place(&control.get_mysql_connection_pool().connect_options())
            }
        }
    }
}

fn postgres_place(options: &PgConnectOptions) -> String {
    place(options.get_socket().map(PathBuf::as_path), options.get_host(), options.get_port())
}

fn mysql_place(options: &MySqlConnectOptions) -> String {
    place(options.get_socket().map(PathBuf::as_path), options.get_host(), options.get_port())
}

fn place(socket: Option<&Path>, host: &str, port: u16) -> String {
    socket.map_or_else(|| format!("{host}:{port}"), |socket| socket.display().to_string())
}

/// The file of an SQLite URL; `None` for any other database.
#[must_use]
pub fn sqlite_file(url: &str) -> Option<PathBuf> {
    match parse("url", url) {
        Ok(Address::Sqlite(path)) => Some(path),
        Ok(Address::Postgres(_) | Address::MySql(_)) | Err(_) => None,
    }
}
