//! Finds the encoding of a text: what its byte order mark says, else UTF-8 if all of it is, else
//! CP949 if all of it is. Nothing is guessed from how likely letters are.

use std::io::Read;

use encoding_rs::{DecoderResult, EUC_KR, UTF_8, UTF_16BE, UTF_16LE};

use crate::error::{Error, Result};
use crate::runs::Stop;
use crate::sheets::at::At;
use crate::sheets::fault::{self, fault};
use crate::sheets::sniff::reading;

/// How many bytes are looked at together.
const WINDOW: usize = 256 * 1024;
/// So many Hangul syllables in UTF-8 ahead of the first bad byte say that a text was meant to be
/// UTF-8: text in CP949 fails sooner.
const MEANT: usize = 2;

/// How a text is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sheets) struct Encoding {
    /// What it is called.
    pub(in crate::sheets) name: &'static str,
    /// What decodes it.
    pub(super) by: &'static encoding_rs::Encoding,
    /// Bytes of the byte order mark.
    pub(super) mark: u64,
}

/// The encoding that the byte order mark of a text names.
fn marked(at: &At) -> Result<Option<Encoding>> {
    let mut head = [0; 3];
    let filled = at.head(&mut head).map_err(reading)?;
    Ok(match &head[..filled] {
        [0xEF, 0xBB, 0xBF] => Some(Encoding { name: "UTF-8", by: UTF_8, mark: 3 }),
        [0xFF, 0xFE, ..] => Some(Encoding { name: "UTF-16LE", by: UTF_16LE, mark: 2 }),
        [0xFE, 0xFF, ..] => Some(Encoding { name: "UTF-16BE", by: UTF_16BE, mark: 2 }),
        _ => None,
    })
}

/// Finds the encoding of a text; CP949 is tried where it `may_be_korean`.
///
/// # Errors
/// When some byte means nothing in any encoding tried; names the line it is in.
pub(in crate::sheets) fn find(at: &At, may_be_korean: bool, stop: &Stop) -> Result<Encoding> {
    let marked = marked(at)?;
    let first = marked.unwrap_or(Encoding { name: "UTF-8", by: UTF_8, mark: 0 });
    let Some(bad) = first_bad(at, first, stop)? else { return Ok(first) };
    if marked.is_some() {
        return Err(broken(&format!(
            "begins with the mark of {} and has bytes in line {} that are none",
            first.name, bad.line
        )));
    }
    if bad.syllables >= MEANT || !may_be_korean {
        return Err(broken(&format!("is UTF-8 up to line {}, and there it is not", bad.line)));
    }
    let korean = Encoding { name: "CP949", by: EUC_KR, mark: 0 };
    match first_bad(at, korean, stop)? {
        None => Ok(korean),
        Some(also) => Err(broken(&format!(
            "is neither UTF-8 (line {} is not) nor CP949 (line {} is not)",
            bad.line, also.line
        ))),
    }
}

fn broken(how: &str) -> Error {
    fault(
        fault::ENCODING,
        format!("the text {how}; save it again as UTF-8 (in Excel: \"CSV UTF-8\") and send that"),
    )
}

/// Where a text stops making sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Bad {
    line: u64,
    /// Hangul syllables ahead of it, up to [`MEANT`].
    syllables: usize,
}

/// The first bytes that mean nothing in an encoding.
fn first_bad(at: &At, encoding: Encoding, stop: &Stop) -> Result<Option<Bad>> {
    let mut input = at.clone();
    std::io::Seek::seek(&mut input, std::io::SeekFrom::Start(encoding.mark)).map_err(reading)?;
    let mut decoder = encoding.by.new_decoder_without_bom_handling();
    let mut text = String::with_capacity(3 * WINDOW);
    let mut bytes = vec![0; WINDOW];
    let mut seen = Bad { line: 1, syllables: 0 };
    loop {
        stop.check()?;
        if input.is_at_end_of_head() {
            return Ok(None);
        }
        let filled = input.read(&mut bytes).map_err(reading)?;
        text.clear();
        let (result, _) =
            decoder.decode_to_string_without_replacement(&bytes[..filled], &mut text, filled == 0);
        look(&text, &mut seen);
        match result {
            DecoderResult::Malformed(..) => return Ok(Some(seen)),
            DecoderResult::InputEmpty if filled == 0 => return Ok(None),
            DecoderResult::InputEmpty => {}
            // Three times the input has room for whatever it becomes.
            DecoderResult::OutputFull => {
                return Err(Error::internal("decoding a text", "no room"));
            }
        }
    }
}

fn look(text: &str, seen: &mut Bad) {
    let line_feeds = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    let ends = match line_feeds {
        0 => memchr::memchr_iter(b'\r', text.as_bytes()).count(),
        feeds => feeds,
    };
    seen.line += ends as u64;
    if seen.syllables < MEANT && !text.is_ascii() {
        let syllables = text.chars().filter(|c| matches!(c, '가'..='힣'));
        seen.syllables += syllables.take(MEANT).count();
    }
}
