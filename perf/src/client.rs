//! As much of an HTTP/1.1 client as a bench needs: one request a connection, a body that is handed
//! on as it comes and never kept, and a reader that can be held to a speed.

use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::chunks::ChunkDecoder;
use crate::error::{Doing, Error, Result};

/// Bytes read at once.
const PIECE: usize = 256 << 10;
/// No head of a sane server is longer.
const LONGEST_HEAD: usize = 64 << 10;
/// A server that says nothing for so long has failed the round.
const SILENCE: Duration = Duration::from_mins(2);

/// How fast a body is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// As fast as it comes.
    Fast,
    /// At most so many bytes a second.
    Held(u32),
}

/// An answer of which the head has come.
#[derive(Debug)]
pub(crate) struct Answer {
    begun: Instant,
    /// From before the connection was opened until the whole head was there.
    pub(crate) waited: Duration,
    stream: TcpStream,
    head: String,
    /// What came behind the head.
    rest: Vec<u8>,
}

/// What was seen of a body that came to its end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drained {
    /// Its bytes, without transfer coding.
    pub(crate) bytes: u64,
    /// From before the connection was opened to the body's first byte; to its end where it has none.
    pub(crate) first_byte: Duration,
    /// From before the connection was opened to the body's end.
    pub(crate) whole: Duration,
}

enum Body {
    Chunked(ChunkDecoder),
    Length(u64),
}

/// Asks for `path` and comes back with a 200.
///
/// # Errors
/// No connection, no HTTP, or another status, with what the server says of it.
pub(crate) fn get(address: &str, path: &str) -> Result<Answer> {
    let answer = ask(address, "GET", path)?;
    if answer.status() == Some("200") {
        return Ok(answer);
    }
    let status = answer.status().unwrap_or("nothing that is HTTP").to_owned();
    let words = answer.text().unwrap_or_default();
    Err(Error::new(format!("GET {path} was answered {status}: {words}")))
}

/// Asks for something and comes back with whatever is answered.
///
/// # Errors
/// No connection, no HTTP.
pub(crate) fn ask(address: &str, method: &str, path: &str) -> Result<Answer> {
    let begun = Instant::now();
    let mut stream = TcpStream::connect(address).doing(format!("connecting to {address}"))?;
    stream.set_read_timeout(Some(SILENCE)).doing("limiting silence")?;
    let request =
        format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).doing(format!("asking for {path}"))?;
    let (head, rest) = read_head(&mut stream).doing(format!("{method} {path}"))?;
    Ok(Answer { begun, waited: begun.elapsed(), stream, head, rest })
}

/// Sends a file as a body and comes back with whatever is answered.
///
/// # Errors
/// No connection, no HTTP, a file that cannot be read.
pub(crate) fn send(address: &str, path: &str, body: &mut File) -> Result<Answer> {
    let begun = Instant::now();
    let length = body.metadata().doing("looking at a file to be sent")?.len();
    let mut stream = TcpStream::connect(address).doing(format!("connecting to {address}"))?;
    stream.set_read_timeout(Some(SILENCE)).doing("limiting silence")?;
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).doing(format!("asking for {path}"))?;
    std::io::copy(body, &mut stream).doing(format!("sending to {path}"))?;
    let (head, rest) = read_head(&mut stream).doing(format!("POST {path}"))?;
    Ok(Answer { begun, waited: begun.elapsed(), stream, head, rest })
}

fn read_head(stream: &mut TcpStream) -> Result<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let mut piece = [0; 4 << 10];
    loop {
        let read = stream.read(&mut piece).doing("reading the head")?;
        bytes.extend_from_slice(&piece[..read]);
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let rest = bytes.split_off(end + 4);
            return Ok((String::from_utf8_lossy(&bytes).into_owned(), rest));
        }
        if read == 0 || bytes.len() > LONGEST_HEAD {
            return Err(Error::new(format!("{} bytes came and no whole head", bytes.len())));
        }
    }
}

impl Answer {
    /// The three digits of its status, where it is HTTP.
    pub(crate) fn status(&self) -> Option<&str> {
        self.head.strip_prefix("HTTP/1.1 ")?.get(..3)
    }

    /// A header's value.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// The whole of a small body.
    ///
    /// # Errors
    /// As [`Answer::drain`].
    pub(crate) fn text(self) -> Result<String> {
        let mut body = Vec::new();
        self.drain(Pace::Fast, &mut |data| body.extend_from_slice(data))?;
        String::from_utf8(body).doing("reading an answer's text")
    }

