//! `tallyroll serve`.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;

use super::demo;
use crate::app::App;
use crate::config::{Auth, Config};
use crate::database;
use crate::error::{Error, Problem, Result};
use crate::server::Server;

/// Lines that a demonstration begins with.
const DEMO_ROWS: u64 = 100_000;

#[derive(Debug, Args)]
pub(super) struct Serve {
    /// Try it out: example data in a file of its own, nobody has to say who he is
    #[arg(long)]
    demo: bool,
}

impl Serve {
    pub(super) async fn run(self, mut config: Config) -> Result<ExitCode> {
        if self.demo {
            if config.auth == Auth::Required && !config.auth_by_default {
                return Err(contradiction());
            }
            config.auth = Auth::Off;
            prepare(&config).await?;
        }
        if config.auth == Auth::Required {
            tracing::warn!(
                "auth is required and there are no keys yet that callers could show, so that all but \
                 /health is refused; set auth to off for callers on this machine alone"
            );
        }
        let app = App::open(config).await?;
        // Held to the end, so that no other server sweeps this one's files away.
        let _lock = app.own_temp_dir()?;
        let server = Server::bind(app)?;
        let address = server.address();
        println!("listening on http://{address}");
        if self.demo {
            println!("{}", tour(&address.to_string()));
        }
        // Whoever started the server may be reading this line through a pipe.
        let _ = std::io::stdout().flush();
        server.run().await.map(|()| ExitCode::SUCCESS)
    }
}

/// Whoever asks for keys must not get a server that is open.
fn contradiction() -> Error {
    Error::Invalid(vec![Problem::parameter(
        "auth",
        "contradiction",
        "required",
        "serve --demo answers everybody on this machine, and auth is set to \"required\"; leave \
         --demo out, or the setting",
    )])
}

async fn prepare(config: &Config) -> Result<()> {
    let url = config.databases.get("").map(String::as_str).unwrap_or_default();
    let Some(file) = database::sqlite_file(url) else {
        eprintln!("the example goes into a server's database by `tallyroll demo --rows N` alone");
        return Ok(());
    };
    if !file.exists() {
        eprintln!("making {DEMO_ROWS} example lines in {}", file.display());
    }
    demo::make_file(&file, DEMO_ROWS).await.map(drop)
}

fn tour(address: &str) -> String {
    let rows = format!("http://{address}/api/v1/reports/settlements/rows");
    [
        format!("  curl '{rows}?limit=3'"),
        format!(
            "  curl '{rows}?format=csv&merchant=1042&from=2026-03-01&to=2026-04-01' -o march.csv"
        ),
        format!("  curl --compressed '{rows}?summary=true' | tail -n 1"),
    ]
    .join("\n")
}
