//! The OpenAPI document for people: every address with its parameters and answers.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, route, web};
use maud::{Markup, html};
use serde_json::Value as Json;
use utoipa::openapi::OpenApi as Document;

use super::frame;
use crate::error::Error;
use crate::http::problem::Refusal;

/// Shows what the OpenAPI document says, for people.
///
/// HTML without scripts.
#[utoipa::path(get, operation_id = "show_docs", path = "/docs", tag = "about", responses(
    (status = 200, description = "The page", content_type = "text/html", body = String)))]
#[route("/docs", method = "GET", method = "HEAD")]
pub async fn docs(api: web::Data<Document>, request: HttpRequest) -> Result<HttpResponse, Refusal> {
    let api = serde_json::to_value(&**api)
        .map_err(|source| Error::internal("showing the OpenAPI document", source))?;
    let content = html! {
        h1 { "What programs can ask" }
        p { (text(&api["info"], "description")) }
        p { "For programs: " a href="/api/openapi.json" { "/api/openapi.json" } }
        @for (path, operations) in members(&api["paths"]) {
            @for (method, operation) in members(operations) {
                (shown(method, path, operation))
            }
        }
    };
    frame::page(&request, StatusCode::OK, "Addresses – Tallyroll", &content)
}

fn shown(method: &str, path: &str, operation: &Json) -> Markup {
    let parameters = operation["parameters"].as_array().map_or(&[][..], Vec::as_slice);
    html! {
        article id=(text(operation, "operationId")) {
            h2 { (method.to_uppercase()) " " (path) }
            p { (text(operation, "summary")) }
            @for paragraph in text(operation, "description").split("\n\n") {
                p { (paragraph) }
            }
            @if !parameters.is_empty() {
                h3 { "Parameters" }
                dl {
                    @for parameter in parameters {
                        dt { code { (text(parameter, "name")) } " in " (text(parameter, "in"))
                            @if parameter["required"] == true { ", required" } }
                        dd { (text(parameter, "description")) }
                    }
                }
            }
            h3 { "Answers" }
            dl {
                @for (status, answer) in members(&operation["responses"]) {
                    dt { (status) }
                    dd {
                        (text(answer, "description"))
                        @for (media, _) in members(&answer["content"]) { " " code { (media) } }
                    }
                }
            }
        }
    }
}

fn members(object: &Json) -> impl Iterator<Item = (&String, &Json)> {
    object.as_object().into_iter().flatten()
}

fn text<'j>(object: &'j Json, name: &str) -> &'j str {
    object[name].as_str().unwrap_or_default()
}
