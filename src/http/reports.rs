//! `/reports`: which there are, what each holds, how many rows it has.

use actix_web::{HttpRequest, HttpResponse, route, web};
use serde::Serialize;

use super::answer::{json, no_parameters, pairs};
use super::problem::{ProblemView, Refusal};
use crate::access::Caller;
use crate::app::App;
use crate::reports::{ReportView, Wanted};

/// The reports that the caller may see.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct ReportList {
    items: Vec<ReportView>,
    next: Option<String>,
}

/// How many rows there are.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct RowCount {
    rows: u64,
}

/// Lists the reports.
#[utoipa::path(get, operation_id = "list_reports", path = "/reports", tag = "reports", responses(
    (status = 200, body = ReportList),
    (status = 401, body = ProblemView, content_type = "application/problem+json"),
))]
#[route("/reports", method = "GET", method = "HEAD")]
pub async fn list(
    app: web::Data<App>,
    caller: Caller,
    request: HttpRequest,
) -> Result<HttpResponse, Refusal> {
    no_parameters(&request)?;
    let items =
        app.reports.list(&caller).iter().map(|report| ReportView::from(&**report)).collect();
    json(&request, &ReportList { items, next: None })
}

/// Shows one report: its columns and what it can be narrowed by.
#[utoipa::path(get, operation_id = "show_report", path = "/reports/{name}", tag = "reports",
    params(("name" = String, Path, description = "The report's name")),
    responses(
        (status = 200, body = ReportView),
        (status = 404, body = ProblemView, content_type = "application/problem+json"),
    ))]
#[route("/reports/{name}", method = "GET", method = "HEAD")]
pub async fn show(
    app: web::Data<App>,
    caller: Caller,
    name: web::Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, Refusal> {
    let report = app.reports.find(&name, &caller)?;
    no_parameters(&request)?;
    json(&request, &ReportView::from(&*report))
}

/// Counts the rows that the filters leave.
#[utoipa::path(get, operation_id = "count_rows", path = "/reports/{name}/count", tag = "reports",
    params(
        ("name" = String, Path, description = "The report's name"),
        ("tz" = Option<String>, Query, description = "IANA zone whose days a date in a filter names"),
    ),
    responses(
        (status = 200, body = RowCount),
        (status = 400, body = ProblemView, content_type = "application/problem+json"),
        (status = 504, body = ProblemView, content_type = "application/problem+json"),
    ))]
#[route("/reports/{name}/count", method = "GET", method = "HEAD")]
pub async fn count(
    app: web::Data<App>,
    caller: Caller,
    name: web::Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, Refusal> {
    let report = app.reports.find(&name, &caller)?;
    let wanted = Wanted::parse(&report, &pairs(&request)?, &app.config.time_zone)?;
    let rows = app.reports.count(&report, &wanted.filters, &caller).await?;
    json(&request, &RowCount { rows })
}
