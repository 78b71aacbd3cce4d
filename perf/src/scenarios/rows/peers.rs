//! The tools that come with the databases.

use std::process::Command;

use super::Format;
use crate::database::{Backend, Database};
use crate::settlements::ORDERED;

/// A tool that hands out the same rows, and the answers it is set beside.
pub(super) struct Peer {
    pub(super) backend: Backend,
    pub(super) name: &'static str,
    pub(super) beside: Format,
    pub(super) command: fn(&Database) -> Command,
}

/// Every one.
pub(super) const PEERS: [Peer; 6] = [
    Peer {
        backend: Backend::Sqlite,
        name: "`sqlite3 -json`",
        beside: Format::Json,
        command: |database| database.sqlite3("-json", ORDERED),
    },
    Peer {
        backend: Backend::Sqlite,
        name: "`sqlite3 -csv`",
        beside: Format::Csv,
        command: |database| database.sqlite3("-csv", ORDERED),
    },
    Peer {
        backend: Backend::Postgres,
        name: "`psql` COPY of `row_to_json`",
        beside: Format::Ndjson,
        command: |database| {
            let sql = format!("COPY (SELECT row_to_json(s) FROM ({ORDERED}) s) TO STDOUT");
            database.psql(&sql)
        },
    },
    Peer {
        backend: Backend::Postgres,
        name: "`psql` binary COPY",
        beside: Format::Ndjson,
        command: |database| database.psql(&format!("COPY ({ORDERED}) TO STDOUT (FORMAT binary)")),
    },
    Peer {
        backend: Backend::Mysql,
        name: "`mariadb --quick --batch --raw` of `JSON_OBJECT`",
        beside: Format::Ndjson,
        command: |database| database.mysql("--raw", OBJECTS),
    },
    Peer {
        backend: Backend::Mysql,
        name: "`mariadb --quick --batch`",
        beside: Format::Csv,
        command: |database| database.mysql("--batch", ORDERED),
    },
];

/// A row as an object, as MySQL makes one: it has no function that takes a row as it is.
const OBJECTS: &str = "SELECT JSON_OBJECT('id', id, 'merchant_id', merchant_id, \
    'merchant_name', merchant_name, 'order_no', order_no, 'product', product, 'kind', kind, \
    'method', method, 'status', status, 'gross', gross, 'fee', fee, 'vat', vat, 'net', net, \
    'paid_at', paid_at, 'settle_on', settle_on) FROM settlement_lines ORDER BY paid_at, id";
