//! The page: what there is, for people with a browser. Plain HTML without scripts; the forms of reports
//! are GETs, those of imports send their file where programs send it too.
//!
//! A form sends its empty fields too, and an empty filter is a fault by contract. So forms lead to an
//! address of the page, which leaves out what is empty, looks at the rest as the rows do, and then
//! leads on to the rows, or shows in words what is wrong. Refusals of the page's addresses are pages.

mod contract;
mod field;
mod form;
mod frame;
mod imports;

use std::collections::BTreeSet;

use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, LOCATION};
use actix_web::{HttpRequest, HttpResponse, route, web};
use maud::{Markup, html};
use url::form_urlencoded;
use uuid::Uuid;

pub use self::contract::docs;
use self::form::Form;
use super::answer::pairs;
use super::health::place;
use super::negotiation;
use super::problem::{self, Refusal};
use crate::access::Caller;
use crate::app::App;
use crate::definitions::Report;
use crate::error::{Error, Problem};
use crate::reports::Request;

/// With so many reports or fewer, their filters are in sight at once.
const FEW: usize = 2;

/// Whether an address is one of the page's, whose refusals are pages too.
pub fn owns(path: &str) -> bool {
    path == "/" || path.starts_with("/reports/")
}

/// Shows the reports, each with a form for its rows, and the imports, each with one for a file.
///
/// HTML without scripts.
#[utoipa::path(get, operation_id = "show_page", path = "/", tag = "page", responses(
    (status = 200, description = "The page", content_type = "text/html", body = String),
    (status = 401, description = "Words on a page", content_type = "text/html", body = String),
))]
#[route("/", method = "GET", method = "HEAD")]
pub async fn home(
    app: web::Data<App>,
    caller: Caller,
    request: HttpRequest,
) -> Result<HttpResponse, Refusal> {
    let reports = app.reports.list(&caller);
    let zone = zone(&app);
    let open = reports.len() <= FEW;
    let articles = reports
        .iter()
        .map(|report| Form { report, zone: &zone, sent: &[], problems: &[], open }.article());
    let content = html! {
        h1 { "Reports" }
        (at_fault(&app))
        @if reports.is_empty() {
            p { "There are none. A report is a TOML file under reports/ of the directory that the setting definitions names." }
        }
        @for article in articles { (article) }
        (imports::section(&app.imports.list(&caller)))
    };
    frame::page(&request, StatusCode::OK, "Reports – Tallyroll", &content)
}

/// Leads a form's request on to the rows.
///
/// Takes the parameters of the rows, in any number of fields: empty ones are left out, several
/// `columns` become one list. What the rows would refuse is shown on the page, with the form as it
/// was sent.
#[utoipa::path(get, operation_id = "download_rows", path = "/reports/{name}/download", tag = "page",
    params(("name" = String, Path, description = "The report's name")),
    responses(
        (status = 303, description = "The rows are at Location",
            headers(("Location" = String, description = "The address of the rows"))),
        (status = 400, description = "The form again, with what is wrong", content_type = "text/html", body = String),
        (status = 404, description = "Words on a page", content_type = "text/html", body = String),
    ))]
#[route("/reports/{name}/download", method = "GET", method = "HEAD")]
pub async fn download(
    app: web::Data<App>,
    caller: Caller,
    name: web::Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, Refusal> {
    let report = app.reports.find(&name, &caller)?;
    let sent = filled_in(pairs(&request)?);
    let negotiated = negotiation::format(&request).map(|chosen| chosen.format);
    let asked = Request { pairs: &sent, zone: &app.config.time_zone, negotiated };
    match asked.parse(&report) {
        Ok(_) => Ok(rows_of(&report, &sent)),
        Err(Error::Malformed(problems)) => again(&request, &app, &report, &sent, &problems),
        Err(other) => Err(other.into()),
    }
}

/// Without the fields that were left empty, and with the columns in one list.
fn filled_in(mut pairs: Vec<(String, String)>) -> Vec<(String, String)> {
    pairs.retain(|(_, value)| !value.is_empty());
    let (columns, mut others): (Vec<_>, Vec<_>) =
        pairs.into_iter().partition(|(name, _)| name == "columns");
    let columns: Vec<_> = columns.into_iter().map(|(_, value)| value).collect();
    if !columns.is_empty() {
        others.push(("columns".into(), columns.join(",")));
    }
    others
}

fn rows_of(report: &Report, pairs: &[(String, String)]) -> HttpResponse {
    let mut query = form_urlencoded::Serializer::new(String::new());
    let query = query.extend_pairs(pairs).finish();
    let rows = format!("/api/v1/reports/{}/rows", report.name);
    let location = if query.is_empty() { rows } else { format!("{rows}?{query}") };
    HttpResponse::SeeOther()
        .insert_header((LOCATION, location))
        .insert_header((CACHE_CONTROL, "no-store"))
        .finish()
}

/// The form as it was sent, with what is wrong.
fn again(
    request: &HttpRequest,
    app: &App,
    report: &Report,
    sent: &[(String, String)],
    problems: &[Problem],
) -> Result<HttpResponse, Refusal> {
    let form = Form { report, zone: &zone(app), sent, problems, open: true };
    let content = html! {
        h1 { "That cannot be downloaded yet" }
        (form.faults())
        (form.article())
    };
    let title = format!("{} – Tallyroll", report.title);
    frame::page(request, StatusCode::BAD_REQUEST, &title, &content)
}

/// A refusal or failure of one of the page's addresses, in words.
pub fn refusal(
    request: &HttpRequest,
    error: &Error,
    run: Option<Uuid>,
    request_id: &str,
) -> HttpResponse {
    let title = problem::title(problem::status(error));
    let content = html! {
        h1 { (title) }
        @match error {
            Error::Malformed(problems) | Error::Invalid(problems) => {
                ul { @for problem in problems { li { (problem.detail) } } }
            }
            other => p { (other.detail()) }
        }
        p { a href="/" { "To the reports" } }
        p.quiet { "Request " code { (request_id) } }
    };
    let title = format!("{title} – Tallyroll");
    frame::answer(request, problem::head(error, run), &title, &content)
        .unwrap_or_else(|failed| problem::response(&failed, run, request_id))
}

/// Definitions that were not loaded or do not fit their database, by their places.
fn at_fault(app: &App) -> Markup {
    let places: BTreeSet<_> = app.faults().iter().map(place).collect();
    html! {
        @if !places.is_empty() {
            div.faults role="note" {
                p { "Some definitions are at fault; " code { "tallyroll check" } " says what is wrong:" }
                ul { @for place in places { li { code { (place) } } } }
            }
        }
    }
}

fn zone(app: &App) -> String {
    app.config.time_zone.iana_name().unwrap_or("UTC").to_owned()
}
