//! What was measured, as Markdown.

use super::{Before, CEILING, Sheet};
use crate::stats::{Series, mebibytes, megabytes, number};

pub(super) fn table(sheets: &[Sheet]) -> String {
    let head = format!(
        "A workbook of the settlements report, twelve columns wide, uploaded over loopback HTTP into a \
         table with a primary key; cells are checked, one column is looked up in another table. Where \
         half of the rows are there, each of them differs and is updated. Seconds are from before the \
         connection was opened to the answer's end, the upload itself included. Beside it the database's \
         own tool loads the same rows from CSV into the same empty table. Memory is that of the server \
         and the child that reads, together; {} MiB are allowed. Client, server and database share the \
         machine.\n\n\
         | database | rows | MB | rows there before | s | rows/s | CPU, s | MiB | tool from CSV, s | by the tool's |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
        mebibytes(CEILING)
    );
    let lines = sheets.iter().flat_map(|sheet| Before::ALL.map(|before| line(sheet, before)));
    [head].into_iter().chain(lines).collect()
}

fn line(sheet: &Sheet, before: Before) -> String {
    let taken = &sheet.taken[usize::from(before == Before::Half)];
    let seconds: Series = taken.iter().map(|taken| taken.whole.as_secs_f64()).collect();
    let cpu: Series = taken.iter().map(|taken| taken.cpu).collect();
    let memory = taken.iter().map(|taken| taken.memory).max().unwrap_or(0);
    let tool: Series = sheet.peer.iter().map(|poured| poured.whole.as_secs_f64()).collect();
    let beside = match (before, tool.len()) {
        (Before::Nothing, 1..) => format!("{tool} | {}", seconds.by(&tool)),
        _ => "| ".into(),
    };
    format!(
        "| {} | {} | {:.1} | {} | {seconds} | {:.0} | {cpu} | {} | {beside} |\n",
        sheet.backend.title(),
        sheet.rows,
        megabytes(sheet.bytes),
        match before {
            Before::Nothing => "none",
            Before::Half => "half",
        },
        number(sheet.rows) / seconds.median(),
        mebibytes(memory),
    )
}
