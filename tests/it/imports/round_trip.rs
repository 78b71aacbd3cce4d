//! Rows that were handed out and are taken in again are the same rows, whatever is in them and in whichever
//! format they went.

use std::process::Command;

use jiff::Timestamp;
use proptest::prelude::*;
use proptest::test_runner::{Config, FileFailurePersistence, TestRunner};
use tallyroll::imports::cells::trim;
use tallyroll::rows::Date;

use super::{count, stop, upload};
use crate::support::{Backend, Place, Server, backends, on_every_backend};

/// Columns with their types in reports and imports, and what imports have to know besides.
const COLUMNS: [(&str, &str, &str, &str); 8] = [
    ("id", "번호", "int", "required = true"),
    ("label", "이름, \"인용\"", "text", ""),
    ("whole", "수량", "int", ""),
    ("exact", "금액", "decimal", "precision = 38\nscale = 10"),
    ("real", "비율", "float", ""),
    ("truth", "사용여부", "bool", ""),
    ("day", "날짜", "date", ""),
    ("moment", "시각", "time", "zone = \"UTC\""),
];

/// One row, with each kind of value or nothing.
#[derive(Debug, Clone)]
struct Line {
    label: Option<String>,
    whole: Option<i64>,
    /// In units of the tenth digit behind the point.
    exact: Option<i128>,
    real: Option<f64>,
    truth: Option<bool>,
    /// Days since 1970.
    day: Option<i32>,
    /// Microseconds since 1970.
    moment: Option<i64>,
}

/// Texts as people and programs write them, those too that look like something else.
fn label() -> impl Strategy<Value = String> {
    let odd = [
        "00123",
        "=SUM(A1:A9)",
        "+82-10-1234-5678",
        "-",
        "@home",
        "-12.50",
        "1e5",
        "2026-01-31",
        "TRUE",
        "#N/A",
        "_x0041_",
        "'quoted'",
        "a\tb",
        "a\nb\r\nc",
        "\"",
        "\"\",\"\"",
        "sep=;",
        "한글 문자열, 쉼표",
        "👍🏽 e\u{301} ﷽",
        "null",
        "<a href=\"x\">&amp;</a>",
        "C:\\new\\table",
    ];
    let any = "[ -~가-힣\\n\"',;|\\t€😀]{1,30}";
    prop_oneof![prop::sample::select(odd.to_vec()).prop_map(str::to_owned), any].prop_filter(
        "white space at the ends does not count, and a guard cannot be told from a quote",
        |text| {
            let guarded = text
                .strip_prefix('\'')
                .is_some_and(|rest| rest.starts_with(['=', '+', '-', '@', '\t', '\r']));
            !text.is_empty() && trim(text) == text && !guarded
        },
    )
}

fn line() -> impl Strategy<Value = Line> {
    let exact = prop_oneof![
        -1_000_000_000_000_i128..1_000_000_000_000,
        -10_i128.pow(37)..10_i128.pow(37),
        Just(10_i128.pow(38) - 1),
    ];
    let whole = prop_oneof![-1_000_i64..1_000, any::<i64>()];
    let real = prop_oneof![
        prop::num::f64::NORMAL | prop::num::f64::ZERO,
        (-1_000_000_i32..1_000_000).prop_map(|cents| f64::from(cents) / 100.0),
    ];
    // The years 1000 to 9999, which every database has; 1900 is where spreadsheets begin.
    let day = prop_oneof![-354_285..2_932_896, -25_600..-25_500];
    let moment = prop_oneof![
        -30_609_878_400_i64..253_370_678_400,
        -2_300_000_000_i64..-2_150_000_000,
        1_700_000_000_i64..1_900_000_000,
    ];
    let moment = (moment, prop_oneof![Just(0_i64), 0_i64..1_000_000])
        .prop_map(|(second, micros)| second * 1_000_000 + micros);
    (
        prop::option::weighted(0.9, label()),
        prop::option::weighted(0.9, whole),
        prop::option::weighted(0.9, exact),
        prop::option::weighted(0.9, real),
        prop::option::weighted(0.9, any::<bool>()),
        prop::option::weighted(0.9, day),
        prop::option::weighted(0.9, moment),
    )
        .prop_map(|(label, whole, exact, real, truth, day, moment)| Line {
            label,
            whole,
            exact,
            real,
            truth,
            day,
            moment,
        })
}

