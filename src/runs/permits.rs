//! Permits: how much may go on at once, who is next, and when it may be somebody's turn.
//!
//! Everything is behind one lock that is held for a few moves: how many are handed out, and who
//! waits, in the order of asking. Nobody waits while a permit is free, and one that comes back goes
//! to whoever is first, never through a free state that a newcomer could take it from.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::Stop;
use crate::error::{Error, Result};

/// A number of permits, handed out in the order of asking.
#[derive(Debug, Clone)]
pub struct Permits(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    what: &'static str,
    limit: usize,
    queue: usize,
    longest_wait: Duration,
    /// What moments are counted from.
    epoch: Instant,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Handed out, at most the limit; less only when nobody waits.
    in_use: usize,
    /// Who waits, the next one first; numbers only grow.
    waiting: VecDeque<Waiter>,
    /// The number of whoever comes next.
    next: u64,
    holds: Holds,
}

#[derive(Debug)]
struct Waiter {
    number: u64,
    grant: oneshot::Sender<Permit>,
}

/// Leave to do one long thing; goes to whoever is next when dropped.
#[derive(Debug)]
pub struct Permit {
    permits: Permits,
    since: Instant,
}

/// A place in the queue, or at its head with the permit; given up when dropped, also by a client that
/// leaves.
#[derive(Debug)]
pub struct Place {
    permits: Permits,
    number: u64,
    granted: oneshot::Receiver<Permit>,
    since: Instant,
}

/// Finds a place in the queue again, for whoever asks how far it is.
#[derive(Debug, Clone)]
pub struct Ticket {
    permits: Permits,
    number: u64,
}

/// Where a run stands in the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct QueuePlace {
    /// Its place; 1 is next.
    pub position: usize,
    /// How many wait.
    pub length: usize,
}

impl Permits {
    /// `limit` permits for `what` (a plural, for messages); at most `queue` may wait, none of them
    /// longer than `longest_wait`.
    #[must_use]
    pub fn new(what: &'static str, limit: usize, queue: usize, longest_wait: Duration) -> Self {
        let (epoch, state) = (Instant::now(), Mutex::default());
        Self(Arc::new(Shared { what, limit, queue, longest_wait, epoch, state }))
    }

    /// How many are handed out now.
    #[must_use]
    pub fn in_use(&self) -> usize {
        self.state().in_use
    }

