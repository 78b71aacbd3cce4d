//! A small HTTP/1.1 client that sees what others hide: each chunk with the time of its arrival, and
//! whether a body came to its end or was broken off.

use std::collections::VecDeque;
use std::io::Write;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use super::Listens;

/// How a body ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// With its last chunk, or with its declared length.
    Complete,
    /// The connection was closed or reset before that.
    BrokenOff,
}

/// A chunk as it was sent, content coding and all.
#[derive(Debug, Clone)]
pub struct Chunk {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// When its last byte was here.
    pub at: Instant,
}

/// A body that was read to wherever it ended.
#[derive(Debug)]
pub struct Body {
    /// Its bytes after decoding.
    pub bytes: Vec<u8>,
    /// How many bytes were sent, before decoding and without the framing of chunks.
    pub sent: usize,
    /// When each chunk arrived, and how many bytes had been decoded by then.
    pub arrivals: Vec<(Instant, usize)>,
    /// How it ended.
    pub end: End,
}

/// One request and its answer, read as fast or as slowly as the test likes.
///
/// Dropping it hangs up. Every method that waits may be given up (in a `select`, by a time-out) and
/// called again: what was read is kept.
#[derive(Debug)]
pub struct Stream {
    connection: TcpStream,
    /// Bytes received that belong to no returned chunk yet.
    received: VecDeque<u8>,
    status: u16,
    headers: Vec<(String, String)>,
    framing: Framing,
    end: Option<End>,
    rate: Option<Rate>,
}

#[derive(Debug, Clone, Copy)]
enum Framing {
    Chunked,
    /// Bytes still to come.
    Length(usize),
    /// The end of the connection is the end of the body, complete or not.
    Close,
}

#[derive(Debug, Clone, Copy)]
struct Rate {
    bytes_per_second: u32,
    /// When the next read is due.
    due: Instant,
}

impl Stream {
    /// Sends a GET and reads the head of the answer.
    pub async fn get(server: &impl Listens, path: &str, headers: &[(&str, &str)]) -> Self {
        let mut stream = Self::send(server, path, headers).await;
        stream.head().await;
        stream
    }

    /// Sends a GET and does not wait for the answer.
    pub async fn send(server: &impl Listens, path: &str, headers: &[(&str, &str)]) -> Self {
        Self::send_with_buffer(server, path, headers, None).await
    }

    /// Sends a GET over a connection whose receive buffer is this small, so that what is not read
    /// soon holds the server up.
    pub async fn send_with_buffer(
        server: &impl Listens,
        path: &str,
        headers: &[(&str, &str)],
        buffer: Option<u32>,
    ) -> Self {
        Self::open(server, "GET", path, headers, buffer).await
    }

    /// Sends the head of a request.
    pub async fn open(
        server: &impl Listens,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        buffer: Option<u32>,
    ) -> Self {
        let socket = TcpSocket::new_v4().expect("a socket can be made");
        if let Some(bytes) = buffer {
            socket.set_recv_buffer_size(bytes).expect("a buffer can be made small");
        }
        let address = server.address().parse().expect("the server has an address");
        let mut connection = socket.connect(address).await.expect("the server takes connections");
        let mut request = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\n", server.address());
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str("\r\n");
        connection.write_all(request.as_bytes()).await.expect("the request can be sent");
        Self {
            connection,
            received: VecDeque::new(),
            status: 0,
            headers: Vec::new(),
            framing: Framing::Close,
            end: None,
            rate: None,
        }
    }

