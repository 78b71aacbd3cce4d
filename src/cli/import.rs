//! `tallyroll import`.

use std::fs::File;
use std::io::{self, BufWriter, Read};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use sha2::{Digest, Sha256};
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;
use uuid::Uuid;

use super::output;
use super::watch::{Signals, bar, follow};
use crate::access::Caller;
use crate::app::App;
use crate::config::{Config, Given};
use crate::delivery::{Output, Written};
use crate::error::{Error, Problem, Result};
use crate::formats::{Format, Options};
use crate::imports::{self, Asked, Begun, Imported, Outcome, Rejects};
use crate::rows::hex;
use crate::runs::{Reason, Stop};
use crate::spool::{Upload, What};

/// Problems that are printed; the others are counted.
const PRINTED: usize = 10;
/// Bytes that are taken together, and how many of these may lie about.
const TAKEN: usize = 256 << 10;
const AHEAD: usize = 4;

#[derive(Debug, Args)]
pub(super) struct Import {
    /// The import's name
    name: String,
    /// The file to take in, or - for standard input
    file: String,
    /// Check everything, store nothing
    #[arg(long)]
    dry_run: bool,
    /// What is done about rows with problems: reject stores nothing, skip stores the good ones
    /// [default: reject]
    #[arg(long, value_parser = ["reject", "skip"])]
    on_problem: Option<String>,
    /// The sheet, by name or by number from 1 [default: the first visible one]
    #[arg(long, value_parser = NonEmptyStringValueParser::new())]
    sheet: Option<String>,
    /// The header's row as a spreadsheet shows it [default: found within the first 20 rows]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1_048_576))]
    header_row: Option<u64>,
    /// Write the rejected rows, with what is wrong, into this .xlsx, .csv or .ndjson file
    #[arg(long, value_name = "FILE", value_parser = problems_file)]
    problems: Option<ProblemsFile>,
}

/// Where rejected rows go, and as what.
#[derive(Debug, Clone)]
struct ProblemsFile {
    path: String,
    format: Format,
}

fn problems_file(path: &str) -> Result<ProblemsFile, String> {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
    let format = Format::from_name(&ending).filter(|format| *format != Format::Json);
    let format = format.ok_or("the name must end in .xlsx, .csv or .ndjson")?;
    Ok(ProblemsFile { path: path.to_owned(), format })
}

impl Import {
    pub(super) async fn run(self, config: Config) -> Result<ExitCode> {
        let app = App::open(config).await?;
        let imported = self.import(&app).await;
        app.close().await;
        imported
    }

    async fn import(&self, app: &App) -> Result<ExitCode> {
        let caller = Caller::cli(&Given::user());
        let import = app.imports.find(&self.name, &caller)?;
        let asked = Asked::parse(&self.pairs())?;
        // Nobody who starts meanwhile takes our temporary files for left over.
        let _owned = app.own_temp_dir()?;
        let mut signals = Signals::listen()?;
        // Before anything is stored, so that it is known to be writable.
        let problems = self.problems.as_ref().map(|file| output::open(&file.path)).transpose()?;
        let upload = taken_in(app, &self.file, &mut signals).await?;
        let begun = app.imports.begin(import, asked, upload, &caller, None).await;
        let ended = match begun.map_err(|refused| refused.error)? {
            Begun::Now(going) => {
                let (bar, progress) = (bar(), Arc::clone(going.progress()));
                drop(tokio::spawn(follow(bar.clone(), progress, going.stop().clone(), signals)));
                let ended = going.end().await;
                bar.finish_and_clear();
                ended
            }
            before @ Begun::Before(_) => before.end().await,
        };
        match ended {
            Ok(Imported { run, outcome }) => {
                self.tell(&outcome);
                self.hand_back(app, run, problems).await?;
                Ok(ExitCode::SUCCESS)
            }
            Err(refused) => {
                let (Some(outcome), Some(run)) = (rejected(&refused.error), refused.run) else {
                    return Err(refused.error);
                };
                self.tell(&outcome);
                self.hand_back(app, run, problems).await?;
                eprintln!("tallyroll: {}", self.refusal(&outcome));
                Ok(ExitCode::FAILURE)
            }
        }
    }

    fn pairs(&self) -> Vec<(String, String)> {
        let given = [
            ("dry_run", self.dry_run.then(|| "true".to_owned())),
            ("on_problem", self.on_problem.clone()),
            ("sheet", self.sheet.clone()),
            ("header_row", self.header_row.map(|row| row.to_string())),
        ];
        let given = given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        given.collect()
    }

    /// What it came to.
    fn tell(&self, outcome: &Outcome) {
        let Outcome { rows_read, inserted, updated, unchanged, rejected, .. } = outcome;
        println!(
            "rows: {rows_read} read, {inserted} inserted, {updated} updated, {unchanged} unchanged, \
             {rejected} rejected"
        );
        if self.dry_run {
            println!("a trial: nothing was stored");
        }
        for warning in &outcome.warnings {
            println!("note: {}", one_line(&warning.detail));
        }
        for problem in outcome.problems.iter().take(PRINTED) {
            let (row, column) = (problem.row, one_line(&problem.column));
            let value = match problem.value.as_str() {
                "" => String::new(),
                value => format!(" \"{}\"", one_line(value)),
            };
            println!("row {row}, {column}{value}: {}", one_line(&problem.detail));
        }
        let printed = outcome.problems.len().min(PRINTED) as u64;
        match outcome.problems_total.saturating_sub(printed) {
            0 => {}
            more if self.problems.is_some() => println!("and {more} more"),
            more => println!("and {more} more; --problems FILE writes every rejected row"),
        }
    }

