//! `/reports/{name}/exports`: a file of a report that is built while nobody waits.

use actix_web::{HttpRequest, HttpResponse, post, web};

use super::answer::pairs;
use super::prefer;
use super::problem::{ProblemView, Refusal};
use super::{negotiation, rows};
use crate::access::Caller;
use crate::app::App;
use crate::reports::Request;
use crate::runs::RunView;

/// Begins to build a file of a report's rows, and goes on though the client leaves.
///
/// It takes what `GET …/rows` takes. The run says how far it is and how it ends; its file is at
/// `/runs/{id}/file` once it is complete.
#[utoipa::path(post, operation_id = "begin_export", path = "/reports/{name}/exports", tag = "reports",
    params(
        ("name" = String, Path, description = "The report's name"),
        ("format" = Option<String>, Query, description = "ndjson, json, csv or xlsx; wins over Accept; and all that the rows take"),
    ),
    responses(
        (status = 202, description = "It goes on; its run tells how it ends, and has the file", body = RunView, headers(
            ("Location" = String, description = "The run"),
            ("Retry-After" = u64, description = "Seconds after which to ask for it"),
            ("X-Run-Id" = String, description = "The run's id"),
        )),
        (status = 400, body = ProblemView, content_type = "application/problem+json"),
        (status = 404, body = ProblemView, content_type = "application/problem+json"),
        (status = 406, body = ProblemView, content_type = "application/problem+json"),
        (status = 429, body = ProblemView, content_type = "application/problem+json"),
        (status = 503, body = ProblemView, content_type = "application/problem+json"),
    ))]
#[post("/reports/{name}/exports")]
pub async fn begin(
    app: web::Data<App>,
    caller: Caller,
    name: web::Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, Refusal> {
    let report = app.reports.find(&name, &caller)?;
    let negotiated = negotiation::format(&request).map(|chosen| chosen.format);
    let (pairs, zone) = (pairs(&request)?, &app.config.time_zone);
    let asked = Request { pairs: &pairs, zone, negotiated }.parse(&report)?;
    let told = rows::told(&request, &report, &asked);
    let run = app.reports.export(report, asked, caller.clone(), told).await?;
    prefer::accepted(&app, &request, &caller, run).await
}
