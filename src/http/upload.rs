//! What a client sends as a file: the body itself, or the part `file` of a form.

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;

use actix_multipart::{Field, Multipart, MultipartError};
use actix_web::error::PayloadError;
use actix_web::http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use actix_web::{HttpRequest, web};
use bytes::Bytes;
use futures::stream::poll_fn;
use futures::{Stream, StreamExt};
use tokio::task::spawn_blocking;

use crate::app::App;
use crate::config::AROUND_FILE;
use crate::error::{Error, Problem, Result};
use crate::runs::{Stop, StopOnDrop};
use crate::spool::Upload;

/// Bytes gathered before they are written.
const GATHERED: usize = 256 << 10;

/// Takes in the file of a request, as it is whole.
///
/// # Errors
/// [`Error::TooLarge`], before anything is read where the length is declared; [`Error::Malformed`]
/// for a body that was cut off and for a form without one part `file`; [`Error::Unsupported`] for a
/// body that is coded; [`Error::NoSpace`].
pub async fn receive(app: &App, request: &HttpRequest, payload: web::Payload) -> Result<Upload> {
    let limit = app.config.uploads.size;
    let kind = request.headers().get("content-type").and_then(|kind| kind.to_str().ok());
    let kind = kind.unwrap_or_default().to_ascii_lowercase();
    let coding =
        request.headers().get(CONTENT_ENCODING).map(|coding| coding.to_str().unwrap_or("?"));
    if let Some(coding) = coding.filter(|coding| !coding.eq_ignore_ascii_case("identity")) {
        return Err(Error::Unsupported(format!(
            "the body is said to be coded as {coding}; send it as it is, without Content-Encoding"
        )));
    }
    let is_form = kind.starts_with("multipart/");
    let around = if is_form { AROUND_FILE } else { 0 };
    let declared = request.headers().get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    if declared
        .and_then(|length| length.parse().ok())
        .is_some_and(|length: u64| length > limit.saturating_add(around))
    {
        return Err(too_large(limit));
    }
    if is_form && !kind.starts_with("multipart/form-data") {
        return Err(bad_form());
    }
    // Whoever leaves while the spool is full waits for no room any more.
    let stop = Stop::new();
    let _guard = StopOnDrop(stop.clone());
    let upload = app.spool.take_in(stop)?;
    if is_form {
        let body = Rc::new(RefCell::new(payload));
        let (reader, mut rest) = (chunks_of(&body), chunks_of(&body));
        let upload = of_form(Multipart::new(request.headers(), reader), upload, limit).await?;
        to_the_end(&mut rest, limit).await.map(|()| upload)
    } else {
        store(payload, upload, limit, |error| cut_body(&error)).await
    }
}

/// The chunks of a body that somebody else reads on when this reader is done.
fn chunks_of(
    body: &Rc<RefCell<web::Payload>>,
) -> impl Stream<Item = std::result::Result<Bytes, PayloadError>> + Unpin + use<> {
    let body = Rc::clone(body);
    poll_fn(move |context| Pin::new(&mut *body.borrow_mut()).poll_next(context))
}

/// Reads a body on that must come to its end too when its form has: what was cut off is not whole,
/// wherever that was.
async fn to_the_end<S>(rest: &mut S, limit: u64) -> Result<()>
where
    S: Stream<Item = std::result::Result<Bytes, PayloadError>> + Unpin,
{
    let mut size = 0;
    while let Some(chunk) = rest.next().await {
        size += chunk.map_err(|error| cut_body(&error))?.len() as u64;
        if size > AROUND_FILE {
            return Err(too_large(limit));
        }
    }
    Ok(())
}

async fn of_form(mut form: Multipart, upload: Upload, limit: u64) -> Result<Upload> {
    let mut upload = Some(upload);
    let mut taken = None;
    while let Some(field) = form.next().await {
        let field: Field = field.map_err(|error| cut_form(&error))?;
        let name = field.name().unwrap_or_default().to_owned();
        match (name.as_str(), upload.take()) {
            ("file", Some(empty)) => {
                taken = Some(store(field, empty, limit, |error| cut_form(&error)).await?);
            }
            ("file", None) => {
                return Err(malformed(
                    "doubled_part",
                    "the form has two parts \
                 \"file\"; send one file at a time",
                ));
            }
            (other, _) => {
                return Err(malformed(
                    "unknown_part",
                    &format!(
                        "the form has a part \"{other}\"; send one part, \"file\", and \
                              everything else as parameters of the address"
                    ),
                ));
            }
        }
    }
    taken.ok_or_else(|| {
        malformed("no_file", "the form has no part \"file\"; send the file under that name")
    })
}

/// Writes what comes to disk, a good amount at a time.
async fn store<S, E>(
    mut chunks: S,
    mut upload: Upload,
    limit: u64,
    cut: impl Fn(E) -> Error,
) -> Result<Upload>
where
    S: Stream<Item = std::result::Result<Bytes, E>> + Unpin,
{
    let mut gathered = Vec::with_capacity(GATHERED);
    let mut size = 0;
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(&cut)?;
        size += chunk.len() as u64;
        if size > limit {
            return Err(too_large(limit));
        }
        gathered.extend_from_slice(&chunk);
        if gathered.len() >= GATHERED {
            (upload, gathered) = write(upload, gathered).await?;
        }
    }
    write(upload, gathered).await.map(|(upload, _)| upload)
}

async fn write(mut upload: Upload, mut bytes: Vec<u8>) -> Result<(Upload, Vec<u8>)> {
    let written = spawn_blocking(move || {
        upload.add(&bytes)?;
        bytes.clear();
        Ok((upload, bytes))
    });
    written.await.map_err(|source| Error::internal("writing an upload", source))?
}

fn too_large(limit: u64) -> Error {
    Error::TooLarge(format!(
        "the file is larger than the {limit} bytes that are taken (max_upload); split it and upload \
         the parts"
    ))
}

fn cut_body(error: &PayloadError) -> Error {
    tracing::debug!(%error, "an upload ended early");
    cut_off()
}

fn cut_form(error: &MultipartError) -> Error {
    tracing::debug!(%error, "a form could not be read");
    match error {
        MultipartError::Payload(_) | MultipartError::Incomplete => cut_off(),
        _ => bad_form(),
    }
}

fn bad_form() -> Error {
    malformed(
        "bad_form",
        "the form cannot be read as multipart/form-data; send the file in a part \"file\"",
    )
}

fn cut_off() -> Error {
    malformed(
        "cut_off",
        "the upload was cut off before its end, and nothing was kept; send it again",
    )
}

fn malformed(code: &'static str, detail: &str) -> Error {
    Error::Malformed(vec![Problem {
        parameter: Some("file".into()),
        code,
        value: None,
        detail: detail.into(),
    }])
}
