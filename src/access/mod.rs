//! Who is asking, and what he may see.
//!
//! A [`Caller`] is an argument of everything that reads or writes for somebody. Where he comes from
//! (a key, a token, a session, the command line) is not known here.

use std::collections::{BTreeMap, BTreeSet};

/// The role that may do everything.
pub const ADMIN: &str = "admin";

/// The limits of what a caller sees: for each dimension, the values that he is held to.
///
/// All dimensions must hold, each with any of its values. No dimension means no limit; a dimension
/// without values sees nothing.
pub type Scopes = BTreeMap<String, BTreeSet<String>>;

/// Who is asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Names him in runs and in the log, such as `local` or `cli:kim`.
    pub name: String,
    /// What he is held to, such as `merchant` = 1042.
    pub scopes: Scopes,
    /// What he may do.
    pub roles: BTreeSet<String>,
}

impl Caller {
    /// Whoever reaches the server while `auth` is off: may do everything, unscoped.
    #[must_use]
    pub fn local() -> Self {
        Self::unlimited("local".into())
    }

    /// The person at the command line, recorded as `cli:USER`: may do everything, unscoped, since
    /// he opens the databases himself.
    #[must_use]
    pub fn cli(user: &str) -> Self {
        Self::unlimited(format!("cli:{user}"))
    }

    fn unlimited(name: String) -> Self {
        Self { name, scopes: Scopes::new(), roles: BTreeSet::from([ADMIN.to_owned()]) }
    }

    /// Whether he has this role, or the one that has all.
    #[must_use]
    pub fn has_role(&self, role: &str) -> bool {
        self.roles.contains(role) || self.roles.contains(ADMIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_person_at_the_command_line_is_recorded_by_name_and_has_no_limits() {
        let caller = Caller::cli("kim");
        assert_eq!(caller.name, "cli:kim");
        assert!(caller.scopes.is_empty());
        assert!(caller.has_role("anything"));
    }

    #[test]
    fn a_role_that_was_not_given_is_not_had() {
        let mut caller = Caller::local();
        caller.roles = BTreeSet::from(["reader".to_owned()]);
        assert!(caller.has_role("reader"));
        assert!(!caller.has_role("writer"));
    }
}
