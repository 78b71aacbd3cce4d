//! The measuring bench: starts the server as anybody would, asks it for much, and says how long it
//! took, what it cost, and whether it was right.
//!
//! `cargo run --release -p perf -- <scenario> [--rows N] [--rounds N] [--backend sqlite|postgres|all]`
//!
//! It builds nothing: the server is the binary beside its own, or `--server PATH`. It makes its data
//! with `tallyroll demo`, in a directory of its own below the system's temporary one and in a
//! PostgreSQL database `tallyroll_perf`, and leaves neither behind. It speaks plain HTTP and keeps no
//! body. Exit status: 0 when every check held, 1 when one failed or nothing could be measured, 2 for
//! wrong usage.
//!
//! A scenario is one file in `scenarios/` and one entry in its table.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a bench talks to a terminal")]

mod bench;
mod checks;
mod chunks;
mod client;
mod database;
mod error;
mod machine;
mod options;
mod process;
mod program;
mod results;
mod sample;
mod scan;
mod scenarios;
mod seen;
mod server;
mod stats;
mod workplace;

use std::process::ExitCode;

use crate::bench::Bench;
use crate::error::Result;
use crate::options::Options;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let options = match Options::parse(&arguments) {
        Ok(options) => options,
        Err(error) => {
            eprintln!("{error}\n\n{}", options::usage());
            return ExitCode::from(2);
        }
    };
    match run(options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the scenario; says whether every check held.
fn run(options: Options) -> Result<bool> {
    let scenario = options.scenario;
    let bench = Bench::open(options)?;
    let facts = machine::Facts::gather(&bench);
    println!("{facts}");
    let outcome = (scenario.run)(&bench)?;
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
