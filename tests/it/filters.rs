//! Columns and filters: each operation on each type, days at the borders of zones, counts that agree.

use crate::support::{Place, Server, on_every_backend};

const KINDS: [(&str, &str); 7] = [
    ("t", "text"),
    ("i", "int"),
    ("d", "decimal"),
    ("f", "float"),
    ("b", "bool"),
    ("day", "date"),
    ("at", "time"),
];
const OPERATIONS: [(&str, &str); 10] = [
    ("eq", "="),
    ("ne", "!="),
    ("lt", "<"),
    ("le", "<="),
    ("gt", ">"),
    ("ge", ">="),
    ("in", "in"),
    ("contains", "contains"),
    ("prefix", "prefix"),
    ("null", "is_null"),
];

/// A report with a filter for each operation that a type takes, named like `i_le`.
async fn make(place: &Place) {
    let columns = place.backend().pick(
        "t text, i integer, d text, f real, b integer, day text, at text",
        "t text, i bigint, d numeric, f double precision, b boolean, day date, at timestamptz",
        "t text, i bigint, d decimal(30, 2), f double, b boolean, day date, at datetime(6)",
    );
    let (yes, no) = place.backend().pick(("1", "0"), ("true", "false"), ("true", "false"));
    place
        .execute(&place.moments(&format!(
            "CREATE TABLE f (id bigint PRIMARY KEY, hidden text, {columns});
             INSERT INTO f VALUES
             (1, 'x', 'apple', 10, '1.50', 0.5, {yes}, '2026-01-01', '2025-12-31 15:00:00+00:00'),
             (2, 'y', 'apricot', 20, '2.5', 1.5, {no}, '2026-01-31', '2026-01-31 14:59:59.999999+00:00'),
             (3, 'x', 'Banana', -5, '-0.01', -2.0, {yes}, '2026-02-01', '2026-02-01 00:00:00+09:00'),
             (4, 'y', '100%_*[가]?''', 9007199254740993, '12345678901234567890.1', 1e300, {no},
              '1970-01-01', '1970-01-01 00:00:00+00:00'),
             (5, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)"
        )))
        .await;
    let mut toml = String::from(
        "from = \"f\"\norder_by = [\"id\"]\n[[columns]]\nkey = \"id\"\ntype = \"int\"\n",
    );
    for (key, kind) in KINDS {
        toml += &format!("[[columns]]\nkey = \"{key}\"\ntype = \"{kind}\"\n");
        let takes = |word: &str| match (kind, word) {
            ("text", _) => true,
            ("bool", "<" | "<=" | ">" | ">=") => false,
            (_, word) => !matches!(word, "contains" | "prefix"),
        };
        for (name, word) in OPERATIONS.into_iter().filter(|operation| takes(operation.1)) {
            toml += &format!(
                "[[filters]]\nname = \"{key}_{name}\"\ncolumn = \"{key}\"\nop = \"{word}\"\n"
            );
        }
    }
    toml += "[[filters]]\nname = \"hidden\"\ncolumn = \"hidden\"\nop = \"=\"\ntype = \"text\"\n";
    place.report("f", &toml);
}

