//! `/runs`: what went on, what goes on, and an end to it.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, delete, route, web};
use uuid::Uuid;

use super::answer::{json, json_as, no_parameters, pairs};
use super::file;
use super::problem::{ProblemView, Refusal};
use crate::access::Caller;
use crate::app::App;
use crate::error::{Error, Problem};
use crate::runs::{Page, RunKind, RunView, Search, State};
use crate::spool::What;

/// Runs on a page, unless `limit` says otherwise, and at most.
const PAGE: u64 = 50;
const LONGEST_PAGE: u64 = 1_000;

/// Lists the caller's runs, newest first.
#[utoipa::path(get, operation_id = "list_runs", path = "/runs", tag = "runs",
    params(
        ("kind" = Option<RunKind>, Query, description = "Of this kind alone"),
        ("name" = Option<String>, Query, description = "Of this definition alone"),
        ("state" = Option<State>, Query, description = "In this state alone"),
        ("limit" = Option<u64>, Query, description = "How many, 1 to 1,000; 50 without"),
        ("after" = Option<String>, Query, description = "The next of the page before"),
    ),
    responses(
        (status = 200, body = Page),
        (status = 400, body = ProblemView, content_type = "application/problem+json"),
    ))]
#[route("/runs", method = "GET", method = "HEAD")]
pub async fn list(
    app: web::Data<App>,
    caller: Caller,
    request: HttpRequest,
) -> Result<HttpResponse, Refusal> {
    let search = search(&pairs(&request)?, &caller)?;
    json(&request, &app.runs.list(search).await?)
}

/// Shows one run.
#[utoipa::path(get, operation_id = "show_run", path = "/runs/{id}", tag = "runs",
    params(("id" = String, Path, description = "The run's id")),
    responses(
        (status = 200, body = RunView),
        (status = 404, body = ProblemView, content_type = "application/problem+json"),
    ))]
#[route("/runs/{id}", method = "GET", method = "HEAD")]
pub async fn show(
    app: web::Data<App>,
    caller: Caller,
    id: web::Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, Refusal> {
    let run = app.runs.get(&id, Some(&caller.name)).await?;
    no_parameters(&request)?;
    json(&request, &run)
}

/// Cancels a run that goes on: 202. One that is over stays as it is and its file is forgotten: 204.
#[utoipa::path(delete, operation_id = "cancel_run", path = "/runs/{id}", tag = "runs",
    params(("id" = String, Path, description = "The run's id")),
    responses(
        (status = 202, description = "It is being stopped", body = RunView),
        (status = 204, description = "It was over already"),
        (status = 404, body = ProblemView, content_type = "application/problem+json"),
    ))]
#[delete("/runs/{id}")]
pub async fn cancel(
    app: web::Data<App>,
    caller: Caller,
    id: web::Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, Refusal> {
    no_parameters(&request)?;
    if !app.runs.cancel(&id, Some(&caller.name)).await? {
        if let Ok(id) = Uuid::parse_str(&id) {
            app.spool.forget(id);
        }
        return Ok(HttpResponse::NoContent().finish());
    }
    json_as(StatusCode::ACCEPTED, &request, &app.runs.get(&id, Some(&caller.name)).await?)
}

/// Fetches the file of a finished run, or a part of it.
#[utoipa::path(get, operation_id = "get_run_file", path = "/runs/{id}/file", tag = "runs",
    params(("id" = String, Path, description = "The run's id")),
    responses(
        (status = 200, description = "The file", content_type = "application/octet-stream", body = String),
        (status = 206, description = "The part that Range asks for"),
        (status = 304, description = "It is the one that If-None-Match names"),
        (status = 409, body = ProblemView, content_type = "application/problem+json"),
        (status = 410, body = ProblemView, content_type = "application/problem+json"),
        (status = 412, body = ProblemView, content_type = "application/problem+json"),
        (status = 416, body = ProblemView, content_type = "application/problem+json"),
    ))]
#[route("/runs/{id}/file", method = "GET", method = "HEAD")]
pub async fn fetch(
    app: web::Data<App>,
    caller: Caller,
    id: web::Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, Refusal> {
    let run = app.runs.get(&id, Some(&caller.name)).await?;
    no_parameters(&request)?;
    let kept =
        Uuid::parse_str(&run.id).ok().and_then(|id| Some((id, app.spool.find(id, What::File)?)));
    let refuse = |code, detail: String| Error::Conflict { code, detail };
    match (run.state, kept) {
        (State::Complete, Some((id, kept))) => file::answer(&request, id, kept, &app.runs),
        (State::Complete, None) if run.kind == RunKind::Import => {
            let detail = "an import makes no file; the rows that it rejected are at problems";
            Err(refuse("run_has_no_file", detail.into()).into())
        }
        (State::Complete, None) => {
            let detail = "the file of this run has expired or there was none; ask for it again";
            Err(Error::Gone(detail.into()).into())
        }
        (State::Queued | State::Running, _) => {
            let detail =
                format!("the run is {}; its file is there when it is complete", run.state.word());
            Err(refuse("run_not_finished", detail).into())
        }
        (State::Failed | State::Cancelled, _) => {
            let detail =
                format!("the run is {}, so it has no file; ask for it again", run.state.word());
            Err(refuse("run_has_no_file", detail).into())
        }
    }
}

fn search(pairs: &[(String, String)], caller: &Caller) -> Result<Search, Error> {
    let mut search = Search { caller: Some(caller.name.clone()), limit: PAGE, ..Search::default() };
    let mut problems = Vec::new();
    for (index, (name, value)) in pairs.iter().enumerate() {
        let refuse = |code, detail| Problem::parameter(name.as_str(), code, value.as_str(), detail);
        if pairs[..index].iter().any(|pair| pair.0 == *name) {
            let detail = format!("\"{name}\" is given more than once; give it once");
            problems.push(refuse("doubled_parameter", detail));
        } else if let Err((code, detail)) = take(&mut search, name, value) {
            problems.push(refuse(code, detail));
        }
    }
    if problems.is_empty() { Ok(search) } else { Err(Error::Malformed(problems)) }
}

fn take(search: &mut Search, name: &str, value: &str) -> Result<(), (&'static str, String)> {
    let unknown = |known: Vec<&str>| {
        ("unknown_value", format!("\"{name}\" is \"{value}\"; it takes {}", known.join(", ")))
    };
    match name {
        "kind" => {
            let known = || RunKind::ALL.iter().map(|kind| kind.word()).collect();
            search.kind = Some(RunKind::from_word(value).ok_or_else(|| unknown(known()))?);
        }
        "state" => {
            let known = || State::ALL.iter().map(|state| state.word()).collect();
            search.state = Some(State::from_word(value).ok_or_else(|| unknown(known()))?);
        }
        "name" => search.name = Some(value.to_owned()),
        "limit" => {
            let limit = value.parse().ok().filter(|limit| (1..=LONGEST_PAGE).contains(limit));
            search.limit = limit.ok_or_else(|| {
                let detail = format!("\"limit\" is \"{value}\"; it takes 1 to {LONGEST_PAGE}");
                ("not_a_count", detail)
            })?;
        }
        "after" => {
            search.after = Some(Uuid::parse_str(value).map_err(|_| {
                let detail =
                    format!("\"after\" is \"{value}\", which is not the next of an earlier page");
                ("bad_cursor", detail)
            })?);
        }
        _ => {
            let detail = format!(
                "\"{name}\" is not a parameter here; there are kind, name, state, limit, after"
            );
            return Err(("unknown_parameter", detail));
        }
    }
    Ok(())
}
