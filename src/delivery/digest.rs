//! The digest of an answer, taken on a thread of its own while a core is free for it.
//!
//! With the processor's own instructions a digest takes about as long as a seventh of everything else that
//! is done for a row of text. Where nobody else would use the core, it is done beside the rest.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use crate::error::{Error, Result};
use crate::rows::hex;

/// Chunks after which a thread is worth its beginning.
const SHORT: u32 = 4;
/// Chunks that may wait for the thread.
const AHEAD: usize = 2;

/// SHA-256 of the chunks given so far, in their order.
pub(super) struct Digest {
    place: Place,
    chunks: u32,
}

enum Place {
    Here(Sha256),
    Beside { chunks: SyncSender<Bytes>, thread: JoinHandle<Sha256> },
}

impl Digest {
    pub(super) fn new() -> Self {
        Self { place: Place::Here(Sha256::new()), chunks: 0 }
    }

    /// Takes bytes that are not kept.
    ///
    /// # Errors
    /// [`Error::Internal`] where the thread is gone.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<()> {
        match &mut self.place {
            Place::Here(digest) => {
                digest.update(bytes);
                Ok(())
            }
            Place::Beside { chunks, .. } => send(chunks, Bytes::copy_from_slice(bytes)),
        }
    }

    /// Takes a chunk that others hold as well; from the one on that is `free` to be taken beside, on
    /// a thread.
    ///
    /// # Errors
    /// As [`Digest::take`].
    pub(super) fn share(&mut self, chunk: &Bytes, free: impl FnOnce() -> bool) -> Result<()> {
        self.chunks = self.chunks.saturating_add(1);
        if self.chunks > SHORT && matches!(self.place, Place::Here(_)) && free() {
            self.move_out();
        }
        match &mut self.place {
            Place::Here(digest) => {
                digest.update(chunk);
                Ok(())
            }
            Place::Beside { chunks, .. } => send(chunks, chunk.clone()),
        }
    }

    /// The digest of all that was taken, as lower-case hexadecimal digits.
    ///
    /// # Errors
    /// As [`Digest::take`].
    pub(super) fn finish(self) -> Result<String> {
        let digest = match self.place {
            Place::Here(digest) => digest,
            Place::Beside { chunks, thread } => {
                drop(chunks);
                thread.join().map_err(|_| gone())?
            }
        };
        Ok(hex(&digest.finalize()))
    }

    /// Goes on with a thread; where there is none to be had, goes on as before.
    fn move_out(&mut self) {
        let Place::Here(digest) = &self.place else { return };
        let mut digest = digest.clone();
        let (chunks, taken) = sync_channel::<Bytes>(AHEAD);
        let thread = Builder::new().name("digest".into()).spawn(move || {
            for chunk in taken {
                digest.update(&chunk);
            }
            digest
        });
        if let Ok(thread) = thread {
            self.place = Place::Beside { chunks, thread };
        }
    }
}

fn send(chunks: &SyncSender<Bytes>, chunk: Bytes) -> Result<()> {
    chunks.send(chunk).map_err(|_| gone())
}

fn gone() -> Error {
    Error::internal("taking a digest", "its thread is gone")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunks() -> impl Iterator<Item = Bytes> {
        (0..20_u8).map(|number| Bytes::from(vec![number; 1_000 * usize::from(number)]))
    }

    #[test]
    fn it_is_the_same_wherever_it_is_taken() {
        let mut whole = Sha256::new();
        chunks().for_each(|chunk| whole.update(&chunk));
        let whole = hex(&whole.finalize());
        for free_from in [0, 7, u8::MAX] {
            let mut digest = Digest::new();
            let mut threads = 0;
            for (number, chunk) in (0_u8..).zip(chunks()) {
                match number {
                    // Bytes that are not kept come in between.
                    13 => digest.take(&chunk).unwrap(),
                    _ => digest.share(&chunk, || number >= free_from).unwrap(),
                }
                threads += u32::from(matches!(digest.place, Place::Beside { .. }));
            }
            assert_eq!(threads > 0, free_from < u8::MAX, "{free_from}");
            assert_eq!(digest.finish().unwrap(), whole, "{free_from}");
        }
    }
}
