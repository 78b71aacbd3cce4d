//! Documents: PDFs out of rows, one by one and as archives.

mod bundles;
mod cases;
mod definitions;
mod faults;
mod limits;
mod pages;
mod singles;

use std::io::Read;
use std::path::Path;
use std::process::Command;

use serde_json::Value as Json;
use sha2::{Digest, Sha256};

use crate::support::{Answer, Backend, Place};

/// Runs a test on SQLite alone.
pub(crate) async fn once(test: impl AsyncFn(Place)) {
    test(Place::new(Backend::Sqlite).await).await;
}

/// The address of a project's bundle.
pub(crate) fn project(id: u32, delivery: &str) -> String {
    format!("/api/v1/projects/{id}/documents/zip?delivery={delivery}")
}

/// The entries of an archive, in the order of its directory.
pub(crate) fn entries(zip: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(zip)).expect("it is an archive");
    (0..archive.len())
        .map(|index| {
            let mut entry = archive.by_index(index).expect("an entry");
            let mut content = Vec::new();
            entry.read_to_end(&mut content).expect("it is whole");
            (entry.name().expect("a name in UTF-8").into_owned(), content)
        })
        .collect()
}

/// The documents of a bundle, after asserting that it is whole and that its manifest tells the truth.
#[track_caller]
pub(crate) fn documents(answer: &Answer) -> Vec<(String, Vec<u8>)> {
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("content-type"), Some("application/zip"));
    let mut entries = entries(&answer.body);
    let (name, manifest) = entries.pop().expect("there is at least the manifest");
    assert_eq!(name, "manifest.json");
    let manifest: Json = serde_json::from_slice(&manifest).expect("the manifest is JSON");
    let count = entries.len().to_string();
    assert_eq!(answer.header("x-document-count"), Some(&*count));
    assert_eq!(manifest["documents"], entries.len());
    let listed = manifest["entries"].as_array().expect("a list");
    assert_eq!(listed.len(), entries.len());
    for (said, (name, content)) in listed.iter().zip(&entries) {
        assert_eq!(said["name"], **name);
        assert_eq!(said["size"], content.len());
        assert_eq!(said["sha256"], hex(&Sha256::digest(content)));
        assert!(content.starts_with(b"%PDF-"), "{name}");
    }
    entries
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What a program says of a PDF; the program must be content.
pub(crate) fn of_pdf(pdf: &[u8], program: &str, arguments: &[&str]) -> String {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = directory.path().join("document.pdf");
    std::fs::write(&file, pdf).expect("a file can be written");
    run(program, arguments, &file)
}

fn run(program: &str, arguments: &[&str], file: &Path) -> String {
    let mut command = Command::new(program);
    let arguments = arguments.iter().map(|argument| match *argument {
        "FILE" => file.as_os_str(),
        other => other.as_ref(),
    });
    let output = command.args(arguments).output();
    let output = output.unwrap_or_else(|error| panic!("{program} is needed here: {error}"));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}: {}\n{said}{complained}", output.status);
    said
}

/// The text of a PDF's pages, as `pdftotext` finds it; each page ends with a form feed.
pub(crate) fn text(pdf: &[u8]) -> String {
    of_pdf(pdf, "pdftotext", &["-layout", "FILE", "-"])
}

/// The same without any spaces.
pub(crate) fn letters(pdf: &[u8]) -> String {
    text(pdf).split_whitespace().collect()
}
