//! Settings: which of several places wins, and what is said of what cannot be understood.

use std::time::Duration;

use super::*;

/// The settings of a file, with what arguments, variables and `DATABASE_URL` say.
fn settle(file: &str, given: Given, plain_url: Option<&str>) -> Result<Config> {
    given.settle_with(file::parse(file).unwrap(), plain_url.map(str::to_owned))
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
fn workbooks_have_the_writer_that_was_asked_for() {
    let writer = |file| settle(file, Given::default(), None);
    assert_eq!(writer("").unwrap().xlsx_writer, XlsxWriter::Poured);
    assert_eq!(writer("xlsx_writer = \"library\"").unwrap().xlsx_writer, XlsxWriter::Library);
    let said = detail(writer("xlsx_writer = \"quill\""));
    assert!(
        said.contains("xlsx_writer is \"quill\"") && said.contains("poured, library"),
        "{said}"
    );
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

#[test]
fn a_number_that_is_none_is_told_with_what_is_taken() {
    for (file, words) in [
        (
            "streams = \"abc\"",
            "streams is \"abc\"; it takes a whole number of at least 1, such as 48",
        ),
        ("streams = \"\"", "streams is empty; it takes"),
        ("streams = -1", "streams is \"-1\""),
        ("builds = 1.5", "builds is \"1.5\""),
        ("queue = true", "queue is \"true\"; it takes a whole number of at least 0, such as 200"),
        (
            "xlsx_level = 300",
            "xlsx_level is \"300\"; it takes a whole number from 1 to 9, such as 2",
        ),
        ("import_max_columns = 0", "import_max_columns is \"0\""),
        ("import_max_rows = \"many\"", "import_max_rows is \"many\""),
        ("queue_wait = true", "queue_wait is \"true\", which is not a duration"),
        ("spool_cap = \"\"", "spool_cap is empty, which is not a size"),
    ] {
        let said = detail(settle(file, Given::default(), None));
        assert!(said.contains(words), "{file}: {said}");
        assert_eq!(said.lines().count(), 1, "{file}: {said}");
    }
    let given = Given { streams: Some("".parse().unwrap()), ..Given::default() };
    assert!(detail(settle("", given, None)).contains("streams is empty"));
    assert_eq!(settle("streams = \"7\"", Given::default(), None).unwrap().streams, 7);
    assert_eq!(settle("queue = 0", Given::default(), None).unwrap().queue, 0);
}

#[test]
fn what_would_have_every_request_fail_is_refused_and_a_zero_with_a_meaning_is_taken() {
    for (setting, words) in [
        ("first_row_timeout", "every query would be too slow"),
        ("stall_timeout", "every client would be too slow"),
        ("keep_prepared", "no prepared file"),
        ("spool_cap", "no file could ever be built"),
        ("max_upload", "no file could be taken in"),
        ("max_inflated", "no file could be taken in"),
        ("import_max_text", "no file could be taken in"),
    ] {
        let zero = if words.contains("file could") { "0" } else { "0s" };
        let said = detail(settle(&format!("{setting} = \"{zero}\""), Given::default(), None));
        assert!(said.contains(&format!("{setting} is 0, so {words}")), "{said}");
        assert!(said.contains("such as "), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    let file = "queue_wait = \"0s\"\nshutdown_timeout = \"0s\"\nkeep_runs = \"0s\"";
    let config = settle(file, Given::default(), None).unwrap();
    assert_eq!(config.queue_wait + config.shutdown_timeout + config.keep_runs, Duration::ZERO);
}

#[test]
fn a_setting_of_another_type_is_told_by_its_line_its_name_and_an_example() {
    for (text, words) in [
        (
            "# ours\nlisten = 8080",
            ", line 2: listen is 8080, which is not of its type; write listen = \"127.0.0.1:8080\"",
        ),
        ("auth = false", "write auth = \"required\""),
        ("log = [\"a\"]", "write log = \"info\""),
        ("databases = 7", "write databases = { replica"),
        (
            "[databases]\nreplica = 7",
            "line 2: replica is 7, which is not of its type; write replica = ",
        ),
        ("streams = [1]", "streams is [1], which is not of its type"),
    ] {
        let said = file::parse(text).unwrap_err();
        assert!(said.contains(words), "{text}: {said}");
        assert!(!said.contains("usize") && !said.contains("u8"), "{said}");
    }
    let said = file::parse("time_zon = \"UTC\"").unwrap_err();
    assert!(said.contains("time_zon") && said.contains("time_zone"), "{said}");
}
