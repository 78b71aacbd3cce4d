//! Where the command line writes: a file that appears when it is whole, or standard output.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Stdout, Write};
use std::path::{Path, PathBuf};

use crate::delivery::{Output, Written};
use crate::error::{Error, Problem, Result};

/// `-` is standard output. A device or a pipe is written to as it is; a link is followed.
pub(super) fn open(target: &str) -> Result<Box<dyn Output>> {
    if target == "-" {
        return Ok(Box::new(Standard(io::stdout())));
    }
    create(Path::new(target)).map_err(|error| {
        Error::Invalid(vec![Problem::parameter(
            "output",
            "unwritable",
            target,
            format!("{target} cannot be written: {error}"),
        )])
    })
}

fn create(target: &Path) -> io::Result<Box<dyn Output>> {
    let target = target.canonicalize().unwrap_or_else(|_| target.to_owned());
    let there = target.metadata().ok();
    match there {
        Some(there) if there.is_dir() => Err(io::Error::other("it is a directory")),
        Some(there) if !there.is_file() => {
            let device = OpenOptions::new().write(true).open(&target)?;
            Ok(Box::new(Device(device)))
        }
        there => PartFile::create(target, there.map(|there| there.permissions()))
            .map(|file| Box::new(file) as Box<dyn Output>),
    }
}

/// A device or a pipe, which nothing can be renamed to.
struct Device(File);

impl Write for Device {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Output for Device {
    fn commit(&mut self, _: &Written) -> io::Result<()> {
        self.0.flush()
    }
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
    fn commit(&mut self, _: &Written) -> io::Result<()> {
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
    /// With the permissions of the file that it is to replace, where there is one.
    fn create(target: PathBuf, permissions: Option<Permissions>) -> io::Result<Self> {
        let mut part = target.as_os_str().to_owned();
        part.push(".part");
        let part = PathBuf::from(part);
        let file = OpenOptions::new().write(true).create(true).truncate(true).open(&part)?;
        let made = Self { file, part, target, committed: false };
        if let Some(permissions) = permissions {
            made.file.set_permissions(permissions)?;
        }
        Ok(made)
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
    fn commit(&mut self, _: &Written) -> io::Result<()> {
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
