//! What the library makes of a workbook without its rows: parts, what surrounds the rows of a sheet, and
//! the numbers of styles.

use std::io::{Cursor, Read};

use rust_xlsxwriter::utility::column_number_to_name;
use rust_xlsxwriter::{Format, Workbook, Worksheet, XlsxError};

use super::strings::Strings;
use super::xml;
use crate::error::{Error, Result};
use crate::formats::xlsx::book::{guarded, undated};
use crate::formats::xlsx::cells::Cells;
use crate::formats::xlsx::grid::Shown;
use crate::formats::xlsx::looks::{Looks, MOST_DIGITS};
use crate::formats::xlsx::sheet_names::Namer;

/// Looks that are not a column's own: four, and one for each number of fraction digits.
const LOOKS: usize = 5 + MOST_DIGITS;

const STRINGS: &str = "xl/sharedStrings.xml";

/// A workbook that is being poured.
pub(super) struct Frame {
    looks: Looks,
    title: String,
    names: Namer,
    sheets: Vec<Facts>,
    /// The formats in use, in the order in which they came into use, which gives them their numbers.
    formats: Vec<Format>,
    styles: Vec<Style>,
    /// By look, the place of its style.
    by_look: [Option<usize>; LOOKS],
    given: Vec<Option<usize>>,
    /// What each column is shown as on the sheet at hand: a place among the styles.
    columns: Vec<usize>,
    /// Texts that cells share.
    pub(super) strings: Strings,
    /// By column, what a cell begins with: `<c r="AB`.
    places: Vec<Box<[u8]>>,
}

/// What a cell says after its place, by what it holds.
#[derive(Debug)]
pub(super) struct Style {
    pub(super) number: Box<[u8]>,
    pub(super) text: Box<[u8]>,
    pub(super) shared: Box<[u8]>,
    pub(super) truth: Box<[u8]>,
    pub(super) nothing: Box<[u8]>,
}

/// A sheet as the workbook lists it.
struct Facts {
    name: String,
    /// By column, width and place among the formats, 0 for none.
    columns: Vec<(f64, usize)>,
    /// Rows besides the header.
    rows: u32,
}

impl Frame {
    pub(super) fn new(title: &str, looks: Looks, columns: usize) -> Self {
        let place = |column| format!("<c r=\"{}", column_number_to_name(column)).into_bytes();
        Self {
            // Every cell has a style; that of the workbook comes first, that of headers second.
            formats: vec![Format::new(), looks.header.clone()],
            styles: vec![Style::of(0), Style::of(1)],
            looks,
            title: title.into(),
            names: Namer::default(),
            sheets: Vec::new(),
            by_look: [None; LOOKS],
            given: vec![None; columns],
            columns: vec![0; columns],
            strings: Strings::new(columns),
            places: (0..).take(columns).map(|column| place(column).into()).collect(),
        }
    }

    /// Begins a further sheet, whose columns are shown as they are by now.
    pub(super) fn begin(&mut self, columns: &[Cells]) {
        let name = self.names.name(&self.title);
        self.sheets.push(Facts { name, columns: Vec::new(), rows: 0 });
        for (index, cells) in (0..).zip(columns) {
            self.columns[usize::from(index)] = match cells.shown() {
                Some(shown) => self.style(index, shown),
                None => 0,
            };
        }
    }

    /// Where in the archive the last sheet lies.
    pub(super) fn path(&self) -> String {
        sheet_path(self.sheets.len())
    }

    /// The place of what a cell of this column is shown as.
    #[inline]
    pub(super) fn style(&mut self, column: u16, shown: Shown) -> usize {
        let known = match place(shown) {
            Some(look) => self.by_look[look],
            None => self.given[usize::from(column)],
        };
        known.unwrap_or_else(|| self.further(column, shown))
    }

    /// Takes a format into use. The numbers of the others stay as they are.
    #[cold]
    fn further(&mut self, column: u16, shown: Shown) -> usize {
        let format = self.looks.of(column, shown);
        let same = self.formats.iter().position(|known| known == format);
        let style = same.unwrap_or(self.formats.len());
        if same.is_none() {
            self.formats.push(format.clone());
            self.styles.push(Style::of(style));
        }
        match place(shown) {
            Some(look) => self.by_look[look] = Some(style),
            None => self.given[usize::from(column)] = Some(style),
        }
        style
    }

