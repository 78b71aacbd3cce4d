//! Control groups of the kernel's, made for a run and removed afterwards.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::{Doing, Error, Result};

/// How often a group is tried to be removed, since a process leaves it some moments after its end.
const TRIES: u32 = 50;
const BETWEEN_TRIES: Duration = Duration::from_millis(20);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    /// A hierarchy for each controller.
    One,
    /// One for everything.
    Two,
}

/// A control group. Dropped, it is gone, and whoever is still in it is where it was made.
#[derive(Debug)]
pub(crate) struct Group {
    /// How its files are named.
    pub(crate) version: Version,
    directory: PathBuf,
}

impl Group {
    /// Makes a group for `controller`, which `suffix` tells from others of this process, and sets it
    /// up; tries every place where one could be made.
    ///
    /// # Errors
    /// A machine where none can be made, with what stood against it.
    pub(crate) fn make(
        controller: &str,
        suffix: &str,
        set_up: impl Fn(&Self) -> Result<()>,
    ) -> Result<Self> {
        let read = |path: &str| std::fs::read_to_string(path).doing(format!("reading {path}"));
        let parents = parents(controller, &read("/proc/self/mounts")?, &read("/proc/self/cgroup")?);
        let mut against = Vec::new();
        for (version, parent) in parents {
            let made = Self::make_in(controller, suffix, version, &parent);
            match made.and_then(|group| set_up(&group).map(|()| group)) {
                Ok(group) => return Ok(group),
                Err(error) => against.push(error.to_string()),
            }
        }
        if against.is_empty() {
            against.push("no hierarchy of control groups is mounted".into());
        }
        Err(Error::new(against.join("; ")))
    }

    fn make_in(controller: &str, suffix: &str, version: Version, parent: &Path) -> Result<Self> {
        if version == Version::Two {
            // Where it is not allowed, the group lacks the controller's files, which is said later.
            let children = parent.join("cgroup.subtree_control");
            let _ = std::fs::write(children, format!("+{controller}"));
        }
        let directory = parent.join(format!("tallyroll-perf-{}{suffix}", std::process::id()));
        std::fs::create_dir(&directory).doing(format!("making {}", directory.display()))?;
        Ok(Self { version, directory })
    }

    /// Writes to one of its files.
    ///
    /// # Errors
    /// A file that is not there or may not be written.
    pub(crate) fn write(&self, file: &str, value: u64) -> Result<()> {
        write(&self.directory.join(file), value)
    }

    /// What one of its files holds, where it can be read.
    pub(crate) fn read(&self, file: &str) -> Option<String> {
        std::fs::read_to_string(self.directory.join(file)).ok()
    }

    /// Takes a process in with all its threads, and those that it starts afterwards.
    ///
    /// # Errors
    /// A process that is gone or may not be moved.
    pub(crate) fn take(&self, process: u32) -> Result<()> {
        self.write(PROCESSES, process.into())
    }

    /// Puts one thread back where the group was made; only the first version knows threads.
    ///
    /// # Errors
    /// A thread that is gone or may not be moved.
    pub(crate) fn let_out(&self, thread: u32) -> Result<()> {
        write(&self.parent().join("tasks"), thread.into())
    }

    /// The file that a process enters it by.
    pub(crate) fn door(&self) -> PathBuf {
        self.directory.join(PROCESSES)
    }

    fn parent(&self) -> &Path {
        self.directory.parent().unwrap_or(&self.directory)
    }
}

const PROCESSES: &str = "cgroup.procs";

fn write(path: &Path, value: u64) -> Result<()> {
    std::fs::write(path, value.to_string()).doing(format!("writing {value} to {}", path.display()))
}

impl Drop for Group {
    fn drop(&mut self) {
        for _ in 0..TRIES {
            let left = self.read(PROCESSES).unwrap_or_default();
            for process in left.lines().filter_map(|line| line.parse().ok()) {
                // It may have ended meanwhile.
                let _ = write(&self.parent().join(PROCESSES), process);
            }
            if std::fs::remove_dir(&self.directory).is_ok() {
                return;
            }
            std::thread::sleep(BETWEEN_TRIES);
        }
        eprintln!("the control group {} could not be removed", self.directory.display());
    }
}

/// Where a group could be made: below our own, or else at the top; where the controller has a hierarchy
/// of its own, it is nowhere else.
fn parents(controller: &str, mounts: &str, own: &str) -> Vec<(Version, PathBuf)> {
    let mut found = Vec::new();
    for line in mounts.lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let [_, place, kind, options, ..] = fields.as_slice() else { continue };
        let (version, ours) = match *kind {
            "cgroup" if options.split(',').any(|option| option == controller) => {
                (Version::One, group(own, |names| names.split(',').any(|name| name == controller)))
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
    fn the_hierarchy_of_one_controller_goes_before_the_one_of_everything() {
        let mounts = "cgroup /c/cpu cgroup rw,cpu 0 0\ncgroup /c/memory cgroup rw,memory 0 0\n\
                      cgroup2 /c/unified cgroup2 rw 0 0\n";
        let own = "4:memory:/a/b\n1:cpu:/\n0::/\n";
        let expected = [
            (Version::One, PathBuf::from("/c/memory/a/b")),
            (Version::One, PathBuf::from("/c/memory")),
        ];
        assert_eq!(parents("memory", mounts, own), expected);
    }

    #[test]
    fn the_hierarchy_of_everything_is_found_where_it_is_alone() {
        let (mounts, own) = ("cgroup2 /c cgroup2 rw,nsdelegate 0 0\n", "0::/\n");
        assert_eq!(parents("memory", mounts, own), [(Version::Two, PathBuf::from("/c"))]);
        assert_eq!(parents("memory", "tmpfs /c tmpfs rw 0 0\n", own), []);
    }
}
