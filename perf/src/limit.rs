//! A hard limit on the server's memory, by a control group.
//!
//! What counts is all that the kernel charges to the group: the server's own memory, the kernel's
//! on its behalf, and the cached pages of files that it reads and writes. The last are taken back
//! when the limit is met; only when that is not enough is the server killed.

use std::path::Path;
use std::process::Command;

use crate::checks::Checks;
use crate::error::{Error, Result};
use crate::groups::{Group, Version};
use crate::stats::mebibytes;

/// A control group with a limit. Dropped, it is gone.
#[derive(Debug)]
pub(crate) struct MemoryLimit {
    bytes: u64,
    group: Group,
}

impl MemoryLimit {
    /// Makes a group that may take so many bytes.
    ///
    /// # Errors
    /// A machine where none can be made, with what stood against it.
    pub(crate) fn make(bytes: u64) -> Result<Self> {
        let limited = |group: &Group| {
            let (memory, swap, most_swap) = match group.version {
                Version::One => ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes", bytes),
                Version::Two => ("memory.max", "memory.swap.max", 0),
            };
            group.write(memory, bytes)?;
            // A machine without swap, or that does not count it, has no such file.
            let _ = group.write(swap, most_swap);
            Ok(())
        };
        match Group::make("memory", "", limited) {
            Ok(group) => Ok(Self { bytes, group }),
            Err(error) => Err(Error::new(format!(
                "--memory-limit needs a control group for memory, and none can be made here; run \
                 without it, or as a user who may: {error}"
            ))),
        }
    }

    /// A program that is in the group from its first instruction.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", "echo $$ > \"$0\" && exec \"$@\""]).arg(self.group.door()).arg(program);
        command
    }

    /// How often the kernel killed a process of the group.
    pub(crate) fn kills(&self) -> Option<u64> {
        let file = match self.group.version {
            Version::One => "memory.oom_control",
            Version::Two => "memory.events",
        };
        named(&self.group.read(file)?, "oom_kill")
    }

    /// The most bytes that were charged at once.
    fn most(&self) -> Option<u64> {
        let file = match self.group.version {
            Version::One => "memory.max_usage_in_bytes",
            Version::Two => "memory.peak",
        };
        self.group.read(file)?.trim().parse().ok()
    }

    /// Checks that the server lived within its limit.
    pub(crate) fn judge(&self, checks: &mut Checks) {
        let words = |figure: Option<String>| figure.unwrap_or_else(|| "not known".into());
        let kills = self.kills();
        let what = format!(
            "the server under a limit of {} MiB: killed for its memory {} times; the most charged \
             to its control group {} MiB, cached files among them",
            mebibytes(self.bytes),
            words(kills.map(|kills| kills.to_string())),
            words(self.most().map(mebibytes)),
        );
        checks.check(kills == Some(0), &what);
    }
}

/// The number behind a name, one pair a line.
fn named(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_number_is_not_taken_for_a_longer_name() {
        let text = "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n";
        assert_eq!(named(text, "oom_kill"), Some(3));
        assert_eq!(named(text, "max"), None);
    }
}
