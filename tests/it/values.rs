//! Every value is exact: each type in each format, out of tables of both databases.

mod numbers;
mod texts;

use serde_json::Value as Json;

pub(crate) use numbers::make_numbers;
pub(crate) use texts::{Text, make_texts, texts};

use crate::support::{Backend, Place, Server, on_every_backend, parse_csv};

/// One column of every type.
const THINGS: &str = r#"
    from = "things"
    order_by = ["id"]
    [[columns]]
    key = "id"
    type = "int"
    [[columns]]
    key = "t"
    type = "text"
    [[columns]]
    key = "i"
    type = "int"
    [[columns]]
    key = "d"
    type = "decimal"
    [[columns]]
    key = "f8"
    type = "float"
    [[columns]]
    key = "f4"
    type = "float"
    [[columns]]
    key = "b"
    type = "bool"
    [[columns]]
    key = "day"
    type = "date"
    [[columns]]
    key = "at"
    type = "time"
    [[columns]]
    key = "j"
    type = "json"
"#;

async fn make_things(place: &Place) {
    let columns = place.backend().pick(
        "t text, i integer, d text, f8 real, f4 real, b integer, day text, at text, j text",
        "t text, i bigint, d numeric(20, 2), f8 double precision, f4 real, b boolean, day date, \
         at timestamptz, j json",
        "t text, i bigint, d decimal(20, 2), f8 double, f4 float, b boolean, day date, \
         at datetime(6), j json",
    );
    let (yes, no) = place.backend().pick(("1", "0"), ("true", "false"), ("true", "false"));
    place
        .execute(&place.moments(&format!(
            "CREATE TABLE things (id bigint PRIMARY KEY, {columns});
             INSERT INTO things VALUES
             (1, '가나 \"x\"\n\tb\\', 42, '12.50', 0.1, 0.1, {yes}, '2026-01-31',
              '2026-01-31 14:59:59.123456+00:00', '{{\"a\": [1, 2.50,\n\"x y\"],\n \"b\": null}}'),
             (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
             (3, '', -1, '-0.01', -1.5, 1.5, {no}, '9999-12-31', '1970-01-01 00:00:00+00:00', '\"x\"')"
        )))
        .await;
    place.report("things", THINGS);
}

const THINGS_NDJSON: [&str; 3] = [
    r#"{"id":1,"t":"가나 \"x\"\n\tb\\","i":42,"d":12.50,"f8":0.1,"f4":0.1,"b":true,"day":"2026-01-31","at":"2026-01-31T23:59:59.123456+09:00","j":{"a":[1,2.50,"x y"],"b":null}}"#,
    r#"{"id":2,"t":null,"i":null,"d":null,"f8":null,"f4":null,"b":null,"day":null,"at":null,"j":null}"#,
    r#"{"id":3,"t":"","i":-1,"d":-0.01,"f8":-1.5,"f4":1.5,"b":false,"day":"9999-12-31","at":"1970-01-01T09:00:00+09:00","j":"x"}"#,
];

#[tokio::test]
async fn every_type_is_written_as_the_table_of_types_says() {
    on_every_backend(async |place| {
        make_things(&place).await;
        let server = Server::start(&place, &[]).await;

        let ndjson = server.get("/api/v1/reports/things/rows?format=ndjson").await;
        assert_eq!(ndjson.status, 200, "{}", ndjson.text());
        assert_eq!(ndjson.text(), THINGS_NDJSON.join("\n") + "\n");

        let json = server.get("/api/v1/reports/things/rows?format=json").await;
        assert_eq!(json.text(), format!("[\n{}\n]\n", THINGS_NDJSON.join(",\n")));
        assert_eq!(json.json().as_array().map(Vec::len), Some(3));

        let csv = server.get("/api/v1/reports/things/rows?format=csv").await;
        let expected = [
            "id,t,i,d,f8,f4,b,day,at,j",
            "1,\"가나 \"\"x\"\"\n\tb\\\",42,12.50,0.1,0.1,true,2026-01-31,2026-01-31T23:59:59.123456+09:00,\
             \"{\"\"a\"\":[1,2.50,\"\"x y\"\"],\"\"b\"\":null}\"",
            "2,,,,,,,,,",
            "3,\"\",-1,-0.01,-1.5,1.5,false,9999-12-31,1970-01-01T09:00:00+09:00,\"\"\"x\"\"\"",
        ];
        assert_eq!(csv.text(), expected.join("\r\n") + "\r\n");
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn what_no_format_can_say_is_null_with_a_warning_in_the_run() {
    on_every_backend(async |place| {
        if place.backend() != Backend::Postgres {
            return;
        }
        place
            .execute(
                "CREATE TABLE odd (id int, n numeric, at timestamptz, day date);
                 INSERT INTO odd VALUES (1, 'NaN', 'infinity', '-infinity'), (2, 1, NULL, NULL)",
            )
            .await;
        place.report(
            "odd",
            r#"
            from = "odd"
            order_by = ["id"]
            [[columns]]
            key = "n"
            type = "decimal"
            [[columns]]
            key = "at"
            type = "time"
            [[columns]]
            key = "day"
            type = "date"
            "#,
        );
        let server = Server::start(&place, &[]).await;
        let ndjson = server.get("/api/v1/reports/odd/rows").await;
        let null = "{\"n\":null,\"at\":null,\"day\":null}\n{\"n\":1,\"at\":null,\"day\":null}\n";
        assert_eq!(ndjson.text(), null);
        let run = server.run(&ndjson.run()).await;
        let warnings = run["warnings"].as_array().expect("a list");
        for column in ["n", "at", "day"] {
            let named = |warning: &Json| {
                warning["detail"]
                    .as_str()
                    .is_some_and(|detail| detail.contains(&format!("\"{column}\"")))
            };
            assert!(warnings.iter().any(named), "{run}");
        }
        assert_eq!(warnings.len(), 3, "a cell that is NULL is nothing to warn of");
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn postgresql_types_that_are_text_at_heart_are_read_as_text() {
    on_every_backend(async |place| {
        if place.backend() != Backend::Postgres {
            return;
        }
        place
            .execute(
                "CREATE TYPE mood AS ENUM ('glad', 'sad');
                 CREATE TABLE texts (u uuid, m mood, v varchar(10), c char(3), i bigint, n numeric(5, 2),
                                     b boolean, jb jsonb);
                 INSERT INTO texts VALUES ('0190aaaa-bbbb-7ccc-8ddd-eeeeffff0000', 'sad', '가', 'ab', 7,
                                           1.50, true, '{\"b\": 1.50,   \"a\": [ ]}')",
            )
            .await;
        let columns = ["u", "m", "v", "c", "i", "n", "b"];
        let column = |key| format!("[[columns]]\nkey = \"{key}\"\ntype = \"text\"\n");
        let json = "[[columns]]\nkey = \"jb\"\ntype = \"json\"\n";
        place.report("texts", &format!("from = \"texts\"\n{}{json}", columns.map(column).concat()));
        let server = Server::start(&place, &[]).await;
        let ndjson = server.get("/api/v1/reports/texts/rows").await;
        assert_eq!(
            ndjson.text(),
            "{\"u\":\"0190aaaa-bbbb-7ccc-8ddd-eeeeffff0000\",\"m\":\"sad\",\"v\":\"가\",\"c\":\"ab \",\
             \"i\":\"7\",\"n\":\"1.50\",\"b\":\"true\",\"jb\":{\"a\":[],\"b\":1.50}}\n"
        );
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn json_documents_are_embedded_digit_for_digit_on_one_line() {
    on_every_backend(async |place| {
        let documents = [
            (
                "{ \"n\" : 12345678901234567890.50 ,\n\t\"e\":1e400,\"n\":2 }",
                "{\"n\":12345678901234567890.50,\"e\":1e400,\"n\":2}",
            ),
            ("[ ]", "[]"),
            ("\"a b\\n \\\\ \\\" , : {\"", "\"a b\\n \\\\ \\\" , : {\""),
            (" null ", "null"),
            ("-0.0", "-0.0"),
            ("[[[[\n1\n]]]]", "[[[[1]]]]"),
        ];
        let rows: Vec<String> = documents
            .iter()
            .enumerate()
            .map(|(id, (stored, _))| format!("({id}, '{stored}')"))
            .collect();
        let kind = place.backend().pick("text", "json", "json");
        place
            .execute(&format!(
                "CREATE TABLE j (id int, v {kind}); INSERT INTO j VALUES {}",
                rows.join(", ")
            ))
            .await;
        place.report(
            "j",
            "from = \"j\"\norder_by = [\"id\"]\n[[columns]]\nkey = \"v\"\ntype = \"json\"\n",
        );
        let server = Server::start(&place, &[]).await;
        let ndjson = server.get("/api/v1/reports/j/rows").await;
        let expected: String =
            documents.iter().map(|(_, shown)| format!("{{\"v\":{shown}}}\n")).collect();
        assert_eq!(ndjson.text(), expected);
        let csv = server.get("/api/v1/reports/j/rows?format=csv&header=none").await;
        let read =
            parse_csv(csv.text(), ',').into_iter().map(|record| record[0].clone().expect("a text"));
        assert_eq!(read.collect::<Vec<_>>(), documents.map(|(_, shown)| shown));
        server.stop().await;
    })
    .await;
}
