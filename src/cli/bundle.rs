//! `tallyroll bundle`.

use std::process::ExitCode;

use clap::Args;

use super::export::pair;
use super::output;
use super::watch::{Signals, bar, follow};
use crate::access::Caller;
use crate::app::App;
use crate::config::{Config, Given};
use crate::documents::{Asked, LEDGER, Order};
use crate::error::{Error, Result};

#[derive(Debug, Args)]
pub(super) struct Bundle {
    /// The document's name, or the number of a project for its ledgers
    document: String,
    /// The ZIP file to write, or - for standard output
    #[arg(short, long)]
    output: String,
    /// A filter of the document, such as project=1; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    filter: Vec<(String, String)>,
}

impl Bundle {
    pub(super) async fn run(self, config: Config) -> Result<ExitCode> {
        let app = App::open(config).await?;
        let bundled = self.bundle(&app).await;
        app.close().await;
        bundled.map(|()| ExitCode::SUCCESS)
    }

    async fn bundle(&self, app: &App) -> Result<()> {
        let caller = Caller::cli(&Given::user());
        let order = self.order(app, &caller)?;
        // Before there is a file to take away.
        let signals = Signals::listen()?;
        let output = output::open(&self.output)?;
        let bar = bar();
        let watch =
            |_, progress, stop| drop(tokio::spawn(follow(bar.clone(), progress, stop, signals)));
        let written = app.documents.write(order, &caller, output, watch).await;
        bar.finish_and_clear();
        written
    }

    fn order(&self, app: &App, caller: &Caller) -> Result<Order> {
        let zone = &app.config.time_zone;
        let is_project = self.document.parse::<u64>().is_ok();
        match app.documents.find(&self.document, caller) {
            Err(Error::NotFound(_)) if is_project => {
                let ledgers = app.documents.find(LEDGER, caller)?;
                Order::of_project(ledgers, self.document.clone(), &self.filter, zone)
            }
            found => {
                let document = found?;
                let asked = Asked::bundle(&document, &self.filter, zone)?;
                Ok(Order { document, asked, project: None })
            }
        }
    }
}
