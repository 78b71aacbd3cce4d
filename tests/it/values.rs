//! Every value is exact: each type in each format, out of tables of both databases.

use serde::Deserialize;
use serde_json::Value as Json;

use crate::support::{Backend, Field, Place, Server, on_every_backend, parse_csv};

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

/// A row of the numbers, as texts of their exact digits.
#[derive(Debug, Deserialize)]
struct Numbers {
    id: String,
    i8: Option<String>,
    n: Option<String>,
    money: Option<String>,
    f8: Option<String>,
    f4: Option<String>,
}

fn numbers() -> Vec<Numbers> {
    serde_json::from_str(include_str!("../fixtures/031-export-numbers/rows.json"))
        .expect("a fixture")
}

/// Makes the report `nums` of the numbers.
pub async fn make_numbers(place: &Place) {
    let columns = place.backend().pick(
        "id integer, i8 integer, n text, money text, f8 real, f4 real",
        "id int, i8 bigint, n numeric(38, 10), money numeric(15, 2), f8 double precision, f4 real",
        "id int, i8 bigint, n decimal(38, 10), money decimal(15, 2), f8 double, f4 float",
    );
    place.execute(&format!("CREATE TABLE nums ({columns})")).await;
    for row in numbers() {
        let quoted = |value: &Option<String>| {
            value.as_ref().map_or("NULL".into(), |text| format!("'{text}'"))
        };
        let bare = |value: &Option<String>| value.clone().unwrap_or("NULL".into());
        let float = |value: &Option<String>| match (place.backend(), value.as_deref()) {
            (Backend::Postgres, _) => quoted(value),
            // SQLite has no NaN: it stores NULL. MySQL has no infinity either.
            (Backend::Sqlite, None | Some("NaN"))
            | (Backend::MySql, None | Some("NaN" | "Infinity" | "-Infinity")) => "NULL".into(),
            (Backend::Sqlite, Some("Infinity")) => "9e999".into(),
            (Backend::Sqlite, Some("-Infinity")) => "-9e999".into(),
            (Backend::Sqlite | Backend::MySql, Some(text)) => text.to_owned(),
        };
        let values = [
            row.id.clone(),
            bare(&row.i8),
            quoted(&row.n),
            quoted(&row.money),
            float(&row.f8),
            float(&row.f4),
        ];
        place.execute(&format!("INSERT INTO nums VALUES ({})", values.join(", "))).await;
    }
    let column =
        |(key, kind): (&str, &str)| format!("[[columns]]\nkey = \"{key}\"\ntype = \"{kind}\"\n");
    let columns = [
        ("id", "int"),
        ("i8", "int"),
        ("n", "decimal"),
        ("money", "decimal"),
        ("f8", "float"),
        ("f4", "float"),
    ]
    .map(column);
    place.report("nums", &format!("from = \"nums\"\norder_by = [\"id\"]\n{}", columns.concat()));
}

