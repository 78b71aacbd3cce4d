//! The exact SQL, in both dialects.

use super::*;
use crate::access::Scopes;
use crate::database::{Arg, Dialect, Query, Read, Unit};
use crate::definitions::{Selection, count, probe, rows};
use crate::rows::Kind;

const ALL: Selection<'_> = Selection {
    columns: &[0],
    filters: &Filters { asked: Vec::new() },
    scopes: &Scopes::new(),
    one_of: None,
    after: None,
    limit: None,
    cursor: false,
    types: &[],
};

/// The conditions of a count narrowed by `pairs`, and their arguments.
fn narrowed(report: &Report, pairs: &[(&str, &str)], dialect: Dialect) -> (String, Vec<Arg>) {
    let query = count(report, &filters(report, pairs), &Scopes::new(), dialect);
    let (_, conditions) = query.sql.split_once(" WHERE ").expect("a condition");
    (conditions.to_owned(), query.args)
}

#[track_caller]
fn assert_narrowed(
    report: &Report,
    (name, text): (&str, &str),
    dialect: Dialect,
    sql: &str,
    args: &[Arg],
) {
    assert_eq!(narrowed(report, &[(name, text)], dialect), (sql.to_owned(), args.to_vec()));
}

fn text(text: &str) -> Arg {
    Arg::Text(text.into())
}

