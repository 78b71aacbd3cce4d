//! `ttfb`: how soon the first byte comes, direct, in every format, of a query that starts at once.

use std::path::Path;

use super::{on_each, started};
use crate::bench::Bench;
use crate::checks::Checks;
use crate::client::Pace;
use crate::database::Backend;
use crate::error::{Doing, Result};
use crate::results::Outcome;
use crate::server::Server;
use crate::stats::Series;

const FORMATS: [&str; 4] = ["ndjson", "json", "csv", "xlsx"];
/// Requests before the measured ones, and measured ones.
const WARM: usize = 5;
const REQUESTS: usize = 50;
/// Milliseconds that are allowed.
const MOST: f64 = 20.0;
/// Lines of an answer: many batches, and soon over.
const LINES: u64 = 20_000;

/// The lines in the order of their key, which no database has to sort them for.
const REPORT: &str = r#"title = "Lines"
from = "settlement_lines"
order_by = ["id"]
columns = [
    { key = "id", type = "int", not_null = true },
    { key = "merchant_id", type = "int" },
    { key = "merchant_name", type = "text" },
    { key = "order_no", type = "text" },
    { key = "product", type = "text" },
    { key = "kind", type = "text" },
    { key = "method", type = "text" },
    { key = "status", type = "text" },
    { key = "gross", type = "int" },
    { key = "fee", type = "int" },
    { key = "vat", type = "int" },
    { key = "net", type = "int" },
    { key = "paid_at", type = "time" },
    { key = "settle_on", type = "date" },
]
"#;

/// Runs the scenario.
///
/// # Errors
/// No database; a request that fails.
pub(super) fn run(bench: &Bench) -> Result<Outcome> {
    let definitions = bench.workplace.path().join("definitions");
    define(&definitions)?;
    let definitions = definitions.to_string_lossy().into_owned();
    let mut checks = Checks::default();
    let (lines, left_out) = on_each(bench, |database| {
        let (server, _) = started(bench, database, &["--definitions", &definitions])?;
        let mut lines = String::new();
        for format in FORMATS {
            let first = first_bytes(&server, format)?;
            lines += &line(database.backend, format, &first, &mut checks);
        }
        server.stop()?;
        Ok(lines)
    })?;
    let text = format!(
        "From before the connection was opened to the first byte of a direct answer of {LINES} lines in the \
         order of their key, over loopback HTTP, {REQUESTS} requests one after the other; milliseconds.\n\n\
         | database | format | median (lowest–highest) | 95 of 100 |\n|---|---|---|---|\n{}",
        lines.concat()
    );
    Ok(Outcome { text: left_out + &text, checks })
}

fn define(directory: &Path) -> Result<()> {
    let reports = directory.join("reports");
    let doing = || format!("writing a definition into {}", reports.display());
    std::fs::create_dir_all(&reports).doing(doing())?;
    std::fs::write(reports.join("by-number.toml"), REPORT).doing(doing())
}

fn first_bytes(server: &Server, format: &str) -> Result<Series> {
    let path = format!("/reports/by-number/rows?format={format}&delivery=direct&limit={LINES}");
    let request = || {
        let drained = server.get(&path)?.drain(Pace::Fast, &mut |_| ())?;
        Ok(drained.first_byte.as_secs_f64() * 1_000.0)
    };
    for _ in 0..WARM {
        request()?;
    }
    (0..REQUESTS).map(|_| request()).collect()
}

fn line(backend: Backend, format: &str, first: &Series, checks: &mut Checks) -> String {
    let late = first.percentile(95);
    let what = format!("{} {format}: 95 of 100 within {late:.1} ms, {MOST} wanted", backend.word());
    checks.check(late < MOST, &what);
    format!("| {} | {format} | {first:.1} | {late:.1} |\n", backend.title())
}
