//! `tallyroll check`.

use std::process::ExitCode;

use crate::app::App;
use crate::config::Config;
use crate::error::Result;

pub(super) async fn run(config: Config) -> Result<ExitCode> {
    let app = App::open(config).await?;
    let faults = app.faults();
    for fault in faults.iter() {
        println!("{fault}");
    }
    let mut away = 0;
    for (name, database) in app.reports.databases() {
        if let Err(error) = database.ping().await {
            let setting =
                if name.is_empty() { "database_url".into() } else { format!("databases.{name}") };
            let place = database.place();
            println!(
                "{setting}: the database {place} is away, so its definitions were not checked; see \
                 that it is there and lets this user in, or correct {setting}: {error}"
            );
            away += 1;
        }
    }
    let definitions = app.reports.definitions();
    let (reports, imports) = (definitions.reports.len(), definitions.imports.len());
    let documents = definitions.documents.len();
    app.close().await;
    let counts = [
        (reports, "report"),
        (imports, "import"),
        (documents, "document"),
        (faults.len(), "fault"),
        (away, "database"),
    ];
    let [reports, imports, documents, faulty, gone] = counts.map(counted);
    println!("{reports}, {imports}, {documents}, {faulty}, {gone} away");
    Ok(if faults.is_empty() && away == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn counted((count, what): (usize, &str)) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {what}{ending}")
}
