//! What was measured, on what, with what.

use std::fmt;
use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

use crate::bench::Bench;
use crate::database::{MYSQL, POSTGRES, mysql_program};
use crate::program::{self, Printed};

/// The sources that the server's binary should be younger than.
const SOURCES: [&str; 5] = ["src", "entity", "migration", "Cargo.toml", "Cargo.lock"];
const UNKNOWN: &str = "not known";

/// Facts with their names, for print and paper.
#[derive(Debug)]
pub(crate) struct Facts(Vec<(&'static str, String)>);

impl Facts {
    /// Gathers them now.
    pub(crate) fn gather(bench: &Bench) -> Self {
        Self(vec![
            ("command", format!("`{}`", bench.options.command())),
            ("date", said(Command::new("date").args(["-u", "+%Y-%m-%d %H:%M UTC"]))),
            ("processor", format!("{}, {} cores", processor(), cores())),
            ("memory", memory()),
            ("load before", load()),
            ("tallyroll", tallyroll(bench)),
            ("rustc", said(Command::new("rustc").arg("--version"))),
            ("PostgreSQL", POSTGRES.version().unwrap_or_else(away)),
            ("psql", said(Command::new("psql").arg("--version"))),
            ("MySQL", MYSQL.version().unwrap_or_else(away)),
            (mysql_program(), said(Command::new(mysql_program()).arg("--version"))),
            ("sqlite3", said(Command::new("sqlite3").arg("--version"))),
        ])
    }

    /// A Markdown table.
    pub(crate) fn table(&self) -> String {
        let lines = self.0.iter().map(|(name, fact)| format!("| {name} | {fact} |\n"));
        format!("| | |\n|---|---|\n{}", lines.collect::<String>())
    }
}

impl fmt::Display for Facts {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, fact) in &self.0 {
            writeln!(to, "{name:12} {fact}")?;
        }
        Ok(())
    }
}

fn away() -> String {
    "not reachable".into()
}

fn said(command: &mut Command) -> String {
    match program::text(command) {
        Ok(Printed::Done(text)) => text,
        Ok(Printed::Missing) => "not installed".into(),
        Err(_) => UNKNOWN.into(),
    }
}

fn tallyroll(bench: &Bench) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let version = said(bench.server_command().arg("--version"));
    let commit =
        said(Command::new("git").current_dir(&root).args(["rev-parse", "--short", "HEAD"]));
    let mut changed = Command::new("git");
    changed.current_dir(&root).args(["status", "--porcelain", "--"]).args(SOURCES);
    let mut words = format!("{version}, commit {commit}");
    match program::text(&mut changed) {
        Ok(Printed::Done(files)) if files.is_empty() => {}
        Ok(Printed::Done(_)) => words += " with changes not committed",
        Ok(Printed::Missing) | Err(_) => words += ", changes not known",
    }
    let built = modified(&bench.server);
    let written = SOURCES.iter().filter_map(|path| youngest(&root.join(path))).max();
    if built.zip(written).is_some_and(|(built, written)| built < written) {
        words += "; the binary is OLDER than the sources";
    }
    words
}

fn modified(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).ok()?.modified().ok()
}

/// When the youngest file in a directory was written.
fn youngest(path: &Path) -> Option<SystemTime> {
    if !path.is_dir() {
        return modified(path);
    }
    let entries = std::fs::read_dir(path).ok()?.filter_map(std::result::Result::ok);
    entries.filter_map(|entry| youngest(&entry.path())).max()
}

fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map_or(UNKNOWN.into(), |(_, name)| name.trim().to_owned())
}

fn cores() -> String {
    std::thread::available_parallelism().map_or(UNKNOWN.into(), |cores| cores.to_string())
}

fn memory() -> String {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kibibytes = text.lines().find_map(|line| {
        let rest = line.strip_prefix("MemTotal:")?.trim().strip_suffix("kB")?;
        rest.trim().parse::<u64>().ok()
    });
    kibibytes.map_or(UNKNOWN.into(), |size| format!("{} MiB", size / 1024))
}

/// Processes that wanted to run in the last minute: what else the machine was doing.
fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().unwrap_or(UNKNOWN).to_owned()
}
