//! What is wrong with the rows of one file: counted, kept on disk in the order of the rows, listed up to
//! a limit, so that a file in which every cell is wrong takes no more memory than a good one.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// One thing that is wrong with one cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// The row as a person sees it.
    pub row: u64,
    /// The field, in the order of the definition; what concerns the whole row has the key's first.
    pub field: usize,
    /// The column of the file, counted from 0, where the file has it.
    pub place: Option<usize>,
    /// A stable `snake_case` word.
    pub code: String,
    /// The value as it was sent, cut where it is long.
    pub value: String,
    /// What is wrong and how to mend it.
    pub detail: String,
}

/// A file of faults in the order of their rows, nameless on disk.
#[derive(Debug)]
pub struct FaultFile {
    out: BufWriter<File>,
    count: u64,
}

impl FaultFile {
    /// An empty one below `directory`.
    ///
    /// # Errors
    /// [`Error::NoSpace`], [`Error::Internal`] where it cannot be made.
    pub fn new(directory: &Path) -> Result<Self> {
        let file = tempfile::tempfile_in(directory).map_err(Error::writing)?;
        Ok(Self { out: BufWriter::new(file), count: 0 })
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Adds one; its row must not come before that of the one before.
    ///
    /// # Errors
    /// [`Error::NoSpace`], [`Error::Internal`].
    pub fn push(&mut self, fault: &Fault) -> Result<()> {
        let bytes = serde_json::to_vec(fault)
            .map_err(|source| Error::internal("keeping what is wrong with a row", source))?;
        let length = u32::try_from(bytes.len())
            .map_err(|source| Error::internal("keeping what is wrong with a row", source))?;
        self.out.write_all(&length.to_le_bytes()).map_err(Error::writing)?;
        self.out.write_all(&bytes).map_err(Error::writing)?;
        self.count += 1;
        Ok(())
    }

    /// Reads them from the first.
    ///
    /// # Errors
    /// [`Error::NoSpace`], [`Error::Internal`].
    pub fn read(&mut self) -> Result<Faults> {
        self.out.flush().map_err(Error::writing)?;
        let mut file = self.out.get_ref().try_clone().map_err(reading)?;
        file.seek(SeekFrom::Start(0)).map_err(reading)?;
        Ok(Faults { file: BufReader::new(file), left: self.count })
    }
}

/// The faults of a file in their order.
#[derive(Debug)]
pub struct Faults {
    file: BufReader<File>,
    left: u64,
}

impl Iterator for Faults {
    type Item = Result<Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        Some(self.one())
    }
}

impl Faults {
    fn one(&mut self) -> Result<Fault> {
        let mut length = [0; 4];
        self.file.read_exact(&mut length).map_err(reading)?;
        let mut bytes = vec![0; u32::from_le_bytes(length) as usize];
        self.file.read_exact(&mut bytes).map_err(reading)?;
        serde_json::from_slice(&bytes)
            .map_err(|source| Error::internal("reading what is wrong with a row", source))
    }
}

fn reading(source: std::io::Error) -> Error {
    Error::internal("reading what is wrong with rows", source)
}

/// Two runs of faults, each in the order of its rows, as one.
pub struct Merged<A: Iterator<Item = Result<Fault>>, B: Iterator<Item = Result<Fault>>> {
    first: std::iter::Peekable<A>,
    second: std::iter::Peekable<B>,
}

/// The faults of cells and those between rows, in the order of rows and columns.
pub fn merged<A, B>(first: A, second: B) -> Merged<A, B>
where
    A: Iterator<Item = Result<Fault>>,
    B: Iterator<Item = Result<Fault>>,
{
    Merged { first: first.peekable(), second: second.peekable() }
}

impl<A, B> Iterator for Merged<A, B>
where
    A: Iterator<Item = Result<Fault>>,
    B: Iterator<Item = Result<Fault>>,
{
    type Item = Result<Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        let place = |fault: &Fault| (fault.row, fault.field);
        let second_is_first = match (self.first.peek(), self.second.peek()) {
            (Some(Ok(first)), Some(Ok(second))) => place(second) < place(first),
            // A failure is told as soon as it is met.
            (None, _) | (Some(Ok(_)), Some(Err(_))) => true,
            (Some(Err(_)), _) | (Some(_), None) => false,
        };
        if second_is_first { self.second.next() } else { self.first.next() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(row: u64, field: usize) -> Fault {
        Fault {
            row,
            field,
            place: None,
            code: "required".into(),
            value: String::new(),
            detail: "the cell is empty".into(),
        }
    }

    #[test]
    fn faults_of_cells_and_between_rows_come_in_the_order_of_the_sheet() {
        let directory = tempfile::tempdir().unwrap();
        let mut cells = FaultFile::new(directory.path()).unwrap();
        let mut between = FaultFile::new(directory.path()).unwrap();
        for (row, field) in [(2, 0), (2, 3), (7, 1)] {
            cells.push(&fault(row, field)).unwrap();
        }
        for (row, field) in [(1, 0), (2, 1), (9, 0)] {
            between.push(&fault(row, field)).unwrap();
        }
        let all = merged(cells.read().unwrap(), between.read().unwrap());
        let places: Vec<_> = all.map(|fault| fault.unwrap()).map(|f| (f.row, f.field)).collect();
        assert_eq!(places, [(1, 0), (2, 0), (2, 1), (2, 3), (7, 1), (9, 0)]);
        assert_eq!(directory.path().read_dir().unwrap().count(), 0, "they are nameless");
    }
}
