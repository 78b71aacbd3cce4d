//! The sources as the rules look at them: code without comments and the content of literals.

use std::path::{Path, PathBuf};

pub(super) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// One file below `src`.
pub(super) struct Source {
    /// Its path below `src`, such as `http/rows.rs`.
    pub(super) path: String,
    /// All of it.
    pub(super) text: String,
    /// The text without comments and the content of literals, line for line.
    pub(super) code: String,
}

impl Source {
    /// The first part of the path: the module that the file belongs to.
    pub(super) fn module(&self) -> &str {
        let first = self.path.split('/').next().unwrap_or_default();
        first.strip_suffix(".rs").unwrap_or(first)
    }

    /// Whether it is compiled for unit tests alone, which may look past the rules on drivers.
    pub(super) fn is_test(&self) -> bool {
        self.path.split('/').any(|part| matches!(part, "tests" | "tests.rs" | "testing.rs"))
    }

    /// Lines of code that say one of these paths, such as `sqlx`, at the beginning of a path.
    pub(super) fn lines_with(&self, crates: &[&str]) -> Vec<String> {
        let says = |line: &str, name: &str| {
            line.match_indices(name).any(|(at, _)| {
                let before = line[..at].chars().next_back();
                let after = line[at + name.len()..].chars().next();
                let begins = before.is_none_or(|c| !is_word(c) && c != ':' && c != '.');
                let ends = after.is_none_or(|c| !is_word(c));
                begins
                    && ends
                    && (is_path(name) || line[at + name.len()..].starts_with("::") || in_use(line))
            })
        };
        let lines = self.code.lines().enumerate();
        let found = lines.filter(|(_, line)| crates.iter().any(|name| says(line, name)));
        found.map(|(number, line)| self.at(number, line)).collect()
    }

    pub(super) fn at(&self, number: usize, line: &str) -> String {
        format!("src/{}:{}: {}", self.path, number + 1, line.trim())
    }
}

pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_path(name: &str) -> bool {
    name.contains("::")
}

fn in_use(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("use ") || line.starts_with("pub use ") || line.starts_with("extern crate ")
}

/// Blanks comments and the content of literals, keeping every line where it is.
fn code(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    let blank = |from: &str, code: &mut String| {
        code.extend(from.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
    };
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '"' => quoted(rest),
            'r' if !code.ends_with(is_word) && raw(rest).is_some() => raw(rest).unwrap_or(1),
            // A character, not a lifetime.
            '\'' => character(rest).unwrap_or(0),
            _ => 0,
        };
        if length == 0 {
            code.push(c);
            rest = &rest[c.len_utf8()..];
        } else {
            blank(&rest[..length], &mut code);
            rest = &rest[length..];
        }
    }
    code
}

fn quoted(rest: &str) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

fn raw(rest: &str) -> Option<usize> {
    let hashes = rest[1..].chars().take_while(|c| *c == '#').count();
    let open = 1 + hashes;
    rest[open..].starts_with('"').then(|| {
        let close = format!("\"{}", "#".repeat(hashes));
        rest[open + 1..].find(&close).map_or(rest.len(), |end| open + 1 + end + close.len())
    })
}

fn character(rest: &str) -> Option<usize> {
    let mut chars = rest.char_indices().skip(1);
    match chars.next()? {
        (_, '\\') => rest[3..].find('\'').map(|end| 3 + end + 1),
        _ => chars.next().filter(|(_, c)| *c == '\'').map(|(at, _)| at + 1),
    }
}

pub(super) fn sources() -> Vec<Source> {
    let src = root().join("src");
    let source = |file: PathBuf| {
        let path = file.strip_prefix(&src).expect("it lies below").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&file).expect("a source can be read");
        Source { path, code: code(&text), text }
    };
    let sources: Vec<_> = rust_files(&src).into_iter().map(source).collect();
    assert!(sources.len() > 50, "the sources are found");
    sources
}

pub(super) fn rust_files(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).expect("a directory can be read") {
        let path = entry.expect("an entry can be read").path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

#[test]
fn comments_and_texts_are_no_code() {
    let text = "use a::b; // sqlx::x\nlet s = \"sqlx::y\"; /* sqlx::z */ let c = '\"'; sqlx::q();\n\
                let r = r#\"sqlx::\"#; fn f<'a>(x: &'a str) {} let e = '\\''; rusqlite::w();";
    let source = Source { path: "http/a.rs".into(), code: code(text), text: text.into() };
    let found = source.lines_with(&["sqlx", "rusqlite"]);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("src/http/a.rs:2:") && found[1].starts_with("src/http/a.rs:3:"));
}
