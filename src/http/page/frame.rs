//! What all pages have in common: the document around them, their style, and what a browser is told
//! to allow them, which is hardly anything.

use std::sync::LazyLock;

use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use crate::error::Error;
use crate::http::answer::coded;
use crate::http::problem::Refusal;

/// In the document itself, so that nothing has to be loaded and nothing of another version can be.
const STYLE: &str = include_str!("../../../static/page.css");

/// A strip of paper; without one, browsers ask for `/favicon.ico`.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' \
                    viewBox='0 0 16 16'%3E%3Cpath d='M3 1h10v14l-2-1.5L9 15l-2-1.5L5 15l-2-1.5z' \
                    fill='%230a5f4b'/%3E%3Cpath d='M5 4h6M5 7h6M5 10h4' stroke='%23fff'/%3E%3C/svg%3E";

/// No script, no frame, nothing from elsewhere: this style, this icon, and forms to this server.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    let digest = BASE64_STANDARD.encode(Sha256::digest(STYLE));
    format!(
        "default-src 'none'; style-src 'sha256-{digest}'; img-src data:; form-action 'self'; \
         base-uri 'none'; frame-ancestors 'none'"
    )
});

/// A page with this title and content.
///
/// # Errors
/// [`Error::Internal`] where it cannot be written.
pub(super) fn page(
    request: &HttpRequest,
    status: StatusCode,
    title: &str,
    content: &Markup,
) -> Result<HttpResponse, Refusal> {
    Ok(answer(request, HttpResponse::build(status), title, content)?)
}

/// A page in a response that has its status and headers of its own already.
pub(super) fn answer(
    request: &HttpRequest,
    mut response: HttpResponseBuilder,
    title: &str,
    content: &Markup,
) -> Result<HttpResponse, Error> {
    response
        .content_type("text/html; charset=utf-8")
        .insert_header((CONTENT_SECURITY_POLICY, POLICY.as_str()))
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header((REFERRER_POLICY, "no-referrer"));
    coded(request, response, document(title, content).into_string().into_bytes())
}

fn document(title: &str, content: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                link rel="icon" href=(ICON);
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#content" { "Skip to the content" }
                header {
                    strong { "Tallyroll" }
                    nav aria-label="Pages" {
                        ul {
                            li { a href="/" { "Reports" } }
                            li { a href="/api/v1/runs" { "Runs (JSON)" } }
                            li { a href="/api/openapi.json" { "API (OpenAPI)" } }
                        }
                    }
                }
                main #content { (content) }
                footer { p { "Every value is exact. A download that could not be completed is broken off and never looks complete." } }
            }
        }
    }
}
