//! `RESULTS.md`: a section for each scenario, of its last run.

use std::path::PathBuf;

use crate::checks::Checks;
use crate::error::{Doing, Result};
use crate::machine::Facts;

/// The file, from the workspace's root.
pub(crate) const FILE: &str = "perf/RESULTS.md";

const HEAD: &str = "# What was measured\n\n\
    Written by the bench itself, a section for each scenario. Ratios travel from machine to machine, \
    absolute times do not.\n";

/// What a scenario found.
pub(crate) struct Outcome {
    /// Its tables, as Markdown.
    pub(crate) text: String,
    /// What had to hold.
    pub(crate) checks: Checks,
}

/// Puts a scenario's section in place of its last one.
///
/// # Errors
/// A file that cannot be read or written.
pub(crate) fn write(name: &str, facts: &Facts, outcome: &Outcome) -> Result<()> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("RESULTS.md");
    let before = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => HEAD.into(),
        Err(error) => return Err(error).doing(format!("reading {FILE}")),
    };
    let section = format!(
        "{}\n{}\nChecks: {}.\n\n```text\n{}\n```\n",
        facts.table(),
        outcome.text,
        outcome.checks.verdict(),
        outcome.checks.lines().join("\n"),
    );
    std::fs::write(&path, replace(&before, name, &section)).doing(format!("writing {FILE}"))
}

/// The text with this section new; behind the others where it had none.
fn replace(text: &str, name: &str, section: &str) -> String {
    let heading = format!("\n## {name}\n");
    let new = format!("{heading}\n{section}");
    let Some(begin) = text.find(&heading) else {
        return text.to_owned() + &new;
    };
    let rest = &text[begin + heading.len()..];
    let end = rest.find("\n## ").unwrap_or(rest.len());
    format!("{}{new}{}", &text[..begin], &rest[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_takes_the_place_of_its_last_one_and_of_no_other() {
        let one = replace(HEAD, "rows", "1\n");
        let two = replace(&one, "imports", "2\n");
        assert_eq!(two, format!("{HEAD}\n## rows\n\n1\n\n## imports\n\n2\n"));
        let three = replace(&two, "rows", "3\n");
        assert_eq!(three, format!("{HEAD}\n## rows\n\n3\n\n## imports\n\n2\n"));
        assert_eq!(replace(&three, "imports", "2\n"), three);
    }
}
