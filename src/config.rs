//! Settings: one name each, as `--name`, as `TALLYROLL_NAME`, and as a key of `tallyroll.toml`, in
//! that order of precedence. The only reader of the environment.

mod file;
mod measure;
#[cfg(test)]
mod tests;
mod values;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde::Deserialize;

use self::measure::Measure;
use self::values::{cores, user_of_process, writer, zone};

use crate::error::{Error, Problem, Result};
use crate::formats::XlsxWriter;

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
    /// Direct streams at once, 1 or more [default: 48]
    #[arg(long, env = "TALLYROLL_STREAMS", global = true)]
    streams: Option<Measure>,
    /// Requests that may wait for a stream or a build; 0 refuses at once what finds none [default: 200]
    #[arg(long, env = "TALLYROLL_QUEUE", global = true)]
    queue: Option<Measure>,
    /// Prepared builds at once, 1 or more [default: the number of cores]
    #[arg(long, env = "TALLYROLL_BUILDS", global = true)]
    builds: Option<Measure>,
    /// Bundles of documents at once, 1 or more [default: 2]
    #[arg(long, env = "TALLYROLL_DOCUMENT_SLOTS", alias = "document_slots", global = true)]
    document_slots: Option<Measure>,
    /// Bytes of finished and unfinished temporary files, more than 0, such as 10GiB [default: 10GiB]
    #[arg(long, env = "TALLYROLL_SPOOL_CAP", alias = "spool_cap", global = true)]
    spool_cap: Option<Measure>,
    /// How long a prepared answer stays to be resumed, more than 0s [default: 10m]
    #[arg(long, env = "TALLYROLL_KEEP_PREPARED", alias = "keep_prepared", global = true)]
    keep_prepared: Option<Measure>,
    /// The longest wait for a stream or a build, such as 60s; 0s refuses at once what finds none
    /// [default: 60s]
    #[arg(long, env = "TALLYROLL_QUEUE_WAIT", alias = "queue_wait", global = true)]
    queue_wait: Option<Measure>,
    /// The longest wait for a query's first row, more than 0s [default: 45s]
    #[arg(long, env = "TALLYROLL_FIRST_ROW_TIMEOUT", alias = "first_row_timeout", global = true)]
    first_row_timeout: Option<Measure>,
    /// How long a client may take nothing, more than 0s [default: 60s]
    #[arg(long, env = "TALLYROLL_STALL_TIMEOUT", alias = "stall_timeout", global = true)]
    stall_timeout: Option<Measure>,
    /// How long running answers may take to end when the server stops; 0s breaks them off
    /// [default: 30s]
    #[arg(long, env = "TALLYROLL_SHUTDOWN_TIMEOUT", alias = "shutdown_timeout", global = true)]
    shutdown_timeout: Option<Measure>,
    /// How hard workbooks are compressed, 1 to 9 [default: 2]
    #[arg(long, env = "TALLYROLL_XLSX_LEVEL", alias = "xlsx_level", global = true)]
    xlsx_level: Option<Measure>,
    /// What writes workbooks: poured, which sends rows on while they come, or library, which gathers them in
    /// the temporary directory first [default: poured]
    #[arg(long, env = "TALLYROLL_XLSX_WRITER", alias = "xlsx_writer", global = true)]
    xlsx_writer: Option<String>,
    /// Bytes of one upload [default: 512MiB]
    #[arg(long, env = "TALLYROLL_MAX_UPLOAD", alias = "max_upload", global = true)]
    max_upload: Option<Measure>,
    /// Rows of one import [default: 5000000]
    #[arg(long, env = "TALLYROLL_IMPORT_MAX_ROWS", alias = "import_max_rows", global = true)]
    import_max_rows: Option<Measure>,
    /// Columns of one import [default: 1000]
    #[arg(long, env = "TALLYROLL_IMPORT_MAX_COLUMNS", alias = "import_max_columns", global = true)]
    import_max_columns: Option<Measure>,
    /// Bytes of a workbook's shared texts [default: 64MiB]
    #[arg(long, env = "TALLYROLL_IMPORT_MAX_TEXT", alias = "import_max_text", global = true)]
    import_max_text: Option<Measure>,
    /// Bytes of an upload once it is inflated [default: 2GiB]
    #[arg(long, env = "TALLYROLL_MAX_INFLATED", alias = "max_inflated", global = true)]
    max_inflated: Option<Measure>,
    /// Rows of a chunk of a direct answer [default: 1000]
    #[arg(long, env = "TALLYROLL_FLUSH_ROWS", alias = "flush_rows", global = true)]
    flush_rows: Option<Measure>,
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
    /// A directory with `reports/` and `imports/`.
    pub definitions: Option<PathBuf>,
    /// The zone in which times are shown.
    pub time_zone: jiff::tz::TimeZone,
    /// Whether callers must say who they are.
    pub auth: Auth,
    /// Whether that is the default, which nobody asked for.
    pub auth_by_default: bool,
    /// Direct streams at once.
    pub streams: usize,
    /// Requests that may wait for a stream or a build.
    pub queue: usize,
    /// Prepared builds at once.
    pub builds: usize,
    /// Bundles of documents at once.
    pub document_slots: usize,
    /// Bytes of finished and unfinished temporary files.
    pub spool_cap: u64,
    /// How long a prepared answer stays to be resumed.
    pub keep_prepared: Duration,
    /// The longest wait for a stream or a build.
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
    /// Rows after which a chunk of a direct answer leaves.
    pub flush_rows: u64,
    /// How much an upload may hold.
    pub uploads: Uploads,
    /// How long finished runs are kept.
    pub keep_runs: Duration,
    /// What the log says, as a tracing filter.
    pub log: String,
}

