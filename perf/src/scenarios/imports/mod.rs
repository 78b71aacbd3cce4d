//! `imports`: a large workbook into a table that is empty, and into one that has half of its rows,
//! each of which differs.
//!
//! The workbook is the settlements report's own, twelve columns wide. What was stored is checked by
//! the outcome and, value by value, against the table that the rows came from. Meanwhile the
//! memory of the server and of the child that reads the workbook is looked at, both together. Beside
//! it the database's own tool loads the same rows from CSV into the same empty table, which reads no
//! workbook, checks no cell and looks for no double.

mod measure;
mod tables;

use std::path::Path;

pub(super) use self::measure::{Taken, take};
use super::on_each;
use crate::bench::Bench;
use crate::checks::Checks;
use crate::client::Pace;
use crate::database::{Backend, Database};
use crate::error::{Doing, Error, Result};
use crate::program::{self, Poured, Printed};
use crate::results::Outcome;
use crate::server::Server;
use crate::settlements::REPORT;
use crate::stats::{Series, mebibytes};

/// Rows of the workbook at most; it has no more than one sheet.
pub(super) const ROWS: u64 = 500_000;
/// Columns, as the workbook has them.
const COLUMNS: &str =
    "id,merchant_id,order_no,product,kind,method,status,gross,fee,net,paid_at,settle_on";
/// What server and child may have together.
const CEILING: u64 = 128 << 20;

/// What stands in the table before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    Half,
}

impl Before {
    const ALL: [Self; 2] = [Self::Nothing, Self::Half];

    const fn words(self) -> &'static str {
        match self {
            Self::Nothing => "none of the rows there",
            Self::Half => "half of the rows there",
        }
    }

    /// Rows a second that are to be reached, where a speed is.
    const fn speed(self, backend: Backend) -> Option<f64> {
        match (self, backend) {
            (_, Backend::Mysql) => None,
            (Self::Nothing, _) => Some(50_000.0),
            (Self::Half, _) => Some(25_000.0),
        }
    }
}

/// All that was measured on one database.
#[derive(Debug)]
struct Sheet {
    backend: Backend,
    rows: u64,
    /// Bytes of the workbook.
    bytes: u64,
    taken: [Vec<Taken>; 2],
    peer: Vec<Poured>,
}

/// Runs the scenario.
///
/// # Errors
/// No database could be had, or a request failed.
pub(super) fn run(bench: &Bench) -> Result<Outcome> {
    let mut checks = Checks::default();
    let (sheets, left_out) = on_each(bench, |database| measure(bench, database, &mut checks))?;
    Ok(Outcome { text: left_out + &tables::table(&sheets), checks })
}

fn measure(bench: &Bench, database: &Database, checks: &mut Checks) -> Result<Sheet> {
    let definitions = bench.workplace.path().join("definitions");
    define(&definitions)?;
    let definitions = definitions.to_string_lossy().into_owned();
    let server = Server::start(bench, database, &["--definitions", &definitions])?;
    let rows = database.rows.min(ROWS);
    let book = bench.workplace.path().join("lines.xlsx");
    let csv = bench.workplace.path().join("lines.csv");
    let bytes = fetch(&server, "xlsx", rows, &book)?;
    fetch(&server, "csv", rows, &csv)?;
    change(database, &[TABLE])?;
    let mut sheet = Sheet {
        backend: database.backend,
        rows,
        bytes,
        taken: [Vec::new(), Vec::new()],
        peer: Vec::new(),
    };
    for round in 1..=bench.options.rounds {
        println!("{}: round {round} of {}", sheet.backend.title(), bench.options.rounds);
        for (before, taken) in Before::ALL.into_iter().zip(&mut sheet.taken) {
            let there = prepare(database, before, rows)?;
            let one = take(&server, &book)?;
            judge(database, before, rows, there, &one, checks)?;
            taken.push(one);
        }
        prepare(database, Before::Nothing, rows)?;
        match program::pour(&mut database.load_csv("perf_lines", COLUMNS, &csv))? {
            Printed::Done(poured) => sheet.peer.push(poured),
            Printed::Missing => println!("the database's own tool is not installed"),
        }
    }
    server.stop()?;
    sheet.judge(checks);
    Ok(sheet)
}

/// The twelve columns as a table of their own.
pub(super) const TABLE: &str = "CREATE TABLE perf_lines (id bigint NOT NULL PRIMARY KEY, \
     merchant_id bigint NOT NULL, order_no varchar(64) NOT NULL, product varchar(200) NOT NULL, \
     kind varchar(20) NOT NULL, method varchar(20) NOT NULL, status varchar(20) NOT NULL, \
     gross bigint NOT NULL, fee bigint NOT NULL, net bigint NOT NULL, \
     paid_at MOMENT NOT NULL, settle_on date NOT NULL)";

const DEFINITION: &str = r#"title = "Lines"
into = "perf_lines"
key = ["id"]
columns = [
    { key = "id", type = "int", required = true, min = 1 },
    { key = "merchant_id", title = "가맹점ID", type = "int", required = true, references = "merchants.id" },
    { key = "order_no", title = "주문번호", type = "text", required = true, max_length = 64 },
    { key = "product", title = "상품", type = "text", required = true, max_length = 200 },
    { key = "kind", type = "text", required = true, one_of = ["payment", "refund"] },
    { key = "method", type = "text", required = true, max_length = 20 },
    { key = "status", type = "text", required = true, one_of = ["settled", "scheduled", "held"] },
    { key = "gross", type = "int", required = true },
    { key = "fee", type = "int", required = true },
    { key = "net", type = "int", required = true },
    { key = "paid_at", type = "time", zone = "Asia/Seoul", required = true },
    { key = "settle_on", type = "date", required = true },
]
"#;

