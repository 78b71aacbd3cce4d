//! What was refused, told wholly and handed back as it was sent.

use std::time::Duration;

use serde_json::{Value as Json, json};

use super::{places, stop, transactions, upload};
use crate::support::{Server, on_every_backend};

const HEADER: &str = "거래번호,거래처명,수량,금액,거래일자\n";

#[tokio::test]
async fn numbers_of_json_come_back_with_every_digit_and_keys_in_their_order() {
    on_every_backend(async |place| {
        transactions(&place).await;
        let server = Server::start(&place, &[]).await;
        let line = "{\"code\":\"00123\",\"name\":\"한빛\",\"qty\":12345678901234567890123,\
                    \"amount\":123456789012345678.91,\"date\":\"2026-01-05\",\"비율\":1.10}\n";
        let refused = upload(&server, "transactions", "", line.into()).await;
        assert_eq!(refused.status, 422, "{}", refused.text());
        let path = format!("/api/v1/runs/{}/problems?format=ndjson", refused.run());
        let back = server.get(&path).await;
        let sent = line.trim_end().trim_end_matches('}');
        assert!(back.text().starts_with(sent), "{}", back.text());
        stop(server).await;
    })
    .await;
}

#[tokio::test]
async fn every_fault_of_a_file_is_told_by_its_run_too() {
    on_every_backend(async |place| {
        transactions(&place).await;
        let server = Server::start(&place, &[]).await;
        let file = "거래번호,수량,수량,금액\nA-1,1,1,1.50\n";
        let prefer = [("Prefer", "respond-async")];
        let path = "/api/v1/imports/transactions";
        let told = upload(&server, "transactions", "", file.into()).await;
        let told = told.problem(422, "invalid_request");
        assert!(told["problems"].as_array().is_some_and(|all| all.len() > 1), "{told}");
        let run = server.post(path, &prefer, file.into()).await.run();
        let over = |run: &Json| run["finished_at"] != Json::Null;
        let failed = server.until_run(&run, over, Duration::from_secs(20)).await;
        assert_eq!(failed["result"], json!({ "problems": told["problems"] }), "{failed}");
        stop(server).await;
    })
    .await;
}

#[tokio::test]
async fn a_body_that_is_coded_is_refused_before_it_is_taken_for_something_else() {
    on_every_backend(async |place| {
        transactions(&place).await;
        let server = Server::start(&place, &[]).await;
        let path = "/api/v1/imports/transactions";
        let file = format!("{HEADER}A-1,한빛,1,1.50,2026-01-05\n");
        let coded = server.post(path, &[("Content-Encoding", "gzip")], file.clone().into()).await;
        coded.problem(415, "unsupported_media_type");
        let plain = server.post(path, &[("Content-Encoding", "identity")], file.into()).await;
        assert_eq!(places(&plain.json()), []);
        assert_eq!(server.temporary_files(), Vec::<String>::new());
        stop(server).await;
    })
    .await;
}
