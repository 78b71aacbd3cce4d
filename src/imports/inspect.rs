//! Looking into a file as an import would: what it is, its first rows, which column became which. The
//! head is read alone; nothing is stored, and no run is begun.
//!
//! It takes the permit of a build while it reads, for a spreadsheet is read by a child process whose
//! memory is its own; it is no run, because it changes nothing and its answer is all there is of it.

use std::sync::Arc;

use serde::Serialize;
use tokio::task::spawn_blocking;

use super::cells::{display, shown, trim};
use super::checker::whose_is_missing;
use super::headers::{HeaderSearch, Matched, SEARCHED, letters};
use super::{Asked, Imports, Note, held_to};
use crate::access::Caller;
use crate::definitions::{Field, Import};
use crate::error::{Error, Problem, Result};
use crate::runs::{Stop, StopOnDrop};
use crate::sheets::{Cell, FileKind, Outline, Reader, Remark, SheetSink, Wanted};
use crate::spool::Upload;

/// Rows that are shown from the top of the file, and as many below the header.
const SHOWN: usize = 10;

/// What a file is, and what an import would make of it.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct Inspection {
    /// `xlsx`, `xlsb`, `xls`, `ods`, `csv`, `ndjson` or `json`.
    #[schema(value_type = String)]
    pub format: FileKind,
    /// How its text is encoded: `UTF-8`, `UTF-16LE`, `UTF-16BE` or `CP949`; null for spreadsheets.
    pub encoding: Option<String>,
    /// What separates values; null for what is no CSV.
    pub delimiter: Option<char>,
    /// The sheets of a spreadsheet, in the order of its tabs.
    pub sheets: Vec<SeenSheet>,
    /// The name of the sheet that is read; null where there are none.
    pub sheet: Option<String>,
    /// The header's row as a person sees it, or the one that is most like it; null where there is
    /// none, and for JSON.
    pub header_row: Option<u64>,
    /// The first 10 rows that hold something, the header, and the first 10 below it.
    pub rows: Vec<SeenRow>,
    /// Which column of the file became which column of the import, by the header row.
    pub columns: Vec<SeenColumn>,
    /// Columns of the import that the file does not have.
    pub missing: Vec<MissingColumn>,
    /// What the import would refuse of the header; empty: its rows would be checked.
    pub problems: Vec<Problem>,
    /// What was noticed and is no problem.
    pub warnings: Vec<Note>,
}

/// One sheet of a spreadsheet.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct SeenSheet {
    /// Its name.
    pub name: String,
    /// Whether a person sees it without looking for it.
    pub visible: bool,
    /// Whether it is the one that is read.
    pub chosen: bool,
}

/// A row as a person sees it.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct SeenRow {
    /// Its number.
    pub row: u64,
    /// Its values as texts, each cut to 200 characters.
    pub values: Vec<String>,
}

/// A column of the file.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct SeenColumn {
    /// Its place, from 1.
    pub position: usize,
    /// Its letters in a spreadsheet; null for JSON.
    pub letters: Option<String>,
    /// Its heading as the file has it.
    pub title: String,
    /// The key of the import's column that it became; null where it became none.
    pub key: Option<String>,
    /// `taken`; `doubled`: another column became the same; `unknown`: the import has no such column;
    /// `ignored`: it has no heading, or says what was wrong with rows that were handed back.
    pub state: &'static str,
}

/// A column of the import that the file does not have.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct MissingColumn {
    /// Its key.
    pub key: String,
    /// Its title.
    pub title: String,
    /// Whether the import refuses a file without it; else what is stored there stays as it is.
    pub required: bool,
}

impl Imports {
    /// Looks into a file that is here as a whole.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a file that cannot be read, as for an import; [`Error::Busy`].
    pub async fn inspect(
        &self,
        import: Arc<Import>,
        asked: Asked,
        upload: Upload,
        caller: &Caller,
    ) -> Result<Inspection> {
        let stop = Stop::new();
        // Whoever leaves has no more use for it.
        let _guard = StopOnDrop(stop.clone());
        let permit = self.permits.arrive()?.permit(&stop).await?;
        let held_to: Vec<bool> = held_to(&import, caller).iter().map(Option::is_some).collect();
        let reader = self.reader();
        let looking = spawn_blocking(move || {
            let looked = look(&import, asked, &held_to, &reader, &upload, &stop);
            drop((upload, permit));
            looked
        });
        looking.await.map_err(|source| Error::internal("looking into a file", source))?
    }
}

