//! How far a run has come, read by whoever asks while it goes on.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::permits::{QueuePlace, Ticket};

/// How one run comes along. Its counters only grow, and are read without regard to each other.
#[derive(Debug, Default)]
pub struct Progress {
    ticket: OnceLock<Ticket>,
    rows: AtomicU64,
    bytes: AtomicU64,
    sent_bytes: AtomicU64,
    expected: AtomicU64,
}

impl Progress {
    /// Sets what was encoded so far: rows, and bytes before content coding.
    pub fn encoded(&self, rows: u64, bytes: u64) {
        self.rows.store(rows, Ordering::Relaxed);
        self.bytes.store(bytes, Ordering::Relaxed);
    }

    /// Adds bytes that were handed to the client's connection, after content coding.
    pub fn sent(&self, bytes: u64) {
        self.sent_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Notes how many rows there will be.
    pub fn expect(&self, rows: usize) {
        self.expected.store(rows as u64, Ordering::Relaxed);
    }

    /// How many rows there will be, where that is known beforehand.
    #[must_use]
    pub fn expected(&self) -> Option<u64> {
        Some(self.expected.load(Ordering::Relaxed)).filter(|rows| *rows > 0)
    }

    /// Notes where it waits for its permit, which it does once.
    pub(super) fn waits(&self, ticket: Ticket) {
        let _ = self.ticket.set(ticket);
    }

    /// Its place in the queue, while it waits for its permit.
    #[must_use]
    pub fn place(&self) -> Option<QueuePlace> {
        self.ticket.get().and_then(Ticket::place)
    }

    /// Rows encoded.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }

    /// Bytes encoded, before content coding.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Bytes handed to the client's connection.
    #[must_use]
    pub fn sent_bytes(&self) -> u64 {
        self.sent_bytes.load(Ordering::Relaxed)
    }
}
