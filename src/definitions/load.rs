//! All definitions: those that came with the program, and those of the directory that is configured.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::document::Document;
use super::fault::Fault;
use super::import::Import;
use super::parse;
use super::report::Report;

/// How the files that come with the program are told apart in messages.
pub(super) const BUILT_IN: &str = "built-in";

/// The definitions that come with the program, each a name and a text.
#[derive(Debug, Clone, Copy, Default)]
pub struct BuiltIn<'t> {
    /// The reports.
    pub reports: &'t [(&'t str, &'t str)],
    /// The imports.
    pub imports: &'t [(&'t str, &'t str)],
    /// The documents.
    pub documents: &'t [(&'t str, &'t str)],
}

/// A folder of the directory: what kind of definitions its files are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Folder {
    /// `reports/`
    Reports,
    /// `imports/`
    Imports,
    /// `documents/`
    Documents,
}

impl Folder {
    /// Every folder, in the order in which they are read.
    pub const ALL: [Self; 3] = [Self::Reports, Self::Imports, Self::Documents];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reports => "reports",
            Self::Imports => "imports",
            Self::Documents => "documents",
        }
    }

    /// One of its definitions, in words.
    const fn one(self) -> &'static str {
        match self {
            Self::Reports => "a report",
            Self::Imports => "an import",
            Self::Documents => "a document",
        }
    }

    fn file(self, name: &str) -> String {
        format!("{}/{name}.toml", self.name())
    }
}

/// Every definition that could be read, and what is wrong with the others.
#[derive(Debug, Clone, Default)]
pub struct Definitions {
    /// The reports by name.
    pub reports: BTreeMap<String, Arc<Report>>,
    /// The imports by name.
    pub imports: BTreeMap<String, Arc<Import>>,
    /// The documents by name.
    pub documents: BTreeMap<String, Arc<Document>>,
    /// The faults, file by file, in the order of their lines.
    pub faults: Vec<Fault>,
}

impl Definitions {
    /// Reads the built-in definitions, and then `reports/*.toml`, `imports/*.toml` and `documents/*.toml`
    /// of the directory, where one of a built-in's name replaces it.
    ///
    /// A file with faults gives no definition, and takes a built-in of its name away with it: an answer
    /// by a definition that somebody meant to replace would be a wrong one. A directory need not have
    /// every folder; one that is not there is a fault.
    #[must_use]
    pub fn load(built_in: BuiltIn<'_>, directory: Option<&Path>) -> Self {
        let mut definitions = Self::default();
        for (folder, texts) in [
            (Folder::Reports, built_in.reports),
            (Folder::Imports, built_in.imports),
            (Folder::Documents, built_in.documents),
        ] {
            for (name, text) in texts {
                let file = format!("{BUILT_IN} {}", folder.file(name));
                definitions.put(folder, name, &file, text);
            }
        }
        if let Some(directory) = directory {
            definitions.read_directory(directory);
        }
        definitions
    }

    /// Keeps the last good version of what cannot be read any more: a file at fault, or all of a
    /// directory that cannot be read. The faults stay.
    #[must_use]
    pub fn keeping(mut self, earlier: &Self) -> Self {
        let all = self.faults.iter().any(Fault::is_of_directory);
        let faults = self.faults.iter().map(|fault| fault.file.clone()).collect();
        keep(&mut self.reports, &earlier.reports, |name| {
            all || is_among(&faults, Folder::Reports, name)
        });
        keep(&mut self.imports, &earlier.imports, |name| {
            all || is_among(&faults, Folder::Imports, name)
        });
        keep(&mut self.documents, &earlier.documents, |name| {
            all || is_among(&faults, Folder::Documents, name)
        });
        self
    }

    /// Whether the file of the definition with this name has faults.
    #[must_use]
    pub fn is_at_fault(&self, folder: Folder, name: &str) -> bool {
        let file = folder.file(name);
        self.faults.iter().any(|fault| fault.file == file)
    }

    fn put(&mut self, folder: Folder, name: &str, file: &str, text: &str) {
        match folder {
            Folder::Reports => {
                let read = parse::report(name, file, text);
                replace(&mut self.reports, name, read, &mut self.faults);
            }
            Folder::Imports => {
                let read = parse::import(name, file, text);
                replace(&mut self.imports, name, read, &mut self.faults);
            }
            Folder::Documents => {
                let read = parse::document(name, file, text);
                replace(&mut self.documents, name, read, &mut self.faults);
            }
        }
    }

    fn take_away(&mut self, folder: Folder, name: &str) {
        match folder {
            Folder::Reports => drop(self.reports.remove(name)),
            Folder::Imports => drop(self.imports.remove(name)),
            Folder::Documents => drop(self.documents.remove(name)),
        }
    }