fn look(
    import: &Import,
    asked: Asked,
    held_to: &[bool],
    reader: &Reader,
    upload: &Upload,
    stop: &Stop,
) -> Result<Inspection> {
    let mut looker = Looker::new(import, asked.header_row);
    let wanted = Wanted { sheet: asked.sheet };
    // A header that is said to be further down is looked for there.
    let read = if asked.header_row.is_none_or(|row| row <= SEARCHED) {
        reader.read_head(upload.path(), &wanted, stop, &mut looker)
    } else {
        reader.read(upload.path(), &wanted, stop, &mut looker)
    };
    match read {
        Err(error) if !looker.enough => Err(error),
        // It has seen enough, and said so by an error.
        Ok(_) | Err(_) => looker.finish(held_to),
    }
}

/// Looks at rows until it has seen enough.
struct Looker<'a> {
    import: &'a Import,
    asked: Option<u64>,
    search: HeaderSearch<'a>,
    outline: Option<Outline>,
    remarks: Vec<Remark>,
    rows: Vec<SeenRow>,
    /// Rows that were seen.
    seen: usize,
    /// The header, or the row that is most like one.
    header: Option<Matched>,
    /// Rows below the header, once it is found for good.
    below: Option<usize>,
    /// Why there is no header, once no better row comes.
    problems: Vec<Problem>,
    enough: bool,
}

impl<'a> Looker<'a> {
    fn new(import: &'a Import, asked: Option<u64>) -> Self {
        Self {
            import,
            asked,
            search: HeaderSearch::new(import, asked),
            outline: None,
            remarks: Vec::new(),
            rows: Vec::new(),
            seen: 0,
            header: None,
            below: None,
            problems: Vec::new(),
            enough: false,
        }
    }

