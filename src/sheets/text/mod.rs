//! Texts: which encoding they are in, and their characters as UTF-8, a piece at a time.
//!
//! A file is read twice: first to its end, to find an encoding in which every byte means something,
//! then for its rows. So a row is never half right, and no replacement character is ever made up.

mod decode;
mod encoding;

pub(super) use decode::Decoded;
pub(super) use encoding::find;
