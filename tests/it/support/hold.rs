//! Locks that a test holds, so that whatever wants them stands until the test lets go.

use std::path::Path;
use std::time::Duration;

use sqlx::{AssertSqlSafe, Connection as _, MySqlConnection, PgConnection};

use super::{Backend, Place};

/// A session that keeps what it has locked.
#[derive(Debug)]
pub enum Held {
    /// A file.
    Sqlite(rusqlite::Connection),
    /// A session of PostgreSQL.
    Postgres(PgConnection),
    /// A session of MySQL or MariaDB.
    MySql(MySqlConnection),
}

impl Held {
    async fn new(backend: Backend, url: &str, file: &Path, sql: &str) -> Self {
        let statement = sqlx::raw_sql(AssertSqlSafe(sql));
        match backend {
            Backend::Sqlite => {
                let connection = rusqlite::Connection::open(file).expect("the file can be opened");
                connection.busy_timeout(Duration::from_secs(10)).expect("a limit can be set");
                connection.execute_batch(sql).unwrap_or_else(|error| panic!("{error}: {sql}"));
                Self::Sqlite(connection)
            }
            Backend::Postgres => {
                let mut session = PgConnection::connect(url).await.expect("PostgreSQL answers");
                let locked = statement.execute(&mut session).await;
                locked.unwrap_or_else(|error| panic!("{error}: {sql}"));
                Self::Postgres(session)
            }
            Backend::MySql => {
                let mut session = MySqlConnection::connect(url).await.expect("MySQL answers");
                let locked = statement.execute(&mut session).await;
                locked.unwrap_or_else(|error| panic!("{error}: {sql}"));
                Self::MySql(session)
            }
        }
    }

    /// Has the session do more, which may wait for what others have locked.
    pub async fn then(&mut self, sql: &str) {
        let statement = sqlx::raw_sql(AssertSqlSafe(sql));
        match self {
            Self::Sqlite(connection) => {
                connection.execute_batch(sql).map_err(|error| error.to_string())
            }
            Self::Postgres(session) => {
                statement.execute(session).await.map(drop).map_err(|error| error.to_string())
            }
            Self::MySql(session) => {
                statement.execute(session).await.map(drop).map_err(|error| error.to_string())
            }
        }
        .unwrap_or_else(|error| panic!("{error}: {sql}"));
    }

    /// Ends the session, and with it what it has locked.
    pub async fn let_go(self) {
        match self {
            Self::Sqlite(connection) => connection.close().expect("a file can be closed"),
            Self::Postgres(session) => session.close().await.expect("a session can be ended"),
            Self::MySql(session) => session.close().await.expect("a session can be ended"),
        }
    }
}

impl Place {
    /// Locks by these statements what is in the business database.
    pub async fn hold(&self, sql: &str) -> Held {
        Held::new(self.backend(), self.url(), &self.path().join("business.db"), sql).await
    }

    /// Locks by these statements what is in the server's own tables.
    pub async fn hold_state(&self, sql: &str) -> Held {
        Held::new(self.backend(), self.state_url(), &self.data().join("state.db"), sql).await
    }

    /// Whether somebody may not write in the business database of SQLite now, because another does.
    pub fn is_being_written(&self) -> bool {
        let file = self.path().join("business.db");
        let connection = rusqlite::Connection::open(file).expect("the file can be opened");
        connection.busy_timeout(Duration::ZERO).expect("a limit can be set");
        connection.execute_batch("BEGIN IMMEDIATE; ROLLBACK").is_err()
    }
}
