//! Definitions against the live databases: does what they name exist, can it be read as declared?

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::Reports;
use crate::access::Scopes;
use crate::database::{Database, Query};
use crate::definitions::{self, Fault, Filters, Op, Report, Selection};
use crate::error::Error;
use crate::rows::Kind;

impl Reports {
    /// Every fault of every definition: those of the files, and those that the databases name against
    /// what reports and documents read. A database that is away is no fault of a definition.
    pub async fn check(&self) -> Vec<Fault> {
        let definitions = self.definitions();
        let mut faults = definitions.faults.clone();
        let mut away = BTreeSet::new();
        let documents = definitions.documents.values().flat_map(|document| {
            let details = document.details.as_ref().map(|details| &details.report);
            std::iter::once(&document.report).chain(details)
        });
        for report in definitions.reports.values().map(AsRef::as_ref).chain(documents) {
            let name = report.database.as_deref().unwrap_or_default();
            match self.database(report) {
                // One wait for a database that is away is enough.
                Ok(_) if away.contains(name) => {}
                Ok(database) => {
                    if check_report(report, database, &mut faults).await == Reached::Away {
                        away.insert(name);
                    }
                }
                Err(_) => faults.push(unknown_database(report, self)),
            }
        }
        faults
    }
}

fn unknown_database(report: &Report, reports: &Reports) -> Fault {
    let known: Vec<_> =
        reports.databases().map(|(name, _)| name).filter(|name| !name.is_empty()).collect();
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

/// Whether a database answered.
#[derive(Debug, PartialEq, Eq)]
enum Reached {
    Yes,
    Away,
}

async fn check_report(report: &Report, database: &Database, faults: &mut Vec<Fault>) -> Reached {
    let all: Vec<usize> = (0..report.columns.len()).collect();
    match describe(report, &all, true, database).await {
        Ok(()) => {
            check_the_rest(report, database, faults).await;
            check_numbers(report, database, faults).await;
        }
        Err(Error::Unavailable { .. }) => return Reached::Away,
        // What comes with the program is for whoever has its tables.
        Err(_) if report.is_built_in() => {}
        Err(error) => find_column(report, database, &error, faults).await,
    }
    Reached::Yes
}

/// Finds the columns that the database does not know or that cannot be read as declared.
async fn find_column(report: &Report, database: &Database, whole: &Error, faults: &mut Vec<Fault>) {
    let count = definitions::count(report, &Filters::default(), &Scopes::new(), database.dialect());
    if fault(database, &count).await.is_some() {
        faults.push(Fault {
            file: report.file.clone(),
            line: report.line,
            message: format!("the database refuses what the report reads: {}", cause(whole)),
            remedy: "correct \"from\" or \"sql\", or make the table or view".into(),
        });
        return;
    }
    let before = faults.len();
    // A column is not to be blamed for what stands in the order.
    let unordered = Report { order: Vec::new(), ..report.clone() };
    for (index, declared) in report.columns.iter().enumerate() {
        if let Err(error) = describe(&unordered, &[index], false, database).await {
            faults.push(column_fault(report, &declared.source, declared.line, &error));
        }
    }
    for order in &report.order {
        let probe = definitions::probe(report, &order.column, database.dialect());
        if let Some(error) = fault(database, &probe).await {
            faults.push(column_fault(report, &order.column, order.line, &error));
        }
    }
    if faults.len() == before {
        faults.push(Fault {
            file: report.file.clone(),
            line: report.line,
            message: format!("the database refuses the report's statement: {}", cause(whole)),
            remedy: "correct \"order_by\", whose columns must have an order".into(),
        });
    }
}

/// What only filters and the scope name, each as it would be asked for.
async fn check_the_rest(report: &Report, database: &Database, faults: &mut Vec<Fault>) {
    let dialect = database.dialect();
    for (index, filter) in report.filters.iter().enumerate() {
        let sample = Filters::sample(report, index);
        let query = definitions::count(report, &sample, &Scopes::new(), dialect);
        if let Some(error) = fault(database, &query).await {
            faults.push(column_fault(report, &filter.column, filter.line, &error));
        }
    }
    for scope in report.scope.values() {
        let query = definitions::probe(report, &scope.column, dialect);
        if let Some(error) = fault(database, &query).await {
            faults.push(column_fault(report, &scope.column, scope.line, &error));
        }
    }
}

/// Numbers that the database compares as texts.
async fn check_numbers(report: &Report, database: &Database, faults: &mut Vec<Fault>) {
    let asks = report.filters.iter().filter(|filter| filter.op != Op::IsNull);
    let asks = asks.map(|filter| {
        let unit = filter.unit.is_some();
        (format!("the filter \"{}\"", filter.name), &filter.column, filter.kind, unit, filter.line)
    });
    let orders = report.order.iter().filter_map(|order| {
        let declared = report.columns.iter().find(|declared| declared.source == order.column)?;
        let (kind, unit) = (declared.column.kind, declared.unit.is_some());
        Some(("order_by".to_owned(), &order.column, kind, unit, order.line))
    });
    for (what, column, kind, unit, line) in asks.chain(orders) {
        let Some(number) = number(kind, unit) else { continue };
        let probe = definitions::probe(report, column, database.dialect());
        // A statement that cannot be prepared is told already.
        if let Ok(Some(declared)) = database.text_type(&probe).await {
            faults.push(compared_as_text(report, &what, column, &declared, number, line));
        }
    }
}

/// What a number of this kind would be cast to; nothing for what is compared exactly in any form.
fn number(kind: Kind, unit: bool) -> Option<&'static str> {
    match kind {
        Kind::Int => Some("INTEGER"),
        Kind::Float => Some("REAL"),
        Kind::Time if unit => Some("INTEGER"),
        Kind::Text | Kind::Decimal | Kind::Bool | Kind::Date | Kind::Time | Kind::Json => None,
    }
}

fn compared_as_text(
    report: &Report,
    what: &str,
    column: &str,
    declared: &str,
    number: &str,
    line: usize,
) -> Fault {
    Fault {
        file: report.file.clone(),
        line,
        message: format!(
            "{what} takes \"{column}\" for a number, and the database, which holds it as \
             {declared}, compares it as text: '100' comes before '9'"
        ),
        remedy: format!(
            "declare the column as text, or select CAST(\"{column}\" AS {number}) in sql or in a view"
        ),
    }
}

/// What a database has against a statement; one that is away has nothing against it.
async fn fault(database: &Database, query: &Query) -> Option<Error> {
    match database.describe(query).await {
        Ok(()) | Err(Error::Unavailable { .. }) => None,
        Err(error) => Some(error),
    }
}

fn selection(columns: &[usize], ordered: bool) -> Selection<'_> {
    static NO_FILTERS: LazyLock<Filters> = LazyLock::new(Filters::default);
    static NO_SCOPES: Scopes = Scopes::new();
    Selection {
        columns,
        filters: &NO_FILTERS,
        scopes: &NO_SCOPES,
        one_of: None,
        after: None,
        types: &[],
        limit: None,
        cursor: ordered,
    }
}

async fn describe(
    report: &Report,
    columns: &[usize],
    ordered: bool,
    database: &Database,
) -> Result<(), Error> {
    let selection = selection(columns, ordered && !report.order.is_empty());
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
