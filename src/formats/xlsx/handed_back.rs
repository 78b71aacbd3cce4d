//! Rows handed back to whoever sent them: cells as they were, those at fault coloured, and a last column
//! that says what is wrong.

use std::io::Write;
use std::path::Path;

use rust_xlsxwriter::{Color, Format, Formula, Worksheet, XlsxError};

use super::book::{Book, guarded};
use super::looks::shown_as;
use super::text::{LONGEST, within};
use crate::error::Result;

/// Rows of one sheet besides the header ("Excel specifications and limits").
const ROWS: u32 = 1_048_575;
/// The colour of a cell at fault: red ink on pale red is readable for those who do not see red.
const PAPER: Color = Color::RGB(0xFF_C7_CE);
const INK: Color = Color::RGB(0x9C_00_06);
/// Characters.
const WIDTH: f64 = 16.0;
const REASONS: f64 = 80.0;

/// A cell as it was sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sent<'a> {
    /// Nothing.
    Empty,
    /// A text.
    Text(&'a str),
    /// A number.
    Number(f64),
    /// A day as Excel counts them, shown as a date, with the time of day where it has one.
    Serial(f64),
    /// True or false.
    Bool(bool),
    /// What a formula could not calculate: `#N/A`.
    Error,
}

/// A workbook of rows that are handed back.
pub struct HandedBack {
    book: Book,
    sheet: Worksheet,
    titles: Vec<String>,
    rows: u32,
    looks: [Looks; 2],
    reasons: Format,
}

/// How cells look, good ones or those at fault.
struct Looks {
    plain: Format,
    date: Format,
    moment: Format,
}

impl Looks {
    fn new(marked: bool) -> Self {
        let look = |format: Format| {
            if marked { format.set_background_color(PAPER).set_font_color(INK) } else { format }
        };
        Self {
            plain: look(Format::new()),
            date: look(shown_as("yyyy-mm-dd")),
            moment: look(shown_as("yyyy-mm-dd hh:mm:ss")),
        }
    }
}

impl HandedBack {
    /// Begins a workbook under these titles, the last of which stands over what is wrong.
    ///
    /// # Errors
    /// [`crate::error::Error::NoSpace`], [`crate::error::Error::Internal`] where the temporary file
    /// cannot be written.
    pub fn begin(title: &str, titles: &[String], temp_dir: &Path, level: u8) -> Result<Self> {
        let mut book = Book::new(title, temp_dir, level)?;
        let sheet = begin_sheet(&mut book, titles)?;
        Ok(Self {
            book,
            sheet,
            titles: titles.to_vec(),
            rows: 0,
            looks: [Looks::new(false), Looks::new(true)],
            reasons: Format::new().set_font_color(INK).set_text_wrap(),
        })
    }

    /// Adds a row: its cells, whether each is at fault, and what is wrong with them.
    ///
    /// # Errors
    /// As [`HandedBack::begin`].
    pub fn row(&mut self, cells: &[(Sent<'_>, bool)], reasons: &str) -> Result<()> {
        if self.rows == ROWS {
            let next = begin_sheet(&mut self.book, &self.titles)?;
            self.book.add(std::mem::replace(&mut self.sheet, next));
            self.rows = 0;
        }
        self.rows += 1;
        let (row, sheet) = (self.rows, &mut self.sheet);
        let last = u16::try_from(self.titles.len().saturating_sub(1)).unwrap_or(u16::MAX);
        let (looks, wrapped) = (&self.looks, &self.reasons);
        guarded("handing a row back", || {
            for (column, (sent, marked)) in (0..last).zip(cells) {
                write(sheet, (row, column), *sent, &looks[usize::from(*marked)], *marked)?;
            }
            sheet.write_string_with_format(row, last, within(reasons, LONGEST), wrapped)?;
            Ok(())
        })
    }

    /// Writes the whole book.
    ///
    /// # Errors
    /// As [`HandedBack::begin`]; what `out` does.
    pub fn finish(mut self, out: &mut (dyn Write + Send)) -> Result<()> {
        self.book.add(self.sheet);
        self.book.save(out)
    }
}

fn begin_sheet(book: &mut Book, titles: &[String]) -> Result<Worksheet> {
    let mut sheet = book.sheet()?;
    let bold = Format::new().set_bold();
    guarded("beginning a sheet of rows that are handed back", || {
        sheet.set_freeze_panes(1, 0)?;
        for (column, title) in (0..).zip(titles) {
            let reasons = usize::from(column) + 1 == titles.len();
            sheet.set_column_width(column, if reasons { REASONS } else { WIDTH })?;
            sheet.write_string_with_format(0, column, within(title, LONGEST), &bold)?;
        }
        Ok(())
    })?;
    Ok(sheet)
}

fn write(
    sheet: &mut Worksheet,
    (row, column): (u32, u16),
    sent: Sent<'_>,
    looks: &Looks,
    marked: bool,
) -> Result<(), XlsxError> {
    match sent {
        Sent::Empty if marked => sheet.write_blank(row, column, &looks.plain)?,
        Sent::Empty => sheet,
        Sent::Text(text) => {
            sheet.write_string_with_format(row, column, within(text, LONGEST), &looks.plain)?
        }
        Sent::Number(number) => {
            sheet.write_number_with_format(row, column, number, &looks.plain)?
        }
        Sent::Serial(days) => {
            let look = if days.fract() == 0.0 { &looks.date } else { &looks.moment };
            sheet.write_number_with_format(row, column, days, look)?
        }
        Sent::Error => {
            let missing = Formula::new("=NA()").set_result("#N/A");
            sheet.write_formula_with_format(row, column, missing, &looks.plain)?
        }
        Sent::Bool(truth) => sheet.write_boolean_with_format(row, column, truth, &looks.plain)?,
    };
    Ok(())
}
