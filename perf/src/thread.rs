//! What the kernel does with the thread that asks: its priority, and how long it waited for a core.

use std::process::Command;
use std::time::Duration;

use crate::error::{Doing, Error, Result};
use crate::program::{self, Printed};

/// Makes this thread, and those that it starts afterwards, so much nicer to all others, or less nice.
/// Says whether it could: it takes `renice`, and a right to be less nice.
///
/// # Errors
/// No `/proc`.
pub(crate) fn be_nice(by: &str) -> Result<bool> {
    let own = std::fs::read_link("/proc/thread-self").doing("finding this thread")?;
    let mut renice = Command::new("renice");
    renice.args(["-n", by, "-p"]).arg(own.file_name().unwrap_or_default());
    Ok(matches!(program::text(&mut renice), Ok(Printed::Done(_))))
}

/// How long this thread has been ready to run and had no core.
///
/// # Errors
/// A kernel that does not count it.
pub(crate) fn waited_for_a_core() -> Result<Duration> {
    const FILE: &str = "/proc/thread-self/schedstat";
    let text = std::fs::read_to_string(FILE).doing(format!("reading {FILE}"))?;
    let nanoseconds = text.split(' ').nth(1).and_then(|field| field.parse().ok());
    let nanoseconds = nanoseconds.ok_or_else(|| Error::new(format!("{FILE} says no time")))?;
    Ok(Duration::from_nanos(nanoseconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_thread_waits_only_grows() {
        let before = waited_for_a_core().unwrap();
        assert!(waited_for_a_core().unwrap() >= before);
    }
}
