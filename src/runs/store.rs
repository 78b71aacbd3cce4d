//! Runs in the state database.

use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use entity::runs::{ActiveModel, Column, Entity, Model};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{
    ColumnTrait, Condition, DbErr, EntityTrait, QueryFilter, QueryOrder, QuerySelect, RuntimeErr,
    SqlxMySqlError,
};
use serde_json::json;
use tokio::sync::mpsc;
use uuid::{Timestamp, Uuid};

use super::{
    Begin, Ended, Live, Outcome, Reason, Registry, RunKind, RunView, Runs, Started, State, Word,
};
use crate::error::{Error, Result};

/// How long the finisher waits before it tries again to write what the state did not take.
const AGAIN: Duration = Duration::from_secs(1);

/// Which runs to show.
#[derive(Debug, Clone, Default)]
pub struct Search {
    /// Whose; everybody's without.
    pub caller: Option<String>,
    /// Of this kind.
    pub kind: Option<RunKind>,
    /// Of this definition.
    pub name: Option<String>,
    /// In this state.
    pub state: Option<State>,
    /// How many at most.
    pub limit: u64,
    /// Older than this one.
    pub after: Option<Uuid>,
}

/// Some runs, newest first.
#[derive(Debug, serde::Serialize, utoipa::ToSchema)]
pub struct Page {
    /// The runs.
    pub items: Vec<RunView>,
    /// What `after` takes for the page behind this one; nothing where there is none.
    pub next: Option<String>,
}

/// The error for a state database that refuses.
pub(crate) fn away(source: DbErr) -> Error {
    if is_full(&source) {
        return Error::NoSpace(source.into());
    }
    Error::Unavailable {
        code: "state_unavailable",
        detail: "the server's own database cannot be reached; try again in a moment".into(),
        source: Some(source.into()),
    }
}

/// Whether a statement failed because no space is left where the database lives.
fn is_full(error: &DbErr) -> bool {
    let (DbErr::Exec(RuntimeErr::SqlxError(error)) | DbErr::Query(RuntimeErr::SqlxError(error))) =
        error
    else {
        return false;
    };
    let Some(said) = error.as_database_error() else { return false };
    match said.try_downcast_ref::<SqlxMySqlError>() {
        // ER_DISK_FULL, ER_RECORD_FILE_FULL.
        Some(said) => matches!(said.number(), 1021 | 1114),
        // SQLITE_FULL; disk_full in PostgreSQL.
        None => matches!(said.code().as_deref(), Some("13" | "53100")),
    }
}

pub(super) fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

impl Runs {
    pub(super) fn new_row(&self, id: Uuid, begin: Begin<'_>) -> ActiveModel {
        ActiveModel {
            id: Set(id.to_string()),
            kind: Set(begin.kind.word().into()),
            name: Set(begin.name.into()),
            state: Set(State::Queued.word().into()),
            rows: Set(0),
            bytes: Set(0),
            sent_bytes: Set(0),
            sha256: Set(None),
            created_at: Set((self.0.clock)()),
            started_at: Set(None),
            finished_at: Set(None),
            queue_ms: Set(0),
            query_ms: Set(0),
            encode_ms: Set(0),
            write_ms: Set(0),
            warnings: Set(json!([])),
            error: Set(None),
            result: Set(None),
            params: Set(begin.params),
            caller: Set(begin.caller.into()),
            node: Set(self.0.node.clone()),
            cancel_requested: Set(false),
        }
    }

    pub(super) async fn insert(&self, run: ActiveModel) -> Result<()> {
        Entity::insert(run).exec_without_returning(&self.0.state).await.map(drop).map_err(away)
    }

