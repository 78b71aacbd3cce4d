//! The server as a child: started on a port of its own, watched, told to stop.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::bench::Bench;
use crate::client::{self, Answer};
use crate::database::Database;
use crate::error::{Doing, Error, Result};
use crate::process::Process;

/// How long a server may take until it says where it listens.
const LONGEST_START: Duration = Duration::from_mins(1);
/// How long it may take to stop: its own time for answers that still run, and some.
const LONGEST_STOP: Duration = Duration::from_secs(45);

/// A server at work. Dropped without [`Server::stop`] it is killed.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    address: String,
    log: PathBuf,
}

impl Server {
    /// Starts a server on this database, with further settings.
    ///
    /// # Errors
    /// A server that does not say where it listens, with the end of its log.
    pub(crate) fn start(bench: &Bench, database: &Database, settings: &[&str]) -> Result<Self> {
        Self::start_as(database.backend.word(), bench, database, settings)
    }

    /// The same with a name of its own, so that several are at work beside each other.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub(crate) fn start_as(
        name: &str,
        bench: &Bench,
        database: &Database,
        settings: &[&str],
    ) -> Result<Self> {
        Self::start_by(bench.limited_server_command(), name, bench, database, settings)
    }

    /// The same on the first core alone.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub(crate) fn start_on_one_core(
        bench: &Bench,
        database: &Database,
        settings: &[&str],
    ) -> Result<Self> {
        let command = bench.pinned_server_command();
        Self::start_by(command, "one-core", bench, database, settings)
    }

    fn start_by(
        mut command: Command,
        name: &str,
        bench: &Bench,
        database: &Database,
        settings: &[&str],
    ) -> Result<Self> {
        let log = bench.workplace.path().join(format!("{name}.log"));
        let written = File::create(&log).doing(format!("making {}", log.display()))?;
        command
            .args(["serve", "--auth", "off", "--listen", "127.0.0.1:0", "--data-dir"])
            .arg(bench.workplace.path().join(name))
            .args(["--database-url", &database.url])
            .args(settings)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(written);
        let mut child = command.spawn().doing(format!("starting {}", bench.server.display()))?;
        let said = first_line(&mut child);
        let mut server = Self { child, address: String::new(), log };
        let address = said.as_deref().and_then(|line| line.strip_prefix("listening on http://"));
        server.address = address.ok_or_else(|| server.silent(said.as_deref()))?.to_owned();
        Ok(server)
    }

    fn silent(&self, said: Option<&str>) -> Error {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        let mut last: Vec<&str> = log.lines().rev().take(5).collect();
        last.reverse();
        Error::new(format!(
            "the server said {} and not where it listens; its log ends:\n{}",
            said.map_or("nothing".into(), |line| format!("\"{line}\"")),
            last.join("\n")
        ))
    }

    /// Its process.
    pub(crate) fn process(&self) -> Process {
        Process(self.child.id())
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Asks it for a path below `/api/v1`.
    ///
    /// # Errors
    /// As [`client::get`].
    pub(crate) fn get(&self, path: &str) -> Result<Answer> {
        client::get(&self.address, &format!("/api/v1{path}"))
    }

    /// Asks it for a path below `/api/v1` that answers with JSON.
    ///
    /// # Errors
    /// As [`client::get`], and an answer that is no JSON.
    pub(crate) fn json(&self, path: &str) -> Result<serde_json::Value> {
        let text = self.get(path)?.text()?;
        serde_json::from_str(&text).doing(format!("reading the answer to GET {path}"))
    }

    /// Has it forget a finished run's file.
    ///
    /// # Errors
    /// As [`client::ask`], and any answer but that it is gone.
    pub(crate) fn forget(&self, run: &str) -> Result<()> {
        let path = format!("/api/v1/runs/{run}");
        let answer = client::ask(&self.address, "DELETE", &path)?;
        match answer.status() {
            Some("204") => Ok(()),
            status => Err(Error::new(format!("DELETE {path} was answered {status:?}"))),
        }
    }

    /// Tells it to stop and waits until it has.
    ///
    /// # Errors
    /// A server that does not stop in time, or not well.
    pub(crate) fn stop(mut self) -> Result<()> {
        let id = self.child.id().to_string();
        let told = Command::new("kill").args(["-TERM", &id]).status();
        told.doing("telling the server to stop")?;
        let begun = Instant::now();
        while begun.elapsed() < LONGEST_STOP {
            match self.child.try_wait().doing("waiting for the server")? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(Error::new(format!("the server ended with {status}"))),
                None => std::thread::sleep(Duration::from_millis(20)),
            }
        }
        let seconds = LONGEST_STOP.as_secs();
        Err(Error::new(format!("the server did not stop within {seconds} s of SIGTERM")))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // After a stop there is nothing left to do, which both of these say.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The first line that a child prints. What follows is thrown away, so that it never waits for us.
fn first_line(child: &mut Child) -> Option<String> {
    let mut lines = BufReader::new(child.stdout.take()?).lines().map_while(std::result::Result::ok);
    let (says, hears) = mpsc::channel();
    std::thread::spawn(move || {
        let _ = lines.next().map(|line| says.send(line));
        lines.for_each(drop);
    });
    hears.recv_timeout(LONGEST_START).ok()
}
