//! `tallyroll check`: what is wrong with definitions and settings is told with its place.

use futures::future::join_all;

use crate::support::{Backend, Place, Server, on_every_backend};

const GOOD: &str =
    "from = \"merchants\"\norder_by = [\"id\"]\n[[columns]]\nkey = \"id\"\ntype = \"int\"\n";

#[tokio::test]
async fn check_is_content_with_good_definitions() {
    on_every_backend(async |place| {
        place.demo(5).await;
        place.report("good", GOOD);
        let checked = place.tallyroll(&["check"]).await.expect_success();
        assert!(
            checked.text().contains("2 reports, 1 import, 2 documents, 0 faults"),
            "{}",
            checked.text()
        );
    })
    .await;
}

#[tokio::test]
async fn check_names_file_line_and_remedy_of_every_fault() {
    on_every_backend(async |place| {
        place.demo(5).await;
        place.report("a", "from = \"merchants\"\n[[columns]]\nkey = \"id\"\ntype = \"integer\"\n");
        place.report("b", &GOOD.replace("merchants\"", "merchantz\""));
        place.report("c", &format!("{GOOD}[[columns]]\nkey = \"nmae\"\ntype = \"text\"\n"));
        place.report(
            "d",
            &format!("{GOOD}[[filters]]\nname = \"limit\"\ncolumn = \"id\"\nop = \"=\"\n"),
        );
        place.report("e", "from = \"merchants\n");
        place.report("f", &format!("databse = \"x\"\n{GOOD}"));
        place.report("g", &format!("{GOOD}[[columns]]\nkey = \"id\"\ntype = \"int\"\n"));
        place.report("h", &format!("database = \"replica\"\n{GOOD}"));
        let checked = place.tallyroll(&["check"]).await;
        assert_eq!(checked.code, Some(1), "{}", checked.text());
        let expected = [
            ("reports/a.toml:4: ", "text, int, decimal"),
            ("reports/b.toml:1: ", "make the table or view"),
            ("reports/c.toml:7: ", "correct its name"),
            ("reports/d.toml:7: ", "choose a name other than"),
            ("reports/e.toml:1: ", "mend it here"),
            ("reports/f.toml:1: ", "the known keys are"),
            ("reports/g.toml:7: ", "a key of its own"),
            ("reports/h.toml:2: ", "[databases]"),
        ];
        for (at, remedy) in expected {
            let line = checked.text().lines().find(|line| line.starts_with(at));
            let line = line.unwrap_or_else(|| panic!("no line begins {at}: {}", checked.text()));
            assert!(line.contains(remedy), "{line}");
        }
        assert_eq!(
            checked.text().lines().filter(|line| line.starts_with("reports/")).count(),
            expected.len()
        );
    })
    .await;
}

#[tokio::test]
async fn check_says_that_a_database_is_away() {
    let place = Place::new(Backend::Sqlite).await;
    for url in ["postgres://nobody@127.0.0.1:1/none", "sqlite:///nowhere/at/all.db"] {
        let checked = place.tallyroll(&["check", "--database-url", url]).await;
        assert_eq!(checked.code, Some(1), "{url}");
        assert!(checked.text().contains("database_url"), "{url}: {}", checked.text());
    }
}

#[tokio::test]
async fn a_database_that_is_away_is_told_by_its_place_and_without_its_password() {
    let place = Place::new(Backend::Sqlite).await;
    let postgres = "postgres://kim:s3cret@127.0.0.1:1/none";
    let mysql = "mysql://kim:s3cret@127.0.0.1:2/none";
    let away = [
        (vec!["check", "--state-url", postgres], "correct state_url", "127.0.0.1:1"),
        (vec!["check", "--state-url", mysql], "correct state_url", "127.0.0.1:2"),
        (
            vec!["demo", "--rows", "1", "--database-url", mysql],
            "correct database_url",
            "127.0.0.1:2",
        ),
        (vec!["check", "--database-url", postgres], "correct database_url", "127.0.0.1:1"),
        (vec!["check", "--database-url", mysql], "correct database_url", "127.0.0.1:2"),
    ];
    // Each of them waits for a while.
    join_all(away.map(async |(arguments, way_out, address)| {
        let away = place.tallyroll(&arguments).await;
        let said = format!("{}{}", away.text(), away.stderr);
        assert_eq!(away.code, Some(1), "{said}");
        assert!(said.contains(way_out) && said.contains(address), "{said}");
        assert!(said.contains("no connection came about in time"), "{said}");
        assert!(!said.contains("s3cret") && !said.contains("pool"), "{said}");
    }))
    .await;
}

