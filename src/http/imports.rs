//! `/imports`: what can be uploaded, and uploading it.

use std::io::Seek;

use actix_web::body::SizedStream;
use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE, HeaderName, HeaderValue,
};
use actix_web::{HttpRequest, HttpResponse, post, route, web};
use serde::Serialize;
use tokio::task::spawn_blocking;
use uuid::Uuid;

use super::answer::{json, no_parameters, pairs};
use super::disposition::attachment;
use super::file::whole;
use super::prefer;
use super::problem::{ProblemView, Refusal};
use super::upload::receive;
use crate::access::Caller;
use crate::app::App;
use crate::error::{Error, Problem};
use crate::formats::{Format, Options};
use crate::imports::{self, Asked, Begun, ImportView, Imported, Inspection, Outcome, Rejects};
use crate::runs::{Repeatable, RunView};
use crate::spool::What;

/// The imports.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct ImportList {
    items: Vec<ImportView>,
    next: Option<String>,
}

/// Lists the imports that the caller may use.
#[utoipa::path(get, operation_id = "list_imports", path = "/imports", tag = "imports",
    responses((status = 200, body = ImportList)))]
#[route("/imports", method = "GET", method = "HEAD")]
pub async fn list(
    app: web::Data<App>,
    caller: Caller,
    request: HttpRequest,
) -> Result<HttpResponse, Refusal> {
    no_parameters(&request)?;
    let items = app.imports.list(&caller).iter().map(|one| ImportView::new(one)).collect();
    json(&request, &ImportList { items, next: None })
}

/// Shows one import with its columns.
#[utoipa::path(get, operation_id = "show_import", path = "/imports/{name}", tag = "imports",
    params(("name" = String, Path, description = "The import's name")),
    responses(
        (status = 200, body = ImportView),
        (status = 404, body = ProblemView, content_type = "application/problem+json"),
    ))]
#[route("/imports/{name}", method = "GET", method = "HEAD")]
pub async fn show(
    app: web::Data<App>,
    caller: Caller,
    name: web::Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, Refusal> {
    let found = app.imports.find(&name, &caller)?;
    no_parameters(&request)?;
    json(&request, &ImportView::new(&found))
}

/// Hands out an empty workbook to fill in.
#[utoipa::path(get, operation_id = "import_template", path = "/imports/{name}/template", tag = "imports",
    params(("name" = String, Path, description = "The import's name")),
    responses(
        (status = 200, description = "The workbook", content_type = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", body = String),
        (status = 404, body = ProblemView, content_type = "application/problem+json"),
    ))]
#[route("/imports/{name}/template", method = "GET", method = "HEAD")]
pub async fn template(
    app: web::Data<App>,
    caller: Caller,
    name: web::Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, Refusal> {
    let found = app.imports.find(&name, &caller)?;
    no_parameters(&request)?;
    let name = format!("{}.xlsx", found.title);
    let (directory, level) = (app.config.temp_dir.clone(), app.config.xlsx_level);
    let making = spawn_blocking(move || {
        let mut out = Vec::new();
        imports::template(&found, &directory, level, &mut out).map(|()| out)
    });
    let book = making.await.map_err(|source| Error::internal("making a template", source))??;
    Ok(HttpResponse::Ok()
        .insert_header((CONTENT_TYPE, Format::Xlsx.media_type()))
        .insert_header((CONTENT_DISPOSITION, attachment(&name)))
        .insert_header((CACHE_CONTROL, "no-store"))
        .body(book))
}

/// Hands back the rows that an import rejected, each with what is wrong with it.
#[utoipa::path(get, operation_id = "get_run_problems", path = "/runs/{id}/problems", tag = "runs",
    params(
        ("id" = String, Path, description = "The run's id"),
        ("format" = Option<String>, Query, description = "xlsx, csv or ndjson; xlsx without"),
    ),
    responses(
        (status = 200, description = "The rejected rows", content_type = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", body = String),
        (status = 404, body = ProblemView, content_type = "application/problem+json"),
        (status = 409, body = ProblemView, content_type = "application/problem+json"),
        (status = 410, body = ProblemView, content_type = "application/problem+json"),
    ))]
