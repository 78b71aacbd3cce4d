//! Where the command line writes: a file that appears when it is whole, or standard output.

use std::fs::{File, OpenOptions};
use std::io::{self, Stdout, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::delivery::Output;
use crate::error::{Error, Problem, Result};

/// `-` is standard output.
pub(super) fn open(target: &str) -> Result<Box<dyn Output>> {
    if target == "-" {
        return Ok(Box::new(Standard(io::stdout())));
    }
    PartFile::create(Path::new(target)).map(|file| Box::new(file) as Box<dyn Output>).map_err(
        |error| {
            Error::Invalid(vec![Problem::parameter(
                "output",
                "unwritable",
                target,
                format!("{target} cannot be written: {error}"),
            )])
        },
    )
}

struct Standard(Stdout);

impl Write for Standard {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Output for Standard {
    fn commit(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// `FILE.part`, which becomes `FILE` when it is whole and goes when it is not.
struct PartFile {
    file: File,
    part: PathBuf,
    target: PathBuf,
    committed: bool,
}

impl PartFile {
    fn create(target: &Path) -> io::Result<Self> {
        if target.is_dir() {
            return Err(io::Error::other("it is a directory"));
        }
        let mut part = target.as_os_str().to_owned();
        part.push(".part");
        let part = PathBuf::from(part);
        let file =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&part)?;
        Ok(Self { file, part, target: target.to_owned(), committed: false })
    }
}

impl Write for PartFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Output for PartFile {
    fn commit(&mut self) -> io::Result<()> {
        self.file.sync_all()?;
        std::fs::rename(&self.part, &self.target)?;
        self.committed = true;
        Ok(())
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        if !self.committed {
            let _ = std::fs::remove_file(&self.part);
        }
    }
}
