//! Content codings, flushed with every batch so that no row waits in a compressor.

use std::io::Write;

use bytes::Bytes;

use crate::error::{Error, Result};

/// A content coding (RFC 9110, 8.4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// The bytes as they are.
    Identity,
    /// RFC 1952.
    Gzip,
    /// RFC 8878.
    Zstd,
}

impl Coding {
    /// The token of `Content-Encoding`; none for the identity.
    #[must_use]
    pub const fn token(self) -> Option<&'static str> {
        match self {
            Self::Identity => None,
            Self::Gzip => Some("gzip"),
            Self::Zstd => Some("zstd"),
        }
    }
}

/// The fastest level of each: a stream is made once and read once.
const GZIP_LEVEL: u32 = 1;
const ZSTD_LEVEL: i32 = 1;

/// One stream being coded.
pub(super) enum Coder {
    Identity,
    Gzip(flate2::write::GzEncoder<Vec<u8>>),
    Zstd(zstd::stream::write::Encoder<'static, Vec<u8>>),
}

impl Coder {
    pub(super) fn new(coding: Coding) -> Result<Self> {
        Ok(match coding {
            Coding::Identity => Self::Identity,
            Coding::Gzip => {
                let level = flate2::Compression::new(GZIP_LEVEL);
                Self::Gzip(flate2::write::GzEncoder::new(Vec::new(), level))
            }
            Coding::Zstd => Self::Zstd(
                zstd::stream::write::Encoder::new(Vec::new(), ZSTD_LEVEL).map_err(failed)?,
            ),
        })
    }

    /// Codes what is in `plain` and leaves it empty; what comes back can be decoded to its end.
    pub(super) fn flush(&mut self, plain: &mut Vec<u8>) -> Result<Bytes> {
        match self {
            Self::Identity => {
                // A batch is about as large as the one before it.
                let next = Vec::with_capacity(plain.len() + plain.len() / 8);
                Ok(std::mem::replace(plain, next).into())
            }
            Self::Gzip(encoder) => {
                encoder.write_all(plain).and_then(|()| encoder.flush()).map_err(failed)?;
                plain.clear();
                Ok(std::mem::take(encoder.get_mut()).into())
            }
            Self::Zstd(encoder) => {
                encoder.write_all(plain).and_then(|()| encoder.flush()).map_err(failed)?;
                plain.clear();
                Ok(std::mem::take(encoder.get_mut()).into())
            }
        }
    }

    /// What a decoder needs to see the end.
    pub(super) fn finish(self) -> Result<Bytes> {
        match self {
            Self::Identity => Ok(Bytes::new()),
            Self::Gzip(encoder) => encoder.finish().map(Bytes::from).map_err(failed),
            Self::Zstd(encoder) => encoder.finish().map(Bytes::from).map_err(failed),
        }
    }
}

fn failed(source: std::io::Error) -> Error {
    Error::internal("compressing an answer", source)
}
