//! HTTP: the route table, and what stands between a request and a feature. The only folder that
//! knows actix.

mod answer;
mod bundles;
mod caller;
mod convert;
mod disposition;
mod documents;
mod events;
mod exports;
mod file;
mod gate;
mod headers;
mod health;
mod imports;
mod negotiation;
mod openapi;
mod page;
mod prefer;
mod problem;
mod range;
mod reports;
mod rows;
mod runs;
mod upload;

#[cfg(test)]
mod tests;

use utoipa_actix_web::scope;
use utoipa_actix_web::service_config::ServiceConfig;

pub use gate::{fallback, gate};
pub use openapi::document;

/// Every address the server answers.
pub fn routes(config: &mut ServiceConfig<'_>) {
    config
        .service(
            scope::scope("/api/v1")
                .service(reports::list)
                .service(reports::show)
                .service(reports::count)
                .service(rows::rows)
                .service(exports::begin)
                .service(imports::list)
                .service(imports::show)
                .service(imports::template)
                .service(imports::take_in)
                .service(imports::inspect)
                .service(imports::problems)
                .service(documents::list)
                .service(documents::show)
                .service(documents::items)
                .service(documents::pdf)
                .service(bundles::zip)
                .service(bundles::of_project)
                .service(convert::convert)
                .service(headers::list)
                .service(headers::show)
                .service(headers::keep)
                .service(headers::forget)
                .service(runs::list)
                .service(runs::show)
                .service(runs::cancel)
                .service(runs::fetch)
                .service(events::watch),
        )
        .service(health::live)
        .service(health::ready)
        .service(openapi::show)
        .service(page::home)
        .service(page::download)
        .service(page::docs);
}
