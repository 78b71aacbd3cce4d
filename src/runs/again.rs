//! Requests that may be repeated: the first answer is given again, and rows are stored once.
//!
//! A key is claimed for a run. While the run lives, a repetition is told to wait; what it came to is
//! told again; a run that died without committing gives its key to the next.

use chrono::{TimeDelta, Utc};
use entity::requests::{ActiveModel, Column, Entity};
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, DatabaseConnection, DbErr, EntityTrait, QueryFilter};
use sha2::{Digest, Sha256};

use super::store::away;
use super::{Run, Runs};
use crate::error::{Error, Problem, Result};
use crate::rows::hex;

/// How long a key is remembered.
const KEPT: TimeDelta = TimeDelta::hours(24);
/// Bytes of the longest key.
const LONGEST: usize = 255;

/// A request that may be repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repeatable {
    id: String,
    content: String,
}

/// What is known of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Known {
    /// It is new.
    New,
    /// This run does it, or did.
    Run(String),
    /// This run has its key, for other content or other parameters.
    Other(String),
}

impl Repeatable {
    /// A request by its key: the same caller, address, parameters and content are the same request.
    ///
    /// # Errors
    /// [`Error::Malformed`] for a key that is empty or longer than 255 bytes.
    pub fn new(
        key: &str,
        caller: &str,
        address: &str,
        parameters: &str,
        content: &str,
    ) -> Result<Self> {
        if key.is_empty() || key.len() > LONGEST {
            return Err(Error::Malformed(vec![Problem::parameter(
                "Idempotency-Key",
                "bad_key",
                key,
                format!("the header Idempotency-Key has {} bytes; give it 1 to 255", key.len()),
            )]));
        }
        Ok(Self { id: digest(&[caller, address, key]), content: digest(&[parameters, content]) })
    }

    async fn look_up(&self, state: &DatabaseConnection) -> Result<Known> {
        let old = Column::CreatedAt.lt(Utc::now() - KEPT);
        Entity::delete_many().filter(old).exec(state).await.map_err(away)?;
        let found = Entity::find_by_id(self.id.clone()).one(state).await.map_err(away)?;
        match found {
            None => Ok(Known::New),
            Some(found) if found.content == self.content => Ok(Known::Run(found.run_id)),
            Some(found) => Ok(Known::Other(found.run_id)),
        }
    }

    async fn claim(
        &self,
        state: &DatabaseConnection,
        run: &str,
        earlier: Option<&str>,
    ) -> Result<()> {
        let claimed = match earlier {
            Some(earlier) => self.take_over(state, run, earlier).await?,
            None => self.claim_first(state, run).await?,
        };
        if claimed { Ok(()) } else { Err(still_running()) }
    }
}

impl Repeatable {
    async fn take_over(
        &self,
        state: &DatabaseConnection,
        run: &str,
        earlier: &str,
    ) -> Result<bool> {
        let taken = Entity::update_many()
            .set(ActiveModel {
                run_id: Set(run.into()),
                content: Set(self.content.clone()),
                created_at: Set(Utc::now()),
                ..Default::default()
            })
            .filter(Column::Id.eq(&self.id))
            .filter(Column::RunId.eq(earlier));
        Ok(taken.exec(state).await.map_err(away)?.rows_affected == 1)
    }

    async fn claim_first(&self, state: &DatabaseConnection, run: &str) -> Result<bool> {
        let row = ActiveModel {
            id: Set(self.id.clone()),
            content: Set(self.content.clone()),
            run_id: Set(run.into()),
            created_at: Set(Utc::now()),
        };
        match Entity::insert(row).exec_without_returning(state).await {
            Ok(_) => Ok(true),
            Err(error) if is_doubled(&error) => Ok(false),
            Err(error) => Err(away(error)),
        }
    }
}

/// The answer to another request with a key that has been used.
#[must_use]
pub fn used_otherwise() -> Error {
    Error::Invalid(vec![Problem {
        parameter: Some("Idempotency-Key".into()),
        code: "idempotency_key_reused",
        value: None,
        detail: "this key was used for another file or other parameters within the last 24 hours; \
                 use a new key for what is new"
            .into(),
    }])
}

/// The answer to a repetition that came too early.
#[must_use]
pub fn still_running() -> Error {
    Error::Conflict {
        code: "still_running",
        detail:
            "the first request with this Idempotency-Key is still at work; ask again when it is \
                 done and its answer is given again"
                .into(),
    }
}

impl Runs {
    /// What is known of a request that may be repeated.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where the state cannot be reached.
    pub async fn known(&self, request: &Repeatable) -> Result<Known> {
        request.look_up(&self.0.state).await
    }

    /// Claims a request for a run, in the place of `earlier` where that one died.
    ///
    /// # Errors
    /// [`Error::Conflict`] where somebody else was quicker, [`Error::Unavailable`].
    pub async fn claim(
        &self,
        request: &Repeatable,
        run: &Run,
        earlier: Option<&str>,
    ) -> Result<()> {
        request.claim(&self.0.state, &run.id().to_string(), earlier).await
    }
}

fn is_doubled(error: &DbErr) -> bool {
    matches!(error.sql_err(), Some(sea_orm::SqlErr::UniqueConstraintViolation(_)))
}

/// Each part with its length, so that no two lists of parts are the same.
fn digest(parts: &[&str]) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part.as_bytes());
    }
    hex(&digest.finalize())
}
