//! The statements, run: which rows SQLite finds by them.

use rusqlite::types::{Value as Stored, ValueRef};
use rusqlite::{Connection, params_from_iter};

use super::*;
use crate::access::Scopes;
use crate::database::{Arg, Dialect};
use crate::definitions::{Selection, rows};

const MOMENTS: &str = r#"
from = "moments"
order_by = ["id"]
columns = [
  { key = "id", type = "int" },
  { key = "at", type = "time" },
  { key = "epoch", type = "time", unit = "milliseconds" },
  { key = "local", type = "time", zone = "Asia/Seoul" },
  { key = "day", type = "date" },
  { key = "amount", type = "decimal" },
  { key = "note", type = "text" },
]
filters = [
  { name = "from", column = "at", op = ">=" },
  { name = "after_at", column = "at", op = ">" },
  { name = "to", column = "at", op = "<" },
  { name = "until", column = "at", op = "<=" },
  { name = "at", column = "at", op = "=" },
  { name = "not_at", column = "at", op = "!=" },
  { name = "epoch", column = "epoch", op = "=" },
  { name = "epoch_from", column = "epoch", op = ">=" },
  { name = "local", column = "local", op = "=" },
  { name = "day", column = "day", op = "=" },
  { name = "not_day", column = "day", op = "!=" },
  { name = "day_to", column = "day", op = "<=" },
  { name = "day_after", column = "day", op = ">" },
  { name = "amount", column = "amount", op = ">=" },
  { name = "amount_is", column = "amount", op = "=" },
  { name = "begins", column = "note", op = "prefix" },
  { name = "has", column = "note", op = "contains" },
  { name = "not_note", column = "note", op = "!=" },
]
"#;

/// Row 9 is NULL throughout.
const ROWS: &str = "
    create table moments (id integer primary key, at, epoch, local, day, amount, note);
    insert into moments values
      (1, '2026-01-30T14:59:59.999999999Z', 1769785199999, '2026-01-30 23:59:59.999', '2026-01-30', '1.5', 'a*b'),
      (2, '2026-01-31T00:00:00+09:00', 1769785200000, '2026-01-31 00:00:00', '2026-01-31', '10', 'aXb'),
      (3, '2026-01-30 15:00:00', 1769785200001, '2026-01-31 00:00', '2026-01-31 00:00:00', 9.99, 'A*B'),
      (4, '2026-01-31T04:59:59-10:00', 1769871599999, '2026-01-31 23:59:59', '2026-01-31T00:00:00Z', 10, '[x]'),
      (5, '2026-02-01', 1769904000000, '2026-02-01', '2026-02-01', '-3.000', '가나'),
      (6, '2026-01-31T15:00:00Z', 1769871600000, '2026-02-01 00:00:00', '2026-02-01 00:00:00', '1.500', '가*'),
      (9, null, null, null, null, null, null);
";

fn database() -> Connection {
    let connection = Connection::open_in_memory().expect("memory");
    crate::database::register_functions(&connection).expect("registered");
    connection.execute_batch(ROWS).expect("rows");
    connection
}

fn stored(arg: &Arg) -> Stored {
    match arg {
        Arg::Null => Stored::Null,
        Arg::Bool(value) => Stored::Integer(i64::from(*value)),
        Arg::Int(value) => Stored::Integer(*value),
        Arg::Float(value) => Stored::Real(*value),
        Arg::Text(value) => Stored::Text(value.clone()),
    }
}

/// The ids that a selection finds, in its order.
fn run(connection: &Connection, report: &Report, selection: &Selection<'_>) -> Vec<i64> {
    let query = rows(report, selection, Dialect::Sqlite);
    let mut statement = connection.prepare(&query.sql).expect(&query.sql);
    let rows =
        statement.query_map(params_from_iter(query.args.iter().map(stored)), |row| row.get(0));
    rows.and_then(Iterator::collect).expect(&query.sql)
}

#[track_caller]
fn assert_found(pairs: &[(&str, &str)], expected: &[i64]) {
    let report = report(MOMENTS);
    let filters = filters(&report, pairs);
    let selection = Selection {
        columns: &[0],
        filters: &filters,
        scopes: &Scopes::new(),
        one_of: None,
        after: None,
        limit: None,
        cursor: false,
        types: &[],
    };
    assert_eq!(run(&database(), &report, &selection), expected, "{pairs:?}");
}

#[test]
fn times_in_whatever_form_are_compared_as_moments() {
    let midnight = "2026-01-31T00:00:00+09:00";
    assert_found(&[("from", midnight)], &[2, 3, 4, 5, 6]);
    assert_found(&[("after_at", midnight)], &[4, 5, 6]);
    assert_found(&[("to", midnight)], &[1]);
    assert_found(&[("until", midnight)], &[1, 2, 3]);
    assert_found(&[("at", midnight)], &[2, 3]);
    assert_found(&[("not_at", midnight)], &[1, 4, 5, 6]);
}

