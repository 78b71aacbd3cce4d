//! Settings: one name each, as `--name`, as `TALLYROLL_NAME`, and as a key of `tallyroll.toml`, in
//! that order of precedence. The only reader of the environment.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde::Deserialize;

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
    spool_cap: Option<String>,
    /// How long a prepared answer stays to be resumed [default: 10m]
    #[arg(long, env = "TALLYROLL_KEEP_PREPARED", alias = "keep_prepared", global = true)]
    keep_prepared: Option<String>,
    /// The longest wait for a stream, such as 60s [default: 60s]
    #[arg(long, env = "TALLYROLL_QUEUE_WAIT", alias = "queue_wait", global = true)]
    queue_wait: Option<String>,
    /// The longest wait for a query's first row [default: 45s]
    #[arg(long, env = "TALLYROLL_FIRST_ROW_TIMEOUT", alias = "first_row_timeout", global = true)]
    first_row_timeout: Option<String>,
    /// How long a client may take nothing [default: 60s]
    #[arg(long, env = "TALLYROLL_STALL_TIMEOUT", alias = "stall_timeout", global = true)]
    stall_timeout: Option<String>,
    /// How long running answers may take to end when the server stops [default: 30s]
    #[arg(long, env = "TALLYROLL_SHUTDOWN_TIMEOUT", alias = "shutdown_timeout", global = true)]
    shutdown_timeout: Option<String>,
    /// How hard workbooks are compressed, 1 to 9 [default: 2]
    #[arg(long, env = "TALLYROLL_XLSX_LEVEL", alias = "xlsx_level", global = true)]
    xlsx_level: Option<u8>,
    /// How long finished runs are kept [default: 400d]
    #[arg(long, env = "TALLYROLL_KEEP_RUNS", alias = "keep_runs", global = true)]
    keep_runs: Option<String>,
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
        let database_url = self.database_url.or(file.database_url).or(plain_url);
        let own_database = database_url.is_none();
        let mut databases = file.databases;
        databases.insert(String::new(), database_url.unwrap_or_else(|| sqlite("business.db")));
        let mut duration = |name, given: Option<String>, filed: Option<String>, default| {
            let text = given.or(filed).unwrap_or_else(|| String::from(default));
            parse_duration(&text).unwrap_or_else(|| {
                faults.push(Problem::parameter(
                    name,
                    "not_a_duration",
                    &*text,
                    format!("{name} is \"{text}\", which is not a duration such as 45s, 10m, 24h or 400d"),
                ));
                Duration::ZERO
            })
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
            auth: self.auth.or(file.auth).unwrap_or(Auth::Required),
            streams: at_least_one("streams", self.streams.or(file.streams), 48, &mut faults),
            builds: at_least_one("builds", self.builds.or(file.builds), cores(), &mut faults),
            spool_cap: size("spool_cap", self.spool_cap.or(file.spool_cap), "10GiB", &mut faults),
            xlsx_level: level(self.xlsx_level.or(file.xlsx_level), &mut faults),
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

fn cores() -> usize {
    std::thread::available_parallelism().map_or(2, std::num::NonZero::get)
}

fn size(name: &str, text: Option<String>, default: &str, faults: &mut Vec<Problem>) -> u64 {
    let text = text.unwrap_or_else(|| default.into());
    parse_size(&text).unwrap_or_else(|| {
        let detail = format!("{name} is \"{text}\", which is not a size such as 512MiB or 10GiB");
        faults.push(Problem::parameter(name, "not_a_size", &*text, detail));
        0
    })
}

/// Reads `1024`, `64KiB`, `512MiB`, `10GiB`.
fn parse_size(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..digits].parse().ok()?;
    let shift = match text[digits..].trim_start() {
        "" | "B" => 0,
        "KiB" => 10,
        "MiB" => 20,
        "GiB" => 30,
        "TiB" => 40,
        _ => return None,
    };
    number.checked_mul(1 << shift)
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

/// Reads `250ms`, `45s`, `10m`, `24h`, `400d`.
fn parse_duration(text: &str) -> Option<Duration> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let number: u64 = text[..digits].parse().ok()?;
    match text[digits..].trim_start() {
        "ms" => Some(Duration::from_millis(number)),
        "s" => Some(Duration::from_secs(number)),
        "m" => number.checked_mul(60).map(Duration::from_secs),
        "h" => number.checked_mul(3_600).map(Duration::from_secs),
        "d" => number.checked_mul(86_400).map(Duration::from_secs),
        _ => None,
    }
}