    fn read_directory(&mut self, directory: &Path) {
        let remedy =
            "make it, let the server's user read it, or change the setting \"definitions\"";
        if holds_something_else(directory) {
            let names: Vec<_> =
                Folder::ALL.iter().map(|folder| format!("{}/", folder.name())).collect();
            let message = format!("the directory holds no {}", names.join(" and no "));
            let remedy = "put definitions into such a directory, or name the one that has it with the \
                          setting \"definitions\"";
            self.unreadable(&directory.display().to_string(), &message, remedy);
        }
        for folder in Folder::ALL {
            let path = directory.join(folder.name());
            match files(&path) {
                Ok(files) => files.iter().for_each(|file| self.read_file(folder, file)),
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    let message = format!("the directory cannot be read: {error}");
                    self.unreadable(&path.display().to_string(), &message, remedy);
                }
                Err(_) if directory.is_dir() => {}
                Err(error) => {
                    let message = format!("the directory cannot be read: {error}");
                    return self.unreadable(&directory.display().to_string(), &message, remedy);
                }
            }
        }
    }

    fn read_file(&mut self, folder: Folder, path: &Path) {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let file = folder.file(&stem);
        if !parse::is_name(&stem) {
            self.unreadable(
                &file,
                &format!("\"{stem}\" cannot be the name of {}", folder.one()),
                "rename the file, using lowercase letters, digits, \"-\" and \"_\"",
            );
            return;
        }
        match fs::read(path).map(String::from_utf8) {
            Ok(Ok(text)) => self.put(folder, &stem, &file, &text),
            Ok(Err(error)) => {
                self.take_away(folder, &stem);
                let valid = error.utf8_error().valid_up_to();
                let line =
                    error.as_bytes().iter().take(valid).filter(|byte| **byte == b'\n').count();
                self.faults.push(Fault {
                    file,
                    line: line + 1,
                    message: "the file is not UTF-8".into(),
                    remedy: "save it as UTF-8".into(),
                });
            }
            Err(error) => {
                self.take_away(folder, &stem);
                let (message, remedy) = why_unreadable(path, &error);
                self.unreadable(&file, &message, remedy);
            }
        }
    }

    fn unreadable(&mut self, file: &str, message: &str, remedy: &str) {
        self.faults.push(Fault {
            file: file.to_owned(),
            line: 0,
            message: message.to_owned(),
            remedy: remedy.to_owned(),
        });
    }
}

/// Whether a directory has content, and nothing of it is for definitions: perhaps it is one of them.
fn holds_something_else(directory: &Path) -> bool {
    let is_empty = fs::read_dir(directory).map_or(true, |mut entries| entries.next().is_none());
    !is_empty && Folder::ALL.iter().all(|folder| !directory.join(folder.name()).exists())
}

/// Says which definitions there are, for whoever named another.
pub fn there_are<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> String {
    /// More help nobody who misspelt one.
    const SHOWN: usize = 30;
    let more = names.len().saturating_sub(SHOWN);
    let shown: Vec<&str> = names.take(SHOWN).collect();
    match (shown.is_empty(), more) {
        (true, _) => "there are none".into(),
        (false, 0) => format!("there are: {}", shown.join(", ")),
        (false, more) => format!("there are: {}, and {more} more", shown.join(", ")),
    }
}

/// What is wrong with a file that cannot be read, and what to do.
fn why_unreadable(path: &Path, error: &std::io::Error) -> (String, &'static str) {
    if path.is_dir() {
        let message = "it is a directory, and its name ends like that of a definition";
        return (message.into(), "put a file in its place, or take .toml off its name");
    }
    match path.read_link() {
        Ok(target) if !path.exists() => (
            format!("it is a link to {}, which is not there", target.display()),
            "put the file there, or remove the link",
        ),
        _ => (format!("the file cannot be read: {error}"), "let the server's user read it"),
    }
}

/// Whether a definition's file is among those at fault.
fn is_among(files: &BTreeSet<String>, folder: Folder, name: &str) -> bool {
    files.contains(&folder.file(name))
}

/// Keeps those of the earlier definitions that are `kept`, where there is no other.
fn keep<T>(
    now: &mut BTreeMap<String, Arc<T>>,
    earlier: &BTreeMap<String, Arc<T>>,
    kept: impl Fn(&str) -> bool,
) {
    for (name, definition) in earlier.iter().filter(|(name, _)| kept(name)) {
        now.entry(name.clone()).or_insert_with(|| Arc::clone(definition));
    }
}

/// Puts what was read in the place of an earlier one of its name, and nothing there if it has faults.
fn replace<T>(
    all: &mut BTreeMap<String, Arc<T>>,
    name: &str,
    read: Result<T, Vec<Fault>>,
    faults: &mut Vec<Fault>,
) {
    all.remove(name);
    match read {
        Ok(definition) => drop(all.insert(name.to_owned(), Arc::new(definition))),
        Err(found) => faults.extend(found),
    }
}

/// The TOML files of a directory by name; those that editors hide are passed over.
fn files(directory: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if !hidden && path.extension().is_some_and(|extension| extension == "toml") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
