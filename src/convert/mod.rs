//! Conversions: the rows of a file in another format, with nothing stored.
//!
//! The walk: parameters → upload that is whole → place in the queue → run begun → permit → what the
//! file is → its columns, chosen and renamed → every cell by what it is → pump → file. One row is held
//! at a time. Knows no HTTP.
//!
//! # What becomes of a cell
//!
//! Columns have no type; each cell is taken for what it is.
//!
//! | the cell | xlsx | ndjson, json | csv |
//! |---|---|---|---|
//! | anything in CSV | text | string | text |
//! | a text, a JSON string | text | string | text |
//! | a JSON number | number; beyond 15 digits text | the digits as they stand | the same |
//! | a spreadsheet's number | the same number | the shortest digits that mean it | the same |
//! | true, false | boolean | `true`, `false` | the same |
//! | a date | date cell | `"2026-01-31"` | the same |
//! | a date with a time | date-time cell | `"2026-01-31T09:30:00"`; with `tz` the moment in that zone | the same |
//! | a time of day, a duration | text `09:30:00`, `36:30:00` | the same | the same |
//! | a JSON array or object | text | as it is, on one line | text |
//! | a formula's error, such as `#N/A` | text, with a warning in the run | the same | the same |
//! | nothing, JSON's null | nothing | `null` | empty; an empty text is `""` |
//!
//! A CSV cell is never taken for a number, so `007` stays what it is; the `'` that guards against
//! formulas is taken off again. A formula whose result the file does not hold is refused.
//!
//! # What a column is
//!
//! The columns are the headings of a spreadsheet or CSV file, in the first row that holds something or
//! in the one that `header_row` names, or the keys of the first object. What stands beyond them is
//! refused, for leaving it out would lose it. A file without rows is refused in every format.

mod cells;
mod columns;
mod headers;
mod moments;
mod request;
mod source;
mod table;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use sea_orm::DatabaseConnection;
use tracing::Instrument;
use uuid::Uuid;

pub use headers::{Headers, HeadersBody, HeadersPage, Rename, read_headers};
pub use request::Asked;

use self::source::FileRows;
use crate::access::Caller;
use crate::delivery::{self, Coding, Delivery, Encoding, FLUSH_ROWS, Output};
use crate::error::{Error, Result};
use crate::formats::{Options, XlsxWriter};
use crate::runs::{Begin, Permits, Place, Progress, Refused, Run, RunKind, Runs, Stop, StopOnDrop};
use crate::sheets::Reader;
use crate::spool::{Kept, Spool, Told, Upload, What};

/// What conversions are made with.
pub struct Converter {
    /// The registry of runs.
    pub runs: Runs,
    /// Conversions at once, together with files being built.
    pub permits: Permits,
    /// Where files lie.
    pub spool: Spool,
    /// What reads files.
    pub reader: Reader,
    /// A directory for temporary files.
    pub temp_dir: PathBuf,
    /// How hard workbooks are compressed, 1 to 9.
    pub level: u8,
    /// What writes them.
    pub writer: XlsxWriter,
    /// The database in which mappings of headings are kept.
    pub state: DatabaseConnection,
    /// The same for whoever only looks.
    pub reads: DatabaseConnection,
}

/// A file that is whole.
pub struct Converted {
    /// The run that made it.
    pub run: Uuid,
    /// The file.
    pub file: Arc<Kept>,
    /// How long it waited for its permit, and then was built.
    pub waits: [Duration; 2],
}

/// A conversion that has its run.
struct Begun {
    run: Run,
    arrived: Result<Place>,
    at: Instant,
}

impl Converter {
    /// Reads the parameters of a conversion, and looks up the mapping that they name.
    ///
    /// # Errors
    /// [`Error::Malformed`] with every fault; [`Error::Unavailable`].
    pub async fn asked(&self, pairs: &[(String, String)]) -> Result<Asked> {
        let (mut asked, mut problems) = Asked::read(pairs);
        if let Some(name) = asked.headers() {
            match self.headers(name).await {
                Ok(found) => asked.map_by(found),
                Err(Error::NotFound(detail)) => {
                    problems.push(headers::unknown(name, detail));
                }
                Err(other) => return Err(other),
            }
        }
        if problems.is_empty() { Ok(asked) } else { Err(Error::Malformed(problems)) }
    }