/// The statement for the page behind `after` of the ledger in another order, whose columns are all
/// declared never to be NULL unless `nulls` are allowed.
fn keyed(order: &str, nulls: bool, after: &[Arg], dialect: Dialect) -> Query {
    let text = LEDGER.replace(r#"["at desc", "id"]"#, order);
    let text = if nulls { text } else { text.replace("{ key = ", "{ not_null = true, key = ") };
    rows(&report(&text), &Selection { after: Some(after), ..ALL }, dialect)
}

/// What stands between `WHERE` and `ORDER BY`.
fn condition(query: &Query) -> &str {
    let (_, rest) = query.sql.split_once(" WHERE ").expect("a condition");
    rest.split(" ORDER BY ").next().expect("the part before the order")
}

#[test]
fn the_wanted_columns_are_selected_in_their_order_and_the_place_behind_them() {
    let report = report(LEDGER);
    let selection = Selection { columns: &[9, 3], cursor: true, limit: Some(100), ..ALL };
    let query = rows(&report, &selection, Dialect::Postgres);
    assert_eq!(
        query.sql,
        r#"SELECT "q"."epoch", "q"."amount", CAST("q"."at" AS text), CAST("q"."id" AS text) FROM "books"."ledger" AS "q" ORDER BY "q"."at" DESC, "q"."id" ASC LIMIT $1"#
    );
    assert_eq!(query.args, [Arg::Int(100)]);
    let keys: Vec<&str> = query.cells.iter().map(|cell| cell.key.as_str()).collect();
    assert_eq!(keys, ["epoch", "amount", "at", "id"]);
    assert!(matches!(
        query.cells[0].read,
        Read::As { kind: Kind::Time, scale: None, zone: None, unit: Some(Unit::Seconds) }
    ));
    assert!(matches!(query.cells[1].read, Read::As { kind: Kind::Decimal, scale: Some(2), .. }));
    assert!(matches!(query.cells[2].read, Read::Stored));
}

#[test]
fn a_statement_of_the_definition_stands_in_the_brackets_of_a_with() {
    let report = report(
        "sql = \"select a from t -- all\"\norder_by = [\"a\"]\ncolumns = [{ key = \"k\", column = \"a\", type = \"text\" }]\n",
    );
    assert_eq!(
        rows(&report, &ALL, Dialect::Sqlite).sql,
        "WITH q AS (select a from t -- all\n) SELECT \"q\".\"a\" FROM \"q\" ORDER BY \"q\".\"a\" ASC"
    );
    assert_eq!(
        count(&report, &Filters::default(), &Scopes::new(), Dialect::Postgres).sql,
        "WITH q AS (select a from t -- all\n) SELECT COUNT(*) FROM \"q\""
    );
}

#[test]
fn names_are_quoted_whatever_is_in_them() {
    let report = report(
        "from = '''t\"; drop table x; --'''\ncolumns = [{ key = \"k\", column = '''a\"b''', type = \"text\" }]\n",
    );
    assert_eq!(
        rows(&report, &ALL, Dialect::Sqlite).sql,
        r#"SELECT "q"."a""b" FROM "t""; drop table x; --" AS "q""#
    );
}

#[test]
fn filters_stand_in_the_definitions_order_and_all_hold() {
    let report = report(LEDGER);
    let (sql, args) =
        narrowed(&report, &[("not_day", "2026-01-31"), ("id", "2"), ("id", "1")], Dialect::Sqlite);
    assert_eq!(sql, r#""q"."id" IN (?, ?) AND ("q"."day" < ? OR "q"."day" >= ?)"#);
    assert_eq!(args, [Arg::Int(2), Arg::Int(1), text("2026-01-31"), text("2026-02-01")]);
}

#[test]
fn texts_numbers_and_truth_values_in_postgres() {
    let report = report(LEDGER);
    let check = |pair, sql: &str, arg: Arg| {
        let mut args = vec![arg];
        if sql.contains("$2") {
            args.push(Arg::Int(0));
        }
        assert_narrowed(&report, pair, Dialect::Postgres, sql, &args);
    };
    check(("id", "5"), r#""q"."id" IN ($1)"#, Arg::Int(5));
    check(("note", "a"), r#"CAST("q"."note" AS text) = $1"#, text("a"));
    check(("note_has", "a%"), r#"strpos(CAST("q"."note" AS text), $1) > $2"#, text("a%"));
    check(("note_begins", "a_"), r#"starts_with(CAST("q"."note" AS text), $1)"#, text("a_"));
    check(("amount", "1.50"), r#""q"."amount" >= CAST($1 AS numeric)"#, text("1.50"));
    check(("rate", "0.5"), r#"CAST(CAST("q"."rate" AS text) AS float8) < $1"#, Arg::Float(0.5));
    check(("open", "true"), r#""q"."open" = $1"#, Arg::Bool(true));
    check(("day", "2026-01-31"), r#""q"."day" = CAST($1 AS date)"#, text("2026-01-31"));
    check(("day_to", "2026-01-31"), r#""q"."day" <= CAST($1 AS date)"#, text("2026-01-31"));
}

#[test]
fn texts_numbers_and_truth_values_in_sqlite() {
    let report = report(LEDGER);
    let check = |pair, sql: &str, args: &[Arg]| {
        assert_narrowed(&report, pair, Dialect::Sqlite, sql, args);
    };
    check(("note", "a"), r#""q"."note" = ?"#, &[text("a")]);
    check(("note_has", "a%"), r#"instr("q"."note", ?) > ?"#, &[text("a%"), Arg::Int(0)]);
    check(("note_begins", "a*?[]"), r#""q"."note" GLOB ?"#, &[text("a[*][?][[]]*")]);
    check(
        ("amount", "1.50"),
        r#"tallyroll_decimal("q"."amount", ?, ?) >= ?"#,
        &[text("1.50"), Arg::Int(2), Arg::Int(0)],
    );
    check(("open", "true"), r#"tallyroll_bool("q"."open") = ?"#, &[Arg::Int(1)]);
    check(
        ("day", "2026-01-31"),
        r#""q"."day" >= ? AND "q"."day" < ?"#,
        &[text("2026-01-31"), text("2026-02-01")],
    );
    check(("day_to", "2026-02-28"), r#""q"."day" < ?"#, &[text("2026-03-01")]);
    check(("day_to", "9999-12-31"), r#""q"."day" < ?"#, &[text(":")]);
}

#[test]
fn several_values_without_a_native_argument_are_alternatives() {
    let report = report(LEDGER);
    let pairs = [("amounts", "1"), ("amounts", "2"), ("open", "false")];
    assert_eq!(
        narrowed(&report, &pairs, Dialect::Postgres).0,
        r#"("q"."amount" = CAST($1 AS numeric) OR "q"."amount" = CAST($2 AS numeric)) AND "q"."open" = $3"#
    );
    let pairs = [("days", "2026-01-30"), ("days", "2026-01-31"), ("open", "false")];
    assert_eq!(
        narrowed(&report, &pairs, Dialect::Sqlite).0,
        r#"tallyroll_bool("q"."open") = ? AND (("q"."day" >= ? AND "q"."day" < ?) OR ("q"."day" >= ? AND "q"."day" < ?))"#
    );
}

#[test]
fn is_null_asks_for_nulls_or_for_the_others() {
    let report = report(LEDGER);
    for dialect in [Dialect::Sqlite, Dialect::Postgres] {
        assert_narrowed(&report, ("no_extra", "true"), dialect, r#""q"."extra" IS NULL"#, &[]);
        assert_narrowed(&report, ("no_extra", "false"), dialect, r#""q"."extra" IS NOT NULL"#, &[]);
    }
}

#[test]
fn a_date_for_a_time_means_its_start_or_its_end() {
    let report = report(LEDGER);
    let (start, end) = ("2026-01-30 15:00:00Z", "2026-01-31 15:00:00Z");
    let check = |name, sql: &str, args: &[&str]| {
        let args: Vec<Arg> = args.iter().map(|arg| text(arg)).collect();
        assert_narrowed(&report, (name, "2026-01-31"), Dialect::Postgres, sql, &args);
    };
    check("from", r#""q"."at" >= CAST($1 AS timestamptz)"#, &[start]);
    check("to", r#""q"."at" < CAST($1 AS timestamptz)"#, &[start]);
    check("until", r#""q"."at" < CAST($1 AS timestamptz)"#, &[end]);
    check("after_at", r#""q"."at" >= CAST($1 AS timestamptz)"#, &[end]);
    check(
        "at",
        r#""q"."at" >= CAST($1 AS timestamptz) AND "q"."at" < CAST($2 AS timestamptz)"#,
        &[start, end],
    );
    check(
        "not_at",
        r#""q"."at" < CAST($1 AS timestamptz) OR "q"."at" >= CAST($2 AS timestamptz)"#,
        &[start, end],
    );
    check("local", r#""q"."local" >= CAST($1 AS timestamp)"#, &["2026-01-31 00:00:00"]);
}

#[test]
fn a_moment_between_two_that_the_column_can_hold_is_moved_to_the_right_side() {
    let report = report(LEDGER);
    let check = |name, sql: &str, args: &[Arg]| {
        let moment = "1970-01-01T00:00:10.0000005Z";
        assert_narrowed(&report, (name, moment), Dialect::Postgres, sql, args);
    };
    let (below, above) = (text("1970-01-01 00:00:10Z"), text("1970-01-01 00:00:10.000001Z"));
    check("from", r#""q"."at" >= CAST($1 AS timestamptz)"#, std::slice::from_ref(&above));
    check("to", r#""q"."at" < CAST($1 AS timestamptz)"#, &[above]);
    check("until", r#""q"."at" <= CAST($1 AS timestamptz)"#, std::slice::from_ref(&below));
    check("after_at", r#""q"."at" > CAST($1 AS timestamptz)"#, &[below]);
    check("at", "1 = 0", &[]);
    check("not_at", r#""q"."at" IS NOT NULL"#, &[]);
    check("epoch", r#""q"."epoch" >= $1"#, &[Arg::Int(11)]);
    check("epoch_to", r#""q"."epoch" <= $1"#, &[Arg::Int(10)]);
    check("epoch_is", "1 = 0", &[]);
}

#[test]
fn times_in_sqlite_are_compared_exactly_behind_a_bound_that_an_index_serves() {
    let report = report(LEDGER);
    let check = |pair, sql: &str, args: &[Arg]| {
        assert_narrowed(&report, pair, Dialect::Sqlite, sql, args);
    };
    let canonical = text("09223372036854775818.000000000");
    check(
        ("from", "1970-01-01T00:00:10Z"),
        r#""q"."at" >= ? AND tallyroll_time("q"."at", NULL, NULL) >= ?"#,
        &[text("1969-12-30"), canonical.clone()],
    );
    check(
        ("until", "1970-01-01T00:00:10Z"),
        r#""q"."at" < ? AND tallyroll_time("q"."at", NULL, NULL) <= ?"#,
        &[text("1970-01-04"), canonical.clone()],
    );
    check(
        ("at", "1970-01-01T00:00:10Z"),
        r#""q"."at" >= ? AND "q"."at" < ? AND tallyroll_time("q"."at", NULL, NULL) = ?"#,
        &[text("1969-12-30"), text("1970-01-04"), canonical.clone()],
    );
    check(
        ("not_at", "1970-01-01T00:00:10Z"),
        r#"tallyroll_time("q"."at", NULL, NULL) <> ?"#,
        std::slice::from_ref(&canonical),
    );
    check(
        ("local", "1970-01-01T00:00:10Z"),
        r#""q"."local" >= ? AND tallyroll_time("q"."local", NULL, ?) >= ?"#,
        &[text("1969-12-30"), text("Asia/Seoul"), canonical.clone()],
    );
    check(
        ("epoch_is", "1970-01-01T00:00:10Z"),
        r#""q"."epoch" >= ? AND "q"."epoch" < ? AND tallyroll_time("q"."epoch", ?, NULL) = ?"#,
        &[Arg::Int(10), Arg::Int(11), text("seconds"), canonical],
    );
}

#[test]
fn a_page_of_one_direction_is_one_comparison_of_rows() {
    let after = [text("2026-01-31 00:00:00+00"), Arg::Int(7)];
    let query = keyed(r#"["at", "id"]"#, false, &after, Dialect::Postgres);
    assert_eq!(condition(&query), r#"("q"."at", "q"."id") > ($1, $2)"#);
    assert_eq!(query.args, after);
    let query = keyed(r#"["at desc", "id desc"]"#, true, &after, Dialect::Postgres);
    assert_eq!(condition(&query), r#"("q"."at", "q"."id") < ($1, $2)"#);
    let query = keyed(r#"["at", "id"]"#, true, &after, Dialect::Sqlite);
    assert_eq!(condition(&query), r#"("q"."at", "q"."id") > (?, ?)"#);
    let query = keyed(r#"["id"]"#, false, &[Arg::Int(7)], Dialect::Sqlite);
    assert_eq!(condition(&query), r#""q"."id" > ?"#);
}

#[test]
fn a_page_of_mixed_directions_goes_column_by_column() {
    let query =
        keyed(r#"["day desc", "id"]"#, false, &[text("2026-01-31"), Arg::Int(7)], Dialect::Sqlite);
    assert_eq!(
        condition(&query),
        r#""q"."day" <= ? AND ("q"."day" < ? OR ("q"."day" = ? AND "q"."id" > ?))"#
    );
    assert_eq!(
        query.args,
        [text("2026-01-31"), text("2026-01-31"), text("2026-01-31"), Arg::Int(7)]
    );
}

#[test]
fn a_page_takes_in_the_nulls_that_sort_behind_it() {
    let after = [text("2026-01-31"), Arg::Int(7)];
    let query = keyed(r#"["day", "id"]"#, true, &after, Dialect::Postgres);
    assert_eq!(
        condition(&query),
        r#""q"."day" > $1 OR "q"."day" IS NULL OR ("q"."day" = $2 AND ("q"."id" > $3 OR "q"."id" IS NULL))"#
    );
    let query = keyed(r#"["day desc", "id desc"]"#, true, &after, Dialect::Sqlite);
    assert_eq!(
        condition(&query),
        r#""q"."day" < ? OR "q"."day" IS NULL OR ("q"."day" = ? AND ("q"."id" < ? OR "q"."id" IS NULL))"#
    );
}

#[test]
fn a_place_is_cast_to_the_type_its_column_has() {
    let types = [Some("timestamp with time zone".to_owned()), Some("bigint".to_owned())];
    let after = [text("2026-01-31 00:00:00+00"), text("7")];
    let page = Selection { after: Some(&after), types: &types, ..ALL };
    let ledger = report(&LEDGER.replace("{ key = ", "{ not_null = true, key = "));
    let query = rows(&ledger, &page, Dialect::Postgres);
    assert_eq!(
        condition(&query),
        r#""q"."at" <= CAST($1 AS timestamp with time zone) AND ("q"."at" < CAST($2 AS timestamp with time zone) OR ("q"."at" = CAST($3 AS timestamp with time zone) AND "q"."id" > CAST($4 AS bigint)))"#
    );
}

#[test]
fn behind_a_null_come_all_others_or_nothing() {
    let behind = |order: &str, dialect| {
        condition(&keyed(order, true, &[Arg::Null, Arg::Int(7)], dialect)).to_owned()
    };
    assert_eq!(
        behind(r#"["day", "id"]"#, Dialect::Sqlite),
        r#""q"."day" IS NOT NULL OR ("q"."day" IS NULL AND "q"."id" > ?)"#
    );
    assert_eq!(
        behind(r#"["day", "id"]"#, Dialect::Postgres),
        r#"(1 = 0) OR ("q"."day" IS NULL AND ("q"."id" > $1 OR "q"."id" IS NULL))"#
    );
}

#[test]
fn a_place_of_the_wrong_length_continues_nothing() {
    let query = keyed(r#"["at", "id"]"#, false, &[Arg::Int(7)], Dialect::Sqlite);
    assert_eq!(condition(&query), "1 = 0");
}

#[test]
fn a_column_that_is_only_named_can_be_probed_without_reading_a_row() {
    let query = probe(&report(LEDGER), "other", Dialect::Postgres);
    assert_eq!(query.sql, r#"SELECT "q"."other" FROM "books"."ledger" AS "q" LIMIT $1"#);
    assert_eq!(query.args, [Arg::Int(0)]);
    assert_eq!(query.cells.len(), 1);
}

#[test]
fn there_is_a_sample_for_every_filter() {
    let ledger = report(LEDGER);
    for index in 0..ledger.filters.len() {
        let sample = Filters::sample(&ledger, index);
        assert!(count(&ledger, &sample, &Scopes::new(), Dialect::Postgres).sql.contains(" WHERE "));
    }
}
