//! A refusal together with the run that it ended, so that whoever is told can look the run up.

use uuid::Uuid;

use super::{Outcome, Run, Timings};
use crate::error::Error;

/// A refusal, with the run that it ended where one had begun.
#[derive(Debug)]
pub struct Refused {
    /// Why.
    pub error: Error,
    /// The run, which is finished.
    pub run: Option<Uuid>,
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self { error, run: None }
    }
}

impl Run {
    /// Ends it with an error, which is logged and given back.
    pub async fn refuse(self, error: Error) -> Error {
        self.refuse_after(Timings::default(), error).await
    }

    /// The same after some work.
    pub async fn refuse_after(self, timings: Timings, error: Error) -> Error {
        let run = self.id();
        match &error {
            Error::Cancelled | Error::Busy { .. } => tracing::info!(%run, %error, "a run ended"),
            error => tracing::warn!(%run, %error, "a run failed"),
        }
        if let Err(unwritten) = self.finish(Outcome { timings, ..Outcome::by(&error) }).await {
            tracing::warn!(%run, error = %unwritten, "a run's end could not be written down");
        }
        error
    }
}
