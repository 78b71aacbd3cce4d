//! A query that gives no first row in time is stopped: 504, with the way that takes as long as it
//! needs.

use std::time::{Duration, Instant};

use super::trickle::{SLOW_ROWS, slow_report};
use super::{SECOND, assert_failed, nothing_works, report, rows, sorting_report};
use crate::support::{Backend, Server, on_every_backend, on_every_server};

const LIMIT: Duration = Duration::from_secs(1);

#[tokio::test]
async fn a_query_without_a_first_row_in_time_is_stopped_with_a_504() {
    on_every_backend(async |place| {
        sorting_report(&place);
        let mut reports = vec!["sorting"];
        if place.backend() != Backend::Sqlite {
            let asleep = place.backend().pick("", "pg_sleep(30)::text", "CAST(SLEEP(30) AS CHAR)");
            let sql = format!("SELECT 1 AS id, {asleep} AS v");
            report(&place, "asleep", &[("id", "int"), ("v", "text")], &sql);
            reports.push("asleep");
        }
        let settings =
            [("first_row_timeout", "1s"), ("streams", "1"), ("builds", "1"), ("queue_wait", "1s")];
        let server = Server::start(&place, &settings).await;
        for report in reports {
            for asked in [
                "format=ndjson",
                "format=json",
                "format=csv",
                "format=xlsx&delivery=direct",
                "format=xlsx",
                "format=csv&delivery=prepared",
            ] {
                let begun = Instant::now();
                let answer = server.get(&format!("{}?{asked}", rows(report))).await;
                let (after, answered) = (begun.elapsed(), Instant::now());
                assert!(after >= LIMIT, "{after:?}");
                assert!(after < LIMIT + SECOND, "{after:?}");
                let problem = answer.problem(504, "first_row_timeout");
                let detail = problem["detail"].as_str().unwrap_or_default();
                assert!(detail.contains("export"), "the way out is named: {problem}");
                assert!(detail.contains("1 s"), "the limit is named: {problem}");
                nothing_works(&server, answered).await;
                assert_failed(&server.run(&answer.run()).await, "first_row_timeout");
            }
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_count_that_takes_too_long_is_stopped_with_a_504() {
    on_every_backend(async |place| {
        sorting_report(&place);
        let server = Server::start(&place, &[("first_row_timeout", "1s")]).await;
        let begun = Instant::now();
        let answer = server.get("/api/v1/reports/sorting/count").await;
        let after = begun.elapsed();
        assert!(after >= LIMIT && after < LIMIT + SECOND, "{after:?}");
        answer.problem(504, "first_row_timeout");
        nothing_works(&server, Instant::now()).await;
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn the_rows_after_the_first_may_take_longer() {
    on_every_server(async |place| {
        slow_report(&place).await;
        let server = Server::start(&place, &[("first_row_timeout", "1s")]).await;
        let begun = Instant::now();
        let answer = server.get(&format!("{}?format=csv", rows("slow"))).await;
        assert!(begun.elapsed() > LIMIT);
        assert_eq!((answer.status, answer.text().lines().count()), (200, 1 + SLOW_ROWS));
        server.stop().await;
    })
    .await;
}
