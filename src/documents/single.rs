//! One document by its key.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::gather::{Gathered, gather};
use super::render::{lacking, render};
use super::text::Lacking;
use super::{Asked, Documents, reading};
use crate::access::Caller;
use crate::definitions::Document;
use crate::error::{Error, Result};
use crate::names::safe_name;
use crate::rows::hex;
use crate::runs::{Stop, StopOnDrop};

/// Raised when the same row becomes another PDF: a change of the layout, the fonts or the library.
const RENDERING: &str = "1";

/// A document, as far as it was wanted.
#[derive(Debug)]
pub struct Single {
    /// Names the content: another row or template, another tag.
    pub tag: String,
    /// The PDF's name.
    pub name: String,
    /// The PDF; nothing where the client has it already.
    pub pdf: Option<Vec<u8>>,
}

/// Whether a client has what a tag names.
pub type Known = Box<dyn Fn(&str) -> bool + Send>;

impl Documents {
    /// Renders the document with this key, unless the client has it already.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Unrenderable`]; [`Error::Busy`]; what the database says.
    pub async fn single(
        &self,
        document: Arc<Document>,
        key: &str,
        asked: Asked,
        caller: &Caller,
        known: Known,
    ) -> Result<Single> {
        let stop = Stop::new();
        // A client that leaves does not want it.
        let _guard = StopOnDrop(stop.clone());
        let permit = self.singles.arrive()?.permit(&stop).await?;
        let database = self.database(&document)?.clone();
        let wanted = asked.wanted(caller, Some(key.to_owned()));
        let (spool, key) = (self.spool.clone(), key.to_owned());
        let read = move |stop: &Stop| {
            let application = "tallyroll/document";
            let gathered =
                gather(&document, &wanted, None, (&database, application), &spool, stop)?;
            let single = one(&document, &gathered, &key, &known)?;
            drop(permit);
            Ok(single)
        };
        reading(read, stop, Some(self.first_row)).await
    }
}

fn one(document: &Document, gathered: &Gathered, key: &str, known: &Known) -> Result<Single> {
    let item = match gathered.items.as_slice() {
        [item] => item,
        [] => {
            let name = &document.report.name;
            return Err(Error::NotFound(format!("there is no {name} with the key \"{key}\"")));
        }
        several => {
            return Err(Error::Unrenderable {
                document: format!("\"{key}\""),
                detail: format!(
                    "{} rows have this key; the column that [document] names as key must be unique",
                    several.len()
                ),
            });
        }
    };
    let bytes = item.bytes(&gathered.held)?;
    let digest = Sha256::new()
        .chain_update(RENDERING)
        .chain_update(env!("CARGO_PKG_VERSION"))
        .chain_update(&document.fingerprint)
        .chain_update(&bytes)
        .finalize();
    let (tag, name) = (format!("\"{}\"", hex(&digest)), safe_name(&item.name));
    if known(&tag) {
        return Ok(Single { tag, name, pdf: None });
    }
    let mut letters = Lacking::new();
    let pdf = render(document, item, &bytes, &mut letters)?;
    // Logged; there is no run to carry it.
    let _ = lacking(&letters);
    Ok(Single { tag, name, pdf: Some(pdf) })
}
