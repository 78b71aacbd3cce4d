//! What holds of the server alone holds behind nginx too, with the configuration that
//! `tallyroll ops nginx` prints: cuts are seen, rows come at once, leaving is noticed, nothing is kept.
//!
//! What went on inside is asked of the server itself.

mod cuts;
mod files;
mod flush;
mod leaving;
mod refusals;

use reqwest::Method;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::{Listens, Server};

/// Forgets a run's file, as whoever has it would.
async fn forget(server: &Server<'_>, run: &str) {
    let path = format!("/api/v1/runs/{run}");
    assert_eq!(server.request(Method::DELETE, &path, &[]).await.status, 204);
}

/// Sends these words and reads until the connection is closed.
async fn exchange(socket: &mut TcpStream, request: &str) -> Vec<u8> {
    socket.write_all(request.as_bytes()).await.expect("sent");
    let mut answer = Vec::new();
    // A reset after the answer takes nothing of it away.
    let _ = socket.read_to_end(&mut answer).await;
    answer
}

/// A GET over HTTP/1.0: its head in lower case, and the body as the end of the connection ends it.
async fn old_client(front: &impl Listens, path: &str, headers: &str) -> (String, Vec<u8>) {
    raw(front, &format!("GET {path} HTTP/1.0\r\nHost: 127.0.0.1\r\n{headers}\r\n")).await
}

/// The head in lower case and the body of whatever these words are answered with.
async fn raw(front: &impl Listens, request: &str) -> (String, Vec<u8>) {
    let mut socket = TcpStream::connect(front.address()).await.expect("a socket");
    let answer = exchange(&mut socket, request).await;
    let at = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("a head") + 4;
    (String::from_utf8_lossy(&answer[..at]).to_lowercase(), answer[at..].to_vec())
}
