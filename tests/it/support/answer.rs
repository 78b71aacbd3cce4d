//! An answer that was read to its end.

use serde_json::Value as Json;

/// Status, headers and body.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// Names in lower case, with values.
    pub headers: Vec<(String, String)>,
    /// The body as it came.
    pub body: Vec<u8>,
}

impl Answer {
    pub(super) async fn ask(
        client: &reqwest::Client,
        method: reqwest::Method,
        url: &str,
        headers: &[(&str, &str)],
    ) -> Self {
        let request = client.request(method, url);
        let request =
            headers.iter().fold(request, |request, header| request.header(header.0, header.1));
        Self::read(request.send().await.expect("the server answers")).await
    }

    pub(super) async fn post(
        client: &reqwest::Client,
        url: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Self {
        Self::send(client, reqwest::Method::POST, url, headers, body).await
    }

    pub(super) async fn send(
        client: &reqwest::Client,
        method: reqwest::Method,
        url: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Self {
        let request = client.request(method, url).body(body);
        let request =
            headers.iter().fold(request, |request, header| request.header(header.0, header.1));
        Self::read(request.send().await.expect("the server answers")).await
    }

    async fn read(response: reqwest::Response) -> Self {
        let status = response.status().as_u16();
        let pair =
            |(name, value): (&reqwest::header::HeaderName, &reqwest::header::HeaderValue)| {
                (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
            };
        let headers = response.headers().iter().map(pair).collect();
        let body = response.bytes().await.expect("the body comes to its end").to_vec();
        Self { status, headers, body }
    }

    /// The only header of this name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|header| header.0 == name);
        let value = found.next().map(|header| header.1.as_str());
        assert!(found.next().is_none(), "{name} comes more than once: {:?}", self.headers);
        value
    }

    /// The body as text.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("the body is UTF-8")
    }

    /// The body as JSON, of an answer that went well.
    pub fn json(&self) -> Json {
        assert!((200..300).contains(&self.status), "{}: {}", self.status, self.text());
        serde_json::from_slice(&self.body).expect("the body is JSON")
    }

    /// The run that accounts for the answer.
    pub fn run(&self) -> String {
        self.header("x-run-id").expect("the answer names its run").to_owned()
    }

    /// The members of the problem that this answer is, after looking at everything that problems
    /// have in common (RFC 9457).
    pub fn problem(&self, status: u16, code: &str) -> Json {
        assert_eq!(self.status, status, "{}", self.text());
        assert_eq!(self.header("content-type"), Some("application/problem+json"));
        let problem: Json = serde_json::from_slice(&self.body).expect("a problem is JSON");
        assert_eq!(problem["type"], "about:blank");
        assert_eq!(problem["status"], status);
        assert_eq!(problem["code"], code, "{problem}");
        assert!(problem["title"].as_str().is_some_and(|title| !title.is_empty()), "{problem}");
        assert!(problem["detail"].as_str().is_some_and(|detail| !detail.is_empty()), "{problem}");
        let request = self.header("x-request-id").expect("every answer has a request id");
        assert_eq!(problem["request_id"], request);
        problem
    }

    /// The faults that a 400 lists, as `(parameter, code)` in the order of the answer.
    pub fn problems(&self) -> Vec<(String, String)> {
        let problem = self.problem(400, "malformed_request");
        let problems = problem["problems"].as_array().expect("a 400 lists its faults");
        let word =
            |problem: &Json, member: &str| problem[member].as_str().unwrap_or_default().to_owned();
        assert!(problems.iter().all(|problem| !word(problem, "detail").is_empty()), "{problem}");
        problems.iter().map(|problem| (word(problem, "parameter"), word(problem, "code"))).collect()
    }
}
