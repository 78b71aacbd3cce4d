//! `tallyroll convert`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::export::pair;
use super::output;
use super::watch::{Signals, bar, follow};
use crate::access::Caller;
use crate::app::App;
use crate::config::{Config, Given};
use crate::error::{Error, Problem, Result};
use crate::formats::Format;

/// The exit status for wrong usage.
const USAGE: u8 = 2;

#[derive(Debug, Args)]
pub(super) struct Convert {
    /// The file to read: xlsx, xlsb, xls, ods, CSV, NDJSON or a JSON array, told by its content
    file: PathBuf,
    /// The file to write, or - for standard output
    #[arg(short, long)]
    output: String,
    /// ndjson, json, csv or xlsx [default: the ending of the file to write]
    #[arg(long)]
    to: Option<String>,
    /// A parameter of conversions, such as columns=id,net or rename=번호:id; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    param: Vec<(String, String)>,
}

impl Convert {
    pub(super) async fn run(self, config: Config) -> Result<ExitCode> {
        let Some(to) = self.to() else {
            eprintln!(
                "tallyroll: \"{}\" does not end in .ndjson, .json, .csv or .xlsx, so it does not \
                 say what to make; say it with --to",
                self.output
            );
            return Ok(ExitCode::from(USAGE));
        };
        let app = App::open(config).await?;
        let converted = self.convert(&app, to).await;
        app.close().await;
        converted.map(|()| ExitCode::SUCCESS)
    }

    /// The format: the one that was named, else by the ending of the file.
    fn to(&self) -> Option<String> {
        let by_ending = || {
            let ending = Path::new(&self.output).extension()?.to_str()?.to_ascii_lowercase();
            let found = Format::ALL.into_iter().find(|format| format.extension() == ending);
            found.map(|format| format.name().to_owned())
        };
        self.to.clone().or_else(by_ending)
    }

    async fn convert(&self, app: &App, to: String) -> Result<()> {
        let caller = Caller::cli(&Given::user());
        let mut pairs = vec![("to".to_owned(), to)];
        pairs.extend(self.param.iter().cloned());
        let asked = app.convert.asked(&pairs).await?;
        let source = self.source()?;
        // Before there is a file to take away.
        let signals = Signals::listen()?;
        let output = output::open(&self.output)?;
        let bar = bar();
        let watch =
            |_, progress, stop| drop(tokio::spawn(follow(bar.clone(), progress, stop, signals)));
        let written = app.convert.write(asked, &source, &caller, output, watch).await;
        bar.finish_and_clear();
        written
    }

    /// The file, if it can be read and is one: it is looked at more than once.
    fn source(&self) -> Result<PathBuf> {
        let shown = self.file.display();
        let refuse = |detail: String| {
            Error::Invalid(vec![Problem::parameter(
                "file",
                "unreadable",
                shown.to_string(),
                detail,
            )])
        };
        let there = std::fs::File::open(&self.file).and_then(|file| file.metadata());
        match there {
            Ok(there) if there.is_file() => Ok(self.file.clone()),
            Ok(_) => Err(refuse(format!("{shown} is no plain file; name one"))),
            Err(error) => Err(refuse(format!("{shown} cannot be read: {error}"))),
        }
    }
}
