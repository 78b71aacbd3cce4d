//! What a conversion is asked to make: every parameter typed, every fault found at once.

use jiff::tz::TimeZone;
use serde_json::Value as Json;

use super::cells::Cells;
use super::columns::Wish;
use super::headers::{Headers, Rename, check_heading};
use crate::error::Problem;
use crate::formats::{Format, Numbers, Options, Parameters, params};

/// Every parameter.
const KNOWN: [&str; 13] = [
    "to",
    "columns",
    "headers",
    "rename",
    "sheet",
    "header_row",
    "tz",
    "numbers",
    "header",
    "bom",
    "delimiter",
    "formula_guard",
    "filename",
];

/// What a file is to become.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The format.
    pub to: Format,
    /// Its options.
    pub options: Options,
    /// The name for the download, without regard to what names may be.
    pub filename: Option<String>,
    pub(super) sheet: Option<String>,
    pub(super) header_row: Option<u64>,
    pub(super) wish: Wish,
    headers: Option<String>,
    zone: Option<TimeZone>,
    pairs: Vec<(String, String)>,
}

impl Asked {
    /// Reads the parameters of a request, and what is wrong with them.
    pub(super) fn read(pairs: &[(String, String)]) -> (Self, Vec<Problem>) {
        let mut reader = Parameters::new(pairs);
        reader.refuse_others(&KNOWN);
        let to = reader.word("to", &Format::ALL, Format::name);
        if !pairs.iter().any(|(name, _)| name == "to") {
            let detail = "\"to\" is missing; say what the file is to become: ndjson, json, csv or \
                          xlsx";
            reader.problems.push(Problem {
                parameter: Some("to".into()),
                code: "missing_parameter",
                value: None,
                detail: detail.into(),
            });
        }
        let filename = reader.value("filename").map(str::to_owned);
        let sheet = reader.value("sheet").map(str::to_owned);
        let header_row = header_row(&mut reader);
        let columns = columns(&mut reader);
        let headers = reader.value("headers").map(str::to_owned);
        let renames = renames(&mut reader, columns.as_deref());
        let zone = reader.zone();
        let title = filename.as_deref().map(stem).unwrap_or_default().to_owned();
        // A cell of a spreadsheet shows a moment as the other one did, which UTC leaves alone.
        let shown = zone.clone().filter(|_| to != Some(Format::Xlsx)).unwrap_or(TimeZone::UTC);
        let options = reader.options(shown, title);
        if to == Some(Format::Xlsx) {
            reader.refuse_for_a_book(&options);
        }
        let wish = Wish { columns, mapping: Vec::new(), renames };
        let asked = Self {
            to: to.unwrap_or(Format::Ndjson),
            options,
            filename,
            sheet,
            header_row,
            wish,
            headers,
            zone,
            pairs: pairs.to_vec(),
        };
        (asked, reader.problems)
    }

    /// The mapping that it names.
    pub(super) fn headers(&self) -> Option<&str> {
        self.headers.as_deref()
    }

    /// Takes the mapping that it named.
    pub(super) fn map_by(&mut self, headers: Headers) {
        self.wish.mapping = headers.columns;
    }

    /// How its cells are written.
    pub(super) fn cells(&self) -> Cells {
        let quoted = self.options.numbers == Numbers::String;
        Cells::new(self.to, quoted, self.zone.clone())
    }

    /// The parameters as the run keeps them.
    pub(super) fn params(&self) -> Json {
        params(&self.pairs)
    }
}

fn header_row(reader: &mut Parameters<'_>) -> Option<u64> {
    let value = reader.value("header_row")?;
    let row = value.parse().ok().filter(|row| *row > 0);
    if row.is_none() {
        let detail = format!(
            "\"header_row\" is \"{value}\"; it takes the number that the spreadsheet shows beside \
             the headings, from 1"
        );
        reader.refuse("header_row", "not_a_row", value, detail);
    }
    row
}

fn columns(reader: &mut Parameters<'_>) -> Option<Vec<String>> {
    let list = reader.value("columns")?;
    let mut columns: Vec<String> = Vec::new();
    for part in parts(list, ',') {
        match check_heading("a name in columns", &unescaped(part)) {
            Ok(name) if columns.contains(&name) => {
                let detail = format!("\"columns\" names \"{name}\" twice; name it once");
                reader.refuse("columns", "doubled_column", &name, detail);
            }
            Ok(name) => columns.push(name),
            Err(problem) => reader.refuse("columns", problem.code, list, problem.detail),
        }
    }
    Some(columns)
}

fn renames(reader: &mut Parameters<'_>, columns: Option<&[String]>) -> Vec<Rename> {
    let Some(list) = reader.value("rename") else { return Vec::new() };
    let mut renames: Vec<Rename> = Vec::new();
    for part in parts(list, ',') {
        let rename = match rename(part) {
            Ok(rename) => rename,
            Err((code, detail)) => {
                reader.refuse("rename", code, part, detail);
                continue;
            }
        };
        let doubled = |same: fn(&Rename, &Rename) -> bool| {
            renames.iter().any(|earlier| same(earlier, &rename))
        };
        if doubled(|a, b| a.from == b.from) {
            let detail = format!("\"rename\" names \"{}\" twice; name it once", rename.from);
            reader.refuse("rename", "doubled_column", part, detail);
        } else if doubled(|a, b| a.to == b.to) {
            let detail = format!(
                "\"rename\" would call two columns \"{}\"; give each a name of its own",
                rename.to
            );
            reader.refuse("rename", "doubled_column", part, detail);
        } else if columns.is_some_and(|columns| !columns.contains(&rename.from)) {
            let detail = format!(
                "\"rename\" names the column \"{}\", which \"columns\" leaves out; put it there too",
                rename.from
            );
            reader.refuse("rename", "unknown_column", part, detail);
        } else {
            renames.push(rename);
        }
    }
    renames
}

fn rename(part: &str) -> Result<Rename, (&'static str, String)> {
    let sides: Vec<_> = parts(part, ':').map(unescaped).collect();
    let [from, to] = sides.as_slice() else {
        let detail = format!(
            "\"rename\" has \"{part}\", which is not old:new; a colon or a comma that belongs to a \
             name has \\ before it"
        );
        return Err(("bad_rename", detail));
    };
    let side = |place: &str, name: &str| {
        check_heading(place, name).map_err(|problem| ("bad_rename", problem.detail))
    };
    Ok(Rename { from: side("an old name in rename", from)?, to: side("a new name in rename", to)? })
}

/// The parts of a list between separators that have no `\` before them.
fn parts(list: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut escaped = false;
    list.split(move |char: char| {
        let splits = char == separator && !escaped;
        escaped = char == '\\' && !escaped;
        splits
    })
}

/// A part without the `\` before separators and before itself.
fn unescaped(part: &str) -> String {
    let mut name = String::with_capacity(part.len());
    let mut chars = part.chars().peekable();
    while let Some(char) = chars.next() {
        let marks = char == '\\' && chars.peek().is_some_and(|next| ",:\\".contains(*next));
        name.extend(if marks { chars.next() } else { Some(char) });
    }
    name
}

/// A file's name without its ending.
fn stem(filename: &str) -> &str {
    let ending = Format::ALL.iter().find_map(|format| {
        let (stem, ending) = filename.rsplit_once('.')?;
        (ending.eq_ignore_ascii_case(format.extension())).then_some(stem)
    });
    ending.unwrap_or(filename)
}
