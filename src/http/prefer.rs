//! What a client prefers (RFC 7240), and the answer to who would rather not wait. A preference is
//! never a fault: what is not known or not well written is passed over.

use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderName, HeaderValue, LOCATION, RETRY_AFTER};
use actix_web::{HttpRequest, HttpResponse};
use uuid::Uuid;

use super::answer::json_as;
use super::problem::Refusal;
use crate::access::Caller;
use crate::app::App;
use crate::error::Error;

/// The preference for an answer that comes before the work is done.
const ASYNC: &str = "respond-async";
/// After how many seconds it is worth asking how far a run is.
const ASK_AGAIN: &str = "1";

/// Whether the client would rather be answered before the work is done.
pub fn is_async(request: &HttpRequest) -> bool {
    let lines = request.headers().get_all("prefer").filter_map(|line| line.to_str().ok());
    prefers(lines, ASYNC)
}

/// 202 with where the run is found, and the run as it stands.
///
/// # Errors
/// [`Error::NotFound`], [`Error::Unavailable`] where the run cannot be looked up.
pub async fn accepted(
    app: &App,
    request: &HttpRequest,
    caller: &Caller,
    run: Uuid,
) -> Result<HttpResponse, Refusal> {
    let id = run.to_string();
    let view = app.runs.get(&id, Some(&caller.name)).await;
    let view = view.map_err(|error| Refusal { error, run: Some(run) })?;
    let mut response = json_as(StatusCode::ACCEPTED, request, &view)?;
    let headers = [
        (LOCATION, format!("/api/v1/runs/{id}")),
        (RETRY_AFTER, ASK_AGAIN.into()),
        (HeaderName::from_static("preference-applied"), ASYNC.into()),
        (HeaderName::from_static("x-run-id"), id),
    ];
    for (name, value) in headers {
        let value = HeaderValue::from_str(&value)
            .map_err(|source| Error::internal("writing a header", source))?;
        response.headers_mut().insert(name, value);
    }
    Ok(response)
}

/// Whether one of these lines has the preference, which takes no value; of several the first counts.
fn prefers<'l>(lines: impl Iterator<Item = &'l str>, wanted: &str) -> bool {
    let all = lines.flat_map(|line| split(line, ','));
    let mut found = all.filter_map(|preference| {
        // Behind the first ; are parameters, of which this preference has none.
        let preference = split(preference, ';').next().unwrap_or_default();
        let (name, value) = preference.split_once('=').unwrap_or((preference, ""));
        name.trim().eq_ignore_ascii_case(wanted).then(|| value.trim())
    });
    // An empty value is none (RFC 7240, 2).
    found.next().is_some_and(|value| value.is_empty() || value == "\"\"")
}

/// The parts of a list, where what stands in quotation marks separates nothing.
fn split(list: &str, separator: char) -> impl Iterator<Item = &str> {
    let (mut quoted, mut escaped) = (false, false);
    list.split(move |char| {
        if quoted {
            match char {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => quoted = false,
                _ => {}
            }
            return false;
        }
        quoted = char == '"';
        char == separator
    })
}

#[cfg(test)]
pub(super) fn is_async_for_tests(lines: &[&str]) -> bool {
    prefers(lines.iter().copied(), ASYNC)
}
