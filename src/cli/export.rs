//! `tallyroll export`.

use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressStyle};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::output;
use crate::access::Caller;
use crate::app::App;
use crate::config::{Config, Given};
use crate::definitions::Report;
use crate::error::{Error, Result};
use crate::formats::Format;
use crate::reports::{Asked, Request};
use crate::runs::{Progress, Reason, Stop};

/// How often the bar moves.
const TICK: Duration = Duration::from_millis(100);

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

/// A bar on a terminal, nothing elsewhere.
pub(super) fn bar() -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed_precise}  {msg}") {
        bar.set_style(style);
    }
    bar
}

/// Moves the bar, and stops the run when the person at the terminal does.
pub(super) async fn follow(
    bar: ProgressBar,
    progress: Arc<Progress>,
    stop: Stop,
    mut signals: Signals,
) {
    let mut ticks = tokio::time::interval(TICK);
    while !bar.is_finished() {
        tokio::select! {
            _ = ticks.tick() => {
                let (rows, bytes) = (progress.rows(), progress.bytes());
                bar.set_message(format!("{} rows, {}", HumanCount(rows), HumanBytes(bytes)));
                bar.tick();
            }
            () = signals.told_to_stop() => stop.fire(Reason::Cancelled),
        }
    }
}

/// The signals that end a command in order.
pub(super) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    /// Where the terminal's end is heeded.
    hangup: Option<Signal>,
}

impl Signals {
    pub(super) fn listen() -> Result<Self> {
        let listen =
            |kind| signal(kind).map_err(|source| Error::internal("listening for signals", source));
        // Who starts it by nohup wants it to outlive the terminal.
        let hangup = (!is_ignored(SignalKind::hangup())).then(|| listen(SignalKind::hangup()));
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hangup: hangup.transpose()?,
        })
    }

    async fn told_to_stop(&mut self) {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = hangup => {}
        }
    }
}

/// Whether whoever started this process had it ignore a signal, as Linux tells it.
fn is_ignored(signal: SignalKind) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    let bit = u32::try_from(signal.as_raw_value() - 1).ok().and_then(|at| 1_u64.checked_shl(at));
    mask.zip(bit).is_some_and(|(mask, bit)| mask & bit != 0)
}
