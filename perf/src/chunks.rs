//! Chunked transfer coding (RFC 9112, 7.1), taken off as the bytes come.

use crate::error::{Error, Result};

/// No chunk of a sane server is longer: 1 TiB.
const LONGEST: u64 = 1 << 40;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Size {
        size: u64,
        digits: bool,
    },
    /// An extension, until the line ends.
    Extension {
        size: u64,
    },
    SizeEnd {
        size: u64,
    },
    Data {
        left: u64,
    },
    DataReturn,
    DataEnd,
    /// After the last chunk: trailers, until an empty line.
    Trailer {
        empty: bool,
    },
    Done,
}

/// Takes the coding off a body that comes in pieces of any size. Holds no byte of it.
#[derive(Debug)]
pub(crate) struct ChunkDecoder(State);

impl ChunkDecoder {
    pub(crate) const fn new() -> Self {
        Self(State::Size { size: 0, digits: false })
    }

    /// Whether the last chunk and its trailers have come.
    pub(crate) fn is_done(&self) -> bool {
        self.0 == State::Done
    }

    /// Takes the next piece and hands on what it says.
    ///
    /// # Errors
    /// Bytes that are not of this coding, or come after its end.
    pub(crate) fn feed(&mut self, mut bytes: &[u8], sink: &mut dyn FnMut(&[u8])) -> Result<()> {
        while let Some((&first, rest)) = bytes.split_first() {
            if let State::Data { left } = self.0 {
                let most = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
                let (data, rest) = bytes.split_at(most);
                sink(data);
                let left = left - most as u64;
                self.0 = if left == 0 { State::DataReturn } else { State::Data { left } };
                bytes = rest;
            } else {
                self.0 = self.0.step(first)?;
                bytes = rest;
            }
        }
        Ok(())
    }
}

impl State {
    fn step(self, byte: u8) -> Result<Self> {
        Ok(match (self, byte) {
            (Self::Size { size, .. }, digit) if digit.is_ascii_hexdigit() => longer(size, digit)?,
            (Self::Size { size, digits: true } | Self::Extension { size }, b'\r') => {
                Self::SizeEnd { size }
            }
            (Self::Size { size, digits: true }, b';' | b' ' | b'\t')
            | (Self::Extension { size }, _) => Self::Extension { size },
            (Self::SizeEnd { size: 0 }, b'\n') => Self::Trailer { empty: true },
            (Self::SizeEnd { size }, b'\n') => Self::Data { left: size },
            (Self::DataReturn, b'\r') => Self::DataEnd,
            (Self::DataEnd, b'\n') => Self::Size { size: 0, digits: false },
            (Self::Trailer { empty: true }, b'\n') => Self::Done,
            (Self::Trailer { .. }, b'\n') => Self::Trailer { empty: true },
            (Self::Trailer { empty }, b'\r') => Self::Trailer { empty },
            (Self::Trailer { .. }, _) => Self::Trailer { empty: false },
            (state, byte) => {
                let byte = byte.escape_ascii();
                return Err(Error::new(format!("a chunked body has '{byte}' at {state:?}")));
            }
        })
    }
}

fn longer(size: u64, digit: u8) -> Result<State> {
    let digit = char::from(digit).to_digit(16).map_or(0, u64::from);
    let size = size * 16 + digit;
    if size > LONGEST {
        return Err(Error::new(format!("a chunk says that it is longer than {LONGEST} bytes")));
    }
    Ok(State::Size { size, digits: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(coded: &[u8], piece: usize) -> Result<(Vec<u8>, bool)> {
        let mut decoder = ChunkDecoder::new();
        let mut body = Vec::new();
        for piece in coded.chunks(piece) {
            decoder.feed(piece, &mut |data| body.extend_from_slice(data))?;
        }
        Ok((body, decoder.is_done()))
    }

    #[test]
    fn a_body_is_the_same_however_it_is_cut() {
        let coded = b"5\r\nhello\r\n10;x=\"y\"\r\n, wide\r\n0\r\nworld\r\n0\r\nA: b\r\n\r\n";
        for piece in 1..=coded.len() {
            let (body, done) = decode(coded, piece).unwrap();
            assert_eq!(body, b"hello, wide\r\n0\r\nworld");
            assert!(done);
        }
    }

    #[test]
    fn a_body_without_its_last_chunk_is_not_done() {
        for coded in [&b"5\r\nhello\r\n"[..], b"5\r\nhel", b"5\r\nhello\r\n0\r\n"] {
            assert!(!decode(coded, 3).unwrap().1);
        }
    }

    #[test]
    fn what_is_no_chunk_is_an_error() {
        for coded in
            [&b"\r\n"[..], b"xyz\r\n", b"2\r\nabc\r\n", b"fffffffffffffff\r\n", b"0\r\n\r\nx"]
        {
            assert!(decode(coded, 2).is_err(), "{}", coded.escape_ascii());
        }
    }
}
