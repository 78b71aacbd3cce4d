//! The databases that the tests run on.

use std::io::Write;
use std::sync::Once;

use super::Place;

/// Names a PostgreSQL server on which databases may be made and dropped, such as
/// `postgres://root@127.0.0.1:5432/root`.
pub const POSTGRES: &str = "TALLYROLL_TEST_POSTGRES";

/// A kind of business database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backend {
    /// A file.
    Sqlite,
    /// A database on the server that [`POSTGRES`] names.
    Postgres,
}

impl Backend {
    /// The word that this backend says where the two differ.
    pub fn pick<T>(self, sqlite: T, postgres: T) -> T {
        match self {
            Self::Sqlite => sqlite,
            Self::Postgres => postgres,
        }
    }
}

/// The PostgreSQL server, where there is one.
pub fn postgres_url() -> Option<String> {
    std::env::var(POSTGRES).ok().filter(|url| !url.is_empty())
}

/// The backends there are. Without PostgreSQL it is said aloud, past whatever captures output.
pub fn backends() -> Vec<Backend> {
    static SAID: Once = Once::new();
    if postgres_url().is_some() {
        return vec![Backend::Sqlite, Backend::Postgres];
    }
    SAID.call_once(|| {
        let words = format!("{POSTGRES} is not set: everything ran on SQLite alone\n");
        let _ = std::io::stderr().write_all(words.as_bytes());
    });
    vec![Backend::Sqlite]
}

/// Runs a test once on every backend, each time in a new place.
pub async fn on_every_backend(test: impl AsyncFn(Place)) {
    for backend in backends() {
        // Shown when the test fails.
        eprintln!("on {backend:?}");
        test(Place::new(backend).await).await;
    }
}

#[test]
fn postgresql_takes_part_or_it_is_said_aloud_that_it_was_left_out() {
    assert_eq!(backends().contains(&Backend::Postgres), postgres_url().is_some());
}