/// Parameters, and the ids of the rows that they leave.
const CASES: &[(&str, &[u64])] = &[
    ("", &[1, 2, 3, 4, 5]),
    ("t_eq=apple", &[1]),
    ("t_ne=apple", &[2, 3, 4]),
    ("t_in=apple&t_in=Banana&t_in=apple", &[1, 3]),
    ("t_prefix=ap", &[1, 2]),
    ("t_prefix=AP", &[]),
    ("t_prefix=100%25_*%5B", &[4]),
    ("t_prefix=1?0", &[]),
    ("t_prefix=*", &[]),
    ("t_contains=an", &[3]),
    ("t_contains=AN", &[]),
    ("t_contains=%25_*%5B%EA%B0%80%5D?'", &[4]),
    ("t_contains=%25_a", &[]),
    ("t_null=true", &[5]),
    ("t_null=false", &[1, 2, 3, 4]),
    ("i_eq=10", &[1]),
    ("i_ne=10", &[2, 3, 4]),
    ("i_lt=10", &[3]),
    ("i_le=10", &[1, 3]),
    ("i_gt=10", &[2, 4]),
    ("i_ge=10", &[1, 2, 4]),
    ("i_in=10&i_in=20&i_in=30", &[1, 2]),
    ("i_eq=9007199254740993", &[4]),
    ("i_eq=9007199254740992", &[]),
    ("i_lt=9007199254740993", &[1, 2, 3]),
    ("i_le=-5", &[3]),
    ("i_null=true", &[5]),
    ("d_eq=1.5", &[1]),
    ("d_eq=1.500", &[1]),
    ("d_ne=1.5", &[2, 3, 4]),
    ("d_lt=2.5", &[1, 3]),
    ("d_le=2.5", &[1, 2, 3]),
    ("d_gt=2.5", &[4]),
    ("d_ge=12345678901234567890.1", &[4]),
    ("d_gt=12345678901234567890.1", &[]),
    ("d_lt=12345678901234567890.10000000001", &[1, 2, 3, 4]),
    ("d_in=2.50&d_in=-0.01", &[2, 3]),
    ("d_null=false", &[1, 2, 3, 4]),
    ("f_eq=0.5", &[1]),
    ("f_gt=0.5", &[2, 4]),
    ("f_lt=0", &[3]),
    ("f_ge=1e300", &[4]),
    ("f_in=1.5&f_in=-2", &[2, 3]),
    ("b_eq=true", &[1, 3]),
    ("b_ne=true", &[2, 4]),
    ("b_in=true&b_in=false", &[1, 2, 3, 4]),
    ("b_null=true", &[5]),
    ("day_eq=2026-01-31", &[2]),
    ("day_ne=2026-01-31", &[1, 3, 4]),
    ("day_lt=2026-01-31", &[1, 4]),
    ("day_le=2026-01-31", &[1, 2, 4]),
    ("day_gt=2026-01-31", &[3]),
    ("day_ge=2026-01-31", &[2, 3]),
    ("day_in=1970-01-01&day_in=2026-02-01", &[3, 4]),
    ("day_null=true", &[5]),
    // A day of Seoul, unless another zone is named.
    ("at_eq=2026-01-31", &[2]),
    ("at_ne=2026-01-31", &[1, 3, 4]),
    ("at_lt=2026-01-31", &[1, 4]),
    ("at_le=2026-01-31", &[1, 2, 4]),
    ("at_gt=2026-01-31", &[3]),
    ("at_ge=2026-01-31", &[2, 3]),
    ("at_ge=2026-02-01", &[3]),
    ("at_lt=2026-02-01", &[1, 2, 4]),
    ("at_in=2026-01-01&at_in=2026-02-01", &[1, 3]),
    ("at_eq=2026-01-31&tz=UTC", &[2, 3]),
    ("at_ge=2026-02-01&tz=UTC", &[]),
    ("at_le=2026-01-31&tz=UTC", &[1, 2, 3, 4]),
    ("at_lt=2026-01-01&tz=UTC", &[1, 4]),
    ("at_ge=2026-01-31&tz=America/New_York", &[2, 3]),
    ("at_eq=1969-12-31&tz=America/New_York", &[4]),
    // An instant is one, whatever the zone.
    ("at_ge=2026-01-31T15:00:00Z", &[3]),
    ("at_gt=2026-01-31T15:00:00Z", &[]),
    ("at_eq=2026-02-01T00:00:00%2B09:00&tz=UTC", &[3]),
    ("at_le=2026-01-31T23:59:59.999999%2B09:00", &[1, 2, 4]),
    ("at_lt=2026-01-31T23:59:59.999999+09:00", &[1, 4]),
    ("at_eq=2026-01-31T14:59:59.9999995Z", &[]),
    ("at_gt=2026-01-31T14:59:59.9999985Z", &[2, 3]),
    ("at_null=false", &[1, 2, 3, 4]),
    // The first day begins in the year before where the zone lies to the east, and the last one ends
    // in the year behind where it lies to the west.
    ("day_ge=0001-01-01&day_le=9999-12-31", &[1, 2, 3, 4]),
    ("at_eq=0001-01-01", &[]),
    ("at_ne=0001-01-01", &[1, 2, 3, 4]),
    ("at_lt=0001-01-01", &[]),
    ("at_ge=0001-01-01", &[1, 2, 3, 4]),
    ("at_in=0001-01-01&at_in=2026-01-01", &[1]),
    ("at_eq=9999-12-31&tz=America/New_York", &[]),
    ("at_ne=9999-12-31&tz=America/New_York", &[1, 2, 3, 4]),
    ("at_le=9999-12-31&tz=America/New_York", &[1, 2, 3, 4]),
    ("at_gt=9999-12-31&tz=America/New_York", &[]),
    ("at_in=9999-12-31&at_in=1969-12-31&tz=America/New_York", &[4]),
    ("at_lt=9999-12-31T23:59:59.9999999Z", &[1, 2, 3, 4]),
    ("at_ge=9999-12-31T23:59:59.9999999Z", &[]),
    // All of them must hold, and one may be of a column that is not shown.
    ("hidden=x", &[1, 3]),
    ("hidden=x&i_gt=0", &[1]),
    ("t_prefix=a&b_eq=false&at_ge=2026-01-31", &[2]),
];

