//! The imports on the page: what each is for, its template, and a form that sends a file. What comes of
//! it is shown as the API tells it.

use std::sync::Arc;

use maud::{Markup, html};

use crate::definitions::Import;

/// What the buttons do, with what they are called.
const WAYS: [(&str, &str); 3] =
    [("/inspect", "Look into it"), ("?dry_run=true", "Check it"), ("", "Import it")];

/// Every import as an article; nothing where there are none.
pub(super) fn section(imports: &[Arc<Import>]) -> Markup {
    html! {
        @if !imports.is_empty() {
            h1 id="imports" { "Imports" }
            @for import in imports { (article(import)) }
        }
    }
}

fn article(import: &Import) -> Markup {
    let Import { name, title, description, .. } = import;
    let (heading, field) = (format!("import.{name}"), format!("file.{name}"));
    let address = format!("/api/v1/imports/{name}");
    html! {
        article aria-labelledby=(heading) {
            h2 id=(heading) { (title) }
            @if let Some(description) = description { p { (description) } }
            p.quiet {
                a href=(address) { code { (name) } }
                " · "
                a href=(format!("{address}/template")) { "Template (xlsx)" }
            }
            form action=(address) method="post" enctype="multipart/form-data" autocomplete="off" {
                div.fields {
                    div.field {
                        label for=(field) { "File: xlsx, xlsb, xls, ods, CSV, NDJSON or JSON" }
                        input type="file" id=(field) name="file" required;
                    }
                }
                div.downloads role="group" aria-label=(format!("Send {title}")) {
                    @for (way, words) in WAYS {
                        button type="submit" formaction=(format!("{address}{way}")) { (words) }
                    }
                }
            }
        }
    }
}
