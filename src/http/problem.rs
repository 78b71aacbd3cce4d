//! Problems (RFC 9457): every refusal and failure as a body that helps.

use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::http::header::{ALLOW, CACHE_CONTROL, CONTENT_RANGE, RETRY_AFTER};
use actix_web::{HttpResponse, HttpResponseBuilder, ResponseError};
use serde::Serialize;
use uuid::Uuid;

use crate::error::{Error, Phase, Problem};
use crate::runs::Refused;

/// How long a client should stay away from something that is down.
const DOWN: Duration = Duration::from_secs(5);

/// An error on its way to a client, with the run that it ended.
#[derive(Debug)]
pub struct Refusal {
    /// What went wrong.
    pub error: Error,
    /// The run, where one had begun.
    pub run: Option<Uuid>,
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self { error, run: None }
    }
}

impl From<Refused> for Refusal {
    fn from(Refused { error, run }: Refused) -> Self {
        Self { error, run }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for Refusal {}

impl ResponseError for Refusal {
    fn status_code(&self) -> StatusCode {
        status(&self.error)
    }

    /// Without a request id; the gate puts the whole body in its place.
    fn error_response(&self) -> HttpResponse {
        HttpResponse::new(self.status_code())
    }
}

/// A problem as it is sent.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct ProblemView<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    /// The status in words.
    title: &'a str,
    /// The status.
    status: u16,
    /// A stable `snake_case` word.
    code: &'a str,
    /// The thing, the rule, the number, and the way out.
    detail: &'a str,
    /// What to quote to whoever runs the server.
    request_id: &'a str,
    /// Every fault of the request.
    #[serde(skip_serializing_if = "<[Problem]>::is_empty")]
    problems: &'a [Problem],
    /// What a rejected import came to, `problems` of rows among it.
    #[serde(flatten)]
    report: Option<&'a serde_json::Value>,
}

/// The status of an error.
pub fn status(error: &Error) -> StatusCode {
    match error {
        Error::Unauthenticated(_) => StatusCode::UNAUTHORIZED,
        Error::Forbidden(_) => StatusCode::FORBIDDEN,
        Error::NotFound(_) => StatusCode::NOT_FOUND,
        Error::MethodNotAllowed(_) => StatusCode::METHOD_NOT_ALLOWED,
        Error::Malformed(_) => StatusCode::BAD_REQUEST,
        Error::Invalid(_) | Error::Rejected { .. } => StatusCode::UNPROCESSABLE_ENTITY,
        Error::NotAcceptable(_) => StatusCode::NOT_ACCEPTABLE,
        Error::Unsupported(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        Error::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
        // Cancelled: its caller ended the run that this request waits for.
        Error::Conflict { .. } | Error::Cancelled => StatusCode::CONFLICT,
        Error::Gone(_) => StatusCode::GONE,
        Error::RangeNotSatisfiable(_) => StatusCode::RANGE_NOT_SATISFIABLE,
        Error::PreconditionFailed(_) => StatusCode::PRECONDITION_FAILED,
        Error::Busy { .. } => StatusCode::TOO_MANY_REQUESTS,
        Error::Unavailable { .. } => StatusCode::SERVICE_UNAVAILABLE,
        Error::TimedOut(Phase::FirstRow, _) => StatusCode::GATEWAY_TIMEOUT,
        Error::TimedOut(Phase::Stall, _) => StatusCode::REQUEST_TIMEOUT,
        Error::NoSpace(_) | Error::SpoolFull(_) => StatusCode::INSUFFICIENT_STORAGE,
        Error::Cell { .. }
        | Error::Unrenderable { .. }
        | Error::Query { .. }
        | Error::Internal { .. } => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// The titles that RFC 9110 gives, where actix still has those of older RFCs.
pub fn title(status: StatusCode) -> &'static str {
    match status {
        StatusCode::UNPROCESSABLE_ENTITY => "Unprocessable Content",
        StatusCode::PAYLOAD_TOO_LARGE => "Content Too Large",
        other => other.canonical_reason().unwrap_or("Error"),
    }
}

/// The response for an error, as far as it does not depend on how the error is told.
pub fn head(error: &Error, run: Option<Uuid>) -> HttpResponseBuilder {
    let mut response = HttpResponse::build(status(error));
    headers(error, &mut response);
    if let Some(run) = run {
        response.insert_header(("X-Run-Id", run.to_string()));
    }
    response
}

/// The response for an error.
pub fn response(error: &Error, run: Option<Uuid>, request_id: &str) -> HttpResponse {
    let problems = match error {
        Error::Malformed(problems) | Error::Invalid(problems) => problems.as_slice(),
        _ => &[],
    };
    let report = match error {
        Error::Rejected { report, .. } => Some(report.as_ref()),
        _ => None,
    };
    let response = head(error, run);
    body(response, status(error), error.code(), &error.detail(), request_id, (problems, report))
}

/// The response for a refusal by the HTTP layer itself.
pub fn plain(status: StatusCode, request_id: &str) -> HttpResponse {
    let (code, detail) = match status {
        StatusCode::PAYLOAD_TOO_LARGE => {
            ("too_large", "the body is larger than this address takes")
        }
        status if status.is_client_error() => {
            ("malformed_request", "the request cannot be understood; see the API document")
        }
        _ => ("internal", "the server failed; the cause is in its log under this request's id"),
    };
    body(HttpResponse::build(status), status, code, detail, request_id, (&[], None))
}

fn body(
    mut response: HttpResponseBuilder,
    status: StatusCode,
    code: &str,
    detail: &str,
    request_id: &str,
    (problems, report): (&[Problem], Option<&serde_json::Value>),
) -> HttpResponse {
    let view = ProblemView {
        kind: "about:blank",
        title: title(status),
        status: status.as_u16(),
        code,
        detail,
        request_id,
        problems,
        report,
    };
    let body = serde_json::to_vec(&view).unwrap_or_default();
    response
        .content_type("application/problem+json")
        .insert_header((CACHE_CONTROL, "no-store"))
        .body(body)
}

fn headers(error: &Error, response: &mut HttpResponseBuilder) {
    match error {
        Error::MethodNotAllowed(methods) => {
            response.insert_header((ALLOW, methods.join(", ")));
        }
        Error::Busy { retry_after, .. } => {
            // Whole seconds, and no earlier than it may be worth it.
            let seconds = retry_after.as_millis().div_ceil(1_000).max(1);
            response.insert_header((RETRY_AFTER, seconds.to_string()));
        }
        Error::Unavailable { .. } => {
            response.insert_header((RETRY_AFTER, DOWN.as_secs().to_string()));
        }
        Error::RangeNotSatisfiable(size) => {
            response.insert_header((CONTENT_RANGE, format!("bytes */{size}")));
        }
        Error::Unauthenticated(_) => {
            response.insert_header(("WWW-Authenticate", "Bearer"));
        }
        Error::Forbidden(_)
        | Error::NotFound(_)
        | Error::Malformed(_)
        | Error::Invalid(_)
        | Error::Rejected { .. }
        | Error::NotAcceptable(_)
        | Error::Unsupported(_)
        | Error::TooLarge(_)
        | Error::Conflict { .. }
        | Error::Gone(_)
        | Error::PreconditionFailed(_)
        | Error::TimedOut(..)
        | Error::NoSpace(_)
        | Error::SpoolFull(_)
        | Error::Cancelled
        | Error::Cell { .. }
        | Error::Unrenderable { .. }
        | Error::Query { .. }
        | Error::Internal { .. } => {}
    }
}
