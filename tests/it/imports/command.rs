//! `tallyroll import`: what it says, what it stores, how it exits.

use std::process::Command;
use std::time::Duration;

use super::{count, transactions};
use crate::support::{Place, Workbook, on_every_backend, until};

const HEADER: &str = "거래번호,거래처명,수량,금액,거래일자\n";
const SOON: Duration = Duration::from_secs(20);

/// Two rows that are good and one between them that is not.
fn mixed() -> String {
    format!(
        "{HEADER}A-1,한빛,1,1.50,2026-01-05\nA-2,대한,many,x,2026-01-05\nA-3,한빛,3,1.50,2026-01-05\n"
    )
}

/// Names in the temporary directory.
fn left(place: &Place) -> Vec<String> {
    let entries = std::fs::read_dir(place.data().join("tmp")).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[tokio::test]
async fn rows_are_stored_and_the_run_says_who_did_it() {
    on_every_backend(async |place| {
        transactions(&place).await;
        place.write("good.csv", format!("{HEADER}A-1,한빛,1,1.50,2026-01-05\n"));
        let trial = ["import", "transactions", "good.csv", "--dry-run"];
        let tried = place.tallyroll(&trial).await.expect_success();
        assert!(
            tried.text().starts_with("rows: 1 read, 1 inserted, 0 updated"),
            "{}",
            tried.text()
        );
        assert!(tried.text().contains("nothing was stored"), "{}", tried.text());
        assert_eq!(count(&place, "transactions").await, "0");
        let done = place.tallyroll(&trial[..3]).await.expect_success();
        assert_eq!(done.text(), "rows: 1 read, 1 inserted, 0 updated, 0 unchanged, 0 rejected\n");
        assert_eq!(count(&place, "transactions").await, "1");
        let runs = "SELECT count(*) FROM tallyroll_runs WHERE kind = 'import' \
                    AND caller = 'cli:tester' AND state = 'complete' AND name = 'transactions'";
        assert_eq!(place.state_value(runs).await, "2");
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/");
        let book = format!("{path}009-xlsx-header-spellings/upload.xlsx");
        let of_sheet = ["import", "transactions", &book, "--sheet", "1", "--header-row", "1"];
        let done = place.tallyroll(&of_sheet).await.expect_success();
        assert!(!done.text().contains(" 0 inserted"), "{}", done.text());
        assert!(std::path::Path::new(&book).exists(), "the file stays where it is");
        let input = place.write("more.csv", format!("{HEADER}Z-9,한빛,1,1.50,2026-01-05\n"));
        let piped = place.tallyroll_fed(&["import", "transactions", "-"], &input).await;
        assert!(piped.expect_success().text().starts_with("rows: 1 read, 1 inserted"));
        assert_eq!(left(&place), Vec::<String>::new());
    })
    .await;
}

#[tokio::test]
async fn problems_are_printed_and_the_rejected_rows_are_written_where_they_are_wanted() {
    on_every_backend(async |place| {
        transactions(&place).await;
        place.write("mixed.csv", mixed());
        let import = |more: &'static [&'static str]| {
            [&["import", "transactions", "mixed.csv"][..], more].concat()
        };
        let refused = place.tallyroll(&import(&["--problems", "wrong.csv"])).await;
        assert_eq!(refused.code, Some(1), "{}", refused.text());
        let said = "tallyroll: 1 of 3 rows has problems; nothing was stored";
        assert!(refused.stderr.starts_with(said), "{}", refused.stderr);
        let printed = refused.text();
        assert!(printed.starts_with("rows: 3 read, 0 inserted, 0 updated"), "{printed}");
        assert!(printed.contains("\nrow 3, 수량 \"many\": "), "{printed}");
        assert!(printed.contains("\nrow 3, 금액 \"x\": "), "{printed}");
        assert_eq!(count(&place, "transactions").await, "0");
        let wrong = std::fs::read_to_string(place.path().join("wrong.csv")).expect("it is there");
        assert!(wrong.contains("A-2") && !wrong.contains("A-1"), "{wrong}");

        let skip = import(&["--on-problem", "skip", "--problems", "wrong.xlsx"]);
        let skipped = place.tallyroll(&skip).await.expect_success();
        assert!(skipped.text().starts_with("rows: 3 read, 2 inserted"), "{}", skipped.text());
        assert_eq!(count(&place, "transactions").await, "2");
        let book = std::fs::read(place.path().join("wrong.xlsx")).expect("it is there");
        assert_eq!(Workbook::new(&book).sheets()[0].1.len(), 2, "the header and the row at fault");

        // Mended, what was written is taken.
        place.write("mended.csv", wrong.replace("many", "7").replace(",x,", ",9.99,"));
        let mended = ["import", "transactions", "mended.csv", "--problems", "none.ndjson"];
        let mended = place.tallyroll(&mended).await.expect_success();
        assert!(mended.text().contains("none.ndjson was not written"), "{}", mended.text());
        assert_eq!(count(&place, "transactions").await, "3");
        for name in ["none.ndjson", "none.ndjson.part", "wrong.csv.part", "wrong.xlsx.part"] {
            assert!(!place.path().join(name).exists(), "{name}");
        }
        let many = format!("{HEADER}{}", ",,,,\n ,x,x,x,x\n".repeat(5));
        place.write("mixed.csv", many);
        let refused = place.tallyroll(&import(&[])).await;
        let rows = refused.text().lines().filter(|line| line.starts_with("row ")).count();
        assert_eq!(rows, 10, "{}", refused.text());
        assert!(refused.text().contains("more; --problems FILE writes"), "{}", refused.text());
        assert_eq!(left(&place), Vec::<String>::new());
    })
    .await;
}

