//! The streams and archives of our own, read by others.

mod archives;
mod streams;
