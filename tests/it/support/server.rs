//! The server as a child process.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use reqwest::Method;
use serde_json::Value as Json;
use tokio::sync::mpsc;

use super::command::{proc_file, program, signal};
use super::disk::SmallDisk;
use super::{Answer, Listens, Place, until};

/// How long a server may take to begin, and to end once nothing goes on.
const CHANGE: Duration = Duration::from_secs(10);
/// How long what a run leaves behind may take to be gone.
const SETTLE: Duration = Duration::from_secs(5);

/// A running server; end it with [`Server::stop`].
#[derive(Debug)]
pub struct Server<'p> {
    place: &'p Place,
    child: Child,
    address: String,
    log: PathBuf,
    /// Where it keeps what it builds, as it sees it.
    temporary: PathBuf,
    client: reqwest::Client,
    /// What it writes to standard output after the first line.
    said: mpsc::UnboundedReceiver<String>,
    /// Whether everything of it can be looked at without a key.
    open: bool,
    over: bool,
}

impl<'p> Server<'p> {
    /// Starts a server on a free port and waits until it listens. `settings` are names with values, or
    /// with an empty value for what is a flag; without others it has `auth` off, the place's databases
    /// and definitions, and a data directory in the place.
    pub async fn start(place: &'p Place, settings: &[(&str, &str)]) -> Self {
        let temporary = place.data().join("tmp");
        Self::start_by(program(place), temporary, place, settings).await
    }

    /// The same with a temporary directory that this many bytes fill: a file system of its own, which
    /// nobody else sees and which ends with the server. Nothing where none may be mounted.
    pub async fn start_on_a_small_disk(
        place: &'p Place,
        bytes: u64,
        settings: &[(&str, &str)],
    ) -> Option<Self> {
        let disk = SmallDisk::new(place.path().join("small"), bytes)?;
        let mut settings = settings.to_vec();
        let directory = disk.directory.to_str().expect("a temporary directory has a plain name");
        settings.push(("temp-dir", directory));
        let command = disk.holding(&program(place));
        Some(Self::start_by(command, disk.directory.clone(), place, &settings).await)
    }

