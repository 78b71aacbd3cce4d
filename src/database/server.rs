//! A statement's rows out of a database server, whichever it is: session, query, stop, and what becomes
//! of the session afterwards.
//!
//! A dropped stream does not end a query. So a stopped run asks the server to cancel, over a small
//! control pool of its own, and reads the stream to its error; the session is then as good as new. One
//! whose stream was not read to its end, or that does not answer, is closed and never used again.

use std::fmt::Display;
use std::pin::Pin;
use std::time::Duration;

use futures::stream::BoxStream;
use futures::{Stream, StreamExt};
use sqlx::pool::PoolConnection;
use sqlx::{Arguments, Encode, Pool, Statement, Type};
use tokio::runtime::Handle;
use tokio::time::timeout;

use super::failures::{self, unavailable};
use super::pull::{Cells, Form, Pulled, pull};
use super::{Arg, Query, Read};
use crate::error::{Error, Result};
use crate::rows::{RowSink, Warning};
use crate::runs::Stop;

/// How long a stopped query may take to end, from the request on: enough for one that sorts, which ends
/// with an error and no rows. One that sends has megabytes under way, and ends at once when its socket
/// closes.
const CANCEL: Duration = Duration::from_millis(250);
/// How long a session may take to be made ready for the next run.
const RESET: Duration = Duration::from_millis(200);

/// What the servers do each in a way of its own.
pub trait Server: sqlx::Database {
    /// How the server knows a session.
    type Session: Copy + Display + Send + Sync + 'static;
    /// How its cells come.
    type Form: Form<Row = <Self as sqlx::Database>::Row>;

    /// Puts a run's name on a session, where it can carry one. May be dropped halfway.
    fn begin(
        connection: &mut Self::Connection,
        application: &str,
    ) -> impl Future<Output = sqlx::Result<Self::Session>>;

    /// Runs a query.
    fn fetch<'c>(
        connection: &'c mut Self::Connection,
        query: &Query,
        application: &str,
    ) -> Result<BoxStream<'c, sqlx::Result<<Self as sqlx::Database>::Row>>>;

    /// Makes a session ready for the next run.
    fn reset(connection: &mut Self::Connection) -> impl Future<Output = sqlx::Result<()>>;

    /// Whether an error is that of a cancelled statement.
    fn is_cancelled(error: &sqlx::Error) -> bool;

    /// Asks for a session's statement to be ended.
    fn cancel(
        control: &Pool<Self>,
        session: Self::Session,
    ) -> impl Future<Output = sqlx::Result<()>>;

    /// Ends a session, which may be over already.
    fn end(
        control: &Pool<Self>,
        session: Self::Session,
    ) -> impl Future<Output = sqlx::Result<()>> + Send;

    /// Prepares a statement without running it.
    fn prepare(
        connection: &mut Self::Connection,
        query: &Query,
    ) -> impl Future<Output = sqlx::Result<<Self as sqlx::Database>::Statement>>;

    /// What an error means that came while rows were read.
    fn failed(error: sqlx::Error) -> Error;
}

/// A statement for one server.
#[derive(Debug)]
pub struct ServerRows<S: sqlx::Database> {
    pub(super) read: Pool<S>,
    pub(super) control: Pool<S>,
    pub(super) runtime: Handle,
    pub(super) query: Query,
    /// What the server shows while the statement runs.
    pub(super) application: String,
}

impl<S: Server> ServerRows<S> {
    /// See [`super::Source::drive`].
    pub(super) fn drive(
        self,
        sink: &mut dyn RowSink,
        stop: &Stop,
        warnings: &mut Vec<Warning>,
    ) -> Result<()> {
        let runtime = self.runtime.clone();
        runtime.block_on(self.read(sink, stop, warnings))
    }

    async fn read(
        self,
        sink: &mut dyn RowSink,
        stop: &Stop,
        warnings: &mut Vec<Warning>,
    ) -> Result<()> {
        let (mut connection, session) = tokio::select! {
            () = stop.fired() => return Err(stop.error()),
            session = self.session() => session?,
        };
        let mut stream = S::fetch(&mut connection, &self.query, &self.application)?;
        let mut cells = Cells::<S::Form>::new(&self.query.cells);
        let outcome = pull(stream.as_mut(), &mut cells, sink, stop).await;
        let ended = match &outcome {
            Ok(()) | Err(Pulled::Database(_)) => true,
            Err(Pulled::Ours(_)) => self.cancel(session, stream.as_mut()).await,
        };
        drop(stream);
        self.give_back(connection, session, ended).await;
        warnings.extend(cells.warnings());
        outcome.map_err(|pulled| match pulled {
            Pulled::Ours(error) => error,
            Pulled::Database(error) => S::failed(error),
        })
    }