    /// Converts a file that is here as a whole: when this comes back, the other one is there, and
    /// stays for a while.
    ///
    /// # Errors
    /// Whatever ended the run; nothing is left of its file then.
    pub async fn convert(
        &self,
        asked: Asked,
        upload: Upload,
        caller: &Caller,
        told: Told,
    ) -> Result<Converted, Refused> {
        let at = Instant::now();
        // Before the run is written down, which may take one request longer than the next.
        let arrived = self.permits.arrive();
        let run = self.begin(&asked, caller).await?;
        let id = run.id();
        // A client that leaves while his file is built does not want it.
        let _guard = StopOnDrop(run.stop().clone());
        let built = self.build(Begun { run, arrived, at }, asked, upload, told).await;
        built.map_err(|error| Refused { error, run: Some(id) })
    }

    /// Begins to convert a file that is here as a whole, and goes on whoever leaves; how it ends is told
    /// by the run, whose id this gives.
    ///
    /// # Errors
    /// [`Error::Busy`] where too many wait already; [`Error::Unavailable`].
    pub async fn convert_alone(
        self: &Arc<Self>,
        asked: Asked,
        upload: Upload,
        caller: &Caller,
        told: Told,
    ) -> Result<Uuid, Refused> {
        let at = Instant::now();
        let arrived = self.permits.arrive();
        let run = self.begin(&asked, caller).await?;
        let id = run.id();
        let place = match arrived {
            Ok(place) => place,
            Err(error) => return Err(Refused { error: run.refuse(error).await, run: Some(id) }),
        };
        let converter = Arc::clone(self);
        let work = async move {
            let begun = Begun { run, arrived: Ok(place), at };
            // What it says against the file, its run says.
            let _ = converter.build(begun, asked, upload, told).await;
        };
        tokio::spawn(work.instrument(tracing::Span::current()));
        Ok(id)
    }

    async fn build(
        &self,
        begun: Begun,
        asked: Asked,
        upload: Upload,
        told: Told,
    ) -> Result<Converted> {
        let Begun { run, arrived, at } = begun;
        let id = run.id();
        let permit = match run.permitted(arrived).await {
            Ok(permit) => permit,
            Err(error) => return Err(run.refuse(error).await),
        };
        let queued = at.elapsed();
        let file = match self.spool.begin(id, What::File, told, run.stop().clone()) {
            Ok(file) => file,
            Err(error) => return Err(run.refuse(error).await),
        };
        let upload = Arc::new(upload);
        let source = FileRows::of_upload(self.reader.clone(), Arc::clone(&upload), &asked);
        let file = Box::new(file.made_of(upload));
        delivery::write(self.delivery(run, source, asked), file, Some(permit), None).await?;
        let gone = || Error::Gone("the file of this run has expired; convert it again".into());
        let file = self.spool.find(id, What::File).ok_or_else(gone)?;
        let waits = [queued, at.elapsed().saturating_sub(queued)];
        Ok(Converted { run: id, file, waits })
    }

    /// Converts the file at `path` into a writer, as a run of the command line.
    ///
    /// # Errors
    /// Whatever ended it.
    pub async fn write(
        &self,
        asked: Asked,
        path: &Path,
        caller: &Caller,
        writer: Box<dyn Output>,
        watch: impl FnOnce(Uuid, Arc<Progress>, Stop),
    ) -> Result<()> {
        let run = self.begin(&asked, caller).await?;
        run.started();
        watch(run.id(), Arc::clone(run.progress()), run.stop().clone());
        let source = FileRows::of_path(self.reader.clone(), path.to_owned(), &asked);
        delivery::write(self.delivery(run, source, asked), writer, None, None).await.map(drop)
    }

    async fn begin(&self, asked: &Asked, caller: &Caller) -> Result<Run> {
        let (kind, params) = (RunKind::Convert, asked.params());
        let begin = Begin { kind, name: asked.to.name(), caller: &caller.name, params };
        self.runs.begin(begin).await
    }

    fn delivery(&self, run: Run, source: FileRows, asked: Asked) -> Delivery {
        let temp_dir = self.temp_dir.clone();
        let options = Options { temp_dir, level: self.level, writer: self.writer, ..asked.options };
        Delivery {
            source: Box::new(source),
            read: None,
            encoding: Encoding::Awaiting(asked.to, options),
            coding: Coding::Identity,
            run,
            cursor: None,
            summary: false,
            stall: None,
            flush_rows: FLUSH_ROWS,
        }
    }
}
