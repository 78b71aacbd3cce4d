//! A run as it is shown.

use entity::runs::Model;
use sea_orm::prelude::DateTimeUtc;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{Progress, QueuePlace};
use crate::error::{Error, Result};
use crate::rows::Warning;

/// What a run does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunKind {
    /// Hands out a report's rows while the client waits.
    Report,
    /// Makes a file of a report in the background, or from the command line.
    Export,
    /// Takes rows in.
    Import,
    /// Turns one file into another.
    Convert,
    /// Bundles documents.
    Bundle,
}

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Waiting for a permit.
    Queued,
    /// At work.
    Running,
    /// Done, and all of it.
    Complete,
    /// Ended by a failure.
    Failed,
    /// Ended by its caller, or because the client left.
    Cancelled,
}

macro_rules! words {
    ($type:ty { $($variant:ident = $word:literal),+ $(,)? }) => {
        impl $type {
            /// Every value.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word it is stored and shown as.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// The value of a word.
            #[must_use]
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.word() == word)
            }
        }
    };
}

words!(RunKind {
    Report = "report",
    Export = "export",
    Import = "import",
    Convert = "convert",
    Bundle = "bundle",
});
words!(State {
    Queued = "queued",
    Running = "running",
    Complete = "complete",
    Failed = "failed",
    Cancelled = "cancelled",
});

impl State {
    /// Whether nothing more will happen to the run.
    #[must_use]
    pub const fn is_final(self) -> bool {
        match self {
            Self::Queued | Self::Running => false,
            Self::Complete | Self::Failed | Self::Cancelled => true,
        }
    }
}

/// Where a run's time went, in milliseconds; the four add up to its duration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Timings {
    /// Waiting for a permit.
    pub queue: u64,
    /// Waiting for the database; of an import, comparing its rows with each other and with the table.
    pub query: u64,
    /// In encoder and compressor; of an import, reading, checking and staging its rows.
    pub encode: u64,
    /// Waiting for the client or the disk; of an import, storing its rows.
    pub write: u64,
}

/// Why a run failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RunError {
    /// A stable `snake_case` word.
    pub code: String,
    /// What happened and what to do.
    pub detail: String,
}

/// A run as the API shows it.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
pub struct RunView {
    /// UUIDv7.
    pub id: String,
    /// What it does.
    pub kind: RunKind,
    /// The definition's name.
    pub name: String,
    /// Where it stands.
    pub state: State,
    /// Its place in the queue while it waits for a permit, where it waits in the process that was
    /// asked.
    pub queue: Option<QueuePlace>,
    /// Rows encoded so far.
    pub rows: u64,
    /// Bytes encoded so far, before content coding.
    pub bytes: u64,
    /// Bytes handed to clients so far, after content coding.
    pub sent_bytes: u64,
    /// SHA-256 of the encoded bytes in hex, once they are whole.
    pub sha256: Option<String>,
    /// RFC 3339, UTC.
    pub created_at: String,
    /// RFC 3339, UTC.
    pub started_at: Option<String>,
    /// RFC 3339, UTC.
    pub finished_at: Option<String>,
    /// Where the time went.
    pub timings_ms: Timings,
    /// What was noticed and is no failure.
    pub warnings: Vec<Warning>,
    /// Why it failed.
    pub error: Option<RunError>,
    /// What it has to say besides its rows, such as the token of the next page.
    pub result: Option<Json>,
    /// What it was asked with.
    pub params: Json,
    /// Who asked.
    pub caller: String,
    /// The process that does it.
    pub node: String,
}

fn shown(time: DateTimeUtc) -> String {
    time.to_rfc3339_opts(chrono::SecondsFormat::Micros, true)
}

fn count(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

impl RunView {
    /// Shows a stored run, with the counters of a live one where it is at work here.
    ///
    /// # Errors
    /// [`Error::Internal`] where the stored run makes no sense.
    pub fn new(stored: Model, live: Option<&Progress>) -> Result<Self> {
        let nonsense = |what: &str| Error::internal("reading a stored run", format!("odd {what}"));
        let counter = |stored: i64, live: Option<u64>| live.unwrap_or_else(|| count(stored));
        Ok(Self {
            kind: RunKind::from_word(&stored.kind).ok_or_else(|| nonsense("kind"))?,
            state: State::from_word(&stored.state).ok_or_else(|| nonsense("state"))?,
            queue: live.and_then(Progress::place),
            rows: counter(stored.rows, live.map(Progress::rows)),
            bytes: counter(stored.bytes, live.map(Progress::bytes)),
            sent_bytes: counter(stored.sent_bytes, live.map(Progress::sent_bytes)),
            sha256: stored.sha256,
            created_at: shown(stored.created_at),
            started_at: stored.started_at.map(shown),
            finished_at: stored.finished_at.map(shown),
            timings_ms: Timings {
                queue: count(stored.queue_ms),
                query: count(stored.query_ms),
                encode: count(stored.encode_ms),
                write: count(stored.write_ms),
            },
            warnings: serde_json::from_value(stored.warnings).map_err(|_| nonsense("warnings"))?,
            error: stored
                .error
                .map(serde_json::from_value)
                .transpose()
                .map_err(|_| nonsense("error"))?,
            result: stored.result,
            params: stored.params,
            caller: stored.caller,
            node: stored.node,
            id: stored.id,
            name: stored.name,
        })
    }

    /// Shows that the run is at work, which its process knows before the state does.
    pub(super) fn show_started(&mut self, at: DateTimeUtc, queue_ms: u64) {
        self.state = State::Running;
        self.started_at = Some(shown(at));
        self.timings_ms.queue = queue_ms;
    }
}
