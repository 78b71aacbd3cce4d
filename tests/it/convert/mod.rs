//! Conversions: the same rows in another format, exactly, or a reason why not; nothing stays behind.

mod asked;
mod cases;
mod command;
mod headers;
mod pairs;
mod refusals;
mod runs;

use crate::support::{Answer, Server};

/// A file of the fixtures.
fn fixture(name: &str) -> Vec<u8> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Sends a file to be converted.
async fn send(server: &Server<'_>, query: &str, file: impl Into<Vec<u8>>) -> Answer {
    server.post(&format!("/api/v1/convert?{query}"), &[], file.into()).await
}

/// Converts a file, and forgets the one that was made, which would stay for a while.
async fn convert(server: &Server<'_>, query: &str, file: impl Into<Vec<u8>>) -> Answer {
    let answer = send(server, query, file).await;
    assert_eq!(answer.status, 200, "{query}: {}", answer.text());
    forget(server, &answer.run()).await;
    answer
}

async fn forget(server: &Server<'_>, run: &str) {
    let run = format!("/api/v1/runs/{run}");
    assert_eq!(server.request(reqwest::Method::DELETE, &run, &[]).await.status, 204);
}

/// The faults of a file that was refused, as `(parameter, code, detail)`; nothing of it is left.
async fn refused(
    server: &Server<'_>,
    query: &str,
    file: impl Into<Vec<u8>>,
) -> Vec<(String, String, String)> {
    let answer = send(server, query, file).await;
    let problem = answer.problem(422, "invalid_request");
    let run = server.run(&answer.run()).await;
    assert_eq!((&run["kind"], &run["state"]), (&"convert".into(), &"failed".into()), "{run}");
    assert_eq!(run["error"]["detail"], problem["detail"]);
    let file = format!("/api/v1/runs/{}/file", answer.run());
    server.get(&file).await.problem(409, "run_has_no_file");
    assert_eq!(server.temporary_files(), Vec::<String>::new(), "{query}");
    let word = |problem: &serde_json::Value, member: &str| {
        problem[member].as_str().unwrap_or_default().to_owned()
    };
    let problems = problem["problems"].as_array().expect("a 422 lists its faults");
    problems
        .iter()
        .map(|one| (word(one, "parameter"), word(one, "code"), word(one, "detail")))
        .collect()
}
