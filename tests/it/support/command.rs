//! Programs that are run to their end: the command line, and curl for its exit codes.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::Place;
use super::disk::SmallDisk;

/// How long a program may take.
const LONGEST: Duration = Duration::from_mins(2);

/// What a program came to.
#[derive(Debug)]
pub struct Finished {
    /// The exit status; `None` where a signal ended it.
    pub code: Option<i32>,
    /// What it wrote to standard output.
    pub stdout: Vec<u8>,
    /// What it wrote to standard error.
    pub stderr: String,
}

impl Finished {
    /// Standard output as text.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).expect("the output is UTF-8")
    }

    /// Fails unless the program was content.
    #[track_caller]
    pub fn expect_success(self) -> Self {
        assert_eq!(
            self.code,
            Some(0),
            "{}\n{}",
            String::from_utf8_lossy(&self.stdout),
            self.stderr
        );
        self
    }
}

/// Runs curl with these arguments; it exits 18 or 56 for a body that was broken off.
pub async fn curl(arguments: &[&str]) -> Finished {
    let mut command = Command::new("curl");
    command.args(["-sS", "--noproxy", "*", "--max-time", "60"]).args(arguments);
    finish(command).await
}

impl Place {
    /// Runs a command of the program in this place to its end, for example `["demo", "--rows", "20"]`,
    /// as the user `tester`.
    pub async fn tallyroll<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Finished {
        let mut command = program(self);
        command.args(arguments);
        finish(command).await
    }

    /// The same with what it reads from standard input.
    pub async fn tallyroll_fed<A: AsRef<OsStr>>(&self, arguments: &[A], input: &Path) -> Finished {
        let mut command = program(self);
        command.args(arguments);
        let input = std::fs::File::open(input).expect("the input can be opened");
        Running::begin_with(command, input.into()).finished().await
    }

    /// Begins a command of the program in this place, by another command where there is one.
    pub fn begin<A: AsRef<OsStr>>(&self, by: &[&str], arguments: &[A]) -> Running {
        let mut command = match by {
            [by, first @ ..] => before(by, first, &program(self)),
            [] => program(self),
        };
        command.args(arguments);
        Running::begin(command)
    }

    /// Runs a command where the place's directory `small` is a file system of its own that this many
    /// bytes fill. Nothing where none may be mounted.
    pub async fn tallyroll_on_a_small_disk(
        &self,
        bytes: u64,
        arguments: &[&str],
    ) -> Option<Finished> {
        let disk = SmallDisk::new(self.path().join("small"), bytes)?;
        let mut command = disk.holding(&program(self));
        command.args(arguments);
        Some(finish(command).await)
    }

    /// Makes the worked example in the business database.
    pub async fn demo(&self, rows: u64) {
        self.tallyroll(&["demo", "--rows", &rows.to_string()]).await.expect_success();
    }
}

/// The program in a place, knowing its databases and definitions and nothing of our environment.
pub(super) fn program(place: &Place) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tallyroll"));
    command.current_dir(place.path()).env("USER", "tester");
    for (name, _) in std::env::vars_os() {
        if name
            .to_str()
            .is_some_and(|name| name.starts_with("TALLYROLL_") || name == "DATABASE_URL")
        {
            command.env_remove(name);
        }
    }
    command
        .env("TALLYROLL_DATA_DIR", place.data())
        .env("TALLYROLL_DATABASE_URL", place.url())
        .env("TALLYROLL_STATE_URL", place.state_url())
        .env("TALLYROLL_DEFINITIONS", place.definitions());
    command
}

/// The same program, begun by another one that takes its command line behind arguments of its own.
fn before(by: &str, first: &[&str], program: &Command) -> Command {
    let mut command = Command::new(by);
    command.args(first).arg(program.get_program());
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

/// Sends a signal, such as `TERM`.
pub(super) fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill").args(["-s", name, &pid.to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()), "SIG{name} could not be sent to {pid}");
}

/// What the kernel says of a process; empty when it is gone.
pub(super) fn proc_file(pid: u32, file: &str) -> String {
    std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join(file)).unwrap_or_default()
}

async fn finish(command: Command) -> Finished {
    Running::begin(command).finished().await
}

/// A program that goes on.
#[derive(Debug)]
pub struct Running {
    child: Child,
    words: String,
}

impl Running {
    fn begin(command: Command) -> Self {
        Self::begin_with(command, Stdio::null())
    }

    fn begin_with(mut command: Command, input: Stdio) -> Self {
        command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
        let words = format!("{command:?}");
        let child = command.spawn().unwrap_or_else(|error| panic!("{error}: {words}"));
        Self { child, words }
    }

    /// Sends it a signal, such as `HUP`.
    pub fn kill(&self, name: &str) {
        signal(self.child.id(), name);
    }

    /// Waits for its end.
    pub async fn finished(self) -> Finished {
        let Self { child, words } = self;
        let pid = child.id();
        let output = tokio::task::spawn_blocking(|| Child::wait_with_output(child));
        let output = tokio::time::timeout(LONGEST, output).await.unwrap_or_else(|_| {
            signal(pid, "KILL");
            panic!("not within {LONGEST:?}: the end of {words}")
        });
        let output = output.expect("waiting does not panic").expect("the output can be read");
        Finished {
            code: output.status.code(),
            stdout: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}
