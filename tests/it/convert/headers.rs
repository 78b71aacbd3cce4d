//! Mappings of headings that are kept, and what they do to files.

use reqwest::Method;
use serde_json::json;

use super::convert;
use crate::support::{Server, on_every_backend};

#[tokio::test]
async fn a_mapping_is_kept_shown_replaced_and_forgotten() {
    on_every_backend(async |place| {
        let server = Server::start(&place, &[]).await;
        let path = "/api/v1/headers/%EB%A7%A4%EC%B6%9C-1";
        server.get(path).await.problem(404, "not_found");
        let first = json!({ "columns": [{ "from": "금\n액", "to": "amount" }] });
        let kept = server.send(Method::PUT, path, &first.to_string()).await;
        assert_eq!((kept.status, &kept.json()["name"]), (201, &json!("매출-1")));
        let second = json!({ "columns": [
            { "from": "b", "to": "B" }, { "from": "금\n액", "to": "amount" },
        ] });
        let kept = server.send(Method::PUT, path, &second.to_string()).await;
        assert_eq!(kept.status, 200, "{}", kept.text());
        let shown = json!({ "name": "매출-1", "columns": second["columns"] });
        assert_eq!(server.json(path).await, shown);
        server.send(Method::PUT, "/api/v1/headers/A", &first.to_string()).await.json();
        server.send(Method::PUT, "/api/v1/headers/a", &first.to_string()).await.json();
        let list = server.json("/api/v1/headers").await;
        assert_eq!(
            (list["items"].as_array().map(Vec::len), &list["next"]),
            (Some(3), &json!(null))
        );
        let mut names = Vec::new();
        let mut page = server.json("/api/v1/headers?limit=1").await;
        loop {
            names.push(page["items"][0]["name"].as_str().expect("a name").to_owned());
            let Some(next) = page["next"].as_str() else { break };
            let next: String = url::form_urlencoded::byte_serialize(next.as_bytes()).collect();
            page = server.json(&format!("/api/v1/headers?limit=1&after={next}")).await;
        }
        names.sort_unstable();
        assert_eq!(names, ["A", "a", "매출-1"], "letter case tells names apart");
        assert_eq!(server.send(Method::DELETE, path, "").await.status, 204);
        server.send(Method::DELETE, path, "").await.problem(404, "not_found");
        server.get(path).await.problem(404, "not_found");
        for query in ["limit=0", "limit=101", "limit=1&limit=2", "x=1"] {
            let answer = server.get(&format!("/api/v1/headers?{query}")).await;
            answer.problem(400, "malformed_request");
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn every_fault_of_a_mapping_is_told_and_nothing_is_kept() {
    on_every_backend(async |place| {
        let server = Server::start(&place, &[]).await;
        let path = "/api/v1/headers/orders";
        let body = json!({ "columns": [
            { "from": "a", "to": "x" }, { "from": "a", "to": "y" }, { "from": "b", "to": "y" },
            { "from": "", "to": 5 },
        ], "name": "orders" });
        let answer = server.send(Method::PUT, path, &body.to_string()).await;
        let problem = answer.problem(422, "invalid_request");
        let problems = problem["problems"].as_array().expect("they are listed");
        let places: Vec<_> = problems.iter().map(|one| one["parameter"].as_str()).collect();
        let expected =
            ["name", "columns[3].from", "columns[3].to", "columns[1].from", "columns[2].to"];
        assert_eq!(places, expected.map(Some));
        let broken = server.send(Method::PUT, path, "{\"columns\":").await;
        assert_eq!(broken.problems(), [("body".into(), "not_json".into())]);
        let bad_name = server.send(Method::PUT, "/api/v1/headers/a%20b", &body.to_string()).await;
        bad_name.problem(422, "invalid_request");
        let large = format!("{{\"columns\":[{}]}}", " ".repeat(300 << 10));
        server.send(Method::PUT, path, &large).await.problem(413, "too_large");
        assert_eq!(server.json("/api/v1/headers").await["items"], json!([]));
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn files_get_the_names_and_the_order_of_a_mapping() {
    on_every_backend(async |place| {
        let server = Server::start(&place, &[]).await;
        let body = json!({ "columns": [
            { "from": "금액", "to": "amount" }, { "from": "번호", "to": "id" },
        ] });
        let kept = server.send(Method::PUT, "/api/v1/headers/orders", &body.to_string()).await;
        assert_eq!(kept.status, 201);
        let csv = "번호,이름,금액\r\n7,한빛,1.50\r\n";
        let lines = convert(&server, "to=ndjson&headers=orders", csv).await;
        assert_eq!(lines.text(), "{\"amount\":\"1.50\",\"id\":\"7\",\"이름\":\"한빛\"}\n");
        let both = "to=ndjson&headers=orders&rename=%EB%B2%88%ED%98%B8:no";
        let lines = convert(&server, both, csv).await;
        assert_eq!(lines.text(), "{\"amount\":\"1.50\",\"no\":\"7\",\"이름\":\"한빛\"}\n");
        let chosen = "to=csv&headers=orders&columns=%EC%9D%B4%EB%A6%84,%EB%B2%88%ED%98%B8";
        let json = "[{\"번호\":7,\"이름\":\"한빛\",\"금액\":1.50}]";
        assert_eq!(convert(&server, chosen, json).await.text(), "이름,id\r\n한빛,7\r\n");
        let faults =
            super::refused(&server, "to=csv&headers=orders", "번호,이름\r\n7,한빛\r\n").await;
        let [(parameter, code, detail)] = faults.as_slice() else { panic!("{faults:?}") };
        assert_eq!((parameter.as_str(), code.as_str()), ("headers", "unknown_column"));
        assert!(detail.contains("금액") && detail.contains("\"번호\", \"이름\""), "{detail}");
        server.stop().await;
    })
    .await;
}