    async fn session(&self) -> Result<(PoolConnection<S>, S::Session)> {
        let mut connection = self.read.acquire().await.map_err(unavailable)?;
        let session = S::begin(&mut connection, &self.application).await.map_err(unavailable)?;
        Ok((connection, session))
    }

    /// Asks the server to cancel and reads the stream to its end; `false` where it would not end in
    /// time.
    async fn cancel(
        &self,
        session: S::Session,
        mut stream: Pin<&mut (impl Stream<Item = sqlx::Result<S::Row>> + ?Sized)>,
    ) -> bool {
        let ended = async {
            if S::cancel(&self.control, session).await.is_err() {
                return false;
            }
            while let Some(Ok(_)) = stream.next().await {}
            true
        };
        timeout(CANCEL, ended).await.unwrap_or(false)
    }

    async fn give_back(&self, mut connection: PoolConnection<S>, session: S::Session, ended: bool) {
        if ended && timeout(RESET, ready::<S>(&mut connection)).await.unwrap_or(false) {
            connection.return_to_pool().await;
            return;
        }
        // Not waited for: the run is over. Where even this does not answer, the server finds the socket
        // closed.
        drop(connection.detach());
        let control = self.control.clone();
        self.runtime.spawn(async move {
            if let Err(error) = S::end(&control, session).await {
                tracing::warn!(%session, %error, "a session could not be ended");
            }
        });
    }
}

/// Whether a session is ready for the next run, after meeting a cancel request that came too late.
async fn ready<S: Server>(connection: &mut S::Connection) -> bool {
    for _ in 0..2 {
        match S::reset(connection).await {
            Ok(()) => return true,
            Err(error) if S::is_cancelled(&error) => {}
            Err(_) => return false,
        }
    }
    false
}

/// Prepares a statement without running it, and checks that its columns can be read as declared.
///
/// # Errors
/// What the server says against the statement, as [`Error::Query`]; [`Error::Cell`];
/// [`Error::Unavailable`].
pub(super) async fn describe<S: Server>(control: &Pool<S>, query: &Query) -> Result<()> {
    let mut connection = control.acquire().await.map_err(unavailable)?;
    let statement = prepared::<S>(&mut connection, query).await?;
    for (cell, column) in query.cells.iter().zip(statement.columns()) {
        if matches!(cell.read, Read::Stored) {
            continue;
        }
        S::Form::of(cell, column).map_err(|detail| Error::Cell {
            row: 0,
            column: cell.key.clone(),
            detail,
        })?;
    }
    Ok(())
}

/// Prepares a statement, which the server may refuse in words.
pub(super) async fn prepared<S: Server>(
    connection: &mut S::Connection,
    query: &Query,
) -> Result<<S as sqlx::Database>::Statement> {
    S::prepare(connection, query).await.map_err(|error| match error.as_database_error() {
        Some(said) => failures::refused(said),
        None => S::failed(error),
    })
}

/// The arguments of a statement, bound.
pub(super) fn arguments<A>(args: &[Arg]) -> Result<A>
where
    A: Arguments,
    bool: for<'q> Encode<'q, A::Database> + Type<A::Database>,
    i64: for<'q> Encode<'q, A::Database> + Type<A::Database>,
    f64: for<'q> Encode<'q, A::Database> + Type<A::Database>,
    for<'q> &'q str: Encode<'q, A::Database> + Type<A::Database>,
    Option<String>: for<'q> Encode<'q, A::Database> + Type<A::Database>,
{
    let mut bound = A::default();
    for arg in args {
        match arg {
            Arg::Null => bound.add(None::<String>),
            Arg::Bool(value) => bound.add(*value),
            Arg::Int(value) => bound.add(*value),
            Arg::Float(value) => bound.add(*value),
            Arg::Text(value) => bound.add(value.as_str()),
        }
        .map_err(|source| Error::internal("binding an argument", source))?;
    }
    Ok(bound)
}
