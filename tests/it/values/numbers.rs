//! Numbers: integers, decimals and floats, to the last digit.

use serde::Deserialize;
use serde_json::Value as Json;

use crate::support::{Backend, Place, Server, on_every_backend, parse_csv};

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
    serde_json::from_str(include_str!("../../fixtures/031-export-numbers/rows.json"))
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
