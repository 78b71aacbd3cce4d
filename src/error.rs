//! The one error type, cut by what the client can do about it.
//!
//! A *problem* is a fault in what a person sent; an *error* is a failure of ours. Causes (SQL,
//! paths, library texts) stay in [`Error::Internal`] and [`Error::Unavailable`] for the log; the
//! client gets words that help. This module knows no HTTP.

use std::borrow::Cow;
use std::time::Duration;

/// The result of everything that can be refused or fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A cause for the log, never for the client.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// One fault in what a person sent.
#[derive(Debug, Clone, PartialEq, serde::Serialize, utoipa::ToSchema)]
pub struct Problem {
    /// The parameter at fault, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameter: Option<String>,
    /// A stable `snake_case` word.
    pub code: &'static str,
    /// The value as it was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The thing, the rule, the number, and the way out.
    pub detail: String,
}

impl Problem {
    /// A fault in a parameter's value.
    pub fn parameter(
        name: impl Into<String>,
        code: &'static str,
        value: impl Into<String>,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            parameter: Some(name.into()),
            code,
            value: Some(value.into()),
            detail: detail.into(),
        }
    }
}

/// What a time limit was put on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Waiting for the first row of a query.
    FirstRow,
    /// Waiting for a client to take bytes.
    Stall,
}

/// Why something was refused or failed.
#[derive(Debug)]
pub enum Error {
    /// Nobody is known to be asking.
    Unauthenticated(Cow<'static, str>),
    /// The caller is known and may not.
    Forbidden(Cow<'static, str>),
    /// There is no such thing, or not for this caller.
    NotFound(String),
    /// The address is right, the method is not; these are the ones allowed.
    MethodNotAllowed(Vec<String>),
    /// The request cannot be understood.
    Malformed(Vec<Problem>),
    /// The request is understood and its content breaks a rule.
    Invalid(Vec<Problem>),
    /// Rows have problems and nothing was stored; the report lists them.
    Rejected {
        /// How many, and the way out.
        detail: String,
        /// What it came to, as members of the problem.
        report: Box<serde_json::Value>,
    },
    /// None of the media types on offer suits the client.
    NotAcceptable(String),
    /// The content is of a kind that is not taken here.
    Unsupported(String),
    /// The content is larger than the limit that the message names.
    TooLarge(String),
    /// The thing is in a state that does not allow this.
    Conflict {
        /// A stable `snake_case` word.
        code: &'static str,
        /// What is in the way and what to do.
        detail: String,
    },
    /// It was here and has expired.
    Gone(String),
    /// The range asked for lies outside of the content of this many bytes.
    RangeNotSatisfiable(u64),
    /// A condition of the request does not hold.
    PreconditionFailed(String),
    /// Too much is waiting already, or this waited too long.
    Busy {
        /// Which queue and which limit.
        detail: String,
        /// When to try again.
        retry_after: Duration,
    },
    /// Something the server rests on is away, or the server is stopping.
    Unavailable {
        /// A stable `snake_case` word.
        code: &'static str,
        /// What is away, in words for the client.
        detail: String,
        /// The cause, for the log.
        source: Option<Cause>,
    },
    /// A time limit ran out.
    TimedOut(Phase, Duration),
    /// No space is left where the server writes.
    NoSpace(Cause),
    /// The temporary files are as large together as the settings let them be.
    SpoolFull(String),
    /// The run was stopped on purpose, by its caller or because the client left.
    Cancelled,
    /// A row holds what its column cannot: named with row and column, for the client too.
    Cell {
        /// The row, counted from 1 in the order of the answer.
        row: u64,
        /// The column's key.
        column: String,
        /// What is wrong with the value and what to do.
        detail: String,
    },
    /// A document's row has not what its template needs: named for the client too.
    Unrenderable {
        /// Its number and key.
        document: String,
        /// Which field, at which pointer, and what is wrong with it.
        detail: String,
    },
    /// The database gave up on a statement after it had begun.
    Query {
        /// What was being read, for the log.
        doing: Cow<'static, str>,
        /// Why it failed, for the log.
        source: Cause,
    },
    /// A failure of ours.
    Internal {
        /// What was being done, for the log.
        doing: Cow<'static, str>,
        /// Why it failed, for the log.
        source: Cause,
    },
}

impl Error {
    /// A failure of ours while `doing` something.
    pub fn internal(doing: impl Into<Cow<'static, str>>, source: impl Into<Cause>) -> Self {
        Self::Internal { doing: doing.into(), source: source.into() }
    }

    /// The error for a file or pipe that takes no more.
    pub fn writing(source: std::io::Error) -> Self {
        use std::io::ErrorKind;
        // Our own errors pass through the writers of libraries unharmed.
        if source.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<Self>) {
            return match source.into_inner().map(<dyn std::error::Error + Send + Sync>::downcast) {
                Some(Ok(ours)) => *ours,
                Some(Err(source)) => Self::internal("writing an answer", source),
                None => Self::internal("writing an answer", "no cause"),
            };
        }
        match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::NoSpace(source.into()),
            // Whoever read the pipe has had enough.
            ErrorKind::BrokenPipe => Self::Cancelled,
            _ => Self::internal("writing an answer", source),
        }
    }

