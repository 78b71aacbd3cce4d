//! `/headers`: mappings of headings that conversions go by.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, delete, put, route, web};

use super::answer::{json, json_as, no_parameters, pairs};
use super::problem::{ProblemView, Refusal};
use crate::access::Caller;
use crate::app::App;
use crate::convert::{Headers, HeadersBody, HeadersPage, read_headers};
use crate::error::{Error, Problem};

/// Mappings on a page, unless `limit` says otherwise, and at most.
const PAGE: u64 = 50;
const LONGEST_PAGE: u64 = 100;

/// Lists the mappings of headings, by name.
#[utoipa::path(get, operation_id = "list_headers", path = "/headers", tag = "convert",
    params(
        ("limit" = Option<u64>, Query, description = "How many, 1 to 100; 50 without"),
        ("after" = Option<String>, Query, description = "The next of the page before"),
    ),
    responses(
        (status = 200, body = HeadersPage),
        (status = 400, body = ProblemView, content_type = "application/problem+json"),
    ))]
#[route("/headers", method = "GET", method = "HEAD")]
pub async fn list(
    app: web::Data<App>,
    _caller: Caller,
    request: HttpRequest,
) -> Result<HttpResponse, Refusal> {
    let (limit, after) = page(&pairs(&request)?)?;
    json(&request, &app.convert.list_headers(limit, after.as_deref()).await?)
}

/// Shows a mapping of headings.
#[utoipa::path(get, operation_id = "show_headers", path = "/headers/{name}", tag = "convert",
    params(("name" = String, Path, description = "The mapping's name")),
    responses(
        (status = 200, body = Headers),
        (status = 404, body = ProblemView, content_type = "application/problem+json"),
    ))]
#[route("/headers/{name}", method = "GET", method = "HEAD")]
pub async fn show(
    app: web::Data<App>,
    _caller: Caller,
    name: web::Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, Refusal> {
    let found = app.convert.headers(&name).await?;
    no_parameters(&request)?;
    json(&request, &found)
}

/// Keeps a mapping of headings under a name, in place of the one that may be there.
#[utoipa::path(put, operation_id = "keep_headers", path = "/headers/{name}", tag = "convert",
    params(("name" = String, Path, description = "The mapping's name: letters, digits, - _ and ., 100 at most")),
    request_body(content = HeadersBody),
    responses(
        (status = 200, description = "It is in the place of another", body = Headers),
        (status = 201, description = "It is new", body = Headers),
        (status = 400, body = ProblemView, content_type = "application/problem+json"),
        (status = 413, body = ProblemView, content_type = "application/problem+json"),
        (status = 422, body = ProblemView, content_type = "application/problem+json"),
    ))]
#[put("/headers/{name}")]
pub async fn keep(
    app: web::Data<App>,
    caller: Caller,
    name: web::Path<String>,
    request: HttpRequest,
    body: web::Bytes,
) -> Result<HttpResponse, Refusal> {
    no_parameters(&request)?;
    let name = name.into_inner();
    let HeadersBody { columns } = read_headers(&name, &body)?;
    let new = app.convert.keep_headers(&name, &columns, &caller).await?;
    let status = if new { StatusCode::CREATED } else { StatusCode::OK };
    json_as(status, &request, &Headers { name, columns })
}

/// Forgets a mapping of headings.
#[utoipa::path(delete, operation_id = "forget_headers", path = "/headers/{name}", tag = "convert",
    params(("name" = String, Path, description = "The mapping's name")),
    responses(
        (status = 204, description = "It is gone"),
        (status = 404, body = ProblemView, content_type = "application/problem+json"),
    ))]
#[delete("/headers/{name}")]
pub async fn forget(
    app: web::Data<App>,
    caller: Caller,
    name: web::Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, Refusal> {
    no_parameters(&request)?;
    app.convert.forget_headers(&name, &caller).await?;
    Ok(HttpResponse::NoContent().finish())
}

fn page(pairs: &[(String, String)]) -> Result<(u64, Option<String>), Error> {
    let (mut limit, mut after, mut problems) = (PAGE, None, Vec::new());
    for (index, (name, value)) in pairs.iter().enumerate() {
        let mut refuse =
            |code, detail: String| problems.push(Problem::parameter(name, code, value, detail));
        let asked = value.parse().ok().filter(|limit| (1..=LONGEST_PAGE).contains(limit));
        match (name.as_str(), asked) {
            _ if pairs[..index].iter().any(|pair| pair.0 == *name) => {
                refuse(
                    "doubled_parameter",
                    format!("\"{name}\" is given more than once; give it once"),
                );
            }
            ("limit", Some(asked)) => limit = asked,
            ("limit", None) => {
                let detail = format!("\"limit\" is \"{value}\"; it takes 1 to {LONGEST_PAGE}");
                refuse("not_a_count", detail);
            }
            ("after", _) if value.contains('\0') => {
                refuse("bad_cursor", "\"after\" is not the next of an earlier page".into());
            }
            ("after", _) => after = Some(value.clone()),
            _ => {
                let detail = format!("\"{name}\" is not a parameter here; there are limit, after");
                refuse("unknown_parameter", detail);
            }
        }
    }
    if problems.is_empty() { Ok((limit, after)) } else { Err(Error::Malformed(problems)) }
}
