//! The workbook as the library writes it, and what the library does not do: it panics where its
//! temporary file cannot be written, and it closes an archive that it could not complete.

use std::any::Any;
use std::error::Error as _;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use rust_xlsxwriter::{DocProperties, ExcelDateTime, Workbook, Worksheet, XlsxError};

use super::quiet::{caught, is_of_a_full_disk};
use super::sheet_names::Namer;
use crate::error::{Error, Result};

/// A workbook whose sheets lie in nameless files until it is saved: nothing is left behind, however
/// it ends.
pub(super) struct Book {
    workbook: Workbook,
    names: Namer,
    title: String,
}

impl Book {
    /// An empty workbook. The same sheets give the same bytes: it bears no date but a fixed one.
    pub(super) fn new(title: &str, temp_dir: &Path, level: u8) -> Result<Self> {
        let workbook = guarded("beginning a workbook", || {
            let mut workbook = Workbook::new();
            workbook.set_tempdir(temp_dir)?;
            workbook.set_zip_compression_level(level.clamp(1, 9));
            undated(&mut workbook)?;
            Ok(workbook)
        })?;
        Ok(Self { workbook, names: Namer::default(), title: title.into() })
    }

    /// A further sheet, which comes into the book by [`Self::add`].
    pub(super) fn sheet(&mut self) -> Result<Worksheet> {
        let name = self.names.name(&self.title);
        guarded("beginning a sheet", || {
            let mut sheet = self.workbook.new_worksheet_with_constant_memory()?;
            sheet.set_name(name)?;
            Ok(sheet)
        })
    }

    /// Puts a sheet behind the others.
    pub(super) fn add(&mut self, sheet: Worksheet) {
        self.workbook.push_worksheet(sheet);
    }

    /// Writes the whole book, its end only when all before it was well.
    pub(super) fn save(mut self, out: &mut (dyn Write + Send)) -> Result<()> {
        let mut outgoing = Outgoing { out, held: Vec::new(), failed: None };
        let saved = guarded("saving a workbook", || self.workbook.save_to_writer(&mut outgoing));
        let Outgoing { out, held, failed } = outgoing;
        if let Some(error) = failed {
            return Err(Error::writing(error));
        }
        saved?;
        out.write_all(&held).map_err(Error::writing)
    }
}

/// Has a workbook bear the day on which the clocks of ZIP archives begin, and not the time of its making.
pub(super) fn undated(workbook: &mut Workbook) -> Result<(), XlsxError> {
    let day = ExcelDateTime::from_ymd(1980, 1, 1)?;
    workbook.set_properties(&DocProperties::new().set_creation_datetime(&day));
    Ok(())
}

/// Bytes that are held back until the book is whole: more than the archive's directory takes for
/// 500 sheets, without which nothing opens it.
const HELD: usize = 1 << 16;

/// Passes a book on, but for its end: dropped after a failure, the library's archive writes a
/// directory all the same, and what is cut would look complete.
struct Outgoing<'o> {
    out: &'o mut (dyn Write + Send),
    held: Vec<u8>,
    failed: Option<io::Error>,
}

impl Write for Outgoing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // After a failure comes only that directory; it goes nowhere.
        if self.failed.is_some() {
            return Ok(bytes.len());
        }
        self.held.extend_from_slice(bytes);
        if self.held.len() >= 2 * HELD {
            let passing = self.held.len() - HELD;
            if let Err(error) = self.out.write_all(&self.held[..passing]) {
                self.failed = Some(error);
                return Err(io::Error::other("a workbook's receiver took no more"));
            }
            self.held.drain(..passing);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Does something with the library and turns its errors and panics into ours.
pub(super) fn guarded<T>(
    doing: &'static str,
    act: impl FnOnce() -> Result<T, XlsxError>,
) -> Result<T> {
    match caught(act) {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => Err(failed(doing, error)),
        Err(panic) => Err(panicked(doing, &*panic)),
    }
}

fn failed(doing: &'static str, error: XlsxError) -> Error {
    let cause = match &error {
        XlsxError::IoError(cause) => Some(cause),
        other => other.source().and_then(|source| source.downcast_ref()),
    };
    if cause.is_some_and(|cause| is_full(cause.kind())) {
        no_space(&error.to_string())
    } else {
        Error::internal(doing, error)
    }
}

fn is_full(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

/// The library expects every write to its temporary file to succeed, so what an `expect` says of the
/// error is all there is to know of it.
fn panicked(doing: &'static str, panic: &(dyn Any + Send)) -> Error {
    let words = match (panic.downcast_ref::<String>(), panic.downcast_ref::<&str>()) {
        (Some(words), _) => words.clone(),
        (None, Some(words)) => (*words).to_owned(),
        (None, None) => "a panic without words".into(),
    };
    if is_of_a_full_disk(&words) { no_space(&words) } else { Error::internal(doing, words) }
}

/// The library writes to nothing but its temporary files.
fn no_space(words: &str) -> Error {
    Error::NoSpace(format!("temp_dir, where a workbook gathers its rows: {words}").into())
}