#[tokio::test]
async fn integers_and_decimals_keep_every_digit() {
    on_every_backend(async |place| {
        make_numbers(&place).await;
        let server = Server::start(&place, &[]).await;
        let path = "/api/v1/reports/nums/rows?columns=id,i8,n,money";
        let shown = |quote: &str| {
            let number = |value: &Option<String>| {
                value.as_ref().map_or("null".into(), |digits| format!("{quote}{digits}{quote}"))
            };
            let line = |row: Numbers| {
                let Numbers { id, i8, n, money, .. } = row;
                let id = number(&Some(id));
                format!(
                    "{{\"id\":{id},\"i8\":{},\"n\":{},\"money\":{}}}",
                    number(&i8),
                    number(&n),
                    number(&money)
                )
            };
            numbers().into_iter().map(line).collect::<Vec<_>>()
        };
        let plain = server.get(path).await;
        assert_eq!(plain.text(), shown("").join("\n") + "\n");
        let strings = server.get(&format!("{path}&numbers=string")).await;
        assert_eq!(strings.text(), shown("\"").join("\n") + "\n");
        let json = server.get(&format!("{path}&numbers=string&format=json")).await;
        assert_eq!(json.text(), format!("[\n{}\n]\n", shown("\"").join(",\n")));

        let csv = server.get(&format!("{path}&format=csv&header=none")).await;
        let record = |row: Numbers| vec![Some(row.id), row.i8, row.n, row.money];
        assert_eq!(
            parse_csv(csv.text(), ','),
            numbers().into_iter().map(record).collect::<Vec<_>>()
        );
        assert!(!csv.text().contains('\''), "a number is never guarded");
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn floats_are_the_shortest_of_their_own_width_and_what_is_not_finite_is_null() {
    on_every_backend(async |place| {
        make_numbers(&place).await;
        let server = Server::start(&place, &[]).await;
        let path = "/api/v1/reports/nums/rows?columns=f8,f4";
        let ndjson = server.get(path).await;
        let csv = server.get(&format!("{path}&format=csv&header=none")).await;
        let records = parse_csv(csv.text(), ',');
        assert_eq!(records.len(), 7);
        for ((line, record), row) in ndjson.text().lines().zip(&records).zip(numbers()) {
            let shown = line.strip_prefix("{\"f8\":").and_then(|rest| rest.strip_suffix('}'));
            let (f8, f4) =
                shown.and_then(|rest| rest.split_once(",\"f4\":")).expect("the two keys");
            let single_width = place.backend() != Backend::Sqlite;
            assert_shortest(f8, row.f8.as_deref(), false);
            assert_shortest(f4, row.f4.as_deref(), single_width);
            let field = |json: &str| (json != "null").then(|| json.to_owned());
            assert_eq!(*record, [field(f8), field(f4)], "CSV has the same digits");
        }
        let strings = server.get(&format!("{path}&numbers=string")).await;
        assert_eq!(strings.text(), ndjson.text(), "floats have no digits to lose");
        server.stop().await;
    })
    .await;
}

#[track_caller]
fn assert_shortest(shown: &str, stored: Option<&str>, single: bool) {
    let Some(stored) = stored.filter(|text| text.parse::<f64>().is_ok_and(f64::is_finite)) else {
        assert_eq!(shown, "null", "for {stored:?}");
        return;
    };
    let is_json = serde_json::from_str::<serde_json::Number>(shown).is_ok();
    assert!(is_json, "{shown} is no JSON number");
    let shortest = if single {
        let value: f32 = stored.parse().expect("a float");
        assert_eq!(shown.parse::<f32>().map(f32::to_bits), Ok(value.to_bits()), "for {stored}");
        format!("{value:e}")
    } else {
        let value: f64 = stored.parse().expect("a float");
        let read: f64 = shown.parse().expect("a float");
        // SQLite keeps no negative zero.
        assert!(
            read.to_bits() == value.to_bits() || (read == 0.0 && value == 0.0),
            "{shown} for {stored}"
        );
        format!("{value:e}")
    };
    let digits = |text: &str| {
        let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
        let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
        digits.trim_matches('0').to_owned()
    };
    assert_eq!(digits(shown), digits(&shortest), "{shown} for {stored}");
}

#[tokio::test]
async fn a_negative_zero_keeps_its_sign_where_the_database_keeps_it() {
    on_every_backend(async |place| {
        if place.backend() != Backend::Postgres {
            return;
        }
        make_numbers(&place).await;
        let server = Server::start(&place, &[]).await;
        let ndjson = server.get("/api/v1/reports/nums/rows?columns=f8").await;
        let zero = ndjson.text().lines().nth(5).expect("the sixth row");
        let zero: Json = serde_json::from_str(zero).expect("JSON");
        assert!(
            zero["f8"].as_f64().is_some_and(|zero| zero == 0.0 && zero.is_sign_negative()),
            "{zero}"
        );
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn whole_numbers_beyond_64_bits_and_decimals_of_any_length_are_exact() {
    on_every_backend(async |place| {
        if place.backend() == Backend::MySql {
            // Its exact numbers end at 65 digits, and have their own test.
            return;
        }
        let (big, long) = ("18446744073709551615", "-0.00000000000000000000000000000000000000000000000001230");
        place
            .execute(&format!(
                "CREATE TABLE big (id bigint, u {kind}, d {kind});
                 INSERT INTO big VALUES (1, '{big}', '{long}'), (2, '-{big}{big}', '{big}{big}.50')",
                kind = place.backend().pick("text", "numeric", "decimal"),
            ))
            .await;
        place.report(
            "big",
            r#"
            from = "big"
            order_by = ["id"]
            [[columns]]
            key = "u"
            type = "int"
            [[columns]]
            key = "d"
            type = "decimal"
            "#,
        );
        let server = Server::start(&place, &[]).await;
        let ndjson = server.get("/api/v1/reports/big/rows").await;
        let expected = format!("{{\"u\":{big},\"d\":{long}}}\n{{\"u\":-{big}{big},\"d\":{big}{big}.50}}\n");
        assert_eq!(ndjson.text(), expected);
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_decimal_that_is_held_as_a_float_is_padded_to_its_scale() {
    on_every_backend(async |place| {
        let kind = place.backend().pick("real", "double precision", "double");
        place
            .execute(&format!(
                "CREATE TABLE m (id bigint, money {kind});
                 INSERT INTO m VALUES (1, 57.7), (2, 1234), (3, -0.01), (4, 1e15), (5, 0.125)"
            ))
            .await;
        place.report(
            "m",
            r#"
            from = "m"
            order_by = ["id"]
            [[columns]]
            key = "money"
            type = "decimal"
            scale = 2
            "#,
        );
        let server = Server::start(&place, &[]).await;
        let csv = server.get("/api/v1/reports/m/rows?format=csv&header=none").await;
        assert_eq!(csv.text(), "57.70\r\n1234.00\r\n-0.01\r\n1000000000000000.00\r\n0.125\r\n");
        server.stop().await;
    })
    .await;
}

/// A row of the texts.
#[derive(Debug, Deserialize)]
pub struct Text {
    pub id: u32,
    pub v: String,
}

/// The texts.
pub fn texts() -> Vec<Text> {
    let rows = include_str!("../fixtures/033-export-text-and-formula-injection/rows.json");
    serde_json::from_str(rows).expect("a fixture")
}

/// Makes the report `tx` of the texts.
pub async fn make_texts(place: &Place) {
    place.execute("CREATE TABLE tx (id int, v text)").await;
    for Text { id, v } in texts() {
        let hex: String = v.bytes().map(|byte| format!("{byte:02x}")).collect();
        let text = place.backend().pick(
            format!("CAST(X'{hex}' AS text)"),
            format!("convert_from('\\x{hex}', 'UTF8')"),
            format!("CONVERT(X'{hex}' USING utf8mb4)"),
        );
        place.execute(&format!("INSERT INTO tx VALUES ({id}, {text})")).await;
    }
    place.report(
        "tx",
        r#"
        from = "tx"
        order_by = ["id"]
        [[columns]]
        key = "id"
        title = "번호"
        type = "int"
        [[columns]]
        key = "v"
        title = "=글"
        type = "text"
        "#,
    );
}

/// The texts that a spreadsheet would run.
const RUN: [u32; 8] = [1, 2, 3, 5, 6, 7, 8, 19];

#[tokio::test]
async fn texts_come_through_json_as_they_are() {
    on_every_backend(async |place| {
        make_texts(&place).await;
        let server = Server::start(&place, &[]).await;
        let ndjson = server.get("/api/v1/reports/tx/rows").await;
        let read: Vec<(u32, String)> = ndjson
            .text()
            .lines()
            .map(|line| serde_json::from_str::<Text>(line).expect("an object a line"))
            .map(|row| (row.id, row.v))
            .collect();
        let stored: Vec<_> = texts().into_iter().map(|row| (row.id, row.v)).collect();
        assert_eq!(read, stored);
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn csv_without_the_guard_reads_back_to_the_same_texts() {
    on_every_backend(async |place| {
        make_texts(&place).await;
        let server = Server::start(&place, &[]).await;
        for (parameter, delimiter) in
            [(",", ','), ("%3B", ';'), ("%7C", '|'), ("%09", '\t'), ("tab", '\t')]
        {
            let path = format!(
                "/api/v1/reports/tx/rows?format=csv&formula_guard=false&delimiter={parameter}"
            );
            let csv = server.get(&path).await;
            let record = |row: Text| -> Vec<Field> { vec![Some(row.id.to_string()), Some(row.v)] };
            let mut expected: Vec<Vec<Field>> = vec![vec![Some("번호".into()), Some("=글".into())]];
            expected.extend(texts().into_iter().map(record));
            assert_eq!(parse_csv(csv.text(), delimiter), expected, "delimiter {parameter}");
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn the_guard_marks_what_a_spreadsheet_would_run_and_nothing_else() {
    on_every_backend(async |place| {
        make_texts(&place).await;
        let server = Server::start(&place, &[]).await;
        let csv = server.get("/api/v1/reports/tx/rows?format=csv").await;
        let records = parse_csv(csv.text(), ',');
        for (record, Text { id, v }) in records.iter().skip(1).zip(texts()) {
            let guarded = if RUN.contains(&id) { format!("'{v}") } else { v };
            assert_eq!(record[1].as_deref(), Some(&*guarded), "row {id}");
        }
        assert_eq!(records[0][1].as_deref(), Some("'=글"), "a title is text too");
        let asked = server.get("/api/v1/reports/tx/rows?format=csv&formula_guard=true").await;
        assert_eq!(asked.body, csv.body, "the guard is on unless it is switched off");
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn csv_has_the_header_and_the_byte_order_mark_that_were_asked_for() {
    on_every_backend(async |place| {
        make_texts(&place).await;
        let server = Server::start(&place, &[]).await;
        let begin = async |parameters: &str| {
            let path =
                format!("/api/v1/reports/tx/rows?format=csv&formula_guard=false{parameters}");
            let csv = server.get(&path).await;
            csv.text().split_once("\r\n").expect("a record").0.to_owned()
        };
        assert_eq!(begin("").await, "번호,=글");
        assert_eq!(begin("&header=title").await, "번호,=글");
        assert_eq!(begin("&header=key").await, "id,v");
        assert_eq!(begin("&header=none").await, "1,=1+1");
        assert_eq!(begin("&bom=true&header=key").await, "\u{FEFF}id,v");
        assert_eq!(begin("&bom=true&header=none").await, "\u{FEFF}1,=1+1");
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
async fn bytes_that_are_no_text_are_a_failure_that_names_row_and_column() {
    on_every_backend(async |place| {
        // The others take in no such bytes.
        if place.backend() != Backend::Sqlite {
            return;
        }
        place
            .execute("CREATE TABLE bad (id integer, v text); INSERT INTO bad VALUES (1, 'a'), (2, CAST(X'61ff' AS text))")
            .await;
        place.report(
            "bad",
            r#"
            from = "bad"
            order_by = ["id"]
            [[columns]]
            key = "id"
            type = "int"
            [[columns]]
            key = "words"
            column = "v"
            type = "text"
            "#,
        );
        let server = Server::start(&place, &[]).await;
        let answer = server.get("/api/v1/reports/bad/rows").await;
        let problem = answer.problem(500, "undecodable_value");
        let detail = problem["detail"].as_str().expect("a detail");
        assert!(detail.contains("row 2") && detail.contains("\"words\""), "{detail}");
        let run = server.run(&answer.run()).await;
        assert_eq!((&run["state"], &run["error"]["code"]), (&"failed".into(), &"undecodable_value".into()));
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn every_kind_of_character_comes_through() {
    on_every_backend(async |place| {
        let controls =
            (1..=0x1F).chain([0x20, 0x22, 0x27, 0x2C, 0x5C, 0x7F, 0x80, 0x9F, 0xA0, 0x300]);
        let others = [
            0x7FF, 0x800, 0x200B, 0x2028, 0x2029, 0xD7FF, 0xE000, 0xFEFF, 0xFFFD, 0xFFFF, 0x1_0000,
            0x10_FFFF,
        ];
        let characters: Vec<char> = controls.chain(others).filter_map(char::from_u32).collect();
        // Alone, doubled, and where an eight-byte step of a search begins and ends.
        let texts: Vec<String> = characters
            .iter()
            .flat_map(|c| {
                [format!("{c}"), format!("{c}{c}"), format!("1234567{c}"), format!("12345678{c}9")]
            })
            .collect();
        let hex =
            |text: &String| text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
        let value = |text: &String| {
            place.backend().pick(
                format!("CAST(X'{}' AS text)", hex(text)),
                format!("convert_from('\\x{}', 'UTF8')", hex(text)),
                format!("CONVERT(X'{}' USING utf8mb4)", hex(text)),
            )
        };
        let rows: Vec<String> =
            texts.iter().enumerate().map(|(id, text)| format!("({id}, {})", value(text))).collect();
        place
            .execute(&format!(
                "CREATE TABLE c (id int, v text); INSERT INTO c VALUES {}",
                rows.join(", ")
            ))
            .await;
        place.report(
            "c",
            "from = \"c\"\norder_by = [\"id\"]\n[[columns]]\nkey = \"v\"\ntype = \"text\"\n",
        );
        let server = Server::start(&place, &[]).await;
        let ndjson = server.get("/api/v1/reports/c/rows").await;
        let read = ndjson.text().split_terminator('\n').map(|line| {
            let row: Json =
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
            row["v"].as_str().expect("a text").to_owned()
        });
        assert_eq!(read.collect::<Vec<_>>(), texts);
        let csv =
            server.get("/api/v1/reports/c/rows?format=csv&header=none&formula_guard=false").await;
        let read =
            parse_csv(csv.text(), ',').into_iter().map(|record| record[0].clone().expect("a text"));
        assert_eq!(read.collect::<Vec<_>>(), texts);
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
