//! The rules of the source, each with its reason. A newcomer meets them here as a failing test.
//!
//! What a rule looks at is code: comments and texts may name anything.

mod source;

use std::collections::BTreeMap;
use std::process::Command;

use self::source::{Source, is_word, root, rust_files, sources};

/// Asserts that nothing breaks a rule; says what does, the rule and its reason.
#[track_caller]
fn assert_none(found: &[String], rule: &str) {
    assert!(found.is_empty(), "\n{rule}\n\n{}\n", found.join("\n"));
}

/// Asserts that of all that is not for tests, only what `may` lets speaks of `crates`.
#[track_caller]
fn only(crates: &[&str], may: impl Fn(&Source) -> bool, rule: &str) {
    let sources = sources();
    let (allowed, others): (Vec<_>, Vec<_>) =
        sources.iter().filter(|source| !source.is_test()).partition(|source| may(source));
    let used = allowed.iter().any(|source| !source.lines_with(crates).is_empty());
    assert!(used, "nothing speaks of {crates:?} any more: take the rule out, or mend how it looks");
    let found: Vec<_> = others.iter().flat_map(|source| source.lines_with(crates)).collect();
    assert_none(&found, rule);
}

#[test]
fn actix_is_known_to_http_and_the_server_alone() {
    only(
        &["actix_web", "actix_http", "actix_files", "utoipa_actix_web"],
        |source| matches!(source.module(), "http" | "server"),
        "Only src/http/ and src/server.rs know actix: everything else is called from the command \
         line too and tested without a server. Take plain arguments, and give back a value or an \
         Error that src/http/ turns into a response.",
    );
}

#[test]
fn database_drivers_are_known_to_database_alone() {
    only(
        &["sqlx", "rusqlite"],
        |source| source.module() == "database",
        "Only src/database/ knows sqlx and rusqlite: each has ways to lose rows or hang a query \
         that are dealt with there, once. Ask it for a Source, or state your need as a function of \
         its own there. The server's own tables are reached through sea-orm.",
    );
}

#[test]
fn workbooks_are_written_by_formats_alone() {
    only(
        &["rust_xlsxwriter"],
        |source| source.module() == "formats",
        "Only src/formats/ knows rust_xlsxwriter, which panics on a full disk and closes a workbook \
         that it could not complete: both are dealt with there, once. Ask formats for a book, with \
         what is to be in it as data.",
    );
}

#[test]
fn spreadsheets_are_read_by_sheets_alone() {
    only(
        &["calamine", "encoding_rs"],
        |source| source.module() == "sheets",
        "Only src/sheets/ knows calamine, which a kilobyte of upload makes allocate terabytes: it runs \
         in a child process with limits there, once. Ask a Reader for the rows of a file.",
    );
}

#[test]
fn pdfs_are_written_by_documents_alone() {
    only(
        &["krilla", "skrifa"],
        |source| source.module() == "documents",
        "Only src/documents/ knows krilla, which embeds fonts that are read once for the process there, \
         and refuses what no archive may hold. Give a document your row and template.",
    );
}

#[test]
fn pages_are_written_by_the_page_alone() {
    only(
        &["maud"],
        |source| source.path.starts_with("http/page/"),
        "Only src/http/page/ writes HTML, so that whatever goes into it is escaped in one way and \
         every page has the same strict policy. Give the page your data.",
    );
}

#[test]
fn the_orm_is_known_where_tables_are_ours() {
    only(
        &["sea_orm"],
        |source| {
            let sea_query = source.module() == "definitions";
            let lines = source.lines_with(&["sea_orm"]);
            let query_alone = lines.iter().all(|line| line.contains("sea_orm::sea_query"));
            matches!(source.module(), "runs" | "app" | "database" | "demo" | "cli" | "convert")
                || (sea_query && query_alone)
        },
        "sea-orm reads and writes the tables that we made: the state (src/runs/, the mappings that \
         src/convert/ keeps, opened in src/app.rs) and the example (src/demo/). Other people's tables are read by statements that \
         src/definitions/ builds with sea_orm::sea_query and src/database/ runs.",
    );
}

#[test]
fn stored_rows_do_not_reach_http_and_formats() {
    let modules = ["http", "rows", "formats", "delivery", "reports", "definitions"];
    let found: Vec<_> = sources()
        .iter()
        .filter(|source| modules.contains(&source.module()))
        .flat_map(|source| source.lines_with(&["entity", "crate::entity"]))
        .collect();
    assert_none(
        &found,
        "The rows of our own tables (the crate entity) are no answers and no requests: a column \
         added to a table must not appear in the API by itself. Make a view type, as \
         src/runs/view.rs does.",
    );
}

#[test]
fn the_command_line_is_parsed_in_three_places() {
    only(
        &["clap"],
        |source| matches!(source.module(), "cli" | "config" | "main"),
        "Only src/cli/, src/config.rs and src/main.rs know clap: what does the work takes settings \
         as arguments, so that HTTP and tests can call it.",
    );
}

