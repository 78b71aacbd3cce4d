//! A directory and a business database that one test has to itself.

use std::path::{Path, PathBuf};

use sqlx::{AssertSqlSafe, Connection as _, MySqlConnection, PgConnection, Row as _};
use tempfile::TempDir;
use url::Url;

use super::Backend;

/// Where one test keeps everything; gone when dropped, the databases too.
///
/// On a database server the program's own tables are in a second database beside the business one.
#[derive(Debug)]
pub struct Place {
    backend: Backend,
    directory: TempDir,
    url: String,
    state_url: String,
    /// On a database server: where databases are made, and the names of ours.
    made: Option<(String, [String; 2])>,
}

impl Place {
    /// An empty place.
    pub async fn new(backend: Backend) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let path = directory.path().to_owned();
        for folder in ["reports", "imports", "documents"] {
            let folder = path.join("definitions").join(folder);
            std::fs::create_dir_all(folder).expect("a directory can be made");
        }
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
            Backend::Postgres | Backend::MySql => {
                let main = backend.server().expect("a server takes part only where it is named");
                let name = format!("tallyroll_test_{}", uuid::Uuid::now_v7().simple());
                let names = [name.clone(), format!("{name}_state")];
                for name in &names {
                    let how = backend.pick("", "TEMPLATE template0", "CHARACTER SET utf8mb4");
                    execute(backend, &main, &format!("CREATE DATABASE {name} {how}")).await;
                }
                let mut url = Url::parse(&beside(&main, &names[0])).expect("it is a URL");
                if backend == Backend::MySql {
                    // A user who may do nothing but read and write in there.
                    let user = names[0].trim_start_matches("tallyroll_test_");
                    let made =
                        format!("CREATE USER '{user}'@'%'; GRANT ALL ON {name}.* TO '{user}'@'%'");
                    execute(backend, &main, &made).await;
                    url.set_username(user).expect("a server's address takes a user");
                }
                Self {
                    backend,
                    url: url.into(),
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

    /// Writes the definition of an import.
    pub fn import(&self, name: &str, toml: &str) {
        self.write(&format!("definitions/imports/{name}.toml"), toml);
    }

    /// Writes the definition of a document.
    pub fn document(&self, name: &str, toml: &str) {
        self.write(&format!("definitions/documents/{name}.toml"), toml);
    }

    /// Runs statements in the business database.
    pub async fn execute(&self, sql: &str) {
        match self.backend {
            Backend::Sqlite => {
                let connection = sqlite(&self.path().join("business.db"));
                connection.execute_batch(sql).unwrap_or_else(|error| panic!("{error}: {sql}"));
            }
            Backend::Postgres | Backend::MySql => execute(self.backend, &self.url, sql).await,
        }
    }

    /// Runs statements in the business database of a server, as whoever runs that.
    pub async fn administer(&self, sql: &str) {
        let (main, [business, _]) = self.made.as_ref().expect("it is on a server");
        execute(self.backend, &beside(main, business), sql).await;
    }

    /// The URL of the business database of a server for a user who may read and write this table and
    /// make none; on PostgreSQL a role, which it names, to be dropped by whoever asked.
    pub async fn without_making_tables(&self, table: &str) -> (String, String) {
        let (_, [business, _]) = self.made.as_ref().expect("it is on a server");
        if self.backend == Backend::MySql {
            let user = business.trim_start_matches("tallyroll_test_");
            self.administer(&format!("REVOKE CREATE ON {business}.* FROM '{user}'@'%'")).await;
            return (self.url.clone(), user.to_owned());
        }
        let role = format!("{business}_writer");
        self.administer(&format!(
            "CREATE ROLE {role}; GRANT SELECT, INSERT, UPDATE ON {table} TO {role}"
        ))
        .await;
        let mut url = Url::parse(&self.url).expect("it is a URL");
        url.query_pairs_mut().append_pair("options", &format!("-c role={role}"));
        (url.into(), role)
    }

    /// A statement with moments like `'2026-01-31 23:59:59+09:00'` as this backend takes them.
    pub fn moments(&self, sql: &str) -> String {
        if self.backend != Backend::MySql {
            return sql.to_owned();
        }
        // Every other part stands within quotes.
        let parts = sql.split('\'').enumerate().map(|(index, part)| {
            let offset = part.len().checked_sub(6).filter(|_| index % 2 == 1);
            match offset.and_then(|at| part.split_at_checked(at)) {
                Some((clock, offset)) if clock.len() >= 19 && offset.starts_with(['+', '-']) => {
                    format!("CONVERT_TZ('{clock}','{offset}','+00:00')")
                }
                _ if index % 2 == 1 => format!("'{part}'"),
                _ => part.to_owned(),
            }
        });
        parts.collect()
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
                    .fetch_one(&mut postgres(url).await)
                    .await
                    .and_then(|row| row.try_get(0))
                    .unwrap_or_else(|error| panic!("{error}: {sql}"))
            }
            Backend::MySql => {
                let sql = format!("SELECT CONVERT(({sql}), CHAR)");
                sqlx::query(AssertSqlSafe(sql.clone()))
                    .fetch_one(&mut mysql(url).await)
                    .await
                    .and_then(|row| row.try_get(0))
                    .unwrap_or_else(|error| panic!("{error}: {sql}"))
            }
        }
    }