/// How much an upload may hold.
#[derive(Debug, Clone, Copy)]
pub struct Uploads {
    /// Bytes of the file.
    pub size: u64,
    /// Rows.
    pub rows: u64,
    /// Columns.
    pub columns: u32,
    /// Bytes of a workbook's shared texts.
    pub text: u64,
    /// Bytes once it is inflated.
    pub inflated: u64,
}

/// Bytes that the parts of a form may have around an uploaded file.
pub const AROUND_FILE: u64 = 64 << 10;
/// How long an idle connection stays open. What stands in front of the server keeps its own for less
/// than this, so that it sends no request into one that is being closed.
pub const KEEP_ALIVE: Duration = Duration::from_secs(5);

impl Given {
    /// Puts the settings file behind what was given, and the defaults behind both.
    ///
    /// # Errors
    /// [`Error::Invalid`] with every setting that cannot be understood.
    pub fn settle(self) -> Result<Config> {
        let file = file::read(self.config.as_deref())?;
        let plain_url = std::env::var("DATABASE_URL").ok().filter(|url| !url.is_empty());
        self.settle_with(file, plain_url)
    }

    /// The user that a command's runs are recorded for: by name, else by number.
    #[must_use]
    pub fn user() -> String {
        let named = ["USER", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok());
        named.filter(|user| !user.is_empty()).unwrap_or_else(user_of_process)
    }

    fn uploads(&self, file: &Self, faults: &mut Vec<Problem>) -> Uploads {
        let either = |given: &Option<Measure>, filed: &Option<Measure>| {
            given.clone().or_else(|| filed.clone())
        };
        let rows = either(&self.import_max_rows, &file.import_max_rows);
        let rows = measure::count("import_max_rows", rows, 5_000_000, (1, u64::MAX), faults);
        let columns = either(&self.import_max_columns, &file.import_max_columns);
        let most = (1, u64::from(u32::MAX));
        let columns = measure::count("import_max_columns", columns, 1_000, most, faults);
        let mut size = |name, given: &Option<Measure>, filed: &Option<Measure>, default| {
            let otherwise = "no file could be taken in";
            measure::some_size(name, either(given, filed), default, otherwise, faults)
        };
        Uploads {
            size: size("max_upload", &self.max_upload, &file.max_upload, "512MiB"),
            text: size("import_max_text", &self.import_max_text, &file.import_max_text, "64MiB"),
            inflated: size("max_inflated", &self.max_inflated, &file.max_inflated, "2GiB"),
            rows,
            columns,
        }
    }

    /// Streams, builds, bundles, and requests that wait for one of them.
    fn at_once(&self, file: &Self, faults: &mut Vec<Problem>) -> [usize; 4] {
        let mut count = |name, given: [&Option<Measure>; 2], default, least| {
            let given = given.into_iter().find_map(Clone::clone);
            measure::count(name, given, default, (least, u64::MAX), faults)
        };
        [
            count("streams", [&self.streams, &file.streams], 48, 1),
            count("builds", [&self.builds, &file.builds], cores(), 1),
            count("document_slots", [&self.document_slots, &file.document_slots], 2, 1),
            count("queue", [&self.queue, &file.queue], 200, 0),
        ]
    }

