//! Tests of stepping ahead, over statements without a file.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, ThreadId};
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;

use super::Steps;
use super::ahead::{self, Left};
use super::reader::Reader;
use crate::database::{Cell, Read};
use crate::error::{Error, Result};
use crate::rows::{RowSink, Value};
use crate::runs::{Reason, Stop};
use crate::turns::Turn;

/// The longest that anything here may take.
const LONG: Duration = Duration::from_secs(30);

/// Numbers from 1, each with a text of its own length, a double and nulls.
const NUMBERS: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
    SELECT i, substr(hex(zeroblob(50)), 1, i % 97) || 'é', i / 4.0, nullif(i % 3, 0)
    FROM n WHERE i <= ?1";

/// What a sink got, on which threads; it refuses the row after `most`.
#[derive(Default)]
struct Got {
    rows: Vec<String>,
    threads: Vec<ThreadId>,
    most: Option<usize>,
    heard: Option<Sender<i64>>,
}

impl RowSink for Got {
    fn row(&mut self, row: &[Value<'_>]) -> Result<()> {
        if self.most == Some(self.rows.len()) {
            return Err(Error::Cancelled);
        }
        self.rows.push(format!("{row:?}"));
        self.threads.push(thread::current().id());
        if let Some(heard) = &self.heard {
            heard.send(i64::try_from(self.rows.len()).unwrap()).unwrap();
        }
        Ok(())
    }
}

fn cells(width: usize) -> Vec<Cell> {
    (0..width).map(|index| Cell { key: format!("c{index}"), read: Read::Stored }).collect()
}

/// Does something with a statement of one argument that is about to be stepped through.
fn stepping<T>(
    connection: &Connection,
    sql: &str,
    argument: i64,
    stop: &Stop,
    then: impl FnOnce(&mut Steps<'_>, &mut Reader<'_>) -> T,
) -> T {
    let mut statement = connection.prepare(sql).unwrap();
    let cells = cells(statement.column_count());
    let mut steps = Steps { rows: statement.query([argument]).unwrap(), stop };
    then(&mut steps, &mut Reader::new(&cells))
}

/// Does all of a statement on two threads, anew each time that the core was left unused for too long: on
/// a busy machine the sink may be slow at any batch.
fn step_ahead(connection: &Connection, sql: &str, argument: i64, sink: &mut Got) -> Result<()> {
    stepping(connection, sql, argument, &Stop::new(), |steps, reader| {
        while ahead::step(steps, reader, sink, Turn::alone())? == Left::Rows {}
        Ok(())
    })
}

/// Does the rest of a statement on this thread.
fn step_on(steps: &mut Steps<'_>, reader: &mut Reader<'_>, got: &mut Got) {
    while let Some(row) = steps.next().unwrap() {
        reader.row(|index| Ok(row.get_ref(index).unwrap()), got).unwrap();
    }
}

/// What one thread makes of a statement.
fn step_alone(connection: &Connection, sql: &str, argument: i64) -> Vec<String> {
    let mut got = Got::default();
    stepping(connection, sql, argument, &Stop::new(), |steps, reader| {
        step_on(steps, reader, &mut got);
    });
    got.rows
}

/// Rows that are taken on two threads until it is seen that somebody wants the core; after it the rest
/// is there, too.
fn rows_until_wanted(connection: &Connection, sql: &str, argument: i64) -> usize {
    let mut got = Got::default();
    let taken = stepping(connection, sql, argument, &Stop::new(), |steps, reader| {
        let left = ahead::step(steps, reader, &mut got, Turn::wanted()).unwrap();
        assert_eq!(left, Left::Rows);
        let taken = got.rows.len();
        step_on(steps, reader, &mut got);
        taken
    });
    assert!(got.rows == step_alone(connection, sql, argument));
    taken
}

#[test]
fn two_threads_give_the_rows_of_one_in_their_order() {
    let connection = Connection::open_in_memory().unwrap();
    for count in [0, 1, 511, 512, 513, 30_000] {
        let mut got = Got::default();
        step_ahead(&connection, NUMBERS, count, &mut got).unwrap();
        assert_eq!(got.rows.len(), usize::try_from(count).unwrap());
        assert!(got.rows == step_alone(&connection, NUMBERS, count), "{count} rows");
        assert!(got.threads.iter().all(|id| *id != thread::current().id()), "on the other one");
    }
}

#[test]
fn rows_far_larger_than_a_batch_go_through() {
    let connection = Connection::open_in_memory().unwrap();
    let sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
        SELECT i, CASE i % 2 WHEN 0 THEN printf('%.*c', 600000, 'x') ELSE '' END FROM n";
    let mut got = Got::default();
    step_ahead(&connection, sql, 40, &mut got).unwrap();
    assert!(got.rows == step_alone(&connection, sql, 40));
}

#[test]
fn a_row_is_taken_while_the_next_one_is_long_in_coming() {
    let connection = Connection::open_in_memory().unwrap();
    let (heard, taken) = channel();
    // The statement comes to its next row only once the row before was taken.
    let waits = move |taken: &Receiver<i64>, number: i64| {
        number == 1 || taken.recv_timeout(LONG) == Ok(number - 1)
    };
    let taken = std::sync::Mutex::new(taken);
    connection
        .create_scalar_function("waits", 1, FunctionFlags::SQLITE_UTF8, move |call| {
            Ok(waits(&taken.lock().unwrap(), call.get(0)?))
        })
        .unwrap();
    let sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
        SELECT waits(i) FROM n";
    let mut got = Got { heard: Some(heard), ..Got::default() };
    step_ahead(&connection, sql, 5, &mut got).unwrap();
    assert_eq!(got.rows, ["[Int(1)]"; 5]);
}

#[test]
fn what_the_sink_says_ends_it_and_so_does_a_cell_with_its_row_named() {
    let connection = Connection::open_in_memory().unwrap();
    let mut got = Got { most: Some(700), ..Got::default() };
    let ended = step_ahead(&connection, NUMBERS, 1_000_000_000, &mut got);
    assert!(matches!(ended, Err(Error::Cancelled)), "{ended:?}");
    assert_eq!(got.rows.len(), 700);

    let sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
        SELECT i, CASE i WHEN 601 THEN x'00' END FROM n";
    let mut got = Got::default();
    let ended = step_ahead(&connection, sql, 1_000_000_000, &mut got);
    assert!(
        matches!(&ended, Err(Error::Cell { row: 601, column, .. }) if column == "c1"),
        "{ended:?}"
    );
    assert_eq!(got.rows.len(), 600);
}

#[test]
fn what_the_database_says_comes_behind_the_rows_before() {
    let connection = Connection::open_in_memory().unwrap();
    let sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
        SELECT CASE i WHEN 601 THEN abs(-9223372036854775808) ELSE i END FROM n";
    let mut got = Got::default();
    let ended = step_ahead(&connection, sql, 1_000, &mut got);
    assert!(matches!(&ended, Err(Error::Query { .. })), "{ended:?}");
    assert_eq!(got.rows.len(), 600);

    let stop = Stop::new();
    stop.fire(Reason::ClientLeft);
    let ended = stepping(&connection, NUMBERS, 10, &stop, |steps, reader| {
        ahead::step(steps, reader, &mut got, Turn::alone())
    });
    assert!(matches!(ended, Err(Error::Cancelled)), "{ended:?}");
    assert_eq!(got.rows.len(), 600);
}

#[test]
fn a_panic_of_the_sink_is_passed_on() {
    struct Panicking;
    impl RowSink for Panicking {
        fn row(&mut self, _row: &[Value<'_>]) -> Result<()> {
            std::panic::resume_unwind(Box::new("out of ink"))
        }
    }
    let connection = Connection::open_in_memory().unwrap();
    let panic = stepping(&connection, NUMBERS, 1_000_000_000, &Stop::new(), |steps, reader| {
        let panicking = || ahead::step(steps, reader, &mut Panicking, Turn::alone());
        catch_unwind(AssertUnwindSafe(panicking)).unwrap_err()
    });
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"out of ink"));
}

#[test]
fn it_ends_when_somebody_else_wants_the_core_and_no_row_is_lost() {
    let connection = Connection::open_in_memory().unwrap();
    assert_eq!(rows_until_wanted(&connection, NUMBERS, 30_000), 512, "one batch");
}

#[test]
fn a_batch_of_wide_rows_holds_fewer() {
    let connection = Connection::open_in_memory().unwrap();
    let columns = vec!["i"; 1_000].join(", ");
    let sql = format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
        SELECT {columns} FROM n"
    );
    // 16 bytes a cell, and 256 KiB.
    assert_eq!(rows_until_wanted(&connection, &sql, 100), 17);
}
