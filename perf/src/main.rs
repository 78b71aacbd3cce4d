//! The measuring bench: starts the server as anybody would, asks it for much, and says how long it
//! took, what it cost, and whether it was right.
//!
//! `cargo run --release -p perf -- <scenario> [--rows N] [--rounds N]
//! [--backend sqlite|postgres|mysql|all] [--memory-limit 256MiB] [--server PATH]`
//!
//! It builds nothing: the server is the binary beside its own, or `--server PATH`. It makes its data
//! with `tallyroll demo`, in a directory of its own below the system's temporary one and in databases
//! `tallyroll_perf` of PostgreSQL and of MySQL or MariaDB, and leaves none of them behind. It speaks
//! plain HTTP and keeps no body but that of a workbook, which is read from its end. With
//! `--memory-limit` the server, and it alone, runs in a control group of that size, which is removed
//! again. Exit status: 0 when every check held, 1 when one failed or nothing could be measured, 2 for
//! wrong usage.
//!
//! A scenario is a file or folder in `scenarios/` and one entry in its table; `all` runs every one in
//! turn, each with data and a section of its own.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a bench talks to a terminal")]

mod bench;
mod checks;
mod chunks;
mod client;
mod contest;
mod database;
mod error;
mod groups;
mod limit;
mod machine;
mod options;
mod peers;
mod process;
mod program;
mod results;
mod sample;
mod scan;
mod scenarios;
mod seen;
mod server;
mod settlements;
mod shares;
mod stats;
mod thread;
mod workbook;
mod workplace;

use std::process::ExitCode;

use crate::bench::Bench;
use crate::error::Result;
use crate::options::Options;
use crate::scenarios::Scenario;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let options = match Options::parse(&arguments) {
        Ok(options) => options,
        Err(error) => {
            eprintln!("{error}\n\n{}", options::usage());
            return ExitCode::from(2);
        }
    };
    let mut held = true;
    for scenario in options.scenarios {
        held &= run(scenario, options.clone()).unwrap_or_else(|error| {
            eprintln!("{error}");
            false
        });
    }
    if held { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs a scenario; says whether every check held.
fn run(scenario: &Scenario, options: Options) -> Result<bool> {
    let bench = Bench::open(options)?;
    let facts = machine::Facts::gather(&bench);
    println!("{}\n{facts}", scenario.name);
    let mut outcome = (scenario.run)(&bench).map_err(|error| bench.explain(error))?;
    if let Some(limit) = &bench.limit {
        limit.judge(&mut outcome.checks);
    }
    println!("\n{}", outcome.text);
    if bench.options.server.is_some() {
        println!("{} stays as it was: --server was given", results::FILE);
    } else {
        results::write(scenario.name, &facts, &outcome)?;
        println!("written to {}", results::FILE);
    }
    println!("{}", outcome.checks.verdict());
    Ok(outcome.checks.all_held())
}
