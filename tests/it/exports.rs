//! `export -o FILE`: one writer, no link followed, nothing left behind.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::Duration;

use crate::support::{Backend, Place, until};

const SOON: Duration = Duration::from_secs(10);

/// A short report, and one that goes on for very long.
async fn place() -> Place {
    let place = Place::new(Backend::Sqlite).await;
    for (name, rows) in [("short", 3), ("long", 1_000_000_000)] {
        let sql = format!(
            "with recursive g(id) as (select 1 union all select id + 1 from g where id < {rows}) \
             select id from g"
        );
        let column = "[[columns]]\nkey = \"id\"\ntype = \"int\"\n";
        place.report(name, &format!("sql = \"{sql}\"\n{column}"));
    }
    place
}

fn to_file<'a>(report: &'a str, file: &'a str) -> [&'a str; 6] {
    ["export", report, "--format", "csv", "-o", file]
}

/// Waits until something was written into the file, and more than that.
async fn grows(file: &Path, beyond: u64) -> u64 {
    until("the file grows", SOON, async || {
        file.metadata().ok().map(|file| file.len()).filter(|size| *size > beyond)
    })
    .await
}

const SHORT: &str = "id\r\n1\r\n2\r\n3\r\n";

#[tokio::test]
async fn a_second_export_into_the_same_file_is_refused_and_the_first_goes_on() {
    let place = place().await;
    let (file, part) = (place.path().join("out.csv"), place.path().join("out.csv.part"));
    let first = place.begin(&[], &to_file("long", "out.csv"));
    let size = grows(&part, 0).await;
    let second = place.tallyroll(&to_file("short", "out.csv")).await;
    assert_eq!(second.code, Some(1), "{}", second.stderr);
    let words = "out.csv.part; let it end, or name another file";
    assert!(second.stderr.contains("another export is writing"), "{}", second.stderr);
    assert!(second.stderr.contains(words), "{}", second.stderr);
    assert!(!file.exists());
    grows(&part, size).await;
    first.kill("TERM");
    assert_eq!(first.finished().await.code, Some(1));
    assert!(!part.exists() && !file.exists());
    place.tallyroll(&to_file("short", "out.csv")).await.expect_success();
    assert_eq!(std::fs::read_to_string(&file).expect("it is there"), SHORT);
}

#[tokio::test]
async fn an_export_that_is_told_to_stop_takes_its_part_with_it() {
    let place = place().await;
    let part = place.path().join("out.csv.part");
    for signal in ["HUP", "INT", "TERM"] {
        // Whoever runs the tests may have had them ignore the end of his terminal.
        let heeding = ["env", "--default-signal=HUP"];
        let export = place.begin(&heeding, &to_file("long", "out.csv"));
        grows(&part, 0).await;
        export.kill(signal);
        let ended = export.finished().await;
        assert_eq!(ended.code, Some(1), "SIG{signal}: {}", ended.stderr);
        assert!(ended.stderr.contains("cancelled"), "SIG{signal}: {}", ended.stderr);
        assert!(!part.exists(), "SIG{signal}");
    }
    let cancelled = "SELECT count(*) FROM tallyroll_runs WHERE state = 'cancelled'";
    assert_eq!(place.state_value(cancelled).await, "3");
}

#[tokio::test]
async fn an_export_begun_by_nohup_outlives_its_terminal() {
    let place = place().await;
    let part = place.path().join("out.csv.part");
    let export = place.begin(&["nohup"], &to_file("long", "out.csv"));
    let size = grows(&part, 0).await;
    export.kill("HUP");
    // Several batches, each of which would have met the end.
    grows(&part, size + (8 << 20)).await;
    export.kill("TERM");
    assert_eq!(export.finished().await.code, Some(1));
    assert!(!part.exists());
}

