//! Content negotiation (RFC 9110, 12): which format and which coding a client wants, and whether it
//! can tell a broken-off answer from a whole one.

use actix_web::HttpRequest;
use actix_web::http::Version;
use actix_web::http::header::{ACCEPT, ACCEPT_ENCODING, HeaderName, VIA};
use mime::Mime;

use crate::delivery::Coding;
use crate::error::{Error, Result};
use crate::formats::Format;

/// The name under which NDJSON also goes.
const JSONL: &str = "application/jsonl";

/// A format and the media type to send it under.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chosen {
    /// The format.
    pub format: Format,
    /// The media type, with its parameters.
    pub media_type: &'static str,
}

/// What the client's `Accept` allows; the default for `*/*`, for nothing, and for a browser.
///
/// # Errors
/// [`Error::NotAcceptable`] with the types on offer.
pub fn format(request: &HttpRequest) -> Result<Chosen> {
    let accept = joined(request, ACCEPT);
    if accept.trim().is_empty() {
        return Ok(chosen(Format::Ndjson));
    }
    choose(&accept).ok_or_else(|| {
        let offered: Vec<_> = offers().map(|offer| offer.media_type).collect();
        Error::NotAcceptable(format!(
            "no format here suits Accept: {accept}; there are {}; the parameter format chooses one \
             too",
            offered.join(", ")
        ))
    })
}

/// The media type of a format that was asked for by name, in the client's preferred spelling.
pub fn media_type(format: Format, request: &HttpRequest) -> &'static str {
    match choose(&joined(request, ACCEPT)) {
        Some(chosen) if chosen.format == format => chosen.media_type,
        Some(_) | None => format.media_type(),
    }
}

fn chosen(format: Format) -> Chosen {
    Chosen { format, media_type: format.media_type() }
}

fn offers() -> impl Iterator<Item = Chosen> {
    let jsonl = Chosen { format: Format::Ndjson, media_type: JSONL };
    Format::ALL.into_iter().map(chosen).chain([jsonl])
}

/// The offer with the highest quality; of equal ones the one named most exactly, then the one named
/// first.
fn choose(accept: &str) -> Option<Chosen> {
    let ranges: Vec<(Mime, f32)> = accept.split(',').filter_map(range).collect();
    let mut best: Option<(f32, u8, usize, Chosen)> = None;
    for offer in offers() {
        let Some((quality, exactness, place)) = rank(&ranges, offer.media_type) else { continue };
        let better = best.as_ref().is_none_or(|(q, e, p, _)| {
            quality > *q
                || (quality.total_cmp(q).is_eq()
                    && (exactness > *e || (exactness == *e && exactness > 0 && place < *p)))
        });
        if quality > 0.0 && better {
            best = Some((quality, exactness, place, offer));
        }
    }
    best.map(|(_, _, _, offer)| offer)
}

fn range(text: &str) -> Option<(Mime, f32)> {
    let range: Mime = text.trim().parse().ok()?;
    let quality = match range.get_param("q") {
        None => 1.0,
        Some(quality) => quality.as_str().parse().ok()?,
    };
    Some((range, quality))
}

/// The quality that the most exact matching range gives an offer, how exact it is, and where it
/// stands.
fn rank(ranges: &[(Mime, f32)], offer: &str) -> Option<(f32, u8, usize)> {
    let offer: Mime = offer.parse().ok()?;
    let matches = ranges.iter().enumerate().filter_map(|(place, (range, quality))| {
        let exactness = match (range.type_(), range.subtype()) {
            (mime::STAR, mime::STAR) => 0,
            (kind, mime::STAR) if kind == offer.type_() => 1,
            (kind, subtype) if kind == offer.type_() && subtype == offer.subtype() => 2,
            _ => return None,
        };
        Some((*quality, exactness, place))
    });
    matches.max_by_key(|(_, exactness, place)| (*exactness, std::cmp::Reverse(*place)))
}

/// Whether whoever reads the answer knows its end from a break-off: all the way to him it goes in
/// chunks, which HTTP/1.0 does not have. Proxies that follow RFC 9110, 7.6.3, say in `Via` which
/// version each of them received. The header may be made up: all it can do is have the answer built
/// first.
pub fn sees_a_break_off(request: &HttpRequest) -> bool {
    let via = joined(request, VIA);
    request.version() >= Version::HTTP_11 && !via.split(',').any(received_without_chunks)
}

/// Whether an element of `Via`, such as `1.0 proxy` or `HTTP/1.0 proxy`, is of such a version.
fn received_without_chunks(hop: &str) -> bool {
    let received = hop.split_whitespace().next().unwrap_or_default();
    let version = match received.split_once('/') {
        None => received,
        Some((name, version)) if name.eq_ignore_ascii_case("HTTP") => version,
        Some(_) => return false,
    };
    matches!(version, "1.0" | "0.9")
}

/// The coding that the client likes best; of equal ones the better one.
pub fn coding(request: &HttpRequest) -> Coding {
    let accepted = joined(request, ACCEPT_ENCODING);
    let quality = |wanted: &str| {
        let of = |name: &str| accepted.split(',').find_map(|item| quality_of(item, name));
        of(wanted).or_else(|| of("*")).unwrap_or(0.0)
    };
    // RFC 9110, 8.4.1.3: x-gzip is gzip.
    let gzip = quality("gzip").max(quality("x-gzip"));
    let offers = [(Coding::Zstd, quality("zstd")), (Coding::Gzip, gzip)];
    let best = offers
        .into_iter()
        .fold((Coding::Identity, 0.0), |best, offer| if offer.1 > best.1 { offer } else { best });
    best.0
}

fn quality_of(item: &str, name: &str) -> Option<f32> {
    let mut parts = item.split(';').map(str::trim);
    if !parts.next()?.eq_ignore_ascii_case(name) {
        return None;
    }
    let quality =
        parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
    Some(quality.map_or(1.0, |quality| quality.parse().unwrap_or(0.0)))
}

/// A header's values in one list.
fn joined(request: &HttpRequest, name: HeaderName) -> String {
    let values: Vec<_> =
        request.headers().get_all(name).filter_map(|value| value.to_str().ok()).collect();
    values.join(",")
}

#[cfg(test)]
pub(super) fn received_without_chunks_for_tests(hop: &str) -> bool {
    received_without_chunks(hop)
}

#[cfg(test)]
pub(super) fn choose_for_tests(accept: &str) -> Option<Chosen> {
    choose(accept)
}