    /// First-row and stall time-out, and how long a prepared file is kept.
    fn limits(&self, file: &Self, faults: &mut Vec<Problem>) -> [Duration; 3] {
        let mut time = |name, given: [&Option<Measure>; 2], default, otherwise| {
            let given = given.into_iter().find_map(Clone::clone);
            measure::some_time(name, given, default, otherwise, faults)
        };
        let first = [&self.first_row_timeout, &file.first_row_timeout];
        let stall = [&self.stall_timeout, &file.stall_timeout];
        let kept = [&self.keep_prepared, &file.keep_prepared];
        [
            time("first_row_timeout", first, "45s", "every query would be too slow"),
            time("stall_timeout", stall, "60s", "every client would be too slow"),
            time("keep_prepared", kept, "10m", "no prepared file would be there to be sent"),
        ]
    }

    fn settle_with(self, file: Self, plain_url: Option<String>) -> Result<Config> {
        let mut faults = Vec::new();
        let uploads = self.uploads(&file, &mut faults);
        let limits = self.limits(&file, &mut faults);
        let [first_row_timeout, stall_timeout, keep_prepared] = limits;
        let [streams, builds, document_slots, queue] = self.at_once(&file, &mut faults);
        let data_dir = self.data_dir.or(file.data_dir).unwrap_or_else(|| "data".into());
        let sqlite = |name: &str| format!("sqlite://{}", data_dir.join(name).display());
        // An argument or a variable, be it the plain one, comes before the file.
        let database_url = self.database_url.or(plain_url).or(file.database_url);
        let own_database = database_url.is_none();
        let mut databases = file.databases;
        databases.insert(String::new(), database_url.unwrap_or_else(|| sqlite("business.db")));
        let spool_cap = self.spool_cap.or(file.spool_cap);
        let otherwise = "no file could ever be built";
        let spool_cap = measure::some_size("spool_cap", spool_cap, "10GiB", otherwise, &mut faults);
        let xlsx_level = self.xlsx_level.or(file.xlsx_level);
        let xlsx_level = measure::count("xlsx_level", xlsx_level, 2, (1, 9), &mut faults);
        let time_zone = zone(self.time_zone.or(file.time_zone), &mut faults);
        let flush_rows = self.flush_rows.or(file.flush_rows);
        let flush_rows =
            measure::count("flush_rows", flush_rows, 1_000, (1, 1_000_000), &mut faults);
        let xlsx_writer = writer(self.xlsx_writer.or(file.xlsx_writer), &mut faults);
        let mut duration = |name, given: Option<Measure>, filed: Option<Measure>, default| {
            measure::duration(name, given.or(filed), default, &mut faults)
        };
        let config = Config {
            queue_wait: duration("queue_wait", self.queue_wait, file.queue_wait, "60s"),
            first_row_timeout,
            stall_timeout,
            keep_prepared,
            shutdown_timeout: duration(
                "shutdown_timeout",
                self.shutdown_timeout,
                file.shutdown_timeout,
                "30s",
            ),
            keep_runs: duration("keep_runs", self.keep_runs, file.keep_runs, "400d"),
            listen: self.listen.or(file.listen).unwrap_or_else(|| "127.0.0.1:8080".into()),
            temp_dir: self.temp_dir.or(file.temp_dir).unwrap_or_else(|| data_dir.join("tmp")),
            state_url: self.state_url.or(file.state_url).unwrap_or_else(|| sqlite("state.db")),
            databases,
            own_database,
            definitions: self.definitions.or(file.definitions),
            time_zone,
            auth_by_default: self.auth.or(file.auth).is_none(),
            auth: self.auth.or(file.auth).unwrap_or(Auth::Required),
            streams,
            builds,
            document_slots,
            queue,
            spool_cap,
            uploads,
            xlsx_level,
            xlsx_writer,
            flush_rows,
            log: self.log.or(file.log).unwrap_or_else(|| "info".into()),
            data_dir,
        };
        if faults.is_empty() { Ok(config) } else { Err(Error::Invalid(faults)) }
    }
}

fn invalid(name: &str, value: &str, detail: String) -> Error {
    Error::Invalid(vec![Problem::parameter(name, "unreadable", value, detail)])
}
