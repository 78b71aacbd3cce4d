//! The databases that the tests run on.

use std::io::Write;
use std::sync::Once;

use super::Place;

/// Names a PostgreSQL server on which databases may be made and dropped, such as
/// `postgres://root@127.0.0.1:5432/root`.
pub const POSTGRES: &str = "TALLYROLL_TEST_POSTGRES";
/// Names a MySQL or MariaDB server on which databases may be made and dropped, such as
/// `mysql://root@127.0.0.1:3306/mysql`.
pub const MYSQL: &str = "TALLYROLL_TEST_MYSQL";

/// A kind of business database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backend {
    /// A file.
    Sqlite,
    /// A database on the server that [`POSTGRES`] names.
    Postgres,
    /// A database on the server that [`MYSQL`] names.
    MySql,
}

impl Backend {
    /// The word that this backend says where they differ.
    pub fn pick<T>(self, sqlite: T, postgres: T, mysql: T) -> T {
        match self {
            Self::Sqlite => sqlite,
            Self::Postgres => postgres,
            Self::MySql => mysql,
        }
    }

    /// The server that its databases are made on, where there is one.
    pub(super) fn server(self) -> Option<String> {
        let name = match self {
            Self::Sqlite => return None,
            Self::Postgres => POSTGRES,
            Self::MySql => MYSQL,
        };
        std::env::var(name).ok().filter(|url| !url.is_empty())
    }
}

/// The backends there are. What is left out is said aloud, past whatever captures output.
pub fn backends() -> Vec<Backend> {
    static SAID: Once = Once::new();
    let servers = [(Backend::Postgres, POSTGRES), (Backend::MySql, MYSQL)];
    let (there, missing): (Vec<_>, Vec<_>) =
        servers.into_iter().partition(|(backend, _)| backend.server().is_some());
    SAID.call_once(|| {
        for (backend, name) in missing {
            let words = format!("{name} is not set: nothing runs on {backend:?}\n");
            let _ = std::io::stderr().write_all(words.as_bytes());
        }
    });
    let servers = there.into_iter().map(|(backend, _)| backend);
    std::iter::once(Backend::Sqlite).chain(servers).collect()
}

/// Runs a test once on every backend, each time in a new place.
pub async fn on_every_backend(test: impl AsyncFn(Place)) {
    for backend in backends() {
        on(backend, &test).await;
    }
}

/// Runs a test once on every backend that is a server, each time in a new place.
pub async fn on_every_server(test: impl AsyncFn(Place)) {
    for backend in backends().into_iter().filter(|backend| *backend != Backend::Sqlite) {
        on(backend, &test).await;
    }
}

async fn on(backend: Backend, test: &impl AsyncFn(Place)) {
    // Shown when the test fails.
    eprintln!("on {backend:?}");
    test(Place::new(backend).await).await;
}

#[test]
fn every_server_that_is_named_takes_part() {
    for backend in [Backend::Postgres, Backend::MySql] {
        assert_eq!(backends().contains(&backend), backend.server().is_some());
    }
}
