//! Built-ins and a directory: what replaces what, and what is not there.

use std::fs;

use super::imports::PAYMENTS;
use super::*;
use crate::definitions::{Folder, there_are};

const GOOD: &str = "title = \"Mine\"\nfrom = \"t\"\n[[columns]]\nkey = \"a\"\ntype = \"text\"\n";
const GOOD_IMPORT: &str = "into = \"t\"\n[[columns]]\nkey = \"a\"\ntype = \"text\"\n";
const BUILT_IN: BuiltIn<'_> =
    BuiltIn { reports: &[("settlements", SETTLEMENTS)], imports: &[], documents: &[] };

fn directory(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a temporary directory");
    fs::create_dir(directory.path().join("reports")).expect("writable");
    for (name, bytes) in files {
        fs::write(directory.path().join("reports").join(name), bytes).expect("writable");
    }
    directory
}

fn faults(definitions: &Definitions) -> Vec<String> {
    definitions.faults.iter().map(Fault::to_string).collect()
}

#[test]
fn a_file_of_a_built_ins_name_replaces_it_and_others_are_added() {
    let directory = directory(&[
        ("settlements.toml", GOOD.as_bytes()),
        ("daily-2.toml", GOOD.as_bytes()),
        ("README.md", b"not a definition"),
        (".#daily.toml", b"what an editor leaves"),
    ]);
    let definitions = Definitions::load(BUILT_IN, Some(directory.path()));
    assert_eq!(faults(&definitions), Vec::<String>::new());
    assert_eq!(definitions.reports.keys().collect::<Vec<_>>(), ["daily-2", "settlements"]);
    assert_eq!(definitions.reports["settlements"].title, "Mine");
    assert_eq!(definitions.reports["settlements"].file, "reports/settlements.toml");
}

#[test]
fn a_bad_replacement_leaves_no_report_of_that_name() {
    let directory =
        directory(&[("settlements.toml", b"from = \"t\"\n"), ("b.toml", GOOD.as_bytes())]);
    let definitions = Definitions::load(BUILT_IN, Some(directory.path()));
    assert_eq!(definitions.reports.keys().collect::<Vec<_>>(), ["b"]);
    assert_eq!(
        faults(&definitions),
        [
            "reports/settlements.toml:1: the report has no columns; add [[columns]] with key = \"…\" \
          and type = \"…\" for each one"
        ]
    );
}

#[test]
fn a_file_that_is_not_text_or_not_a_name_is_a_fault() {
    let latin = b"from = \"t\"\ntitle = \"\xff\"\n";
    let directory = directory(&[("settlements.toml", latin), ("Daily.toml", GOOD.as_bytes())]);
    let definitions = Definitions::load(BUILT_IN, Some(directory.path()));
    assert!(definitions.reports.is_empty());
    assert_eq!(
        faults(&definitions),
        [
            "reports/Daily.toml: \"Daily\" cannot be the name of a report; rename the file, using \
             lowercase letters, digits, \"-\" and \"_\"",
            "reports/settlements.toml:2: the file is not UTF-8; save it as UTF-8",
        ]
    );
}

#[test]
fn a_directory_may_have_no_reports_but_must_be_there() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let definitions = Definitions::load(BUILT_IN, Some(directory.path()));
    assert_eq!(faults(&definitions), Vec::<String>::new());
    assert!(definitions.reports.contains_key("settlements"));

    fs::write(directory.path().join("daily.toml"), GOOD).expect("writable");
    let definitions = Definitions::load(BUILT_IN, Some(directory.path()));
    let told = faults(&definitions);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("the directory holds no reports/ and no imports/"), "{told:?}");

    let missing = directory.path().join("nowhere");
    let definitions = Definitions::load(BUILT_IN, Some(&missing));
    assert!(definitions.reports.contains_key("settlements"));
    let faults = faults(&definitions);
    assert_eq!(faults.len(), 1);
    assert!(faults[0].contains("nowhere: the directory cannot be read: "), "{faults:?}");
}

#[test]
fn imports_of_a_directory_replace_those_of_the_program_and_are_kept_when_they_break() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    fs::create_dir(directory.path().join("imports")).expect("writable");
    let file = directory.path().join("imports/payments.toml");
    let built_in = BuiltIn { imports: &[("payments", PAYMENTS)], ..BuiltIn::default() };
    fs::write(&file, GOOD_IMPORT).expect("writable");
    let good = Definitions::load(built_in, Some(directory.path()));
    assert_eq!((good.faults.len(), good.imports["payments"].fields.len()), (0, 1));
    assert!(!good.imports["payments"].is_built_in());

    fs::write(&file, "into = 1\n").expect("writable");
    let bad = Definitions::load(built_in, Some(directory.path()));
    assert!(bad.imports.is_empty() && bad.is_at_fault(Folder::Imports, "payments"));
    assert!(!bad.is_at_fault(Folder::Reports, "payments"));
    assert_eq!(bad.keeping(&good).imports["payments"].fields.len(), 1);

    fs::write(directory.path().join("imports/Pay.toml"), "").expect("writable");
    let named = Definitions::load(built_in, Some(directory.path()));
    assert_eq!(
        named.faults[0].to_string(),
        "imports/Pay.toml: \"Pay\" cannot be the name of an import; rename the file, using lowercase \
         letters, digits, \"-\" and \"_\""
    );
}

#[test]
fn what_there_is_is_told_and_not_without_end() {
    let names: Vec<String> = (1..=32).map(|number| format!("r{number}")).collect();
    let told = |count: usize| there_are(names[..count].iter().map(String::as_str));
    assert_eq!(told(0), "there are none");
    assert_eq!(told(2), "there are: r1, r2");
    assert!(told(30).ends_with(", r29, r30"), "{}", told(30));
    assert!(told(32).ends_with(", r29, r30, and 2 more"), "{}", told(32));
}

#[test]
fn what_cannot_be_read_is_told_with_the_way_out_of_its_own() {
    let directory = directory(&[("b.toml", GOOD.as_bytes())]);
    let reports = directory.path().join("reports");
    fs::create_dir(reports.join("dir.toml")).expect("writable");
    std::os::unix::fs::symlink("elsewhere/gone.toml", reports.join("link.toml")).expect("writable");
    let definitions = Definitions::load(BUILT_IN, Some(directory.path()));
    assert_eq!(
        faults(&definitions),
        [
            "reports/dir.toml: it is a directory, and its name ends like that of a definition; put a \
             file in its place, or take .toml off its name",
            "reports/link.toml: it is a link to elsewhere/gone.toml, which is not there; put the file \
             there, or remove the link",
        ]
    );
    assert_eq!(definitions.reports.keys().collect::<Vec<_>>(), ["b", "settlements"]);
}
