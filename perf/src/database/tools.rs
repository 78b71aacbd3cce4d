//! The databases' own command line tools, and Python.

use std::process::Command;

/// `psql` with a statement; prints values alone, with `|` between.
pub(super) fn psql(url: &str, sql: &str) -> Command {
    let mut command = Command::new("psql");
    command.env("PGCONNECT_TIMEOUT", "5");
    command.args(["-X", "-q", "-A", "-t", "-F", "|", "-v", "ON_ERROR_STOP=1"]);
    command.args(["-d", url, "-c", sql]);
    command
}

/// `mariadb` or `mysql` with a statement; prints values alone, with tabs between, as they come.
pub(super) fn mysql(url: &str, sql: &str) -> Command {
    let place = Place::of(url);
    let mut command = Command::new(mysql_program());
    command.args(["--no-defaults", "--batch", "--quick", "--skip-column-names"]);
    command.args(["--connect-timeout=5", "--default-character-set=utf8mb4", "--protocol=TCP"]);
    command.args(["--host", place.host, "--port", place.port, "--user", place.user]);
    command.env("MYSQL_PWD", place.password);
    command.args(["--database", place.database, "--execute", sql]);
    command
}

/// MariaDB's own name for the tool where it has one, and MySQL's.
pub(crate) fn mysql_program() -> &'static str {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&path);
    if places.any(|place| place.join("mariadb").is_file()) { "mariadb" } else { "mysql" }
}

/// Python with a script and its arguments, untouched by a person's settings.
pub(crate) fn python(script: &str, arguments: &[&std::ffi::OsStr]) -> Command {
    let mut command = Command::new("python3");
    command.args(["-c", script]).args(arguments);
    command
}

/// `mysql://user:password@host:port/database`, of which the tool wants each by itself.
#[derive(Debug, PartialEq, Eq)]
struct Place<'a> {
    user: &'a str,
    password: &'a str,
    host: &'a str,
    port: &'a str,
    database: &'a str,
}

impl<'a> Place<'a> {
    fn of(url: &'a str) -> Self {
        let url = url.split_once('?').map_or(url, |(url, _)| url);
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let (place, database) = rest.split_once('/').unwrap_or((rest, ""));
        let (caller, host) = place.rsplit_once('@').unwrap_or(("root", place));
        let (user, password) = caller.split_once(':').unwrap_or((caller, ""));
        let (host, port) = host.rsplit_once(':').unwrap_or((host, "3306"));
        Self { user, password, host, port, database }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_taken_apart() {
        let place =
            |user, password, host, port, database| Place { user, password, host, port, database };
        for (url, parts) in [
            ("mysql://root@127.0.0.1:3306/mysql", place("root", "", "127.0.0.1", "3306", "mysql")),
            ("mysql://a:b@h:1/d?ssl-mode=DISABLED", place("a", "b", "h", "1", "d")),
            ("mysql://h", place("root", "", "h", "3306", "")),
        ] {
            assert_eq!(Place::of(url), parts);
        }
    }
}
