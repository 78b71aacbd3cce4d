//! `bundle-images`: twenty photos of 3 MB, one a document and all of them in one.

use std::process::Command;

use super::{database, definition};
use crate::bench::Bench;
use crate::checks::Checks;
use crate::client::Pace;
use crate::database::Database;
use crate::error::{Doing, Error, Result};
use crate::peers::source;
use crate::program::{self, Printed};
use crate::results::Outcome;
use crate::sample::Sample;
use crate::scenarios::at_rest;
use crate::server::Server;
use crate::stats::{Series, mebibytes, megabytes};

const PHOTOS: u64 = 20;
const BYTES: u64 = 3_000_000;
const ROUNDS: usize = 5;
/// Both kinds of documents.
const KINDS: [(&str, &str); 2] = [("photo", "one photo each"), ("photos", "all photos in one")];

/// The sections in place of the ledger's.
const SECTIONS: &str = "[[sections]]\nkind = \"heading\"\ntext = \"{/number}\"\n\n\
                        [[sections]]\nkind = \"images\"\npointer = \"/content/photos\"\n";

/// Runs the scenario.
///
/// # Errors
/// No database; no Java to make photos with; a request that fails.
pub(in crate::scenarios) fn run(bench: &Bench) -> Result<Outcome> {
    let database = database(bench)?;
    if let Err(remedy) = photos(bench, &database)? {
        let mut checks = Checks::default();
        checks.left_out("photos", &remedy);
        return Ok(Outcome { text: format!("Left out: {remedy}.\n"), checks });
    }
    let directory = definition(bench, "photos", |ledger| {
        let (report, _) = ledger.split_once("[[sections]]").unwrap_or((ledger, ""));
        format!("{report}{SECTIONS}")
    })?;
    let server = Server::start(bench, &database, &["--definitions", &directory])?;
    let (server, _) = at_rest(server)?;
    let mut checks = Checks::default();
    let mut lines = String::new();
    for (kind, about) in KINDS {
        for delivery in ["prepared", "direct"] {
            println!("{about}, {delivery}");
            let path = format!("/documents/photos/zip?project=3&kind={kind}&delivery={delivery}");
            lines += &line(bench, &server, &path, (about, delivery), &mut checks)?;
        }
    }
    server.stop()?;
    let text = format!(
        "{PHOTOS} JPEG photos of about {} MB each, in base64 within the documents' JSON, out of SQLite as PDFs \
         in one ZIP over loopback HTTP.\n\n\
         | documents | delivery | MB | s | first byte, ms | CPU, s | MiB above idle |\n|---|---|---|---|---|---|---|\n{lines}",
        BYTES / 1_000_000
    );
    Ok(Outcome { text, checks })
}

fn line(
    bench: &Bench,
    server: &Server,
    path: &str,
    (about, delivery): (&str, &str),
    checks: &mut Checks,
) -> Result<String> {
    let rounds = bench.options.asked_rounds.unwrap_or(ROUNDS);
    let mut samples = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        let idle = server.process().settled()?;
        let (sample, run) = Sample::take(server, path, Pace::Fast, idle)?;
        if delivery == "prepared" {
            server.forget(&run)?;
        }
        samples.push(sample);
    }
    let series = |of: &dyn Fn(&Sample) -> f64| -> Series { samples.iter().map(of).collect() };
    let bytes = samples.first().map_or(0, |sample| sample.drained.bytes);
    let least = PHOTOS * BYTES / 2;
    let what = format!("{about}, {delivery}: {bytes} bytes, more than {least}");
    checks.check(bytes > least, &what);
    Ok(format!(
        "| {about} | {delivery} | {:.1} | {} | {:.1} | {:.2} | {} |\n",
        megabytes(bytes),
        series(&|sample| sample.drained.whole.as_secs_f64()),
        series(&|sample| sample.drained.first_byte.as_secs_f64() * 1_000.0),
        series(&|sample| sample.cpu),
        mebibytes(samples.iter().map(|sample| sample.above_idle).max().unwrap_or(0)),
    ))
}

/// Puts the documents with photos into the database, or says what has to be installed for it.
fn photos(bench: &Bench, database: &Database) -> Result<std::result::Result<(), String>> {
    let place = bench.workplace.path();
    let classes = place.join("photo-classes");
    let mut compiler = Command::new("javac");
    compiler.args(["-encoding", "UTF-8", "-d"]).arg(&classes).arg(source("Photos.java"));
    let Ok(Printed::Done(_)) = program::text(&mut compiler) else {
        return Ok(Err("`apt-get install default-jdk-headless`".into()));
    };
    let csv = place.join("photos.csv");
    let (count, bytes) = (PHOTOS.to_string(), BYTES.to_string());
    let mut java = Command::new("java");
    java.args(["-Xmx2g", "-Djava.awt.headless=true", "-cp"]).arg(&classes);
    let made = program::text(java.args(["Photos", &count, &bytes]).arg(&csv))?;
    let columns = "id, project_id, number, title, kind, content, created_at";
    let loaded = program::text(&mut database.load_csv("documents", columns, &csv))?;
    std::fs::remove_file(&csv).doing("removing the photos' file")?;
    match (made, loaded) {
        (Printed::Done(_), Printed::Done(_)) => Ok(Ok(())),
        _ => Err(Error::new("the photos could not be loaded")),
    }
}