#[test]
fn the_environment_is_read_by_the_configuration_alone() {
    let mut found: Vec<_> = sources()
        .iter()
        .filter(|source| source.module() != "config" && !source.is_test())
        .flat_map(|source| {
            let paths = ["std::env", "env::var", "env::var_os", "env::vars"];
            source.lines_with(&paths)
        })
        // Arguments are no settings.
        .filter(|line| !(line.starts_with("src/main.rs") && line.contains("env::args_os()")))
        .collect();
    // Settings of a command would be read by clap.
    found.extend(sources().iter().filter(|source| source.module() == "cli").flat_map(|source| {
        let lines = source.code.lines().enumerate();
        let reads = lines.filter(|(_, line)| line.contains("env =") || line.contains("(env"));
        reads.map(|(number, line)| source.at(number, line)).collect::<Vec<_>>()
    }));
    assert_none(
        &found,
        "Only src/config.rs reads the environment: every setting has one name and one place that \
         says its default. Add a field to Config and take it from there.",
    );
}

/// What each module may speak of, besides itself. `error` may be spoken of by all.
const LAYERS: &[(&str, &[&str])] = &[
    ("error", &[]),
    ("rows", &[]),
    ("access", &["rows"]),
    ("archive", &[]),
    ("names", &[]),
    ("json", &[]),
    ("formats", &["rows", "archive"]),
    ("sheets", &["rows", "runs", "json"]),
    ("runs", &["rows"]),
    ("turns", &[]),
    ("database", &["rows", "runs", "turns", "definitions"]),
    ("definitions", &["rows", "access", "database", "formats"]),
    ("delivery", &["rows", "runs", "turns", "formats", "database"]),
    ("spool", &["rows", "runs", "delivery"]),
    (
        "reports",
        &["rows", "access", "runs", "formats", "database", "definitions", "delivery", "spool"],
    ),
    ("convert", &["rows", "access", "runs", "formats", "sheets", "delivery", "spool"]),
    (
        "documents",
        &[
            "rows",
            "access",
            "archive",
            "names",
            "json",
            "turns",
            "runs",
            "formats",
            "database",
            "definitions",
            "delivery",
            "spool",
        ],
    ),
    ("demo", &["rows", "database", "definitions"]),
    ("ops", &["config"]),
    ("config", &["formats"]),
    ("observe", &[]),
];

/// Modules of the crate that a line of code speaks of.
fn modules_in(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, _) in line.match_indices("crate::") {
        let rest = &line[at + "crate::".len()..];
        match rest.strip_prefix('{') {
            Some(list) => found
                .extend(list.split([',', '}']).filter_map(|part| part.trim().split("::").next())),
            None => found.extend(rest.split(|c| !is_word(c)).next()),
        }
    }
    found.retain(|name| !name.is_empty());
    found
}

#[test]
fn modules_know_those_below_them_alone() {
    let sources = sources();
    let layers: BTreeMap<_, _> = LAYERS.iter().copied().collect();
    let mut found = Vec::new();
    for source in sources.iter().filter(|source| !source.is_test()) {
        let Some(below) = layers.get(source.module()) else { continue };
        for (number, line) in source.code.lines().enumerate() {
            let above = modules_in(line).into_iter().filter(|name| {
                *name != "error" && *name != source.module() && !below.contains(name)
            });
            found.extend(above.map(|name| format!("{} ({name})", source.at(number, line))));
        }
    }
    assert_none(
        &found,
        "A module knows those below it alone: cli, server → http → app → features → delivery, \
         formats, sheets, runs, database, definitions, access → rows → error. Features (reports, convert, documents, demo) do \
         not know each other: what two of them need moves down. If the direction is right and new, \
         write it into LAYERS in tests/it/tidy.rs.",
    );
}

#[test]
fn http_is_known_to_the_server_alone() {
    let found: Vec<_> = sources()
        .iter()
        .filter(|source| !matches!(source.module(), "http" | "server" | "lib"))
        .flat_map(|source| source.lines_with(&["crate::http"]))
        .collect();
    assert_none(
        &found,
        "Only src/server.rs speaks of http: it is a way in, and what it leads to must not know how \
         it was come by. Move what you need down.",
    );
}

#[test]
fn no_module_is_named_after_nothing() {
    let names =
        ["util", "utils", "helper", "helpers", "common", "manager", "service", "misc", "shared"];
    let found: Vec<_> = sources()
        .iter()
        .filter(|source| {
            let mut parts = source.path.split('/').map(|part| part.trim_end_matches(".rs"));
            parts.any(|part| names.contains(&part))
        })
        .map(|source| format!("src/{}", source.path))
        .collect();
    assert_none(
        &found,
        "No module is called utils, helpers, common, manager or service: such a name says nothing, \
         and so everything comes to lie there. Name it after what it knows.",
    );
}