    /// Takes the body to its end and hands it on as it comes.
    ///
    /// # Errors
    /// A body that breaks off, or is coded in a way that was not asked for.
    pub(crate) fn drain(mut self, pace: Pace, sink: &mut dyn FnMut(&[u8])) -> Result<Drained> {
        let mut body = self.body()?;
        let mut first = None;
        let mut bytes = 0;
        let begun = self.begun;
        let mut count = |data: &[u8]| {
            first.get_or_insert_with(|| begun.elapsed());
            bytes += data.len() as u64;
            sink(data);
        };
        body.feed(&std::mem::take(&mut self.rest), &mut count)?;
        let mut piece = vec![0; PIECE];
        let (taking, mut taken) = (Instant::now(), 0);
        while !body.is_done() {
            let read = self.stream.read(&mut piece).doing("reading a body")?;
            if read == 0 {
                return Err(Error::new(format!("the body broke off after {bytes} bytes")));
            }
            body.feed(&piece[..read], &mut count)?;
            taken += read as u64;
            pace.keep(taking, taken);
        }
        let whole = begun.elapsed();
        Ok(Drained { bytes, first_byte: first.unwrap_or(whole), whole })
    }

    /// Takes so many bytes, framing and all, and hangs up.
    ///
    /// # Errors
    /// A body that ends before.
    pub(crate) fn leave_after(mut self, bytes: u64) -> Result<()> {
        let mut taken = self.rest.len() as u64;
        let mut piece = vec![0; PIECE];
        while taken < bytes {
            let read = self.stream.read(&mut piece).doing("reading a body")?;
            if read == 0 {
                return Err(Error::new(format!("the body ended after {taken} bytes")));
            }
            taken += read as u64;
        }
        Ok(())
    }

    fn body(&self) -> Result<Body> {
        if let Some(coding) = self.header("content-encoding") {
            return Err(Error::new(format!("the body is coded as {coding}, unasked")));
        }
        match (self.header("transfer-encoding"), self.header("content-length")) {
            _ if self.status() == Some("204") => Ok(Body::Length(0)),
            (Some(coding), _) if coding.eq_ignore_ascii_case("chunked") => {
                Ok(Body::Chunked(ChunkDecoder::new()))
            }
            (None, Some(length)) => Ok(Body::Length(length.parse().doing("Content-Length")?)),
            (coding, _) => {
                Err(Error::new(format!("no way to tell the body's end from {coding:?}")))
            }
        }
    }
}

impl Body {
    fn feed(&mut self, bytes: &[u8], sink: &mut dyn FnMut(&[u8])) -> Result<()> {
        match self {
            Self::Chunked(decoder) => decoder.feed(bytes, sink),
            Self::Length(left) => {
                let after = left.checked_sub(bytes.len() as u64);
                *left = after.ok_or_else(|| Error::new("the body is longer than it says"))?;
                sink(bytes);
                Ok(())
            }
        }
    }

    fn is_done(&self) -> bool {
        match self {
            Self::Chunked(decoder) => decoder.is_done(),
            Self::Length(left) => *left == 0,
        }
    }
}

impl Pace {
    /// Sleeps as long as the reader is ahead of its speed.
    fn keep(self, since: Instant, taken: u64) {
        if let Self::Held(speed) = self {
            let micros = taken.saturating_mul(1_000_000) / u64::from(speed.max(1));
            let due = Duration::from_micros(micros);
            std::thread::sleep(due.saturating_sub(since.elapsed()));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// A server that says this to whoever comes, once.
    fn server(says: &'static [u8]) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 1024];
            let _ = stream.read(&mut request).unwrap();
            stream.write_all(says).unwrap();
        });
        address
    }

    #[test]
    fn a_body_is_read_by_its_length() {
        let address = server(b"HTTP/1.1 200 OK\r\nX-Run-Id: 7\r\ncontent-length: 5\r\n\r\nhello");
        let answer = get(&address, "/").unwrap();
        assert_eq!(answer.header("x-run-id"), Some("7"));
        assert_eq!(answer.text().unwrap(), "hello");
    }

    #[test]
    fn a_chunked_body_that_breaks_off_is_an_error() {
        let address =
            server(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
        let error = get(&address, "/").unwrap().text().unwrap_err();
        assert_eq!(error.to_string(), "the body broke off after 5 bytes");
    }

    #[test]
    fn another_status_is_an_error_with_the_servers_words() {
        let address = server(b"HTTP/1.1 404 Not Found\r\ncontent-length: 4\r\n\r\ngone");
        let error = get(&address, "/x").unwrap_err();
        assert_eq!(error.to_string(), "GET /x was answered 404: gone");
    }
}
