//! What must hold of a crowd.

use std::time::Duration;

use super::guests::{Fate, Guest, Served, Wants};
use super::records::{Record, most_at_once, overtaking};
use super::{Setting, Sitting};
use crate::checks::Checks;
use crate::stats::Series;

/// What a busy machine may take until it lets somebody know.
const LEEWAY: Duration = Duration::from_secs(1);
/// What two who come and are served about together may be noted in the wrong order by: the server's
/// threads do not write down the time in the moment in which they act. In microseconds.
const ABOUT_TOGETHER: i64 = 20_000;
/// How many times as long as with an idle server the short requests may take.
const SLOWER: f64 = 3.0;

/// How the guests left.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Fates {
    pub(super) served: usize,
    pub(super) refused: usize,
    pub(super) others: usize,
}

/// How long a small request took, in milliseconds.
#[derive(Debug)]
pub(super) struct Probe {
    pub(super) path: &'static str,
    /// With the idle server.
    pub(super) idle: Series,
    /// In the crowd.
    pub(super) busy: Series,
    /// What the asker waited for a core himself in the crowd.
    pub(super) own: Series,
}

impl Sitting {
    pub(super) fn judge(&self, checks: &mut Checks) {
        let about = format!("{}, {}", self.backend.word(), self.setting.name);
        self.judge_answers(&about, checks);
        self.judge_waits(&about, checks);
        for wants in Wants::ALL {
            self.judge_turns(&format!("{about}, {}", wants.word()), wants, checks);
        }
        for Probe { path, idle, busy, .. } in self.probes() {
            let (idle, busy) = (idle.percentile(99), busy.percentile(99));
            let what = format!(
                "{about}: p99 of {path} {busy:.2} ms in the crowd, below {SLOWER} x {idle:.2} ms idle"
            );
            checks.check(busy < SLOWER * idle, &what);
        }
    }

    fn judge_answers(&self, about: &str, checks: &mut Checks) {
        let Fates { served, refused, others } = self.fates();
        let what = format!(
            "{about}: every answer whole or a 429 with Retry-After: {served} whole, {refused} refused, \
             {others} otherwise{}",
            self.first_fault()
        );
        checks.check(others == 0, &what);
        let Setting { refuses, .. } = self.setting;
        let held = served > 0 && (refused > 0) == *refuses;
        let wanted =
            if *refuses { "some are refused and some are not" } else { "nobody is refused" };
        checks.check(held, &format!("{about}: {wanted}"));
        let runs = |is: fn(&&Record) -> bool| self.records.iter().filter(is).count();
        let complete = runs(|run| run.state == "complete");
        let busy = runs(|run| run.state == "failed" && run.code.as_deref() == Some("busy"));
        checks.same(&format!("{about}: runs that are complete"), &complete, &served);
        checks.same(&format!("{about}: runs that failed as busy"), &busy, &refused);
        let short = |run: &&Record| run.state == "complete" && run.rows != self.rows;
        let short = self.records.iter().filter(short).count();
        checks.same(
            &format!("{about}: complete runs of other than {} rows", self.rows),
            &short,
            &0,
        );
    }

    fn judge_waits(&self, about: &str, checks: &mut Checks) {
        let (longest, patience) = (self.longest_wait(), self.setting.patience);
        let what = format!(
            "{about}: the longest wait until served or refused {:.2} s, {} s and {} s allowed",
            longest.as_secs_f64(),
            patience.as_secs(),
            LEEWAY.as_secs(),
        );
        checks.check(longest <= patience + LEEWAY, &what);
    }

    fn judge_turns(&self, about: &str, wants: Wants, checks: &mut Checks) {
        let order = overtaking(&self.records, wants);
        let allowed = ABOUT_TOGETHER / 1_000;
        let what = format!("{about}: served in the order of coming: {order}, {allowed} ms allowed");
        checks.check(order.most <= ABOUT_TOGETHER, &what);
        let (most, limit) = (most_at_once(&self.records, wants), wants.limit());
        checks.check(most <= limit, &format!("{about}: {most} at once at most, {limit} allowed"));
    }

    pub(super) fn longest_wait(&self) -> Duration {
        self.crowd.guests.iter().map(|guest| guest.waited).max().unwrap_or_default()
    }

    /// Each small request, as often with the idle server as in the crowd.
    pub(super) fn probes(&self) -> [Probe; 2] {
        [
            ("`GET /reports`", &self.idle.reports, &self.busy.reports),
            ("`GET /runs/{id}`", &self.idle.run, &self.busy.run),
        ]
        .map(|(path, idle, busy)| {
            let count = idle.whole.len().min(busy.whole.len());
            let own = busy.own.iter().copied().collect();
            Probe { path, idle: idle.series(count), busy: busy.series(count), own }
        })
    }

    pub(super) fn fates(&self) -> Fates {
        let mut fates = Fates::default();
        for guest in &self.crowd.guests {
            match &guest.fate {
                Fate::Served(served) if self.is_whole(guest.wants, *served) => fates.served += 1,
                Fate::Refused(Some(1..)) => fates.refused += 1,
                Fate::Served(_) | Fate::Refused(_) | Fate::Spoilt(_) => fates.others += 1,
            }
        }
        fates
    }

    fn is_whole(&self, wants: Wants, served: Served) -> bool {
        match wants {
            Wants::Stream => served.bytes == self.bytes[0] && served.lines == self.rows,
            Wants::Book => served.bytes == self.bytes[1],
        }
    }

    fn first_fault(&self) -> String {
        let fault = |guest: &Guest| match &guest.fate {
            Fate::Served(served) if self.is_whole(guest.wants, *served) => None,
            Fate::Refused(Some(1..)) => None,
            Fate::Spoilt(words) => Some(words.clone()),
            fate @ (Fate::Served(_) | Fate::Refused(_)) => Some(format!("{fate:?}")),
        };
        let first = self.crowd.guests.iter().find_map(fault);
        first.map_or_else(String::new, |words| format!(", the first of them: {words}"))
    }
}