    /// Looks at a row that may be the header.
    fn search(&mut self, number: u64, cells: &[Cell<'_>]) {
        if !self.problems.is_empty() {
            return;
        }
        let titles = || cells.iter().map(|cell| trim(&display(*cell)).to_owned()).collect();
        let within = self.asked.map_or(number <= SEARCHED, |asked| number == asked);
        match self.search.row(number, cells) {
            Ok(Some(_)) => {
                self.header = Some(Matched::new(self.import, titles(), Some(number)));
                self.below = Some(0);
                return;
            }
            Ok(None) => {}
            Err(problems) => self.problems = problems,
        }
        if within {
            let row = Matched::new(self.import, titles(), Some(number));
            let best = self.header.as_ref().map_or(0, Matched::found);
            if self.asked.is_some() || row.found() > best {
                self.header = Some(row);
            }
        }
    }

    fn finish(self, held_to: &[bool]) -> Result<Inspection> {
        let Some(outline) = self.outline else {
            return Err(Error::internal("looking into a file", "nothing was said of it"));
        };
        let json = matches!(outline.kind, FileKind::Ndjson | FileKind::Json);
        let mut problems = self.problems;
        if let Some(header) = self.header.as_ref().filter(|_| json) {
            problems.clone_from(&header.problems);
        } else if self.below.is_none() && problems.is_empty() {
            problems = self.search.not_found();
        }
        let fields = &self.import.fields;
        if let Some(header) = self.header.as_ref().filter(|_| problems.is_empty()) {
            let places = fields.iter().zip(held_to).zip(&header.places);
            let lost = places.filter(|((_, held), places)| **held && places.is_empty());
            problems.extend(lost.map(|((field, _), _)| whose_is_missing(field)));
        }
        let warnings = warnings(self.remarks, self.header.as_ref(), &problems);
        let chosen = outline.sheet;
        let sheets: Vec<SeenSheet> = outline
            .sheets
            .into_iter()
            .enumerate()
            .map(|(place, sheet)| SeenSheet {
                name: sheet.name,
                visible: sheet.visible,
                chosen: chosen == Some(place),
            })
            .collect();
        Ok(Inspection {
            format: outline.kind,
            encoding: outline.encoding,
            delimiter: outline.delimiter,
            sheet: sheets.iter().find(|sheet| sheet.chosen).map(|sheet| sheet.name.clone()),
            sheets,
            header_row: self.header.as_ref().map(|h| h.headers.row).filter(|row| *row > 0),
            rows: self.rows,
            columns: self.header.as_ref().map_or(Vec::new(), |h| columns(h, fields, json)),
            missing: missing(self.header.as_ref(), fields),
            problems,
            warnings,
        })
    }
}

fn columns(header: &Matched, fields: &[Field], json: bool) -> Vec<SeenColumn> {
    let column = |(place, title): (usize, &String)| {
        let field = header.headers.columns.get(place).copied().flatten();
        let doubled =
            field.and_then(|field| header.places.get(field)).is_some_and(|places| places.len() > 1);
        SeenColumn {
            position: place + 1,
            letters: (!json).then(|| letters(place)),
            title: title.clone(),
            key: field.and_then(|field| fields.get(field)).map(|field| field.key.clone()),
            state: match field {
                Some(_) if doubled => "doubled",
                Some(_) => "taken",
                None if header.is_ignored(place) => "ignored",
                None => "unknown",
            },
        }
    };
    header.headers.titles.iter().enumerate().map(column).collect()
}

/// All of them where there is no header at all.
fn missing(header: Option<&Matched>, fields: &[Field]) -> Vec<MissingColumn> {
    let is_there = |place: usize| {
        header.and_then(|header| header.places.get(place)).is_some_and(|found| !found.is_empty())
    };
    let lacking = fields.iter().enumerate().filter(|(place, _)| !is_there(*place));
    let lacking = lacking.map(|(_, field)| MissingColumn {
        key: field.key.clone(),
        title: field.title.clone(),
        required: field.required,
    });
    lacking.collect()
}

/// As the import would say it.
fn warnings(remarks: Vec<Remark>, header: Option<&Matched>, problems: &[Problem]) -> Vec<Note> {
    let remarks = remarks.into_iter().map(|Remark { code, detail }| Note { code, detail });
    let mut warnings: Vec<Note> = remarks.collect();
    // Where unknown columns are refused, they are among the problems.
    let refused = problems.iter().any(|problem| problem.code == "unknown_column");
    let unknown = header.into_iter().filter(|_| !refused).flat_map(|h| &h.headers.unknown);
    warnings.extend(unknown.map(|title| Note::unknown_column(title)));
    warnings
}

impl SheetSink for Looker<'_> {
    fn begin(&mut self, outline: &Outline) -> Result<()> {
        self.outline = Some(outline.clone());
        Ok(())
    }

    fn keys(&mut self, keys: &[String]) -> Result<()> {
        let titles = keys.iter().map(|key| trim(key).to_owned()).collect();
        self.header = Some(Matched::new(self.import, titles, None));
        Ok(())
    }

    fn remark(&mut self, remark: &Remark) -> Result<()> {
        self.remarks.push(remark.clone());
        Ok(())
    }

    fn row(&mut self, number: u64, cells: &[Cell<'_>]) -> Result<()> {
        self.seen += 1;
        let json = self
            .outline
            .as_ref()
            .is_some_and(|outline| matches!(outline.kind, FileKind::Ndjson | FileKind::Json));
        match &mut self.below {
            Some(below) => *below += 1,
            None if json => {}
            None => self.search(number, cells),
        }
        if self.seen <= SHOWN || self.below.is_some() {
            let values = cells.iter().map(|cell| shown(*cell).into_owned()).collect();
            self.rows.push(SeenRow { row: number, values });
        }
        let over = json || !self.problems.is_empty();
        self.enough =
            self.below.is_some_and(|below| below >= SHOWN) || (over && self.seen >= SHOWN);
        if self.enough { Err(Error::Cancelled) } else { Ok(()) }
    }
}
