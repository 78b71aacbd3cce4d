//! `/documents/{name}/zip`: documents as one archive.

use std::sync::Arc;

use actix_web::http::Method;
use actix_web::http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE, HeaderName, HeaderValue,
};
use actix_web::{HttpRequest, HttpResponse, route, web};
use bytes::Bytes;

use super::answer::pairs;
use super::disposition::{asked_name, attachment};
use super::file::{self, timing};
use super::problem::{ProblemView, Refusal};
use super::rows::body;
use super::{negotiation, prefer};
use crate::access::Caller;
use crate::app::App;
use crate::definitions::Document;
use crate::delivery::Way;
use crate::documents::{Asked, Bundled, LEDGER, Order};
use crate::spool::Told;

/// What an archive is.
const ZIP: &str = "application/zip";
/// How many PDFs it has.
const COUNT: &str = "X-Document-Count";

/// Documents as one ZIP: a PDF for each, in the definition's order, and `manifest.json` at its end.
///
/// A prepared bundle is built first, then sent with its length, to be resumed. A direct one leaves
/// while it is rendered, and is broken off where a document cannot be; without its end no program
/// takes it for whole. A client of HTTP/1.0 gets a prepared one. `HEAD` checks the request and begins
/// nothing.
#[utoipa::path(get, operation_id = "get_bundle", path = "/documents/{name}/zip", tag = "documents",
    params(
        ("name" = String, Path, description = "The document's name"),
        ("delivery" = Option<String>, Query, description = "prepared, or direct: entry by entry while it is rendered"),
        ("tz" = Option<String>, Query, description = "IANA zone in which times are shown and dates in filters are taken"),
        ("filename" = Option<String>, Query, description = "Name of the download"),
        ("Prefer" = Option<String>, Header, description = "respond-async: the answer comes at once; the file is then fetched from the run"),
    ),
    responses(
        (status = 200, description = "The archive", body = Vec<u8>, content_type = "application/zip", headers(
            ("X-Run-Id" = String, description = "The run that made it"),
            ("X-Document-Count" = u64, description = "How many PDFs it has"),
        )),
        (status = 202, description = "It goes on; its run tells how it ends, and has the file"),
        (status = 400, body = ProblemView, content_type = "application/problem+json"),
        (status = 404, body = ProblemView, content_type = "application/problem+json"),
        (status = 429, body = ProblemView, content_type = "application/problem+json"),
        (status = 500, description = "A document cannot be rendered; the problem names document, field and pointer", body = ProblemView, content_type = "application/problem+json"),
        (status = 503, body = ProblemView, content_type = "application/problem+json"),
        (status = 507, body = ProblemView, content_type = "application/problem+json"),
    ))]
#[route("/documents/{name}/zip", method = "GET", method = "HEAD")]
pub async fn zip(
    app: web::Data<App>,
    caller: Caller,
    name: web::Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, Refusal> {
    let document = app.documents.find(&name, &caller)?;
    let asked = Asked::bundle(&document, &pairs(&request)?, &app.config.time_zone)?;
    bundle(&app, caller, &request, Order { document, asked, project: None }).await
}

/// A project's ledgers as one ZIP, as of any document.
#[utoipa::path(get, operation_id = "get_project_bundle", path = "/projects/{id}/documents/zip", tag = "documents",
    params(
        ("id" = String, Path, description = "The project's id"),
        ("delivery" = Option<String>, Query, description = "prepared, or direct: entry by entry while it is rendered"),
        ("tz" = Option<String>, Query, description = "IANA zone in which times are shown and dates in filters are taken"),
        ("filename" = Option<String>, Query, description = "Name of the download"),
        ("Prefer" = Option<String>, Header, description = "respond-async: the answer comes at once; the file is then fetched from the run"),
    ),
    responses(
        (status = 200, description = "The archive", body = Vec<u8>, content_type = "application/zip", headers(
            ("X-Run-Id" = String, description = "The run that made it"),
            ("X-Document-Count" = u64, description = "How many PDFs it has"),
        )),
        (status = 404, body = ProblemView, content_type = "application/problem+json"),
        (status = 429, body = ProblemView, content_type = "application/problem+json"),
        (status = 500, body = ProblemView, content_type = "application/problem+json"),
    ))]
#[route("/projects/{id}/documents/zip", method = "GET", method = "HEAD")]
pub async fn of_project(
    app: web::Data<App>,
    caller: Caller,
    id: web::Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, Refusal> {
    let document = app.documents.find(LEDGER, &caller)?;
    let (pairs, zone) = (pairs(&request)?, &app.config.time_zone);
    let order = Order::of_project(document, id.into_inner(), &pairs, zone)?;
    bundle(&app, caller, &request, order).await
}

async fn bundle(
    app: &App,
    caller: Caller,
    request: &HttpRequest,
    order: Order,
) -> Result<HttpResponse, Refusal> {
    let name = file_name(&order.document, &order.asked);
    let direct = order.asked.way == Way::Direct && negotiation::sees_a_break_off(request);
    if request.method() == Method::HEAD {
        return Ok(head(&name, direct));
    }
    let told = Told { media_type: ZIP.into(), name: name.clone() };
    if prefer::is_async(request) {
        let documents = Arc::clone(&app.documents);
        let run = documents.prepare_alone(order, caller.clone(), told).await?;
        return prefer::accepted(app, request, &caller, run).await;
    }
    if !direct {
        let bundled = app.documents.prepare(order, &caller, told).await?;
        let Bundled { run, file, documents, waits } = bundled;
        let mut response = file::prepared(request, run, file, waits, &app.runs)?;
        let count = HeaderName::from_static("x-document-count");
        response.headers_mut().insert(count, HeaderValue::from(documents));
        return Ok(response);
    }
    let opened = app.documents.open(order, &caller).await?;
    let mut response = HttpResponse::Ok();
    response
        .insert_header((CONTENT_TYPE, ZIP))
        .insert_header((CONTENT_DISPOSITION, attachment(&name)))
        .insert_header((CACHE_CONTROL, "no-store"))
        .insert_header(("X-Accel-Buffering", "no"))
        .insert_header((COUNT, opened.documents))
        .insert_header(("X-Run-Id", opened.run.to_string()))
        .insert_header(("Server-Timing", timing(opened.waits)));
    Ok(response.streaming(body(opened.receiver)))
}

/// What the request alone decides; without a length, since nothing is built.
fn head(name: &str, direct: bool) -> HttpResponse {
    let mut response = HttpResponse::Ok();
    response
        .insert_header((CONTENT_TYPE, ZIP))
        .insert_header((CONTENT_DISPOSITION, attachment(name)))
        .insert_header((CACHE_CONTROL, "no-store"));
    if direct {
        response.insert_header(("X-Accel-Buffering", "no"));
    } else {
        response.insert_header((ACCEPT_RANGES, "bytes"));
    }
    response.streaming(futures::stream::empty::<Result<Bytes, Refusal>>())
}

fn file_name(document: &Document, asked: &Asked) -> String {
    let wanted = asked.filename.as_deref().and_then(|name| asked_name(name, "zip"));
    wanted.unwrap_or_else(|| {
        let today = asked.zone.to_datetime(jiff::Timestamp::now()).date();
        format!("{} {today}.zip", document.report.title.replace(['/', '\\'], "_"))
    })
}
