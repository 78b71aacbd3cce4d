//! Definitions against the live databases: does what they name exist, can it be read as declared?

use std::collections::BTreeSet;

use super::Reports;
use crate::access::Scopes;
use crate::database::Database;
use crate::definitions::{self, Fault, Filters, Report, Selection};
use crate::error::Error;

impl Reports {
    /// Every fault of every definition: those of the files, and those that the databases name. A
    /// database that is away is no fault of a definition.
    pub async fn check(&self) -> Vec<Fault> {
        let definitions = self.definitions();
        let mut faults = definitions.faults.clone();
        for report in definitions.reports.values() {
            match self.database(report) {
                Ok(database) => check_report(report, database, &mut faults).await,
                Err(_) => faults.push(unknown_database(report, self)),
            }
        }
        faults
    }
}

fn unknown_database(report: &Report, reports: &Reports) -> Fault {
    let known: Vec<_> = reports.databases().map(|(name, _)| name).filter(|name| !name.is_empty()).collect();
    Fault {
        file: report.file.clone(),
        line: report.line,
        message: format!(
            "the database \"{}\" is not configured",
            report.database.as_deref().unwrap_or_default()
        ),
        remedy: match known.as_slice() {
            [] => "add it under [databases] in tallyroll.toml, or leave \"database\" out".into(),
            known => format!("name one of {}, or add it under [databases]", known.join(", ")),
        },
    }
}

async fn check_report(report: &Report, database: &Database, faults: &mut Vec<Fault>) {
    let all: Vec<usize> = (0..report.columns.len()).collect();
    match describe(report, &all, true, database).await {
        Ok(()) => check_the_rest(report, database, faults).await,
        Err(Error::Unavailable { .. }) => {}
        Err(error) => find_column(report, database, &error, faults).await,
    }
}

/// Finds the columns that the database does not know or that cannot be read as declared.
async fn find_column(report: &Report, database: &Database, whole: &Error, faults: &mut Vec<Fault>) {
    let before = faults.len();
    for (index, declared) in report.columns.iter().enumerate() {
        if let Err(error) = describe(report, &[index], false, database).await {
            faults.push(column_fault(report, &declared.column.key, declared.line, &error));
        }
    }
    let found = faults.len() - before;
    if found == report.columns.len() || found == 0 {
        // Not the columns: the table or the statement, or else the order.
        faults.truncate(before);
        faults.push(Fault {
            file: report.file.clone(),
            line: report.line,
            message: format!("the database refuses the report's statement: {}", cause(whole)),
            remedy: "correct \"from\", \"sql\" or \"order_by\", or make the table or view; the example's \
                     tables are made by `tallyroll demo`"
                .into(),
        });
    }
}

/// Columns that only filters, the order and the scope name.
async fn check_the_rest(report: &Report, database: &Database, faults: &mut Vec<Fault>) {
    let filters = report.filters.iter().map(|filter| (&filter.column, filter.line));
    let scopes = report.scope.values().map(|scope| (&scope.column, scope.line));
    let mut seen = BTreeSet::new();
    for (column, line) in filters.chain(scopes).filter(|(column, _)| seen.insert((*column).clone())) {
        let query = definitions::probe(report, column, database.dialect());
        match database.describe(&query).await {
            Ok(()) | Err(Error::Unavailable { .. }) => {}
            Err(error) => faults.push(column_fault(report, column, line, &error)),
        }
    }
}

async fn describe(
    report: &Report,
    columns: &[usize],
    ordered: bool,
    database: &Database,
) -> Result<(), Error> {
    let selection = Selection {
        columns,
        filters: &Filters::default(),
        scopes: &Scopes::new(),
        after: None,
        limit: None,
        cursor: ordered && !report.order.is_empty(),
        order_is_not_null: true,
    };
    database.describe(&definitions::rows(report, &selection, database.dialect())).await
}

fn column_fault(report: &Report, column: &str, line: usize, error: &Error) -> Fault {
    Fault {
        file: report.file.clone(),
        line,
        message: format!("the column \"{column}\" cannot be read: {}", cause(error)),
        remedy: "correct its name or its type, or add it to the table or the statement".into(),
    }
}

/// The database's own words: definitions are checked for whoever runs the server.
fn cause(error: &Error) -> String {
    match error {
        Error::Query { source, .. } => source.to_string(),
        Error::Cell { detail, .. } => detail.clone(),
        other => other.to_string(),
    }
}
