//! The command line: what it says, what it writes, how it exits.

mod check;

use std::path::Path;

use crate::rows::sha256;
use crate::support::{Backend, Place, Server, curl, on_every_backend};

#[tokio::test]
async fn an_export_is_what_the_server_would_send() {
    on_every_backend(async |place| {
        place.demo(5_000).await;
        let server = Server::start(&place, &[]).await;
        let file = place.path().join("out file.csv");
        let filters =
            ["--filter", "kind=payment", "--filter", "method=휴대폰", "--filter", "method=카드"];
        let parameters =
            "kind=payment&method=%ED%9C%B4%EB%8C%80%ED%8F%B0&method=%EC%B9%B4%EB%93%9C";
        for format in ["csv", "ndjson", "json"] {
            let sent = server
                .get(&format!("/api/v1/reports/settlements/rows?format={format}&{parameters}"))
                .await;
            assert!(sent.body.len() > 1_000, "there are such lines");
            let target = file.to_str().expect("UTF-8");
            let to_file =
                [&["export", "settlements", "--format", format, "-o", target], &filters[..]]
                    .concat();
            let written = place.tallyroll(&to_file).await.expect_success();
            assert_eq!(written.text(), "", "nothing but the file");
            assert!(
                std::fs::read(&file).expect("the file is there") == sent.body,
                "{format} into a file"
            );
            let to_stdout =
                [&["export", "settlements", "--format", format, "-o", "-"], &filters[..]].concat();
            let written = place.tallyroll(&to_stdout).await.expect_success();
            assert!(written.stdout == sent.body, "{format} to standard output");
            assert_no_part(&place);
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn an_export_is_a_run_of_the_person_at_the_command_line() {
    on_every_backend(async |place| {
        place.demo(100).await;
        let arguments =
            ["export", "settlements", "--format", "ndjson", "-o", "-", "--param", "columns=id"];
        let written = place.tallyroll(&arguments).await.expect_success();
        let run =
            "caller || ' ' || kind || ' ' || name || ' ' || state || ' ' || \"rows\" || ' ' || sha256";
        let run = place.state_value(&format!("SELECT {run} FROM tallyroll_runs")).await;
        assert_eq!(
            run,
            format!("cli:tester export settlements complete 100 {}", sha256(&written.stdout))
        );
    })
    .await;
}

#[tokio::test]
async fn parameters_of_the_rows_hold_for_an_export_too() {
    on_every_backend(async |place| {
        place.demo(3).await;
        let arguments = [
            "export",
            "settlements",
            "--format",
            "csv",
            "-o",
            "-",
            "--param",
            "columns=id,paid_at",
        ];
        let more = ["--param", "tz=UTC", "--param", "header=key", "--param", "delimiter=;"];
        let written = place.tallyroll(&[&arguments[..], &more].concat()).await.expect_success();
        let first: Vec<&str> = written.text().lines().take(2).collect();
        assert_eq!(first[0], "id;paid_at");
        assert!(first[1].starts_with("1;20") && first[1].ends_with('Z'), "{first:?}");
    })
    .await;
}

fn assert_no_part(place: &Place) {
    let parts = std::fs::read_dir(place.path())
        .expect("a directory")
        .flatten()
        .map(|entry| entry.file_name());
    let parts: Vec<_> = parts.filter(|name| name.to_string_lossy().ends_with(".part")).collect();
    assert!(parts.is_empty(), "{parts:?}");
}

#[tokio::test]
async fn an_export_that_fails_leaves_no_file_and_keeps_the_one_that_was_there() {
    on_every_backend(async |place| {
        let sql = place.backend().pick(
            "with recursive g(id) as (select 1 union all select id + 1 from g where id < 9000) \
             select id, case when id = 5001 then 'x' else 1 end as x from g",
            "select id, 1 / (5001 - id) as x from generate_series(1, 9000) as g (id)",
            "select seq as id, abs(if(seq = 5001, -9223372036854775807 - 1, 0)) as x \
             from seq_1_to_9000",
        );
        let columns =
            "[[columns]]\nkey = \"id\"\ntype = \"int\"\n[[columns]]\nkey = \"x\"\ntype = \"int\"\n";
        place.report("fails", &format!("sql = \"{sql}\"\n{columns}"));
        let export = async |target: &Path| {
            let target = target.to_str().expect("UTF-8");
            let failed =
                place.tallyroll(&["export", "fails", "--format", "csv", "-o", target]).await;
            assert_eq!(failed.code, Some(1), "{}", failed.stderr);
            assert!(failed.stderr.starts_with("tallyroll: "), "{}", failed.stderr);
            assert_no_part(&place);
        };
        let (new, old) = (place.path().join("new.csv"), place.write("old.csv", "kept"));
        export(&new).await;
        assert!(!new.exists());
        export(&old).await;
        assert_eq!(std::fs::read_to_string(&old).expect("it is there"), "kept");
        let to_stdout = place.tallyroll(&["export", "fails", "--format", "csv", "-o", "-"]).await;
        assert_eq!(to_stdout.code, Some(1));
        assert_eq!(
            place.state_value("SELECT count(*) FROM tallyroll_runs WHERE state = 'failed'").await,
            "3"
        );
    })
    .await;
}

#[tokio::test]
async fn what_is_refused_exits_1_and_what_is_used_wrongly_exits_2() {
    on_every_backend(async |place| {
        place.demo(3).await;
        let export = ["export", "settlements", "--format", "csv", "-o", "x.csv"];
        let with = |more: &[&'static str]| [&export[..], more].concat();
        let refused = [
            (
                vec!["export", "none", "--format", "csv", "-o", "x.csv"],
                "there is no report \"none\"",
            ),
            (vec!["export", "settlements", "--format", "pdf", "-o", "x.csv"], "ndjson, json, csv"),
            (with(&["--filter", "from=31/12/2026"]), "from"),
            (with(&["--filter", "colour=red"]), "colour"),
            (with(&["--param", "columns=nope"]), "nope"),
            (
                vec!["export", "settlements", "--format", "csv", "-o", "no/such/directory/x.csv"],
                "no/such/directory",
            ),
            (vec!["export", "settlements", "--format", "csv", "-o", "definitions"], "definitions"),
            (vec!["export", "settlements", "--format", "csv", "-o", ""], "such as lines.csv"),
            (vec!["check", "--time-zone", "Mars/Olympus"], "time_zone"),
            (vec!["check", "--stall-timeout", "soon"], "stall_timeout"),
            (vec!["check", "--stall-timeout", "5"], "\"5s\""),
            (vec!["check", "--xlsx-writer", "quill"], "library"),
            (vec!["serve", "--demo", "--auth", "required"], "--demo"),
            (vec!["check", "--database-url", "sqlite::memory:"], "database_url"),
            (vec!["check", "--database-url", "oracle://x"], "database_url"),
            (vec!["check", "--config", "none.toml"], "none.toml"),
        ];
        for (arguments, words) in refused {
            let refused = place.tallyroll(&arguments).await;
            assert_eq!(refused.code, Some(1), "{arguments:?}: {}", refused.stderr);
            assert!(refused.stderr.contains(words), "{arguments:?}: {}", refused.stderr);
            assert_eq!(refused.text(), "", "{arguments:?}");
        }
        assert!(!place.path().join("x.csv").exists());
        let misused = [
            vec![],
            vec!["dance"],
            vec!["export", "settlements"],
            vec!["export", "settlements", "--format", "csv"],
            vec!["demo"],
            vec!["demo", "--rows", "many"],
            vec!["check", "--colour", "red"],
            vec!["serve", "--auth", "perhaps"],
            with(&["--filter", "from"]),
            with(&["--param", "columns"]),
        ];
        for arguments in misused {
            let misused = place.tallyroll(&arguments).await;
            assert_eq!(misused.code, Some(2), "{arguments:?}: {}", misused.stderr);
        }
        let pair = place.tallyroll(&with(&["--filter", "from"])).await;
        assert!(pair.stderr.contains("NAME=VALUE"), "{}", pair.stderr);
        assert!(!place.path().join("x.csv").exists());
    })
    .await;
}

#[tokio::test]
async fn a_setting_that_cannot_be_is_refused_by_its_name_with_what_it_takes() {
    let place = Place::new(Backend::Sqlite).await;
    let refused = [
        (
            vec!["check", "--streams", "0"],
            "streams is \"0\"; it takes a whole number of at least 1",
        ),
        (vec!["check", "--streams", "abc"], "streams is \"abc\"; it takes a whole number"),
        (
            vec!["check", "--xlsx-level", "10"],
            "xlsx_level is \"10\"; it takes a whole number from 1",
        ),
        (vec!["check", "--first-row-timeout", "0s"], "every query would be too slow"),
        (vec!["check", "--stall-timeout", "0s"], "every client would be too slow"),
        (vec!["check", "--keep-prepared", "0s"], "keep_prepared is 0"),
        (vec!["check", "--spool-cap", "0"], "spool_cap is 0"),
        (
            vec!["check", "--temp-dir", "/dev/null"],
            "temp_dir leads to /dev/null, which is no directory",
        ),
        (vec!["check", "--data-dir", "/dev/null/x"], "data_dir leads to /dev/null/x, which cannot"),
        (vec!["ops", "nginx", "--server-name", "*"], "*.example.com"),
    ];
    for (arguments, words) in refused {
        let refused = place.tallyroll(&arguments).await;
        assert_eq!(refused.code, Some(1), "{arguments:?}: {}", refused.stderr);
        assert!(refused.stderr.contains(words), "{arguments:?}: {}", refused.stderr);
    }
    let zeros = ["--queue-wait=0s", "--shutdown-timeout=0s", "--queue=0"];
    place.tallyroll(&[&["check"], &zeros[..]].concat()).await.expect_success();
}

#[tokio::test]
async fn settings_are_taken_from_argument_environment_and_file_in_this_order() {
    let place = Place::new(Backend::Sqlite).await;
    place.demo(1).await;
    place.write("tallyroll.toml", "time_zone = \"UTC\"\n");
    let export =
        ["export", "settlements", "--format", "csv", "-o", "-", "--param", "columns=paid_at"];
    let filed = place.tallyroll(&export).await.expect_success();
    assert!(filed.text().trim_end().ends_with('Z'), "{}", filed.text());
    let argued = [&export[..], &["--time-zone", "Asia/Seoul"]].concat();
    let argued = place.tallyroll(&argued).await.expect_success();
    assert!(argued.text().trim_end().ends_with("+09:00"), "{}", argued.text());
    place.write("tallyroll.toml", "time_zon = \"UTC\"\n");
    let misspelled = place.tallyroll(&export).await;
    assert_eq!(misspelled.code, Some(1));
    assert!(misspelled.stderr.contains("time_zon"), "{}", misspelled.stderr);
}

#[tokio::test]
async fn a_setting_without_its_unit_is_told_by_name_also_in_a_file() {
    let place = Place::new(Backend::Sqlite).await;
    place.write("tallyroll.toml", "queue_wait = 5\n");
    let checked = place.tallyroll(&["check"]).await;
    assert_eq!(checked.code, Some(1));
    assert!(checked.stderr.contains("queue_wait is 5 without a unit"), "{}", checked.stderr);
}

#[tokio::test]
async fn an_example_is_not_served_openly_where_the_file_asks_for_keys() {
    let place = Place::new(Backend::Sqlite).await;
    place.write("tallyroll.toml", "auth = \"required\"\n");
    let refused = place.tallyroll(&["serve", "--demo", "--listen", "127.0.0.1:0"]).await;
    assert_eq!((refused.code, refused.text()), (Some(1), ""));
    assert!(refused.stderr.contains("auth is set to \"required\""), "{}", refused.stderr);
}

#[tokio::test]
async fn what_was_counted_is_said_in_the_singular_where_it_is_one() {
    let place = Place::new(Backend::Sqlite).await;
    let checked = place.tallyroll(&["check"]).await.expect_success();
    assert!(
        checked.text().contains("1 report, 1 import, 2 documents, 0 faults, 0 databases away"),
        "{}",
        checked.text()
    );
    place.report("broken", "from = 7\n");
    let checked =
        place.tallyroll(&["check", "--database-url", "sqlite:///nowhere/at/all.db"]).await;
    let last = checked.text().lines().last().unwrap_or_default().to_owned();
    assert!(last.ends_with(" 1 database away"), "{last}");
}

#[tokio::test]
async fn a_report_may_read_another_database_by_name() {
    let place = Place::new(Backend::Sqlite).await;
    place.demo(3).await;
    let other = place.path().join("other.db");
    let connection = rusqlite::Connection::open(&other).expect("a file");
    connection
        .execute_batch("CREATE TABLE o (id integer); INSERT INTO o VALUES (7)")
        .expect("a table");
    drop(connection);
    place.write(
        "tallyroll.toml",
        format!("[databases]\nreplica = \"sqlite://{}\"\n", other.display()),
    );
    let column = "[[columns]]\nkey = \"id\"\ntype = \"int\"\n";
    place.report("o", &format!("from = \"o\"\ndatabase = \"replica\"\n{column}"));
    place.tallyroll(&["check"]).await.expect_success();
    let server = Server::start(&place, &[]).await;
    assert_eq!(server.get("/api/v1/reports/o/rows").await.text(), "{\"id\":7}\n");
    let ready = server.json("/health/ready").await;
    assert_eq!(ready["databases"]["databases.replica"], "ok");
    server.stop().await;
}

#[tokio::test]
async fn curl_saves_a_complete_download_under_its_name_and_exits_0() {
    on_every_backend(async |place| {
        place.demo(2_000).await;
        let server = Server::start(&place, &[]).await;
        let url = server.url("/api/v1/reports/settlements/rows?format=csv&filename=lines");
        let directory = place.path().to_str().expect("UTF-8");
        curl(&["-OJ", "--fail", "--compressed", "--output-dir", directory, &url])
            .await
            .expect_success();
        let saved = std::fs::read(place.path().join("lines.csv")).expect("it has its name");
        assert!(saved == server.get("/api/v1/reports/settlements/rows?format=csv").await.body);
        server.stop().await;
    })
    .await;
}
