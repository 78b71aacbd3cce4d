//! The archive of a bundle: documents as they are rendered, in order, and what they are as its last
//! entry.

use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use crate::archive::{Directory, Whole};
use crate::error::{Error, Result};
use crate::rows::{Encoder, Value, Warning};

/// The last entry.
pub(super) const MANIFEST: &str = "manifest.json";

/// A document on its way into the archive.
#[derive(Debug)]
pub(super) struct Rendered {
    pub(super) entry: Whole,
    pub(super) key: String,
    pub(super) sha256: String,
}

/// Where a document lies between the source that renders it and the encoder, which takes it with the
/// next row; a row has no values of its own.
#[derive(Debug, Clone, Default)]
pub(super) struct Slot(Arc<Mutex<Option<Rendered>>>);

impl Slot {
    fn lock(&self) -> MutexGuard<'_, Option<Rendered>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn put(&self, rendered: Rendered) {
        *self.lock() = Some(rendered);
    }
}

/// What the manifest says of an entry.
#[derive(Debug, Serialize)]
struct Line<'a> {
    name: &'a str,
    key: &'a str,
    size: usize,
    sha256: &'a str,
}

/// Writes the archive.
#[derive(Debug)]
pub(super) struct BundleEncoder {
    slot: Slot,
    directory: Directory,
    manifest: Vec<u8>,
    documents: usize,
}

impl BundleEncoder {
    /// For so many documents, each of which lies in the slot when its row comes.
    pub(super) fn new(documents: usize, slot: Slot) -> Self {
        let manifest = format!("{{\"documents\":{documents},\"entries\":[").into_bytes();
        Self { slot, directory: Directory::default(), manifest, documents: 0 }
    }
}

impl Encoder for BundleEncoder {
    fn begin(&mut self, _out: &mut Vec<u8>) -> Result<()> {
        Ok(())
    }

    fn row(&mut self, _row: &[Value<'_>], out: &mut Vec<u8>) -> Result<()> {
        let rendered = self.slot.lock().take();
        let Rendered { entry, key, sha256 } =
            rendered.ok_or_else(|| Error::internal("writing a bundle", "there is no document"))?;
        self.directory.put(&entry, out);
        let (name, size) = (entry.path(), entry.content().len());
        let line = Line { name, key: &key, size, sha256: &sha256 };
        self.manifest.extend_from_slice(if self.documents == 0 { b"\n" } else { b",\n" });
        serde_json::to_writer(&mut self.manifest, &line)
            .map_err(|source| Error::internal("writing a manifest", source))?;
        self.documents += 1;
        Ok(())
    }

    fn finish(&mut self, out: &mut (dyn Write + Send)) -> Result<()> {
        let mut manifest = std::mem::take(&mut self.manifest);
        manifest.extend_from_slice(if self.documents == 0 { b"]}\n" } else { b"\n]}\n" });
        let mut end = Vec::with_capacity(manifest.len());
        self.directory.put(&Whole::new(MANIFEST.into(), manifest)?, &mut end);
        self.directory.write(&mut end);
        out.write_all(&end).map_err(Error::writing)
    }

    fn take_warnings(&mut self) -> Vec<Warning> {
        Vec::new()
    }
}
