//! Bind, then run, then stop without cutting what can still end.

use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

use actix_web::dev::Server as Actix;
use actix_web::middleware::from_fn;
use actix_web::rt::net::TcpStream;
use actix_web::{App as Web, HttpServer, web};
use tokio::signal::unix::{Signal, SignalKind, signal};
use utoipa_actix_web::AppExt;

use crate::app::App;
use crate::config::{Auth, KEEP_ALIVE};
use crate::error::{Error, Problem, Result};
use crate::http;
use crate::runs::Reason;

/// What stopped runs may take to say their last word, and open connections to close.
const LAST_WORDS: Duration = Duration::from_secs(3);
/// What the kernel allows a silent client beyond the stall time-out, so that the run's own word
/// comes first.
const BEYOND: Duration = Duration::from_secs(1);
/// Bytes that may wait in the kernel to be sent. Its own limit grows to megabytes, which take a slow
/// reader minutes to move.
const UNSENT: u32 = 128 << 10;

/// A server that has its address and answers from now on, once it runs.
pub struct Server {
    actix: Actix,
    address: SocketAddr,
    app: web::Data<App>,
    signals: Signals,
}

impl Server {
    /// Binds the configured address.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an address that cannot be served on, or one that others reach while
    /// `auth` is off.
    pub fn bind(app: App) -> Result<Self> {
        let addresses = addresses(&app.config.listen)?;
        if app.config.auth == Auth::Off {
            loopback_alone(&app.config.listen, &addresses)?;
        }
        let app = web::Data::new(app);
        let stall = app.config.stall_timeout;
        let data = app.clone();
        let factory = move || {
            let (web, api) = Web::new()
                .into_utoipa_app()
                .openapi(http::document())
                .configure(http::routes)
                .split_for_parts();
            web.app_data(data.clone())
                .app_data(web::Data::new(api))
                .default_service(web::route().to(http::fallback))
                .wrap(from_fn(http::gate))
        };
        let server = HttpServer::new(factory)
            // A client that leaves is noticed at once, not at the next failing write.
            .h1_allow_half_closed(false)
            .keep_alive(KEEP_ALIVE)
            .on_connect(move |connection, _| tune(connection, stall + BEYOND))
            .disable_signals()
            .shutdown_timeout(LAST_WORDS.as_secs())
            .bind(addresses.as_slice())
            .map_err(|source| not_bound(&app.config.listen, &source))?;
        let address = server.addrs().first().copied();
        let address = address.ok_or_else(|| cannot_listen(&app.config.listen, "no address"))?;
        // Before anybody knows that the server is there, so that none is lost.
        let signals = Signals::listen()?;
        Ok(Self { actix: server.run(), address, app, signals })
    }

    /// The address that it has.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until SIGTERM or SIGINT; SIGHUP reads the definitions again.
    ///
    /// # Errors
    /// [`Error::Internal`] where the server ends by itself.
    pub async fn run(mut self) -> Result<()> {
        let handle = self.actix.handle();
        let serving = tokio::spawn(self.actix);
        self.signals.until_told_to_stop(&self.app).await;
        tracing::info!("stopping");
        // Connections are still taken, and told 503.
        self.app.begin_stopping();
        if !self.app.runs.settle(self.app.config.shutdown_timeout).await {
            self.app.runs.stop_all(Reason::Shutdown);
            self.app.runs.settle(LAST_WORDS).await;
        }
        handle.stop(true).await;
        let served = serving.await.map_err(|source| Error::internal("serving", source))?;
        self.app.close().await;
        served.map_err(|source| Error::internal("serving", source))
    }
}

/// The signals that a server heeds.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
}

impl Signals {
    fn listen() -> Result<Self> {
        let listen =
            |kind| signal(kind).map_err(|source| Error::internal("listening for signals", source));
        Ok(Self {
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
            hangup: listen(SignalKind::hangup())?,
        })
    }

    async fn until_told_to_stop(&mut self, app: &App) {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return,
                _ = self.interrupt.recv() => return,
                _ = self.hangup.recv() => app.reload().await,
            }
        }
    }
}

/// Lets the kernel end a connection whose client takes nothing (RFC 5482), also when all that is
/// left of an answer lies in the socket's buffer; and lets it say that there is room as soon as a
/// little of that buffer has gone out, so that a slow reader shows that he reads.
fn tune(connection: &dyn std::any::Any, silence: Duration) {
    let Some(stream) = connection.downcast_ref::<TcpStream>() else { return };
    let socket = socket2::SockRef::from(stream);
    let silenced = socket.set_tcp_user_timeout(Some(silence));
    if let Err(error) = silenced.and_then(|()| socket.set_tcp_notsent_lowat(UNSENT)) {
        tracing::warn!(%error, "a connection could not be tuned");
    }
}

fn addresses(listen: &str) -> Result<Vec<SocketAddr>> {
    let found =
        listen.to_socket_addrs().map_err(|error| cannot_listen(listen, &error.to_string()))?;
    Ok(found.collect())
}

fn loopback_alone(listen: &str, addresses: &[SocketAddr]) -> Result<()> {
    if addresses.iter().all(|address| address.ip().is_loopback()) {
        return Ok(());
    }
    Err(Error::Invalid(vec![Problem::parameter(
        "listen",
        "open_to_everybody",
        listen,
        format!(
            "auth is \"off\" and listen is \"{listen}\", which others can reach; listen on 127.0.0.1, \
             or set auth = \"required\""
        ),
    )]))
}

fn not_bound(listen: &str, source: &std::io::Error) -> Error {
    if source.kind() != std::io::ErrorKind::AddrInUse {
        return cannot_listen(listen, &source.to_string());
    }
    let detail = format!(
        "another program listens on \"{listen}\" already, perhaps a Tallyroll; end it, or give another \
         port, such as --listen 127.0.0.1:0, which picks one that is free"
    );
    Error::Invalid(vec![Problem::parameter("listen", "address_in_use", listen, detail)])
}

fn cannot_listen(listen: &str, why: &str) -> Error {
    Error::Invalid(vec![Problem::parameter(
        "listen",
        "cannot_listen",
        listen,
        format!("cannot listen on \"{listen}\": {why}; give an address such as 127.0.0.1:8080"),
    )])
}