#[tokio::test]
async fn a_column_that_stands_in_the_order_and_nowhere_else_is_blamed_alone() {
    on_every_backend(async |place| {
        place.demo(1).await;
        place.report("a", &GOOD.replace("[\"id\"]", "[\"zz\"]"));
        let checked = place.tallyroll(&["check"]).await;
        assert_eq!(checked.code, Some(1), "{}", checked.text());
        let faults: Vec<_> =
            checked.text().lines().filter(|line| line.starts_with("reports/")).collect();
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(faults[0].starts_with("reports/a.toml:2: the column \"zz\""), "{faults:?}");
    })
    .await;
}

/// Columns as `(key, type)`; a time is a count of seconds.
fn columns(columns: &[(&str, &str)]) -> String {
    let column = |(key, kind): &(&str, &str)| {
        let unit = if *kind == "time" { "unit = \"seconds\"\n" } else { "" };
        format!("[[columns]]\nkey = \"{key}\"\ntype = \"{kind}\"\n{unit}")
    };
    columns.iter().map(column).collect()
}

/// Filters as `(column, operation)`, each named like `by_id`.
fn filters(filters: &[(&str, &str)]) -> String {
    let filter = |(column, op): &(&str, &str)| {
        format!("[[filters]]\nname = \"by_{column}\"\ncolumn = \"{column}\"\nop = \"{op}\"\n")
    };
    filters.iter().map(filter).collect()
}

/// In SQLite, where a declared type is an affinity; the last one's is that of a whole number.
const NUMBERS_AS_TEXTS: &str =
    "CREATE TABLE n (id integer PRIMARY KEY, i text, f varchar(9), t clob, d text, b text,
    fp \"floating point\");
    INSERT INTO n VALUES (1, '9', '9', '9', '9', '1', 9), (2, '12', '12', '12', '12', '0', 12),
    (3, '100', '100', '100', '100', '1', 100);
    CREATE VIEW v AS SELECT id, i, CAST(i AS INTEGER) AS n, CAST(f AS REAL) AS f FROM n;";

#[tokio::test]
async fn numbers_that_sqlite_would_compare_as_texts_are_faults_with_a_way_out() {
    let place = Place::new(Backend::Sqlite).await;
    place.execute(NUMBERS_AS_TEXTS).await;
    let kinds = [
        ("i", "int"),
        ("f", "float"),
        ("t", "time"),
        ("d", "decimal"),
        ("b", "bool"),
        ("fp", "int"),
    ];
    place.report(
        "bad",
        &format!(
            "from = \"n\"\norder_by = [\"i\", \"id\"]\n{}{}",
            columns(&kinds),
            filters(&[("i", "<"), ("f", "="), ("t", ">="), ("d", "<"), ("b", "="), ("fp", "<")])
        ),
    );
    // What is only read, or only asked whether it is there, may be of any type.
    place.report(
        "fine",
        &format!(
            "from = \"n\"\norder_by = [\"id\"]\n{}{}",
            columns(&kinds[..2]),
            filters(&[("i", "is_null")])
        ),
    );
    let checked = place.tallyroll(&["check"]).await;
    assert_eq!(checked.code, Some(1), "{}", checked.text());
    let faults: Vec<_> =
        checked.text().lines().filter(|line| line.starts_with("reports/")).collect();
    let told = [
        ("reports/bad.toml:2: order_by takes \"i\" for a number", "CAST(\"i\" AS INTEGER)"),
        ("the filter \"by_i\" takes \"i\" for a number", "holds it as TEXT"),
        ("the filter \"by_f\" takes \"f\" for a number", "CAST(\"f\" AS REAL)"),
        ("the filter \"by_t\" takes \"t\" for a number", "CAST(\"t\" AS INTEGER)"),
    ];
    assert_eq!(faults.len(), told.len(), "{faults:#?}");
    for (fault, remedy) in told {
        let found = faults.iter().find(|line| line.contains(fault));
        assert!(found.is_some_and(|line| line.contains(remedy)), "{fault}: {faults:#?}");
    }
    // The way out is one.
    place.report(
        "bad",
        &format!(
            "from = \"v\"\norder_by = [\"n\", \"id\"]\n{}{}",
            columns(&[("n", "int"), ("f", "float")]),
            filters(&[("n", "<"), ("f", ">")])
        ),
    );
    place.tallyroll(&["check"]).await.expect_success();
    let server = Server::start(&place, &[]).await;
    let rows = server.get("/api/v1/reports/bad/rows?columns=n&by_n=50").await;
    assert_eq!(rows.text(), "{\"n\":9}\n{\"n\":12}\n");
    server.stop().await;
}