    /// How many wait now.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.state().waiting.len()
    }

    /// Takes a place behind everybody who asked before. Nothing is waited for yet, so that the order
    /// is that of the calls, whatever is done until [`Place::permit`].
    ///
    /// # Errors
    /// [`Error::Busy`] where too many wait already.
    pub fn arrive(&self) -> Result<Place> {
        let (grant, granted) = oneshot::channel();
        let since = Instant::now();
        let mut state = self.state();
        let number = state.next;
        state.next += 1;
        if state.in_use < self.0.limit {
            state.in_use += 1;
            state.holds.begun(since - self.0.epoch);
            drop(state);
            // The receiver is right here.
            let _ = grant.send(Permit { permits: self.clone(), since });
        } else if state.waiting.len() < self.0.queue {
            state.waiting.push_back(Waiter { number, grant });
        } else {
            let after = self.retry_after(&state, state.waiting.len() + 1);
            let Shared { limit, what, queue, .. } = &*self.0;
            let detail = format!("all {limit} {what} are in use and {queue} requests wait already");
            return Err(busy(&detail, after));
        }
        Ok(Place { permits: self.clone(), number, granted, since })
    }

    /// When it may be the turn of whoever stands at `position`: as many permits come back within the
    /// time that one is held as there are. At least a second, and no longer than anybody may wait.
    fn retry_after(&self, state: &State, position: usize) -> Duration {
        let held = state.holds.typical(state.in_use, self.0.epoch.elapsed());
        let turns = held.saturating_mul(small(position)) / small(self.0.limit).max(1);
        turns.clamp(SHORTEST, self.0.longest_wait.max(SHORTEST))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What `Retry-After` says at least, since it counts whole seconds.
const SHORTEST: Duration = Duration::from_secs(1);

fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn busy(detail: &str, retry_after: Duration) -> Error {
    Error::Busy { detail: format!("{detail}; try again later"), retry_after }
}

impl Place {
    /// Finds this place again while it is waited on.
    #[must_use]
    pub fn ticket(&self) -> Ticket {
        Ticket { permits: self.permits.clone(), number: self.number }
    }

    /// Waits for the permit.
    ///
    /// # Errors
    /// [`Error::Busy`] where the wait since the arrival was too long; the stop's error.
    pub async fn permit(mut self, stop: &Stop) -> Result<Permit> {
        let shared = Arc::clone(&self.permits.0);
        tokio::select! {
            biased;
            () = stop.fired() => Err(stop.error()),
            permit = &mut self.granted => {
                permit.map_err(|source| Error::internal("waiting for a permit", source))
            }
            () = tokio::time::sleep_until(self.since + shared.longest_wait) => {
                let state = self.permits.state();
                // Among those that wait is this one.
                let after = self.permits.retry_after(&state, state.waiting.len().max(1));
                let Shared { limit, what, longest_wait, .. } = &*shared;
                let waited = longest_wait.as_secs_f64();
                let detail =
                    format!("waited {waited} s for one of {limit} {what}, which are all in use");
                Err(busy(&detail, after))
            }
        }
    }
}

impl Drop for Place {
    /// Moves everybody behind up. A permit that was granted meanwhile is dropped with the receiver,
    /// and so goes to the next.
    fn drop(&mut self) {
        let number = self.number;
        self.permits.state().waiting.retain(|waiter| waiter.number != number);
    }
}

impl Ticket {
    /// Where it stands now; nothing once it has its permit or was given up.
    #[must_use]
    pub fn place(&self) -> Option<QueuePlace> {
        let state = self.permits.state();
        let index =
            state.waiting.binary_search_by_key(&self.number, |waiter| waiter.number).ok()?;
        Some(QueuePlace { position: index + 1, length: state.waiting.len() })
    }
}

impl Permit {
    /// How long ago it was handed out.
    #[must_use]
    pub fn age(&self) -> Duration {
        self.since.elapsed()
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let now = Instant::now();
        let epoch = self.permits.0.epoch;
        let mut state = self.permits.state();
        state.holds.ended(self.since - epoch, now - epoch);
        let Some(next) = state.waiting.pop_front() else {
            state.in_use -= 1;
            return;
        };
        state.holds.begun(now - epoch);
        drop(state);
        // One who leaves in this very moment gives it back: it is dropped here, and goes to the next.
        let _ = next.grant.send(Self { permits: self.permits.clone(), since: now });
    }
}

/// How long permits are held.
#[derive(Debug, Default)]
struct Holds {
    /// Of those that came back, the later ones counting more.
    lately: Option<Duration>,
    /// The beginnings of those that are out, added up, each counted from the epoch.
    begun: Duration,
}

/// About how many holds back the average looks.
const MEMORY: u32 = 8;

impl Holds {
    fn begun(&mut self, at: Duration) {
        self.begun += at;
    }

    fn ended(&mut self, begun: Duration, now: Duration) {
        self.begun = self.begun.saturating_sub(begun);
        let held = now.saturating_sub(begun);
        self.lately =
            Some(self.lately.map_or(held, |lately| lately * (MEMORY - 1) / MEMORY + held / MEMORY));
    }

    /// How long one is held, as far as can be told: as those lately, or as long as those that are out
    /// have been by now, where that is longer already.
    fn typical(&self, out: usize, now: Duration) -> Duration {
        let out = small(out);
        let so_far = (now * out).saturating_sub(self.begun).checked_div(out).unwrap_or_default();
        self.lately.unwrap_or_default().max(so_far)
    }
}
