//! A command that takes long: a bar that shows how far it is, and the signals that end it in order.

use std::io::IsTerminal;
use std::sync::Arc;
use std::time::Duration;

use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressStyle};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::{Error, Result};
use crate::runs::{Progress, Reason, Stop};

/// How often the bar moves.
const TICK: Duration = Duration::from_millis(100);

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
                if let Some(rows) = progress.expected() {
                    measure(&bar, rows);
                    bar.set_position(progress.rows());
                }
                bar.set_message(how_far(&progress));
                bar.tick();
            }
            () = signals.told_to_stop() => stop.fire(Reason::Cancelled),
        }
    }
}

/// Gives the bar its length, once it is known.
fn measure(bar: &ProgressBar, rows: u64) {
    if bar.length().is_some() {
        return;
    }
    bar.set_length(rows);
    let template = "{wide_bar} {human_pos} of {human_len}  {elapsed_precise}  {msg}";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
}

fn how_far(progress: &Progress) -> String {
    let rows = HumanCount(progress.rows());
    // What takes rows in makes no bytes.
    match progress.bytes() {
        0 => format!("{rows} rows"),
        bytes => format!("{rows} rows, {}", HumanBytes(bytes)),
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

    pub(super) async fn told_to_stop(&mut self) {
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
