//! Documents: the rows of a definition as PDFs, one by one or all of them in an archive.
//!
//! The walk: definition and typed filters within the caller's scope → place in the queue → run begun →
//! permit → one short transaction that reads → connection back → pages, several documents at once → their
//! archive, in order → outlet. Knows no HTTP.
//!
//! # What a template says
//!
//! A document is a report's part, and `[document]` with the columns that name one (`key`, `number`,
//! `title`), `[page]`, and `[[sections]]` in the order in which they stand on the page:
//!
//! | kind | what it has |
//! |---|---|
//! | `heading`, `text` | `text`, with values as `{/pointer}`, or `{?/pointer}` where there may be none; `size`, `align` |
//! | `fields` | `[[sections.fields]]`, each a `label` and a value; `beside`, how many in a row |
//! | `table` | `rows`, a pointer to an array; `[[sections.columns]]`, each a `title`, a `width` (its share), an `align` and a value within an element; `empty`, `optional`, `size` |
//! | `totals` | `[[sections.fields]]`, at the right margin |
//! | `signatures` | `boxes`, what stands over each |
//! | `images` | `pointer` to a picture in base64 or an array of such; `beside`, `height` in mm, `optional` |
//! | `page_break` | nothing |
//!
//! A value is a `pointer` (RFC 6901) into the row as an object, `optional = true` where it may be missing
//! or null, and a `type`: `text` (a text or a number, as it stands), `number` with a `format` such as
//! `#,##0원`, `date`, `time`, or `bool` with two `words`. Numbers lose no digit. What a pointer does not
//! find, or finds to be something else, ends the bundle with words that name document, field and pointer.

mod bundle;
mod fonts;
mod gather;
mod held;
mod layout;
mod orders;
mod page;
mod pdf;
mod pictures;
mod projects;
mod render;
mod request;
mod single;
mod text;
mod values;
mod view;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

pub use orders::{Bundled, Opened, Order};
pub use projects::LEDGER;
pub use request::Asked;
pub use single::{Known, Single};
pub use view::{DocumentColumn, DocumentFilter, DocumentView};

use crate::access::Caller;
use crate::database::Database;
use crate::definitions::{Document, Folder, InForce, there_are};
use crate::error::{Error, Result};
use crate::runs::{Permits, Reason, Runs, Stop};
use crate::spool::Spool;

/// The definitions that come with the program.
pub const BUILT_IN: &[(&str, &str)] = &[
    ("ledger", include_str!("ledger.toml")),
    ("merchant-statement", include_str!("merchant-statement.toml")),
];

/// What documents are made with.
pub struct Documents {
    /// The definitions in force.
    pub definitions: InForce,
    /// Databases by name, the main one under the empty name.
    pub databases: BTreeMap<String, Database>,
    /// The registry of runs.
    pub runs: Runs,
    /// Bundles at once.
    pub bundles: Permits,
    /// Single documents at once, together with direct streams.
    pub singles: Permits,
    /// Where files lie.
    pub spool: Spool,
    /// The longest wait for the rows, where a client waits for them.
    pub first_row: Duration,
    /// How long a client may take nothing.
    pub stall: Duration,
}

impl Documents {
    /// The documents that this caller may see, by name.
    #[must_use]
    pub fn list(&self, caller: &Caller) -> Vec<Arc<Document>> {
        let definitions = self.definitions.get();
        let seen = definitions.documents.values().filter(|document| document.accessible(caller));
        seen.cloned().collect()
    }

    /// One document.
    ///
    /// # Errors
    /// [`Error::NotFound`], also where the caller's scope does not reach it.
    pub fn find(&self, name: &str, caller: &Caller) -> Result<Arc<Document>> {
        let definitions = self.definitions.get();
        let found = definitions.documents.get(name).filter(|document| document.accessible(caller));
        found.cloned().ok_or_else(|| {
            Error::NotFound(if definitions.is_at_fault(Folder::Documents, name) {
                format!(
                    "the definition of the document \"{name}\" is at fault; whoever runs the server \
                     finds out with `tallyroll check`"
                )
            } else {
                let known = self.list(caller);
                let known = there_are(known.iter().map(|document| document.report.name.as_str()));
                format!("there is no document \"{name}\"; {known}")
            })
        })
    }

    /// The database that a document reads.
    fn database(&self, document: &Document) -> Result<&Database> {
        let name = document.report.database.as_deref().unwrap_or_default();
        self.databases.get(name).ok_or_else(|| {
            Error::internal("reading documents", format!("no database is configured as \"{name}\""))
        })
    }
}

/// Reads on a thread of its own, for `longest` at most where somebody waits.
async fn reading<T: Send + 'static>(
    read: impl FnOnce(&Stop) -> Result<T> + Send + 'static,
    stop: Stop,
    longest: Option<Duration>,
) -> Result<T> {
    let reading = tokio::task::spawn_blocking({
        let (stop, span) = (stop.clone(), tracing::Span::current());
        move || span.in_scope(|| read(&stop))
    });
    tokio::pin!(reading);
    let read = tokio::select! {
        read = &mut reading => read,
        () = after(longest) => {
            stop.fire(Reason::FirstRow(longest.unwrap_or_default()));
            reading.await
        }
    };
    read.map_err(|source| Error::internal("reading documents", source))?
}

async fn after(time: Option<Duration>) {
    match time {
        Some(time) => tokio::time::sleep(time).await,
        None => std::future::pending().await,
    }
}
