//! Rows come back as they were put aside.

use std::time::Duration;

use super::{Held, MEMORY, object};
use crate::definitions::{BuiltIn, Definitions, Report};
use crate::json::Node;
use crate::rows::{Date, Instant, Value, ZoneClock};
use crate::spool::Spool;

fn report() -> std::sync::Arc<Report> {
    let kinds = ["int", "text", "json", "decimal", "bool", "date", "time", "float"];
    let columns: String = kinds
        .iter()
        .map(|kind| format!("[[columns]]\nkey = \"{kind}\"\ntype = \"{kind}\"\n"))
        .collect::<Vec<_>>()
        .concat();
    let text = format!("from = \"t\"\n{columns}");
    let built_in = BuiltIn { reports: &[("t", &text)], ..BuiltIn::default() };
    let mut definitions = Definitions::load(built_in, None);
    assert!(definitions.faults.is_empty(), "{:?}", definitions.faults);
    definitions.reports.remove("t").unwrap()
}

fn clock() -> ZoneClock {
    ZoneClock::new(jiff::tz::TimeZone::get("Asia/Seoul").unwrap())
}

fn row(text: &str) -> [Value<'_>; 8] {
    [
        Value::Int(-7),
        Value::Text(text),
        Value::Text("{\"a\": 1.10}"),
        Value::Decimal("00.50"),
        Value::Bool(true),
        Value::Date(Date::from_ymd(2026, 1, 31).unwrap()),
        Value::Time(Instant::from_seconds(0)),
        Value::Float(f64::NAN),
    ]
}

#[tokio::test]
async fn every_kind_of_value_comes_back() {
    let directory = tempfile::tempdir().unwrap();
    let spool = Spool::new(directory.path().to_owned(), 1 << 30, Duration::from_secs(1));
    let (report, mut held) = (report(), Held::default());
    let place = held.add(&row("가\"나\n"), &report, &mut clock(), &spool).unwrap();
    held.close(&spool).unwrap();
    let mut bytes = Vec::new();
    held.read(&place, &mut bytes).unwrap();
    let mut rest = bytes.as_slice();
    let node = object(&mut rest, &report).unwrap().unwrap();
    assert!(rest.is_empty());
    let found = |key: &str| node.find(&[key.to_owned()]).cloned().unwrap();
    assert_eq!(found("int"), Node::Digits("-7"));
    assert_eq!(found("text"), Node::Text("가\"나\n".into()));
    assert_eq!(found("json"), Node::parse("{\"a\":1.10}").unwrap());
    assert_eq!(found("decimal"), Node::Digits("00.50"));
    assert_eq!(found("bool"), Node::Bool(true));
    assert_eq!(found("date"), Node::Text("2026-01-31".into()));
    assert_eq!(found("time"), Node::Text("1970-01-01T09:00:00+09:00".into()));
    assert_eq!(found("float"), Node::Null);
}

#[tokio::test]
async fn much_lies_in_a_file_without_a_name_and_counts_until_it_is_let_go() {
    let directory = tempfile::tempdir().unwrap();
    let spool = Spool::new(directory.path().to_owned(), 1 << 30, Duration::from_secs(1));
    let (report, mut held) = (report(), Held::default());
    let text = "x".repeat(MEMORY / 4);
    let places: Vec<_> = (0..9)
        .map(|n| held.add(&row(&format!("{n}{text}")), &report, &mut clock(), &spool).unwrap())
        .collect();
    held.close(&spool).unwrap();
    assert_eq!(spool.used(), held.length());
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    for (n, place) in places.iter().enumerate() {
        let mut bytes = Vec::new();
        held.read(place, &mut bytes).unwrap();
        let node = object(&mut bytes.as_slice(), &report).unwrap().unwrap();
        let Some(Node::Text(found)) = node.find(&["text".to_owned()]) else { panic!("{n}") };
        assert!(found.starts_with(&n.to_string()) && found.len() == text.len() + 1);
    }
    drop(held);
    assert_eq!(spool.used(), 0);
}

#[tokio::test]
async fn what_finds_no_room_is_refused_and_nothing_stays() {
    let directory = tempfile::tempdir().unwrap();
    let spool = Spool::new(directory.path().to_owned(), 1 << 20, Duration::from_secs(1));
    let (report, mut held) = (report(), Held::default());
    let text = "x".repeat(MEMORY);
    let refused = held.add(&row(&text), &report, &mut clock(), &spool).unwrap_err();
    assert!(refused.detail().contains("spool_cap"), "{}", refused.detail());
    drop(held);
    assert_eq!(spool.used(), 0);
}

#[tokio::test]
async fn broken_json_is_told_by_its_column() {
    let directory = tempfile::tempdir().unwrap();
    let spool = Spool::new(directory.path().to_owned(), 1 << 20, Duration::from_secs(1));
    let (report, mut held) = (report(), Held::default());
    let mut values = row("x");
    values[2] = Value::Text("{\"a\":");
    let place = held.add(&values, &report, &mut clock(), &spool).unwrap();
    let mut bytes = Vec::new();
    held.read(&place, &mut bytes).unwrap();
    let why = object(&mut bytes.as_slice(), &report).unwrap().unwrap_err();
    assert!(why.0.starts_with("the column \"json\" at /json is not JSON"), "{}", why.0);
}
