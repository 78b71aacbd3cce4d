//! The example is the same everywhere, and has the shape that it is said to have.

use std::collections::{HashMap, HashSet};

use sea_orm::{
    ColumnTrait, ConnectionTrait, DatabaseConnection, EntityTrait, IdenStatic, Iterable,
    PaginatorTrait, QueryFilter, QueryOrder,
};

use super::{Demo, LINES, Line, MERCHANTS, fill, lines};
use crate::database::testing::{Sqlite, with_postgres};
use crate::database::{Table, Target};
use crate::error::Error;

fn count(demo: &Demo, is: impl Fn(&Line<'_>) -> bool) -> u64 {
    (1..=demo.rows()).filter(|number| is(&demo.line(*number))).count() as u64
}

fn names(table: &Table<'_>) -> Vec<String> {
    table.columns.iter().map(|(name, _)| (*name).to_owned()).collect()
}

#[test]
fn a_line_depends_on_its_number_and_the_size_alone() {
    let (once, again) = (Demo::new(50_000), Demo::new(50_000));
    for number in [50_000, 1, 777, 31_415] {
        assert_eq!(once.line(number).values(), again.line(number).values());
    }
    let first = once.line(1);
    assert_eq!(first.order_no(), "0010401029008");
    assert_ne!(once.line(2).values()[3..], first.values()[3..]);
}

#[test]
fn the_largest_merchant_has_two_percent_and_the_ten_largest_seven() {
    let demo = Demo::new(200_000);
    let mut lines: HashMap<i64, u64> = HashMap::new();
    for number in 1..=demo.rows() {
        *lines.entry(demo.line(number).merchant.id).or_default() += 1;
    }
    let mut sizes: Vec<(u64, i64)> = lines.into_iter().map(|(id, size)| (size, id)).collect();
    sizes.sort_unstable_by(|left, right| right.cmp(left));
    let ten: u64 = sizes[..10].iter().map(|(size, _)| size).sum();
    assert_eq!(sizes[0].1, 1042);
    assert!(sizes[0].0.abs_diff(4_000) < 250, "{:?}", sizes[0]);
    assert!(ten.abs_diff(14_000) < 500, "{ten}");
    assert!(sizes[10].0 < 500, "{:?}", sizes[10]);
    assert!(sizes.len() > 4_500, "{}", sizes.len());
}

#[test]
fn money_adds_up_and_refunds_are_negative() {
    let demo = Demo::new(50_000);
    for number in 1..=demo.rows() {
        let line = demo.line(number);
        assert_eq!(line.net(), line.gross - line.fee - line.vat);
        assert_eq!(line.vat, (line.fee + 5 * line.fee.signum()) / 10);
        assert_eq!(line.kind == "refund", line.gross < 0);
        for part in [line.fee, line.vat, line.net()] {
            assert_eq!(part.signum(), line.gross.signum(), "{line:?}");
        }
    }
    let refunds = count(&demo, |line| line.kind == "refund");
    assert!(refunds.abs_diff(3_000) < 250, "{refunds}");
}

#[test]
fn order_numbers_and_merchants_are_unique() {
    let demo = Demo::new(200_000);
    let orders: HashSet<[u8; 13]> = (1..=demo.rows()).map(|n| demo.line(n).order_no).collect();
    assert_eq!(orders.len(), 200_000);
    assert!(orders.iter().all(|order| order.starts_with(b"00")));
    let names: HashSet<&str> = demo.merchants().iter().map(|m| m.name.as_str()).collect();
    let numbers: HashSet<&str> = demo.merchants().iter().map(|m| m.business_no.as_str()).collect();
    assert_eq!((names.len(), numbers.len()), (5_000, 5_000));
}

#[test]
fn time_never_runs_backwards_and_stays_within_the_half_year() {
    // 2026-01-01 and 2026-07-01, midnight in Seoul.
    let (from, until) = (1_767_193_200, 1_782_831_600);
    for rows in [1, 10, 3_000, 300_000] {
        let demo = Demo::new(rows);
        let mut before = demo.line(1).paid_at;
        for number in 1..=rows {
            let line = demo.line(number);
            assert!(line.paid_at >= before, "line {number} of {rows}");
            assert!((from..until).contains(&line.paid_at.seconds), "{line:?}");
            let day = (line.paid_at.seconds + 9 * 3_600).div_euclid(86_400);
            let cycle = i64::from(line.merchant.settle_cycle);
            assert_eq!(i64::from(line.settle_on.days), day + cycle);
            before = line.paid_at;
        }
    }
}

#[test]
fn lines_so_dense_that_they_share_a_second_are_still_in_order() {
    let demo = Demo::new(20_000_000_000);
    let mut before = demo.line(9_999_900_000).paid_at;
    let mut same = 0;
    for number in 9_999_900_001..9_999_950_000 {
        let now = demo.line(number).paid_at;
        assert!(now >= before, "line {number}");
        same += u32::from(now == before);
        before = now;
    }
    assert!(same > 0, "whole seconds repeat");
}

#[test]
fn some_moments_are_whole_seconds_and_some_are_at_night() {
    let demo = Demo::new(20_000);
    let whole = count(&demo, |line| line.paid_at.nanos == 0);
    let micros = count(&demo, |line| line.paid_at.nanos % 1_000_000 != 0);
    let night = count(&demo, |line| (line.paid_at.seconds + 9 * 3_600) % 86_400 < 6 * 3_600);
    assert!(whole > 4_000 && micros > 10_000 && night > 400, "{whole} {micros} {night}");
    assert_eq!(lines::business_days().len(), 129);
}

#[test]
fn columns_are_those_of_the_tables() {
    let merchants = entity::merchants::Column::iter().map(|column| column.as_str().to_owned());
    assert_eq!(names(&MERCHANTS), merchants.collect::<Vec<_>>());
    let lines = entity::settlement_lines::Column::iter().map(|column| column.as_str().to_owned());
    assert_eq!(names(&LINES), lines.collect::<Vec<_>>());
}

async fn stored(db: &DatabaseConnection) -> Vec<entity::settlement_lines::Model> {
    let lines = entity::settlement_lines::Entity::find();
    lines.order_by_asc(entity::settlement_lines::Column::Id).all(db).await.unwrap()
}

/// Fills, reads back through the ORM and compares with what was meant.
async fn is_filled(db: DatabaseConnection, target: Target) {
    fill(&db, target, Demo::new(1_234), false, |_| {}).await.unwrap();
    let (found, demo) = (stored(&db).await, Demo::new(1_234));
    assert_eq!(found.len(), 1_234);
    for (line, number) in found.iter().zip(1..) {
        let meant = demo.line(number);
        assert_eq!(line.order_no, meant.order_no());
        assert_eq!(line.merchant_name, meant.merchant.name);
        assert_eq!(line.net, meant.net());
        assert_eq!(Some(line.paid_at.timestamp_micros()), meant.paid_at.micros());
        assert_eq!(line.settle_on.to_epoch_days(), meant.settle_on.days);
    }
    let merchants = entity::merchants::Entity::find().count(&db).await.unwrap();
    assert_eq!(merchants, 5_000);
    let same_moment = entity::settlement_lines::Column::PaidAt.eq(found[500].paid_at);
    let again = entity::settlement_lines::Entity::find().filter(same_moment);
    assert_eq!(again.one(&db).await.unwrap().as_ref(), Some(&found[500]));
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlite_and_postgres_get_the_rows_that_were_meant() {
    let it = Sqlite::new().await;
    is_filled(it.db.clone(), it.target.clone()).await;
    with_postgres("demo", is_filled).await;
}

/// A filled table is refused, replaced on demand, and any small size will do.
async fn replaces_on_demand(db: DatabaseConnection, target: Target) {
    fill(&db, target.clone(), Demo::new(10), false, |_| {}).await.unwrap();
    let before = stored(&db).await;
    let refused = fill(&db, target.clone(), Demo::new(20), false, |_| {}).await;
    let Err(Error::Conflict { code: "table_not_empty", detail }) = refused else {
        panic!("{refused:?}");
    };
    assert!(detail.contains("merchants") && detail.contains("--replace"), "{detail}");
    assert_eq!(stored(&db).await, before);
    for rows in [20, 1, 0] {
        fill(&db, target.clone(), Demo::new(rows), true, |_| {}).await.unwrap();
        assert_eq!(stored(&db).await.len() as u64, rows);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_with_rows_are_refused_unless_they_may_be_replaced() {
    let it = Sqlite::new().await;
    replaces_on_demand(it.db.clone(), it.target.clone()).await;
    with_postgres("replace", replaces_on_demand).await;
}

async fn leaves_strangers_alone(db: DatabaseConnection, target: Target) {
    db.execute_unprepared("CREATE TABLE merchants (name text)").await.unwrap();
    db.execute_unprepared("INSERT INTO merchants VALUES ('ours')").await.unwrap();
    let refused = fill(&db, target, Demo::new(10), true, |_| {}).await;
    let Err(Error::Conflict { code: "table_exists", detail }) = refused else {
        panic!("{refused:?}");
    };
    assert!(detail.contains("merchants"), "{detail}");
    let kept = "DELETE FROM merchants WHERE name = 'ours'";
    assert_eq!(db.execute_unprepared(kept).await.unwrap().rows_affected(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_somebody_else_made_is_never_touched() {
    let it = Sqlite::new().await;
    leaves_strangers_alone(it.db.clone(), it.target.clone()).await;
    with_postgres("strangers", leaves_strangers_alone).await;
}
