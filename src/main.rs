//! The program: arguments in, exit status out.

use std::process::ExitCode;

use clap::Parser;
use tallyroll::cli::{self, Cli};

fn main() -> ExitCode {
    cli::run(Cli::parse())
}
