//! The list of runs: newest first, narrowed, paged; and an end to what is over already.

use reqwest::Method;
use serde_json::{Value as Json, json};

use crate::support::{Server, on_every_backend};

const ROWS: &str = "/api/v1/reports/settlements/rows";

fn ids(page: &Json) -> Vec<String> {
    let items = page["items"].as_array().expect("a list");
    items.iter().map(|run| run["id"].as_str().expect("an id").to_owned()).collect()
}

#[tokio::test]
async fn runs_are_listed_newest_first_and_paged() {
    on_every_backend(async |place| {
        place.demo(5).await;
        let server = Server::start(&place, &[]).await;
        let mut begun = Vec::new();
        for _ in 0..7 {
            begun.push(server.get(&format!("{ROWS}?limit=1")).await.run());
        }
        begun.reverse();
        let all = server.json("/api/v1/runs").await;
        assert_eq!((ids(&all), &all["next"]), (begun.clone(), &Json::Null));
        let (mut paged, mut sizes, mut after) = (Vec::new(), Vec::new(), String::new());
        loop {
            let page = server.json(&format!("/api/v1/runs?limit=3{after}")).await;
            sizes.push(ids(&page).len());
            paged.extend(ids(&page));
            let Some(next) = page["next"].as_str() else { break };
            after = format!("&after={next}");
        }
        assert_eq!((paged, sizes), (begun.clone(), vec![3, 3, 1]));
        let one = server.json(&format!("/api/v1/runs/{}", begun[0])).await;
        assert_eq!(one, all["items"][0], "listed and shown alike");
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn runs_are_narrowed_by_kind_name_and_state() {
    on_every_backend(async |place| {
        place.demo(5).await;
        place.report("gone", "from = \"gone\"\n[[columns]]\nkey = \"id\"\ntype = \"int\"\n");
        let server = Server::start(&place, &[]).await;
        let well = server.get(ROWS).await.run();
        let failed = server.get("/api/v1/reports/gone/rows").await.run();
        let found =
            async |parameters: &str| ids(&server.json(&format!("/api/v1/runs?{parameters}")).await);
        assert_eq!(found("").await, [failed.clone(), well.clone()]);
        assert_eq!(found("name=settlements").await, std::slice::from_ref(&well));
        assert_eq!(found("state=failed").await, std::slice::from_ref(&failed));
        assert_eq!(found("state=complete&kind=report&name=settlements").await, [well]);
        assert_eq!(found("state=complete&name=gone").await, Vec::<String>::new());
        assert_eq!(found("kind=import").await, Vec::<String>::new());
        assert_eq!(found("state=running").await, Vec::<String>::new());
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn faults_in_a_search_for_runs_are_all_told() {
    on_every_backend(async |place| {
        let server = Server::start(&place, &[]).await;
        let answer = server
            .get("/api/v1/runs?kind=dance&state=asleep&limit=0&after=x&colour=red&name=a&name=b")
            .await;
        let expected = [
            ("kind", "unknown_value"),
            ("state", "unknown_value"),
            ("limit", "not_a_count"),
            ("after", "bad_cursor"),
            ("colour", "unknown_parameter"),
            ("name", "doubled_parameter"),
        ];
        assert_eq!(
            answer.problems(),
            expected.map(|(name, code)| (name.to_owned(), code.to_owned()))
        );
        assert_eq!(server.get("/api/v1/runs?limit=1001").await.problems().len(), 1);
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn deleting_a_finished_run_changes_nothing_and_may_be_repeated() {
    on_every_backend(async |place| {
        place.demo(5).await;
        let server = Server::start(&place, &[]).await;
        let id = server.get(ROWS).await.run();
        let before = server.run(&id).await;
        for _ in 0..2 {
            let answer = server.request(Method::DELETE, &format!("/api/v1/runs/{id}"), &[]).await;
            assert_eq!((answer.status, answer.body.len()), (204, 0), "{}", answer.text());
            assert_eq!(server.run(&id).await, before);
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_run_that_is_not_there_cannot_be_shown_or_deleted() {
    on_every_backend(async |place| {
        let server = Server::start(&place, &[]).await;
        for id in ["0190aaaa-bbbb-7ccc-8ddd-eeeeffff0000", "none", "1"] {
            for method in [Method::GET, Method::DELETE] {
                let answer = server.request(method, &format!("/api/v1/runs/{id}"), &[]).await;
                answer.problem(404, "not_found");
            }
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn runs_outlive_the_server_that_did_them() {
    on_every_backend(async |place| {
        place.demo(5).await;
        let server = Server::start(&place, &[]).await;
        let parameters = "merchant=1&merchant=2&format=csv";
        let id = server.get(&format!("{ROWS}?{parameters}")).await.run();
        let before = server.run(&id).await;
        assert_eq!(before["params"], json!({ "merchant": ["1", "2"], "format": "csv" }));
        server.stop().await;
        let server = Server::start(&place, &[]).await;
        assert_eq!(server.run(&id).await, before);
        server.stop().await;
    })
    .await;
}
