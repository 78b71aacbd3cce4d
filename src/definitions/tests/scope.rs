//! No statement leaves the scope out.

use super::*;
use crate::access::{Caller, Scopes};
use crate::database::{Arg, Dialect, Query};
use crate::definitions::{Selection, count, rows};

const AS_SQL: &str = "select * from books.ledger where id > 0 or id < 0 -- all";

fn scopes(dimensions: &[(&str, &[&str])]) -> Scopes {
    let values = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
    dimensions.iter().map(|(name, list)| ((*name).to_owned(), values(list))).collect()
}

/// Every shape of statement that there is: rows and count, without filters and with each, with and
/// without `after`, `limit` and a cursor.
fn every_statement(report: &Report, scopes: &Scopes, dialect: Dialect) -> Vec<Query> {
    let place = [Arg::Text("2026-01-31".into()), Arg::Int(7)];
    let mut asked = vec![Filters::default()];
    for filter in &report.filters {
        let text = match filter.takes().word() {
            "text" => "x",
            "bool" => "true",
            "date" | "time" => "2026-01-31",
            _ => "1",
        };
        asked.push(filters(report, &[(&filter.name, text)]));
    }
    let mut statements = Vec::new();
    for filters in &asked {
        statements.push(count(report, filters, scopes, dialect));
        for (after, limit) in [(None, None), (None, Some(5)), (Some(&place[..]), Some(5))] {
            for flag in [true, false] {
                let selection = Selection {
                    columns: &[0, 2],
                    filters,
                    scopes,
                    one_of: None,
                    after,
                    limit,
                    cursor: flag,
                    types: &[],
                };
                statements.push(rows(report, &selection, dialect));
            }
        }
    }
    statements
}

/// What stands in the `WHERE`, taken apart at the `AND`s that are not within brackets.
fn conditions(sql: &str) -> Vec<&str> {
    let (_, rest) = sql.rsplit_once(" WHERE ").expect("a condition");
    let rest = rest.split(" ORDER BY ").next().expect("the part before the order");
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (index, char) in rest.char_indices() {
        match char {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ if depth == 0 && rest[index..].starts_with(" AND ") => {
                parts.push(&rest[start..index]);
                start = index + " AND ".len();
            }
            _ if depth == 0 => {
                assert!(!rest[index..].starts_with(" OR "), "an OR that is open: {sql}");
            }
            _ => {}
        }
    }
    parts.push(&rest[start..]);
    parts
}

#[test]
fn every_statement_is_held_to_every_dimension_before_anything_else() {
    let held = scopes(&[("merchant", &["1042", "7"]), ("region", &["서울"])]);
    let as_sql = LEDGER.replace("from = \"books.ledger\"", &format!("sql = \"{AS_SQL}\""));
    let not_null = LEDGER.replace("type = \"time\" }", "type = \"time\", not_null = true }");
    for text in [LEDGER, &as_sql, &not_null] {
        let report = report(text);
        for (dialect, expected) in [
            (Dialect::Sqlite, [r#""q"."merchant_id" IN (?, ?)"#, r#""q"."region" IN (?)"#]),
            (
                Dialect::Postgres,
                [r#""q"."merchant_id" IN ($1, $2)"#, r#"CAST("q"."region" AS text) IN ($3)"#],
            ),
        ] {
            let statements = every_statement(&report, &held, dialect);
            assert!(statements.len() > 100);
            for query in statements {
                assert_eq!(conditions(&query.sql)[..2], expected, "{}", query.sql);
                assert_eq!(
                    query.args[..3],
                    [Arg::Int(1042), Arg::Int(7), Arg::Text("서울".into())]
                );
            }
        }
    }
}

#[test]
fn a_filter_on_the_scopes_own_column_narrows_and_never_widens() {
    let report = report(LEDGER);
    let held = scopes(&[("merchant", &["1042"])]);
    let asked = filters(&report, &[("merchant", "1042"), ("merchant", "1043")]);
    let query = count(&report, &asked, &held, Dialect::Sqlite);
    assert_eq!(
        query.sql,
        r#"SELECT COUNT(*) FROM "books"."ledger" AS "q" WHERE "q"."merchant_id" IN (?) AND "q"."merchant_id" IN (?, ?)"#
    );
    assert_eq!(query.args, [Arg::Int(1042), Arg::Int(1042), Arg::Int(1043)]);
}

#[test]
fn a_scope_that_nothing_can_meet_lets_no_row_through() {
    let report = report(LEDGER);
    for held in [
        scopes(&[("merchant", &["abc", "1.0", ""])]),
        scopes(&[("merchant", &[])]),
        scopes(&[("team", &["1"])]),
    ] {
        for dialect in [Dialect::Sqlite, Dialect::Postgres] {
            for query in every_statement(&report, &held, dialect) {
                let first = conditions(&query.sql)[0].trim_matches(['(', ')']);
                assert_eq!(first, "1 = 0", "{}", query.sql);
            }
        }
    }
}

#[test]
fn a_value_that_its_column_cannot_hold_is_left_out_and_the_others_hold() {
    let report = report(LEDGER);
    let held = scopes(&[("merchant", &["1042", "all"])]);
    let query = count(&report, &Filters::default(), &held, Dialect::Sqlite);
    assert_eq!(query.args, [Arg::Int(1042)]);
}

#[test]
fn a_report_is_there_for_a_caller_whose_every_dimension_it_maps() {
    let report = report(LEDGER);
    let mut caller = Caller::local();
    assert!(report.accessible(&caller));
    caller.scopes = scopes(&[("merchant", &["1"]), ("region", &["a"])]);
    assert!(report.accessible(&caller));
    caller.scopes = scopes(&[("merchant", &["1"]), ("team", &["a"])]);
    assert!(!report.accessible(&caller));
}

#[test]
fn a_caller_without_scopes_is_held_to_nothing() {
    let report = report(LEDGER);
    let query = count(&report, &Filters::default(), &Scopes::new(), Dialect::Postgres);
    assert_eq!(query.sql, r#"SELECT COUNT(*) FROM "books"."ledger" AS "q""#);
}

#[test]
fn values_that_are_not_the_reports_own_widen_nothing() {
    let other = report(LEDGER);
    let asked = filters(&other, &[("merchant", "1")]);
    let mut bare = (*other).clone();
    bare.filters.clear();
    let query = count(&bare, &asked, &Scopes::new(), Dialect::Sqlite);
    assert_eq!(conditions(&query.sql), ["1 = 0"]);
}