    async fn start_by(
        mut command: Command,
        temporary: PathBuf,
        place: &'p Place,
        settings: &[(&str, &str)],
    ) -> Self {
        command.arg("serve");
        for (name, value) in [("auth", "off"), ("listen", "127.0.0.1:0")] {
            if !settings.iter().any(|setting| setting.0 == name) {
                command.args([&format!("--{name}"), value]);
            }
        }
        for (name, value) in settings {
            command.arg(format!("--{name}")).args(Some(value).filter(|value| !value.is_empty()));
        }
        let logs = std::fs::read_dir(place.path()).into_iter().flatten().count();
        let log = place.path().join(format!("server-{logs}.log"));
        let stderr = File::create(&log).expect("a log file can be made");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(stderr);
        let mut child = command.spawn().expect("the program can be started");
        let said = lines(&mut child);
        let open = !settings.contains(&("auth", "required"));
        // Idle connections would have a stopping server wait for them.
        let client = reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0).build();
        let client = client.expect("a client can be made");
        let address = String::new();
        let mut server =
            Self { place, child, address, log, temporary, client, said, open, over: false };
        let first = tokio::time::timeout(CHANGE, server.said.recv()).await;
        let first = first.expect("the server listens within ten seconds");
        let first = first.expect("the server says where it listens before it ends");
        let address = first.strip_prefix("listening on http://");
        server.address = address.expect("the first line is the address").to_owned();
        server
    }

    /// Host and port.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The whole address of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// What it has logged so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// A request with headers, read to its end.
    pub async fn request(&self, method: Method, path: &str, headers: &[(&str, &str)]) -> Answer {
        Answer::ask(&self.client, method, &self.url(path), headers).await
    }

    /// A GET, read to its end.
    pub async fn get(&self, path: &str) -> Answer {
        self.request(Method::GET, path, &[]).await
    }

    /// A POST with a body, read to its end.
    pub async fn post(&self, path: &str, headers: &[(&str, &str)], body: Vec<u8>) -> Answer {
        Answer::post(&self.client, &self.url(path), headers, body).await
    }

    /// A request with a body, read to its end.
    pub async fn send(&self, method: Method, path: &str, body: &str) -> Answer {
        Answer::send(&self.client, method, &self.url(path), &[], body.into()).await
    }

    /// A GET of JSON that goes well.
    pub async fn json(&self, path: &str) -> Json {
        self.get(path).await.json()
    }

    /// A run as it is now.
    pub async fn run(&self, id: &str) -> Json {
        self.json(&format!("/api/v1/runs/{id}")).await
    }

    /// The newest run, whatever its state; where there is one.
    pub async fn newest_run(&self) -> Option<Json> {
        self.json("/api/v1/runs?limit=1").await["items"].get(0).cloned()
    }

    /// Waits until a run is as `met` wants it.
    pub async fn until_run(&self, id: &str, met: impl Fn(&Json) -> bool, within: Duration) -> Json {
        let mut last = Json::Null;
        let begun = std::time::Instant::now();
        while begun.elapsed() < within {
            last = self.run(id).await;
            if met(&last) {
                return last;
            }
            tokio::time::sleep(super::LOOK).await;
        }
        panic!("not within {within:?}: what was wanted of the run {last}")
    }

    /// The process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Memory that is resident now, in KiB.
    pub fn rss_kib(&self) -> u64 {
        self.status_kib("VmRSS:")
    }

    /// The most memory that was ever resident, in KiB.
    pub fn peak_kib(&self) -> u64 {
        self.status_kib("VmHWM:")
    }

    fn status_kib(&self, field: &str) -> u64 {
        let status = proc_file(self.pid(), "status");
        let line = status.lines().find_map(|line| line.strip_prefix(field));
        let number = line.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
        number.expect("a living process has a size")
    }

    /// Threads on which rows are being read.
    pub fn pump_threads(&self) -> usize {
        self.threads(&["pump"])
    }

    /// Waits until rows are read on so many threads, no more and no less. A thread that has just begun
    /// bears the name of whoever began it until it has said its own.
    pub async fn until_pump_threads(&self, count: usize) {
        let what = format!("rows are read on {count} threads");
        until(&what, SETTLE, async || (self.pump_threads() == count).then_some(())).await;
    }

    /// Threads on which documents are being rendered.
    pub fn render_threads(&self) -> usize {
        self.threads(&["render"])
    }

    /// Threads that bear one of these names.
    fn threads(&self, names: &[&str]) -> usize {
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.pid())).into_iter().flatten();
        let name = |thread: std::fs::DirEntry| std::fs::read_to_string(thread.path().join("comm"));
        threads
            .flatten()
            .filter_map(|thread| name(thread).ok())
            .filter(|name| names.contains(&name.trim()))
            .count()
    }

    /// Sessions of the business database that carry a run's name and do something.
    pub async fn sessions(&self) -> usize {
        self.place.sessions().await
    }

    /// Sends a signal, such as `HUP` or `KILL`.
    pub fn kill(&self, name: &str) {
        signal(self.pid(), name);
    }

    /// Waits for the end of a server that was told to end or crash; nothing is asserted.
    pub async fn exited(mut self, within: Duration) -> ExitStatus {
        self.wait(within).await
    }

    /// Asserts that nothing goes on and nothing is left, then ends the server.
    pub async fn stop(mut self) {
        self.settled().await;
        signal(self.pid(), "TERM");
        let status = self.wait(CHANGE).await;
        assert_eq!(status.code(), Some(0), "the server ends well");
        self.assert_tidy();
    }

    /// Waits until every run is over and nothing works for one any more.
    pub async fn settled(&self) {
        for state in ["queued", "running"].into_iter().filter(|_| self.open) {
            until("no run is unfinished", SETTLE, async || {
                let runs = self.json(&format!("/api/v1/runs?state={state}")).await;
                (runs["items"] == serde_json::json!([])).then_some(())
            })
            .await;
        }
        until("no thread is at work on rows", SETTLE, async || {
            (self.threads(&["pump", "encode", "digest", "compressor", "render"]) == 0).then_some(())
        })
        .await;
        until("no session is at work", SETTLE, async || (self.sessions().await == 0).then_some(()))
            .await;
        until("the temporary directory is empty", SETTLE, async || {
            self.temporary_files().is_empty().then_some(())
        })
        .await;
    }

    /// Names in the temporary directory as the running server sees it.
    pub fn temporary_files(&self) -> Vec<String> {
        let inside = self.temporary.strip_prefix("/").expect("the path is absolute");
        names(&PathBuf::from(format!("/proc/{}/root", self.pid())).join(inside))
    }

    /// Files that the running server holds and that have no name any more, or never had one.
    pub fn deleted_files(&self) -> Vec<String> {
        let held = std::fs::read_dir(format!("/proc/{}/fd", self.pid())).into_iter().flatten();
        held.flatten()
            .filter_map(|link| std::fs::read_link(link.path()).ok())
            .map(|path| path.to_string_lossy().into_owned())
            .filter(|path| path.ends_with("(deleted)"))
            .collect()
    }

    fn assert_tidy(&self) {
        let database = |name: &String| {
            let base =
                name.strip_suffix("-wal").or_else(|| name.strip_suffix("-shm")).unwrap_or(name);
            std::path::Path::new(base).extension().is_some_and(|kind| kind == "db")
        };
        let mut left = names(&self.place.data());
        left.retain(|name| !database(name));
        for directory in ["tmp", "storage"] {
            assert_eq!(
                names(&self.place.data().join(directory)),
                Vec::<String>::new(),
                "{directory}"
            );
            left.retain(|name| name != directory);
        }
        assert_eq!(left, Vec::<String>::new(), "files were left in the data directory");
    }

    async fn wait(&mut self, within: Duration) -> ExitStatus {
        let child = &mut self.child;
        let status = until("the end of the server", within, async || {
            child.try_wait().expect("a child can be waited for")
        })
        .await;
        self.over = true;
        status
    }
}

impl Listens for Server<'_> {
    fn address(&self) -> &str {
        &self.address
    }
}

impl Drop for Server<'_> {
    fn drop(&mut self) {
        if !self.over {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        if std::thread::panicking() {
            eprintln!("--- {}\n{}---", self.log.display(), self.log());
            return;
        }
        assert!(
            self.over,
            "a test ended without stopping its server, so nothing was asserted of its end"
        );
    }
}

/// The lines of a child's standard output, read to the end so that it never waits for us.
fn lines(child: &mut Child) -> mpsc::UnboundedReceiver<String> {
    let (sender, receiver) = mpsc::unbounded_channel();
    let stdout = BufReader::new(child.stdout.take().expect("standard output is a pipe"));
    std::thread::spawn(move || {
        for line in stdout.lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    receiver
}

/// What is in a directory; nothing where there is none.
fn names(directory: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<_> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort_unstable();
    names
}
