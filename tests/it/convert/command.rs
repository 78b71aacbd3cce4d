//! `tallyroll convert`: what it writes, how it exits.

use crate::support::{Backend, Place, on_every_backend};

const CSV: &str = "번호,이름\r\n007,한빛\r\n";
const LINE: &str = "{\"번호\":\"007\",\"이름\":\"한빛\"}\n";

fn names(place: &Place) -> Vec<String> {
    let entries = std::fs::read_dir(place.path()).expect("it is there").flatten();
    let mut names: Vec<_> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort_unstable();
    names
}

#[tokio::test]
async fn a_file_is_converted_by_the_ending_of_the_other_and_the_run_is_recorded() {
    on_every_backend(async |place| {
        place.write("in.txt", CSV);
        place.tallyroll(&["convert", "in.txt", "-o", "out.ndjson"]).await.expect_success();
        assert_eq!(std::fs::read_to_string(place.path().join("out.ndjson")).expect("a file"), LINE);
        let run = "SELECT concat(kind, ' ', name, ' ', state, ' ', caller) FROM tallyroll_runs";
        let run = place.backend().pick(
            "SELECT kind || ' ' || name || ' ' || state || ' ' || caller FROM tallyroll_runs",
            run,
            run,
        );
        assert_eq!(place.state_value(run).await, "convert ndjson complete cli:tester");
        // There and back through a workbook.
        let there = ["convert", "out.ndjson", "-o", "out.xlsx"];
        place.tallyroll(&there).await.expect_success();
        let back = ["convert", "out.xlsx", "-o", "-", "--to", "csv", "--param", "rename=이름:name"];
        let back = place.tallyroll(&back).await.expect_success();
        assert_eq!(back.text(), "번호,name\r\n007,한빛\r\n");
        assert!(names(&place).iter().all(|name| !name.contains("part")), "{:?}", names(&place));
        let temporary = std::fs::read_dir(place.data().join("tmp")).expect("it is there");
        assert_eq!(temporary.count(), 0);
    })
    .await;
}

#[tokio::test]
async fn a_kept_mapping_is_known_at_the_command_line_too() {
    on_every_backend(async |place| {
        let server = crate::support::Server::start(&place, &[]).await;
        let body = "{\"columns\":[{\"from\":\"이름\",\"to\":\"name\"}]}";
        let kept = server.send(reqwest::Method::PUT, "/api/v1/headers/m", body).await;
        assert_eq!(kept.status, 201);
        server.stop().await;
        place.write("in.csv", CSV);
        let convert = ["convert", "in.csv", "-o", "-", "--to", "ndjson", "--param", "headers=m"];
        let converted = place.tallyroll(&convert).await.expect_success();
        assert_eq!(converted.text(), "{\"name\":\"한빛\",\"번호\":\"007\"}\n");
    })
    .await;
}

#[tokio::test]
async fn what_is_refused_leaves_the_file_that_was_there_and_says_why() {
    let place = Place::new(Backend::Sqlite).await;
    place.write("late.ndjson", "{\"a\":1}\n{\"b\":2}\n");
    place.write("out.csv", "as it was");
    place.write("empty.csv", "");
    for (arguments, code, words) in [
        (vec!["late.ndjson", "-o", "out.csv"], 1, "line 2 has the key \"b\""),
        (vec!["late.ndjson", "-o", "out.csv", "--to", "pdf"], 1, "\"to\" is \"pdf\""),
        (vec!["late.ndjson", "-o", "out.csv", "--param", "headers=x"], 1, "no mapping"),
        (vec!["late.ndjson", "-o", "out.csv", "--param", "rename=a"], 1, "not old:new"),
        (vec!["empty.csv", "-o", "out.csv"], 1, "the file is empty"),
        (vec!["nothing.csv", "-o", "out.csv"], 1, "nothing.csv cannot be read"),
        (vec![".", "-o", "out.csv"], 1, ". is no plain file"),
        (vec!["late.ndjson", "-o", "out"], 2, "say it with --to"),
        (vec!["late.ndjson", "-o", "-"], 2, "say it with --to"),
        (vec!["late.ndjson"], 2, "--output"),
        (vec!["late.ndjson", "-o", "out.csv", "--param", "columns"], 2, "NAME=VALUE"),
    ] {
        let refused = place.tallyroll(&[&["convert"], &arguments[..]].concat()).await;
        assert_eq!(refused.code, Some(code), "{arguments:?}: {}", refused.stderr);
        assert!(refused.stderr.contains(words), "{arguments:?}: {}", refused.stderr);
        assert_eq!(refused.text(), "");
        let kept = std::fs::read_to_string(place.path().join("out.csv")).expect("it is there");
        assert_eq!(kept, "as it was", "{arguments:?}");
        assert!(!place.path().join("out.csv.part").exists(), "{arguments:?}");
    }
    let failed = "SELECT count(*) FROM tallyroll_runs WHERE state = 'failed' AND kind = 'convert'";
    assert_eq!(place.state_value(failed).await, "2");
}

#[tokio::test]
async fn a_file_may_be_converted_into_itself() {
    let place = Place::new(Backend::Sqlite).await;
    place.write("rows.csv", "a;b\n1;2\n");
    let convert = ["convert", "rows.csv", "-o", "rows.csv", "--param", "delimiter=|"];
    place.tallyroll(&convert).await.expect_success();
    let file = std::fs::read_to_string(place.path().join("rows.csv")).expect("a file");
    assert_eq!(file, "a|b\r\n1|2\r\n");
}
