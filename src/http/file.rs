//! A finished file as an answer: length, entity tag, ranges, conditions.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;
use std::time::Duration;

use actix_web::body::SizedStream;
use actix_web::http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LOCATION, CONTENT_RANGE,
    CONTENT_TYPE, ETAG, HeaderName, HeaderValue, IF_MATCH, IF_NONE_MATCH, IF_RANGE, RANGE, VARY,
};
use actix_web::http::{Method, StatusCode};
use actix_web::{HttpRequest, HttpResponse};
use async_stream::try_stream;
use bytes::Bytes;
use futures::Stream;
use tokio::task::spawn_blocking;
use uuid::Uuid;

use super::disposition::attachment;
use super::problem::Refusal;
use super::range::{Wanted, names, range};
use crate::error::{Error, Result};
use crate::runs::Runs;
use crate::spool::Kept;

/// Bytes read at once.
const BLOCK: usize = 256 << 10;

/// A file that was just made for this request: where it stays for a while, and how long it took.
///
/// # Errors
/// As [`answer`].
pub fn prepared(
    request: &HttpRequest,
    run: Uuid,
    kept: Arc<Kept>,
    waits: [Duration; 2],
    runs: &Runs,
) -> Result<HttpResponse, Refusal> {
    let mut response = answer(request, run, kept, runs)?;
    let headers = [
        (CONTENT_LOCATION, format!("/api/v1/runs/{run}/file")),
        (VARY, "Accept, Accept-Encoding".into()),
        (HeaderName::from_static("server-timing"), timing(waits)),
    ];
    for (name, value) in headers {
        if let Ok(value) = HeaderValue::from_str(&value) {
            response.headers_mut().insert(name, value);
        }
    }
    Ok(response)
}

/// Milliseconds until the permit and from there to the first batch (W3C Server Timing).
pub fn timing([queue, first]: [Duration; 2]) -> String {
    let millis = |time: Duration| time.as_secs_f64() * 1_000.0;
    format!("queue;dur={:.1}, first;dur={:.1}", millis(queue), millis(first))
}

/// The file of a run, or the part of it that the request asks for. Every answer names the run.
///
/// # Errors
/// [`Error::PreconditionFailed`], [`Error::RangeNotSatisfiable`], [`Error::Internal`].
pub fn answer(
    request: &HttpRequest,
    run: Uuid,
    kept: Arc<Kept>,
    runs: &Runs,
) -> Result<HttpResponse, Refusal> {
    let refused = |error| Refusal { error, run: Some(run) };
    let etag = format!("\"{}\"", kept.sha256());
    let header = |name| request.headers().get(name).and_then(|value| value.to_str().ok());
    if header(IF_MATCH).is_some_and(|list| !names(list, &etag, false)) {
        let detail = "the file is not the one that If-Match names; fetch it from the start";
        return Err(refused(Error::PreconditionFailed(detail.into())));
    }
    if header(IF_NONE_MATCH).is_some_and(|list| names(list, &etag, true)) {
        return Ok(not_modified(run, etag));
    }
    let asked = header(RANGE).filter(|_| header(IF_RANGE).is_none_or(|tag| tag == etag));
    let asked = asked.filter(|_| request.method() == Method::GET);
    let size = kept.size();
    let (status, first, length) = match range(asked, size) {
        Wanted::Whole => (StatusCode::OK, 0, size),
        Wanted::Part(first, last) => (StatusCode::PARTIAL_CONTENT, first, last - first + 1),
        Wanted::Beyond => return Err(refused(Error::RangeNotSatisfiable(size))),
    };
    let mut response = HttpResponse::build(status);
    response
        .insert_header((CONTENT_TYPE, kept.told().media_type.as_str()))
        .insert_header((CONTENT_DISPOSITION, attachment(&kept.told().name)))
        .insert_header((CACHE_CONTROL, "no-store"))
        .insert_header((ACCEPT_RANGES, "bytes"))
        .insert_header((ETAG, etag))
        .insert_header(("X-Run-Id", run.to_string()));
    if let Some(digest) = repr_digest(kept.sha256()) {
        response.insert_header(("Repr-Digest", digest));
    }
    if status == StatusCode::PARTIAL_CONTENT {
        let range = format!("bytes {first}-{}/{size}", first + length - 1);
        response.insert_header((CONTENT_RANGE, range));
    }
    let file = kept.open().map_err(|error| {
        // The run itself went well, so nobody else logs it.
        tracing::error!(%run, %error, "a finished file cannot be read");
        refused(error)
    })?;
    if request.method() == Method::HEAD {
        // Read by nobody, so not counted as sent.
        let nothing = futures::stream::empty::<std::result::Result<Bytes, Refusal>>();
        return Ok(response.body(SizedStream::new(length, nothing)));
    }
    let sent = Sent { run, runs: runs.clone(), bytes: 0 };
    Ok(response.body(SizedStream::new(length, stream(file, first, length, kept, sent))))
}

