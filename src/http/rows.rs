//! `/reports/{name}/rows`: the rows themselves.

use std::time::Duration;

use actix_web::http::Method;
use actix_web::http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue,
    LINK, VARY,
};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder, route, web};
use async_stream::try_stream;
use bytes::Bytes;
use futures::Stream;

use super::answer::pairs;
use super::disposition::{asked_name, attachment};
use super::file::{self, timing};
use super::negotiation;
use super::problem::{ProblemView, Refusal};
use crate::access::Caller;
use crate::app::App;
use crate::definitions::Report;
use crate::delivery::Way;
use crate::delivery::{Coding, Receiver};
use crate::formats::Format;
use crate::reports::{Asked, Opened, Prepared, Request};
use crate::spool::Told;

/// Streams the rows of a report.
///
/// Direct answers leave as the database gives them; one that could not be completed is broken off
/// without its last chunk. A client of HTTP/1.0, also one whose proxy says so in `Via`, knows no
/// chunks and gets a prepared one. `HEAD` checks the request and begins nothing.
#[utoipa::path(get, operation_id = "get_rows", path = "/reports/{name}/rows", tag = "reports",
    params(
        ("name" = String, Path, description = "The report's name"),
        ("format" = Option<String>, Query, description = "ndjson, json, csv or xlsx; wins over Accept"),
        ("delivery" = Option<String>, Query, description = "direct, or prepared: the whole file first, with its length, to be resumed; prepared for xlsx"),
        ("columns" = Option<String>, Query, description = "Keys of the columns wanted, in order, separated by commas"),
        ("limit" = Option<u64>, Query, description = "Most rows; up to 10,000 the page is read before the status and Link rel=next leads on"),
        ("after" = Option<String>, Query, description = "The token of the page before"),
        ("tz" = Option<String>, Query, description = "IANA zone in which times are shown and dates in filters are taken"),
        ("numbers" = Option<String>, Query, description = "ndjson, json: number or string"),
        ("summary" = Option<bool>, Query, description = "ndjson: a last line {\"_summary\":{run_id,state,rows,sha256,next}}, also before a break-off"),
        ("header" = Option<String>, Query, description = "csv: title, key or none"),
        ("bom" = Option<bool>, Query, description = "csv: begin with a byte order mark"),
        ("delimiter" = Option<String>, Query, description = "csv: , ; | or tab"),
        ("formula_guard" = Option<bool>, Query, description = "csv: put ' before text that a spreadsheet would run"),
        ("filename" = Option<String>, Query, description = "Name of the download"),
    ),
    responses(
        (status = 200, description = "The rows, in the format that format or Accept names", content(
                (String = "application/x-ndjson"),
                (String = "application/jsonl"),
                (Vec<Object> = "application/json"),
                (String = "text/csv"),
                (String = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
            ), headers(("X-Run-Id" = String, description = "The run that accounts for the answer"))),
        (status = 400, body = ProblemView, content_type = "application/problem+json"),
        (status = 404, body = ProblemView, content_type = "application/problem+json"),
        (status = 406, body = ProblemView, content_type = "application/problem+json"),
        (status = 429, body = ProblemView, content_type = "application/problem+json"),
        (status = 503, body = ProblemView, content_type = "application/problem+json"),
        (status = 504, body = ProblemView, content_type = "application/problem+json"),
    ))]
