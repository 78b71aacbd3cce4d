//! The one stop token of a run, read by whatever works for it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::error::{Error, Phase, Result};

/// Why a run was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The client hung up.
    ClientLeft,
    /// Its caller asked for it.
    Cancelled,
    /// The client took nothing for this long.
    Stalled(Duration),
    /// The query gave no first row within this time.
    FirstRow(Duration),
    /// The server is going down.
    Shutdown,
}

impl Reason {
    /// The error that a run stopped for this reason ends with.
    #[must_use]
    pub fn error(self) -> Error {
        match self {
            Self::ClientLeft | Self::Cancelled => Error::Cancelled,
            Self::Stalled(limit) => Error::TimedOut(Phase::Stall, limit),
            Self::FirstRow(limit) => Error::TimedOut(Phase::FirstRow, limit),
            Self::Shutdown => Error::Unavailable {
                code: "shutting_down",
                detail: "the server is shutting down; try again in a moment".into(),
                source: None,
            },
        }
    }
}

/// A stop token: fired at most once, for one reason, seen by every clone.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    fired: AtomicBool,
    reason: OnceLock<Reason>,
    token: CancellationToken,
}

impl Stop {
    /// A token that has not been fired.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Fires it; the first reason stands.
    pub fn fire(&self, reason: Reason) {
        // The reason is set before the flag, so that whoever sees the flag finds the reason.
        let _ = self.0.reason.set(reason);
        self.0.fired.store(true, Ordering::Release);
        self.0.token.cancel();
    }

    /// Whether it was fired; one atomic load, cheap enough for every row.
    #[must_use]
    pub fn is_fired(&self) -> bool {
        self.0.fired.load(Ordering::Acquire)
    }

    /// Why it was fired, once it was.
    #[must_use]
    pub fn reason(&self) -> Option<Reason> {
        self.0.reason.get().copied()
    }

    /// Waits until it is fired.
    pub async fn fired(&self) {
        self.0.token.cancelled().await;
    }

    /// Refuses to go on once it was fired.
    ///
    /// # Errors
    /// The error of the reason it was fired for.
    pub fn check(&self) -> Result<()> {
        if self.is_fired() { Err(self.error()) } else { Ok(()) }
    }

    /// The error of the reason it was fired for; [`Error::Cancelled`] before.
    #[must_use]
    pub fn error(&self) -> Error {
        self.reason().map_or(Error::Cancelled, Reason::error)
    }
}

/// Stops what is done for somebody who is gone: fires when it is dropped.
#[derive(Debug)]
pub struct StopOnDrop(pub Stop);

impl StopOnDrop {
    /// Goes without firing: what is done is wanted, whoever is gone.
    pub fn disarm(mut self) {
        self.0 = Stop::new();
    }
}

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.fire(Reason::ClientLeft);
    }
}
