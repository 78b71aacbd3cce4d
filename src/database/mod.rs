//! Databases: connections, and statements on their way to being rows. The only folder that knows
//! sqlx and rusqlite.

mod address;
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
mod snapshot;
mod source;
mod sqlite;
mod stage;

#[cfg(test)]
mod tests;

pub use address::sqlite_file;
pub use connect::{Database, is_file, open};
#[cfg(test)]
pub(crate) use load::testing;
pub use load::{Indexes, Loader, Table, Target};
pub use query::{Arg, Cell, Dialect, Query, Read, Unit};
pub use snapshot::Reading;
pub use source::Source;
#[cfg(test)]
pub(crate) use sqlite::register_functions;
pub use stage::{
    Clash, Demand, Found, Merged, Plan, Referenced, Stage, Staged, TableName, can_note, committed,
    unfilled,
};
