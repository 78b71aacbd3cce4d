//! Rejected rows on their way back to whoever sent them: as a workbook with the cells at fault coloured,
//! as CSV, as NDJSON. A mended file can be uploaded as it is.

use std::io::Write;
use std::path::Path;

use super::cells::{display, shown};
use super::faults::Fault;
use super::headers::REASONS;
use super::rejects::Rejects;
use crate::error::{Error, Result};
use crate::formats::{CsvEncoder, Format, HandedBack, ObjectEncoder, Options, Sent};
use crate::rows::{Column, Encoder, Kind, Look, Value};
use crate::sheets::Cell;

/// Bytes gathered before they are written.
const GATHERED: usize = 64 << 10;

/// Writes the rejected rows in a format: a workbook, CSV, or NDJSON.
///
/// # Errors
/// [`Error::NoSpace`], [`Error::Internal`]; what `out` does.
pub fn hand_back(
    mut rejects: Rejects,
    format: Format,
    options: &Options,
    out: &mut (dyn Write + Send),
) -> Result<()> {
    match format {
        Format::Xlsx => workbook(&mut rejects, options, out),
        Format::Csv => csv(&mut rejects, options, out),
        Format::Ndjson | Format::Json => ndjson(&mut rejects, options, out),
    }
}

/// The titles of the file's columns, and one more.
fn titles(rejects: &Rejects) -> Vec<String> {
    let mut titles = rejects.heading.titles.clone();
    titles.push(REASONS.into());
    titles
}

fn workbook(rejects: &mut Rejects, options: &Options, out: &mut (dyn Write + Send)) -> Result<()> {
    let titles = titles(rejects);
    let fields = rejects.heading.fields.clone();
    let directory: &Path = &options.temp_dir;
    let mut book = HandedBack::begin(&options.title, &titles, directory, options.level)?;
    rejects.each(&mut |number, cells, faults| {
        let texts: Vec<_> = cells.iter().map(|cell| display(*cell)).collect();
        let sent: Vec<(Sent<'_>, bool)> = (0..titles.len() - 1)
            .map(|place| {
                let marked = faults.iter().any(|fault| fault.place == Some(place));
                let sent = match cells.get(place) {
                    None | Some(Cell::Empty) => Sent::Empty,
                    // As an error, so that it is refused again until somebody has mended it.
                    Some(Cell::Unevaluated | Cell::Error(_)) => Sent::Error,
                    Some(Cell::Number(number)) => Sent::Number(*number),
                    Some(Cell::Serial(days)) => Sent::Serial(*days),
                    Some(Cell::Bool(truth)) => Sent::Bool(*truth),
                    Some(_) => Sent::Text(&texts[place]),
                };
                (sent, marked)
            })
            .collect();
        book.row(&sent, &reasons(&titles, &fields, number, faults))
    })?;
    book.finish(out)
}

/// The columns of the file and one more, whatever their cells hold.
fn columns(titles: &[String], kind: Kind) -> Vec<Column> {
    let column = |title: &String| Column {
        key: title.clone(),
        title: title.clone(),
        kind,
        look: Look::default(),
    };
    titles.iter().map(column).collect()
}

fn csv(rejects: &mut Rejects, options: &Options, out: &mut (dyn Write + Send)) -> Result<()> {
    let encoder = CsvEncoder::new(&columns(&titles(rejects), Kind::Text), options);
    encoded(rejects, encoder, |_, text| Value::Text(text), out)
}

fn ndjson(rejects: &mut Rejects, options: &Options, out: &mut (dyn Write + Send)) -> Result<()> {
    let encoder = ObjectEncoder::ndjson(&columns(&titles(rejects), Kind::Json), options);
    encoded(rejects, encoder, typed, out)
}

/// A cell with the type that it was sent with, as far as JSON has it; numbers with every digit.
fn typed<'c>(cell: Cell<'c>, text: &'c str) -> Value<'c> {
    match cell {
        Cell::Bool(truth) => Value::Bool(truth),
        Cell::Digits(json) | Cell::Json(json) => Value::Json(json),
        _ => Value::Text(text),
    }
}

/// Writes the rejected rows, each cell as `value` has it, which is given how it is displayed.
fn encoded(
    rejects: &mut Rejects,
    mut encoder: impl Encoder,
    value: for<'c> fn(Cell<'c>, &'c str) -> Value<'c>,
    out: &mut (dyn Write + Send),
) -> Result<()> {
    let titles = titles(rejects);
    let fields = rejects.heading.fields.clone();
    let mut gathered = Vec::with_capacity(GATHERED);
    encoder.begin(&mut gathered)?;
    rejects.each(&mut |number, cells, faults| {
        let texts: Vec<_> = cells.iter().map(|cell| display(*cell)).collect();
        let reasons = reasons(&titles, &fields, number, faults);
        let sent = (0..titles.len() - 1).map(|place| match cells.get(place) {
            None | Some(Cell::Empty | Cell::Unevaluated) => Value::Null,
            Some(cell) => value(*cell, &texts[place]),
        });
        let row: Vec<Value<'_>> = sent.chain([Value::Text(&reasons)]).collect();
        encoder.row(&row, &mut gathered)?;
        if gathered.len() >= GATHERED {
            out.write_all(&gathered).map_err(Error::writing)?;
            gathered.clear();
        }
        Ok(())
    })?;
    out.write_all(&gathered).map_err(Error::writing)?;
    encoder.finish(out)
}

/// What is wrong with a row, column by column.
fn reasons(titles: &[String], fields: &[String], number: u64, faults: &[Fault]) -> String {
    let words = faults.iter().map(|fault| {
        let title = fault.place.and_then(|place| titles.get(place));
        let title = title.or_else(|| fields.get(fault.field)).map_or("", String::as_str);
        format!("{title}: {}", fault.detail)
    });
    let words: Vec<String> = words.collect();
    format!("Row {number}. {}", words.join("; "))
}

/// The values of listed problems that were found between rows, out of the rows as they were sent.
pub(super) fn fill_in(rejects: &mut Rejects, problems: &mut [super::RowProblem]) -> Result<()> {
    let last = problems.last().map_or(0, |problem| problem.row);
    let titles = rejects.heading.titles.clone();
    rejects.each(&mut |number, cells, _| {
        if number > last {
            return Ok(());
        }
        for problem in problems.iter_mut().filter(|problem| problem.row == number) {
            let place = titles.iter().position(|title| *title == problem.column);
            if let Some(cell) = place.and_then(|place| cells.get(place))
                && problem.value.is_empty()
            {
                problem.value = shown(*cell).into_owned();
            }
        }
        Ok(())
    })
}
