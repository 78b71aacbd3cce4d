//! What every request and every command needs.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sea_orm::DatabaseConnection;

use crate::config::Config;
use crate::convert::Converter;
use crate::database::{self, Database};
use crate::definitions::{BuiltIn, Definitions, Fault, InForce};
use crate::documents::{self, Documents};
use crate::error::{Error, Result};
use crate::imports::{self, Imports};
use crate::reports::{self, Allowed, Books, Limits, Reports};
use crate::runs::{Permits, Runs};
use crate::spool::Spool;

/// Connections to the state database; each statement on it takes milliseconds.
const STATE_CONNECTIONS: u32 = 8;
/// Connections to it for whoever looks at runs.
const STATE_READERS: u32 = 4;
/// Readers beside the permitted streams: counts, checks.
const SPARE_READERS: usize = 8;

/// One process's parts, put together once.
pub struct App {
    /// The settings in force.
    pub config: Config,
    /// Everything long that goes on.
    pub runs: Runs,
    /// How much may go on at once.
    pub permits: Allowed,
    /// Finished files.
    pub spool: Spool,
    /// The reports.
    pub reports: Arc<Reports>,
    /// The imports.
    pub imports: Arc<Imports>,
    /// The documents.
    pub documents: Arc<Documents>,
    /// What turns files into other formats.
    pub convert: Arc<Converter>,
    /// What is wrong with definitions, as found at start or at the last reading.
    faults: std::sync::RwLock<Arc<Vec<Fault>>>,
    state: DatabaseConnection,
    reads: DatabaseConnection,
    stopping: AtomicBool,
}

impl App {
    /// Makes the directories, opens the state, registers this process, and reads the definitions.
    ///
    /// # Errors
    /// [`Error::Invalid`] for settings that name nothing, [`Error::Unavailable`] for a state that
    /// cannot be opened.
    pub async fn open(config: Config) -> Result<Self> {
        make_directories(&config)?;
        let [state, reads] = open_state(&config.state_url).await?;
        let clock = Arc::new(chrono::Utc::now);
        let runs = Runs::start(state.clone(), reads.clone(), clock, config.keep_runs).await?;
        let permits = allowed(&config);
        let spool = Spool::new(config.temp_dir.clone(), config.spool_cap, config.keep_prepared);
        let readers = config.streams + config.builds + config.document_slots + SPARE_READERS;
        let readers = u32::try_from(readers).unwrap_or(u32::MAX);
        let databases = open_databases(&config.databases, readers, config.stall_timeout)?;
        let definitions = InForce::new(read_definitions(&config));
        let imports = Arc::new(Imports {
            definitions: definitions.clone(),
            databases: databases.clone(),
            runs: runs.clone(),
            permits: permits.builds.clone(),
            spool: spool.clone(),
            program: OWN_PROGRAM.into(),
            uploads: config.uploads,
            zone: config.time_zone.clone(),
            workers: imports::Workers::default(),
        });
        let documents = documents(&config, &definitions, &databases, &runs, &permits, &spool);
        let documents = Arc::new(documents);
        let convert = Arc::new(Converter {
            runs: runs.clone(),
            permits: permits.builds.clone(),
            spool: spool.clone(),
            reader: imports.reader(),
            temp_dir: config.temp_dir.clone(),
            level: config.xlsx_level,
            writer: config.xlsx_writer,
            state: state.clone(),
            reads: reads.clone(),
        });
        let (kept, allowed, books) = (spool.clone(), permits.clone(), books(&config));
        let limits = limits(&config);
        let reports =
            Reports::new(definitions, databases, runs.clone(), allowed, kept, books, limits);
        let reports = Arc::new(reports);
        let faults = std::sync::RwLock::default();
        let stopping = AtomicBool::new(false);
        let app = Self {
            config,
            runs,
            permits,
            spool,
            reports,
            imports,
            documents,
            convert,
            faults,
            state,
            reads,
            stopping,
        };
        app.check().await;
        Ok(app)
    }

    /// Sweeps what an earlier process left in the temporary directory, unless another one works in it.
    /// The directory counts as worked in until the file is dropped.
    ///
    /// # Errors
    /// [`Error::Internal`] where the directory cannot be read.
    pub fn own_temp_dir(&self) -> Result<File> {
        // The directory itself is locked, so that nothing more lies in it.
        let directory = File::open(&self.config.temp_dir).map_err(Error::writing)?;
        if directory.try_lock().is_ok() {
            self.spool.sweep()?;
        }
        directory.lock_shared().map_err(Error::writing)?;
        Ok(directory)
    }

    /// Reads the definitions again and puts them in force.
    pub async fn reload(&self) {
        let read = read_definitions(&self.config);
        self.reports.replace_definitions(read.keeping(&self.reports.definitions()));
        let faults = self.check().await.len();
        let definitions = self.reports.definitions();
        let (reports, imports) = (definitions.reports.len(), definitions.imports.len());
        let documents = definitions.documents.len();
        tracing::info!(reports, imports, documents, faults, "the definitions were read again");
    }

    /// Checks every definition against the live databases; the faults are kept for whoever asks.
    pub async fn check(&self) -> Arc<Vec<Fault>> {
        // At once, so that a database that is away is waited for once.
        let (mut faults, of_imports) = tokio::join!(self.reports.check(), self.imports.check());
        faults.extend(of_imports);
        let faults = Arc::new(faults);
        for fault in faults.iter() {
            tracing::warn!(%fault, "a definition is at fault");
        }
        *self.faults.write().unwrap_or_else(std::sync::PoisonError::into_inner) =
            Arc::clone(&faults);
        faults
    }

