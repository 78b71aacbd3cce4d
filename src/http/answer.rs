//! Plain JSON answers, compressed where the client takes it and it is worth it.

use std::io::Write;

use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_ENCODING, VARY};
use actix_web::{HttpRequest, HttpResponse, web};
use serde::Serialize;

use super::negotiation;
use super::problem::Refusal;
use crate::delivery::Coding;
use crate::error::{Cause, Error};

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
    let failed = |source: Cause| Error::internal("writing a JSON answer", source);
    let body = serde_json::to_vec(value).map_err(|source| failed(source.into()))?;
    let mut response = HttpResponse::build(status);
    response
        .content_type("application/json")
        .insert_header((CACHE_CONTROL, "no-store"))
        .insert_header((VARY, "Accept-Encoding"));
    if body.len() < WORTH_IT || negotiation::coding(request) == Coding::Identity {
        return Ok(response.body(body));
    }
    // Every client that takes any coding takes this one.
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    let packed = gzip.write_all(&body).and_then(|()| gzip.finish());
    let packed = packed.map_err(|source| failed(source.into()))?;
    Ok(response.insert_header((CONTENT_ENCODING, "gzip")).body(packed))
}

/// The parameters of a request, decoded, in their order.
///
/// # Errors
/// [`Error::Malformed`] where they are not percent-encoded UTF-8.
pub fn pairs(request: &HttpRequest) -> Result<Vec<(String, String)>, Refusal> {
    web::Query::<Vec<(String, String)>>::from_query(request.query_string())
        .map(web::Query::into_inner)
        .map_err(|_| {
            Error::Malformed(vec![crate::error::Problem {
                parameter: None,
                code: "bad_query_string",
                value: Some(request.query_string().to_owned()),
                detail: "the parameters after ? are not percent-encoded UTF-8".into(),
            }])
            .into()
        })
}