#[test]
fn nothing_is_left_to_do_and_no_lint_is_silenced_without_a_reason() {
    let mut found = Vec::new();
    for source in sources() {
        for (number, line) in source.code.lines().enumerate() {
            let macros = ["todo!", "unimplemented!", "dbg!", "#[allow(", "#![allow("];
            if macros.iter().any(|word| line.contains(word)) {
                found.push(source.at(number, line));
            }
        }
        let expects =
            source.code.match_indices("#[expect(").chain(source.code.match_indices("#![expect("));
        for (at, _) in expects {
            let end = source.code[at..].find(")]").map_or(source.code.len(), |end| at + end);
            if !source.code[at..end].contains("reason") {
                let number = source.code[..at].lines().count();
                found.push(format!("src/{}:{number}: expect without a reason", source.path));
            }
        }
    }
    assert_none(
        &found,
        "No todo!, unimplemented! or dbg!, and no #[allow(…)]: a lint that is wrong in one place is \
         silenced with #[expect(lint, reason = \"…\")], which says why and complains once it is \
         needed no more.",
    );
}

#[test]
fn every_file_says_what_it_is_for() {
    let workspace =
        ["entity", "migration", "perf", "tests"].map(|name| rust_files(&root().join(name)));
    let others =
        workspace.concat().into_iter().filter(|file| !file.starts_with(root().join("target")));
    let sources = rust_files(&root().join("src")).into_iter().chain(others);
    let found: Vec<_> = sources
        .filter(|file| !std::fs::read_to_string(file).expect("it can be read").starts_with("//!"))
        .map(|file| file.display().to_string())
        .collect();
    assert_none(
        &found,
        "Every file begins with //! and a sentence or two: what it is for, and what it does not \
         know. A file of which that cannot be said in two sentences is two files.",
    );
}

#[test]
fn no_file_is_longer_than_can_be_read_at_a_sitting() {
    let mut found = Vec::new();
    for source in sources() {
        let lines = source.text.lines().count();
        let most = if source.path == "main.rs" { 40 } else { 400 };
        if lines > most {
            found.push(format!("src/{}: {lines} lines, at most {most}", source.path));
        }
    }
    assert_none(
        &found,
        "A file has 400 lines at most, about 300 as a rule, and main.rs 40: look for the second \
         subject in it and give that a file of its own.",
    );
}

/// The files that git keeps, or would keep; nothing where this is no checkout.
fn tracked() -> Vec<String> {
    let arguments = ["ls-files", "--cached", "--others", "--exclude-standard"];
    let listed = Command::new("git").args(arguments).current_dir(root()).output();
    let listed = listed.ok().filter(|listed| listed.status.success());
    let Some(listed) = listed else { return Vec::new() };
    let names = String::from_utf8(listed.stdout).expect("names are UTF-8");
    names.lines().map(str::to_owned).collect()
}

#[test]
fn the_versions_that_were_tested_are_kept() {
    assert!(root().join("Cargo.lock").is_file());
    let ignored =
        Command::new("git").args(["check-ignore", "-q", "Cargo.lock"]).current_dir(root()).status();
    assert!(
        ignored.map_or(true, |ignored| !ignored.success()),
        "Cargo.lock is committed: a server is built from the versions that its tests ran with."
    );
    let tracked = tracked();
    assert!(tracked.is_empty() || tracked.iter().any(|name| name == "Cargo.lock"));
}

#[test]
fn nothing_names_the_machine_it_was_written_on() {
    // Put together, so that this file does not break its own rule.
    let slash = "/";
    let places = ["home", "Users", "root", "work", "workspace", "tmp"];
    let places = places.map(|place| format!("{slash}{place}{slash}"));
    let hosts =
        ["artifactory", "nexus.", "registry.npmjs", "static.crates.io", "index.crates.io", "pypi."];
    let mut found = Vec::new();
    for name in tracked() {
        // This file lists what must not be named.
        if name == "tests/it/tidy.rs" {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(root().join(&name)) else { continue };
        for (number, line) in text.lines().enumerate() {
            let path = places.iter().any(|place| {
                line.match_indices(place.as_str()).any(|(at, _)| {
                    let before = line[..at].chars().next_back();
                    before.is_none_or(|c| !is_word(c) && !"./-*>})".contains(c))
                })
            });
            if path || hosts.iter().any(|host| line.contains(host)) {
                found.push(format!("{name}:{}: {}", number + 1, line.trim()));
            }
        }
    }
    assert_none(
        &found,
        "No file names a directory of one machine or the address of a package mirror: whoever \
         clones this has neither. Take paths from settings, arguments or env!(\"CARGO_MANIFEST_DIR\").",
    );
}