#[tokio::test]
async fn each_operation_leaves_the_rows_that_it_says_and_the_count_agrees() {
    on_every_backend(async |place| {
        make(&place).await;
        let server = Server::start(&place, &[]).await;
        let mut wrong = Vec::new();
        for (parameters, ids) in CASES {
            let answer =
                server.get(&format!("/api/v1/reports/f/rows?columns=id&{parameters}")).await;
            let expected: String = ids.iter().map(|id| format!("{{\"id\":{id}}}\n")).collect();
            let count = server.get(&format!("/api/v1/reports/f/count?{parameters}")).await;
            let counted = count.text() == format!("{{\"rows\":{}}}", ids.len());
            if answer.text() != expected || !counted {
                wrong.push(format!("{parameters}: {:?} {}", answer.text(), count.text()));
            }
        }
        assert_eq!(wrong, Vec::<String>::new());
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn faults_of_filters_are_all_told_with_what_each_takes() {
    on_every_backend(async |place| {
        make(&place).await;
        let server = Server::start(&place, &[]).await;
        let parameters = "i_eq=1.5&d_eq=1e5&f_eq=NaN&b_eq=1&day_eq=2026-02-30&at_eq=2026-01-31T10:00:00&\
                          t_eq=&i_in=1&i_in=x&i_lt=99999999999999999999&day_ge=31.01.2026&at_ge=2026-1-1&\
                          d_lt=1,5&t_prefix=%00&b_in=yes";
        let expected = [
            ("t_eq", "empty_value"),
            ("t_prefix", "not_a_text"),
            ("i_eq", "not_an_int"),
            ("i_lt", "not_an_int"),
            ("i_in", "not_an_int"),
            ("d_eq", "not_a_decimal"),
            ("d_lt", "not_a_decimal"),
            ("f_eq", "not_a_float"),
            ("b_eq", "not_a_bool"),
            ("b_in", "not_a_bool"),
            ("day_eq", "not_a_date"),
            ("day_ge", "not_a_date"),
            ("at_eq", "not_a_time"),
            ("at_ge", "not_a_time"),
        ];
        let expected = expected.map(|(name, code)| (name.to_owned(), code.to_owned()));
        for kind in ["rows", "count"] {
            let answer = server.get(&format!("/api/v1/reports/f/{kind}?{parameters}")).await;
            assert_eq!(answer.problems(), expected, "{kind}");
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_required_filter_must_be_given() {
    on_every_backend(async |place| {
        place.execute("CREATE TABLE r (id bigint); INSERT INTO r VALUES (1)").await;
        place.report(
            "r",
            r#"
            from = "r"
            [[columns]]
            key = "id"
            type = "int"
            [[filters]]
            name = "which"
            column = "id"
            op = "="
            required = true
            "#,
        );
        let server = Server::start(&place, &[]).await;
        let missing = [("which".to_owned(), "missing_parameter".to_owned())];
        assert_eq!(server.get("/api/v1/reports/r/rows").await.problems(), missing);
        assert_eq!(server.get("/api/v1/reports/r/count").await.problems(), missing);
        assert_eq!(server.get("/api/v1/reports/r/rows?which=1").await.text(), "{\"id\":1}\n");
        let shown = server.json("/api/v1/reports/r").await;
        let filter = serde_json::json!([
            { "name": "which", "title": "which", "type": "int", "op": "=", "required": true }
        ]);
        assert_eq!(shown["filters"], filter);
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn columns_come_as_they_were_asked_for() {
    on_every_backend(async |place| {
        make(&place).await;
        let server = Server::start(&place, &[]).await;
        let get = async |columns: &str, more: &str| {
            let path = format!("/api/v1/reports/f/rows?columns={columns}&i_eq=10&{more}");
            server.get(&path).await.text().to_owned()
        };
        assert_eq!(get("d,id", "").await, "{\"d\":1.50,\"id\":1}\n");
        assert_eq!(get("t,%20b", "format=csv").await, "t,b\r\napple,true\r\n");
        assert_eq!(
            get("b", "limit=1").await,
            "{\"b\":true}\n",
            "what orders the rows is not shown"
        );
        let refused = server.get("/api/v1/reports/f/rows?columns=id,nope,id,").await;
        let expected = [
            ("columns", "unknown_column"),
            ("columns", "doubled_column"),
            ("columns", "unknown_column"),
        ];
        assert_eq!(
            refused.problems(),
            expected.map(|(name, code)| (name.to_owned(), code.to_owned()))
        );
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn only_the_columns_that_were_asked_for_are_read() {
    on_every_backend(async |place| {
        // A value that cannot be read as declared; the others can be had without it.
        let broken = place.backend().pick("'x'", "1/(id - 1)", "abs(id - 9223372036854775807 - 2)");
        place.execute("CREATE TABLE base (id bigint); INSERT INTO base VALUES (1)").await;
        place.execute(&format!("CREATE VIEW v AS SELECT id, {broken} AS x FROM base")).await;
        place.report(
            "v",
            r#"
            from = "v"
            order_by = ["id"]
            [[columns]]
            key = "id"
            type = "int"
            [[columns]]
            key = "x"
            type = "int"
            "#,
        );
        let server = Server::start(&place, &[]).await;
        assert_eq!(server.get("/api/v1/reports/v/rows").await.status, 500);
        assert_eq!(server.get("/api/v1/reports/v/rows?columns=id").await.text(), "{\"id\":1}\n");
        server.stop().await;
    })
    .await;
}
