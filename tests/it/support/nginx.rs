//! An nginx in front of a server, with the configuration that the program prints for it, run by a
//! user without rights.

use std::fs::{File, Permissions};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Once;
use std::time::Duration;

use reqwest::Method;
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream};

use super::command::signal;
use super::{Answer, Backend, Listens, Place, Server, is_root, on_every_backend, until};

/// How long nginx may take to begin and to end.
const CHANGE: Duration = Duration::from_secs(10);
/// How often a port is looked for that nobody takes before nginx does.
const TRIES: usize = 5;
/// Where nginx would keep what it does not pass on at once.
const TEMPORARY: [&str; 5] = ["body", "proxy", "fastcgi", "uwsgi", "scgi"];
/// The user `nobody`, as whom it runs where the tests run as root.
const NOBODY: u32 = 65_534;

/// A running nginx; end it with [`Nginx::stop`], before its server.
#[derive(Debug)]
pub struct Nginx {
    child: Child,
    directory: TempDir,
    address: String,
    client: reqwest::Client,
    over: bool,
}

impl Nginx {
    /// Starts nginx on a free port with what the program prints for a server with these settings,
    /// which are those that the server was started with.
    pub async fn start(place: &Place, server: &Server<'_>, settings: &[(&str, &str)]) -> Self {
        Self::start_with(place, server.address(), settings, str::to_owned).await
    }

    /// The same for an address at which there need not be a server, with a change to the
    /// configuration.
    pub async fn start_with(
        place: &Place,
        server: &str,
        settings: &[(&str, &str)],
        change: impl Fn(&str) -> String,
    ) -> Self {
        for _ in 0..TRIES {
            let port = free_port().await;
            let site = print(place, server, settings, port).await;
            if let Some(nginx) = Self::try_start(&change(&site), port).await {
                return nginx;
            }
        }
        panic!("nginx found no port of its own {TRIES} times over");
    }

    /// Nothing where somebody else took the port meanwhile.
    async fn try_start(site: &str, port: u16) -> Option<Self> {
        let readable = Permissions::from_mode(0o755);
        let directory = tempfile::Builder::new().permissions(readable).tempdir();
        let directory = directory.expect("a temporary directory can be made");
        let path = directory.path();
        let main = write_main(path, site);
        let log = File::create(path.join("error.log")).expect("a log file can be made");
        let mut command = Command::new(program().expect("looked for before"));
        command.args(["-e", "stderr", "-p"]).arg(path).arg("-c").arg(main).stderr(log);
        if is_root() {
            for directory in std::iter::once(path.to_owned()).chain(temporary(path)) {
                chown(directory, Some(NOBODY), Some(NOBODY)).expect("root may give away");
            }
            command.uid(NOBODY).gid(NOBODY);
        }
        let child = command.stdin(Stdio::null()).spawn().expect("nginx can be started");
        let client = reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0).build();
        let client = client.expect("a client can be made");
        let address = format!("127.0.0.1:{port}");
        let mut nginx = Self { child, directory, address, client, over: false };
        let listens = until("nginx listens", CHANGE, async || {
            if nginx.child.try_wait().expect("a child can be waited for").is_some() {
                nginx.over = true;
                return Some(false);
            }
            // Whoever took the port would take the connection too; then nginx ends without a worker.
            let taken = TcpStream::connect(&nginx.address).await.is_ok();
            (taken && !nginx.workers().is_empty()).then_some(true)
        })
        .await;
        let taken = nginx.log().contains("Address already in use");
        assert!(listens || taken, "nginx does not start: {}", nginx.log());
        listens.then_some(nginx)
    }

    /// The whole address of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// A request with headers, read to its end.
    pub async fn request(&self, method: Method, path: &str, headers: &[(&str, &str)]) -> Answer {
        Answer::ask(&self.client, method, &self.url(path), headers).await
    }

    /// A GET, read to its end.
    pub async fn get(&self, path: &str) -> Answer {
        self.request(Method::GET, path, &[]).await
    }

    /// What it has logged so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.directory.path().join("error.log")).unwrap_or_default()
    }

    /// The processes that answer.
    fn workers(&self) -> Vec<u32> {
        let master = self.child.id();
        let children = std::fs::read_to_string(format!("/proc/{master}/task/{master}/children"));
        children.unwrap_or_default().split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
    }

    /// Memory of its worker that is resident now, in KiB.
    pub fn rss_kib(&self) -> u64 {
        let resident = |pid: u32| {
            let status = super::command::proc_file(pid, "status");
            let line =
                status.lines().find_map(|line| line.strip_prefix("VmRSS:").map(str::to_owned));
            line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok())
        };
        self.workers().into_iter().filter_map(resident).sum()
    }

    /// Files that it keeps for a while: those that can be seen, and those that it has open without a
    /// name.
    pub fn temporary_files(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for directory in temporary(self.directory.path()) {
            files(&directory, &mut found);
        }
        let pids = self.workers().into_iter().chain([self.child.id()]);
        for pid in pids {
            let open = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
            let open = open.filter_map(|entry| std::fs::read_link(entry.path()).ok());
            let inside = |file: &PathBuf| {
                temporary(self.directory.path()).any(|directory| file.starts_with(directory))
            };
            found.extend(open.filter(inside));
        }
        found
    }

    /// Asserts that it kept nothing, and ends it.
    pub async fn stop(mut self) {
        assert_eq!(self.temporary_files(), Vec::<PathBuf>::new());
        signal(self.child.id(), "TERM");
        let child = &mut self.child;
        let status = until("the end of nginx", CHANGE, async || {
            child.try_wait().expect("a child can be waited for")
        })
        .await;
        self.over = true;
        assert_eq!(status.code(), Some(0), "nginx ends well: {}", self.log());
        let log = self.log();
        let failed = ["[emerg]", "[alert]", "[crit]"].into_iter().find(|level| log.contains(level));
        assert_eq!(failed, None, "{log}");
    }
}

