//! What every scenario works with.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Error, Result};
use crate::limit::MemoryLimit;
use crate::options::Options;
use crate::workplace::Workplace;

/// The server's binary, where to work, and what was asked for.
#[derive(Debug)]
pub(crate) struct Bench {
    /// What was asked for.
    pub(crate) options: Options,
    /// The server's binary.
    pub(crate) server: PathBuf,
    /// A directory that is gone afterwards.
    pub(crate) workplace: Workplace,
    /// What the server may take of memory, where that is limited.
    pub(crate) limit: Option<MemoryLimit>,
}

impl Bench {
    /// Finds the server and makes a place to work in.
    ///
    /// # Errors
    /// No server where it should be; no directory to be had; no limit to be set.
    pub(crate) fn open(options: Options) -> Result<Self> {
        let server = match &options.server {
            Some(path) => path.clone(),
            None => beside_us()?,
        };
        // The server is started from another directory.
        let server = server.canonicalize().map_err(|_| missing(&server))?;
        let limit = options.memory_limit.map(MemoryLimit::make).transpose()?;
        Ok(Self { options, server, workplace: Workplace::make()?, limit })
    }

    /// The server's program, untouched by the settings of whoever runs the bench.
    pub(crate) fn server_command(&self) -> Command {
        self.untouched(Command::new(&self.server))
    }

    /// The same, under the limit on its memory where there is one.
    pub(crate) fn limited_server_command(&self) -> Command {
        match &self.limit {
            None => self.server_command(),
            Some(limit) => self.untouched(limit.command(&self.server)),
        }
    }

    /// The server's program on the first core alone.
    pub(crate) fn pinned_server_command(&self) -> Command {
        let mut command = Command::new("taskset");
        command.args(["-c", "0"]).arg(&self.server);
        self.untouched(command)
    }

    /// A failure of a scenario, with its reason where the server was killed for its memory.
    pub(crate) fn explain(&self, error: Error) -> Error {
        let kills = self.limit.as_ref().and_then(MemoryLimit::kills);
        match kills {
            None | Some(0) => error,
            Some(_) => Error::new(format!("the server was killed for its memory: {error}")),
        }
    }

    fn untouched(&self, mut command: Command) -> Command {
        let ours = std::env::vars_os().map(|(name, _)| name);
        for name in ours.filter(|name| name.to_string_lossy().starts_with("TALLYROLL_")) {
            command.env_remove(name);
        }
        command.env_remove("DATABASE_URL").current_dir(self.workplace.path());
        command
    }
}

fn beside_us() -> Result<PathBuf> {
    let own = std::env::current_exe();
    let own = own.map_err(|error| Error::new(format!("finding this program: {error}")))?;
    Ok(own.with_file_name("tallyroll"))
}

fn missing(path: &Path) -> Error {
    Error::new(format!(
        "there is no server at {}; build it with `cargo build --release`, or name one with --server PATH",
        path.display()
    ))
}
