//! A file system that is soon full.

use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;

use super::is_root;

/// Mounts the file system and becomes the program that follows.
const MOUNT: &str =
    "mount -t tmpfs -o size=\"$1\",mode=0700 tmpfs \"$2\" && shift 2 && exec \"$@\"";

/// A directory on which only one process and its children have a small file system.
#[derive(Debug)]
pub(super) struct SmallDisk {
    pub(super) directory: PathBuf,
    bytes: u64,
}

impl SmallDisk {
    /// Nothing where this user may mount nothing, which is said aloud.
    pub(super) fn new(directory: PathBuf, bytes: u64) -> Option<Self> {
        if !*MAY_MOUNT {
            return None;
        }
        std::fs::create_dir_all(&directory).expect("a directory can be made");
        Some(Self { directory, bytes })
    }

    /// The command to a program that has it.
    pub(super) fn holding(&self, program: &Command) -> Command {
        let mut command = namespace();
        command.args(["sh", "-c", MOUNT, "sh", &self.bytes.to_string()]).arg(&self.directory);
        command.arg(program.get_program()).args(program.get_args());
        for (name, value) in program.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if let Some(directory) = program.get_current_dir() {
            command.current_dir(directory);
        }
        command
    }
}

/// Runs what follows where its mounts are its own.
fn namespace() -> Command {
    let mut command = Command::new("unshare");
    command.arg("--mount");
    if !is_root() {
        command.arg("--map-root-user");
    }
    command
}

static MAY_MOUNT: LazyLock<bool> = LazyLock::new(|| {
    let mount = ["sh", "-c", "mount -t tmpfs tmpfs /mnt"];
    let tried = namespace().args(mount).output();
    let may = tried.is_ok_and(|tried| tried.status.success());
    if !may {
        let words = "no file system may be mounted here: nothing runs on a full disk\n";
        let _ = std::io::stderr().write_all(words.as_bytes());
    }
    may
});