    /// Writes a run's end, unless it has one already: then somebody took this process for dead, and
    /// `false` comes back.
    pub(super) async fn write_end(&self, id: Uuid, live: &Live, outcome: &Outcome) -> Result<bool> {
        let started = *live.started.lock().unwrap_or_else(PoisonError::into_inner);
        let error = match &outcome.error {
            Some(Ended::Failed(error)) => Some(json!(error)),
            Some(Ended::Cancelled) | None => None,
        };
        let queue = started.map_or(outcome.timings.queue, |started| started.queue_ms);
        let changed = ActiveModel {
            state: Set(outcome.state().word().into()),
            rows: Set(signed(outcome.rows)),
            bytes: Set(signed(outcome.bytes)),
            sent_bytes: Set(signed(live.progress.sent_bytes())),
            sha256: Set(outcome.sha256.clone()),
            started_at: Set(started.map(|started| started.at)),
            finished_at: Set(Some((self.0.clock)())),
            queue_ms: Set(signed(queue)),
            query_ms: Set(signed(outcome.timings.query)),
            encode_ms: Set(signed(outcome.timings.encode)),
            write_ms: Set(signed(outcome.timings.write)),
            warnings: Set(json!(outcome.warnings)),
            error: Set(error),
            result: Set(outcome.result.clone()),
            ..Default::default()
        };
        Entity::update_many()
            .set(changed)
            .filter(Column::Id.eq(id.to_string()))
            .filter(unfinished())
            .exec(&self.0.state)
            .await
            .map(|updated| updated.rows_affected > 0)
            .map_err(away)
    }

