//! What a request asks: typed, or refused in words.

use super::*;
use crate::definitions::filters::{Asked, Given, Moment};
use crate::rows::{Date, Instant, parse_time};

fn at(text: &str) -> Instant {
    parse_time(text, None).expect("a time")
}

fn day(year: i32, month: u32, day: u32) -> Date {
    Date::from_ymd(year, month, day).expect("a day")
}

/// The values of the one filter that was asked.
#[track_caller]
fn only(filters: Filters) -> Vec<Given> {
    let [Asked { values, .. }] = <[Asked; 1]>::try_from(filters.asked).expect("one filter");
    values
}

/// Parameter and code of each problem.
fn codes(problems: &[Problem]) -> Vec<(&str, &str)> {
    problems
        .iter()
        .map(|problem| (problem.parameter.as_deref().unwrap_or(""), problem.code))
        .collect()
}

#[test]
fn each_kind_is_read_as_what_it_is() {
    let report = report(LEDGER);
    let one = |name: &str, text: &str| only(filters(&report, &[(name, text)])).remove(0);
    assert_eq!(one("id", "-9223372036854775808"), Given::Int(i64::MIN));
    assert_eq!(one("note", " 가 = "), Given::Text(" 가 = ".into()));
    assert_eq!(one("amount", "-0012.50"), Given::Decimal("-0012.50".into()));
    assert_eq!(one("rate", "1e-3"), Given::Float(0.001));
    assert_eq!(one("open", "false"), Given::Bool(false));
    assert_eq!(one("no_extra", "true"), Given::Bool(true));
    assert_eq!(one("day", "2024-02-29"), Given::Date(day(2024, 2, 29)));
}

#[test]
fn values_with_commas_between_them_are_refused_with_the_way_to_give_several() {
    let report = report(LEDGER);
    let detail = |text: &str| typed(&report, &[("id", text)]).1.remove(0).detail;
    assert!(detail("1042, 1077").ends_with("each is given by itself: id=1042&id=1077"));
    assert!(!detail("1042,x").contains("several"), "{}", detail("1042,x"));
    assert!(!detail("x").contains("several"), "{}", detail("x"));
}

#[test]
fn a_time_is_an_instant_or_a_day_of_the_askers_zone() {
    let report = report(LEDGER);
    let one = |text: &str| only(filters(&report, &[("from", text)])).remove(0);
    let morning = Given::Time(Moment::At(at("2026-01-31T00:00:00Z")));
    for text in [
        "2026-01-31T09:00:00+09:00",
        "2026-01-31T09:00:00 09:00",
        "2026-01-31 09:00:00 09:00",
        "2026-01-31t00:00:00z",
        "2026-01-31 00:00:00Z",
        "2026-01-30T19:00:00.000-05:00",
    ] {
        assert_eq!(one(text), morning, "{text}");
    }
    let whole = Moment::Day(at("2026-01-30T15:00:00Z"), at("2026-01-31T15:00:00Z"));
    assert_eq!(one("2026-01-31"), Given::Time(whole));
}

#[test]
fn a_day_is_as_long_as_its_zone_makes_it() {
    let report = report(LEDGER);
    let zone = TimeZone::get("America/New_York").expect("the zone database has New York");
    let pairs = [("from".to_owned(), "2026-03-08".to_owned())];
    let mut problems = Vec::new();
    let filters = parse_filters(&report, &pairs, &[], &zone, &mut problems);
    let short = Moment::Day(at("2026-03-08T05:00:00Z"), at("2026-03-09T04:00:00Z"));
    assert_eq!(only(filters), [Given::Time(short)]);
}

#[test]
fn the_last_day_of_the_calendar_has_an_end() {
    let report = report(LEDGER);
    let values = only(filters(&report, &[("until", "9999-12-31")]));
    let Given::Time(Moment::Day(_, end)) = values[0] else { unreachable!("a day was given") };
    assert_eq!(end, at("9999-12-31T15:00:00Z"));
    assert_eq!(codes(&typed(&report, &[("until", "0000-12-31")]).1), [("until", "not_a_time")]);
}

