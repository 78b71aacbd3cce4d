//! Tests of runs over a state database of their own.

use std::sync::Arc;
use std::time::Duration;

use entity::runs::{ActiveModel, Column, Entity};
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, DatabaseConnection, EntityTrait, QueryFilter};
use serde_json::json;
use tempfile::TempDir;

use super::{Begin, Clock, Ended, Outcome, Reason, Run, RunKind, Runs, Search, State};
use crate::error::Error;

async fn state(directory: &TempDir) -> DatabaseConnection {
    let url = format!("sqlite://{}", directory.path().join("state.db").display());
    let state = crate::database::open("state_url", &url, 4).await.unwrap();
    migration::state::up(&state).await.unwrap();
    state
}

async fn start(directory: &TempDir) -> Runs {
    start_at(directory, Arc::new(chrono::Utc::now)).await
}

/// How long runs are kept in these tests.
const KEEP: Duration = Duration::from_hours(24);

async fn start_at(directory: &TempDir, clock: Clock) -> Runs {
    let state = state(directory).await;
    Runs::start(state.clone(), state, clock, KEEP).await.unwrap()
}

async fn begin(runs: &Runs) -> Run {
    let begin =
        Begin { kind: RunKind::Report, name: "r", caller: "kim", params: json!({"limit": "3"}) };
    runs.begin(begin).await.unwrap()
}

