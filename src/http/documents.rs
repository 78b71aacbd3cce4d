//! `/documents`: which there are, their rows, and single ones as PDF.

use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE, ETAG, IF_MATCH, IF_NONE_MATCH,
};
use actix_web::{HttpRequest, HttpResponse, route, web};
use serde::Serialize;

use super::answer::{json, no_parameters, pairs};
use super::disposition::attachment;
use super::problem::{ProblemView, Refusal};
use super::range::names;
use super::rows::rows_of;
use crate::access::Caller;
use crate::app::App;
use crate::documents::{Asked, DocumentView};
use crate::error::Error;

/// The documents that the caller may see.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct DocumentList {
    items: Vec<DocumentView>,
    next: Option<String>,
}

/// Lists the documents.
#[utoipa::path(get, operation_id = "list_documents", path = "/documents", tag = "documents", responses(
    (status = 200, body = DocumentList),
    (status = 401, body = ProblemView, content_type = "application/problem+json"),
))]
#[route("/documents", method = "GET", method = "HEAD")]
pub async fn list(
    app: web::Data<App>,
    caller: Caller,
    request: HttpRequest,
) -> Result<HttpResponse, Refusal> {
    no_parameters(&request)?;
    let seen = app.documents.list(&caller);
    let seen = seen.iter().map(|document| DocumentView::from(&**document)).collect();
    json(&request, &DocumentList { items: seen, next: None })
}

/// Shows one document: what names it, its columns, and what it can be narrowed by.
#[utoipa::path(get, operation_id = "show_document", path = "/documents/{name}", tag = "documents",
    params(("name" = String, Path, description = "The document's name")),
    responses(
        (status = 200, body = DocumentView),
        (status = 404, body = ProblemView, content_type = "application/problem+json"),
    ))]
#[route("/documents/{name}", method = "GET", method = "HEAD")]
pub async fn show(
    app: web::Data<App>,
    caller: Caller,
    name: web::Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, Refusal> {
    let document = app.documents.find(&name, &caller)?;
    no_parameters(&request)?;
    json(&request, &DocumentView::from(&*document))
}

/// The rows that the documents are made of, as a report's.
#[utoipa::path(get, operation_id = "get_items", path = "/documents/{name}/items", tag = "documents",
    params(
        ("name" = String, Path, description = "The document's name"),
        ("format" = Option<String>, Query, description = "ndjson, json, csv or xlsx; wins over Accept"),
        ("columns" = Option<String>, Query, description = "Keys of the columns wanted, in order, separated by commas"),
        ("limit" = Option<u64>, Query, description = "Most rows; up to 10,000 the page is read before the status and Link rel=next leads on"),
        ("after" = Option<String>, Query, description = "The token of the page before"),
        ("tz" = Option<String>, Query, description = "IANA zone in which times are shown and dates in filters are taken"),
    ),
    responses(
        (status = 200, description = "The rows, in the format that format or Accept names", content(
                (String = "application/x-ndjson"),
                (Vec<Object> = "application/json"),
                (String = "text/csv"),
                (String = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
            ), headers(("X-Run-Id" = String, description = "The run that accounts for the answer"))),
        (status = 400, body = ProblemView, content_type = "application/problem+json"),
        (status = 404, body = ProblemView, content_type = "application/problem+json"),
    ))]
#[route("/documents/{name}/items", method = "GET", method = "HEAD")]
pub async fn items(
    app: web::Data<App>,
    caller: Caller,
    name: web::Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, Refusal> {
    let document = app.documents.find(&name, &caller)?;
    rows_of(&app, &caller, &request, &document.report).await
}

/// One document as PDF.
#[utoipa::path(get, operation_id = "get_pdf", path = "/documents/{name}/items/{key}/pdf", tag = "documents",
    params(
        ("name" = String, Path, description = "The document's name"),
        ("key" = String, Path, description = "What its key column says"),
        ("tz" = Option<String>, Query, description = "IANA zone in which times are shown"),
    ),
    responses(
        (status = 200, description = "The PDF", body = Vec<u8>, content_type = "application/pdf",
            headers(("ETag" = String, description = "Of its row and its template"))),
        (status = 304, description = "It is the one that If-None-Match names"),
        (status = 404, body = ProblemView, content_type = "application/problem+json"),
        (status = 412, body = ProblemView, content_type = "application/problem+json"),
        (status = 500, description = "Its row has not what its template needs", body = ProblemView, content_type = "application/problem+json"),
    ))]
#[route("/documents/{name}/items/{key}/pdf", method = "GET", method = "HEAD")]
pub async fn pdf(
    app: web::Data<App>,
    caller: Caller,
    path: web::Path<(String, String)>,
    request: HttpRequest,
) -> Result<HttpResponse, Refusal> {
    let (name, key) = path.into_inner();
    let document = app.documents.find(&name, &caller)?;
    let asked = Asked::single(&document, &pairs(&request)?, &app.config.time_zone)?;
    let header = |name| request.headers().get(name).and_then(|value| value.to_str().ok());
    let (known, wanted) = (header(IF_NONE_MATCH).map(str::to_owned), header(IF_MATCH));
    let has = move |tag: &str| known.as_deref().is_some_and(|tags| names(tags, tag, true));
    let single = app.documents.single(document, &key, asked, &caller, Box::new(has)).await?;
    if wanted.is_some_and(|tags| !names(tags, &single.tag, false)) {
        let detail = "the document is not the one that If-Match names; fetch it without";
        return Err(Error::PreconditionFailed(detail.into()).into());
    }
    let mut response = match &single.pdf {
        None => HttpResponse::NotModified(),
        Some(_) => HttpResponse::Ok(),
    };
    response.insert_header((ETAG, single.tag)).insert_header((CACHE_CONTROL, "private, no-cache"));
    let Some(pdf) = single.pdf else { return Ok(response.finish()) };
    response
        .insert_header((CONTENT_TYPE, "application/pdf"))
        .insert_header((CONTENT_DISPOSITION, attachment(&single.name)));
    Ok(response.body(pdf))
}