#[route("/runs/{id}/problems", method = "GET", method = "HEAD")]
pub async fn problems(
    app: web::Data<App>,
    caller: Caller,
    id: web::Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, Refusal> {
    let run = app.runs.get(&id, Some(&caller.name)).await?;
    let format = problems_format(&pairs(&request)?)?;
    let kept = Uuid::parse_str(&run.id).ok().and_then(|id| app.spool.find(id, What::Problems));
    let Some(kept) = kept else { return Err(without_problems(&run).into()) };
    let name = format!("{}.{}", kept.told().name, format.extension());
    let options = Options {
        temp_dir: app.config.temp_dir.clone(),
        level: app.config.xlsx_level,
        title: "problems".into(),
        bom: true,
        ..Options::default()
    };
    let file = tempfile::tempfile_in(&app.config.temp_dir).map_err(Error::writing)?;
    let making = spawn_blocking(move || {
        let mut out = std::io::BufWriter::new(file);
        imports::hand_back(Rejects::open(&kept)?, format, &options, &mut out)?;
        let mut file = out.into_inner().map_err(|error| Error::writing(error.into_error()))?;
        let length = file.stream_position().map_err(Error::writing)?;
        file.rewind().map_err(Error::writing)?;
        Ok::<_, Error>((file, length))
    });
    let (file, length) =
        making.await.map_err(|source| Error::internal("handing rows back", source))??;
    Ok(HttpResponse::Ok()
        .insert_header((CONTENT_TYPE, format.media_type()))
        .insert_header((CONTENT_DISPOSITION, attachment(&name)))
        .insert_header((CACHE_CONTROL, "no-store"))
        .insert_header(("X-Run-Id", run.id))
        .body(SizedStream::new(length, whole(file, length))))
}

fn problems_format(pairs: &[(String, String)]) -> Result<Format, Error> {
    let mut format = Format::Xlsx;
    let mut faults = Vec::new();
    for (index, (name, value)) in pairs.iter().enumerate() {
        let chosen = Format::from_name(value).filter(|format| *format != Format::Json);
        match (name.as_str(), chosen) {
            ("format", _) if pairs[..index].iter().any(|earlier| earlier.0 == "format") => {
                let detail = "\"format\" is given twice; give it once";
                faults.push(Problem::parameter(name, "doubled_parameter", value, detail));
            }
            ("format", Some(chosen)) => format = chosen,
            ("format", None) => {
                let detail = "write format=xlsx, csv or ndjson";
                faults.push(Problem::parameter(name, "unknown_format", value, detail));
            }
            _ => {
                let detail = format!("\"{name}\" is not a parameter here; the known one is format");
                faults.push(Problem::parameter(name, "unknown_parameter", value, detail));
            }
        }
    }
    if faults.is_empty() { Ok(format) } else { Err(Error::Malformed(faults)) }
}

/// Why a run has no rejected rows to hand back.
fn without_problems(run: &RunView) -> Error {
    let rejected = run.result.as_ref().and_then(|result| result["rejected"].as_u64()).unwrap_or(0);
    let (code, detail) = match (run.state.is_final(), rejected) {
        (false, _) => ("run_not_finished", "the run is not over yet; ask again when it is"),
        (true, 0) => ("run_has_no_problems", "this run rejected no rows"),
        (true, _) => {
            let detail = "the rejected rows of this run have expired; upload the file again";
            return Error::Gone(detail.into());
        }
    };
    Error::Conflict { code, detail: detail.into() }
}

/// Imports a file.
#[utoipa::path(post, operation_id = "import_file", path = "/imports/{name}", tag = "imports",
    params(
        ("name" = String, Path, description = "The import's name"),
        ("dry_run" = Option<bool>, Query, description = "Check everything, store nothing"),
        ("on_problem" = Option<String>, Query, description = "reject: one bad row stops all; skip: the good rows are stored"),
        ("sheet" = Option<String>, Query, description = "By name or number; the first visible one without"),
        ("header_row" = Option<u64>, Query, description = "The header's row as the spreadsheet shows it; looked for in the first 20 without"),
        ("Idempotency-Key" = Option<String>, Header, description = "The same key, file and parameters are done once and answered alike for 24 hours"),
        ("Prefer" = Option<String>, Header, description = "respond-async: the answer comes once the upload is whole, and the import goes on though the client leaves"),
    ),
    request_body(description = "The file, or a form with one part `file`", content((String = "application/octet-stream"), (String = "multipart/form-data"))),
    responses(
        (status = 200, body = Outcome),
        (status = 202, description = "It goes on; its run tells how it ends, in result and error", body = RunView, headers(
            ("Location" = String, description = "The run"),
            ("Retry-After" = u64, description = "Seconds after which to ask for it"),
            ("Preference-Applied" = String, description = "respond-async"),
            ("X-Run-Id" = String, description = "The run's id"),
        )),
        (status = 400, body = ProblemView, content_type = "application/problem+json"),
        (status = 404, body = ProblemView, content_type = "application/problem+json"),
        (status = 409, body = ProblemView, content_type = "application/problem+json"),
        (status = 413, body = ProblemView, content_type = "application/problem+json"),
        (status = 422, body = ProblemView, content_type = "application/problem+json"),
        (status = 429, body = ProblemView, content_type = "application/problem+json"),
        (status = 507, body = ProblemView, content_type = "application/problem+json"),
    ))]
