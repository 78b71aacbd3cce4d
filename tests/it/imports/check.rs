//! `check` on imports: their tables, columns and references as the database has them, and their examples.

use super::{TRANSACTIONS, stop, transactions, upload};
use crate::support::{Backend, Server, on_every_backend, on_every_server};

const GOOD: &str = "into = \"parties\"\nkey = [\"id\"]\n[[columns]]\nkey = \"id\"\ntype = \"int\"\nrequired = true\n";

#[tokio::test]
async fn every_fault_is_named_with_file_line_and_remedy() {
    on_every_backend(async |place| {
        place.demo(5).await;
        transactions(&place).await;
        place.execute("CREATE TABLE parties (id bigint PRIMARY KEY, name text)").await;
        place.import("good", GOOD);
        place.tallyroll(&["check"]).await.expect_success();
        let column = |key: &str, rules: &str| {
            format!("[[columns]]\nkey = \"{key}\"\ntype = \"text\"\n{rules}\n")
        };
        place.import("a", &GOOD.replace("parties", "partiez"));
        place.import("b", &format!("{GOOD}{}", column("nmae", "")));
        place.import("c", &format!("{GOOD}{}", column("name", "references = \"nothing.id\"")));
        place.import("d", &format!("{GOOD}{}", column("name", "references = \"parties.nothing\"")));
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
            ("imports/a.toml:1: ", "partiez", "correct \"into\", or make the table"),
            ("imports/b.toml:8: ", "\"nmae\"", "add it to the table"),
            ("imports/c.toml:10: ", "\"nothing\"", "correct \"references\""),
            (
                "imports/d.toml:10: ",
                "\"nothing\" of the table \"parties\"",
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
        assert!(
            checked.text().contains("2 reports, 11 imports, 2 documents, 8 faults"),
            "{}",
            checked.text()
        );

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
        assert!(checked.text().contains("1 import, 2 documents, 0 faults"), "{}", checked.text());
    })
    .await;
}

#[tokio::test]
async fn a_column_that_nothing_fills_is_told_before_a_row_is_refused_for_it() {
    on_every_backend(async |place| {
        let (counted, made) = place.backend().pick(
            ("integer PRIMARY KEY", "text GENERATED ALWAYS AS (name) STORED"),
            ("bigserial PRIMARY KEY", "text GENERATED ALWAYS AS (name) STORED"),
            ("bigint AUTO_INCREMENT PRIMARY KEY", "varchar(9) GENERATED ALWAYS AS (name) STORED"),
        );
        let sql = format!(
            "CREATE TABLE things (id {counted}, name varchar(9) NOT NULL UNIQUE, made {made}, \
             given bigint NOT NULL DEFAULT 7, empty bigint, place varchar(9) NOT NULL, \
             kind varchar(9) NOT NULL)"
        );
        place.execute(&sql).await;
        let column = |key: &str| format!("[[columns]]\nkey = \"{key}\"\ntype = \"text\"\n");
        let import = |columns: &[&str]| {
            let columns: String = columns.iter().map(|key| column(key)).collect();
            let name = format!("{}required = true\n", column("name"));
            format!("into = \"things\"\nkey = [\"name\"]\n{name}{columns}")
        };
        place.import("things", &import(&["kind"]));
        let checked = place.tallyroll(&["check"]).await;
        assert_eq!(checked.code, Some(1), "{}", checked.text());
        let faults: Vec<_> =
            checked.text().lines().filter(|line| line.starts_with("imports/")).collect();
        assert_eq!(faults.len(), 1, "{faults:?}");
        for words in ["imports/things.toml:1: ", "\"place\" of the table", "give it a default"] {
            assert!(faults[0].contains(words), "{words}: {faults:?}");
        }
        place.import("things", &import(&["kind", "place"]));
        place.tallyroll(&["check"]).await.expect_success();

        // The file leaves out what new rows need, and what is stored has.
        let server = Server::start(&place, &[]).await;
        let whole = b"name,kind,place\na,k,p\n".to_vec();
        assert_eq!(upload(&server, "things", "", whole).await.json()["inserted"], 1);
        let update = upload(&server, "things", "", b"name,kind\na,l\n".to_vec()).await.json();
        assert_eq!(update["updated"], 1, "{update}");
        for asked in ["?dry_run=true", "", "?on_problem=skip"] {
            let answer = upload(&server, "things", asked, b"name,kind\na,m\nb,k\n".to_vec()).await;
            let problem = answer.problem(422, "invalid_request");
            assert_eq!(problem["problems"][0]["code"], "unfilled_column", "{problem}");
            let detail = problem["problems"][0]["detail"].to_string();
            assert!(detail.contains("place") && detail.contains("add the column"), "{detail}");
            assert_eq!(place.value("SELECT kind FROM things").await, "l", "nothing was stored");
        }
        stop(server).await;
    })
    .await;
}

#[tokio::test]
async fn a_user_who_may_not_make_the_table_of_notes_is_told_what_to_do() {
    on_every_server(async |place| {
        place.execute("CREATE TABLE parties (id bigint PRIMARY KEY, name text)").await;
        place.import("parties", GOOD);
        let (url, user) = place.without_making_tables("parties").await;
        let checked = place.tallyroll(&["check", "--database-url", &url]).await;
        assert_eq!(checked.code, Some(1), "{}", checked.text());
        let sql = "CREATE TABLE IF NOT EXISTS tallyroll_imports";
        let told = checked.text().lines().find(|line| line.starts_with("imports/parties.toml:1: "));
        assert!(told.is_some_and(|line| line.contains(sql)), "{}", checked.text());

        let server = Server::start(&place, &[("database_url", url.as_str())]).await;
        let row = || b"id\n1\n".to_vec();
        let mut make = String::new();
        for asked in ["?dry_run=true", ""] {
            let answer = upload(&server, "parties", asked, row()).await;
            let problem = answer.problem(503, "imports_not_set_up");
            let detail = problem["detail"].as_str().expect("words");
            make = detail[detail.find(sql).expect("the way out")..].to_owned();
            assert_eq!(place.value("SELECT count(*) FROM parties").await, "0");
        }
        let grant = format!("; GRANT ALL ON tallyroll_imports TO {user}");
        let grant = place.backend().pick("", grant.as_str(), "");
        place.administer(&format!("{make}{grant}")).await;
        let stored = upload(&server, "parties", "", row()).await.json();
        assert_eq!(stored["inserted"], 1, "{stored}");
        stop(server).await;
        if place.backend() == Backend::Postgres {
            place.administer(&format!("DROP OWNED BY {user}; DROP ROLE {user}")).await;
        }
    })
    .await;
}
