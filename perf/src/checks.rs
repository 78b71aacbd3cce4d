//! What must hold, and whether it did.

/// The checks of a scenario, in the order in which they were made. Each is printed at once.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    lines: Vec<String>,
    failed: usize,
}

impl Checks {
    /// Says PASS or FAIL.
    pub(crate) fn check(&mut self, held: bool, what: &str) {
        self.failed += usize::from(!held);
        self.say(format!("{}  {what}", if held { "PASS" } else { "FAIL" }));
    }

    /// Says whether two figures that must be the same are.
    pub(crate) fn same<T: PartialEq + std::fmt::Display>(
        &mut self,
        what: &str,
        one: &T,
        other: &T,
    ) {
        if one == other {
            self.check(true, &format!("{what}: {one}"));
        } else {
            self.check(false, &format!("{what}: {one}, not {other}"));
        }
    }

    /// Says what could not be checked, and why.
    pub(crate) fn left_out(&mut self, what: &str, why: &str) {
        self.say(format!("SKIP  {what}: {why}"));
    }

    fn say(&mut self, line: String) {
        println!("{line}");
        self.lines.push(line);
    }

    /// Everything said so far, a line each.
    pub(crate) fn lines(&self) -> &[String] {
        &self.lines
    }

    /// Whether no check failed and at least one was made.
    pub(crate) fn all_held(&self) -> bool {
        self.failed == 0 && !self.lines.is_empty()
    }

    /// All of them in a sentence.
    pub(crate) fn verdict(&self) -> String {
        let made = self.lines.iter().filter(|line| !line.starts_with("SKIP")).count();
        let left_out = self.lines.len() - made;
        format!("{made} checks, {} failed, {left_out} left out", self.failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_failure_fails_all() {
        let mut checks = Checks::default();
        assert!(!checks.all_held());
        checks.same("rows", &3, &3);
        checks.left_out("sum", "no sqlite3");
        assert!(checks.all_held());
        checks.same("rows", &3, &4);
        assert!(!checks.all_held());
        assert_eq!(checks.verdict(), "2 checks, 1 failed, 1 left out");
    }
}
