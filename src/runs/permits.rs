//! Permits: how much may go on at once, and who waits how long for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Stop;
use crate::error::{Error, Result};

/// A number of permits, handed out in the order of asking.
#[derive(Debug)]
pub struct Permits {
    what: &'static str,
    places: Arc<Semaphore>,
    limit: usize,
    waiting: AtomicUsize,
    queue: usize,
    longest_wait: Duration,
}

/// Leave to do one long thing; goes back when dropped.
#[derive(Debug)]
pub struct Permit(#[expect(dead_code, reason = "held for its drop")] OwnedSemaphorePermit);

impl Permits {
    /// `limit` permits for `what` (a plural, for messages); at most `queue` may wait, none of them
    /// longer than `longest_wait`.
    #[must_use]
    pub fn new(what: &'static str, limit: usize, queue: usize, longest_wait: Duration) -> Self {
        Self {
            what,
            places: Arc::new(Semaphore::new(limit)),
            limit,
            waiting: AtomicUsize::new(0),
            queue,
            longest_wait,
        }
    }

    /// How many are handed out now.
    #[must_use]
    pub fn in_use(&self) -> usize {
        self.limit.saturating_sub(self.places.available_permits())
    }

    /// How many wait now.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Waits for a permit, holding nothing.
    ///
    /// # Errors
    /// [`Error::Busy`] where too many wait already or the wait was too long; the stop's error.
    pub async fn acquire(&self, stop: &Stop) -> Result<Permit> {
        if let Ok(permit) = Arc::clone(&self.places).try_acquire_owned() {
            return Ok(Permit(permit));
        }
        let _place = Place::take(self)?;
        tokio::select! {
            () = stop.fired() => Err(stop.error()),
            permit = Arc::clone(&self.places).acquire_owned() => permit
                .map(Permit)
                .map_err(|source| Error::internal("waiting for a permit", source)),
            () = tokio::time::sleep(self.longest_wait) => Err(self.busy(&format!(
                "waited {} s for one of {} {}, which are all in use",
                self.longest_wait.as_secs_f64(), self.limit, self.what
            ))),
        }
    }

    fn busy(&self, detail: &str) -> Error {
        Error::Busy { detail: format!("{detail}; try again later"), retry_after: self.longest_wait }
    }
}

/// A place in the queue; given up when dropped, also by a client that leaves.
struct Place<'p>(&'p AtomicUsize);

impl<'p> Place<'p> {
    fn take(permits: &'p Permits) -> Result<Self> {
        if permits.waiting.fetch_add(1, Ordering::Relaxed) >= permits.queue {
            permits.waiting.fetch_sub(1, Ordering::Relaxed);
            return Err(permits.busy(&format!(
                "all {} {} are in use and {} requests wait already",
                permits.limit, permits.what, permits.queue
            )));
        }
        Ok(Self(&permits.waiting))
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
