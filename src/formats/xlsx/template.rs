//! An empty workbook for people to fill in: headers with a comment each, columns that are shown as what
//! they hold, and drop-downs where only a few values are taken.

use std::io::Write;
use std::path::Path;

use rust_xlsxwriter::{
    DataValidation, DataValidationErrorStyle, Format, Formula, Note, Worksheet, XlsxError,
};

use super::book::{Book, guarded};
use super::looks::shown_as;
use crate::error::Result;
use crate::rows::Kind;

/// The last row of a sheet, counted from 0 ("Excel specifications and limits").
const LAST_ROW: u32 = 1_048_575;
/// Characters that the list of a drop-down may have, commas among them ("Excel specifications and
/// limits").
const LIST: usize = 255;
/// Pixels of a comment.
const COMMENT: (u32, u32) = (320, 150);

/// One column of a form.
#[derive(Debug, Clone)]
pub struct FormColumn {
    /// Its header.
    pub header: String,
    /// What goes into it.
    pub kind: Kind,
    /// Digits after the point of a decimal.
    pub scale: Option<u32>,
    /// What a comment on the header says.
    pub comment: String,
    /// The only values that are taken, where they are few.
    pub one_of: Vec<String>,
}

/// Writes an empty form with these columns.
///
/// # Errors
/// [`crate::error::Error::NoSpace`], [`crate::error::Error::Internal`] where the temporary file
/// cannot be written; what `out` does.
pub fn form(
    title: &str,
    columns: &[FormColumn],
    temp_dir: &Path,
    level: u8,
    out: &mut (dyn Write + Send),
) -> Result<()> {
    let mut book = Book::new(title, temp_dir, level)?;
    let mut sheet = book.sheet()?;
    // What does not fit into a drop-down's own list is listed on a sheet that nobody sees.
    let listed: Vec<&FormColumn> = columns.iter().filter(|column| is_long(column)).collect();
    let values = if listed.is_empty() { None } else { Some(values_sheet(&mut book, &listed)?) };
    let values_name = values.as_ref().map(Worksheet::name);
    guarded("writing a form", || {
        let bold = Format::new().set_bold();
        sheet.set_freeze_panes(1, 0)?;
        let mut long = 0_u16;
        for (index, column) in (0..).zip(columns) {
            sheet.set_column_width(index, width(column))?;
            if let Some(format) = format(column) {
                sheet.set_column_format(index, &format)?;
            }
            sheet.write_string_with_format(0, index, &column.header, &bold)?;
            let (width, height) = COMMENT;
            let note = Note::new(&column.comment).add_author_prefix(false);
            sheet.insert_note(0, index, &note.set_width(width).set_height(height))?;
            if !column.one_of.is_empty() {
                let list = drop_down(column, values_name.as_deref(), long)?;
                long += u16::from(is_long(column));
                sheet.add_data_validation(1, index, LAST_ROW, index, &list)?;
            }
        }
        Ok(())
    })?;
    book.add(sheet);
    if let Some(mut values) = values {
        values.set_hidden(true);
        book.add(values);
    }
    book.save(out)
}

fn is_long(column: &FormColumn) -> bool {
    let units: usize = column.one_of.iter().map(|value| value.encode_utf16().count() + 1).sum();
    // A comma would end a value.
    units > LIST || column.one_of.iter().any(|value| value.contains(','))
}

fn values_sheet(book: &mut Book, listed: &[&FormColumn]) -> Result<Worksheet> {
    let mut sheet = book.sheet()?;
    guarded("writing the values of a form", || {
        let rows = listed.iter().map(|column| column.one_of.len()).max().unwrap_or_default();
        // Row by row, as sheets are written.
        for row in 0..rows {
            for (index, column) in (0..).zip(listed) {
                if let Some(value) = column.one_of.get(row) {
                    sheet.write_string(u32::try_from(row).unwrap_or(LAST_ROW), index, value)?;
                }
            }
        }
        Ok(())
    })?;
    Ok(sheet)
}

fn drop_down(
    column: &FormColumn,
    values: Option<&str>,
    long: u16,
) -> Result<DataValidation, XlsxError> {
    let validation = DataValidation::new();
    let validation = match values.filter(|_| is_long(column)) {
        Some(sheet) => {
            let letter = rust_xlsxwriter::utility::column_number_to_name(long);
            let range = format!(
                "='{}'!${letter}$1:${letter}${}",
                sheet.replace('\'', "''"),
                column.one_of.len()
            );
            validation.allow_list_formula(Formula::new(range))
        }
        None => validation.allow_list_strings(&column.one_of)?,
    };
    validation
        .set_error_style(DataValidationErrorStyle::Stop)
        .set_error_title(short(&column.header))?
        .set_error_message("Choose one of the list.")
}

/// A title of a message has 32 characters at most.
fn short(header: &str) -> String {
    header.chars().take(31).collect()
}

/// What a column is shown as; a text column keeps the zeros that somebody types in front.
fn format(column: &FormColumn) -> Option<Format> {
    match column.kind {
        Kind::Text | Kind::Json => Some(shown_as("@")),
        Kind::Int => Some(shown_as("#,##0")),
        Kind::Decimal => {
            let scale = column.scale.unwrap_or_default() as usize;
            let point = if scale == 0 { "" } else { "." };
            Some(shown_as(&format!("#,##0{point}{}", "0".repeat(scale))))
        }
        Kind::Date => Some(shown_as("yyyy-mm-dd")),
        Kind::Time => Some(shown_as("yyyy-mm-dd hh:mm:ss")),
        Kind::Float | Kind::Bool => None,
    }
}

fn width(column: &FormColumn) -> f64 {
    let by_kind: f64 = match column.kind {
        Kind::Bool => 8.0,
        Kind::Date => 12.0,
        Kind::Int | Kind::Decimal | Kind::Float => 14.0,
        Kind::Time | Kind::Text | Kind::Json => 22.0,
    };
    by_kind.max(super::looks::columns_wide(&column.header))
}