    /// Sends a POST with a body and does not wait for the answer; the server may be gone meanwhile.
    pub async fn post(
        server: &impl Listens,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Self {
        let length = body.len().to_string();
        let headers = [headers, &[("Content-Length", length.as_str())]].concat();
        let mut stream = Self::open(server, "POST", path, &headers, None).await;
        stream.push(body).await;
        stream
    }

    /// Sends more of a body; `false` where the server takes no more.
    pub async fn push(&mut self, bytes: &[u8]) -> bool {
        self.connection.write_all(bytes).await.is_ok()
    }

    /// Waits for the head of the answer.
    pub async fn head(&mut self) {
        assert!(self.answered().await, "the connection was closed before an answer");
    }

    /// Waits for the head of the answer; says whether there was one before the connection was closed.
    pub async fn answered(&mut self) -> bool {
        let head = loop {
            let bytes = self.received.make_contiguous();
            if let Some(end) = bytes.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
                self.received.drain(..end + 4);
                break head;
            }
            if self.receive().await == 0 {
                return false;
            }
        };
        let mut lines = head.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok());
        self.status = status.expect("the answer begins with a status");
        let header = |line: &str| {
            let (name, value) = line.split_once(':').expect("a header has a colon");
            (name.to_ascii_lowercase(), value.trim().to_owned())
        };
        self.headers = lines.map(header).collect();
        self.framing = match (self.header("transfer-encoding"), self.header("content-length")) {
            (Some("chunked"), None) => Framing::Chunked,
            (None, Some(length)) => Framing::Length(length.parse().expect("a length is a number")),
            _ => Framing::Close,
        };
        if matches!(self.framing, Framing::Length(0)) {
            self.end = Some(End::Complete);
        }
        true
    }

    /// The status.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|header| header.0 == name).map(|header| header.1.as_str())
    }

    /// The run that accounts for the answer.
    pub fn run(&self) -> String {
        self.header("x-run-id").expect("the answer names its run").to_owned()
    }

    /// Reads no faster than this from now on.
    pub fn limit_rate(&mut self, bytes_per_second: u32) {
        self.rate = Some(Rate { bytes_per_second, due: Instant::now() });
    }

    /// The next chunk; nothing at the end, of which [`Stream::end`] then speaks.
    pub async fn next_chunk(&mut self) -> Option<Chunk> {
        loop {
            if self.end.is_some() {
                return None;
            }
            if let Some(bytes) = self.take_chunk() {
                return Some(Chunk { bytes, at: Instant::now() });
            }
            if self.end.is_none() && self.receive().await == 0 {
                self.end = Some(match self.framing {
                    Framing::Close => End::Complete,
                    Framing::Chunked | Framing::Length(_) => End::BrokenOff,
                });
            }
        }
    }

    /// How the body ended, once [`Stream::next_chunk`] gave nothing.
    pub fn end(&self) -> End {
        self.end.expect("the body was read to its end")
    }

    /// Reads the rest and decodes it by `Content-Encoding`.
    pub async fn body(&mut self) -> Body {
        let mut decoder = Decoder::new(self.header("content-encoding"));
        let (mut sent, mut arrivals) = (0, Vec::new());
        while let Some(chunk) = self.next_chunk().await {
            sent += chunk.bytes.len();
            arrivals.push((chunk.at, decoder.push(&chunk.bytes)));
        }
        let end = self.end();
        let bytes = decoder.finish(end);
        Body { bytes, sent, arrivals, end }
    }

    /// Ends the connection with a reset, as a crashed client's machine does.
    pub fn reset(self) {
        let socket = socket2::SockRef::from(&self.connection);
        socket.set_linger(Some(Duration::ZERO)).expect("a socket can be made to reset");
    }

    /// A whole chunk out of what was received, where there is one.
    fn take_chunk(&mut self) -> Option<Vec<u8>> {
        match self.framing {
            Framing::Chunked => self.take_framed(),
            Framing::Length(_) | Framing::Close if self.received.is_empty() => None,
            Framing::Length(left) => {
                let bytes: Vec<u8> = self.received.drain(..).collect();
                assert!(bytes.len() <= left, "more came than the declared length");
                self.framing = Framing::Length(left - bytes.len());
                if left == bytes.len() {
                    self.end = Some(End::Complete);
                }
                Some(bytes)
            }
            Framing::Close => Some(self.received.drain(..).collect()),
        }
    }

    fn take_framed(&mut self) -> Option<Vec<u8>> {
        let bytes = self.received.make_contiguous();
        let line = bytes.windows(2).position(|bytes| bytes == b"\r\n")?;
        let size = std::str::from_utf8(&bytes[..line]).ok();
        let size = size.and_then(|size| usize::from_str_radix(size, 16).ok());
        let size = size.expect("a chunk begins with its size");
        let whole = line + 2 + size + 2;
        if bytes.len() < whole {
            return None;
        }
        let chunk = bytes[line + 2..line + 2 + size].to_vec();
        self.received.drain(..whole);
        if size == 0 {
            self.end = Some(End::Complete);
            return None;
        }
        Some(chunk)
    }

    /// Waits for bytes; none at the end of the connection, however it came.
    async fn receive(&mut self) -> usize {
        let mut bytes = vec![0; 64 << 10];
        let most = match self.rate {
            None => bytes.len(),
            // Ten reads a second.
            Some(rate) => {
                tokio::time::sleep_until(rate.due.into()).await;
                (rate.bytes_per_second / 10).max(1) as usize
            }
        };
        let most = most.min(bytes.len());
        let count = self.connection.read(&mut bytes[..most]).await.unwrap_or(0);
        if let Some(rate) = &mut self.rate {
            let bytes = u32::try_from(count).expect("a read is small");
            rate.due = Instant::now() + Duration::from_secs(bytes.into()) / rate.bytes_per_second;
        }
        self.received.extend(&bytes[..count]);
        count
    }
}

