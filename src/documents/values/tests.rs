//! Values are shown exactly, and what is wrong is named with its field and its place.

use super::{shown, worded};
use crate::definitions::{Bit, Feed, NumberFormat, Pointer, Show, Wording};
use crate::json::Node;

fn feed(pointer: &str, show: Show) -> Feed {
    Feed { pointer: Pointer::parse(pointer).unwrap(), sum: None, optional: false, show }
}

fn won() -> Show {
    let (prefix, suffix) = ("₩".into(), "원".into());
    Show::Number(NumberFormat { prefix, suffix, grouped: true, decimals: 2 })
}

fn show(show: Show, json: &str) -> Result<String, String> {
    let row = format!("{{\"v\":{json}}}");
    let node = Node::parse(&row).unwrap();
    shown(&feed("/v", show), "the field \"금액\"", &node, "").map_err(|unfit| unfit.0)
}

#[test]
fn numbers_are_grouped_and_lose_no_digit() {
    for (json, wanted) in [
        ("0", "₩0.00원"),
        ("-1234567", "-₩1,234,567.00원"),
        ("1234.5", "₩1,234.50원"),
        ("123456.789", "₩123,456.789원"),
        ("12345678901234567890.10", "₩12,345,678,901,234,567,890.10원"),
        ("\"999.990\"", "₩999.99원"),
    ] {
        assert_eq!(show(won(), json).as_deref(), Ok(wanted), "{json}");
    }
    let plain = Show::Number(NumberFormat::default());
    assert_eq!(show(plain, "1.10").as_deref(), Ok("1.10"));
}

#[test]
fn what_is_no_number_is_named() {
    for json in ["\"1,000\"", "\"\"", "true", "[1]", "1e3", "\"12a\""] {
        let said = show(won(), json).unwrap_err();
        assert!(said.starts_with("the field \"금액\" at /v is "), "{said}");
        assert!(said.contains("must be a number such as"), "{said}");
    }
}

#[test]
fn days_and_moments_are_shown_to_their_precision() {
    assert_eq!(show(Show::Date, "\"2026-02-28T09:30:00+09:00\"").as_deref(), Ok("2026-02-28"));
    assert_eq!(
        show(Show::Time, "\"2026-02-28T09:30:59.5+09:00\"").as_deref(),
        Ok("2026-02-28 09:30")
    );
    for json in ["\"2026-02-30\"", "\"2026-2-3\"", "\"2026-02-28x\"", "20260228", "\"어제\""] {
        assert!(show(Show::Date, json).is_err(), "{json}");
    }
    assert!(show(Show::Time, "\"2026-02-28\"").is_err());
    assert!(show(Show::Time, "\"2026-02-28T24:30:00Z\"").is_err());
}

#[test]
fn what_is_missing_may_be_optional() {
    let row = Node::parse(r#"{"a":{"n":null}}"#).unwrap();
    for (pointer, words) in [("/a/x", "is missing"), ("/a/n", "is null"), ("/b", "is missing")] {
        let mut feed = feed(pointer, Show::Plain);
        let said = shown(&feed, "the text", &row, "").unwrap_err().0;
        assert_eq!(said, format!("the text at {pointer} {words}"));
        feed.optional = true;
        assert_eq!(shown(&feed, "the text", &row, "").unwrap(), "");
    }
}

#[test]
fn sums_are_exact() {
    let row = Node::parse(r#"{"rows":[{"a":0.1},{"a":"0.25"},{"a":-1000000000000000000000}]}"#);
    let rows = Pointer::parse("/rows");
    let sum = Feed { sum: rows, ..feed("/a", won()) };
    let row = row.unwrap();
    let shown = |feed: &Feed| shown(feed, "the field \"합계\"", &row, "").map_err(|unfit| unfit.0);
    assert_eq!(shown(&sum).as_deref(), Ok("-₩999,999,999,999,999,999,999.65원"));
    let missing = Feed { pointer: Pointer::parse("/b").unwrap(), ..sum };
    assert_eq!(shown(&missing).unwrap_err(), "the field \"합계\" at /rows/0/b is missing");
    let optional = Feed { optional: true, ..missing };
    assert_eq!(shown(&optional).as_deref(), Ok("₩0.00원"));
}

#[test]
fn words_stand_around_values() {
    let row = Node::parse(r#"{"n":"L-1","amount":10.50}"#).unwrap();
    let value = |pointer| Bit::Value(feed(pointer, Show::Plain));
    let wording = Wording(vec![Bit::Words("제 ".into()), value("/n"), value("/amount")]);
    assert_eq!(worded(&wording, "the heading", &row).unwrap(), "제 L-110.50");
}
