//! The bounded channel between a pump's thread and an asynchronous receiver.
//!
//! The pump waits on a condition variable, never inside a runtime, so that it may be called from a
//! future that is being driven on its thread. The receiver is woken like any future.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::error::{Error, Result};
use crate::runs::{Progress, Reason, Stop};

/// Chunks that may wait; each holds at most a batch.
const CAPACITY: usize = 2;
/// How often a waiting pump looks whether its run was stopped.
const LOOK: Duration = Duration::from_millis(50);

/// Chunks on their way from one thread to one receiver.
#[derive(Debug)]
pub(super) struct Channel {
    queue: Mutex<Queue>,
    taken: Condvar,
    progress: Arc<Progress>,
}

#[derive(Debug)]
struct Queue {
    chunks: VecDeque<Bytes>,
    waker: Option<Waker>,
    /// How it ended; a good end carries the token of the next page.
    end: Option<Result<Option<String>>>,
    /// When the receiver last asked for something, which shows that the client takes bytes.
    asked: Instant,
    started: bool,
}

impl Channel {
    /// `progress` counts what is taken.
    pub(super) fn new(progress: Arc<Progress>) -> Self {
        Self {
            progress,
            queue: Mutex::new(Queue {
                chunks: VecDeque::with_capacity(CAPACITY + 1),
                waker: None,
                end: None,
                asked: Instant::now(),
                started: false,
            }),
            taken: Condvar::new(),
        }
    }

    /// A panic elsewhere leaves the queue as whole as it was: every change to it is one step.
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a chunk behind the others without waiting. Empty chunks are dropped: they would end a
    /// chunked body.
    pub(super) fn push(&self, chunk: Bytes) {
        if chunk.is_empty() {
            return;
        }
        let mut queue = self.lock();
        queue.chunks.push_back(chunk);
        queue.started = true;
        wake(queue);
    }

    /// Whether anything was ever put in.
    pub(super) fn started(&self) -> bool {
        self.lock().started
    }

    /// Says that nothing more will come. After an error the chunks still waiting are given out first.
    pub(super) fn end(&self, outcome: Result<Option<String>>) {
        let mut queue = self.lock();
        queue.end = Some(outcome);
        wake(queue);
    }

    /// Waits until no more than `left` chunks are waiting.
    ///
    /// # Errors
    /// The stop's error, after firing it where the receiver asked for nothing within `stall`.
    pub(super) fn wait(&self, left: usize, stall: Option<Duration>, stop: &Stop) -> Result<()> {
        let begun = Instant::now();
        let mut queue = self.lock();
        while queue.chunks.len() > left {
            stop.check()?;
            if let Some(limit) = stall.filter(|limit| queue.asked.max(begun).elapsed() >= *limit) {
                stop.fire(Reason::Stalled(limit));
            }
            let woken = self.taken.wait_timeout(queue, LOOK);
            queue = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        stop.check()
    }

    /// Whether there is room for another chunk.
    pub(super) fn has_room(&self) -> bool {
        self.lock().chunks.len() < CAPACITY
    }

    /// Waits until there is room for another chunk.
    pub(super) fn room(&self, stall: Option<Duration>, stop: &Stop) -> Result<()> {
        self.wait(CAPACITY - 1, stall, stop)
    }

    /// The next chunk; `None` at the end.
    pub(super) fn poll_next(&self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes>>> {
        let mut queue = self.lock();
        queue.asked = Instant::now();
        if let Some(chunk) = queue.chunks.pop_front() {
            // Before the pump learns of it, whose last word counts it.
            self.progress.sent(chunk.len() as u64);
            drop(queue);
            self.taken.notify_one();
            return Poll::Ready(Some(Ok(chunk)));
        }
        match queue.end.take() {
            Some(Ok(next)) => {
                queue.end = Some(Ok(next));
                Poll::Ready(None)
            }
            Some(Err(error)) => {
                queue.end = Some(Err(Error::Cancelled));
                Poll::Ready(Some(Err(error)))
            }
            None => {
                queue.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }

    pub(super) async fn next(&self) -> Option<Result<Bytes>> {
        poll_fn(|context| self.poll_next(context)).await
    }

    /// The token of the next page, once the end was good.
    pub(super) fn next_page(&self) -> Option<String> {
        self.lock().end.as_ref().and_then(|end| end.as_ref().ok().cloned().flatten())
    }

    /// Notes that the client took something.
    pub(super) fn touch(&self) {
        self.lock().asked = Instant::now();
    }
}

fn wake(mut queue: MutexGuard<'_, Queue>) {
    let waker = queue.waker.take();
    drop(queue);
    if let Some(waker) = waker {
        waker.wake();
    }
}
