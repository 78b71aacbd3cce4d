//! What an upload is asked to become.

use serde_json::Value as Json;

use crate::error::{Error, Problem, Result};

/// What is done about rows with problems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnProblem {
    /// One stops all.
    #[default]
    Reject,
    /// The good ones are stored.
    Skip,
}

/// What an import is asked to do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    /// Check everything, store nothing.
    pub dry_run: bool,
    /// What is done about rows with problems.
    pub on_problem: OnProblem,
    /// Which sheet, by name or number.
    pub sheet: Option<String>,
    /// The row of the header as a person sees it; it is looked for without.
    pub header_row: Option<u64>,
}

const PARAMETERS: [&str; 4] = ["dry_run", "on_problem", "sheet", "header_row"];
/// Those that say where the rows are.
const WHERE: [&str; 2] = ["sheet", "header_row"];

impl Asked {
    /// Reads the parameters of a request.
    ///
    /// # Errors
    /// [`Error::Malformed`] with every fault.
    pub fn parse(pairs: &[(String, String)]) -> Result<Self> {
        Self::parse_some(pairs, &PARAMETERS)
    }

    /// Reads the parameters of a request that does not want to import: `sheet` and `header_row`.
    ///
    /// # Errors
    /// [`Error::Malformed`] with every fault.
    pub fn parse_look(pairs: &[(String, String)]) -> Result<Self> {
        Self::parse_some(pairs, &WHERE)
    }

    fn parse_some(pairs: &[(String, String)], known: &[&str]) -> Result<Self> {
        let (mut asked, mut problems, mut seen) = (Self::default(), Vec::new(), Vec::new());
        for (name, value) in pairs {
            if seen.contains(&name) {
                problems.push(Problem::parameter(
                    name,
                    "doubled_parameter",
                    value,
                    format!("\"{name}\" is given twice; give it once"),
                ));
                continue;
            }
            seen.push(name);
            if let Err((code, detail)) = asked.take(name, value, known) {
                problems.push(Problem::parameter(name, code, value, detail));
            }
        }
        if problems.is_empty() { Ok(asked) } else { Err(Error::Malformed(problems)) }
    }

    fn take(
        &mut self,
        name: &str,
        value: &str,
        known: &[&str],
    ) -> Result<(), (&'static str, String)> {
        match name {
            unknown if !known.contains(&unknown) => {
                let known = known.join(", ");
                let detail =
                    format!("\"{name}\" is not a parameter here; the known ones are {known}");
                return Err(("unknown_parameter", detail));
            }
            "dry_run" => {
                self.dry_run = match value {
                    "true" => true,
                    "false" => false,
                    _ => {
                        return Err(("not_a_truth_value", "write dry_run=true or false".into()));
                    }
                }
            }
            "on_problem" => {
                self.on_problem = match value {
                    "reject" => OnProblem::Reject,
                    "skip" => OnProblem::Skip,
                    _ => {
                        return Err(("unknown_value", "write on_problem=reject or skip".into()));
                    }
                }
            }
            "sheet" if value.is_empty() => {
                return Err(("empty", "write the sheet's name or its number from 1".into()));
            }
            "sheet" => self.sheet = Some(value.to_owned()),
            "header_row" => {
                let row = value.parse().ok().filter(|row| (1..=1_048_576).contains(row));
                let detail = "write the row's number as the spreadsheet shows it, 1 to 1048576";
                self.header_row = Some(row.ok_or_else(|| ("not_a_row", detail.into()))?);
            }
            _ => {}
        }
        Ok(())
    }

    /// The same for a run's record, whatever was left out.
    #[must_use]
    pub fn params(&self) -> Json {
        serde_json::json!({
            "dry_run": self.dry_run,
            "on_problem": match self.on_problem {
                OnProblem::Reject => "reject",
                OnProblem::Skip => "skip",
            },
            "sheet": self.sheet,
            "header_row": self.header_row,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(pairs: &[(&str, &str)]) -> Result<Asked> {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Asked::parse(&pairs.iter().map(owned).collect::<Vec<_>>())
    }

    #[test]
    fn what_is_left_out_is_the_careful_choice() {
        let asked = parse(&[]).unwrap();
        assert_eq!((asked.dry_run, asked.on_problem), (false, OnProblem::Reject));
        let asked = parse(&[("on_problem", "skip"), ("sheet", "2"), ("header_row", "3")]).unwrap();
        assert_eq!(asked.sheet.as_deref(), Some("2"));
        assert_eq!((asked.on_problem, asked.header_row), (OnProblem::Skip, Some(3)));
    }

    #[test]
    fn every_fault_of_a_request_is_told() {
        let faults = [("dry_run", "yes"), ("on_problem", "stop"), ("header_row", "0"), ("x", "1")];
        let Err(Error::Malformed(problems)) = parse(&faults) else { panic!("it is refused") };
        assert_eq!(problems.len(), 4, "{problems:?}");
        let Err(Error::Malformed(problems)) = parse(&[("sheet", "1"), ("sheet", "2")]) else {
            panic!("it is refused")
        };
        assert_eq!(problems[0].code, "doubled_parameter");
        let look = [("sheet", "2"), ("dry_run", "true")].map(|(n, v)| (n.to_owned(), v.to_owned()));
        let Err(Error::Malformed(problems)) = Asked::parse_look(&look) else { panic!("refused") };
        assert_eq!(problems[0].code, "unknown_parameter");
        assert!(problems[0].detail.ends_with("sheet, header_row"), "{}", problems[0].detail);
    }
}