#[route("/reports/{name}/rows", method = "GET", method = "HEAD")]
pub async fn rows(
    app: web::Data<App>,
    caller: Caller,
    name: web::Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, Refusal> {
    let report = app.reports.find(&name, &caller)?;
    rows_of(&app, &caller, &request, &report).await
}

/// The rows of a report, as the request wants them.
///
/// # Errors
/// Everything that can be refused before the status goes out.
pub async fn rows_of(
    app: &App,
    caller: &Caller,
    request: &HttpRequest,
    report: &Report,
) -> Result<HttpResponse, Refusal> {
    let pairs = pairs(request)?;
    let negotiated = negotiation::format(request).map(|chosen| chosen.format);
    let zone = &app.config.time_zone;
    let asked = Request { pairs: &pairs, zone, negotiated }.parse(report)?;
    let prepared = asked.way == Way::Prepared || !negotiation::sees_a_break_off(request);
    if prepared && request.method() != Method::HEAD {
        return prepare(app, caller, request, &pairs, report, asked).await;
    }
    // A workbook is compressed already.
    let coded = !prepared && asked.format != Format::Xlsx;
    let coding = if coded { negotiation::coding(request) } else { Coding::Identity };
    let mut response = head(request, report, &asked, coding);
    if prepared {
        response.insert_header((ACCEPT_RANGES, "bytes"));
    } else {
        response.insert_header(("X-Accel-Buffering", "no"));
    }
    if request.method() == Method::HEAD {
        // Without a length, as the rows come without one.
        return Ok(response.streaming(futures::stream::empty::<Result<Bytes, Refusal>>()));
    }
    let opened = app.reports.open(report, asked, caller, coding).await?;
    Ok(answer(request, &pairs, response, opened))
}

/// The headers that the request alone decides.
fn head(
    request: &HttpRequest,
    report: &Report,
    asked: &Asked,
    coding: Coding,
) -> HttpResponseBuilder {
    let mut response = HttpResponse::Ok();
    response
        .insert_header((CONTENT_TYPE, negotiation::media_type(asked.format, request)))
        .insert_header((CONTENT_DISPOSITION, attachment(&file_name(report, asked))))
        .insert_header((CACHE_CONTROL, "no-store"))
        .insert_header((VARY, "Accept, Accept-Encoding"));
    if let Some(token) = coding.token() {
        response.insert_header((CONTENT_ENCODING, token));
    }
    response
}

/// How the file of an answer that is built first is to be handed out.
pub fn told(request: &HttpRequest, report: &Report, asked: &Asked) -> Told {
    Told {
        media_type: negotiation::media_type(asked.format, request).into(),
        name: file_name(report, asked),
    }
}

fn file_name(report: &Report, asked: &Asked) -> String {
    let extension = asked.format.extension();
    let wanted = asked.filename.as_deref().and_then(|name| asked_name(name, extension));
    wanted.unwrap_or_else(|| {
        let today = asked.options.zone.to_datetime(jiff::Timestamp::now()).date();
        format!("{} {today}.{extension}", report.title.replace(['/', '\\'], "_"))
    })
}

/// Builds the whole file first: also for a client who could not tell a break-off from an end.
async fn prepare(
    app: &App,
    caller: &Caller,
    request: &HttpRequest,
    pairs: &[(String, String)],
    report: &Report,
    asked: Asked,
) -> Result<HttpResponse, Refusal> {
    let told = told(request, report, &asked);
    let prepared = app.reports.prepare(report, asked, caller, told).await?;
    let Prepared { run, file, next, waits } = prepared;
    let mut response = file::prepared(request, run, file, waits, &app.runs)?;
    let link = next.map(|token| HeaderValue::from_str(&next_page(request, pairs, &token)));
    if let Some(Ok(link)) = link {
        response.headers_mut().insert(LINK, link);
    }
    Ok(response)
}

fn answer(
    request: &HttpRequest,
    pairs: &[(String, String)],
    mut response: HttpResponseBuilder,
    opened: Opened,
) -> HttpResponse {
    response
        .insert_header(("X-Run-Id", opened.run.to_string()))
        .insert_header(("Server-Timing", timing(opened.waits)));
    match opened.page {
        None => response.streaming(body(opened.receiver)),
        Some(page) => {
            if let Some(next) = page.next {
                response.insert_header((LINK, next_page(request, pairs, &next)));
            }
            let chunks = page.chunks.into_iter().map(Ok::<_, actix_web::Error>);
            response.streaming(futures::stream::iter(chunks))
        }
    }
}

fn next_page(request: &HttpRequest, pairs: &[(String, String)], token: &str) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    let kept = pairs.iter().filter(|pair| pair.0 != "after");
    query.extend_pairs(kept.map(|pair| (&pair.0, &pair.1))).append_pair("after", token);
    format!("<{}?{}>; rel=\"next\"", request.path(), query.finish())
}

/// How long a broken answer's last bytes may take into a socket that is full for a moment.
const GRACE: Duration = Duration::from_millis(50);

/// The body: slices, and after a failure a moment's wait, so that what is written is flushed before
/// the connection breaks off.
pub fn body(mut receiver: Receiver) -> impl Stream<Item = Result<Bytes, Refusal>> {
    try_stream! {
        while let Some(slice) = receiver.slice().await {
            match slice {
                Ok(slice) => yield slice,
                Err(error) => {
                    tokio::time::sleep(GRACE).await;
                    Err(Refusal::from(error))?;
                }
            }
        }
    }
}