    fn refusal(&self, outcome: &Outcome) -> String {
        let Outcome { rejected, rows_read, .. } = outcome;
        let rows = if *rows_read == 1 { "row" } else { "rows" };
        let have = if *rejected == 1 { "has" } else { "have" };
        let listed = match &self.problems {
            Some(file) => format!(" ({} has them with what is wrong)", file.path),
            None => String::new(),
        };
        format!(
            "{rejected} of {rows_read} {rows} {have} problems; nothing was stored. Mend them{listed} \
             and import the file again, or give --on-problem skip to store the others"
        )
    }

    /// Writes the rejected rows where they are wanted, if there are any.
    async fn hand_back(&self, app: &App, run: Uuid, output: Option<Box<dyn Output>>) -> Result<()> {
        let (Some(output), Some(file)) = (output, &self.problems) else { return Ok(()) };
        let Some(kept) = app.spool.find(run, What::Problems) else {
            println!("no rows were rejected, so {} was not written", file.path);
            return Ok(());
        };
        let options = Options {
            temp_dir: app.config.temp_dir.clone(),
            level: app.config.xlsx_level,
            title: "problems".into(),
            bom: true,
            ..Options::default()
        };
        let format = file.format;
        let writing = spawn_blocking(move || {
            let mut out = BufWriter::new(output);
            imports::hand_back(Rejects::open(&kept)?, format, &options, &mut out)?;
            let mut output =
                out.into_inner().map_err(|error| Error::writing(error.into_error()))?;
            // Of the rows of a run that has said its last word, nobody keeps the digest.
            let whole = Written { bytes: 0, sha256: hex(&Sha256::digest([])) };
            output.commit(&whole).map_err(Error::writing)
        });
        writing.await.map_err(|source| Error::internal("writing rejected rows", source))?
    }
}

/// What an import came to that was refused for its rows.
fn rejected(error: &Error) -> Option<Outcome> {
    match error {
        Error::Rejected { report, .. } => serde_json::from_value((**report).clone()).ok(),
        _ => None,
    }
}

/// A text from a file, which must not move the cursor of a terminal.
fn one_line(text: &str) -> String {
    text.chars().map(|char| if char.is_control() { ' ' } else { char }).collect()
}

/// Takes the file in as a copy: it is read twice where rows are rejected, and may be changed meanwhile
/// or come through a pipe.
async fn taken_in(app: &App, file: &str, signals: &mut Signals) -> Result<Upload> {
    let stop = Stop::new();
    let mut upload = app.spool.take_in(stop.clone())?;
    let (sender, mut chunks) = mpsc::channel(AHEAD);
    let name = file.to_owned();
    // A thread that nobody waits for: one that reads from a terminal or a pipe cannot be stopped.
    std::thread::Builder::new()
        .name("take in".into())
        .spawn(move || read(&name, &sender))
        .map_err(|source| Error::internal("starting a thread", source))?;
    let taking = async {
        while let Some(chunk) = chunks.recv().await {
            let chunk: Vec<u8> = chunk.map_err(|error| unreadable(file, &error))?;
            let adding = spawn_blocking(move || upload.add(&chunk).map(|()| upload));
            let added = adding.await;
            upload = added.map_err(|source| Error::internal("taking a file in", source))??;
        }
        Ok::<_, Error>(upload)
    };
    tokio::select! {
        taken = taking => taken,
        () = signals.told_to_stop() => {
            stop.fire(Reason::Cancelled);
            Err(Error::Cancelled)
        }
    }
}

fn read(file: &str, sender: &mpsc::Sender<io::Result<Vec<u8>>>) {
    let read = || -> io::Result<()> {
        let mut input: Box<dyn Read> = match file {
            "-" => Box::new(io::stdin()),
            file => Box::new(File::open(file)?),
        };
        loop {
            let mut chunk = Vec::with_capacity(TAKEN);
            input.by_ref().take(TAKEN as u64).read_to_end(&mut chunk)?;
            if chunk.is_empty() || sender.blocking_send(Ok(chunk)).is_err() {
                return Ok(());
            }
        }
    };
    if let Err(error) = read() {
        // Whoever does not listen any more does not mind.
        let _ = sender.blocking_send(Err(error));
    }
}

fn unreadable(file: &str, error: &io::Error) -> Error {
    let detail = match file {
        "-" => format!("standard input cannot be read: {error}"),
        file => format!(
            "{file} cannot be read: {error}; name a file that is there, or - for standard input"
        ),
    };
    Error::Invalid(vec![Problem::parameter("file", "unreadable", file, detail)])
}
