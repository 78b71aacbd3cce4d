//! Settings: one name each, as `--name`, as `TALLYROLL_NAME`, and as a key of `tallyroll.toml`, in
//! that order of precedence. The only reader of the environment.

mod measure;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde::Deserialize;

use self::measure::Measure;

use crate::error::{Error, Problem, Result};

/// Whether callers must say who they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Auth {
    /// Every request must carry a key.
    Required,
    /// Anybody on this machine may do everything; on a loopback address only.
    Off,
}

/// What writes workbooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum XlsxWriter {
    /// A library, in its mode of constant memory.
    Library,
}

impl XlsxWriter {
    /// Every writer, the default first.
    const ALL: [Self; 1] = [Self::Library];

    const fn name(self) -> &'static str {
        match self {
            Self::Library => "library",
        }
    }
}

/// The settings as they are written down, none of them needed.
#[derive(Debug, Clone, Default, Args, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Given {
    /// A settings file [default: tallyroll.toml in the working directory, where there is one]
    #[arg(long, env = "TALLYROLL_CONFIG", global = true)]
    #[serde(skip)]
    config: Option<PathBuf>,
    /// Address to serve on; port 0 picks one [default: 127.0.0.1:8080]
    #[arg(long, env = "TALLYROLL_LISTEN", global = true)]
    listen: Option<String>,
    /// Where the server keeps its files [default: data]
    #[arg(long, env = "TALLYROLL_DATA_DIR", alias = "data_dir", global = true)]
    data_dir: Option<PathBuf>,
    /// Where temporary files go [default: tmp in the data directory]
    #[arg(long, env = "TALLYROLL_TEMP_DIR", alias = "temp_dir", global = true)]
    temp_dir: Option<PathBuf>,
    /// The database for the server's own tables [default: the file state.db in the data directory]
    #[arg(
        long,
        env = "TALLYROLL_STATE_URL",
        alias = "state_url",
        global = true,
        hide_env_values = true
    )]
    state_url: Option<String>,
    /// The database that definitions read [default: the file business.db in the data directory]
    #[arg(
        long,
        env = "TALLYROLL_DATABASE_URL",
        alias = "database_url",
        global = true,
        hide_env_values = true
    )]
    database_url: Option<String>,
    /// Further databases by name, in the settings file alone
    #[arg(skip)]
    databases: BTreeMap<String, String>,
    /// A directory with reports/, imports/ and documents/
    #[arg(long, env = "TALLYROLL_DEFINITIONS", global = true)]
    definitions: Option<PathBuf>,
    /// The zone in which times are shown [default: Asia/Seoul]
    #[arg(long, env = "TALLYROLL_TIME_ZONE", alias = "time_zone", global = true)]
    time_zone: Option<String>,
    /// Whether callers must say who they are [default: required]
    #[arg(long, env = "TALLYROLL_AUTH", value_enum, global = true)]
    auth: Option<Auth>,
    /// Direct streams at once [default: 48]
    #[arg(long, env = "TALLYROLL_STREAMS", global = true)]
    streams: Option<usize>,
    /// Requests that may wait for a stream [default: 200]
    #[arg(long, env = "TALLYROLL_QUEUE", global = true)]
    queue: Option<usize>,
    /// Prepared builds at once [default: the number of cores]
    #[arg(long, env = "TALLYROLL_BUILDS", global = true)]
    builds: Option<usize>,
    /// Bytes of finished and unfinished temporary files, such as 10GiB [default: 10GiB]
    #[arg(long, env = "TALLYROLL_SPOOL_CAP", alias = "spool_cap", global = true)]
    spool_cap: Option<Measure>,
    /// How long a prepared answer stays to be resumed [default: 10m]
    #[arg(long, env = "TALLYROLL_KEEP_PREPARED", alias = "keep_prepared", global = true)]
    keep_prepared: Option<Measure>,
    /// The longest wait for a stream, such as 60s [default: 60s]
    #[arg(long, env = "TALLYROLL_QUEUE_WAIT", alias = "queue_wait", global = true)]
    queue_wait: Option<Measure>,
    /// The longest wait for a query's first row [default: 45s]
    #[arg(long, env = "TALLYROLL_FIRST_ROW_TIMEOUT", alias = "first_row_timeout", global = true)]
    first_row_timeout: Option<Measure>,
    /// How long a client may take nothing [default: 60s]
    #[arg(long, env = "TALLYROLL_STALL_TIMEOUT", alias = "stall_timeout", global = true)]
    stall_timeout: Option<Measure>,
    /// How long running answers may take to end when the server stops [default: 30s]
    #[arg(long, env = "TALLYROLL_SHUTDOWN_TIMEOUT", alias = "shutdown_timeout", global = true)]
    shutdown_timeout: Option<Measure>,
    /// How hard workbooks are compressed, 1 to 9 [default: 2]
    #[arg(long, env = "TALLYROLL_XLSX_LEVEL", alias = "xlsx_level", global = true)]
    xlsx_level: Option<u8>,
    /// What writes workbooks: library [default: library]
    #[arg(long, env = "TALLYROLL_XLSX_WRITER", alias = "xlsx_writer", global = true)]
    xlsx_writer: Option<String>,
    /// How long finished runs are kept [default: 400d]
    #[arg(long, env = "TALLYROLL_KEEP_RUNS", alias = "keep_runs", global = true)]
    keep_runs: Option<Measure>,
    /// What the log says, as a tracing filter [default: info]
    #[arg(long, env = "TALLYROLL_LOG", global = true)]
    log: Option<String>,
}

