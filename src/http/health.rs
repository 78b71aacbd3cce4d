//! Whether the server lives, and whether it can work.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, route, web};
use serde::Serialize;

use super::answer::{json, json_as};
use super::problem::Refusal;
use crate::app::App;
use crate::definitions::Fault;

/// That the process lives.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct Live {
    status: &'static str,
}

/// Whether the server can work, and what is in the way.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct Ready {
    /// `ready`, or `unready`.
    status: &'static str,
    /// The databases, by the name of their setting; `ok` or what is wrong.
    databases: std::collections::BTreeMap<String, String>,
    /// Definitions that are at fault, by file and line; `tallyroll check` says what is wrong.
    definitions: Vec<String>,
}

/// Says that the process lives.
#[utoipa::path(get, operation_id = "show_live", path = "/health/live", tag = "health", responses((status = 200, body = Live)))]
#[route("/health/live", method = "GET", method = "HEAD")]
pub async fn live(request: HttpRequest) -> Result<HttpResponse, Refusal> {
    json(&request, &Live { status: "live" })
}

/// Says whether the databases answer; names definitions that are at fault.
#[utoipa::path(get, operation_id = "show_ready", path = "/health/ready", tag = "health", responses(
    (status = 200, body = Ready), (status = 503, body = Ready),
))]
#[route("/health/ready", method = "GET", method = "HEAD")]
pub async fn ready(app: web::Data<App>, request: HttpRequest) -> Result<HttpResponse, Refusal> {
    let mut databases = std::collections::BTreeMap::new();
    let mut all_well = true;
    let mut say = |name: String, answer: crate::error::Result<()>| {
        let words = answer.map_or_else(
            |error| {
                tracing::warn!(database = name, %error, "a database does not answer");
                all_well = false;
                error.detail()
            },
            |()| "ok".into(),
        );
        databases.insert(name, words);
    };
    say("state_url".into(), app.ping_state().await);
    for (name, database) in app.reports.databases() {
        let setting =
            if name.is_empty() { "database_url".into() } else { format!("databases.{name}") };
        say(setting, database.ping().await);
    }
    let definitions = app.faults().iter().map(place).collect();
    let status = if all_well { "ready" } else { "unready" };
    let view = Ready { status, databases, definitions };
    let code = if all_well { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    json_as(code, &request, &view)
}

/// Where a fault is, without what a database or a file system says of it.
pub fn place(fault: &Fault) -> String {
    if fault.is_of_directory() {
        return "the directory of definitions".into();
    }
    format!("{}:{}", fault.file, fault.line)
}
