//! `tallyroll ops`.

use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::config::Config;
use crate::error::Result;
use crate::ops::{self, Site};

#[derive(Debug, Subcommand)]
pub(super) enum Ops {
    /// Print a configuration for nginx in front of the server
    Nginx(Nginx),
}

#[derive(Debug, Args)]
pub(super) struct Nginx {
    /// The port that nginx listens on
    #[arg(long, default_value_t = 80, value_parser = clap::value_parser!(u16).range(1..))]
    port: u16,
    /// A name that nginx answers to, such as reports.example.com; may be repeated [default: any, or
    /// localhost while auth is off]
    #[arg(long, alias = "server_name", value_name = "NAME")]
    server_name: Vec<String>,
}

impl Ops {
    pub(super) fn run(self, config: &Config) -> Result<ExitCode> {
        match self {
            Self::Nginx(Nginx { port, server_name }) => {
                print!("{}", ops::nginx(config, &Site { port, server_names: server_name })?);
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
