//! What every request passes: an id, a log line, the rule for open servers, problems for all that
//! goes wrong.

use std::time::Instant;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ResourceDef, ServiceRequest, ServiceResponse};
use actix_web::http::header::{HOST, HeaderName, HeaderValue, ORIGIN};
use actix_web::http::uri::Authority;
use actix_web::middleware::Next;
use actix_web::{HttpRequest, HttpResponse, web};
use tracing::Instrument;
use utoipa::openapi::OpenApi;
use uuid::Uuid;

use super::page;
use super::problem::{self, Refusal};
use crate::app::App;
use crate::config::Auth;
use crate::error::Error;

/// Stands before every route.
///
/// # Errors
/// None of its own: every refusal becomes a problem here.
pub async fn gate(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    let begun = Instant::now();
    let id = Uuid::now_v7().to_string();
    let span =
        tracing::info_span!("request", id = %id, method = %request.method(), path = request.path());
    let refused = request.app_data::<web::Data<App>>().and_then(|app| refuse(app, &request));
    let mut response = if let Some(error) = refused {
        let told = tell(request.request(), &error, None, &id);
        request.into_response(told)
    } else {
        let response = next.call(request).instrument(span.clone()).await?;
        span.in_scope(|| answered(response, &id))
    };
    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(HeaderName::from_static("x-request-id"), value);
    }
    let _entered = span.enter();
    tracing::info!(
        status = response.status().as_u16(),
        ms = begun.elapsed().as_millis(),
        "answered"
    );
    Ok(response)
}

fn answered(
    response: ServiceResponse<impl MessageBody + 'static>,
    id: &str,
) -> ServiceResponse<BoxBody> {
    let problem = response.response().error();
    let problem = problem.map(|error| to_problem(response.request(), error, id));
    match problem {
        Some(problem) => response.into_response(problem),
        None => response.map_into_boxed_body(),
    }
}

fn to_problem(request: &HttpRequest, error: &actix_web::Error, id: &str) -> HttpResponse {
    let Some(Refusal { error, run }) = error.as_error::<Refusal>() else {
        let status = error.as_response_error().status_code();
        tracing::info!(%error, "refused by the HTTP layer");
        return problem::plain(status, id);
    };
    // A run's failure was logged by whoever carried the run.
    if run.is_none() && problem::status(error).is_server_error() {
        tracing::error!(%error, "a request failed");
    }
    tell(request, error, *run, id)
}

/// In words on the page to whoever is there, as a problem to everybody else.
fn tell(request: &HttpRequest, error: &Error, run: Option<Uuid>, id: &str) -> HttpResponse {
    if page::owns(request.path()) {
        page::refusal(request, error, run, id)
    } else {
        problem::response(error, run, id)
    }
}

fn refuse(app: &App, request: &ServiceRequest) -> Option<Error> {
    if app.is_stopping() {
        return Some(crate::runs::Reason::Shutdown.error());
    }
    match app.config.auth {
        Auth::Required => None,
        Auth::Off => open_to_this_machine_alone(request),
    }
}

/// While nobody has to say who he is, nobody may come from elsewhere: not through a proxy, and not
/// from a page of another server, whatever name it found for this machine's loopback address.
fn open_to_this_machine_alone(request: &ServiceRequest) -> Option<Error> {
    let forwarded = request.headers().keys().find(|name| {
        let name = name.as_str();
        name == "forwarded" || name == "x-real-ip" || name.starts_with("x-forwarded-")
    });
    if let Some(name) = forwarded {
        return Some(Error::Forbidden(
            format!(
                "this server runs with auth = \"off\" and answers its own machine alone; the header \
                 {name} says that the request came through a proxy; set auth = \"required\" first"
            )
            .into(),
        ));
    }
    // A page from elsewhere may send a form anywhere; its browser says so.
    let origin = request.headers().get(ORIGIN).map(|origin| origin.to_str().unwrap_or_default());
    if let Some(origin) = origin
        && !origin.split_once("://").is_some_and(|(_, host)| is_loopback(host))
    {
        return Some(Error::Forbidden(
            format!(
                "this server runs with auth = \"off\" and answers its own machine alone; the header \
                 Origin says that a page of \"{origin}\" sent the request; set auth = \"required\" first"
            )
            .into(),
        ));
    }
    let named = request.headers().get(HOST).and_then(|host| host.to_str().ok());
    // A target in absolute form stands in place of the header (RFC 9112, 3.2.2).
    let host = request.uri().authority().map(Authority::as_str).or(named);
    match host {
        Some(host) if is_loopback(host) => None,
        other => Some(Error::Forbidden(
            format!(
                "this server runs with auth = \"off\" and answers its own machine alone; ask for \
                 127.0.0.1 or localhost, not \"{}\", or set auth = \"required\"",
                other.unwrap_or_default()
            )
            .into(),
        )),
    }
}

/// Whether a `host` or `host:port` is this machine's loopback.
pub fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Answers what no route answers: 405 where the address is right, else 404.
///
/// # Errors
/// Always.
pub async fn fallback(request: HttpRequest, api: web::Data<OpenApi>) -> Result<(), Refusal> {
    let path = request.path();
    let known = api
        .paths
        .paths
        .iter()
        .find(|(pattern, _)| ResourceDef::new(pattern.as_str()).is_match(path));
    let Some((_, item)) = known else {
        let detail =
            format!("there is nothing at {path}; GET /api/openapi.json says what there is");
        return Err(Error::NotFound(detail).into());
    };
    Err(Error::MethodNotAllowed(methods(item)).into())
}

fn methods(item: &utoipa::openapi::PathItem) -> Vec<String> {
    let all = [
        ("GET", item.get.is_some()),
        ("HEAD", item.get.is_some()),
        ("POST", item.post.is_some()),
        ("PUT", item.put.is_some()),
        ("PATCH", item.patch.is_some()),
        ("DELETE", item.delete.is_some()),
    ];
    all.into_iter().filter(|(_, known)| *known).map(|(method, _)| method.to_owned()).collect()
}