#[tokio::test]
async fn wrong_usage_is_told_from_what_is_refused() {
    on_every_backend(async |place| {
        transactions(&place).await;
        place.write("good.csv", format!("{HEADER}A-1,한빛,1,1.50,2026-01-05\n"));
        let good = ["import", "transactions", "good.csv"];
        for wrong in [
            &["--on-problem", "stop"][..],
            &["--header-row", "0"],
            &["--sheet", ""],
            &["--problems", "wrong.pdf"],
            &["--problems", "-"],
            &["one.csv"],
        ] {
            let told = place.tallyroll(&[&good[..], wrong].concat()).await;
            assert_eq!(told.code, Some(2), "{wrong:?}: {}", told.stderr);
        }
        for (refused, words) in [
            (["import", "nothing", "good.csv"], "there is no import \"nothing\""),
            (["import", "transactions", "gone.csv"], "gone.csv cannot be read"),
            (["import", "transactions", "."], "cannot be read"),
            (["import", "transactions", "/dev/null"], "the file is empty"),
        ] {
            let told = place.tallyroll(&refused).await;
            assert_eq!(told.code, Some(1), "{refused:?}: {}", told.stderr);
            assert!(told.stderr.contains(words), "{refused:?}: {}", told.stderr);
            assert!(told.stdout.is_empty(), "{refused:?}: {}", told.text());
        }
        let nowhere = [&good[..], &["--problems", "no/such/place.csv"]].concat();
        let told = place.tallyroll(&nowhere).await;
        assert_eq!((told.code, count(&place, "transactions").await), (Some(1), "0".into()));
        assert_eq!(left(&place), Vec::<String>::new());
    })
    .await;
}

#[tokio::test]
async fn one_that_is_told_to_stop_stores_nothing_and_leaves_nothing() {
    on_every_backend(async |place| {
        transactions(&place).await;
        // Nobody ever writes into it.
        let pipe = place.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().is_ok_and(|made| made.success()));
        for signal in ["INT", "TERM"] {
            let import = place.begin(&[], &["import", "transactions", "pipe"]);
            until("it takes the file in", SOON, async || (!left(&place).is_empty()).then_some(()))
                .await;
            import.kill(signal);
            let ended = import.finished().await;
            assert_eq!(ended.code, Some(1), "SIG{signal}: {}", ended.stderr);
            assert!(ended.stderr.contains("cancelled"), "SIG{signal}: {}", ended.stderr);
            assert_eq!(left(&place), Vec::<String>::new());
        }
        let rows: String =
            (0..200_000).map(|row| format!("A-{row},한빛,1,1.50,2026-01-05\n")).collect();
        place.write("long.csv", format!("{HEADER}{rows}"));
        let import =
            place.begin(&[], &["import", "transactions", "long.csv", "--problems", "w.csv"]);
        let begun = "SELECT count(*) FROM tallyroll_runs WHERE kind = 'import'";
        until("its run has begun", SOON, async || {
            (place.state_value(begun).await == "1").then_some(())
        })
        .await;
        import.kill("TERM");
        let ended = import.finished().await;
        assert_eq!(ended.code, Some(1), "{}\n{}", ended.text(), ended.stderr);
        assert!(ended.stderr.contains("cancelled"), "{}", ended.stderr);
        let cancelled = format!("{begun} AND state = 'cancelled'");
        assert_eq!(place.state_value(&cancelled).await, "1");
        assert_eq!(count(&place, "transactions").await, "0");
        assert!(!place.path().join("w.csv.part").exists() && !place.path().join("w.csv").exists());
        assert_eq!(left(&place), Vec::<String>::new());
    })
    .await;
}