    /// Sessions that carry a run's name and do something; always none on SQLite.
    pub async fn sessions(&self) -> usize {
        let Some((main, [business, _])) = &self.made else { return 0 };
        let count: sqlx::Result<i64> = match self.backend {
            Backend::Sqlite => Ok(0),
            Backend::Postgres => {
                let sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = $1 \
                           AND state <> 'idle' AND application_name LIKE 'tallyroll/%'";
                sqlx::query_scalar(sql).bind(business).fetch_one(&mut postgres(main).await).await
            }
            Backend::MySql => {
                let sql = "SELECT count(*) FROM information_schema.processlist WHERE db = ? \
                           AND info LIKE '/* tallyroll/%'";
                sqlx::query_scalar(sql).bind(business).fetch_one(&mut mysql(main).await).await
            }
        };
        usize::try_from(count.expect("sessions can be counted")).expect("a count is not negative")
    }

    /// Lets the server into the business database or keeps it out, with all its sessions ended.
    pub async fn let_in(&self, open: bool) {
        let Some((main, [business, _])) = &self.made else { return };
        match self.backend {
            Backend::Sqlite => {}
            Backend::Postgres => {
                let allow = format!("ALTER DATABASE {business} WITH ALLOW_CONNECTIONS {open}");
                execute(self.backend, main, &allow).await;
                let end = format!(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                     WHERE datname = '{business}'"
                );
                execute(self.backend, main, &end).await;
            }
            Backend::MySql => {
                let user = business.trim_start_matches("tallyroll_test_");
                let lock = if open { "UNLOCK" } else { "LOCK" };
                execute(self.backend, main, &format!("ALTER USER '{user}'@'%' ACCOUNT {lock}"))
                    .await;
                execute(self.backend, main, &format!("KILL USER '{user}'@'%'")).await;
            }
        }
    }

    /// Ends the sessions that work for a run, as an administrator would; how many there were.
    pub async fn end_session(&self, run: &str) -> usize {
        match self.backend {
            Backend::Sqlite => 0,
            Backend::Postgres => {
                let sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                           WHERE application_name = 'tallyroll/' || $1";
                let ended =
                    sqlx::query(sql).bind(run).fetch_all(&mut postgres(&self.url).await).await;
                ended.expect("sessions can be ended").len()
            }
            Backend::MySql => {
                let mut connection = mysql(&self.url).await;
                let sql = "SELECT id FROM information_schema.processlist \
                           WHERE info LIKE CONCAT('/* tallyroll/', ?, ' */%')";
                let sessions = sqlx::query_scalar(sql).bind(run).fetch_all(&mut connection).await;
                let sessions: Vec<i64> = sessions.expect("sessions can be listed");
                for session in &sessions {
                    let kill = AssertSqlSafe(format!("KILL {session}"));
                    let killed = sqlx::raw_sql(kill).execute(&mut connection).await;
                    killed.expect("a session can be ended");
                }
                sessions.len()
            }
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some((main, names)) = self.made.take() else { return };
        let backend = self.backend;
        // Nothing asynchronous can be awaited here, on whatever runtime this is.
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime can be made").block_on(async {
                for name in &names {
                    let force = backend.pick("", "WITH (FORCE)", "");
                    let sql = format!("DROP DATABASE IF EXISTS {name} {force}");
                    execute(backend, &main, &sql).await;
                }
                if backend == Backend::MySql {
                    let user = names[0].trim_start_matches("tallyroll_test_");
                    execute(backend, &main, &format!("DROP USER '{user}'@'%'")).await;
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
    let mut url = Url::parse(url).expect("the address of a server is a URL");
    url.set_path(name);
    url.into()
}

async fn postgres(url: &str) -> PgConnection {
    PgConnection::connect(url).await.expect("PostgreSQL answers")
}

/// A session in which texts and names are quoted as the standard has it.
async fn mysql(url: &str) -> MySqlConnection {
    let mut connection = MySqlConnection::connect(url).await.expect("MySQL answers");
    let mode =
        "SET sql_mode = CONCAT(@@sql_mode, ',NO_BACKSLASH_ESCAPES,ANSI_QUOTES,PIPES_AS_CONCAT')";
    sqlx::raw_sql(mode).execute(&mut connection).await.expect("the mode can be set");
    connection
}

async fn execute(backend: Backend, url: &str, sql: &str) {
    let statement = sqlx::raw_sql(AssertSqlSafe(sql));
    let failed = match backend {
        Backend::Sqlite => None,
        Backend::Postgres => statement.execute(&mut postgres(url).await).await.err(),
        Backend::MySql => statement.execute(&mut mysql(url).await).await.err(),
    };
    assert!(failed.is_none(), "{failed:?}: {sql}");
}
