//! The OpenAPI document, made from the handlers.

use actix_web::{HttpRequest, HttpResponse, route, web};
use utoipa::OpenApi;
use utoipa::openapi::OpenApi as Document;

use super::answer::json;
use super::problem::Refusal;

#[derive(OpenApi)]
#[openapi(info(
    title = "Tallyroll",
    description = "Hands out big tables as spreadsheets and streams. Every value is exact, a direct \
                   answer that could not be completed is broken off and never looks complete, and \
                   every refusal is a problem (RFC 9457) that says how to put it right. (What \
                   cannot be read as HTTP at all is a 400 or 431 without a body, unless nginx stands \
                   in front.)"
))]
struct Api;

/// What stands in the document besides the routes.
#[must_use]
pub fn document() -> Document {
    Api::openapi()
}

/// Shows this document.
#[utoipa::path(get, operation_id = "show_openapi", path = "/api/openapi.json", tag = "about",
    responses((status = 200, description = "The OpenAPI document", body = Object)))]
#[route("/api/openapi.json", method = "GET", method = "HEAD")]
pub async fn show(api: web::Data<Document>, request: HttpRequest) -> Result<HttpResponse, Refusal> {
    json(&request, &**api)
}
