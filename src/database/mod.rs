//! Databases: connections, and statements on their way to being rows. The only folder that knows
//! sqlx and rusqlite.

mod cells;
mod connect;
mod decode;
mod failures;
mod load;
mod mysql;
mod postgres;
mod pull;
mod query;
mod server;
mod source;
mod sqlite;

#[cfg(test)]
mod tests;

pub use connect::{Database, open, sqlite_file};
#[cfg(test)]
pub(crate) use load::testing;
pub use load::{Indexes, Loader, Table, Target};
pub use query::{Arg, Cell, Dialect, Query, Read, Unit};
pub use source::Source;
#[cfg(test)]
pub(crate) use sqlite::register_functions;
