//! The programs under `peers/` that do the same as the server, and how they are had.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::bench::Bench;
use crate::error::{Doing, Error, Result};
use crate::program::{self, Printed};

/// Where Debian puts what Java programs use, and what of it Tomcat takes.
pub(crate) const JAVA: &str = "/usr/share/java";
const JARS: [&str; 6] = [
    "tomcat10-embed-core",
    "tomcat10-annotations-api",
    "jackson-core",
    "jackson-databind",
    "jackson-annotations",
    "postgresql",
];

/// A program that was made ready, or what has to be installed for it.
pub(crate) type Found<T> = std::result::Result<T, String>;

/// The file of that name under `peers/`.
pub(crate) fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers").join(name)
}

/// One of ours, built beside this program.
pub(crate) fn own(name: &str) -> Found<PathBuf> {
    let path = std::env::current_exe().map(|path| path.with_file_name(name)).unwrap_or_default();
    if path.is_file() {
        Ok(path)
    } else {
        Err("build it with `cargo build --release --workspace`".into())
    }
}

/// A script for Python that needs this package.
pub(crate) fn python(name: &str, package: &str) -> Found<PathBuf> {
    let mut asked = Command::new("python3");
    asked.args(["-c", &format!("import {}", package.replace('-', "_"))]);
    match program::text(&mut asked) {
        Ok(Printed::Done(_)) => Ok(source(name)),
        Ok(Printed::Missing) | Err(_) => Err(format!("`pip install {package}`")),
    }
}

/// Python with a script of that name.
pub(crate) fn by_python(script: &Path, arguments: &[&OsStr]) -> Command {
    let mut command = Command::new("python3");
    command.arg(script).args(arguments);
    command
}

/// A directory in which Node finds `exceljs`.
pub(crate) fn exceljs(bench: &Bench) -> Found<PathBuf> {
    let home = bench.workplace.path().join("exceljs");
    std::fs::create_dir_all(&home).map_err(|error| error.to_string())?;
    let mut install = Command::new("npm");
    install.args(["install", "--silent", "--no-audit", "--no-fund", "exceljs@4.4.0"]);
    match program::text(install.current_dir(&home)) {
        Ok(Printed::Done(_)) => Ok(home),
        Ok(Printed::Missing) | Err(_) => {
            Err("`npm install exceljs@4.4.0`, for which Node must be installed".into())
        }
    }
}

/// A program in C, with the libraries that it is linked to.
pub(crate) fn in_c(
    bench: &Bench,
    name: &str,
    libraries: &[&str],
    packages: &str,
) -> Found<PathBuf> {
    let built = bench.workplace.path().join(name.trim_end_matches(".c"));
    let mut compiler = Command::new("cc");
    compiler.arg("-O2").arg(source(name)).arg("-o").arg(&built);
    compiler.args(libraries.iter().map(|library| format!("-l{library}")));
    match program::text(&mut compiler) {
        Ok(Printed::Done(_)) => Ok(built),
        Ok(Printed::Missing) | Err(_) => Err(format!("`apt-get install {packages}`")),
    }
}

/// A Tomcat that serves the lines of a PostgreSQL database. It ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Tomcat {
    child: Child,
    /// Its end is what it waits for.
    _waits: Option<ChildStdin>,
    /// Where it listens.
    pub(crate) address: String,
}

impl Tomcat {
    /// Compiles and starts it.
    ///
    /// # Errors
    /// A Tomcat that is there and does not say where it listens.
    pub(crate) fn start(bench: &Bench, database: &str) -> Result<Found<Self>> {
        let classes = bench.workplace.path().join("classes");
        let jars = JARS.iter().map(|jar| format!(":{JAVA}/{jar}.jar"));
        let path = format!("{}{}", classes.display(), jars.collect::<String>());
        let mut compiler = Command::new("javac");
        compiler.args(["-cp", &path, "-d"]).arg(&classes).arg(source("Servlet.java"));
        let missing = "`apt-get install default-jdk-headless libtomcat10-embed-java \
                       libtomcat10-java libjackson2-databind-java libpostgresql-jdbc-java`";
        let compiled = program::text(&mut compiler);
        let Ok(Printed::Done(_)) = compiled else { return Ok(Err(missing.into())) };
        let mut command = Command::new("java");
        command.args(["-Xmx512m", "-cp", &path, "Servlet", &jdbc(database)]).arg(&classes);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().doing("starting Tomcat")?;
        let waits = child.stdin.take();
        let mut port = String::new();
        if let Some(out) = child.stdout.take() {
            BufReader::new(out).read_line(&mut port).doing("listening to Tomcat")?;
        }
        let address = format!("127.0.0.1:{}", port.trim());
        let tomcat = Self { child, _waits: waits, address };
        if port.trim().parse::<u16>().is_err() {
            return Err(Error::new(format!(
                "Tomcat says \"{}\" where a port was due",
                port.trim()
            )));
        }
        Ok(Ok(tomcat))
    }
}

impl Drop for Tomcat {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `postgres://user:password@host:port/database` as JDBC has it.
fn jdbc(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let (caller, place) = rest.rsplit_once('@').unwrap_or(("", rest));
    let (user, password) = caller.split_once(':').unwrap_or((caller, ""));
    let joint = if place.contains('?') { '&' } else { '?' };
    format!("jdbc:postgresql://{place}{joint}user={user}&password={password}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_said_in_javas_way() {
        assert_eq!(
            jdbc("postgres://root@127.0.0.1:5432/perf"),
            "jdbc:postgresql://127.0.0.1:5432/perf?user=root&password="
        );
        assert_eq!(jdbc("postgres://a:b@h/d?x=1"), "jdbc:postgresql://h/d?x=1&user=a&password=b");
    }
}
