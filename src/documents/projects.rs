//! The example's projects, whose documents have an address of their own: a project that is not there, or
//! not for this caller, is told as such, in the transaction that reads its documents.

use std::sync::{Arc, LazyLock};

use crate::access::Caller;
use crate::database::{Dialect, Query};
use crate::definitions::{self, BuiltIn, Definitions, Document, Filters, Report, Selection};

/// The document that a project's are.
pub const LEDGER: &str = "ledger";
/// Its filter by project.
pub const PROJECT: &str = "project";

static PROJECTS: LazyLock<Option<Arc<Report>>> = LazyLock::new(|| {
    let text = include_str!("projects.toml");
    let built_in = BuiltIn { reports: &[("projects", text)], ..BuiltIn::default() };
    Definitions::load(built_in, None).reports.remove("projects")
});

/// The statement that gives a row where the caller may see the project, and what is said where it gives
/// none. Nothing where the document is not the program's own, whose projects lie elsewhere.
pub(super) fn must_see(
    document: &Document,
    project: &str,
    caller: &Caller,
    dialect: Dialect,
) -> Option<(Query, String)> {
    let projects = PROJECTS.as_ref().filter(|_| document.report.is_built_in())?;
    let id = projects.column("id")?;
    let wanted = [project.to_owned()];
    let selection = Selection {
        columns: &[id],
        filters: &Filters::default(),
        scopes: &caller.scopes,
        one_of: Some((id, &wanted)),
        after: None,
        types: &[],
        limit: None,
        cursor: false,
    };
    let query = definitions::rows(projects, &selection, dialect);
    Some((query, format!("there is no project {project}")))
}
