//! All definitions: those that came with the program, and those of the directory that is configured.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::fault::Fault;
use super::parse;
use super::report::Report;

/// How the files that come with the program are told apart in messages.
pub(super) const BUILT_IN: &str = "built-in";

/// Every report that could be read, and what is wrong with the others.
#[derive(Debug, Clone, Default)]
pub struct Definitions {
    /// The reports by name.
    pub reports: BTreeMap<String, Arc<Report>>,
    /// The faults, file by file, in the order of their lines.
    pub faults: Vec<Fault>,
}

impl Definitions {
    /// Reads the built-in definitions, each a name and a text, and then `reports/*.toml` of the
    /// directory, where one of a built-in's name replaces it.
    ///
    /// A file with faults gives no report, and takes a built-in of its name away with it: an answer
    /// by a definition that somebody meant to replace would be a wrong one. A directory without a
    /// folder `reports` has no reports; one that is not there is a fault.
    #[must_use]
    pub fn load(builtins: &[(&str, &str)], directory: Option<&Path>) -> Self {
        let mut definitions = Self::default();
        for (name, text) in builtins {
            definitions.put(name, &format!("{BUILT_IN} reports/{name}.toml"), text);
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
        for (name, report) in &earlier.reports {
            if all || self.is_at_fault(name) {
                self.reports.entry(name.clone()).or_insert_with(|| Arc::clone(report));
            }
        }
        self
    }

    /// Whether the file of the report with this name has faults.
    #[must_use]
    pub fn is_at_fault(&self, name: &str) -> bool {
        let file = format!("reports/{name}.toml");
        self.faults.iter().any(|fault| fault.file == file)
    }

    fn put(&mut self, name: &str, file: &str, text: &str) {
        self.reports.remove(name);
        match parse::report(name, file, text) {
            Ok(report) => {
                self.reports.insert(name.to_owned(), Arc::new(report));
            }
            Err(faults) => self.faults.extend(faults),
        }
    }

    fn read_directory(&mut self, directory: &Path) {
        let reports = directory.join("reports");
        match files(&reports) {
            Ok(files) => files.iter().for_each(|file| self.read_file(file)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && directory.is_dir() => {}
            Err(error) => self.unreadable(
                &reports.display().to_string(),
                &format!("the directory cannot be read: {error}"),
                "make it, let the server's user read it, or change the setting \"definitions\"",
            ),
        }
    }

    fn read_file(&mut self, path: &Path) {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let file = format!("reports/{stem}.toml");
        if !parse::is_name(&stem) {
            self.unreadable(
                &file,
                &format!("\"{stem}\" cannot be the name of a report"),
                "rename the file, using lowercase letters, digits, \"-\" and \"_\"",
            );
            return;
        }
        match fs::read(path).map(String::from_utf8) {
            Ok(Ok(text)) => self.put(&stem, &file, &text),
            Ok(Err(error)) => {
                self.reports.remove(stem.as_ref());
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
                self.reports.remove(stem.as_ref());
                self.unreadable(
                    &file,
                    &format!("the file cannot be read: {error}"),
                    "let the server's user read it",
                );
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
