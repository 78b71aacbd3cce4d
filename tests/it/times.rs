//! Times: shown in a zone, stored with and without one, counted, to the last digit.

use crate::support::{Place, Server, on_every_backend};

async fn times(server: &Server<'_>, report: &str, parameters: &str) -> Vec<String> {
    let path = format!("/api/v1/reports/{report}/rows?format=csv&header=none{parameters}");
    let csv = server.get(&path).await;
    assert_eq!(csv.status, 200, "{}", csv.text());
    csv.text().lines().map(|line| line.trim_end().to_owned()).collect()
}

async fn make_moments(place: &Place) {
    let kind = place.backend().pick("text", "timestamptz", "datetime(6)");
    place
        .execute(&place.moments(&format!(
            "CREATE TABLE moments (id bigint, at {kind});
             INSERT INTO moments VALUES
             (1, '2026-03-08 06:59:59.999999+00:00'), (2, '2026-03-08 07:00:00+00:00'),
             (3, '2026-11-01 05:30:00+00:00'), (4, '2026-11-01 06:30:00+00:00'),
             (5, '2026-01-31 15:00:00.1+00:00'), (6, '2026-01-31 15:00:00.000001+00:00'),
             (7, '2026-01-31 23:59:59.120000+09:00'), (8, '1969-12-31 23:59:59.5+00:00'),
             (9, '0001-01-01 12:00:00+00:00'), (10, '9999-12-31 12:00:00.5+00:00')"
        )))
        .await;
    place.report(
        "moments",
        r#"
        from = "moments"
        order_by = ["id"]
        [[columns]]
        key = "at"
        type = "time"
        "#,
    );
}

