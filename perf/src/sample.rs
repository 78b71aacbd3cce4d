//! One measured answer: how long it took, and what it cost the server.

use crate::client::{Drained, Pace};
use crate::error::Result;
use crate::server::Server;
use crate::stats::Series;

/// The figures of one answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    /// Bytes and times, from the client's side.
    pub(crate) drained: Drained,
    /// CPU seconds of the server meanwhile.
    pub(crate) cpu: f64,
    /// The most memory that the server had meanwhile, beyond `idle`, in bytes.
    pub(crate) above_idle: u64,
}

impl Sample {
    /// Asks for a path below `/api/v1` and throws the answer away as it comes; also gives the id of
    /// its run. `idle` is what the server takes with nothing to do.
    ///
    /// # Errors
    /// An answer that is refused or breaks off.
    pub(crate) fn take(
        server: &Server,
        path: &str,
        pace: Pace,
        idle: u64,
    ) -> Result<(Self, String)> {
        let process = server.process();
        process.forget_peak()?;
        let before = process.cpu_seconds()?;
        let answer = server.get(path)?;
        let run = answer.header("x-run-id").unwrap_or_default().to_owned();
        let drained = answer.drain(pace, &mut |_| ())?;
        let cpu = process.cpu_seconds()? - before;
        Ok((Self { drained, cpu, above_idle: process.peak()?.saturating_sub(idle) }, run))
    }
}

/// How long each took, in seconds.
pub(crate) fn seconds(samples: &[Sample]) -> Series {
    samples.iter().map(|sample| sample.drained.whole.as_secs_f64()).collect()
}

/// How long each took to its first byte, in seconds.
pub(crate) fn first_bytes(samples: &[Sample]) -> Series {
    samples.iter().map(|sample| sample.drained.first_byte.as_secs_f64()).collect()
}

/// What each cost the server, in seconds of CPU.
pub(crate) fn cpu(samples: &[Sample]) -> Series {
    samples.iter().map(|sample| sample.cpu).collect()
}

/// The most memory of all, beyond the idle server's, in bytes.
pub(crate) fn most_memory(samples: &[Sample]) -> u64 {
    samples.iter().map(|sample| sample.above_idle).max().unwrap_or(0)
}
