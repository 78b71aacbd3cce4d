//! `tallyroll demo`, and the file that `serve --demo` makes for itself.

use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use tokio::runtime::Handle;

use crate::app::make_directory;
use crate::config::Config;
use crate::database::{self, Target};
use crate::demo::{self, Demo};
use crate::error::{Error, Result};

#[derive(Debug, Args)]
pub(super) struct Make {
    /// How many settlement lines
    #[arg(long)]
    rows: u64,
    /// Empty the example's tables first
    #[arg(long)]
    replace: bool,
}

impl Make {
    pub(super) async fn run(self, config: Config) -> Result<ExitCode> {
        let url = config.databases.get("").map(String::as_str).unwrap_or_default();
        if let Some(directory) = database::sqlite_file(url).as_deref().and_then(Path::parent) {
            make_directory("database_url", directory)?;
        }
        fill(url, self.rows, self.replace).await?;
        eprintln!("made {} settlement lines", self.rows);
        Ok(ExitCode::SUCCESS)
    }
}

async fn fill(url: &str, rows: u64, replace: bool) -> Result<()> {
    let db = database::open("database_url", url, 2).await?;
    let target = Target::of(&db, database::sqlite_file(url), Handle::current())?;
    let bar = bar(rows);
    let moved = bar.clone();
    let filled =
        demo::fill(&db, target, Demo::new(rows), replace, move |done| moved.set_position(done))
            .await;
    bar.finish_and_clear();
    let closed = db.close().await;
    filled?;
    closed.map_err(|source| Error::internal("closing the filled database", source))
}

/// Makes an SQLite file with example data, unless there is one: then it is somebody's and left
/// alone. It appears when it is whole. Says whether it was made.
pub(super) async fn make_file(file: &Path, rows: u64) -> Result<bool> {
    if file.exists() {
        return Ok(false);
    }
    if let Some(directory) = file.parent() {
        make_directory("database_url", directory)?;
    }
    let part = file.with_extension("db.part");
    remove(&part);
    let made = fill(&format!("sqlite://{}", part.display()), rows, false).await;
    let made = made.and_then(|()| {
        std::fs::rename(&part, file)
            .map_err(|source| Error::internal("moving the example database to its place", source))
    });
    remove(&part);
    made.map(|()| true)
}

/// The file of a try that was cut off, and what SQLite keeps beside it.
fn remove(part: &Path) {
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let mut name = part.as_os_str().to_owned();
        name.push(suffix);
        let _ = std::fs::remove_file(name);
    }
}

fn bar(rows: u64) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(rows);
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {human_pos} of {human_len} lines") {
        bar.set_style(style);
    }
    bar
}
