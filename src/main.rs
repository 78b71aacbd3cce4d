//! The program: arguments in, exit status out.

use std::process::ExitCode;

use clap::Parser;
use tallyroll::cli::{self, Cli};
use tallyroll::sheets::child;

fn main() -> ExitCode {
    // A spreadsheet is read by a process of its own: this program, which is then nothing else.
    child::main(std::env::args_os()).unwrap_or_else(|| cli::run(Cli::parse()))
}
