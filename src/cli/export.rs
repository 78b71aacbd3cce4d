//! `tallyroll export`.

use std::process::ExitCode;

use clap::Args;

use super::output;
use super::watch::{Signals, bar, follow};
use crate::access::Caller;
use crate::app::App;
use crate::config::{Config, Given};
use crate::definitions::Report;
use crate::error::Result;
use crate::formats::Format;
use crate::reports::{Asked, Request};

#[derive(Debug, Args)]
pub(super) struct Export {
    /// The report's name
    report: String,
    /// ndjson, json, csv or xlsx
    #[arg(long)]
    format: String,
    /// The file to write, or - for standard output
    #[arg(short, long)]
    output: String,
    /// A filter of the report, such as from=2026-01-01; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    filter: Vec<(String, String)>,
    /// A parameter of the rows, such as columns=id,net or tz=UTC; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    param: Vec<(String, String)>,
}

impl Export {
    pub(super) async fn run(self, config: Config) -> Result<ExitCode> {
        let app = App::open(config).await?;
        let exported = self.export(&app).await;
        app.close().await;
        exported.map(|()| ExitCode::SUCCESS)
    }

    async fn export(&self, app: &App) -> Result<()> {
        let caller = Caller::cli(&Given::user());
        let report = app.reports.find(&self.report, &caller)?;
        let asked = self.asked(&report, app)?;
        // Before there is a file to take away.
        let signals = Signals::listen()?;
        let output = output::open(&self.output)?;
        let bar = bar();
        let watch =
            |_, progress, stop| drop(tokio::spawn(follow(bar.clone(), progress, stop, signals)));
        let written = app.reports.write(&report, asked, &caller, output, watch).await;
        bar.finish_and_clear();
        written
    }

    fn asked(&self, report: &Report, app: &App) -> Result<Asked> {
        let mut pairs = vec![("format".to_owned(), self.format.clone())];
        pairs.extend(self.filter.iter().chain(&self.param).cloned());
        let zone = &app.config.time_zone;
        Request { pairs: &pairs, zone, negotiated: Ok(Format::Ndjson) }.parse(report)
    }
}

pub(super) fn pair(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').ok_or("there is no = in it; give NAME=VALUE")?;
    Ok((pair.0.to_owned(), pair.1.to_owned()))
}
