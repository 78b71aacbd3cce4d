//! Names of sheets by Excel's rules. Knows no workbook.
//!
//! Excel repairs, that is empties, a book in which a name has more than 31 UTF-16 units, holds one of
//! `[ ] : * ? / \`, begins or ends with an apostrophe, is `History`, or comes twice in whatever case.

use std::collections::HashSet;

/// UTF-16 units of the longest name.
const LONGEST: usize = 31;

/// The name of a sheet that was given none.
const NAMELESS: &str = "Sheet1";

/// Names the sheets of one workbook.
#[derive(Debug, Clone, Default)]
pub struct Namer {
    /// The names given, folded.
    taken: HashSet<String>,
}

impl Namer {
    /// The name nearest to the one wanted that Excel takes and that was not given yet: what it does
    /// not allow becomes `_`, what is too long is cut, and a second one is called `… (2)`.
    pub fn name(&mut self, wanted: &str) -> String {
        let base = allowed(wanted);
        let mut name = cut(&base, LONGEST).to_owned();
        let mut number = 1_u64;
        while !self.taken.insert(folded(&name)) {
            number += 1;
            let suffix = format!(" ({number})");
            name = [cut(&base, LONGEST - suffix.len()), &suffix].concat();
        }
        name
    }
}

fn allowed(wanted: &str) -> String {
    let name: String = wanted.chars().map(|c| if is_allowed(c) { c } else { '_' }).collect();
    match name.trim_matches(is_no_end) {
        "" => NAMELESS.into(),
        // Excel keeps it for the log of a shared book.
        reserved if reserved.eq_ignore_ascii_case("history") => [reserved, "_"].concat(),
        name => name.into(),
    }
}

/// The wide forms are refused by Excel where people type them.
fn is_allowed(c: char) -> bool {
    let in_references = "[]:*?/\\［］：＊？／＼";
    !c.is_control() && !matches!(c, '\u{FFFE}' | '\u{FFFF}') && !in_references.contains(c)
}

fn is_no_end(c: char) -> bool {
    c == '\'' || c.is_whitespace()
}

/// The beginning of a name that has at most so many UTF-16 units, never half a character.
fn cut(name: &str, units: usize) -> &str {
    super::text::within(name, units).trim_end_matches(is_no_end)
}

/// The same for names that differ in case alone, also where the lower case is not one character.
fn folded(name: &str) -> String {
    name.to_uppercase().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: &str = include_str!("../../../tests/fixtures/038-export-sheet-names/names.json");

    fn named(wanted: &[&str]) -> Vec<String> {
        let mut namer = Namer::default();
        wanted.iter().map(|name| namer.name(name)).collect()
    }

    #[test]
    fn names_that_others_stumbled_over_become_names_that_excel_takes() {
        let wanted: Vec<String> = serde_json::from_str(NAMES).unwrap();
        let wanted: Vec<&str> = wanted.iter().map(|name| &**name).collect();
        let expected = [
            "매출_원가 _2024__ 'Q1'__",
            "Sheet1",
            "따옴표로 시작",
            "History_",
            "이 이름은 서른한 글자를 넘기 때문에 잘려야 하는 아주",
            "ThisWorksheetNameIs31Characters",
            "ThisWorksheetNameIs31Charac (2)",
            "sheet1 (2)",
            "SHEET1 (3)",
            "A & B <C>",
            "줄_바꿈",
            "😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀",
        ];
        assert_eq!(named(&wanted), expected);
    }

    #[test]
    fn a_name_has_31_units_at_most_and_comes_once() {
        let long = "가".repeat(40);
        let wanted: Vec<&str> = std::iter::repeat_n(&*long, 120).collect();
        let names = named(&wanted);
        assert_eq!(names[0], "가".repeat(31));
        assert_eq!(names[119], format!("{} (120)", "가".repeat(25)));
        assert!(names.iter().all(|name| name.encode_utf16().count() <= 31));
        assert_eq!(names.iter().map(|name| folded(name)).collect::<HashSet<_>>().len(), 120);
    }

    #[test]
    fn a_cut_leaves_no_apostrophe_and_no_blank_at_the_end() {
        let quote = format!("{}'''' more", "a".repeat(28));
        assert_eq!(
            named(&[&quote, "' '", "\u{FFFE}", "HISTORY"]),
            [&*"a".repeat(28), "Sheet1", "_", "HISTORY_",]
        );
    }

    #[test]
    fn names_that_differ_in_case_alone_are_told_apart() {
        let wanted = ["straße", "STRASSE", "ΣΑΣ", "σας"];
        assert_eq!(named(&wanted), ["straße", "STRASSE (2)", "ΣΑΣ", "σας (2)"]);
    }
}
