//! Who is asking, out of a request.

use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest, web};

use super::problem::Refusal;
use crate::access::Caller;
use crate::app::App;
use crate::config::Auth;
use crate::error::Error;

impl FromRequest for Caller {
    type Error = Refusal;
    type Future = Ready<Result<Self, Refusal>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let Some(app) = request.app_data::<web::Data<App>>() else {
            return ready(Err(Error::internal("finding the caller", "no app").into()));
        };
        ready(match app.config.auth {
            Auth::Off => Ok(Self::local()),
            Auth::Required => Err(Error::Unauthenticated(
                "this server answers callers with a key alone: send Authorization: Bearer KEY; on \
                 your own machine it can run with auth = \"off\""
                    .into(),
            )
            .into()),
        })
    }
}
