//! A text as UTF-8, without byte order mark.

use std::io::{self, Read, Seek, SeekFrom};

use encoding_rs::{Decoder, DecoderResult, UTF_8};

use super::encoding::Encoding;
use crate::sheets::at::At;

/// How many bytes are decoded together.
const WINDOW: usize = 64 * 1024;

/// Reads a text in the encoding that was found for it.
pub(in crate::sheets) struct Decoded {
    input: At,
    /// Nothing where the text is UTF-8 as it is.
    decoder: Option<Decoder>,
    bytes: Vec<u8>,
    /// What was decoded, and how much of it is taken.
    text: String,
    taken: usize,
    ended: bool,
}

impl Decoded {
    /// The text behind its byte order mark.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(in crate::sheets) fn new(at: &At, encoding: Encoding) -> io::Result<Self> {
        let mut input = at.clone();
        input.seek(SeekFrom::Start(encoding.mark))?;
        let decoder =
            (encoding.by != UTF_8).then(|| encoding.by.new_decoder_without_bom_handling());
        Ok(Self {
            input,
            decoder,
            bytes: vec![0; WINDOW],
            text: String::new(),
            taken: 0,
            ended: false,
        })
    }

    /// Decodes the next piece; there is none when the text stays empty.
    fn refill(&mut self, decoder: &mut Decoder) -> io::Result<()> {
        self.text.clear();
        self.taken = 0;
        while self.text.is_empty() && !self.ended {
            let filled = self.input.read(&mut self.bytes)?;
            self.ended = filled == 0;
            // What a piece becomes is at most three times as long.
            self.text.reserve(3 * WINDOW);
            let bytes = &self.bytes[..filled];
            let (result, _) =
                decoder.decode_to_string_without_replacement(bytes, &mut self.text, self.ended);
            if result != DecoderResult::InputEmpty {
                // It was read to its end before, and every byte meant something.
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
        Ok(())
    }
}

impl Read for Decoded {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let Some(mut decoder) = self.decoder.take() else { return self.input.read(room) };
        let refilled =
            if self.taken == self.text.len() { self.refill(&mut decoder) } else { Ok(()) };
        self.decoder = Some(decoder);
        refilled?;
        let rest = &self.text.as_bytes()[self.taken..];
        let taken = rest.len().min(room.len());
        room[..taken].copy_from_slice(&rest[..taken]);
        self.taken += taken;
        Ok(taken)
    }
}
