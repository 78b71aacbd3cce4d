//! The threads that imports are done on: as many as were ever needed at once, and the one that was
//! used last is used next.
//!
//! What a database's library frees, the system's allocator keeps for the thread that freed it: some
//! 20 MiB after an import into SQLite. Where each import had a thread of its own, or any of a pool,
//! as much would stay behind for every one of them.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::{Error, Result};

/// What a thread is given: a job, and the way by which it gets the next one.
type Given = (Box<dyn FnOnce() + Send>, Worker);
#[derive(Debug, Clone)]
struct Worker(Sender<Given>);

/// Threads that wait for work, the one that was used last at the end. They end with this.
#[derive(Debug, Clone, Default)]
pub struct Workers(Arc<Mutex<Vec<Worker>>>);

impl Workers {
    /// Has a thread do this.
    ///
    /// # Errors
    /// [`Error::Internal`] where no thread can be had.
    pub(super) fn run(&self, job: impl FnOnce() + Send + 'static) -> Result<()> {
        let idle = self.idle().pop();
        let worker = idle.map_or_else(|| self.start(), Ok)?;
        let given = (Box::new(job) as Box<dyn FnOnce() + Send>, worker.clone());
        worker.0.send(given).map_err(|_| Error::internal("having a file imported", "no thread"))
    }

    fn start(&self) -> Result<Worker> {
        let (sender, jobs) = channel::<Given>();
        let workers = Arc::downgrade(&self.0);
        let thread = std::thread::Builder::new().name("import".into()).spawn(move || {
            // One that panics is gone, and another is started when it is needed.
            while let Ok((job, own)) = jobs.recv() {
                job();
                match workers.upgrade() {
                    Some(workers) => Self(workers).idle().push(own),
                    None => return,
                }
            }
        });
        thread.map_err(|source| Error::internal("starting an import's thread", source))?;
        Ok(Worker(sender))
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Worker>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::thread::{self, ThreadId};

    use super::*;

    /// Has a thread do something, and says which one did it, once it waits again.
    fn on(workers: &Workers) -> ThreadId {
        let (said, heard) = channel();
        workers.run(move || said.send(thread::current().id()).unwrap()).unwrap();
        let id = heard.recv().unwrap();
        while workers.idle().is_empty() {
            thread::yield_now();
        }
        id
    }

    #[test]
    fn one_after_the_other_goes_to_the_same_thread() {
        let workers = Workers::default();
        let first = on(&workers);
        assert!((0..3).all(|_| on(&workers) == first));
        assert_eq!(workers.idle().len(), 1);
    }

    #[test]
    fn a_thread_that_panics_is_replaced() {
        let workers = Workers::default();
        let (said, heard) = channel::<()>();
        workers
            .run(move || {
                let _said = said;
                panic!("a job that panics");
            })
            .unwrap();
        assert!(heard.recv().is_err());
        on(&workers);
        assert_eq!(workers.idle().len(), 1);
    }

    #[test]
    fn the_threads_end_with_their_owner() {
        let workers = Workers::default();
        on(&workers);
        let worker = workers.idle()[0].clone();
        drop(workers);
        // It does what it was given, finds nobody to wait for, and takes nothing more.
        let more = || worker.0.send((Box::new(|| ()), worker.clone()));
        more().unwrap();
        while more().is_ok() {
            thread::yield_now();
        }
    }
}