    /// Writes down that a run is complete which was given up before it could say so itself.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub async fn complete_after_all(&self, id: Uuid, outcome: Outcome) -> Result<()> {
        let changed = ActiveModel {
            state: Set(State::Complete.word().into()),
            rows: Set(signed(outcome.rows)),
            error: Set(None),
            result: Set(outcome.result),
            ..Default::default()
        };
        let given_up = [State::Failed, State::Cancelled].map(State::word);
        let update = Entity::update_many()
            .set(changed)
            .filter(Column::Id.eq(id.to_string()))
            .filter(Column::State.is_in(given_up));
        update.exec(&self.0.state).await.map(drop).map_err(away)
    }

    /// Writes how far the runs of this process have come.
    pub(super) async fn write_progress(&self) -> Result<()> {
        let live: Vec<_> = self.live().iter().map(|(id, live)| (*id, Arc::clone(live))).collect();
        for (id, live) in live {
            let started = *live.started.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(Started { at, queue_ms, .. }) = started else { continue };
            let changed = ActiveModel {
                state: Set(State::Running.word().into()),
                rows: Set(signed(live.progress.rows())),
                bytes: Set(signed(live.progress.bytes())),
                sent_bytes: Set(signed(live.progress.sent_bytes())),
                started_at: Set(Some(at)),
                queue_ms: Set(signed(queue_ms)),
                ..Default::default()
            };
            Entity::update_many()
                .set(changed)
                .filter(Column::Id.eq(id.to_string()))
                .filter(unfinished())
                .exec(&self.0.state)
                .await
                .map_err(away)?;
        }
        Ok(())
    }

    async fn write_word(&self, word: &Word) -> Result<()> {
        match word {
            Word::Last { id, outcome } => {
                let Some(live) = self.live().get(id).map(Arc::clone) else { return Ok(()) };
                self.write_end(*id, &live, outcome).await?;
                self.live().remove(id);
                Ok(())
            }
            Word::Fetched { id, bytes } => {
                let more = Expr::col(Column::SentBytes).add(signed(*bytes));
                let update = Entity::update_many()
                    .col_expr(Column::SentBytes, more)
                    .filter(Column::Id.eq(id.to_string()));
                update.exec(&self.0.state).await.map(drop).map_err(away)
            }
        }
    }

    /// Forgets finished runs that were begun longer ago than they are kept.
    pub(super) async fn forget_old(&self) -> Result<()> {
        let kept_from = (self.0.clock)() - self.0.keep;
        let millis = u64::try_from(kept_from.timestamp_millis()).unwrap_or(0);
        // Ids are in the order of time, so the primary key finds them.
        let bound = Uuid::new_v7(Timestamp::from_unix_time(millis / 1_000, 0, 0, 0));
        let forgotten = Entity::delete_many()
            .filter(Column::Id.lt(bound.to_string()))
            .filter(Column::State.is_not_in([State::Queued.word(), State::Running.word()]))
            .exec(&self.0.state)
            .await
            .map_err(away)?;
        if forgotten.rows_affected > 0 {
            tracing::info!(runs = forgotten.rows_affected, "old runs are forgotten");
        }
        Ok(())
    }

    /// One run, if `caller` may see it; every run without one.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Unavailable`].
    pub async fn get(&self, id: &str, caller: Option<&str>) -> Result<RunView> {
        let stored = match Uuid::parse_str(id) {
            Ok(id) => Entity::find_by_id(id.to_string()).one(&self.0.reads).await.map_err(away)?,
            Err(_) => None,
        };
        stored
            .filter(|run| caller.is_none_or(|caller| run.caller == caller))
            .map(|run| self.view(run))
            .transpose()?
            .ok_or_else(|| Error::NotFound(format!("there is no run \"{id}\"")))
    }

    /// A page of runs, newest first.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub async fn list(&self, search: Search) -> Result<Page> {
        let filter = Condition::all()
            .add_option(search.caller.map(|caller| Column::Caller.eq(caller)))
            .add_option(search.kind.map(|kind| Column::Kind.eq(kind.word())))
            .add_option(search.name.map(|name| Column::Name.eq(name)))
            .add_option(
                search
                    .state
                    .filter(|state| state.is_final())
                    .map(|state| Column::State.eq(state.word())),
            )
            .add_option(search.state.filter(|state| !state.is_final()).map(|_| unfinished()))
            .add_option(search.after.map(|after| Column::Id.lt(after.to_string())));
        let mut stored = Entity::find()
            .filter(filter)
            .order_by_desc(Column::Id)
            .limit(search.limit + 1)
            .all(&self.0.reads)
            .await
            .map_err(away)?;
        let more = stored.len() as u64 > search.limit;
        stored.truncate(usize::try_from(search.limit).unwrap_or(usize::MAX));
        let next = more.then(|| stored.last().map(|run| run.id.clone())).flatten();
        let items: Vec<_> = stored.into_iter().map(|run| self.view(run)).collect::<Result<_>>()?;
        // What waits and what works is told apart by the process that does it.
        let items = items
            .into_iter()
            .filter(|run| search.state.is_none_or(|state| run.state == state))
            .collect();
        Ok(Page { items, next })
    }

    /// Asks for a run to be stopped, wherever it goes on; `false` where it is over already.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Unavailable`].
    pub async fn cancel(&self, id: &str, caller: Option<&str>) -> Result<bool> {
        let run = self.get(id, caller).await?;
        if run.state.is_final() {
            return Ok(false);
        }
        let here = Uuid::parse_str(id).ok().and_then(|id| self.live().get(&id).map(Arc::clone));
        if let Some(live) = here {
            live.stop.fire(Reason::Cancelled);
        } else {
            // Its own process looks at this with every heartbeat.
            Entity::update_many()
                .col_expr(Column::CancelRequested, Expr::value(true))
                .filter(Column::Id.eq(run.id))
                .exec(&self.0.state)
                .await
                .map_err(away)?;
        }
        Ok(true)
    }

    fn view(&self, stored: Model) -> Result<RunView> {
        let live =
            Uuid::parse_str(&stored.id).ok().and_then(|id| self.live().get(&id).map(Arc::clone));
        let started = live
            .as_ref()
            .and_then(|live| *live.started.lock().unwrap_or_else(PoisonError::into_inner));
        let mut view = RunView::new(stored, live.as_deref().map(|live| &*live.progress))?;
        if let Some(started) = started.filter(|_| !view.state.is_final()) {
            view.show_started(started.at, started.queue_ms);
        }
        Ok(view)
    }
}

pub(super) fn unfinished() -> sea_orm::sea_query::SimpleExpr {
    Column::State.is_in([State::Queued.word(), State::Running.word()])
}

/// Writes what others leave to it, until the registry is gone.
pub(super) async fn finisher(registry: Weak<Registry>, mut words: mpsc::UnboundedReceiver<Word>) {
    while let Some(word) = words.recv().await {
        loop {
            let Some(registry) = registry.upgrade() else { return };
            let runs = Runs(registry);
            match runs.write_word(&word).await {
                Ok(()) => break,
                Err(error) => tracing::warn!(%error, "a run's end is not written yet"),
            }
            drop(runs);
            tokio::time::sleep(AGAIN).await;
        }
    }
}
