//! Panics of the library that are no news: on a full disk it panics, which is caught and becomes an
//! error that is told in its place. The hook that prints panics would tell it again, as a crash.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::Once;

thread_local! {
    /// Whether this thread is inside the library, where panics are caught.
    static CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Has the process say nothing of a full disk that the library panics about; of every other panic it
/// says what it said before. Once, at its start.
pub fn hush_full_disks() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let loud = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !is_told_elsewhere(panic) {
                loud(panic);
            }
        }));
    });
}

fn is_told_elsewhere(panic: &PanicHookInfo<'_>) -> bool {
    CAUGHT.get() && panic.payload_as_str().is_some_and(is_of_a_full_disk)
}

/// Whether the words of a panic are those of an error that a full disk gives.
pub(super) fn is_of_a_full_disk(words: &str) -> bool {
    words.contains("StorageFull") || words.contains("QuotaExceeded")
}

/// Does something with the library; what it panics with comes back.
pub(super) fn caught<T>(act: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    let before = CAUGHT.replace(true);
    // Nothing of the book is used after a panic.
    let done = catch_unwind(AssertUnwindSafe(act));
    CAUGHT.set(before);
    done
}