#[test]
fn all_faults_are_told_at_once_and_by_name() {
    let report = report(LEDGER);
    let pairs = [
        ("id", "1.5"),
        ("id", "+1"),
        ("id", "99999999999999999999"),
        ("note", ""),
        ("note_has", "a\0b"),
        ("amount", "1e3"),
        ("rate", "inf"),
        ("open", "yes"),
        ("day", "2026-02-30"),
        ("day_to", "2026-01-31T00:00:00Z"),
        ("from", "31/12/2026"),
        ("to", "2026-01-31T00:00:00"),
        ("no_extra", "1"),
        ("color", "red"),
    ];
    let (_, problems) = typed(&report, &pairs);
    let mut told = codes(&problems);
    told.sort_unstable();
    let expected = [
        ("amount", "not_a_decimal"),
        ("color", "unknown_parameter"),
        ("day", "not_a_date"),
        ("day_to", "not_a_date"),
        ("from", "not_a_time"),
        ("id", "not_an_int"),
        ("id", "not_an_int"),
        ("id", "not_an_int"),
        ("no_extra", "not_a_bool"),
        ("note", "empty_value"),
        ("note_has", "not_a_text"),
        ("open", "not_a_bool"),
        ("rate", "not_a_float"),
        ("to", "not_a_time"),
    ];
    assert_eq!(told, expected);
}

#[test]
fn a_problem_names_the_filter_the_rule_and_an_example() {
    let report = report(LEDGER);
    let (_, problems) = typed(&report, &[("from", "31/12/2026")]);
    assert_eq!(problems[0].value.as_deref(), Some("31/12/2026"));
    assert_eq!(
        problems[0].detail,
        "the filter \"from\" takes a date (YYYY-MM-DD) or an instant with its offset from UTC (RFC \
         3339) of the years 0001 to 9999, such as 2026-01-31 or 2026-01-31T09:00:00+09:00 (in an \
         address the + is %2B)"
    );
    let (_, problems) = typed(&report, &[("color", "red")]);
    assert!(problems[0].detail.contains("it takes id, note, "), "{}", problems[0].detail);
}

#[test]
fn only_in_takes_a_parameter_more_than_once() {
    let report = report(LEDGER);
    let values = only(filters(&report, &[("id", "2"), ("id", "1"), ("id", "2")]));
    assert_eq!(values, [Given::Int(2), Given::Int(1)]);
    let (_, problems) = typed(&report, &[("open", "true"), ("open", "true")]);
    assert_eq!(codes(&problems), [("open", "doubled_parameter")]);
    let many: Vec<String> = (0..1_001).map(|number| number.to_string()).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|number| ("id", number.as_str())).collect();
    assert_eq!(codes(&typed(&report, &many).1), [("id", "too_many_values")]);
}

#[test]
fn a_required_filter_that_is_missing_is_told() {
    let text = "from = \"t\"\ncolumns = [{ key = \"at\", type = \"time\" }]\nfilters = [{ name = \
                \"from\", column = \"at\", op = \">=\", required = true }]\n";
    let report = report(text);
    let (_, problems) = typed(&report, &[]);
    assert_eq!(codes(&problems), [("from", "missing_parameter")]);
    assert!(problems[0].detail.contains("from=2026-01-31"), "{}", problems[0].detail);
    assert_eq!(typed(&report, &[("from", "2026-01-31")]).1, Vec::new());
}

#[test]
fn a_number_that_is_too_long_is_told_the_limit() {
    let report = report(LEDGER);
    let most = "1".repeat(1_000);
    assert_eq!(only(filters(&report, &[("amount", &most)])), [Given::Decimal(most)]);
    let problems = typed(&report, &[("amount", &"1".repeat(1_001))]).1;
    assert_eq!(codes(&problems), [("amount", "not_a_decimal")]);
    let detail = &problems[0].detail;
    assert!(detail.contains("1001 characters and takes 1000 at most"), "{detail}");
}
