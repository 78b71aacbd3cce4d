//! Writes the settlement lines of an SQLite file as a workbook by `rust_xlsxwriter`, in constant memory
//! and compressed as hard as it does of itself, with what the report shows: a header on every sheet, bold,
//! frozen and filtered, widths, number formats, times of Seoul.
//!
//! Arguments: the database's file, the workbook to make, how many lines.

use std::error::Error;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use rust_xlsxwriter::{ExcelDateTime, Format, Workbook, Worksheet, XlsxError};

/// Rows of a sheet without its header.
const ROWS: u32 = 1_048_575;
const SEOUL: f64 = 9.0 / 24.0;
const MONEY: &str = "#,##0";
const TIME: &str = "yyyy-mm-dd hh:mm:ss.000";
const DATE: &str = "yyyy-mm-dd";
const COLUMNS: [(&str, f64, &str); 14] = [
    ("id", 12.0, ""),
    ("merchant_id", 12.0, ""),
    ("merchant_name", 24.0, ""),
    ("order_no", 22.0, ""),
    ("product", 28.0, ""),
    ("kind", 10.0, ""),
    ("method", 12.0, ""),
    ("status", 12.0, ""),
    ("gross", 14.0, MONEY),
    ("fee", 12.0, MONEY),
    ("vat", 12.0, MONEY),
    ("net", 14.0, MONEY),
    ("paid_at", 20.0, TIME),
    ("settle_on", 12.0, DATE),
];
const PAID_AT: usize = 12;
const SETTLE_ON: usize = 13;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, made, lines] = arguments.as_slice() else {
        return Err("a database, a workbook and a number of lines".into());
    };
    let database = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let sql = format!("SELECT * FROM settlement_lines ORDER BY paid_at, id LIMIT {lines}");
    let mut statement = database.prepare(&sql)?;
    let mut lines = statement.query([])?;
    let mut book = Workbook::new();
    let formats = COLUMNS.map(|(_, _, look)| Format::new().set_num_format(look));
    let mut sheet = begin(&mut book, &formats)?;
    let mut at = 0;
    while let Some(line) = lines.next()? {
        if at == ROWS {
            sheet.autofilter(0, 0, at, 13)?;
            sheet = begin(&mut book, &formats)?;
            at = 0;
        }
        at += 1;
        for (column, format) in (0_u16..).zip(&formats) {
            let place = usize::from(column);
            match line.get_ref(place)? {
                ValueRef::Text(text) => {
                    let text = std::str::from_utf8(text)?;
                    match place {
                        PAID_AT | SETTLE_ON => {
                            // To the millisecond, and without the zone, which is UTC.
                            let text = text.get(..23).unwrap_or(text);
                            let day = ExcelDateTime::parse_from_str(text)?.to_excel();
                            let shift = if place == PAID_AT { SEOUL } else { 0.0 };
                            sheet.write_number_with_format(at, column, day + shift, format)?;
                        }
                        _ => {
                            sheet.write_string(at, column, text)?;
                        }
                    }
                }
                ValueRef::Integer(number) => {
                    #[expect(clippy::cast_precision_loss, reason = "money of the example is small")]
                    let number = number as f64;
                    sheet.write_number_with_format(at, column, number, format)?;
                }
                ValueRef::Null | ValueRef::Real(_) | ValueRef::Blob(_) => {}
            }
        }
    }
    sheet.autofilter(0, 0, at, 13)?;
    book.save(made)?;
    Ok(())
}

fn begin<'b>(book: &'b mut Workbook, formats: &[Format]) -> Result<&'b mut Worksheet, XlsxError> {
    let bold = Format::new().set_bold();
    let sheet = book.add_worksheet_with_constant_memory()?;
    sheet.set_freeze_panes(1, 0)?;
    for (column, ((key, width, look), format)) in (0_u16..).zip(COLUMNS.iter().zip(formats)) {
        sheet.set_column_width(column, *width)?;
        if !look.is_empty() {
            sheet.set_column_format(column, format)?;
        }
        sheet.write_string_with_format(0, column, *key, &bold)?;
    }
    Ok(sheet)
}
