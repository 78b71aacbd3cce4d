//! The program over real HTTP and real databases.
//!
//! Each test has a `support::Place` of its own: a directory and a business database, in SQLite and,
//! where `TALLYROLL_TEST_POSTGRES` and `TALLYROLL_TEST_MYSQL` name servers, in PostgreSQL and in MySQL or
//! MariaDB. A `support::Server` is the built
//! binary as a child process; its `stop` asserts that it left nothing behind. Where nginx is
//! installed, a `support::Nginx` stands before it.

#![expect(clippy::print_stderr, reason = "what is printed is shown when a test fails")]
#![expect(
    clippy::format_collect,
    clippy::format_push_string,
    reason = "definitions and statements are put together for reading, not for speed"
)]

#[cfg(test)]
mod about;
#[cfg(test)]
mod background;
#[cfg(test)]
mod commands;
#[cfg(test)]
mod convert;
#[cfg(test)]
mod demo;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod endings;
#[cfg(test)]
mod exports;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod filters;
#[cfg(test)]
mod imports;
#[cfg(test)]
mod mysql;
#[cfg(test)]
mod negotiation;
#[cfg(test)]
mod nginx;
#[cfg(test)]
mod page;
#[cfg(test)]
mod paging;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod rows;
#[cfg(test)]
mod runs;
#[cfg(test)]
mod sheets;
#[cfg(test)]
mod support;
#[cfg(test)]
mod tidy;
#[cfg(test)]
mod times;
#[cfg(test)]
mod values;
#[cfg(test)]
mod workbooks;
