//! `/convert`: a file in, the same rows in another format out.

use actix_web::{HttpRequest, HttpResponse, post, web};

use super::answer::pairs;
use super::disposition::asked_name;
use super::file;
use super::prefer;
use super::problem::{ProblemView, Refusal};
use super::upload::receive;
use crate::access::Caller;
use crate::app::App;
use crate::convert::{Asked, Converted};
use crate::runs::RunView;
use crate::spool::Told;

/// Turns a file into another format; nothing is stored.
///
/// Columns are the headings of a spreadsheet or CSV file, or the keys of the first object; a key that a
/// later object brings is a 422 that names the line, unless `columns` chooses others. Columns have no
/// type: what is a text stays one (also every cell of CSV, so `007` keeps its zeros), a JSON number
/// keeps its digits, dates of spreadsheets become dates. The names in `columns` and `rename` are those
/// of the file; a comma, colon or backslash that belongs to a name has a backslash before it. The
/// answer is a prepared file, which stays at Content-Location for a while.
#[utoipa::path(post, operation_id = "convert_file", path = "/convert", tag = "convert",
    params(
        ("to" = String, Query, description = "ndjson, json, csv or xlsx"),
        ("columns" = Option<String>, Query, description = "Names of the columns wanted, in order, separated by commas; all without"),
        ("headers" = Option<String>, Query, description = "The name of a kept mapping: its columns come first, in its order, under its names"),
        ("rename" = Option<String>, Query, description = "old:new,old:new; goes before the mapping"),
        ("sheet" = Option<String>, Query, description = "By name or number; the first visible one without"),
        ("header_row" = Option<u64>, Query, description = "The headings' row as the spreadsheet shows it; the first that holds something without"),
        ("tz" = Option<String>, Query, description = "ndjson, json, csv: IANA zone of a spreadsheet's times, which have none and are written without one otherwise"),
        ("numbers" = Option<String>, Query, description = "ndjson, json: number or string"),
        ("header" = Option<String>, Query, description = "csv: title, key (the same here) or none"),
        ("bom" = Option<bool>, Query, description = "csv: begin with a byte order mark"),
        ("delimiter" = Option<String>, Query, description = "csv: , ; | or tab"),
        ("formula_guard" = Option<bool>, Query, description = "csv: put ' before text that a spreadsheet would run"),
        ("filename" = Option<String>, Query, description = "Name of the download, and of a workbook's sheets"),
        ("Prefer" = Option<String>, Header, description = "respond-async: the answer comes once the upload is whole; the file is then fetched from the run"),
    ),
    request_body(description = "The file (xlsx, xlsb, xls, ods, CSV, NDJSON or a JSON array, told by content), or a form with one part `file`", content((String = "application/octet-stream"), (String = "multipart/form-data"))),
    responses(
        (status = 200, description = "The rows in the other format", content(
                (String = "application/x-ndjson"),
                (Vec<Object> = "application/json"),
                (String = "text/csv"),
                (String = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
            ), headers(("X-Run-Id" = String, description = "The run that made it"))),
        (status = 202, description = "It goes on; its run tells how it ends, and has the file", body = RunView, headers(
            ("Location" = String, description = "The run"),
            ("Retry-After" = u64, description = "Seconds after which to ask for it"),
            ("Preference-Applied" = String, description = "respond-async"),
            ("X-Run-Id" = String, description = "The run's id"),
        )),
        (status = 400, body = ProblemView, content_type = "application/problem+json"),
        (status = 413, body = ProblemView, content_type = "application/problem+json"),
        (status = 422, body = ProblemView, content_type = "application/problem+json"),
        (status = 429, body = ProblemView, content_type = "application/problem+json"),
        (status = 503, body = ProblemView, content_type = "application/problem+json"),
        (status = 507, body = ProblemView, content_type = "application/problem+json"),
    ))]
#[post("/convert")]
pub async fn convert(
    app: web::Data<App>,
    caller: Caller,
    request: HttpRequest,
    payload: web::Payload,
) -> Result<HttpResponse, Refusal> {
    let asked = app.convert.asked(&pairs(&request)?).await?;
    let upload = receive(&app, &request, payload).await?;
    let told = Told { media_type: asked.to.media_type().into(), name: file_name(&app, &asked) };
    if prefer::is_async(&request) {
        let run = app.convert.convert_alone(asked, upload, &caller, told).await?;
        return prefer::accepted(&app, &request, &caller, run).await;
    }
    let Converted { run, file, waits } = app.convert.convert(asked, upload, &caller, told).await?;
    file::prepared(&request, run, file, waits, &app.runs)
}

fn file_name(app: &App, asked: &Asked) -> String {
    let extension = asked.to.extension();
    let wanted = asked.filename.as_deref().and_then(|name| asked_name(name, extension));
    wanted.unwrap_or_else(|| {
        let today = app.config.time_zone.to_datetime(jiff::Timestamp::now()).date();
        format!("converted {today}.{extension}")
    })
}