    /// Has a column of the sheet at hand shown as this.
    pub(super) fn show(&mut self, column: u16, shown: Shown) {
        self.columns[usize::from(column)] = self.style(column, shown);
    }

    /// What a column of the sheet at hand is shown as.
    #[inline]
    pub(super) fn shown(&self, column: u16) -> &Style {
        &self.styles[self.columns[usize::from(column)]]
    }

    #[inline]
    pub(super) fn at(&self, style: usize) -> &Style {
        &self.styles[style]
    }

    #[inline]
    pub(super) fn place(&self, column: u16) -> &[u8] {
        &self.places[usize::from(column)]
    }

    /// What stands before the rows of the last sheet, as its columns are shown by now.
    pub(super) fn head(&mut self, columns: &[Cells]) -> Result<Vec<u8>> {
        if let Some(sheet) = self.sheets.last_mut() {
            let shown = columns.iter().zip(&self.columns);
            sheet.columns = shown.map(|(cells, style)| (cells.width, *style)).collect();
        }
        Ok(self.last()?.0)
    }

    /// What stands after the rows of the last sheet, of which there are so many.
    pub(super) fn tail(&mut self, rows: u32) -> Result<Vec<u8>> {
        if let Some(sheet) = self.sheets.last_mut() {
            sheet.rows = rows;
        }
        Ok(self.last()?.1)
    }

    fn last(&self) -> Result<(Vec<u8>, Vec<u8>)> {
        let path = self.path();
        let sheet = self.parts()?.take(&path).ok_or_else(|| unlike("a sheet is missing"))?;
        around_rows(&sheet).ok_or_else(|| unlike("a sheet has no rows"))
    }

    /// Writes the first row of a sheet.
    pub(super) fn header(&self, columns: &[Cells], out: &mut Vec<u8>) {
        out.extend_from_slice(b"<row r=\"1\">");
        for (place, cells) in self.places.iter().zip(columns) {
            out.extend_from_slice(place);
            out.push(b'1');
            if cells.header().is_empty() {
                out.extend_from_slice(&self.styles[1].nothing);
            } else {
                out.extend_from_slice(&self.styles[1].text);
                xml::text(cells.header(), out);
            }
        }
        out.extend_from_slice(b"</row>");
    }

    /// The parts of the workbook with the sheets that there are, none of which has its rows.
    pub(super) fn parts(&self) -> Result<Parts> {
        let book = guarded("making a workbook", || {
            let mut book = Workbook::new();
            undated(&mut book)?;
            book.set_zip_compression_level(1);
            self.first(book.add_worksheet())?;
            for _ in 1..self.sheets.len() {
                book.add_worksheet().write_number(0, 0, 0)?;
            }
            for (sheet, facts) in book.worksheets_mut().iter_mut().zip(&self.sheets) {
                facts.describe(sheet, &self.formats)?;
            }
            book.save_to_buffer()
        })?;
        let mut parts = Parts::of(&book)?;
        self.check(&parts)?;
        if let Some((_, strings)) = parts.0.iter_mut().find(|(path, _)| path == STRINGS) {
            *strings = self.strings.part();
        }
        Ok(parts)
    }

    /// Brings every format into use, in its order, before anything else does.
    fn first(&self, sheet: &mut Worksheet) -> Result<(), XlsxError> {
        for (row, format) in (0..).zip(&self.formats).skip(1) {
            sheet.write_number_with_format(row, 0, 0, format)?;
        }
        if !self.strings.is_empty() {
            // Some text, so that the workbook lists the part that has ours.
            sheet.write_string(0, 0, "shared")?;
        }
        Ok(())
    }

    /// Makes sure that every format has the number by which cells name it.
    fn check(&self, parts: &Parts) -> Result<()> {
        let sheet = parts.of_path(&sheet_path(1)).unwrap_or_default();
        let sheet = String::from_utf8_lossy(sheet);
        let mut cells = sheet.split("<c r=\"A").skip(1).filter(|cell| !cell.starts_with("1\""));
        for style in 1..self.formats.len() {
            let expected = format!("{}\" s=\"{style}\"><v>", style + 1);
            if !cells.next().is_some_and(|cell| cell.starts_with(&expected)) {
                return Err(unlike(format!("the format {style} has another number")));
            }
        }
        Ok(())
    }
}

