//! A directory and a business database that one test has to itself.

use std::path::{Path, PathBuf};

use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Row as _};
use tempfile::TempDir;
use url::Url;

use super::Backend;
use super::backend::postgres_url;

/// Where one test keeps everything; gone when dropped, the databases too.
///
/// On PostgreSQL the server's own tables are in a second database beside the business one.
#[derive(Debug)]
pub struct Place {
    backend: Backend,
    directory: TempDir,
    url: String,
    state_url: String,
    /// On PostgreSQL: where databases are made, and the names of ours.
    made: Option<(String, [String; 2])>,
}

impl Place {
    /// An empty place.
    pub async fn new(backend: Backend) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let path = directory.path().to_owned();
        std::fs::create_dir_all(path.join("definitions/reports")).expect("a directory can be made");
        match backend {
            Backend::Sqlite => {
                let business = path.join("business.db");
                let connection = rusqlite::Connection::open(&business).expect("a file can be made");
                connection.pragma_update(None, "journal_mode", "WAL").expect("the file takes WAL");
                Self {
                    backend,
                    url: format!("sqlite://{}", business.display()),
                    state_url: format!("sqlite://{}", path.join("data/state.db").display()),
                    directory,
                    made: None,
                }
            }
            Backend::Postgres => {
                let main = postgres_url().expect("PostgreSQL takes part only where it is named");
                let name = format!("tallyroll_test_{}", uuid::Uuid::now_v7().simple());
                let names = [name.clone(), format!("{name}_state")];
                let mut connection = connect(&main).await;
                for name in &names {
                    let sql = format!("CREATE DATABASE {name} TEMPLATE template0");
                    execute(&mut connection, &sql).await;
                }
                Self {
                    backend,
                    url: beside(&main, &names[0]),
                    state_url: beside(&main, &names[1]),
                    directory,
                    made: Some((main, names)),
                }
            }
        }
    }

    /// The kind of its database.
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// The URL of the business database.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The URL of the database for the server's own tables.
    pub fn state_url(&self) -> &str {
        &self.state_url
    }

    /// The directory, which is the working directory of every child process.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The server's data directory.
    pub fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    /// The directory of definitions, always configured.
    pub fn definitions(&self) -> PathBuf {
        self.path().join("definitions")
    }

    /// Writes a file below the directory, such as `tallyroll.toml`.
    pub fn write(&self, file: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(file);
        std::fs::write(&path, content).expect("a file can be written");
        path
    }

    /// Writes the definition of a report.
    pub fn report(&self, name: &str, toml: &str) {
        self.write(&format!("definitions/reports/{name}.toml"), toml);
    }

    /// Runs statements in the business database.
    pub async fn execute(&self, sql: &str) {
        match self.backend {
            Backend::Sqlite => {
                let connection = sqlite(&self.path().join("business.db"));
                connection.execute_batch(sql).unwrap_or_else(|error| panic!("{error}: {sql}"));
            }
            Backend::Postgres => execute(&mut connect(&self.url).await, sql).await,
        }
    }

    /// The one value of a query of the business database, as text.
    pub async fn value(&self, sql: &str) -> String {
        self.value_of(&self.url, &self.path().join("business.db"), sql).await
    }

    /// The one value of a query of the server's own tables, as text.
    pub async fn state_value(&self, sql: &str) -> String {
        self.value_of(&self.state_url, &self.data().join("state.db"), sql).await
    }

    async fn value_of(&self, url: &str, file: &Path, sql: &str) -> String {
        match self.backend {
            Backend::Sqlite => {
                let sql = format!("SELECT CAST(({sql}) AS text)");
                sqlite(file)
                    .query_row(&sql, [], |row| row.get(0))
                    .unwrap_or_else(|error| panic!("{error}: {sql}"))
            }
            Backend::Postgres => {
                let sql = format!("SELECT ({sql})::text");
                sqlx::query(AssertSqlSafe(sql.clone()))
                    .fetch_one(&mut connect(url).await)
                    .await
                    .and_then(|row| row.try_get(0))
                    .unwrap_or_else(|error| panic!("{error}: {sql}"))
            }
        }
    }

    /// Sessions that carry a run's name and do something; always none on SQLite.
    pub async fn sessions(&self) -> usize {
        let (Some((main, [business, _])), Backend::Postgres) = (&self.made, self.backend) else {
            return 0;
        };
        let count: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND state <> 'idle' \
             AND application_name LIKE 'tallyroll/%'",
        )
        .bind(business)
        .fetch_one(&mut connect(main).await)
        .await
        .expect("sessions can be counted");
        usize::try_from(count).expect("a count is not negative")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some((main, names)) = self.made.take() else { return };
        // Nothing asynchronous can be awaited here, on whatever runtime this is.
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime can be made").block_on(async {
                let mut connection = connect(&main).await;
                for name in &names {
                    let sql = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
                    execute(&mut connection, &sql).await;
                }
            });
        });
        let dropped = dropping.join();
        assert!(dropped.is_ok() || std::thread::panicking(), "a test's database was not dropped");
    }
}

fn sqlite(file: &Path) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(file).expect("the database can be opened");
    connection.busy_timeout(std::time::Duration::from_secs(10)).expect("a limit can be set");
    connection
}

fn beside(url: &str, name: &str) -> String {
    let mut url = Url::parse(url).expect("the address of PostgreSQL is a URL");
    url.set_path(name);
    url.into()
}

async fn connect(url: &str) -> PgConnection {
    PgConnection::connect(url).await.expect("PostgreSQL answers")
}

async fn execute(connection: &mut PgConnection, sql: &str) {
    let done = sqlx::raw_sql(AssertSqlSafe(sql)).execute(connection).await;
    assert!(done.is_ok(), "{done:?}: {sql}");
}