    /// The stable word for this error, as problems and runs carry it.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unauthenticated(_) => "unauthenticated",
            Self::Forbidden(_) => "forbidden",
            Self::NotFound(_) => "not_found",
            Self::MethodNotAllowed(_) => "method_not_allowed",
            Self::Malformed(_) => "malformed_request",
            Self::Invalid(_) => "invalid_request",
            Self::Rejected { .. } => "import_rejected",
            Self::NotAcceptable(_) => "not_acceptable",
            Self::Unsupported(_) => "unsupported_media_type",
            Self::TooLarge(_) => "too_large",
            Self::Conflict { code, .. } | Self::Unavailable { code, .. } => code,
            Self::Gone(_) => "gone",
            Self::RangeNotSatisfiable(_) => "range_not_satisfiable",
            Self::PreconditionFailed(_) => "precondition_failed",
            Self::Busy { .. } => "busy",
            Self::TimedOut(Phase::FirstRow, _) => "first_row_timeout",
            Self::TimedOut(Phase::Stall, _) => "stalled",
            Self::NoSpace(_) | Self::SpoolFull(_) => "no_space",
            Self::Cancelled => "cancelled",
            Self::Cell { .. } => "undecodable_value",
            Self::Unrenderable { .. } => "unrenderable_document",
            Self::Query { .. } => "query_failed",
            Self::Internal { .. } => "internal",
        }
    }

    /// What a person is told: the thing, the rule, the number, and the way out.
    #[must_use]
    pub fn detail(&self) -> String {
        match self {
            Self::Unauthenticated(detail) | Self::Forbidden(detail) => detail.to_string(),
            Self::NotFound(detail)
            | Self::NotAcceptable(detail)
            | Self::Unsupported(detail)
            | Self::TooLarge(detail)
            | Self::Gone(detail)
            | Self::PreconditionFailed(detail)
            | Self::Conflict { detail, .. }
            | Self::Busy { detail, .. }
            | Self::Rejected { detail, .. }
            | Self::SpoolFull(detail)
            | Self::Unavailable { detail, .. } => detail.clone(),
            Self::MethodNotAllowed(allowed) => {
                format!("this address answers {} only", allowed.join(", "))
            }
            Self::Malformed(problems) | Self::Invalid(problems) => match problems.as_slice() {
                [] => "the request cannot be understood".into(),
                [one] => one.detail.clone(),
                [first, rest @ ..] => {
                    format!("{}; and {} more, listed in problems", first.detail, rest.len())
                }
            },
            Self::RangeNotSatisfiable(0) => {
                "the content has 0 bytes, so there is no range of it; leave Range out".into()
            }
            Self::RangeNotSatisfiable(size) => format!(
                "the range lies outside of the content, which has {size} bytes; ask for a range \
                 within bytes=0-{}, or leave Range out for the whole",
                size - 1
            ),
            Self::TimedOut(Phase::FirstRow, limit) => format!(
                "the query gave no first row within {} s and was stopped; narrow the filters, or \
                 begin a background export (POST to the report's exports), which may take as long \
                 as it needs",
                limit.as_secs_f64()
            ),
            Self::TimedOut(Phase::Stall, limit) => format!(
                "the client took no bytes for {} s, so the answer was broken off",
                limit.as_secs_f64()
            ),
            Self::NoSpace(_) => "no space is left on the server; nothing was kept; try again \
                                 later or ask whoever runs the server to free space"
                .into(),
            Self::Cancelled => "the run was cancelled".into(),
            Self::Cell { row, column, detail } => {
                format!("row {row}, column \"{column}\": {detail}")
            }
            Self::Unrenderable { document, detail } => unrenderable(document, detail),
            Self::Query { .. } => {
                "the database could not carry the query to its end; the cause is in \
                                   the server's log under this request's id"
                    .into()
            }
            Self::Internal { .. } => "the server failed; the cause is in its log under this \
                                      request's id"
                .into(),
        }
    }
}

fn unrenderable(document: &str, detail: &str) -> String {
    format!(
        "the document {document} cannot be rendered: {detail}; mend its row, or the definition's \
         section"
    )
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Internal { doing, source } | Self::Query { doing, source } => {
                write!(f, "{doing}: {source}")
            }
            Self::Unavailable { detail, source: Some(source), .. } => {
                write!(f, "{detail}: {source}")
            }
            Self::NoSpace(source) => write!(
                f,
                "no space left: {source}; nothing was kept; free some, or write to another disk"
            ),
            Self::Unauthenticated(_)
            | Self::Forbidden(_)
            | Self::NotFound(_)
            | Self::MethodNotAllowed(_)
            | Self::Malformed(_)
            | Self::Invalid(_)
            | Self::Rejected { .. }
            | Self::NotAcceptable(_)
            | Self::Unsupported(_)
            | Self::TooLarge(_)
            | Self::Conflict { .. }
            | Self::Gone(_)
            | Self::RangeNotSatisfiable(_)
            | Self::PreconditionFailed(_)
            | Self::Busy { .. }
            | Self::SpoolFull(_)
            | Self::Unavailable { source: None, .. }
            | Self::TimedOut(..)
            | Self::Cancelled
            | Self::Cell { .. }
            | Self::Unrenderable { .. } => f.write_str(&self.detail()),
        }
    }
}

impl std::error::Error for Error {}
