//! Which processes live, told by a counter that each moves on.
//!
//! A process is dead when its counter stands still for [`DEAD`] on the clock of whoever looks, so
//! that the machines' clocks need not agree. Its unfinished runs then become `failed`, and nobody
//! else's do.

use std::collections::HashMap;
use std::sync::Weak;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use entity::{nodes, runs};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait, Query};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};
use serde_json::json;
use uuid::Uuid;

use super::store::{away, unfinished};
use super::{Reason, Registry, RunError, Runs, State};
use crate::error::Result;

/// How often a process moves its counter, writes progress and looks around.
const BEAT: Duration = Duration::from_secs(1);
/// How often old runs are looked for.
const SWEEP: Duration = Duration::from_hours(1);
/// Runs of dead processes that one look around ends; the next goes on with the rest.
const MOST_ORPHANS: u64 = 1_000;
/// How long a counter stands still before its process counts as dead.
const DEAD: Duration = Duration::from_secs(10);

impl Runs {
    pub(super) async fn register_node(&self) -> Result<()> {
        let node = nodes::ActiveModel {
            id: Set(self.0.node.clone()),
            host: Set(host()),
            pid: Set(std::process::id().into()),
            started_at: Set((self.0.clock)()),
            beat: Set(0),
        };
        let insert = nodes::Entity::insert(node).exec_without_returning(&self.0.state);
        insert.await.map(drop).map_err(away)
    }

    /// This process's id among the nodes.
    #[must_use]
    pub fn node(&self) -> &str {
        &self.0.node
    }

    /// Takes this process off the list; its runs are over by then.
    ///
    /// # Errors
    /// [`crate::error::Error::Unavailable`].
    pub async fn retire(&self) -> Result<()> {
        self.0.retired.store(true, Ordering::Relaxed);
        let delete = nodes::Entity::delete_by_id(self.0.node.clone()).exec(&self.0.state);
        delete.await.map(drop).map_err(away)
    }

    /// Waits until nothing goes on here, at most this long; `true` when it came to that.
    pub async fn settle(&self, longest: Duration) -> bool {
        let settled = async {
            while self.going_on() > 0 {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(longest, settled).await.is_ok()
    }

    async fn beat(&self, seen: &mut HashMap<String, (i64, Instant)>) -> Result<()> {
        let moved = nodes::Entity::update_many()
            .col_expr(nodes::Column::Beat, Expr::col(nodes::Column::Beat).add(1))
            .filter(nodes::Column::Id.eq(&self.0.node))
            .exec(&self.0.state)
            .await
            .map_err(away)?;
        if moved.rows_affected == 0 {
            // Somebody took us for dead; what we do goes on, so say that we live.
            self.register_node().await?;
        }
        self.write_progress().await?;
        self.stop_requested().await?;
        self.bury(seen).await
    }

    /// Stops the runs of this process that were cancelled through another one.
    async fn stop_requested(&self) -> Result<()> {
        let requested: Vec<String> = runs::Entity::find()
            .select_only()
            .column(runs::Column::Id)
            .filter(runs::Column::Node.eq(&self.0.node))
            .filter(runs::Column::CancelRequested.eq(true))
            .filter(unfinished())
            .into_tuple()
            .all(&self.0.state)
            .await
            .map_err(away)?;
        for id in requested.iter().filter_map(|id| Uuid::parse_str(id).ok()) {
            if let Some(live) = self.live().get(&id) {
                live.stop.fire(Reason::Cancelled);
            }
        }
        Ok(())
    }

    /// Ends the runs of dead processes.
    async fn bury(&self, seen: &mut HashMap<String, (i64, Instant)>) -> Result<()> {
        let nodes = nodes::Entity::find().all(&self.0.state).await.map_err(away)?;
        let now = Instant::now();
        seen.retain(|id, _| nodes.iter().any(|node| node.id == *id));
        for node in nodes.into_iter().filter(|node| node.id != self.0.node) {
            let last = seen.entry(node.id.clone()).or_insert((node.beat, now));
            if last.0 != node.beat {
                *last = (node.beat, now);
            } else if now - last.1 >= DEAD {
                self.strike(&node.id, node.beat).await?;
            }
        }
        self.fail_orphans().await
    }

    /// Takes a dead process off the list, unless its counter moved after all.
    async fn strike(&self, node: &str, beat: i64) -> Result<()> {
        let delete = nodes::Entity::delete_many()
            .filter(nodes::Column::Id.eq(node))
            .filter(nodes::Column::Beat.eq(beat));
        delete.exec(&self.0.state).await.map(drop).map_err(away)
    }

    /// Fails the unfinished runs of processes that are on the list no more. A crash between the two
    /// steps loses nothing: the next look around finds the same runs.
    async fn fail_orphans(&self) -> Result<()> {
        let error = RunError {
            code: "node_lost".into(),
            detail: "the process that did this run ended before the run did; ask for it again"
                .into(),
        };
        let failed = runs::ActiveModel {
            state: Set(State::Failed.word().into()),
            error: Set(Some(json!(error))),
            finished_at: Set(Some((self.0.clock)())),
            ..Default::default()
        };
        let living = Query::select().column(nodes::Column::Id).from(nodes::Entity).to_owned();
        // Looked for first: an update of what is almost always nothing would lock, in MySQL, the rows
        // of every run that goes on, against the processes that end them.
        let orphans: Vec<String> = runs::Entity::find()
            .select_only()
            .column(runs::Column::Id)
            .filter(runs::Column::Node.not_in_subquery(living))
            .filter(unfinished())
            .limit(MOST_ORPHANS)
            .into_tuple()
            .all(&self.0.state)
            .await
            .map_err(away)?;
        if orphans.is_empty() {
            return Ok(());
        }
        let changed = runs::Entity::update_many()
            .set(failed)
            .filter(runs::Column::Id.is_in(orphans))
            .filter(unfinished())
            .exec(&self.0.state)
            .await
            .map_err(away)?;
        if changed.rows_affected > 0 {
            tracing::warn!(runs = changed.rows_affected, "a process died; its runs are failed");
        }
        Ok(())
    }
}

/// Beats until the registry is gone.
pub(super) async fn heartbeat(registry: Weak<Registry>) {
    let mut seen = HashMap::new();
    let mut swept = None;
    let mut ticks = tokio::time::interval(BEAT);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let Some(registry) = registry.upgrade() else { return };
        let runs = Runs(registry);
        if runs.0.retired.load(Ordering::Relaxed) {
            return;
        }
        if let Err(error) = runs.beat(&mut seen).await {
            if !runs.0.retired.load(Ordering::Relaxed) {
                tracing::warn!(%error, "the heartbeat could not be written");
            }
        } else if swept.is_none_or(|swept: Instant| swept.elapsed() >= SWEEP) {
            swept = Some(Instant::now());
            if let Err(error) = runs.forget_old().await {
                tracing::warn!(%error, "old runs could not be forgotten");
            }
        }
    }
}

fn host() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname")
        .map(|name| name.trim().to_owned())
        .unwrap_or_default()
}
