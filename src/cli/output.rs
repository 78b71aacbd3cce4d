//! Where the command line writes: a file that appears when it is whole, or standard output.

use std::fs::{File, OpenOptions};
use std::io::{self, Stdout, Write};
use std::path::{Path, PathBuf};

use super::part::PartFile;
use crate::delivery::{Output, Written};
use crate::error::{Error, Problem, Result};

/// `-` is standard output. A device or a pipe is written to as it is; a link is followed.
pub(super) fn open(target: &str) -> Result<Box<dyn Output>> {
    match target {
        "-" => Ok(Box::new(Standard(io::stdout()))),
        "" => Err(unwritable(
            target,
            "-o names no file; give one, such as lines.csv, or - for standard output".into(),
        )),
        target => create(Path::new(target))
            .map_err(|error| unwritable(target, format!("{target} cannot be written: {error}"))),
    }
}

fn unwritable(target: &str, detail: String) -> Error {
    Error::Invalid(vec![Problem::parameter("output", "unwritable", target, detail)])
}

/// An error with the name of what it was met at, and its kind, by which a full disk is told.
pub(super) fn named(place: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", place.display()))
}

fn create(target: &Path) -> io::Result<Box<dyn Output>> {
    let target = target.canonicalize().unwrap_or_else(|_| target.to_owned());
    let there = target.metadata().ok();
    match there {
        Some(there) if there.is_dir() => Err(io::Error::other("it is a directory")),
        Some(there) if !there.is_file() => {
            let device = OpenOptions::new().write(true).open(&target)?;
            Ok(Box::new(Device(device, target)))
        }
        there => PartFile::create(target, there.map(|there| there.permissions()))
            .map(|file| Box::new(file) as Box<dyn Output>),
    }
}

/// A device or a pipe, which nothing can be renamed to.
struct Device(File, PathBuf);

impl Write for Device {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(|error| named(&self.1, &error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(|error| named(&self.1, &error))
    }
}

impl Output for Device {
    fn commit(&mut self, _: &Written) -> io::Result<()> {
        self.flush()
    }
}

struct Standard(Stdout);

/// What it is called in messages.
const STANDARD: &str = "standard output";

impl Write for Standard {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(|error| named(Path::new(STANDARD), &error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(|error| named(Path::new(STANDARD), &error))
    }
}

impl Output for Standard {
    fn commit(&mut self, _: &Written) -> io::Result<()> {
        self.flush()
    }
}