impl Line {
    /// As values of a statement.
    fn sql(&self, id: usize, backend: Backend) -> String {
        let text = |text: String| format!("'{}'", text.replace('\'', "''"));
        let exact = self.exact.map(|units| {
            let digits = format!("{:011}", units.unsigned_abs());
            let (whole, fraction) = digits.split_at(digits.len() - 10);
            format!("'{}{whole}.{fraction}'", if units < 0 { "-" } else { "" })
        });
        let values = [
            Some(id.to_string()),
            self.label.clone().map(text),
            // The least one is no literal but a sum everywhere.
            self.whole.map(|whole| {
                format!("CAST('{whole}' AS {})", backend.pick("integer", "bigint", "signed"))
            }),
            exact,
            self.real.map(|real| format!("{real:e}")),
            self.truth.map(|truth| truth.to_string()),
            self.day.map(|days| {
                let (year, month, day) = Date { days }.ymd();
                format!("'{year:04}-{month:02}-{day:02}'")
            }),
            self.moment.map(|micros| moment(micros, backend)),
        ];
        let values = values.map(|value| value.unwrap_or_else(|| "NULL".into()));
        format!("({})", values.join(", "))
    }
}

/// A moment as each database takes it, on SQLite in the form in which it is compared as a text.
fn moment(micros: i64, backend: Backend) -> String {
    let at = Timestamp::from_microsecond(micros).expect("within the years");
    let fraction = match micros.rem_euclid(1_000_000) {
        0 => String::new(),
        micros if micros % 1_000 == 0 => format!(".{:03}", micros / 1_000),
        micros => format!(".{micros:06}"),
    };
    let apart = backend.pick("T", " ", " ");
    let utc = backend.pick("+00:00", "+00:00", "");
    format!("'{}{apart}{}{fraction}{utc}'", at.strftime("%Y-%m-%d"), at.strftime("%H:%M:%S"))
}

/// Two tables of the same form, a report of the one and an import into the other.
async fn tables(place: &Place) {
    let types = place.backend().pick(
        ["text", "text", "double", "text"],
        ["text", "numeric(38,10)", "double precision", "timestamptz"],
        ["varchar(500) COLLATE utf8mb4_bin", "decimal(38,10)", "double", "datetime(6)"],
    );
    let [text, exact, real, moment] = types;
    for table in ["source", "copied"] {
        place
            .execute(&format!(
                "CREATE TABLE {table} (id bigint NOT NULL, label {text}, whole bigint, \
                 exact {exact}, real_ {real}, truth boolean, day date, moment {moment})"
            ))
            .await;
    }
    let column = |(key, title, kind, _): (&str, &str, &str, &str)| {
        let not_null = if key == "id" { "not_null = true\n" } else { "" };
        let column = if key == "real" { "column = \"real_\"\n" } else { "" };
        format!(
            "[[columns]]\nkey = \"{key}\"\ntitle = '{title}'\ntype = \"{kind}\"\n{column}{not_null}"
        )
    };
    let columns: String = COLUMNS.into_iter().map(column).collect();
    place.report("source", &format!("from = \"source\"\norder_by = [\"id\"]\n{columns}"));
    let field = |(key, title, kind, more): (&str, &str, &str, &str)| {
        let column = if key == "real" { "column = \"real_\"\n" } else { "" };
        format!(
            "[[columns]]\nkey = \"{key}\"\ntitle = '{title}'\ntype = \"{kind}\"\n{column}{more}\n"
        )
    };
    let fields: String = COLUMNS.into_iter().map(field).collect();
    place.import("copied", &format!("into = \"copied\"\n{fields}"));
}