impl Listens for Nginx {
    fn address(&self) -> &str {
        &self.address
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        if !self.over {
            // Killed outright, it would leave its workers behind.
            signal(self.child.id(), "TERM");
            let _ = self.child.wait();
        }
        if std::thread::panicking() {
            eprintln!("--- nginx\n{}---", self.log());
            return;
        }
        assert!(
            self.over,
            "a test ended without stopping its nginx, so nothing was asserted of it"
        );
    }
}

/// Runs a test once on every backend, where there is an nginx.
pub async fn behind_nginx(test: impl AsyncFn(Place)) {
    if is_there() {
        on_every_backend(test).await;
    }
}

/// Runs a test to which the database makes no difference, where there is an nginx.
pub async fn once_behind_nginx(test: impl AsyncFn(Place)) {
    if is_there() {
        test(Place::new(Backend::Sqlite).await).await;
    }
}

/// Whether nginx is installed. Without it it is said aloud, past whatever captures output.
fn is_there() -> bool {
    static SAID: Once = Once::new();
    if program().is_some() {
        return true;
    }
    SAID.call_once(|| {
        let words = "nginx is not installed: nothing was tried behind it\n";
        let _ = std::io::stderr().write_all(words.as_bytes());
    });
    false
}

/// Where nginx is; Debian has it where only root's shell looks.
fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories = std::env::split_paths(&path).chain(["/usr/sbin".into()]);
    directories.map(|directory| directory.join("nginx")).find(|file| file.is_file())
}

async fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("there is a free port");
    listener.local_addr().expect("it has an address").port()
}

/// What the program prints for a server.
async fn print(place: &Place, server: &str, settings: &[(&str, &str)], port: u16) -> String {
    let mut arguments: Vec<String> = ["ops", "nginx", "--listen", server].map(str::to_owned).into();
    arguments.extend(["--port".into(), port.to_string()]);
    if !settings.iter().any(|setting| setting.0 == "auth") {
        arguments.extend(["--auth", "off"].map(str::to_owned));
    }
    for (name, value) in settings {
        arguments.extend([format!("--{name}"), (*value).to_owned()]);
    }
    place.tallyroll(&arguments).await.expect_success().text().to_owned()
}

/// Writes the least that nginx needs around what was printed, everything in one directory.
fn write_main(directory: &Path, site: &str) -> PathBuf {
    let paths: String = TEMPORARY
        .into_iter()
        .zip(temporary(directory))
        .map(|(name, path)| {
            std::fs::create_dir(&path).expect("a directory can be made");
            let directive = if name == "body" { "client_body" } else { name };
            format!("    {directive}_temp_path {};\n", path.display())
        })
        .collect();
    let site_file = directory.join("site.conf");
    std::fs::write(&site_file, site).expect("a file can be written");
    let main = directory.join("nginx.conf");
    let text = format!(
        "daemon off;\nworker_processes 1;\npid {0}/nginx.pid;\nerror_log stderr info;\n\
         events {{ worker_connections 512; }}\nhttp {{\n    access_log off;\n{paths}    \
         include {1};\n}}\n",
        directory.display(),
        site_file.display()
    );
    std::fs::write(&main, text).expect("a file can be written");
    main
}

fn temporary(directory: &Path) -> impl Iterator<Item = PathBuf> {
    TEMPORARY.map(|name| directory.join(name)).into_iter()
}

fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            files(&entry.path(), found);
        } else {
            found.push(entry.path());
        }
    }
}