#[post("/imports/{name}")]
pub async fn take_in(
    app: web::Data<App>,
    caller: Caller,
    name: web::Path<String>,
    request: HttpRequest,
    payload: web::Payload,
) -> Result<HttpResponse, Refusal> {
    let found = app.imports.find(&name, &caller)?;
    let asked = Asked::parse(&pairs(&request)?)?;
    let upload = receive(&app, &request, payload).await?;
    let repeatable = repeatable(&request, &caller, &asked, &upload.sha256())?;
    let begun = app.imports.begin(found, asked, upload, &caller, repeatable).await?;
    if prefer::is_async(&request) {
        return accepted(&app, &request, &caller, begun).await;
    }
    done(&request, begun.end().await?)
}

/// What an import came to.
fn done(
    request: &HttpRequest,
    Imported { run, outcome }: Imported,
) -> Result<HttpResponse, Refusal> {
    let mut response = json(request, &outcome)?;
    let run = HeaderValue::from_str(&run.to_string())
        .map_err(|source| Error::internal("writing a header", source))?;
    response.headers_mut().insert(HeaderName::from_static("x-run-id"), run);
    Ok(response)
}

/// Leaves an import to itself.
async fn accepted(
    app: &App,
    request: &HttpRequest,
    caller: &Caller,
    begun: Begun,
) -> Result<HttpResponse, Refusal> {
    match begun {
        Begun::Now(going) => {
            // Who cannot be told where to find it does not have it.
            let response = prefer::accepted(app, request, caller, going.run()).await?;
            going.let_go();
            Ok(response)
        }
        Begun::Before(over) => match prefer::accepted(app, request, caller, over.run).await {
            // Its note alone is left.
            Err(Refusal { error: Error::NotFound(_), .. }) => {
                done(request, Begun::Before(over).end().await?)
            }
            answer => answer,
        },
    }
}

/// Looks into a file as an import would, and stores nothing.
///
/// The head is read alone. What the import would refuse of the headers is told in `problems` of a
/// 200; a file that cannot be read is refused as the import refuses it.
#[utoipa::path(post, operation_id = "inspect_file", path = "/imports/{name}/inspect", tag = "imports",
    params(
        ("name" = String, Path, description = "The import's name"),
        ("sheet" = Option<String>, Query, description = "By name or number; the first visible one without"),
        ("header_row" = Option<u64>, Query, description = "The header's row as the spreadsheet shows it; looked for in the first 20 without"),
    ),
    request_body(description = "The file, or a form with one part `file`", content((String = "application/octet-stream"), (String = "multipart/form-data"))),
    responses(
        (status = 200, body = Inspection),
        (status = 400, body = ProblemView, content_type = "application/problem+json"),
        (status = 404, body = ProblemView, content_type = "application/problem+json"),
        (status = 413, body = ProblemView, content_type = "application/problem+json"),
        (status = 422, body = ProblemView, content_type = "application/problem+json"),
        (status = 429, body = ProblemView, content_type = "application/problem+json"),
        (status = 507, body = ProblemView, content_type = "application/problem+json"),
    ))]
#[post("/imports/{name}/inspect")]
pub async fn inspect(
    app: web::Data<App>,
    caller: Caller,
    name: web::Path<String>,
    request: HttpRequest,
    payload: web::Payload,
) -> Result<HttpResponse, Refusal> {
    let found = app.imports.find(&name, &caller)?;
    let asked = Asked::parse_look(&pairs(&request)?)?;
    let upload = receive(&app, &request, payload).await?;
    json(&request, &app.imports.inspect(found, asked, upload, &caller).await?)
}

/// The request under its key, where it has one.
fn repeatable(
    request: &HttpRequest,
    caller: &Caller,
    asked: &Asked,
    content: &str,
) -> Result<Option<Repeatable>, Error> {
    let Some(key) = request.headers().get("idempotency-key") else { return Ok(None) };
    let key = key.to_str().map_err(|_| {
        let detail = "the header Idempotency-Key holds bytes that are not ASCII; use plain letters";
        Error::Malformed(vec![Problem::parameter("Idempotency-Key", "bad_key", "", detail)])
    })?;
    let parameters = asked.params().to_string();
    Repeatable::new(key, &caller.name, request.path(), &parameters, content).map(Some)
}
