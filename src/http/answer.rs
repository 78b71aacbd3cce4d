//! Plain answers, in JSON as a rule, compressed where the client takes it and it is worth it.

use std::io::Write;

use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_ENCODING, VARY};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use serde::Serialize;
use url::form_urlencoded;

use super::negotiation;
use super::problem::Refusal;
use crate::delivery::Coding;
use crate::error::{Error, Problem};

/// Below this many bytes the coding costs more than it saves.
const WORTH_IT: usize = 1_024;

/// An answer in JSON.
///
/// # Errors
/// [`Error::Internal`] where the value cannot be written.
pub fn json(request: &HttpRequest, value: &impl Serialize) -> Result<HttpResponse, Refusal> {
    json_as(StatusCode::OK, request, value)
}

/// An answer in JSON with a status of its own.
///
/// # Errors
/// [`Error::Internal`] where the value cannot be written.
pub fn json_as(
    status: StatusCode,
    request: &HttpRequest,
    value: &impl Serialize,
) -> Result<HttpResponse, Refusal> {
    let body = serde_json::to_vec(value)
        .map_err(|source| Error::internal("writing a JSON answer", source))?;
    let mut response = HttpResponse::build(status);
    response.content_type("application/json");
    Ok(coded(request, response, body)?)
}

/// A plain answer that nobody keeps, compressed where the client takes it and it is worth it.
///
/// # Errors
/// [`Error::Internal`] where it cannot be compressed.
pub fn coded(
    request: &HttpRequest,
    mut response: HttpResponseBuilder,
    body: Vec<u8>,
) -> Result<HttpResponse, Error> {
    response.insert_header((CACHE_CONTROL, "no-store")).insert_header((VARY, "Accept-Encoding"));
    if body.len() < WORTH_IT || negotiation::coding(request) == Coding::Identity {
        return Ok(response.body(body));
    }
    // Every client that takes any coding takes this one.
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    let packed = gzip.write_all(&body).and_then(|()| gzip.finish());
    let packed = packed.map_err(|source| Error::internal("compressing an answer", source))?;
    Ok(response.insert_header((CONTENT_ENCODING, "gzip")).body(packed))
}

/// The parameters of a request, decoded, in their order.
///
/// # Errors
/// [`Error::Malformed`] where they are not percent-encoded UTF-8.
pub fn pairs(request: &HttpRequest) -> Result<Vec<(String, String)>, Refusal> {
    let query = request.query_string();
    if !is_encoded(query) {
        return Err(Error::Malformed(vec![Problem {
            parameter: None,
            code: "bad_query_string",
            value: Some(query.to_owned()),
            detail: "what stands behind the ? is not percent-encoded UTF-8; write % as %25".into(),
        }])
        .into());
    }
    Ok(form_urlencoded::parse(query.as_bytes()).into_owned().collect())
}

/// Whether every `%` is followed by two digits, and all of it is UTF-8.
fn is_encoded(query: &str) -> bool {
    let mut decoded = Vec::with_capacity(query.len());
    let mut rest = query.bytes();
    while let Some(byte) = rest.next() {
        let hex = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
        let byte = match byte {
            b'%' => match hex(rest.next()).zip(hex(rest.next())) {
                Some((high, low)) => u8::try_from(high * 16 + low).unwrap_or(0),
                None => return false,
            },
            plain => plain,
        };
        decoded.push(byte);
    }
    std::str::from_utf8(&decoded).is_ok()
}

/// Refuses parameters where an address takes none.
///
/// # Errors
/// [`Error::Malformed`] with each of them.
pub fn no_parameters(request: &HttpRequest) -> Result<(), Refusal> {
    let refuse = |(name, value): (String, String)| {
        let detail = format!("\"{name}\" is not a parameter here; this address takes none");
        Problem::parameter(name, "unknown_parameter", value, detail)
    };
    let problems: Vec<_> = pairs(request)?.into_iter().map(refuse).collect();
    if problems.is_empty() { Ok(()) } else { Err(Error::Malformed(problems).into()) }
}
