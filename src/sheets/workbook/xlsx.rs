//! xlsx and xlsm, row by row.

use std::io::{Read, Seek};

use calamine::{DataRef, Reader as _, Style, Xlsx, XlsxCellReader, XlsxError};

use super::cells::{Held, Rows};
use super::survey::Survey;
use super::{Job, refuse};
use crate::error::Result;
use crate::sheets::FileKind;
use crate::sheets::at::At;

/// The first whole number of which a spreadsheet cannot tell those beside it.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Reads the sheet wanted.
pub(super) fn read(at: &At, survey: &Survey, job: &mut Job<'_>) -> Result<()> {
    let mut book = Xlsx::new(at.clone()).map_err(|error| refuse::xlsx(&error))?;
    let tabs = book.sheets_metadata().to_vec();
    let sheet = job.begin(FileKind::Xlsx, &tabs)?;
    let name = &tabs[sheet].name;
    job.hidden_rows(name, survey.hidden_rows(sheet))?;
    let from_1904 = book.has_1904_epoch();
    let mut rows = Rows::new(&mut *job.sink, job.limits.columns, from_1904);
    let mut cells = book.worksheet_cells_reader(name).map_err(|error| refuse::xlsx(&error))?;
    let widths: Vec<usize> = cells.styles().iter().map(zeros).collect();
    let pads = widths.iter().any(|width| *width > 0);
    let mut twin =
        pads.then(|| Xlsx::new(at.clone())).transpose().map_err(|error| refuse::xlsx(&error))?;
    let twin = twin.as_mut().map(|book| book.worksheet_cells_reader(name)).transpose();
    let twin = twin.map_err(|error| refuse::xlsx(&error))?;
    let mut padded = twin.map(|cells| Padded::new(cells, widths)).transpose()?;
    let mut last = 0;
    loop {
        let record = match cells.next_cell_with_formula_metadata() {
            Ok(Some(record)) => record,
            Ok(None) => return rows.finish(),
            Err(XlsxError::CellError(text)) => return Err(refuse::error_value(&text, last)),
            Err(error) => return Err(refuse::xlsx(&error)),
        };
        last = record.pos.0;
        let value = match (record.value, record.formula) {
            (DataRef::Empty, Some(_)) => Held::Unevaluated,
            (value, _) => Held::Ref(value),
        };
        let value = match &mut padded {
            Some(padded) => padded.shown(record.pos, value)?,
            None => value,
        };
        rows.put(record.pos.0, record.pos.1, value)?;
    }
}

/// The digits that a number format shows at least, where it is made of zeros alone, as `00000` is;
/// else 0.
fn zeros(style: &Style) -> usize {
    let code = style.number_format.as_ref().map_or("", |format| format.format_code.as_str());
    if code.len() > 1 && code.bytes().all(|byte| byte == b'0') { code.len() } else { 0 }
}

/// The formats of a sheet's cells, which calamine tells apart from their values alone.
struct Padded<'a, R: Read + Seek> {
    cells: XlsxCellReader<'a, R>,
    /// For each style the digits that it shows at least.
    widths: Vec<usize>,
    /// The next cell that has a style, where it is, and which.
    next: Option<(u32, u32, usize)>,
}

impl<'a, R: Read + Seek> Padded<'a, R> {
    fn new(mut cells: XlsxCellReader<'a, R>, widths: Vec<usize>) -> Result<Self> {
        let next = cells.next_style_id().map_err(|error| refuse::xlsx(&error))?;
        Ok(Self { cells, widths, next })
    }

    /// A cell as a person sees it: a number that is shown with zeros before it has them. Cells come in
    /// the order of the sheet.
    fn shown<'v>(&mut self, place: (u32, u32), value: Held<'v>) -> Result<Held<'v>> {
        while let Some((row, column, _)) = self.next
            && (row, column) < place
        {
            self.next = self.cells.next_style_id().map_err(|error| refuse::xlsx(&error))?;
        }
        let width = match self.next {
            Some((row, column, style)) if (row, column) == place => self.widths.get(style),
            _ => None,
        };
        let Some(&width @ 1..) = width else { return Ok(value) };
        let number = match value {
            Held::Ref(DataRef::Float(number)) => number,
            #[expect(clippy::cast_precision_loss, reason = "only exact ones are padded")]
            Held::Ref(DataRef::Int(number)) => number as f64,
            _ => return Ok(value),
        };
        // Others are shown rounded, and stay what they are.
        let whole = number.fract() == 0.0 && number.abs() < EXACT;
        Ok(if whole { Held::Padded(padded(number, width)) } else { value })
    }
}

fn padded(number: f64, width: usize) -> String {
    let sign = if number < 0.0 { "-" } else { "" };
    format!("{sign}{:0width$.0}", number.abs())
}
