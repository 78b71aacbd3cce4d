//! The command line.

use std::fmt::Write;
use std::path::PathBuf;

use crate::database::Backend;
use crate::error::{Error, Result};
use crate::scenarios::{self, Scenario};

const ROWS: u64 = 1_000_000;
const ROUNDS: usize = 5;

/// What was asked for.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    /// What to measure, one after the other.
    pub(crate) scenarios: &'static [Scenario],
    /// Settlement lines in the example.
    pub(crate) rows: u64,
    /// Measured rounds, where a number was asked for.
    pub(crate) asked_rounds: Option<usize>,
    /// Measured rounds of what does not go by its length.
    pub(crate) rounds: usize,
    /// On which databases.
    pub(crate) backends: Vec<Backend>,
    /// The server's binary; the one beside our own without.
    pub(crate) server: Option<PathBuf>,
    /// Bytes of memory that the server may take.
    pub(crate) memory_limit: Option<u64>,
}

impl Options {
    /// Reads the arguments after the program's name.
    ///
    /// # Errors
    /// The first argument that makes no sense.
    pub(crate) fn parse(arguments: &[String]) -> Result<Self> {
        let mut arguments = arguments.iter();
        let name = arguments.next().ok_or_else(|| Error::new("say which scenario"))?;
        let scenarios = scenarios::find(name)
            .ok_or_else(|| Error::new(format!("there is no scenario \"{name}\"")))?;
        let mut options = Self {
            scenarios,
            rows: ROWS,
            asked_rounds: None,
            rounds: ROUNDS,
            backends: Backend::ALL.to_vec(),
            server: None,
            memory_limit: None,
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
            "--rounds" => {
                self.rounds = count(name, value)?;
                self.asked_rounds = Some(self.rounds);
            }
            "--backend" => self.backends = backends(value)?,
            "--memory-limit" => self.memory_limit = Some(size(name, value)?),
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
        let name = match self.scenarios {
            [only] => only.name,
            _ => scenarios::EVERY,
        };
        let mut command = format!("cargo run --release -p perf -- {name} --rows {}", self.rows);
        if let Some(rounds) = self.asked_rounds {
            let _ = write!(command, " --rounds {rounds}");
        }
        let _ = write!(command, " --backend {backend}");
        if let Some(limit) = self.memory_limit {
            let _ = write!(command, " --memory-limit {}", in_units(limit));
        }
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

/// Units of memory, and by how many bits a byte is shifted to be one.
const UNITS: [(&str, u32); 3] = [("KiB", 10), ("MiB", 20), ("GiB", 30)];

fn size(name: &str, value: &str) -> Result<u64> {
    let bytes = UNITS.iter().find_map(|(unit, bits)| {
        let number = value.strip_suffix(unit)?.trim().parse::<u64>().ok()?;
        number.checked_mul(1 << bits).filter(|bytes| *bytes > 0)
    });
    bytes.ok_or_else(|| Error::new(format!("{name} is \"{value}\"; it takes one such as 256MiB")))
}

/// A size in the largest unit of which it is a whole number.
fn in_units(bytes: u64) -> String {
    let unit = UNITS.iter().rev().find(|(_, bits)| bytes.trailing_zeros() >= *bits);
    unit.map_or_else(|| bytes.to_string(), |(unit, bits)| format!("{}{unit}", bytes >> bits))
}

fn backends(value: &str) -> Result<Vec<Backend>> {
    if value == "all" {
        return Ok(Backend::ALL.to_vec());
    }
    let found = Backend::ALL.into_iter().find(|backend| backend.word() == value);
    found.map(|backend| vec![backend]).ok_or_else(|| {
        Error::new(format!("--backend is \"{value}\"; it takes sqlite, postgres, mysql or all"))
    })
}

/// How to call the bench.
pub(crate) fn usage() -> String {
    let scenarios = scenarios::ALL.iter();
    let scenarios = scenarios.map(|one| (one.name, one.about));
    let scenarios = scenarios.chain([(scenarios::EVERY, "every one of these, in turn")]);
    let scenarios = scenarios.map(|(name, about)| format!("  {name:15} {about}"));
    format!(
        "usage: cargo run --release -p perf -- SCENARIO [--rows N] [--rounds N] \
         [--backend sqlite|postgres|mysql|all] [--memory-limit 256MiB] [--server PATH]\n\
         {ROWS} rows, {ROUNDS} rounds, all backends, no limit and the server beside this program \
         without.\n\
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
        for (line, said) in [
            (
                "rows --rows 1_000 --rounds 2 --backend mysql",
                "rows --rows 1000 --rounds 2 --backend mysql",
            ),
            (
                "all --rounds 1 --memory-limit 256MiB",
                "all --rows 1000000 --rounds 1 --backend all --memory-limit 256MiB",
            ),
        ] {
            let command = parse(line).unwrap().command();
            assert_eq!(command, format!("cargo run --release -p perf -- {said}"));
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for line in [
            "",
            "nothing",
            "rows --rows",
            "rows --rows 0",
            "rows --backend db2",
            "rows --x 1",
            "rows --memory-limit 256",
            "rows --memory-limit 0MiB",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
