//! What MySQL and MariaDB have of their own: types without a sign, dates of zeros, decimals of 65
//! digits, texts that are equal though they differ, a time-out that would cut an answer.

use serde_json::Value as Json;

use crate::support::{Backend, Place, Server, backends};

async fn on_mysql(test: impl AsyncFn(Place)) {
    if backends().contains(&Backend::MySql) {
        test(Place::new(Backend::MySql).await).await;
    }
}

fn columns(columns: &[(&str, &str)]) -> String {
    let column =
        |(key, kind): &(&str, &str)| format!("[[columns]]\nkey = \"{key}\"\ntype = \"{kind}\"\n");
    columns.iter().map(column).collect()
}

#[tokio::test]
async fn every_type_keeps_its_value_at_both_ends() {
    on_mysql(async |place| {
        place
            .execute(
                "CREATE TABLE ends (id int, u8 bigint unsigned, u4 int unsigned, u1 tinyint(1) unsigned,
                   m mediumint, y year, bits bit(10), yes bit(1), d decimal(65, 30), z int zerofill,
                   dz decimal(8, 2) zerofill, f float, t time(6), ts timestamp(6) NULL, e enum('나', 'b'),
                   s set('x', 'y'), u uuid, bin text COLLATE utf8mb4_bin, c char(4), j json);
                 INSERT INTO ends VALUES
                  (1, 18446744073709551615, 4294967295, 255, -8388608, 2155, 1023, 1,
                   '99999999999999999999999999999999999.999999999999999999999999999999', 42, 12.30, 16777217,
                   '-838:59:59.999999', '2038-01-19 03:14:07.999999', '나', 'x,y',
                   '0190aaaa-bbbb-7ccc-8ddd-eeeeffff0000', 'a ', 'ab', '{\"a\":  1.50}'),
                  (2, 0, 0, 0, 8388607, 1901, 0, 0, '-0.000000000000000000000000000001', 0, 0, -0.1,
                   '00:00:00', '1970-01-01 00:00:01', 'b', '', NULL, '', '', 'null')",
            )
            .await;
        let kinds = [
            ("u8", "int"), ("u4", "int"), ("u1", "int"), ("m", "int"), ("y", "int"), ("bits", "int"),
            ("yes", "bool"), ("d", "decimal"), ("z", "int"), ("dz", "decimal"), ("f", "float"),
            ("t", "text"), ("ts", "time"), ("e", "text"), ("s", "text"), ("u", "text"), ("bin", "text"),
            ("c", "text"), ("j", "json"),
        ];
        place.report("ends", &format!("from = \"ends\"\norder_by = [\"id\"]\n{}", columns(&kinds)));
        let server = Server::start(&place, &[]).await;
        let rows = server.get("/api/v1/reports/ends/rows?tz=UTC").await;
        let expected = concat!(
            r#"{"u8":18446744073709551615,"u4":4294967295,"u1":255,"m":-8388608,"y":2155,"bits":1023,"#,
            r#""yes":true,"d":99999999999999999999999999999999999.999999999999999999999999999999,"#,
            r#""z":42,"dz":12.30,"f":16777216.0,"t":"-838:59:59.999999","#,
            r#""ts":"2038-01-19T03:14:07.999999Z","e":"나","s":"x,y","#,
            r#""u":"0190aaaa-bbbb-7ccc-8ddd-eeeeffff0000","bin":"a ","c":"ab","j":{"a":1.50}}"#,
            "\n",
            r#"{"u8":0,"u4":0,"u1":0,"m":8388607,"y":1901,"bits":0,"yes":false,"#,
            r#""d":-0.000000000000000000000000000001,"z":0,"dz":0.00,"f":-0.1,"t":"00:00:00","#,
            r#""ts":"1970-01-01T00:00:01Z","e":"b","s":"","u":null,"bin":"","c":"","j":null}"#,
            "\n",
        );
        assert_eq!(rows.text(), expected);
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn dates_of_zeros_are_null_with_a_warning_in_the_run() {
    on_mysql(async |place| {
        place
            .execute(
                "CREATE TABLE zeros (id int, day date, at datetime); SET sql_mode = '';
                 INSERT INTO zeros VALUES (1, '0000-00-00', '0000-00-00 00:00:00'),
                  (2, '2026-00-00', '2026-01-00 10:00:00'), (3, NULL, NULL)",
            )
            .await;
        let kinds = [("id", "int"), ("day", "date"), ("at", "time")];
        place.report(
            "zeros",
            &format!("from = \"zeros\"\norder_by = [\"id\"]\n{}", columns(&kinds)),
        );
        let server = Server::start(&place, &[]).await;
        let rows = server.get("/api/v1/reports/zeros/rows").await;
        let line = |id| format!("{{\"id\":{id},\"day\":null,\"at\":null}}\n");
        assert_eq!(rows.text(), [1, 2, 3].map(line).concat());
        let run = server.run(&rows.run()).await;
        let warnings = run["warnings"].as_array().expect("a list");
        let told = |warning: &Json, column: &str| {
            let detail = warning["detail"].as_str().unwrap_or_default();
            detail.starts_with("2 cells") && detail.contains(column)
        };
        assert_eq!(warnings.len(), 2, "{run}");
        assert!(told(&warnings[0], "\"day\"") && told(&warnings[1], "\"at\""), "{run}");
        server.stop().await;
    })
    .await;
}

const TEXTS: [&str; 7] = ["abc", "ABC", "abc ", "ábc", "a%c", "a!c", "xabc"];

#[tokio::test]
async fn filters_find_the_same_bytes_and_not_what_a_collation_takes_for_the_same() {
    on_mysql(async |place| {
        let rows: Vec<_> =
            TEXTS.iter().enumerate().map(|(id, text)| format!("({id}, '{text}')")).collect();
        place
            .execute(&format!(
                "CREATE TABLE words (id int PRIMARY KEY, t varchar(20), l varchar(20) CHARACTER SET latin1,
                   KEY (t)); INSERT INTO words (id, t) VALUES {}; UPDATE words SET l = t",
                rows.join(", ")
            ))
            .await;
        let mut toml = format!(
            "from = \"words\"\norder_by = [\"id\"]\n{}",
            columns(&[("id", "int"), ("t", "text"), ("l", "text")])
        );
        for column in ["t", "l"] {
            for (name, op) in
                [("eq", "="), ("ne", "!="), ("in", "in"), ("has", "contains"), ("pre", "prefix"), ("lt", "<")]
            {
                toml += &format!(
                    "[[filters]]\nname = \"{column}_{name}\"\ncolumn = \"{column}\"\nop = \"{op}\"\n"
                );
            }
        }
        place.report("words", &toml);
        let server = Server::start(&place, &[]).await;
        for column in ["t", "l"] {
            let cases: [(&str, &[u64]); 11] = [
                ("eq=abc", &[0]),
                ("eq=abc%20", &[2]),
                ("eq=%C3%A1bc", &[3]),
                ("eq=%EA%B0%80", &[]),
                ("ne=abc", &[1, 2, 3, 4, 5, 6]),
                ("in=abc&{}_in=ABC", &[0, 1]),
                ("has=abc", &[0, 2, 6]),
                ("pre=ab", &[0, 2]),
                ("pre=a%25", &[4]),
                ("pre=%C3%A1", &[3]),
                ("lt=%EA%B0%80&{}_has=b", &[0, 2, 3, 6]),
            ];
            for (asked, ids) in cases {
                let asked = format!("{column}_{}", asked.replace("{}", column));
                let rows = server.get(&format!("/api/v1/reports/words/rows?columns=id&{asked}")).await;
                let expected: String = ids.iter().map(|id| format!("{{\"id\":{id}}}\n")).collect();
                assert_eq!(rows.text(), expected, "{asked}");
            }
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn pages_continue_behind_decimals_moments_and_numbers_without_a_sign() {
    on_mysql(async |place| {
        place
            .execute(
                "CREATE TABLE p (id int, d decimal(40, 20), u bigint unsigned, at datetime(6), day date,
                   f float, t varchar(9), e enum('b', 'a'),
                   eb enum('b', 'a') COLLATE utf8mb4_bin, es set('b', 'a'));
                 INSERT INTO p SELECT seq, 12345678901234567890 + (seq MOD 7) * 0.00000000000000000001,
                   18446744073709551615 - (seq MOD 5), '2026-01-01' + INTERVAL (seq MOD 6) MICROSECOND,
                   '2026-01-01' + INTERVAL (seq MOD 4) DAY, (seq MOD 3) / 10, CHAR(97 + (seq MOD 3)),
                   IF(seq MOD 2, 'a', 'b'), IF(seq MOD 2, 'a', 'b'), IF(seq MOD 2, 'a', 'b')
                   FROM seq_1_to_60",
            )
            .await;
        let keys = ["d", "u", "at", "day", "f", "t", "e", "eb", "es"];
        let head = columns(&[("id", "int")]);
        for key in keys {
            for way in ["", " desc"] {
                let toml = format!("from = \"p\"\norder_by = [\"{key}{way}\", \"id\"]\n{head}");
                place.report(&format!("{key}{}", way.trim()), &toml);
            }
        }
        let server = Server::start(&place, &[]).await;
        for name in keys.iter().flat_map(|key| [(*key).to_owned(), format!("{key}desc")]) {
            let path = format!("/api/v1/reports/{name}/rows");
            let whole = server.get(&path).await;
            assert_eq!(whole.text().lines().count(), 60);
            let (mut paged, mut next) = (String::new(), Some(format!("{path}?limit=7")));
            while let Some(address) = next {
                let page = server.get(&address).await;
                if name.starts_with('e') && page.status != 200 {
                    page.problem(500, "undecodable_value");
                    break;
                }
                paged += page.text();
                let link = page.header("link");
                next = link.and_then(|link| Some(link.strip_prefix('<')?.split_once('>')?.0.to_owned()));
            }
            let refused = name.starts_with('e');
            assert!(if refused { paged.lines().count() == 7 } else { paged == whole.text() }, "{name}");
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn decimals_are_compared_digit_by_digit() {
    on_mysql(async |place| {
        place
            .execute(
                "CREATE TABLE money (id int, d decimal(50, 20));
                 INSERT INTO money VALUES (1, 12345678901234567890.00000000000000000001),
                   (2, 12345678901234567890.00000000000000000002), (3, -0.5)",
            )
            .await;
        let mut toml = format!(
            "from = \"money\"\norder_by = [\"id\"]\n{}",
            columns(&[("id", "int"), ("d", "decimal")])
        );
        for (name, op) in
            [("eq", "="), ("ne", "!="), ("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")]
        {
            toml += &format!("[[filters]]\nname = \"{name}\"\ncolumn = \"d\"\nop = \"{op}\"\n");
        }
        place.report("money", &toml);
        let server = Server::start(&place, &[]).await;
        let nines = "9".repeat(66);
        // Behind the thirtieth place nothing is held, and a number with more lies between two.
        let finer = format!("12345678901234567890.00000000000000000001{}1", "0".repeat(30));
        let cases: [(String, &[u64]); 13] = [
            ("eq=12345678901234567890.00000000000000000001".into(), &[1]),
            ("gt=12345678901234567890.00000000000000000001".into(), &[2]),
            ("eq=-0.5000".into(), &[3]),
            (format!("eq={finer}"), &[]),
            (format!("ne={finer}"), &[1, 2, 3]),
            (format!("lt={finer}"), &[1, 3]),
            (format!("ge={finer}"), &[2]),
            (format!("le=-0.5{}1", "0".repeat(40)), &[]),
            (format!("ge=-0.5{}1", "0".repeat(40)), &[1, 2, 3]),
            (format!("lt={nines}"), &[1, 2, 3]),
            (format!("gt={nines}"), &[]),
            (format!("gt=-{nines}"), &[1, 2, 3]),
            (format!("eq={nines}"), &[]),
        ];
        for (asked, ids) in cases {
            let rows = server.get(&format!("/api/v1/reports/money/rows?columns=id&{asked}")).await;
            let expected: String = ids.iter().map(|id| format!("{{\"id\":{id}}}\n")).collect();
            assert_eq!(rows.text(), expected, "{asked}");
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn the_sessions_wait_longer_than_a_client_may_stall() {
    on_mysql(async |place| {
        place.report(
            "session",
            "sql = \"select @@net_write_timeout as patience, @@time_zone as zone\"\n\
             [[columns]]\nkey = \"patience\"\ntype = \"int\"\n[[columns]]\nkey = \"zone\"\ntype = \"text\"\n",
        );
        for (stall, patience) in [("60s", 86_400), ("48h", 172_860)] {
            let server = Server::start(&place, &[("stall_timeout", stall)]).await;
            let rows = server.get("/api/v1/reports/session/rows").await;
            let expected = format!("{{\"patience\":{patience},\"zone\":\"+00:00\"}}\n");
            assert_eq!(rows.text(), expected);
            server.stop().await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_report_that_would_write_is_refused_and_writes_nothing() {
    on_mysql(async |place| {
        place.execute("CREATE TABLE written (id int)").await;
        place
            .execute(
                "CREATE FUNCTION writes() RETURNS int MODIFIES SQL DATA
                 BEGIN INSERT INTO written VALUES (1); RETURN 1; END",
            )
            .await;
        place.report(
            "writes",
            "sql = \"select writes() as id\"\n[[columns]]\nkey = \"id\"\ntype = \"int\"\n",
        );
        let server = Server::start(&place, &[]).await;
        server.get("/api/v1/reports/writes/rows").await.problem(500, "query_failed");
        assert!(server.log().contains("READ ONLY"), "it is refused for what it is");
        assert_eq!(place.value("SELECT count(*) FROM written").await, "0");
        server.stop().await;
    })
    .await;
}
