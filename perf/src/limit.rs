//! A hard limit on the server's memory: a control group of the kernel's, made for the run and removed
//! afterwards.
//!
//! What counts is all that the kernel charges to the group: the server's own memory, the kernel's
//! on its behalf, and the cached pages of files that it reads and writes. The last are taken back
//! when the limit is met; only when that is not enough is the server killed.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::checks::Checks;
use crate::error::{Doing, Error, Result};
use crate::stats::mebibytes;

/// How often a group is tried to be removed, since a process leaves it some moments after its end.
const TRIES: u32 = 50;
const BETWEEN_TRIES: Duration = Duration::from_millis(20);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    /// A hierarchy for memory alone.
    One,
    /// One for everything.
    Two,
}

/// A control group with a limit. Dropped, it is gone.
#[derive(Debug)]
pub(crate) struct MemoryLimit {
    bytes: u64,
    version: Version,
    directory: PathBuf,
}

impl MemoryLimit {
    /// Makes a group that may take so many bytes.
    ///
    /// # Errors
    /// A machine where none can be made, with what stood against it.
    pub(crate) fn make(bytes: u64) -> Result<Self> {
        let read = |path: &str| std::fs::read_to_string(path).doing(format!("reading {path}"));
        let parents = parents(&read("/proc/self/mounts")?, &read("/proc/self/cgroup")?);
        let mut against = Vec::new();
        for (version, parent) in parents {
            match Self::make_in(bytes, version, &parent) {
                Ok(limit) => return Ok(limit),
                Err(error) => against.push(error.to_string()),
            }
        }
        if against.is_empty() {
            against.push("no hierarchy of control groups is mounted".into());
        }
        Err(Error::new(format!(
            "--memory-limit needs a control group for memory, and none can be made here; run \
             without it, or as a user who may: {}",
            against.join("; ")
        )))
    }

    fn make_in(bytes: u64, version: Version, parent: &Path) -> Result<Self> {
        if version == Version::Two {
            // Where it is not allowed, the group has no file for the limit, which is said below.
            let _ = std::fs::write(parent.join("cgroup.subtree_control"), "+memory");
        }
        let directory = parent.join(format!("tallyroll-perf-{}", std::process::id()));
        std::fs::create_dir(&directory).doing(format!("making {}", directory.display()))?;
        let limit = Self { bytes, version, directory };
        let (memory, swap, most_swap) = match version {
            Version::One => ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes", bytes),
            Version::Two => ("memory.max", "memory.swap.max", 0),
        };
        limit.write(memory, bytes)?;
        // A machine without swap, or that does not count it, has no such file.
        let _ = limit.write(swap, most_swap);
        Ok(limit)
    }

    fn write(&self, file: &str, bytes: u64) -> Result<()> {
        let path = self.directory.join(file);
        std::fs::write(&path, bytes.to_string())
            .doing(format!("writing {bytes} to {}", path.display()))
    }

    /// A program that is in the group from its first instruction.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new("sh");
        command
            .args(["-c", "echo $$ > \"$0\" && exec \"$@\""])
            .arg(self.directory.join("cgroup.procs"))
            .arg(program);
        command
    }

    /// How often the kernel killed a process of the group.
    pub(crate) fn kills(&self) -> Option<u64> {
        let file = match self.version {
            Version::One => "memory.oom_control",
            Version::Two => "memory.events",
        };
        named(&self.read(file)?, "oom_kill")
    }

    /// The most bytes that were charged at once.
    fn most(&self) -> Option<u64> {
        let file = match self.version {
            Version::One => "memory.max_usage_in_bytes",
            Version::Two => "memory.peak",
        };
        self.read(file)?.trim().parse().ok()
    }

    fn read(&self, file: &str) -> Option<String> {
        std::fs::read_to_string(self.directory.join(file)).ok()
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

impl Drop for MemoryLimit {
    fn drop(&mut self) {
        for _ in 0..TRIES {
            if std::fs::remove_dir(&self.directory).is_ok() {
                return;
            }
            std::thread::sleep(BETWEEN_TRIES);
        }
        eprintln!("the control group {} could not be removed", self.directory.display());
    }
}

/// The number behind a name, one pair a line.
fn named(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
}

/// Where a group could be made: below our own, or else at the top; where memory has a hierarchy of
/// its own, it is nowhere else.
fn parents(mounts: &str, own: &str) -> Vec<(Version, PathBuf)> {
    let mut found = Vec::new();
    for line in mounts.lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let [_, place, kind, options, ..] = fields.as_slice() else { continue };
        let (version, ours) = match *kind {
            "cgroup" if options.split(',').any(|option| option == "memory") => {
                (Version::One, group(own, |names| names.split(',').any(|name| name == "memory")))
            }
            "cgroup2" => (Version::Two, group(own, str::is_empty)),
            _ => continue,
        };
        let place = PathBuf::from(place);
        let below = ours.map(|path| place.join(path.trim_start_matches('/')));
        let below = below.filter(|below| *below != place);
        found.extend(below.into_iter().chain([place]).map(|parent| (version, parent)));
    }
    if found.iter().any(|(version, _)| *version == Version::One) {
        found.retain(|(version, _)| *version == Version::One);
    }
    found
}

/// Our own group in the hierarchy whose controllers are these.
fn group(own: &str, is_wanted: impl Fn(&str) -> bool) -> Option<&str> {
    own.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (names, path) = (fields.next()?, fields.next()?);
        is_wanted(names).then_some(path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hierarchy_of_memory_alone_goes_before_the_one_of_everything() {
        let mounts = "cgroup /c/cpu cgroup rw,cpu 0 0\ncgroup /c/memory cgroup rw,memory 0 0\n\
                      cgroup2 /c/unified cgroup2 rw 0 0\n";
        let own = "4:memory:/a/b\n1:cpu:/\n0::/\n";
        let expected = [
            (Version::One, PathBuf::from("/c/memory/a/b")),
            (Version::One, PathBuf::from("/c/memory")),
        ];
        assert_eq!(parents(mounts, own), expected);
    }

    #[test]
    fn the_hierarchy_of_everything_is_found_where_it_is_alone() {
        let (mounts, own) = ("cgroup2 /c cgroup2 rw,nsdelegate 0 0\n", "0::/\n");
        assert_eq!(parents(mounts, own), [(Version::Two, PathBuf::from("/c"))]);
        assert_eq!(parents("tmpfs /c tmpfs rw 0 0\n", own), []);
    }

    #[test]
    fn a_named_number_is_not_taken_for_a_longer_name() {
        let text = "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n";
        assert_eq!(named(text, "oom_kill"), Some(3));
        assert_eq!(named(text, "max"), None);
    }
}