pub(super) fn define(directory: &Path) -> Result<()> {
    let imports = directory.join("imports");
    let doing = || format!("writing a definition into {}", imports.display());
    std::fs::create_dir_all(&imports).doing(doing())?;
    std::fs::write(imports.join("lines.toml"), DEFINITION).doing(doing())
}

/// Fetches the report into a file; its bytes.
pub(super) fn fetch(server: &Server, format: &str, rows: u64, file: &Path) -> Result<u64> {
    use std::io::Write;
    println!("fetching {rows} rows as {format}");
    let path = format!(
        "{REPORT}/rows?format={format}&delivery=prepared&header=key&tz=Asia/Seoul&limit={rows}\
         &columns={COLUMNS}"
    );
    let mut out = std::fs::File::create(file).doing("making a file for the rows")?;
    let mut written = Ok(());
    let drained = server.get(&path)?.drain(Pace::Fast, &mut |bytes| {
        if written.is_ok() {
            written = out.write_all(bytes);
        }
    })?;
    written.doing("writing the rows")?;
    Ok(drained.bytes)
}

pub(super) fn change(database: &Database, statements: &[&str]) -> Result<()> {
    let moment = match database.backend {
        Backend::Sqlite => "text",
        Backend::Postgres => "timestamptz",
        Backend::Mysql => "datetime(6)",
    };
    for statement in statements {
        database.change(&statement.replace("MOMENT", moment))?;
    }
    Ok(())
}

/// Puts into the table what is to stand there, each row with another fee; how many rows those are.
fn prepare(database: &Database, before: Before, rows: u64) -> Result<u64> {
    change(database, &["DELETE FROM perf_lines"])?;
    if before == Before::Nothing {
        return Ok(0);
    }
    let first = format!("SELECT * FROM settlement_lines ORDER BY paid_at, id LIMIT {rows}");
    change(
        database,
        &[&format!(
            "INSERT INTO perf_lines ({COLUMNS}) SELECT {} FROM ({first}) AS f WHERE id % 2 = 0",
            COLUMNS.replace("fee", "fee + 1")
        )],
    )?;
    number(database, "SELECT count(*) FROM perf_lines")
}

fn number(database: &Database, sql: &str) -> Result<u64> {
    match database.ask(sql)? {
        Printed::Done(line) => line.parse().doing(format!("reading the answer to {sql}")),
        Printed::Missing => Err(Error::new("the database's own tool is not installed")),
    }
}

/// Checks what the import came to, by its own words and in the table.
fn judge(
    database: &Database,
    before: Before,
    rows: u64,
    there: u64,
    taken: &Taken,
    checks: &mut Checks,
) -> Result<()> {
    let about = format!("{}, {}", database.backend.word(), before.words());
    let counts = ["rows_read", "inserted", "updated", "unchanged", "rejected"]
        .map(|word| taken.outcome[word].as_u64().unwrap_or(u64::MAX));
    let expected = [rows, rows - there, there, 0, 0];
    let what = format!("{about}: read, inserted, updated, unchanged, rejected {counts:?}");
    checks.check(counts == expected, &what);
    let first = format!("SELECT * FROM settlement_lines ORDER BY paid_at, id LIMIT {rows}");
    let same = format!(
        "SELECT (SELECT count(*) FROM perf_lines), (SELECT count(*) FROM perf_lines AS p JOIN \
         ({first}) AS f ON p.id = f.id AND p.net = f.net AND p.fee = f.fee \
         AND p.order_no = f.order_no AND p.product = f.product AND p.settle_on = f.settle_on)"
    );
    let found = match database.ask(&same)? {
        Printed::Done(line) => line,
        Printed::Missing => return Err(Error::new("the database's own tool is not installed")),
    };
    checks.same(
        &format!("{about}: rows, and those as they were"),
        &found,
        &format!("{rows}|{rows}"),
    );
    Ok(())
}

/// Fails unless an import into an empty table stored every row.
pub(super) fn stored_all(taken: &Taken, rows: u64) -> Result<()> {
    match taken.outcome["inserted"].as_u64() {
        Some(inserted) if inserted == rows => Ok(()),
        inserted => Err(Error::new(format!("{inserted:?} of {rows} rows were stored"))),
    }
}

impl Sheet {
    fn speed(&self, before: Before) -> Series {
        let rows = crate::stats::number(self.rows);
        let taken = &self.taken[usize::from(before == Before::Half)];
        taken.iter().map(|taken| rows / taken.whole.as_secs_f64()).collect()
    }

    fn judge(&self, checks: &mut Checks) {
        let word = self.backend.word();
        for before in Before::ALL {
            if let Some(wanted) = before.speed(self.backend) {
                let speed = self.speed(before).median();
                let words = before.words();
                let what = format!("{word}, {words}: {speed:.0} rows/s, {wanted:.0} wanted");
                checks.check(speed >= wanted, &what);
            }
        }
        let most = self.taken.iter().flatten().map(|taken| taken.memory).max().unwrap_or(0);
        let (shown, allowed) = (mebibytes(most), mebibytes(CEILING));
        let what = format!("{word}: server and child {shown} MiB at most, {allowed} allowed");
        checks.check(most <= CEILING, &what);
    }
}
