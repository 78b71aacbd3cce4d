//! Whose turn it is to compute: as many pumps at once as there are cores, each for a moment.
//!
//! Fifty pumps that all have something to do would keep every core for themselves, and whoever answers
//! short requests would wait behind them at each step. So a pump takes its turn before it works on rows,
//! gives it up where it waits, and after [`MOMENT`] when others wait. Within its turn it offers its core to
//! whoever else may have something to do, every few rows: left alone, the kernel lets a thread that
//! computes go on for milliseconds, and that is all that a short request takes. While a turn is free, so is
//! a core, and there is nobody to offer one to. What takes longer without a row,
//! such as a sort within SQLite, counts as being away after [`AWAY`], and somebody else has the turn
//! meanwhile. Nobody waits for a turn for longer than that, so this slows nothing but what it is for.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a turn lasts while others wait.
const MOMENT: Duration = Duration::from_millis(2);
/// After how long a turn without a row passes to somebody else.
const AWAY: Duration = Duration::from_millis(10);
/// Rows between two looks at the clock.
const ROWS: u32 = 32;
/// How much more willingly than others a pump's thread gives way (`nice(2)`): it has the most to do
/// and is waited for the longest.
const NICENESS: i32 = 10;

/// The turns of this process.
static TURNS: LazyLock<Arc<Turns>> = LazyLock::new(|| {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Arc::new(Turns::new(cores))
});

/// Whether somebody else could have a turn now.
pub(crate) fn one_is_free() -> bool {
    !TURNS.none_left.load(Ordering::Relaxed)
}

/// Makes the calling thread give way to others.
pub(crate) fn give_way() {
    let thread = rustix::thread::gettid();
    if let Err(error) = rustix::process::setpriority_process(Some(thread), NICENESS) {
        tracing::debug!(%error, "a thread that computes keeps its priority");
    }
}

#[derive(Debug)]
struct Turns {
    limit: usize,
    state: Mutex<State>,
    /// How many wait, to be looked at without the lock.
    waiting: AtomicUsize,
    /// Whether every turn is out, likewise.
    none_left: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    /// The turns that are out, the oldest first.
    out: VecDeque<(Arc<Holder>, Instant)>,
    waiting: VecDeque<Arc<Holder>>,
}

#[derive(Debug, Default)]
struct Holder {
    has: AtomicBool,
    called: Condvar,
}

/// One thread's turn, taken when it is asked for and given up when it is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    turns: Arc<Turns>,
    me: Arc<Holder>,
    since: Instant,
    rows: u32,
}

impl Turns {
    fn new(limit: usize) -> Self {
        let (waiting, none_left) = (AtomicUsize::new(0), AtomicBool::new(false));
        Self { limit, state: Mutex::default(), waiting, none_left }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a turn out where there is one to be had at once.
    fn take_free(&self, state: &mut State, me: &Arc<Holder>) -> bool {
        let free = state.out.len() < self.limit;
        if free {
            self.give(state, me);
        }
        free
    }

    fn take(&self, me: &Arc<Holder>) {
        let mut state = self.lock();
        if self.take_free(&mut state, me) {
            return;
        }
        state.waiting.push_back(Arc::clone(me));
        self.waiting.fetch_add(1, Ordering::Relaxed);
        while !me.has.load(Ordering::Relaxed) {
            let waited = me.called.wait_timeout(state, AWAY);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            if me.has.load(Ordering::Relaxed) {
                break;
            }
            self.queue_again(&mut state, me);
            self.take_over(&mut state);
        }
    }

    /// Puts whoever was called and came too late for his turn back to the front.
    fn queue_again(&self, state: &mut State, me: &Arc<Holder>) {
        if !state.waiting.iter().any(|waiter| Arc::ptr_eq(waiter, me)) {
            state.waiting.push_front(Arc::clone(me));
            self.waiting.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Gives the turn of whoever is away to the one who waits the longest.
    fn take_over(&self, state: &mut State) {
        let away = state.out.front().is_some_and(|(_, since)| since.elapsed() >= AWAY);
        if away && let Some((holder, _)) = state.out.pop_front() {
            holder.has.store(false, Ordering::Relaxed);
            self.none_left.store(false, Ordering::Relaxed);
        }
        self.call(state);
    }

    fn give_up(&self, me: &Arc<Holder>) {
        let mut state = self.lock();
        if me.has.swap(false, Ordering::Relaxed) {
            state.out.retain(|(holder, _)| !Arc::ptr_eq(holder, me));
            self.none_left.store(false, Ordering::Relaxed);
            self.call(&mut state);
        }
    }

    fn give(&self, state: &mut State, holder: &Arc<Holder>) {
        holder.has.store(true, Ordering::Relaxed);
        state.out.push_back((Arc::clone(holder), Instant::now()));
        self.none_left.store(state.out.len() >= self.limit, Ordering::Relaxed);
    }

    /// Calls the next, where there is a turn to be had.
    fn call(&self, state: &mut State) {
        if state.out.len() < self.limit
            && let Some(next) = state.waiting.pop_front()
        {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            self.give(state, &next);
            next.called.notify_one();
        }
    }
}

impl Turn {
    /// No turn yet, for the calling thread, which from now on gives way to others.
    pub(crate) fn of_this_thread() -> Self {
        give_way();
        Self::among(&TURNS)
    }

    /// A turn for a second thread of the same work, where nobody else would have it.
    pub(crate) fn spare() -> Option<Self> {
        if !one_is_free() {
            return None;
        }
        let turn = Self::among(&TURNS);
        let taken = TURNS.take_free(&mut TURNS.lock(), &turn.me);
        taken.then_some(turn)
    }

    fn among(turns: &Arc<Turns>) -> Self {
        Self { turns: Arc::clone(turns), me: Arc::default(), since: Instant::now(), rows: 0 }
    }

    /// Before each row: takes the turn where it is not held, and gives it on after its moment.
    #[inline]
    pub(crate) fn row(&mut self) {
        if !self.me.has.load(Ordering::Relaxed) {
            self.take();
            return;
        }
        self.rows += 1;
        if self.rows >= ROWS {
            self.rows = 0;
            if self.turns.none_left.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            if self.turns.waiting.load(Ordering::Relaxed) > 0 && self.since.elapsed() >= MOMENT {
                self.give_up();
                self.take();
            }
        }
    }

    /// A turn that nobody else can have, for tests of those who hold one.
    #[cfg(test)]
    pub(crate) fn alone() -> Self {
        let mut turn = Self::among(&Arc::new(Turns::new(1)));
        turn.take();
        turn
    }

    /// One that somebody waits for.
    #[cfg(test)]
    pub(crate) fn wanted() -> Self {
        let turn = Self::alone();
        turn.turns.waiting.store(1, Ordering::Relaxed);
        turn
    }

    /// Whether this turn is still held and nobody waits for one.
    #[inline]
    pub(crate) fn is_spare(&self) -> bool {
        self.me.has.load(Ordering::Relaxed) && self.turns.waiting.load(Ordering::Relaxed) == 0
    }

    /// Before waiting for anything: gives the turn up.
    #[inline]
    pub(crate) fn give_up(&mut self) {
        if self.me.has.load(Ordering::Relaxed) {
            self.turns.give_up(&self.me);
        }
    }

    fn take(&mut self) {
        self.turns.take(&self.me);
        self.since = Instant::now();
        self.rows = 0;
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.give_up();
    }
}
