//! A statement's rows out of a database server, whichever it is: session, query, stop, and what becomes
//! of the session afterwards.
//!
//! A dropped stream does not end a query. So a stopped run asks the server to cancel, over a small
//! control pool of its own, and what is still under way is read to its end; the session is then as good
//! as new. One that does not come to its end in time is closed and never used again.

use std::fmt::Display;
use std::time::Duration;

use futures::stream::BoxStream;
use sqlx::pool::PoolConnection;
use sqlx::{Arguments, Encode, Pool, Statement, Type};
use tokio::runtime::Handle;
use tokio::time::timeout;

use super::failures::{self, unavailable};
use super::pull::{Cells, Form, Pulled, pull};
use super::snapshot::Reading;
use super::{Arg, Query, Read};
use crate::error::{Error, Result};
use crate::rows::{RowSink, Warning};
use crate::runs::Stop;

/// How long a stopped query may take to end, from the request on: enough for one that sorts, which ends
/// with an error and no rows. One that sends has megabytes under way, and ends at once when its socket
/// closes.
const CANCEL: Duration = Duration::from_millis(400);
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

    /// Begins a transaction that reads alone, and all of whose statements see the same state.
    fn begin_snapshot(
        connection: &mut Self::Connection,
    ) -> impl Future<Output = sqlx::Result<()>> + Send;

    /// Ends a transaction, where there is one.
    fn end_snapshot(
        connection: &mut Self::Connection,
    ) -> impl Future<Output = sqlx::Result<()>> + Send;

    /// Makes a session ready for the next run, behind whatever is still under way.
    fn reset(connection: &mut Self::Connection) -> impl Future<Output = sqlx::Result<()>> + Send;

    /// Whether an error is that of a cancelled statement.
    fn is_cancelled(error: &sqlx::Error) -> bool;

    /// Asks for a session's statement to be ended.
    fn cancel(
        control: &Pool<Self>,
        session: Self::Session,
    ) -> impl Future<Output = sqlx::Result<()>> + Send;

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
            session = session::<S>(&self.read, &self.application) => session?,
        };
        let outcome =
            rows::<S>(&mut connection, &self.query, &self.application, sink, stop, warnings).await;
        let left = Left { goes_on: matches!(outcome, Err(Pulled::Ours(_))), snapshot: false };
        // Not on this thread, which gives way to others and would come to it late.
        let back = give_back::<S>(self.control.clone(), connection, session, left);
        if let Err(error) = self.runtime.spawn(back).await {
            tracing::error!(%session, %error, "a session was lost on its way back");
        }
        outcome.map_err(failed::<S>)
    }
}

async fn session<S: Server>(
    read: &Pool<S>,
    application: &str,
) -> Result<(PoolConnection<S>, S::Session)> {
    let mut connection = read.acquire().await.map_err(unavailable)?;
    let session = S::begin(&mut connection, application).await.map_err(unavailable)?;
    Ok((connection, session))
}

/// Runs one statement to the end of its rows.
async fn rows<S: Server>(
    connection: &mut S::Connection,
    query: &Query,
    application: &str,
    sink: &mut dyn RowSink,
    stop: &Stop,
    warnings: &mut Vec<Warning>,
) -> Result<(), Pulled> {
    let mut stream = S::fetch(connection, query, application).map_err(Pulled::Ours)?;
    let mut cells = Cells::<S::Form>::new(&query.cells);
    let outcome = pull(stream.as_mut(), &mut cells, sink, stop).await;
    drop(stream);
    warnings.extend(cells.warnings());
    outcome
}

fn failed<S: Server>(pulled: Pulled) -> Error {
    match pulled {
        Pulled::Ours(error) => error,
        Pulled::Database(error) => S::failed(error),
    }
}

/// Several statements over one state of a server's database.
pub(super) struct ServerReading<'s, S: Server> {
    connection: PoolConnection<S>,
    session: S::Session,
    control: Pool<S>,
    runtime: Handle,
    application: &'s str,
    stop: &'s Stop,
    warnings: &'s mut Vec<Warning>,
    goes_on: bool,
}

impl<'s, S: Server> ServerReading<'s, S> {
    /// Begins a read; [`ServerReading::end`] has to follow.
    pub(super) fn begin(
        (read, control): (Pool<S>, Pool<S>),
        runtime: Handle,
        application: &'s str,
        stop: &'s Stop,
        warnings: &'s mut Vec<Warning>,
    ) -> Result<Self> {
        let (mut connection, session) = runtime.block_on(async {
            tokio::select! {
                () = stop.fired() => Err(stop.error()),
                session = session::<S>(&read, application) => session,
            }
        })?;
        let begun = runtime.block_on(async {
            tokio::select! {
                () = stop.fired() => Err(stop.error()),
                begun = S::begin_snapshot(&mut connection) => begun.map_err(S::failed),
            }
        });
        if let Err(error) = begun {
            // Nobody knows where it stands.
            drop(connection.detach());
            return Err(error);
        }
        let goes_on = false;
        Ok(Self { connection, session, control, runtime, application, stop, warnings, goes_on })
    }

    /// Ends the transaction and gives the session back.
    pub(super) fn end(self) {
        let Self { connection, session, control, runtime, goes_on, .. } = self;
        let back = give_back::<S>(control, connection, session, Left { goes_on, snapshot: true });
        if let Err(error) = runtime.block_on(runtime.spawn(back)) {
            tracing::error!(%session, %error, "a session was lost on its way back");
        }
    }
}

impl<S: Server> Reading for ServerReading<'_, S> {
    fn read(&mut self, query: &Query, sink: &mut (dyn RowSink + Send)) -> Result<()> {
        let read = rows::<S>(
            &mut self.connection,
            query,
            self.application,
            sink,
            self.stop,
            self.warnings,
        );
        let outcome = self.runtime.block_on(read);
        self.goes_on = matches!(outcome, Err(Pulled::Ours(_)));
        outcome.map_err(failed::<S>)
    }
}

/// What a session has left to do when it is given back.
#[derive(Debug, Clone, Copy)]
struct Left {
    /// Its statement goes on.
    goes_on: bool,
    /// It is in a transaction.
    snapshot: bool,
}

/// Gives a session back, whose statement is cancelled first where it goes on; closes it where it does
/// not come to its end in time.
async fn give_back<S: Server>(
    control: Pool<S>,
    mut connection: PoolConnection<S>,
    session: S::Session,
    left: Left,
) {
    let readied = async {
        (!left.goes_on || S::cancel(&control, session).await.is_ok())
            && ready::<S>(&mut connection, left.snapshot).await
    };
    let time = if left.goes_on { CANCEL } else { RESET };
    if timeout(time, readied).await.unwrap_or(false) {
        connection.return_to_pool().await;
        return;
    }
    // Not waited for: the run is over. Where even this does not answer, the server finds the socket
    // closed.
    drop(connection.detach());
    tokio::spawn(async move {
        if let Err(error) = S::end(&control, session).await {
            tracing::warn!(%session, %error, "a session could not be ended");
        }
    });
}

/// Whether a session is ready for the next run, after meeting the error of its cancelled statement, or a
/// cancel request that came too late.
async fn ready<S: Server>(connection: &mut S::Connection, snapshot: bool) -> bool {
    for _ in 0..2 {
        let ended = if snapshot { S::end_snapshot(connection).await } else { Ok(()) };
        let readied = match ended {
            Ok(()) => S::reset(connection).await,
            Err(error) => Err(error),
        };
        match readied {
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
