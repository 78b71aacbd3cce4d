//! `check` on imports: their tables, columns and references as the database has them, and their examples.

use super::{TRANSACTIONS, stop, transactions};
use crate::support::{Server, on_every_backend};

const GOOD: &str = "into = \"merchants\"\nkey = [\"id\"]\n[[columns]]\nkey = \"id\"\ntype = \"int\"\nrequired = true\n";

#[tokio::test]
async fn every_fault_is_named_with_file_line_and_remedy() {
    on_every_backend(async |place| {
        place.demo(5).await;
        transactions(&place).await;
        place.import("good", GOOD);
        place.tallyroll(&["check"]).await.expect_success();
        let column = |key: &str, rules: &str| {
            format!("[[columns]]\nkey = \"{key}\"\ntype = \"text\"\n{rules}\n")
        };
        place.import("a", &GOOD.replace("merchants", "merchantz"));
        place.import("b", &format!("{GOOD}{}", column("nmae", "")));
        place.import("c", &format!("{GOOD}{}", column("name", "references = \"nothing.id\"")));
        place.import(
            "d",
            &format!("{GOOD}{}", column("name", "references = \"merchants.nothing\"")),
        );
        place.import(
            "e",
            &format!("{GOOD}{}", column("name", "max_length = 2\nexample = \"too long\"")),
        );
        place.import("f", &format!("database = \"replica\"\n{GOOD}"));
        place.import("g", &GOOD.replace("\"id\"", "\"code\""));
        place.import("h", &TRANSACTIONS.replace("column = \"day\"", "column = \"dat\""));
        let checked = place.tallyroll(&["check"]).await;
        assert_eq!(checked.code, Some(1), "{}", checked.text());
        let expected = [
            ("imports/a.toml:1: ", "merchantz", "correct \"into\", or make the table"),
            ("imports/b.toml:8: ", "\"nmae\"", "add it to the table"),
            ("imports/c.toml:10: ", "\"nothing\"", "correct \"references\""),
            (
                "imports/d.toml:10: ",
                "\"nothing\" of the table \"merchants\"",
                "correct \"references\"",
            ),
            ("imports/e.toml:8: ", "example", "write one that is taken"),
            ("imports/f.toml:2: ", "\"replica\" is not configured", "[databases]"),
            ("imports/g.toml:4: ", "\"code\", which is in \"key\",", "add it to the table"),
            ("imports/h.toml:38: ", "\"dat\"", "name the table's column with \"column\""),
        ];
        for (at, what, remedy) in expected {
            let line = checked.text().lines().find(|line| line.starts_with(at));
            let line = line.unwrap_or_else(|| panic!("no line begins {at}: {}", checked.text()));
            assert!(line.contains(what) && line.contains(remedy), "{line}");
        }
        let faults = checked.text().lines().filter(|line| line.starts_with("imports/")).count();
        assert_eq!(faults, expected.len(), "{}", checked.text());
        assert!(checked.text().contains("2 reports, 11 imports, 8 faults"), "{}", checked.text());

        let server = Server::start(&place, &[]).await;
        let ready = server.json("/health/ready").await;
        let named = ready["definitions"].as_array().expect("a list");
        assert_eq!(named.len(), expected.len(), "{ready}");
        for (at, ..) in expected {
            assert!(named.iter().any(|place| place == at.trim_end_matches(": ")), "{at} {ready}");
        }
        stop(server).await;
    })
    .await;
}

#[tokio::test]
async fn the_import_that_comes_with_the_program_is_no_fault_where_its_table_is_not_there() {
    on_every_backend(async |place| {
        let checked = place.tallyroll(&["check"]).await.expect_success();
        assert!(checked.text().contains("1 import, 0 faults"), "{}", checked.text());
    })
    .await;
}
