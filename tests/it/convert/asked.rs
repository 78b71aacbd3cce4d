//! `Prefer: respond-async`: the answer comes when the upload is whole, the file is its run's.

use std::time::Duration;

use serde_json::{Value as Json, json};

use super::forget;
use crate::support::{Server, on_every_backend};

const ASYNC: [(&str, &str); 1] = [("Prefer", "respond-async")];
const SOON: Duration = Duration::from_secs(20);

#[tokio::test]
async fn the_file_is_fetched_from_the_run_and_a_refusal_is_its_error() {
    on_every_backend(async |place| {
        let server = Server::start(&place, &[]).await;
        let over = |run: &Json| run["finished_at"] != Json::Null;
        let body = b"a,b\r\n1,\"x, y\"\r\n".to_vec();
        let answer = server.post("/api/v1/convert?to=ndjson", &ASYNC, body).await;
        assert_eq!(answer.status, 202, "{}", answer.text());
        let run = answer.run();
        assert_eq!(answer.header("location"), Some(&*format!("/api/v1/runs/{run}")));
        assert_eq!(answer.header("preference-applied"), Some("respond-async"));
        assert_eq!(answer.json()["kind"], "convert");
        let done = server.until_run(&run, over, SOON).await;
        assert_eq!((&done["state"], &done["rows"]), (&json!("complete"), &json!(1)), "{done}");
        let file = server.get(&format!("/api/v1/runs/{run}/file")).await;
        assert_eq!(file.text(), "{\"a\":\"1\",\"b\":\"x, y\"}\n");
        forget(&server, &run).await;

        let late = b"{\"a\":1}\n{\"b\":2}\n".to_vec();
        let run = server.post("/api/v1/convert?to=csv", &ASYNC, late).await.run();
        let failed = server.until_run(&run, over, SOON).await;
        assert_eq!(failed["state"], "failed", "{failed}");
        assert!(failed["error"]["detail"].to_string().contains("line 2"), "{failed}");
        server
            .post("/api/v1/convert?to=pdf", &ASYNC, Vec::new())
            .await
            .problem(400, "malformed_request");
        assert_eq!(server.temporary_files(), Vec::<String>::new());
        server.stop().await;
    })
    .await;
}
