//! The settings file: read as a whole, or refused in words that name the setting.

use std::io::ErrorKind;
use std::path::Path;

use super::{Given, invalid};
use crate::error::Result;

/// Name of the settings file looked for in the working directory.
const FILE: &str = "tallyroll.toml";

/// Reads the file that is named, or the usual one where there is one.
pub(super) fn read(named: Option<&Path>) -> Result<Given> {
    let path = named.unwrap_or(Path::new(FILE));
    let shown = path.display().to_string();
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if named.is_none() && error.kind() == ErrorKind::NotFound => {
            return Ok(Given::default());
        }
        Err(error) => {
            let detail = format!(
                "the settings file {shown} cannot be read: {error}; let this user read it, or name \
                 another with --config"
            );
            return Err(invalid("config", &shown, detail));
        }
    };
    parse(&text)
        .map_err(|said| invalid("config", &shown, format!("the settings file {shown}{said}")))
}

/// The settings in a file's text; what is wrong with it, as it is put behind the file's name.
pub(super) fn parse(text: &str) -> Result<Given, String> {
    toml::from_str(text)
        .map_err(|error| mistyped(text, &error).unwrap_or_else(|| format!(": {error}")))
}

/// In our own words where a setting is not of its type.
fn mistyped(text: &str, error: &toml::de::Error) -> Option<String> {
    let before = text.get(..error.span()?.start)?;
    let number = before.matches('\n').count() + 1;
    let line = text.lines().nth(number - 1)?;
    let (key, value) = line.split_once('=')?;
    let key = key.trim().trim_matches('"');
    // As serde says it, and as toml says it of a word.
    if !["invalid type", "wanted"].iter().any(|words| error.message().starts_with(words)) {
        return None;
    }
    let example = example(key);
    Some(format!(
        ", line {number}: {key} is {}, which is not of its type; write {key} = {example}",
        value.trim()
    ))
}

/// What a setting takes; a name that is no setting's is one of the further databases'.
fn example(key: &str) -> &'static str {
    match key {
        "streams" | "builds" | "document_slots" | "queue" => "48",
        "xlsx_level" => "2",
        "import_max_rows" => "5000000",
        "import_max_columns" | "flush_rows" => "1000",
        "spool_cap" | "max_upload" | "max_inflated" | "import_max_text" => "\"512MiB\"",
        "queue_wait" | "first_row_timeout" | "stall_timeout" | "shutdown_timeout"
        | "keep_prepared" | "keep_runs" => "\"45s\"",
        "listen" => "\"127.0.0.1:8080\"",
        "data_dir" => "\"data\"",
        "temp_dir" => "\"data/tmp\"",
        "state_url" => "\"sqlite://data/state.db\"",
        "databases" => "{ replica = \"postgres://app@replica/shop\" }",
        "definitions" => "\"definitions\"",
        "time_zone" => "\"Asia/Seoul\"",
        "auth" => "\"required\"",
        "xlsx_writer" => "\"poured\"",
        "log" => "\"info\"",
        _ => "\"postgres://app@db/shop\"",
    }
}