impl Style {
    fn of(number: usize) -> Self {
        let style = match number {
            0 => String::new(),
            number => format!(" s=\"{number}\""),
        };
        let bytes = |rest: &str| format!("\"{style}{rest}").into_bytes().into();
        Self {
            number: bytes("><v>"),
            text: bytes(" t=\"inlineStr\"><is>"),
            shared: bytes(" t=\"s\"><v>"),
            truth: bytes(" t=\"b\"><v>"),
            nothing: bytes("/>"),
        }
    }
}

impl Facts {
    fn describe(&self, sheet: &mut Worksheet, formats: &[Format]) -> Result<(), XlsxError> {
        sheet.set_name(&self.name)?;
        sheet.set_freeze_panes(1, 0)?;
        for (column, (width, format)) in (0..).zip(&self.columns) {
            sheet.set_column_width(column, *width)?;
            if *format > 0 {
                sheet.set_column_format(column, &formats[*format])?;
            }
        }
        if let Some(last) = self.columns.len().checked_sub(1).and_then(|last| last.try_into().ok())
        {
            sheet.autofilter(0, 0, self.rows, last)?;
        }
        Ok(())
    }
}

fn place(shown: Shown) -> Option<usize> {
    match shown {
        Shown::Given => None,
        Shown::Int => Some(0),
        Shown::Date => Some(1),
        Shown::Time => Some(2),
        Shown::TimeWithMillis => Some(3),
        Shown::Decimal(scale) => Some(4 + usize::from(scale).min(MOST_DIGITS)),
    }
}

fn sheet_path(number: usize) -> String {
    format!("xl/worksheets/sheet{}.xml", number.max(1))
}

/// What stands before and after the rows of a sheet. How far it reaches is left out: readers go by it,
/// and it is not known before the rows are.
fn around_rows(sheet: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let sheet = std::str::from_utf8(sheet).ok()?;
    let (before, rest) = sheet.split_once("<sheetData>")?;
    let (_, after) = rest.split_once("</sheetData>")?;
    let mut head = before.to_owned();
    if let Some((start, rest)) = before.split_once("<dimension")
        && let Some((_, end)) = rest.split_once("/>")
    {
        head = [start, end].concat();
    }
    Some(([&head, "<sheetData>"].concat().into(), ["</sheetData>", after].concat().into()))
}

/// The parts of a workbook, in its order.
pub(super) struct Parts(Vec<(String, Vec<u8>)>);

impl Parts {
    fn of(book: &[u8]) -> Result<Self> {
        let mut archive = zip::ZipArchive::new(Cursor::new(book)).map_err(unlike)?;
        let count = archive.len();
        let part = |index| {
            let mut file = archive.by_index(index).map_err(unlike)?;
            let mut content = Vec::new();
            file.read_to_end(&mut content).map_err(unlike)?;
            let path = file.name().map_err(unlike)?.into_owned();
            Ok((path, content))
        };
        Ok(Self((0..count).map(part).collect::<Result<_>>()?))
    }

    fn of_path(&self, path: &str) -> Option<&[u8]> {
        self.0.iter().find(|(known, _)| known == path).map(|(_, content)| &**content)
    }

    /// Takes one of them out.
    pub(super) fn take(&mut self, path: &str) -> Option<Vec<u8>> {
        let index = self.0.iter().position(|(known, _)| known == path)?;
        Some(self.0.remove(index).1)
    }

    /// Those that are neither among these nor sheets.
    pub(super) fn others(self, first: &[&str]) -> impl Iterator<Item = (String, Vec<u8>)> {
        let mut parts = self.0;
        parts.retain(|(path, _)| !first.contains(&&**path) && !path.starts_with("xl/worksheets/"));
        parts.into_iter()
    }
}

fn unlike(source: impl Into<crate::error::Cause>) -> Error {
    Error::internal("making the frame of a workbook", source)
}
