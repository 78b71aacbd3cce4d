//! An import that stands in the middle of its merge, and of nothing else, until the test lets it go on.

use std::time::Duration;

use crate::support::{Backend, Held, Place, until};

/// Longer than anything takes that is waited for here.
pub(super) const LONG: Duration = Duration::from_mins(1);

/// Rows of a file that stands, which is long enough for half of it to be stored by then.
pub(super) const ROWS: u64 = 2_000;

/// An import that inserts rows, and would insert them twice if it were done twice.
const ENTRIES: &str = "into = \"entries\"
    [[columns]]
    key = \"code\"
    type = \"text\"
    required = true
    max_length = 20
    [[columns]]
    key = \"qty\"
    type = \"int\"
    required = true";

/// Makes the table `entries` and its import.
pub(crate) async fn entries(place: &Place) {
    place.execute("CREATE TABLE entries (code varchar(20) NOT NULL, qty bigint NOT NULL)").await;
    place.import("entries", ENTRIES);
}

/// A file of this many rows, numbered from 1.
pub(crate) fn file(rows: u64) -> Vec<u8> {
    let rows: String = (1..=rows).map(|row| format!("A-{row},{row}\n")).collect();
    format!("code,qty\n{rows}").into_bytes()
}

/// Has imports into `entries` stand at their row 1000 until what is given back is let go; on SQLite for
/// hours.
pub(super) async fn stand(place: &Place) -> Held {
    // On SQLite nothing but work can be waited for within a statement.
    let (trigger, hold) = place.backend().pick(
        (
            "CREATE TABLE ten (n integer); \
             INSERT INTO ten VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9); \
             CREATE TRIGGER stand AFTER INSERT ON entries WHEN NEW.qty = 1000 BEGIN \
             SELECT count(*) FROM ten a, ten b, ten c, ten d, ten e, ten f, ten g, ten h, ten i, \
             ten j, ten k, ten l; END",
            "SELECT 1",
        ),
        (
            "CREATE FUNCTION stand() RETURNS trigger LANGUAGE plpgsql AS \
             'BEGIN PERFORM pg_advisory_xact_lock(7); RETURN NEW; END'; \
             CREATE TRIGGER stand BEFORE INSERT ON entries FOR EACH ROW WHEN (NEW.qty = 1000) \
             EXECUTE FUNCTION stand()",
            "SELECT pg_advisory_lock(7)",
        ),
        (
            "CREATE TRIGGER stand BEFORE INSERT ON entries FOR EACH ROW \
             IF NEW.qty = 1000 THEN DO GET_LOCK(CONCAT('stand ', DATABASE()), 600); END IF",
            "DO GET_LOCK(CONCAT('stand ', DATABASE()), 0)",
        ),
    );
    place.execute(trigger).await;
    place.hold(hold).await
}

/// Has an import into `entries` stand before its commit, on SQLite too, until what is given back is let
/// go; there for no more than the ten seconds that a writer waits for another.
pub(super) async fn hold_up(place: &Place) -> Held {
    match place.backend() {
        Backend::Sqlite => place.hold("BEGIN IMMEDIATE").await,
        Backend::Postgres | Backend::MySql => stand(place).await,
    }
}

/// Lets imports pass from now on.
pub(super) async fn pass(place: &Place) {
    let on = place.backend().pick("", "ON entries", "");
    place.execute(&format!("DROP TRIGGER stand {on}")).await;
}

/// Whether an import stands.
pub(super) async fn stands(place: &Place) -> bool {
    let waiting = match place.backend() {
        // What holds the file and takes hours.
        Backend::Sqlite => return place.is_being_written(),
        Backend::Postgres => {
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
             AND wait_event_type = 'Lock' AND wait_event = 'advisory'"
        }
        Backend::MySql => {
            "SELECT count(*) FROM information_schema.processlist \
             WHERE db = DATABASE() AND state = 'User lock'"
        }
    };
    place.value(waiting).await == "1"
}

/// Waits until an import stands.
pub(super) async fn until_it_stands(place: &Place) {
    until("the merge stands", LONG, async || stands(place).await.then_some(())).await;
}