/// The settings in force.
#[derive(Debug, Clone)]
pub struct Config {
    /// Address to serve on, `host:port`.
    pub listen: String,
    /// Where the server keeps its files.
    pub data_dir: PathBuf,
    /// Where temporary files go.
    pub temp_dir: PathBuf,
    /// The database for the server's own tables.
    pub state_url: String,
    /// The databases that definitions read, by name; the main one under the empty name.
    pub databases: BTreeMap<String, String>,
    /// Whether `database_url` is the default, a file that the server may create itself.
    pub own_database: bool,
    /// A directory with `reports/`, `imports/` and `documents/`.
    pub definitions: Option<PathBuf>,
    /// The zone in which times are shown.
    pub time_zone: jiff::tz::TimeZone,
    /// Whether callers must say who they are.
    pub auth: Auth,
    /// Whether that is the default, which nobody asked for.
    pub auth_by_default: bool,
    /// Direct streams at once.
    pub streams: usize,
    /// Requests that may wait for a stream.
    pub queue: usize,
    /// Prepared builds at once.
    pub builds: usize,
    /// Bytes of finished and unfinished temporary files.
    pub spool_cap: u64,
    /// How long a prepared answer stays to be resumed.
    pub keep_prepared: Duration,
    /// The longest wait for a stream.
    pub queue_wait: Duration,
    /// The longest wait for a query's first row.
    pub first_row_timeout: Duration,
    /// How long a client may take nothing.
    pub stall_timeout: Duration,
    /// How long running answers may take to end when the server stops.
    pub shutdown_timeout: Duration,
    /// How hard workbooks are compressed, 1 to 9.
    pub xlsx_level: u8,
    /// What writes workbooks.
    pub xlsx_writer: XlsxWriter,
    /// How long finished runs are kept.
    pub keep_runs: Duration,
    /// What the log says, as a tracing filter.
    pub log: String,
}

/// How long an idle connection stays open. What stands in front of the server keeps its own for less
/// than this, so that it sends no request into one that is being closed.
pub const KEEP_ALIVE: Duration = Duration::from_secs(5);

/// Name of the settings file looked for in the working directory.
const FILE: &str = "tallyroll.toml";

impl Given {
    /// Puts the settings file behind what was given, and the defaults behind both.
    ///
    /// # Errors
    /// [`Error::Invalid`] with every setting that cannot be understood.
    pub fn settle(self) -> Result<Config> {
        let file = self.read_file()?;
        let plain_url = std::env::var("DATABASE_URL").ok().filter(|url| !url.is_empty());
        self.settle_with(file, plain_url)
    }

    /// The user that a command's runs are recorded for: by name, else by number.
    #[must_use]
    pub fn user() -> String {
        let named = ["USER", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok());
        named.filter(|user| !user.is_empty()).unwrap_or_else(user_of_process)
    }