#[tokio::test]
async fn a_part_that_nobody_writes_gives_way_to_a_fresh_file() {
    let place = place().await;
    let (file, part) = (place.path().join("out.csv"), place.path().join("out.csv.part"));
    let mode = |file: &Path| file.metadata().expect("it is there").permissions().mode() & 0o777;
    place.tallyroll(&to_file("short", "fresh.csv")).await.expect_success();
    let fresh = mode(&place.path().join("fresh.csv"));
    for name in ["left over", "a second name of"] {
        let other = place.write("other.txt", format!("{name}: longer than what is written"));
        std::fs::set_permissions(&other, PermissionsExt::from_mode(0o606))
            .expect("its mode is set");
        if name == "left over" {
            std::fs::rename(&other, &part).expect("it is left over");
        } else {
            std::fs::hard_link(&other, &part).expect("it has a second name");
        }
        place.tallyroll(&to_file("short", "out.csv")).await.expect_success();
        assert_eq!(std::fs::read_to_string(&file).expect("it is there"), SHORT, "{name}");
        assert_eq!(format!("{:o}", mode(&file)), format!("{fresh:o}"), "{name}");
        assert!(!part.exists(), "{name}");
        std::fs::remove_file(&file).expect("it can go");
    }
    let other = std::fs::read_to_string(place.path().join("other.txt")).expect("it is there");
    assert!(other.starts_with("a second name"), "{other}");
}

#[tokio::test]
async fn what_is_no_file_in_the_place_of_a_part_is_neither_followed_nor_removed() {
    let place = place().await;
    let part = place.path().join("out.csv.part");
    let victim = place.write("victim.txt", "as it was");
    for (what, words) in
        [("link", "a symbolic link"), ("dangling", "a symbolic link"), ("directory", "a directory")]
    {
        match what {
            "link" => symlink(&victim, &part).expect("a link can be made"),
            "dangling" => symlink("nowhere", &part).expect("a link can be made"),
            _ => std::fs::create_dir(&part).expect("a directory can be made"),
        }
        let refused = place.tallyroll(&to_file("short", "out.csv")).await;
        assert_eq!(refused.code, Some(1), "{what}: {}", refused.stderr);
        assert!(refused.stderr.contains("out.csv.part is"), "{what}: {}", refused.stderr);
        assert!(refused.stderr.contains(words), "{what}: {}", refused.stderr);
        assert!(
            part.symlink_metadata().is_ok() && !place.path().join("out.csv").exists(),
            "{what}"
        );
        if what == "directory" {
            std::fs::remove_dir(&part).expect("it can go");
        } else {
            std::fs::remove_file(&part).expect("it can go");
        }
    }
    assert_eq!(std::fs::read_to_string(&victim).expect("it is there"), "as it was");
    assert!(!place.path().join("nowhere").exists());
}

#[tokio::test]
async fn a_full_disk_is_told_by_the_name_of_the_file() {
    let place = place().await;
    let full = place.tallyroll(&to_file("long", "/dev/full")).await;
    assert_eq!(full.code, Some(1), "{}", full.stderr);
    assert!(full.stderr.contains("/dev/full: "), "{}", full.stderr);
    let small = place.tallyroll_on_a_small_disk(1 << 20, &to_file("long", "small/out.csv")).await;
    let Some(small) = small else { return };
    assert_eq!(small.code, Some(1), "{}", small.stderr);
    assert!(small.stderr.contains("small/out.csv.part: "), "{}", small.stderr);
    assert!(small.stderr.contains("no space left"), "{}", small.stderr);
}

#[tokio::test]
async fn a_workbook_on_a_full_disk_names_the_setting_and_is_not_told_as_a_crash() {
    let place = place().await;
    let export =
        ["export", "long", "--format", "xlsx", "-o", "out.xlsx", "--temp-dir", "small/tmp"];
    let export = [&export[..], &["--xlsx-writer", "library"]].concat();
    let Some(full) = place.tallyroll_on_a_small_disk(1 << 20, &export).await else { return };
    assert_eq!(full.code, Some(1), "{}", full.stderr);
    assert!(full.stderr.contains("no space left: temp_dir"), "{}", full.stderr);
    assert!(!full.stderr.contains("panicked"), "{}", full.stderr);
    assert!(!place.path().join("out.xlsx").exists());
}