#[tokio::test]
async fn times_are_shown_in_the_zone_that_was_asked_for_with_the_digits_they_have() {
    on_every_backend(async |place| {
        make_moments(&place).await;
        let server = Server::start(&place, &[]).await;
        let utc = [
            "2026-03-08T06:59:59.999999Z",
            "2026-03-08T07:00:00Z",
            "2026-11-01T05:30:00Z",
            "2026-11-01T06:30:00Z",
            "2026-01-31T15:00:00.1Z",
            "2026-01-31T15:00:00.000001Z",
            "2026-01-31T14:59:59.12Z",
            "1969-12-31T23:59:59.5Z",
            "0001-01-01T12:00:00Z",
            "9999-12-31T12:00:00.5Z",
        ];
        assert_eq!(times(&server, "moments", "&tz=UTC").await, utc);
        let new_york = times(&server, "moments", "&tz=America/New_York").await;
        let summer = [
            "2026-03-08T01:59:59.999999-05:00",
            "2026-03-08T03:00:00-04:00",
            "2026-11-01T01:30:00-04:00",
            "2026-11-01T01:30:00-05:00",
        ];
        assert_eq!(new_york[..4], summer);
        let seoul = times(&server, "moments", "").await;
        assert_eq!(seoul[4], "2026-02-01T00:00:00.1+09:00");
        assert_eq!(times(&server, "moments", "&tz=Asia/Seoul").await, seoul, "the default");
        let kolkata = times(&server, "moments", "&tz=Asia/Kolkata").await;
        assert_eq!(kolkata[4], "2026-01-31T20:30:00.1+05:30");
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn the_zone_of_the_settings_is_the_default() {
    on_every_backend(async |place| {
        make_moments(&place).await;
        let server = Server::start(&place, &[("time_zone", "UTC")]).await;
        assert_eq!(times(&server, "moments", "").await[1], "2026-03-08T07:00:00Z");
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_time_stored_without_a_zone_is_utc_or_the_wall_clock_of_the_declared_zone() {
    on_every_backend(async |place| {
        let kind = place.backend().pick("text", "timestamp", "datetime(6)");
        place
            .execute(&format!(
                "CREATE TABLE walls (id bigint, at {kind});
                 INSERT INTO walls VALUES
                 (1, '2026-01-31 23:59:59.123456'), (2, '2026-03-08 02:30:00'), (3, '2026-11-01 01:30:00')"
            ))
            .await;
        place.report(
            "walls",
            r#"
            from = "walls"
            order_by = ["id"]
            [[columns]]
            key = "plain"
            column = "at"
            type = "time"
            [[columns]]
            key = "seoul"
            column = "at"
            type = "time"
            zone = "Asia/Seoul"
            [[columns]]
            key = "new_york"
            column = "at"
            type = "time"
            zone = "America/New_York"
            "#,
        );
        let server = Server::start(&place, &[]).await;
        let shown = times(&server, "walls", "&tz=UTC").await;
        assert_eq!(
            shown,
            [
                "2026-01-31T23:59:59.123456Z,2026-01-31T14:59:59.123456Z,2026-02-01T04:59:59.123456Z",
                // The clock of New York skips this hour: read by the offset before the change.
                "2026-03-08T02:30:00Z,2026-03-07T17:30:00Z,2026-03-08T07:30:00Z",
                // The clock shows this twice: the first.
                "2026-11-01T01:30:00Z,2026-10-31T16:30:00Z,2026-11-01T05:30:00Z",
            ]
        );
        let seoul = times(&server, "walls", "&columns=seoul").await;
        assert_eq!(seoul[0], "2026-01-31T23:59:59.123456+09:00", "the same clock is shown again");
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_counted_time_is_read_by_its_unit() {
    on_every_backend(async |place| {
        place
            .execute(
                "CREATE TABLE counted (id bigint, s bigint, ms bigint, us bigint);
                 INSERT INTO counted VALUES (1, 1769871599, 1769871599123, 1769871599123456), (2, -1, -1, -1),
                 (3, NULL, NULL, NULL)",
            )
            .await;
        let column = |(key, unit): (&str, &str)| {
            format!("[[columns]]\nkey = \"{key}\"\ntype = \"time\"\nunit = \"{unit}\"\n")
        };
        let columns = [("s", "seconds"), ("ms", "milliseconds"), ("us", "microseconds")].map(column);
        let filter = "[[filters]]\nname = \"from\"\ncolumn = \"ms\"\nop = \">=\"\n";
        let report = format!("from = \"counted\"\norder_by = [\"id\"]\n{}{filter}", columns.concat());
        place.report("counted", &report);
        let server = Server::start(&place, &[]).await;
        assert_eq!(
            times(&server, "counted", "&tz=UTC").await,
            [
                "2026-01-31T14:59:59Z,2026-01-31T14:59:59.123Z,2026-01-31T14:59:59.123456Z",
                "1969-12-31T23:59:59Z,1969-12-31T23:59:59.999Z,1969-12-31T23:59:59.999999Z",
                ",,",
            ]
        );
        let from = times(&server, "counted", "&columns=ms&from=2026-01-31T14:59:59.123Z&tz=UTC").await;
        assert_eq!(from, ["2026-01-31T14:59:59.123Z"]);
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn dates_are_days_in_every_zone() {
    on_every_backend(async |place| {
        let kind = place.backend().pick("text", "date", "date");
        place
            .execute(&format!(
                "CREATE TABLE days (id bigint, day {kind});
                 INSERT INTO days VALUES (1, '0001-01-01'), (2, '1582-10-10'), (3, '2024-02-29'), (4, '9999-12-31')"
            ))
            .await;
        place.report(
            "days",
            r#"
            from = "days"
            order_by = ["id"]
            [[columns]]
            key = "day"
            type = "date"
            "#,
        );
        let server = Server::start(&place, &[]).await;
        for zone in ["UTC", "Asia/Seoul", "America/New_York"] {
            let days = times(&server, "days", &format!("&tz={zone}")).await;
            assert_eq!(days, ["0001-01-01", "1582-10-10", "2024-02-29", "9999-12-31"], "{zone}");
        }
        server.stop().await;
    })
    .await;
}

/// Times at both ends of the calendar, with and without a zone of their own, and filters on them.
async fn make_ends(place: &Place) {
    let (moment, wall) = place.backend().pick(
        ("text", "text"),
        ("timestamptz", "timestamp"),
        ("datetime(6)", "datetime(6)"),
    );
    place
        .execute(&place.moments(&format!(
            "CREATE TABLE ends (id bigint, at {moment}, seoul {wall}, new_york {wall});
             INSERT INTO ends VALUES
             (1, '0001-01-01 00:00:00+00:00', '0001-01-01 00:00:00', '0001-01-01 00:00:00'),
             (2, '2026-01-31 00:00:00+00:00', '2026-01-31 00:00:00', '2026-01-31 00:00:00'),
             (3, '9999-12-31 23:59:59.999999+00:00', '9999-12-31 23:59:59.999999',
              '9999-12-31 23:59:59.999999')"
        )))
        .await;
    let columns = [("at", ""), ("seoul", "Asia/Seoul"), ("new_york", "America/New_York")];
    let mut toml = "from = \"ends\"\norder_by = [\"id\"]\n".to_owned();
    toml += "[[columns]]\nkey = \"id\"\ntype = \"int\"\n";
    for (key, zone) in columns {
        let zone = if zone.is_empty() { String::new() } else { format!("zone = \"{zone}\"\n") };
        toml += &format!("[[columns]]\nkey = \"{key}\"\ntype = \"time\"\n{zone}");
        for (name, op) in
            [("is", "="), ("from", ">="), ("after", ">"), ("to", "<"), ("until", "<=")]
        {
            toml += &format!(
                "[[filters]]\nname = \"{key}_{name}\"\ncolumn = \"{key}\"\nop = \"{op}\"\n"
            );
        }
    }
    place.report("ends", &toml);
}

#[tokio::test]
async fn the_first_and_the_last_day_are_days_like_others_in_every_zone() {
    let cases: [(&str, &[u64]); 16] = [
        ("at_from=0001-01-01&tz=UTC", &[1, 2, 3]),
        ("at_is=0001-01-01&tz=Asia/Seoul", &[1]),
        ("at_from=0001-01-01&tz=Asia/Seoul", &[1, 2, 3]),
        ("at_to=0001-01-01&tz=Asia/Seoul", &[]),
        ("at_until=0001-01-01&tz=Asia/Seoul", &[1]),
        ("at_to=0001-01-01&tz=America/New_York", &[1]),
        ("at_is=9999-12-31&tz=America/New_York", &[3]),
        ("at_until=9999-12-31&tz=America/New_York", &[1, 2, 3]),
        ("at_after=9999-12-31&tz=Asia/Seoul", &[3]),
        ("at_after=9999-12-31&tz=America/New_York", &[]),
        // Walls: what is asked for lies in the year before the first or behind the last one.
        ("new_york_from=0001-01-01T00:00:00Z", &[1, 2, 3]),
        ("new_york_to=0001-01-01T00:00:00Z", &[]),
        ("new_york_from=0001-01-01&tz=Asia/Seoul", &[1, 2, 3]),
        ("seoul_until=9999-12-31T23:59:59Z", &[1, 2, 3]),
        ("seoul_after=9999-12-31T23:59:59Z", &[]),
        ("seoul_is=9999-12-31&tz=Asia/Seoul", &[3]),
    ];
    on_every_backend(async |place| {
        make_ends(&place).await;
        let server = Server::start(&place, &[]).await;
        let mut wrong = Vec::new();
        for (parameters, ids) in cases {
            let path = format!("/api/v1/reports/ends/rows?columns=id&{parameters}");
            let answer = server.get(&path).await;
            let expected: String = ids.iter().map(|id| format!("{{\"id\":{id}}}\n")).collect();
            if answer.text() != expected {
                wrong.push(format!("{parameters}: {:?}", answer.text()));
            }
        }
        assert_eq!(wrong, Vec::<String>::new());
        server.stop().await;
    })
    .await;
}
