//! Steps through a statement's rows and looks at every column: what any program that reads SQLite pays.
//!
//! Arguments: the database's file, the statement. Prints how many values there were and their bytes.

#![expect(clippy::print_stdout, reason = "what it says is its result")]

use std::error::Error;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, sql] = arguments.as_slice() else { return Err("a file and a statement".into()) };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = Connection::open_with_flags(file, flags)?;
    let mut statement = database.prepare(sql)?;
    let columns = statement.column_count();
    let mut rows = statement.query([])?;
    let (mut values, mut bytes) = (0_u64, 0_u64);
    while let Some(row) = rows.next()? {
        for column in 0..columns {
            values += 1;
            bytes += match row.get_ref(column)? {
                ValueRef::Null => 0,
                ValueRef::Integer(_) | ValueRef::Real(_) => 8,
                ValueRef::Text(text) | ValueRef::Blob(text) => text.len() as u64,
            };
        }
    }
    println!("{values} {bytes}");
    Ok(())
}
