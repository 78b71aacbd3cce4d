//! The rows that an import did not take, as they were sent, each with what is wrong with it: a file of
//! the run, for as long as it is kept.
//!
//! The file begins with its heading in JSON; then, for each row, its faults in JSON and its cells in
//! the form that [`crate::sheets`] gives rows. Each part has its length in front.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::iter::Peekable;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::faults::Fault;
use super::headers::Headers;
use crate::definitions::Import;
use crate::delivery::{Output, Written};
use crate::error::{Error, Result};
use crate::rows::hex;
use crate::runs::Stop;
use crate::sheets::{Cell, Outline, SheetSink, wire};
use crate::spool::{Building, Kept, Spool, Told, What};

/// What stands above the rows.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Heading {
    /// The import's name.
    pub import: String,
    /// The titles of the file's columns.
    pub titles: Vec<String>,
    /// The titles of the fields, for problems of columns that the file does not have.
    pub fields: Vec<String>,
}

/// Writes the rows at fault out of all of them.
pub(super) struct Writer<I: Iterator<Item = Result<Fault>>> {
    out: BufWriter<Building>,
    faults: Peekable<I>,
    scratch: Vec<u8>,
}

impl<I: Iterator<Item = Result<Fault>>> Writer<I> {
    pub(super) fn new(
        spool: &Spool,
        run: Uuid,
        import: &Import,
        headers: &Headers,
        faults: I,
        stop: &Stop,
    ) -> Result<Self> {
        let told = Told {
            media_type: "application/octet-stream".into(),
            name: format!("{} problems", import.title),
        };
        let file = spool.begin(run, What::Problems, told, stop.clone())?;
        let mut writer =
            Self { out: BufWriter::new(file), faults: faults.peekable(), scratch: Vec::new() };
        writer.part(&json(&Heading {
            import: import.name.clone(),
            titles: headers.titles.clone(),
            fields: import.fields.iter().map(|field| field.title.clone()).collect(),
        })?)?;
        Ok(writer)
    }

    fn part(&mut self, bytes: &[u8]) -> Result<()> {
        let length = u32::try_from(bytes.len())
            .map_err(|source| Error::internal("keeping rejected rows", source))?;
        self.out.write_all(&length.to_le_bytes()).map_err(Error::writing)?;
        self.out.write_all(bytes).map_err(Error::writing)
    }

    /// Keeps the file.
    pub(super) fn finish(self) -> Result<()> {
        let file = self.out.into_inner().map_err(|error| Error::writing(error.into_error()))?;
        let mut file = file;
        // Nobody asks for its digest; it is told by its run alone.
        let whole = Written { bytes: 0, sha256: hex(&Sha256::digest([])) };
        file.commit(&whole).map_err(Error::writing)
    }
}

impl<I: Iterator<Item = Result<Fault>>> SheetSink for Writer<I> {
    fn begin(&mut self, _outline: &Outline) -> Result<()> {
        Ok(())
    }

    fn keys(&mut self, _keys: &[String]) -> Result<()> {
        Ok(())
    }

    fn row(&mut self, number: u64, cells: &[Cell<'_>]) -> Result<()> {
        let mut faults = Vec::new();
        while let Some(fault) =
            self.faults.next_if(|fault| fault.as_ref().map_or(true, |fault| fault.row == number))
        {
            faults.push(fault?);
        }
        if faults.is_empty() {
            return Ok(());
        }
        self.part(&json(&faults)?)?;
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        wire::encode_row(number, cells, &mut scratch);
        self.part(&scratch)?;
        self.scratch = scratch;
        Ok(())
    }
}

fn json(value: &impl Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec(value).map_err(|source| Error::internal("keeping rejected rows", source))
}

/// Takes a row: its number, its cells, its faults.
pub type Each<'e> = dyn FnMut(u64, &[Cell<'_>], &[Fault]) -> Result<()> + 'e;

/// The rejected rows of a run, from the first.
pub struct Rejects {
    file: BufReader<File>,
    /// What stands above them.
    pub heading: Heading,
}

impl Rejects {
    /// Opens the file of a run.
    ///
    /// # Errors
    /// [`Error::Internal`] where it cannot be read.
    pub fn open(kept: &Kept) -> Result<Self> {
        let mut file = BufReader::new(kept.open()?);
        let heading = part(&mut file)?.ok_or_else(|| reading("it is empty"))?;
        let heading = serde_json::from_slice(&heading).map_err(reading)?;
        Ok(Self { file, heading })
    }

    /// Hands every row to `each`: its number, its cells, its faults.
    ///
    /// # Errors
    /// [`Error::Internal`] where it cannot be read; what `each` does.
    pub fn each(&mut self, each: &mut Each<'_>) -> Result<()> {
        while let Some(faults) = part(&mut self.file)? {
            let faults: Vec<Fault> = serde_json::from_slice(&faults).map_err(reading)?;
            let row = part(&mut self.file)?.ok_or_else(|| reading("it ends within a row"))?;
            let mut cells = Vec::new();
            let number = wire::decode_row(&mut row.as_slice(), &mut cells).map_err(reading)?;
            each(number, &cells, &faults)?;
        }
        Ok(())
    }
}

fn part(file: &mut BufReader<File>) -> Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    match file.read_exact(&mut length) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(reading(error)),
    }
    let mut bytes = vec![0; u32::from_le_bytes(length) as usize];
    file.read_exact(&mut bytes).map_err(reading)?;
    Ok(Some(bytes))
}

fn reading(source: impl Into<crate::error::Cause>) -> Error {
    Error::internal("reading rejected rows", source)
}
