//! The command line.

use std::path::PathBuf;

use crate::database::Backend;
use crate::error::{Error, Result};
use crate::scenarios::{self, Scenario};

const ROWS: u64 = 1_000_000;
const ROUNDS: usize = 5;

/// What was asked for.
#[derive(Debug)]
pub(crate) struct Options {
    /// What to measure.
    pub(crate) scenario: &'static Scenario,
    /// Settlement lines in the example.
    pub(crate) rows: u64,
    /// Measured rounds.
    pub(crate) rounds: usize,
    /// On which databases.
    pub(crate) backends: Vec<Backend>,
    /// The server's binary; the one beside our own without.
    pub(crate) server: Option<PathBuf>,
}

impl Options {
    /// Reads the arguments after the program's name.
    ///
    /// # Errors
    /// The first argument that makes no sense.
    pub(crate) fn parse(arguments: &[String]) -> Result<Self> {
        let mut arguments = arguments.iter();
        let name = arguments.next().ok_or_else(|| Error::new("say which scenario"))?;
        let scenario = scenarios::find(name)
            .ok_or_else(|| Error::new(format!("there is no scenario \"{name}\"")))?;
        let mut options = Self {
            scenario,
            rows: ROWS,
            rounds: ROUNDS,
            backends: Backend::ALL.to_vec(),
            server: None,
        };
        while let Some(name) = arguments.next() {
            let value = arguments.next().map(String::as_str);
            let value = value.ok_or_else(|| Error::new(format!("{name} needs a value")))?;
            options.set(name, value)?;
        }
        Ok(options)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<()> {
        match name {
            "--rows" => self.rows = count(name, value)?,
            "--rounds" => self.rounds = count(name, value)?,
            "--backend" => self.backends = backends(value)?,
            "--server" => self.server = Some(value.into()),
            _ => return Err(Error::new(format!("there is no option {name}"))),
        }
        Ok(())
    }

    /// The command that does the same again.
    pub(crate) fn command(&self) -> String {
        let backend = match self.backends.as_slice() {
            [only] => only.word(),
            _ => "all",
        };
        let mut command = format!(
            "cargo run --release -p perf -- {} --rows {} --rounds {} --backend {backend}",
            self.scenario.name, self.rows, self.rounds
        );
        if let Some(server) = &self.server {
            command.push_str(" --server ");
            command.push_str(&server.to_string_lossy());
        }
        command
    }
}

fn count<T: std::str::FromStr + PartialOrd + From<u8>>(name: &str, value: &str) -> Result<T> {
    let number = value.replace('_', "").parse().ok();
    number
        .filter(|number| *number >= T::from(1))
        .ok_or_else(|| Error::new(format!("{name} is \"{value}\"; it takes a number from 1")))
}

fn backends(value: &str) -> Result<Vec<Backend>> {
    if value == "all" {
        return Ok(Backend::ALL.to_vec());
    }
    let found = Backend::ALL.into_iter().find(|backend| backend.word() == value);
    found.map(|backend| vec![backend]).ok_or_else(|| {
        Error::new(format!("--backend is \"{value}\"; it takes sqlite, postgres or all"))
    })
}

/// How to call the bench.
pub(crate) fn usage() -> String {
    let scenarios = scenarios::ALL.iter();
    let scenarios = scenarios.map(|one| format!("  {:10} {}", one.name, one.about));
    format!(
        "usage: cargo run --release -p perf -- SCENARIO [--rows N] [--rounds N] \
         [--backend sqlite|postgres|all] [--server PATH]\n\
         {ROWS} rows, {ROUNDS} rounds, all backends and the server beside this program without.\n\
         scenarios:\n{}",
        scenarios.collect::<Vec<_>>().join("\n")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Options::parse(&words)
    }

    #[test]
    fn options_are_read_and_said_again() {
        let options = parse("rows --rows 1_000 --rounds 2 --backend sqlite").unwrap();
        assert_eq!(
            options.command(),
            "cargo run --release -p perf -- rows --rows 1000 --rounds 2 --backend sqlite"
        );
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for line in
            ["", "nothing", "rows --rows", "rows --rows 0", "rows --backend db2", "rows --x 1"]
        {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
