//! A directory that is gone when dropped.

use std::path::{Path, PathBuf};

use crate::error::{Doing, Result};

/// A directory of this run's own, below the system's temporary one.
#[derive(Debug)]
pub(crate) struct Workplace(PathBuf);

impl Workplace {
    /// Makes it.
    ///
    /// # Errors
    /// Whatever the system says against it.
    pub(crate) fn make() -> Result<Self> {
        let path = std::env::temp_dir().join(format!("tallyroll-perf-{}", std::process::id()));
        std::fs::create_dir(&path).doing(format!("making {}", path.display()))?;
        Ok(Self(path))
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            eprintln!("{} could not be removed: {error}", self.0.display());
        }
    }
}
