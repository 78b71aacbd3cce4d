//! What every request and every command needs.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sea_orm::DatabaseConnection;

use crate::config::Config;
use crate::database::{self, Database};
use crate::definitions::{Definitions, Fault};
use crate::error::{Error, Result};
use crate::reports::{self, Allowed, Books, Limits, Reports};
use crate::runs::{Permits, Runs};
use crate::spool::Spool;

/// Connections to the state database; each statement on it takes milliseconds.
const STATE_CONNECTIONS: u32 = 8;
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
    pub reports: Reports,
    /// What is wrong with definitions, as found at start or at the last reading.
    faults: std::sync::RwLock<Arc<Vec<Fault>>>,
    state: DatabaseConnection,
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
        let state = database::open("state_url", &config.state_url, STATE_CONNECTIONS).await?;
        migration::state::up(&state).await.map_err(|source| Error::Unavailable {
            code: "state_unavailable",
            detail:
                "the server's own tables could not be made in the database that state_url names"
                    .into(),
            source: Some(source.into()),
        })?;
        let runs = Runs::start(state.clone(), Arc::new(chrono::Utc::now), config.keep_runs).await?;
        let permits = |what, limit| Permits::new(what, limit, config.queue, config.queue_wait);
        let permits = Allowed {
            streams: permits("direct streams", config.streams),
            builds: permits("prepared builds", config.builds),
        };
        let spool = Spool::new(config.temp_dir.clone(), config.spool_cap, config.keep_prepared);
        let readers = config.streams + config.builds + SPARE_READERS;
        let readers = u32::try_from(readers).unwrap_or(u32::MAX);
        let databases = open_databases(&config.databases, readers, config.stall_timeout)?;
        let limits = Limits { first_row: config.first_row_timeout, stall: config.stall_timeout };
        let definitions = read_definitions(&config);
        let books = Books { temp_dir: config.temp_dir.clone(), level: config.xlsx_level };
        let (kept, allowed) = (spool.clone(), permits.clone());
        let reports =
            Reports::new(definitions, databases, runs.clone(), allowed, kept, books, limits);
        let faults = std::sync::RwLock::default();
        let app =
            Self { config, runs, permits, spool, reports, faults, state, stopping: false.into() };
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
        let reports = self.reports.definitions().reports.len();
        tracing::info!(reports, faults, "the definitions were read again");
    }

    /// Checks every definition against the live databases; the faults are kept for whoever asks.
    pub async fn check(&self) -> Arc<Vec<Fault>> {
        let faults = Arc::new(self.reports.check().await);
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
        if let Err(error) = self.state.close_by_ref().await {
            tracing::warn!(%error, "the state database could not be closed");
        }
    }
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
    Definitions::load(reports::BUILT_IN, config.definitions.as_deref())
}

/// The data directory and the temporary one, for their owner alone.
fn make_directories(config: &Config) -> Result<()> {
    let mut made = vec![config.data_dir.as_path(), config.temp_dir.as_path()];
    let state_file = database::sqlite_file(&config.state_url);
    made.extend(state_file.as_deref().and_then(Path::parent));
    for directory in made.into_iter().filter(|directory| !directory.as_os_str().is_empty()) {
        make_directory(directory)?;
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

pub(crate) fn make_directory(directory: &Path) -> Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(|source| {
        Error::Unavailable {
            code: "no_directory",
            detail: format!(
                "the directory {} cannot be made; give the server's user the right to, or set \
                 data_dir to another place",
                directory.display()
            ),
            source: Some(source.into()),
        }
    })
}
