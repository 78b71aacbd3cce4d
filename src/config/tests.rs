//! Settings: which of several places wins, and what is said of what cannot be understood.

use std::time::Duration;

use super::*;

/// The settings of a file, with what arguments, variables and `DATABASE_URL` say.
fn settle(file: &str, given: Given, plain_url: Option<&str>) -> Result<Config> {
    given.settle_with(toml::from_str(file).unwrap(), plain_url.map(str::to_owned))
}

fn detail(settled: Result<Config>) -> String {
    match settled {
        Err(Error::Invalid(problems)) => {
            problems.into_iter().map(|problem| problem.detail).collect::<Vec<_>>().join("\n")
        }
        other => panic!("it is refused, not {other:?}"),
    }
}

#[test]
fn an_argument_or_variable_comes_before_the_plain_variable_and_that_before_the_file() {
    let file = "database_url = \"sqlite://file.db\"";
    let given = || Given { database_url: Some("sqlite://given.db".into()), ..Given::default() };
    let main = |settled: Result<Config>| settled.unwrap().databases[""].clone();
    assert_eq!(main(settle(file, given(), Some("sqlite://plain.db"))), "sqlite://given.db");
    assert_eq!(
        main(settle(file, Given::default(), Some("sqlite://plain.db"))),
        "sqlite://plain.db"
    );
    assert_eq!(main(settle(file, Given::default(), None)), "sqlite://file.db");
    let none = settle("", Given::default(), None).unwrap();
    assert!(none.own_database && none.databases[""].ends_with("business.db"));
}

#[test]
fn a_duration_without_a_unit_is_told_by_name_and_with_a_way_out() {
    for file in ["queue_wait = 5", "queue_wait = \"5\""] {
        let said = detail(settle(file, Given::default(), None));
        assert!(said.contains("queue_wait is 5 without a unit"), "{said}");
        assert!(said.contains("\"5s\""), "{said}");
    }
    let given = Given { queue_wait: Some("5".parse().unwrap()), ..Given::default() };
    assert!(detail(settle("", given, None)).contains("\"5s\""));
    let said = detail(settle("keep_runs = \"soon\"\nqueue_wait = 7", Given::default(), None));
    assert_eq!(said.lines().count(), 2, "every fault at once: {said}");
}

#[test]
fn durations_and_sizes_are_read_with_their_units() {
    let file = "queue_wait = \"250ms\"\nkeep_runs = \"2d\"\nspool_cap = \"3MiB\"";
    let config = settle(file, Given::default(), None).unwrap();
    assert_eq!(config.queue_wait, Duration::from_millis(250));
    assert_eq!(config.keep_runs, Duration::from_hours(48));
    assert_eq!(config.spool_cap, 3 << 20);
    assert_eq!(settle("spool_cap = 1024", Given::default(), None).unwrap().spool_cap, 1024);
}

#[test]
fn workbooks_have_the_writer_that_there_is() {
    let writer = |file| settle(file, Given::default(), None);
    assert_eq!(writer("").unwrap().xlsx_writer, XlsxWriter::Library);
    assert_eq!(writer("xlsx_writer = \"library\"").unwrap().xlsx_writer, XlsxWriter::Library);
    let said = detail(writer("xlsx_writer = \"quill\""));
    assert!(said.contains("xlsx_writer is \"quill\"") && said.contains("library"), "{said}");
}

#[test]
fn a_default_of_auth_is_told_from_one_that_was_asked_for() {
    let auth = |file| {
        let config = settle(file, Given::default(), None).unwrap();
        (config.auth, config.auth_by_default)
    };
    assert_eq!(auth(""), (Auth::Required, true));
    assert_eq!(auth("auth = \"required\""), (Auth::Required, false));
    assert_eq!(auth("auth = \"off\""), (Auth::Off, false));
}
