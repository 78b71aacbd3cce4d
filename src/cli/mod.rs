//! The command line. Exit status 0 done, 1 refused or failed (the reason on stderr), 2 wrong usage.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is what a command line is for"
)]

mod bundle;
mod check;
mod convert;
mod demo;
mod export;
mod import;
mod ops;
mod output;
mod part;
mod serve;
mod watch;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::config::Given;
use crate::error::{Error, Result};
use crate::{formats, observe};

/// Hands out big tables as spreadsheets and streams, out of the database you have.
#[derive(Debug, Parser)]
#[command(name = "tallyroll", version)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    settings: Given,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve over HTTP
    Serve(serve::Serve),
    /// Write a report into a file, or to standard output
    Export(export::Export),
    /// Take the rows of a spreadsheet or text file in
    Import(import::Import),
    /// Write a file in another format: xlsx, CSV, NDJSON or JSON
    Convert(convert::Convert),
    /// Write documents as PDFs into a ZIP file
    Bundle(bundle::Bundle),
    /// Make the worked example in the business database
    Demo(demo::Make),
    /// Check every definition against the live databases
    Check,
    /// Print what stands around the server, with its settings filled in
    #[command(subcommand)]
    Ops(ops::Ops),
}

/// Runs a command to its end.
#[must_use]
pub fn run(cli: Cli) -> ExitCode {
    formats::hush_full_disks();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let done = match runtime {
        Ok(runtime) => runtime.block_on(dispatch(cli)),
        Err(source) => Err(Error::internal("starting the runtime", source)),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            complain(&error);
            ExitCode::FAILURE
        }
    }
}

async fn dispatch(cli: Cli) -> Result<ExitCode> {
    let quiet = !matches!(cli.command, Command::Serve(_));
    let mut config = cli.settings.settle()?;
    if quiet && config.log == "info" {
        // A command says itself how it went.
        config.log = "error".into();
    }
    observe::start(&config.log)?;
    match cli.command {
        Command::Serve(serve) => serve.run(config).await,
        Command::Export(export) => export.run(config).await,
        Command::Import(import) => import.run(config).await,
        Command::Convert(convert) => convert.run(config).await,
        Command::Bundle(bundle) => bundle.run(config).await,
        Command::Demo(demo) => demo.run(config).await,
        Command::Check => check::run(config).await,
        Command::Ops(ops) => ops.run(&config),
    }
}

/// The reason in the words of the problem, and every fault where there are several.
fn complain(error: &Error) {
    match error {
        Error::Malformed(problems) | Error::Invalid(problems) => {
            for problem in problems {
                eprintln!("tallyroll: {}", problem.detail);
            }
        }
        // Whoever sits at the command line may see the cause.
        Error::Query { source, .. } => {
            eprintln!("tallyroll: the database could not carry the query to its end: {source}");
        }
        other @ (Error::Internal { .. } | Error::Unavailable { .. } | Error::NoSpace(_)) => {
            eprintln!("tallyroll: {other}");
        }
        other => eprintln!("tallyroll: {}", other.detail()),
    }
}