/// How many rows of each table the other does not have.
async fn differing(place: &Place, columns: &str, tables: [&str; 2]) -> String {
    let [one, other] = tables;
    let only = |one: &str, other: &str| {
        format!(
            "(SELECT count(*) FROM (SELECT {columns} FROM {one} EXCEPT \
             SELECT {columns} FROM {other}) AS d)"
        )
    };
    place.value(&format!("SELECT {} + {}", only(one, other), only(other, one))).await
}

/// Hands rows out in a format and takes them in again.
async fn around(place: &Place, server: &Server<'_>, parameters: &str, rows: usize) {
    place.execute("DELETE FROM copied").await;
    let file = server.get(&format!("/api/v1/reports/source/rows?{parameters}")).await;
    assert_eq!(file.status, 200, "{}", file.text());
    let answer = upload(server, "copied", "", file.body).await;
    assert_eq!(answer.status, 200, "{parameters}: {}", answer.text());
    let outcome = answer.json();
    assert_eq!(outcome["inserted"], rows, "{parameters}: {outcome}");
    assert_eq!(outcome["warnings"], serde_json::json!([]), "{parameters}: {outcome}");
    let differing = differing(place, "*", ["source", "copied"]).await;
    assert_eq!(differing, "0", "{parameters}: {}", told(place).await);
}

/// The first row that differs.
async fn told(place: &Place) -> String {
    let columns = COLUMNS.map(|(key, ..)| if key == "real" { "real_" } else { key });
    let mut said = Vec::new();
    for column in columns {
        if differing(place, &format!("id, {column}"), ["source", "copied"]).await == "0" {
            continue;
        }
        for (table, other) in [("source", "copied"), ("copied", "source")] {
            let first = format!(
                "SELECT {column} FROM {table} WHERE id = (SELECT min(id) FROM (SELECT id, {column} \
                 FROM {table} EXCEPT SELECT id, {column} FROM {other}) AS d)"
            );
            let some = format!("SELECT coalesce(CAST(({first}) AS char(500)), 'null')");
            said.push(format!("{table}.{column}: {:?}", place.value(&some).await));
        }
    }
    said.join("; ")
}

async fn whatever_is_in_them(place: &Place, server: &Server<'_>, lines: &[Line]) {
    let insert = async |lines: &[Line]| {
        place.execute("DELETE FROM source").await;
        let values = lines.iter().enumerate().map(|(id, line)| line.sql(id, place.backend()));
        let values = values.collect::<Vec<_>>().join(", ");
        place.execute(&format!("INSERT INTO source VALUES {values}")).await;
    };
    insert(lines).await;
    for parameters in [
        "format=ndjson",
        "format=ndjson&numbers=string&tz=America/New_York",
        "format=json&tz=UTC",
        "format=csv",
        "format=csv&bom=true&delimiter=%3B&tz=Europe/Lisbon",
        "format=csv&header=key&delimiter=%09",
    ] {
        around(place, server, parameters, lines.len()).await;
    }
    // A spreadsheet's moments end with the millisecond, and are a wall clock's.
    let mut lines = lines.to_vec();
    for line in &mut lines {
        line.moment = line.moment.map(|micros| micros - micros.rem_euclid(1_000));
    }
    insert(&lines).await;
    for parameters in ["format=xlsx&tz=UTC", "format=xlsx&tz=UTC&header=key"] {
        around(place, server, parameters, lines.len()).await;
    }
}

