//! Room for temporary files: how much of it is taken, and who waits for more.

use std::sync::{MutexGuard, PoisonError};

use super::{LOOK, Shared};
use crate::error::{Error, Result};
use crate::runs::Stop;

/// Whose bytes they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// Any file's, up to the whole cap.
    Any,
    /// A bundle's of documents: half of the cap at most, so that bundles which wait for slow clients leave
    /// room for everything else.
    Bundles,
}

/// Bytes of finished and unfinished files.
#[derive(Debug, Default)]
pub(super) struct Used {
    all: Taken,
    /// Of these, the bundles'.
    bundles: Taken,
}

#[derive(Debug, Default)]
struct Taken {
    bytes: u64,
    /// Of these, the bytes of builds that wait for room.
    waiting: u64,
}

impl Used {
    /// All of them.
    pub(super) fn bytes(&self) -> u64 {
        self.all.bytes
    }

    fn of(&mut self, share: Share) -> &mut Taken {
        match share {
            Share::Any => &mut self.all,
            Share::Bundles => &mut self.bundles,
        }
    }
}

impl Share {
    /// How much of a cap it may take.
    const fn of(self, cap: u64) -> u64 {
        match self {
            Self::Any => cap,
            Self::Bundles => cap / 2,
        }
    }

    /// The shares that a file of this one counts in.
    const fn counts_in(self) -> &'static [Self] {
        match self {
            Self::Any => &[Self::Any],
            Self::Bundles => &[Self::Any, Self::Bundles],
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Any => "for all temporary files together",
            Self::Bundles => "for all bundles together, half of spool_cap",
        }
    }
}

impl Shared {
    pub(super) fn lock_used(&self) -> MutexGuard<'_, Used> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `more` bytes fit beside the others; `own` of those in use are the waiter's.
    ///
    /// Where all that is in use belongs to builds that wait, none of them would ever go on, so this
    /// one is given up for the others; `instead` is what its client can do.
    pub(super) fn reserve(
        &self,
        more: u64,
        own: u64,
        share: Share,
        stop: &Stop,
        instead: &str,
    ) -> Result<()> {
        let mut used = self.lock_used();
        while let Some(full) = self.full(&mut used, more, share) {
            stop.check()?;
            let taken = used.of(full);
            if taken.bytes == taken.waiting + own {
                return Err(self.refusal(own + more, full, instead));
            }
            for share in share.counts_in() {
                used.of(*share).waiting += own;
            }
            used = self.freed.wait_timeout(used, LOOK).unwrap_or_else(PoisonError::into_inner).0;
            for share in share.counts_in() {
                used.of(*share).waiting -= own;
            }
        }
        take(&mut used, more, share);
        Ok(())
    }

    /// Takes `more` bytes beside the others, of which `own` are the taker's.
    pub(super) fn reserve_at_once(&self, more: u64, own: u64, instead: &str) -> Result<()> {
        let mut used = self.lock_used();
        if let Some(full) = self.full(&mut used, more, Share::Any) {
            return Err(self.refusal(own + more, full, instead));
        }
        take(&mut used, more, Share::Any);
        Ok(())
    }

    pub(super) fn free(&self, bytes: u64, share: Share) {
        let mut used = self.lock_used();
        for share in share.counts_in() {
            used.of(*share).bytes -= bytes;
        }
        drop(used);
        self.freed.notify_all();
    }

    /// The share that has no room for so many bytes more.
    fn full(&self, used: &mut Used, more: u64, share: Share) -> Option<Share> {
        let mut shares = share.counts_in().iter().copied();
        shares.find(|share| used.of(*share).bytes + more > share.of(self.cap))
    }

    /// The refusal of a file of `size` bytes that finds no room.
    fn refusal(&self, size: u64, full: Share, instead: &str) -> Error {
        let cap = full.of(self.cap);
        let limit = match full {
            Share::Any => format!("spool_cap, {cap} bytes {}", full.words()),
            Share::Bundles => format!("{cap} bytes {}", full.words()),
        };
        let why = if size > cap {
            format!("the file is larger than {limit}; nothing was kept")
        } else {
            format!("other unfinished files fill {limit}; nothing was kept; try again later")
        };
        Error::SpoolFull(format!(
            "{why}; {instead}, or have whoever runs the server set a larger spool_cap"
        ))
    }
}

fn take(used: &mut Used, more: u64, share: Share) {
    for share in share.counts_in() {
        used.of(*share).bytes += more;
    }
}
