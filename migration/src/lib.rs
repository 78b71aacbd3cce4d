//! How the tables come to be: one file per step, reversible, for every database spoken.
//!
//! [`state`] makes the server's own tables, [`example`] those of the worked example; each keeps
//! its own record of the steps taken, so both may live in one database. Steps are taken in one
//! transaction, where the database has that for tables, behind a lock, so that several processes may start at once: the first takes the
//! steps, the others wait and find nothing left to do.

pub mod example;
mod lock;
mod make;
pub mod state;

#[cfg(test)]
mod tests;