/// Undoes a content coding as the bytes come.
pub enum Decoder {
    /// Nothing to undo.
    Identity(Vec<u8>),
    /// `gzip`.
    Gzip(Box<flate2::write::GzDecoder<Vec<u8>>>),
    /// `zstd`, and what was pushed.
    Zstd(zstd::stream::write::Decoder<'static, Vec<u8>>, Vec<u8>),
}

impl Decoder {
    /// For a value of `Content-Encoding`.
    pub fn new(coding: Option<&str>) -> Self {
        match coding {
            None => Self::Identity(Vec::new()),
            Some("gzip") => Self::Gzip(Box::new(flate2::write::GzDecoder::new(Vec::new()))),
            Some("zstd") => {
                let decoder = zstd::stream::write::Decoder::new(Vec::new());
                Self::Zstd(decoder.expect("a decoder can be made"), Vec::new())
            }
            Some(other) => panic!("the content coding {other} was not asked for"),
        }
    }

    /// Takes what came; gives back how many bytes are decoded by now.
    pub fn push(&mut self, bytes: &[u8]) -> usize {
        match self {
            Self::Identity(decoded) => decoded.extend_from_slice(bytes),
            Self::Gzip(decoder) => {
                decoder
                    .write_all(bytes)
                    .and_then(|()| decoder.flush())
                    .expect("gzip is as it should be");
            }
            Self::Zstd(decoder, pushed) => {
                decoder
                    .write_all(bytes)
                    .and_then(|()| decoder.flush())
                    .expect("zstd is as it should be");
                pushed.extend_from_slice(bytes);
            }
        }
        self.decoded().len()
    }

    /// Everything decoded so far.
    pub fn decoded(&self) -> &[u8] {
        match self {
            Self::Identity(decoded) => decoded,
            Self::Gzip(decoder) => decoder.get_ref(),
            Self::Zstd(decoder, _) => decoder.get_ref(),
        }
    }

    /// Everything decoded; fails where a complete body has no proper end of its coding, or one that
    /// was broken off has.
    fn finish(self, end: End) -> Vec<u8> {
        let decoded = self.decoded().to_vec();
        let whole = match self {
            Self::Identity(_) => end == End::Complete,
            Self::Gzip(decoder) => decoder.finish().is_ok(),
            Self::Zstd(_, pushed) => {
                zstd::stream::decode_all(&*pushed).is_ok_and(|_| !pushed.is_empty())
            }
        };
        assert_eq!(whole, end == End::Complete, "the coding's end and the body's end say the same");
        decoded
    }
}
