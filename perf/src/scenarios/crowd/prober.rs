//! Somebody who asks for small things all the while, and notes how long each takes.
//!
//! He shares the server's cores, which he would not do elsewhere, so his thread goes before everybody
//! where that is allowed. What he waited for a core all the same is noted as well.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::client;
use crate::error::Result;
use crate::settlements::REPORT;
use crate::shares::Shares;
use crate::stats::Series;
use crate::thread::waited_for_a_core;

/// Between the end of one request and the next.
pub(super) const PAUSE: Duration = Duration::from_millis(5);

/// How long what was asked for in turn took, in milliseconds.
#[derive(Debug)]
pub(super) struct Probed {
    pub(super) reports: Times,
    pub(super) run: Times,
    /// Whether he could go before everybody.
    pub(super) first: bool,
}

/// How long one thing took, in milliseconds, each time.
#[derive(Debug, Default)]
pub(super) struct Times {
    /// From before the connection was opened to the body's end.
    pub(super) whole: Vec<f64>,
    /// What of it the asker waited for a core himself.
    pub(super) own: Vec<f64>,
}

/// Asks until he is told to stop, or has asked for each so many times.
///
/// # Errors
/// A request that is not answered 200.
pub(super) fn probe(
    address: &str,
    run: &str,
    shares: Option<&Shares>,
    most: usize,
    stop: &AtomicBool,
) -> Result<Probed> {
    let first = shares.map_or(Ok(false), Shares::go_first)?;
    let run = format!("/api/v1/runs/{run}");
    let mut probed = Probed { reports: Times::default(), run: Times::default(), first };
    while probed.reports.whole.len() < most && !stop.load(Ordering::Relaxed) {
        probed.reports.take(address, &reports_path())?;
        probed.run.take(address, &run)?;
    }
    Ok(probed)
}

impl Times {
    fn take(&mut self, address: &str, path: &str) -> Result<()> {
        let (begun, before) = (Instant::now(), waited_for_a_core()?);
        client::get(address, path)?.text()?;
        let (whole, own) = (begun.elapsed(), waited_for_a_core()?.saturating_sub(before));
        self.whole.push(whole.as_secs_f64() * 1_000.0);
        self.own.push(own.as_secs_f64() * 1_000.0);
        std::thread::sleep(PAUSE);
        Ok(())
    }

    /// The first so many of the whole times.
    pub(super) fn series(&self, count: usize) -> Series {
        self.whole.iter().take(count).copied().collect()
    }
}

/// The list that the measured report is on.
fn reports_path() -> String {
    let list = REPORT.rsplit_once('/').map_or(REPORT, |(list, _)| list);
    format!("/api/v1{list}")
}