#[test]
fn rows_come_back_as_they_went_out() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let seeds = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/imports/round_trip.seeds");
    for backend in backends() {
        eprintln!("on {backend:?}");
        let place = runtime.block_on(Place::new(backend));
        runtime.block_on(tables(&place));
        let server = runtime.block_on(Server::start(&place, &[]));
        let mut runner = TestRunner::new(Config {
            cases: 12,
            max_shrink_iters: 100,
            failure_persistence: Some(Box::new(FileFailurePersistence::Direct(seeds))),
            ..Config::default()
        });
        let lines = prop::collection::vec(line(), 1..40);
        let ran = runner.run(&lines, |lines| {
            runtime.block_on(whatever_is_in_them(&place, &server, &lines));
            Ok(())
        });
        if let Err(error) = ran {
            panic!("{error}");
        }
        runtime.block_on(stop(server));
    }
}

/// What `LibreOffice` makes of a workbook; nothing where it is not installed, which is said aloud.
fn as_ods(place: &Place, xlsx: &[u8]) -> Option<Vec<u8>> {
    let from = place.write("settlements.xlsx", xlsx);
    let profile = place.path().join("profile");
    let mut command = Command::new("soffice");
    command.arg(format!("-env:UserInstallation=file://{}", profile.display()));
    command.args(["--headless", "--convert-to", "ods", "--outdir"]).arg(place.path()).arg(from);
    match command.output() {
        Ok(done) => {
            let said = String::from_utf8_lossy(&done.stderr);
            assert!(done.status.success(), "soffice ended with {}: {said}", done.status);
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            use std::io::Write as _;
            let words = b"soffice is not installed: nothing comes back as ods\n";
            let _ = std::io::stderr().write_all(words);
            return None;
        }
        Err(error) => panic!("soffice cannot be started: {error}"),
    }
    Some(std::fs::read(place.path().join("settlements.ods")).expect("soffice has written it"))
}

#[tokio::test]
async fn settlements_come_back_also_by_way_of_another_program() {
    const ROWS: u64 = 300;
    on_every_backend(async |place| {
        place.demo(ROWS).await;
        // A spreadsheet's moments end with the millisecond, LibreOffice's with the hundredth.
        let whole = place.backend().pick(
            "substr(paid_at, 1, 19) || '+00:00'",
            "date_trunc('second', paid_at)",
            "paid_at - INTERVAL MICROSECOND(paid_at) MICROSECOND",
        );
        place.execute(&format!("UPDATE settlement_lines SET paid_at = {whole}")).await;
        place.execute("CREATE TABLE copied AS SELECT * FROM settlement_lines WHERE 1 = 0").await;
        let report = include_str!("../../../src/reports/settlements.toml");
        let columns = report.split("[[columns]]").skip(1).map(|column| {
            let column = column.split("[[filters]]").next().unwrap_or_default();
            let kept = column.lines().filter(|line| {
                ["key =", "title =", "type ="].iter().any(|word| line.starts_with(word))
            });
            format!("[[columns]]\n{}\n", kept.collect::<Vec<_>>().join("\n"))
        });
        let columns: String = columns.collect();
        let keys: Vec<_> = columns.lines().filter_map(|line| line.strip_prefix("key = ")).collect();
        let keys = keys.join(", ").replace('"', "");
        place.import("copied", &format!("into = \"copied\"\n{columns}"));
        let server = Server::start(&place, &[]).await;
        let mut files = Vec::new();
        for format in ["ndjson", "csv", "xlsx"] {
            let path = format!("/api/v1/reports/settlements/rows?format={format}");
            let file = server.get(&path).await;
            assert_eq!(file.status, 200, "{}", file.text());
            if format == "xlsx" {
                files.extend(as_ods(&place, &file.body).map(|file| ("ods", file)));
            }
            files.push((format, file.body));
        }
        for (format, file) in files {
            let outcome = upload(&server, "copied", "", file).await.json();
            assert_eq!(outcome["inserted"], ROWS, "{format}: {outcome}");
            let differing = differing(&place, &keys, ["settlement_lines", "copied"]).await;
            assert_eq!(differing, "0", "{format}");
            assert_eq!(count(&place, "copied").await, ROWS.to_string());
            place.execute("DELETE FROM copied").await;
        }
        stop(server).await;
    })
    .await;
}