#[test]
fn a_date_is_the_whole_day_of_the_askers_zone() {
    assert_found(&[("from", "2026-01-31")], &[2, 3, 4, 5, 6]);
    assert_found(&[("to", "2026-01-31")], &[1]);
    assert_found(&[("until", "2026-01-31")], &[1, 2, 3, 4]);
    assert_found(&[("after_at", "2026-01-31")], &[5, 6]);
    assert_found(&[("at", "2026-01-31")], &[2, 3, 4]);
    assert_found(&[("not_at", "2026-01-31")], &[1, 5, 6]);
    assert_found(&[("until", "9999-12-31")], &[1, 2, 3, 4, 5, 6]);
    assert_found(&[("from", "0001-01-01")], &[1, 2, 3, 4, 5, 6]);
}

#[test]
fn numbers_that_count_and_wall_clocks_are_moments_too() {
    assert_found(&[("epoch", "2026-01-31")], &[2, 3, 4]);
    assert_found(&[("epoch_from", "2026-01-31T15:00:00Z")], &[5, 6]);
    assert_found(&[("local", "2026-01-31")], &[2, 3, 4]);
    assert_found(&[("local", "2026-01-30T15:00:00Z")], &[2, 3]);
}

#[test]
fn a_cell_counts_as_the_date_that_it_begins_with() {
    assert_found(&[("day", "2026-01-31")], &[2, 3, 4]);
    assert_found(&[("not_day", "2026-01-31")], &[1, 5, 6]);
    assert_found(&[("day_to", "2026-01-31")], &[1, 2, 3, 4]);
    assert_found(&[("day_after", "2026-01-31")], &[5, 6]);
    assert_found(&[("day_to", "9999-12-31")], &[1, 2, 3, 4, 5, 6]);
}

#[test]
fn decimals_are_compared_by_their_digits() {
    assert_found(&[("amount", "9.99")], &[2, 3, 4]);
    assert_found(&[("amount_is", "1.50")], &[1, 6]);
}

#[test]
fn texts_are_compared_sign_by_sign() {
    assert_found(&[("begins", "a*")], &[1]);
    assert_found(&[("begins", "[x")], &[4]);
    assert_found(&[("begins", "가")], &[5, 6]);
    assert_found(&[("has", "*")], &[1, 3, 6]);
    assert_found(&[("has", "a")], &[1, 2]);
}

#[test]
fn null_is_found_by_no_comparison_also_not_by_unlike() {
    assert_found(&[("not_note", "a*b")], &[2, 3, 4, 5, 6]);
}

#[test]
fn pages_of_any_order_come_to_the_whole() {
    let connection = database();
    for order in
        [r#"["id"]"#, r#"["note desc", "id"]"#, r#"["note", "id desc"]"#, r#"["day", "id"]"#]
    {
        let report = report(&MOMENTS.replace(r#"["id"]"#, order));
        let filters = filters(&report, &[("not_note", "?")]);
        let whole = Selection {
            columns: &[0],
            filters: &filters,
            scopes: &Scopes::new(),
            one_of: None,
            after: None,
            limit: None,
            cursor: true,
            types: &[],
        };
        let expected = run(&connection, &report, &whole);
        let (mut found, mut after) = (Vec::new(), None::<Vec<Arg>>);
        loop {
            let page = Selection { after: after.as_deref(), limit: Some(2), ..whole };
            let ids = run(&connection, &report, &page);
            let Some(last) = ids.last() else { break };
            after = Some(place(&connection, &report, *last));
            found.extend(ids);
        }
        assert_eq!(found, expected, "{order}");
        assert_eq!(found.len(), 6, "{order}");
    }
}

#[test]
fn a_page_behind_the_last_value_shows_the_nulls_that_sort_there() {
    let report = report(&MOMENTS.replace(r#"["id"]"#, r#"["note desc", "id desc"]"#));
    let after = [Arg::Text("A*B".into()), Arg::Int(3)];
    let page = Selection {
        columns: &[0],
        filters: &Filters::default(),
        scopes: &Scopes::new(),
        one_of: None,
        after: Some(&after),
        limit: Some(10),
        cursor: false,
        types: &[],
    };
    assert_eq!(run(&database(), &report, &page), [9]);
}

/// The order's values of the row with this id, as they are stored.
fn place(connection: &Connection, report: &Report, id: i64) -> Vec<Arg> {
    let columns: Vec<&str> = report.order.iter().map(|order| order.column.as_str()).collect();
    let sql = format!("select {} from moments where id = ?", columns.join(", "));
    let read = |row: &rusqlite::Row<'_>| {
        (0..columns.len())
            .map(|index| {
                row.get_ref(index).map(|cell| match cell {
                    ValueRef::Integer(value) => Arg::Int(value),
                    ValueRef::Text(bytes) => Arg::Text(String::from_utf8_lossy(bytes).into_owned()),
                    _ => Arg::Null,
                })
            })
            .collect()
    };
    connection.query_row(&sql, [id], read).expect("the row")
}
