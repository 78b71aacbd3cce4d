//! `/runs/{id}/events`: how far a run is, told as it goes on (server-sent events).

use std::time::Duration;

use actix_web::http::Method;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use actix_web::{HttpRequest, HttpResponse, route, web};
use async_stream::try_stream;
use bytes::Bytes;
use futures::Stream;
use serde::Serialize;

use super::answer::no_parameters;
use super::problem::{ProblemView, Refusal};
use crate::access::Caller;
use crate::app::App;
use crate::error::Error;
use crate::runs::RunView;

/// How often it is told.
const EVERY: Duration = Duration::from_millis(500);

/// How far a run is.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct ProgressEvent {
    rows: u64,
    bytes: u64,
    /// How many rows there will be, where that is known beforehand.
    rows_estimated: Option<u64>,
    /// Since it was asked for, waiting for its permit included.
    elapsed_ms: u64,
}

/// Tells how far a run is, twice a second, until it is over.
///
/// `progress` comes at once and then twice a second, whether or not anything has moved; the last event
/// is `complete`, `failed` or `cancelled` and holds the run. Of a run that is over it is the only one.
#[utoipa::path(get, operation_id = "watch_run", path = "/runs/{id}/events", tag = "runs",
    params(("id" = String, Path, description = "The run's id")),
    responses(
        (status = 200, description = "Events; the data of progress is", content_type = "text/event-stream", body = ProgressEvent),
        (status = 404, body = ProblemView, content_type = "application/problem+json"),
    ))]
#[route("/runs/{id}/events", method = "GET", method = "HEAD")]
pub async fn watch(
    app: web::Data<App>,
    caller: Caller,
    id: web::Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, Refusal> {
    no_parameters(&request)?;
    let first = app.runs.get(&id, Some(&caller.name)).await?;
    let mut response = HttpResponse::Ok();
    response
        .insert_header((CONTENT_TYPE, "text/event-stream"))
        .insert_header((CACHE_CONTROL, "no-store"))
        .insert_header(("X-Accel-Buffering", "no"));
    if request.method() == Method::HEAD {
        return Ok(response.streaming(futures::stream::empty::<Result<Bytes, Refusal>>()));
    }
    Ok(response.streaming(events(app, caller, first)))
}

fn events(
    app: web::Data<App>,
    caller: Caller,
    mut run: RunView,
) -> impl Stream<Item = Result<Bytes, Refusal>> {
    try_stream! {
        while !run.state.is_final() {
            yield event("progress", &progress(&run))?;
            tokio::time::sleep(EVERY).await;
            run = app.runs.get(&run.id, Some(&caller.name)).await?;
        }
        yield event(run.state.word(), &run)?;
    }
}

fn progress(run: &RunView) -> ProgressEvent {
    let begun: Option<jiff::Timestamp> = run.created_at.parse().ok();
    let elapsed = begun.map(|begun| jiff::Timestamp::now().duration_since(begun).as_millis());
    ProgressEvent {
        rows: run.rows,
        bytes: run.bytes,
        rows_estimated: None,
        elapsed_ms: elapsed.and_then(|elapsed| u64::try_from(elapsed).ok()).unwrap_or_default(),
    }
}

/// One event; JSON has no line break in it.
fn event(name: &str, data: &impl Serialize) -> Result<Bytes, Error> {
    let data = serde_json::to_string(data)
        .map_err(|source| Error::internal("writing an event", source))?;
    Ok(format!("event: {name}\ndata: {data}\n\n").into())
}
