//! The program over real HTTP and real databases.
//!
//! Each test has a [`Place`](support::Place) of its own: a directory and a business database, in
//! SQLite and, where `TALLYROLL_TEST_POSTGRES` names a server, in PostgreSQL. A
//! [`Server`](support::Server) is the built binary as a child process; its `stop` asserts that it
//! left nothing behind.

#[cfg(test)]
mod first;
#[cfg(test)]
mod support;
