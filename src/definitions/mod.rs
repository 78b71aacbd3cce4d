//! Definition files and what is made of them: TOML → checked [`Report`]s, [`Import`]s and [`Document`]s;
//! a report, the filters of a request and the scope of its caller → one statement.
//!
//! The way through: [`Definitions::load`] reads the files; [`parse_filters`] types what a request
//! asks; [`rows`] and [`count`] make the statements, both of them out of one function that binds the
//! scope; [`encode_cursor`] and [`decode_cursor`] keep the place between two pages. Nothing here
//! talks to a database or knows HTTP.

mod conditions;
mod cursor;
mod document;
mod fault;
mod filters;
mod fold;
mod import;
mod in_force;
mod load;
mod mysql;
mod paging;
mod parse;
mod reader;
mod report;
mod sqlite_order;
mod statement;
mod tables;
mod times;
mod units;

#[cfg(test)]
mod tests;

pub use cursor::{decode as decode_cursor, encode as encode_cursor};
pub use document::{
    Align, Bit, Details, Document, Feed, Field as DocumentField, Grid, GridColumn, NumberFormat,
    PageSetup, Passage, Pictures, Pointer, Section, Show, Template, Wording,
};
pub use fault::Fault;
pub use filters::{Filters, Given, Moment, parse as parse_filters};
pub use fold::{fold, is_unseen, narrow};
pub use import::{Bounds, Field, Import, Pattern, Reference, Takes, Target, UnknownColumns};
pub use in_force::InForce;
pub use load::{BuiltIn, Definitions, Folder, there_are};
pub use report::{Declared, Filter, Op, Order, Origin, ROWS_PARAMETERS, Report, ScopeColumn, Zone};
pub use sqlite_order::canonical_time;
pub use statement::{Selection, count, probe, rows};
pub use tables::probe_table;
pub use units::{MOST_DIGITS, NoUnits, to_units, units_text, write_units};