    fn read_file(&self) -> Result<Self> {
        let (path, asked) = match &self.config {
            Some(path) => (path.as_path(), true),
            None => (Path::new(FILE), false),
        };
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if !asked && error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            Err(error) => {
                let detail =
                    format!("the settings file {} cannot be read: {error}", path.display());
                return Err(invalid("config", &path.display().to_string(), detail));
            }
        };
        toml::from_str(&text).map_err(|error| {
            let detail = format!("the settings file {}: {error}", path.display());
            invalid("config", &path.display().to_string(), detail)
        })
    }

    fn settle_with(self, file: Self, plain_url: Option<String>) -> Result<Config> {
        let mut faults = Vec::new();
        let data_dir = self.data_dir.or(file.data_dir).unwrap_or_else(|| "data".into());
        let sqlite = |name: &str| format!("sqlite://{}", data_dir.join(name).display());
        // An argument or a variable, be it the plain one, comes before the file.
        let database_url = self.database_url.or(plain_url).or(file.database_url);
        let own_database = database_url.is_none();
        let mut databases = file.databases;
        databases.insert(String::new(), database_url.unwrap_or_else(|| sqlite("business.db")));
        let mut duration = |name, given: Option<Measure>, filed: Option<Measure>, default| {
            measure::duration(name, given.or(filed), default, &mut faults)
        };
        let config = Config {
            queue_wait: duration("queue_wait", self.queue_wait, file.queue_wait, "60s"),
            first_row_timeout: duration(
                "first_row_timeout",
                self.first_row_timeout,
                file.first_row_timeout,
                "45s",
            ),
            stall_timeout: duration("stall_timeout", self.stall_timeout, file.stall_timeout, "60s"),
            shutdown_timeout: duration(
                "shutdown_timeout",
                self.shutdown_timeout,
                file.shutdown_timeout,
                "30s",
            ),
            keep_prepared: duration("keep_prepared", self.keep_prepared, file.keep_prepared, "10m"),
            keep_runs: duration("keep_runs", self.keep_runs, file.keep_runs, "400d"),
            listen: self.listen.or(file.listen).unwrap_or_else(|| "127.0.0.1:8080".into()),
            temp_dir: self.temp_dir.or(file.temp_dir).unwrap_or_else(|| data_dir.join("tmp")),
            state_url: self.state_url.or(file.state_url).unwrap_or_else(|| sqlite("state.db")),
            databases,
            own_database,
            definitions: self.definitions.or(file.definitions),
            time_zone: zone(self.time_zone.or(file.time_zone), &mut faults),
            auth_by_default: self.auth.or(file.auth).is_none(),
            auth: self.auth.or(file.auth).unwrap_or(Auth::Required),
            streams: at_least_one("streams", self.streams.or(file.streams), 48, &mut faults),
            builds: at_least_one("builds", self.builds.or(file.builds), cores(), &mut faults),
            spool_cap: measure::size(
                "spool_cap",
                self.spool_cap.or(file.spool_cap),
                "10GiB",
                &mut faults,
            ),
            xlsx_level: level(self.xlsx_level.or(file.xlsx_level), &mut faults),
            xlsx_writer: writer(self.xlsx_writer.or(file.xlsx_writer), &mut faults),
            queue: self.queue.or(file.queue).unwrap_or(200),
            log: self.log.or(file.log).unwrap_or_else(|| "info".into()),
            data_dir,
        };
        if faults.is_empty() { Ok(config) } else { Err(Error::Invalid(faults)) }
    }
}

/// The name that `/etc/passwd` gives the user this process runs as; its number without one.
fn user_of_process() -> String {
    use std::os::unix::fs::MetadataExt;
    let Ok(process) = std::fs::metadata("/proc/self") else { return "unknown".into() };
    let id = process.uid().to_string();
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let named = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1) == Some(&id)).then(|| name.to_owned())
    });
    named.unwrap_or(id)
}

fn zone(name: Option<String>, faults: &mut Vec<Problem>) -> jiff::tz::TimeZone {
    let name = name.unwrap_or_else(|| "Asia/Seoul".into());
    jiff::tz::TimeZone::get(&name).unwrap_or_else(|_| {
        faults.push(Problem::parameter(
            "time_zone",
            "not_a_zone",
            &*name,
            format!("time_zone is \"{name}\", which is not an IANA zone such as Asia/Seoul or UTC"),
        ));
        jiff::tz::TimeZone::UTC
    })
}

fn level(level: Option<u8>, faults: &mut Vec<Problem>) -> u8 {
    let level = level.unwrap_or(2);
    if !(1..=9).contains(&level) {
        let detail = format!("xlsx_level is {level}; it takes 1 (fast) to 9 (small)");
        faults.push(Problem::parameter("xlsx_level", "out_of_range", level.to_string(), detail));
    }
    level
}

fn writer(name: Option<String>, faults: &mut Vec<Problem>) -> XlsxWriter {
    let [default] = XlsxWriter::ALL;
    let Some(name) = name else { return default };
    let known = XlsxWriter::ALL.into_iter().find(|writer| writer.name() == name);
    known.unwrap_or_else(|| {
        let words = XlsxWriter::ALL.map(XlsxWriter::name).join(", ");
        let detail = format!("xlsx_writer is \"{name}\"; there is {words}");
        faults.push(Problem::parameter("xlsx_writer", "unknown_value", &*name, detail));
        default
    })
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(2, std::num::NonZero::get)
}

fn at_least_one(
    name: &str,
    value: Option<usize>,
    default: usize,
    faults: &mut Vec<Problem>,
) -> usize {
    let value = value.unwrap_or(default);
    if value == 0 {
        let detail = format!("{name} is 0, so nothing could ever run; give 1 or more");
        faults.push(Problem::parameter(name, "too_small", "0", detail));
    }
    value
}

fn invalid(name: &str, value: &str, detail: String) -> Error {
    Error::Invalid(vec![Problem::parameter(name, "unreadable", value, detail)])
}