/// What the client has is what there is.
fn not_modified(run: Uuid, etag: String) -> HttpResponse {
    HttpResponse::NotModified()
        .insert_header((ETAG, etag))
        .insert_header((CACHE_CONTROL, "no-store"))
        .insert_header(("X-Run-Id", run.to_string()))
        .finish()
}

/// RFC 9530: a digest of the whole file, whatever part is sent.
fn repr_digest(sha256: &str) -> Option<String> {
    use base64::Engine;
    let (pairs, _) = sha256.as_bytes().as_chunks::<2>();
    let byte = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Vec<u8> = pairs.iter().map(byte).collect::<Option<_>>()?;
    Some(format!("sha-256=:{}:", base64::engine::general_purpose::STANDARD.encode(bytes)))
}

/// Counts what was handed over, and says so when it is over, in whatever way.
struct Sent {
    run: Uuid,
    runs: Runs,
    bytes: u64,
}

impl Drop for Sent {
    fn drop(&mut self) {
        self.runs.fetched(self.run, self.bytes);
    }
}

/// A file that nobody else has, from where it stands.
pub fn whole(
    mut file: File,
    length: u64,
) -> impl Stream<Item = std::result::Result<Bytes, Refusal>> {
    try_stream! {
        let mut left = length;
        while left > 0 {
            let block = usize::try_from(left).unwrap_or(BLOCK).min(BLOCK);
            let read = spawn_blocking(move || block_of(file, None, block)).await;
            let (back, bytes) = read.map_err(|source| Error::internal("reading a file", source))??;
            file = back;
            left -= bytes.len() as u64;
            yield bytes;
        }
    }
}

fn stream(
    mut file: File,
    first: u64,
    length: u64,
    kept: Arc<Kept>,
    sent: Sent,
) -> impl Stream<Item = std::result::Result<Bytes, Refusal>> {
    try_stream! {
        // Held to the end, so that the file stays for as long as it is read.
        let _kept = kept;
        // Moved as a whole, for its drop.
        let mut sent = sent;
        let mut left = length;
        let mut seek = Some(first);
        while left > 0 {
            let block = usize::try_from(left).unwrap_or(BLOCK).min(BLOCK);
            let at = seek.take();
            let read = spawn_blocking(move || block_of(file, at, block)).await;
            let (back, bytes) = read.map_err(|source| Error::internal("reading a file", source))??;
            file = back;
            left -= bytes.len() as u64;
            sent.bytes += bytes.len() as u64;
            yield bytes;
        }
    }
}

fn block_of(mut file: File, at: Option<u64>, length: usize) -> Result<(File, Bytes)> {
    let failed = |source: std::io::Error| Error::internal("reading a finished file", source);
    if let Some(at) = at {
        file.seek(SeekFrom::Start(at)).map_err(failed)?;
    }
    let mut bytes = vec![0; length];
    // A file that became shorter is a failure, not an end.
    file.read_exact(&mut bytes).map_err(failed)?;
    Ok((file, bytes.into()))
}