    /// What is wrong with definitions, as found at the last check.
    #[must_use]
    pub fn faults(&self) -> Arc<Vec<Fault>> {
        Arc::clone(&self.faults.read().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    /// Whether the state database answers.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub async fn ping_state(&self) -> Result<()> {
        self.state.ping().await.map_err(|source| Error::Unavailable {
            code: "state_unavailable",
            detail: "the server's own database does not answer".into(),
            source: Some(source.into()),
        })
    }

    /// Whether the server is going down.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Says that the server is going down: nothing new is begun.
    pub fn begin_stopping(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// Takes this process off the list and closes every connection.
    pub async fn close(&self) {
        self.spool.clear();
        if let Err(error) = self.runs.retire().await {
            tracing::warn!(%error, "this process could not be taken off the list");
        }
        for (_, database) in self.reports.databases() {
            database.close().await;
        }
        for state in [&self.reads, &self.state] {
            if let Err(error) = state.close_by_ref().await {
                tracing::warn!(%error, "the state database could not be closed");
            }
        }
    }
}

fn allowed(config: &Config) -> Allowed {
    let permits = |what, limit| Permits::new(what, limit, config.queue, config.queue_wait);
    Allowed {
        streams: permits("direct streams", config.streams),
        builds: permits("prepared builds", config.builds),
    }
}

fn documents(
    config: &Config,
    definitions: &InForce,
    databases: &BTreeMap<String, Database>,
    runs: &Runs,
    permits: &Allowed,
    spool: &Spool,
) -> Documents {
    Documents {
        definitions: definitions.clone(),
        databases: databases.clone(),
        runs: runs.clone(),
        bundles: slots(config),
        singles: permits.streams.clone(),
        spool: spool.clone(),
        first_row: config.first_row_timeout,
        stall: config.stall_timeout,
    }
}

/// How many bundles may be rendered at once.
fn slots(config: &Config) -> Permits {
    Permits::new("bundles", config.document_slots, config.queue, config.queue_wait)
}

fn limits(config: &Config) -> Limits {
    Limits {
        first_row: config.first_row_timeout,
        stall: config.stall_timeout,
        flush_rows: config.flush_rows,
    }
}

fn books(config: &Config) -> Books {
    Books {
        temp_dir: config.temp_dir.clone(),
        level: config.xlsx_level,
        writer: config.xlsx_writer,
    }
}

/// The state database with its tables, for those who write and for those who only look.
async fn open_state(url: &str) -> Result<[DatabaseConnection; 2]> {
    // In a file one writes at a time; more would wait for each other, each on a thread of its own.
    let writers = if database::is_file(url) { 1 } else { STATE_CONNECTIONS };
    let state = database::open("state_url", url, writers).await?;
    migration::state::up(&state).await.map_err(|source| Error::Unavailable {
        code: "state_unavailable",
        detail: "the server's own tables could not be made in the database that state_url names"
            .into(),
        source: Some(source.into()),
    })?;
    let reads = database::open("state_url", url, STATE_READERS).await?;
    Ok([state, reads])
}

fn open_databases(
    urls: &BTreeMap<String, String>,
    readers: u32,
    stall: Duration,
) -> Result<BTreeMap<String, Database>> {
    let open = |(name, url): (&String, &String)| {
        let setting = match name.as_str() {
            "" => "database_url".to_owned(),
            name => format!("databases.{name}"),
        };
        Ok((name.clone(), Database::new(&setting, url, readers, stall)?))
    };
    urls.iter().map(open).collect()
}

fn read_definitions(config: &Config) -> Definitions {
    let built_in = BuiltIn {
        reports: reports::BUILT_IN,
        imports: imports::BUILT_IN,
        documents: documents::BUILT_IN,
    };
    Definitions::load(built_in, config.definitions.as_deref())
}

/// Our own binary, also when it was replaced on disk meanwhile (Linux).
const OWN_PROGRAM: &str = "/proc/self/exe";

/// The data directory and the temporary one, for their owner alone.
fn make_directories(config: &Config) -> Result<()> {
    make_directory("data_dir", &config.data_dir)?;
    make_directory("temp_dir", &config.temp_dir)?;
    if let Some(file) = database::sqlite_file(&config.state_url) {
        make_directory("state_url", file.parent().unwrap_or(Path::new("")))?;
    }
    for (setting, directory) in [("data_dir", &config.data_dir), ("temp_dir", &config.temp_dir)] {
        if is_in_memory(directory) {
            tracing::warn!(setting, directory = %directory.display(), "lies in memory (tmpfs)");
        }
    }
    Ok(())
}

/// Whether a directory lies on a file system that is kept in memory.
fn is_in_memory(directory: &Path) -> bool {
    let Ok(directory) = directory.canonicalize() else { return false };
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let around = mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(1);
        let (place, kind) = (fields.next()?, fields.next()?);
        directory.starts_with(place).then_some((place.len(), kind))
    });
    around.max_by_key(|(length, _)| *length).is_some_and(|(_, kind)| kind == "tmpfs")
}

/// Makes the directory that a setting names, or in which what it names lies, for its owner alone; the
/// working directory, which has no name, is there.
///
/// # Errors
/// [`Error::Unavailable`] with the setting.
pub(crate) fn make_directory(setting: &str, directory: &Path) -> Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    if directory.as_os_str().is_empty() {
        return Ok(());
    }
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(|source| {
        let shown = directory.display();
        let what = if directory.exists() { "is no directory" } else { "cannot be made" };
        Error::Unavailable {
            code: "no_directory",
            detail: format!(
                "{setting} leads to {shown}, which {what}; give the server's user the right to make \
                 a directory there, or set {setting} to another place"
            ),
            source: Some(source.into()),
        }
    })
}