/// Waits for a run's end, which the finisher or another process writes.
async fn ended(runs: &Runs, id: &str) -> super::RunView {
    for _ in 0..2_000 {
        let run = runs.get(id, None).await.unwrap();
        if run.state.is_final() {
            return run;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the run {id} never ended");
}

#[tokio::test]
async fn a_run_is_queued_then_running_then_what_it_was_finished_as() {
    let directory = TempDir::new().unwrap();
    let runs = start(&directory).await;
    let run = begin(&runs).await;
    let id = run.id().to_string();
    assert_eq!(runs.get(&id, Some("kim")).await.unwrap().state, State::Queued);
    run.started();
    run.progress().encoded(5, 70);
    let seen = runs.get(&id, Some("kim")).await.unwrap();
    assert_eq!((seen.state, seen.rows, seen.bytes), (State::Running, 5, 70));
    let outcome = Outcome { rows: 9, bytes: 99, sha256: Some("ab".into()), ..Outcome::default() };
    run.finish(outcome).await.unwrap();
    let seen = runs.get(&id, Some("kim")).await.unwrap();
    assert_eq!((seen.state, seen.rows, seen.sha256.as_deref()), (State::Complete, 9, Some("ab")));
    assert!(seen.finished_at.is_some() && runs.going_on() == 0);
}

#[tokio::test]
async fn a_run_is_seen_and_stopped_by_its_own_caller_alone() {
    let directory = TempDir::new().unwrap();
    let runs = start(&directory).await;
    let run = begin(&runs).await;
    let id = run.id().to_string();
    assert!(matches!(runs.get(&id, Some("lee")).await, Err(Error::NotFound(_))));
    assert!(matches!(runs.cancel(&id, Some("lee")).await, Err(Error::NotFound(_))));
    assert!(!run.stop().is_fired());
    assert!(runs.cancel(&id, Some("kim")).await.unwrap());
    assert_eq!(run.stop().reason(), Some(Reason::Cancelled));
    let others = Search { caller: Some("lee".into()), limit: 9, ..Search::default() };
    assert!(runs.list(others).await.unwrap().items.is_empty());
}

#[tokio::test]
async fn a_dropped_run_is_finished_by_the_finisher_with_the_reason_it_was_stopped_for() {
    let directory = TempDir::new().unwrap();
    let runs = start(&directory).await;
    let dropped = begin(&runs).await;
    let id = dropped.id().to_string();
    drop(dropped);
    assert_eq!(ended(&runs, &id).await.state, State::Cancelled);
    let stopped = begin(&runs).await;
    let id = stopped.id().to_string();
    stopped.stop().fire(Reason::Shutdown);
    drop(stopped);
    let seen = ended(&runs, &id).await;
    assert_eq!((seen.state, seen.error.unwrap().code.as_str()), (State::Failed, "shutting_down"));
}

#[tokio::test]
async fn a_run_is_cancelled_through_another_process() {
    let directory = TempDir::new().unwrap();
    let (here, there) = (start(&directory).await, start(&directory).await);
    let run = begin(&here).await;
    assert!(there.cancel(&run.id().to_string(), Some("kim")).await.unwrap());
    let fired = tokio::time::timeout(Duration::from_secs(10), run.stop().fired()).await;
    assert!(fired.is_ok(), "the heartbeat never looked");
    assert_eq!(run.stop().reason(), Some(Reason::Cancelled));
}

#[tokio::test]
async fn the_runs_of_a_process_that_is_off_the_list_fail_and_nobody_elses_do() {
    let directory = TempDir::new().unwrap();
    let (here, there) = (start(&directory).await, start(&directory).await);
    let (mine, theirs, lost) = (begin(&here).await, begin(&there).await, begin(&here).await);
    let changed = ActiveModel { node: Set("gone".into()), ..Default::default() };
    let id = lost.id().to_string();
    let update = Entity::update_many().set(changed).filter(Column::Id.eq(&id));
    update.exec(&here.0.state).await.unwrap();
    let seen = ended(&here, &id).await;
    assert_eq!(seen.error.map(|error| error.code).as_deref(), Some("node_lost"));
    for run in [&mine, &theirs] {
        let seen = here.get(&run.id().to_string(), None).await.unwrap();
        assert_eq!(seen.state, State::Queued);
    }
}

#[tokio::test]
async fn a_run_that_was_given_up_cannot_be_completed_any_more() {
    let directory = TempDir::new().unwrap();
    let runs = start(&directory).await;
    let run = begin(&runs).await;
    let live = Arc::clone(&run.live);
    let lost = Outcome::ended(Ended::Cancelled);
    assert!(runs.write_end(run.id(), &live, &lost).await.unwrap());
    let finished = run.finish(Outcome::default()).await;
    assert!(matches!(finished, Err(Error::Unavailable { code: "node_lost", .. })), "{finished:?}");
}

#[tokio::test]
async fn runs_are_listed_newest_first_and_paged_without_gaps() {
    let directory = TempDir::new().unwrap();
    let runs = start(&directory).await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        let run = begin(&runs).await;
        ids.push(run.id().to_string());
        run.finish(Outcome::default()).await.unwrap();
    }
    ids.reverse();
    let mut seen = Vec::new();
    let mut search = Search { limit: 2, state: Some(State::Complete), ..Search::default() };
    loop {
        let page = runs.list(search.clone()).await.unwrap();
        seen.extend(page.items.into_iter().map(|run| run.id));
        match page.next {
            Some(next) => search.after = next.parse().ok(),
            None => break,
        }
    }
    assert_eq!(seen, ids);
}

#[tokio::test]
async fn finished_runs_are_forgotten_when_they_are_old_and_others_are_not() {
    let directory = TempDir::new().unwrap();
    let runs = start(&directory).await;
    let (finished, unfinished) = (begin(&runs).await, begin(&runs).await);
    let id = finished.id().to_string();
    finished.finish(Outcome::default()).await.unwrap();
    runs.forget_old().await.unwrap();
    assert_eq!(runs.get(&id, None).await.unwrap().state, State::Complete);
    let later: Clock = Arc::new(|| chrono::Utc::now() + KEEP + Duration::from_secs(2));
    let tomorrow = start_at(&directory, later).await;
    tomorrow.forget_old().await.unwrap();
    assert!(matches!(runs.get(&id, None).await, Err(Error::NotFound(_))));
    runs.get(&unfinished.id().to_string(), None).await.unwrap();
}

#[tokio::test]
async fn a_client_that_leaves_while_its_run_begins_leaves_no_run_behind() {
    let directory = TempDir::new().unwrap();
    let runs = start(&directory).await;
    for patience in 0..40 {
        let beginning = begin(&runs);
        let _ = tokio::time::timeout(Duration::from_micros(patience * 50), beginning).await;
    }
    while runs.going_on() > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let all = runs.list(Search { limit: 100, ..Search::default() }).await.unwrap();
    for run in all.items {
        assert_eq!(ended(&runs, &run.id).await.state, State::Cancelled);
    }
}
