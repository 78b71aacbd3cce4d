//! What can be wrong with a file: a stable code for each fault, and the way to say it.
//!
//! A fault found in the child process comes back as code and words; the code is looked up here, so
//! that nothing a child says becomes a code of the API. Nothing here knows any file format.

use crate::error::{Error, Problem};

/// What to do with most spreadsheets that cannot be read.
pub(super) const SAVE_AGAIN: &str = "open it in a spreadsheet program and save it again as xlsx";

/// Declares the codes as constants and lists them all.
macro_rules! codes {
    ($($name:ident = $code:literal, $says:literal;)*) => {
        $(#[doc = $says] pub(super) const $name: &str = $code;)*
        /// Every code.
        pub(super) const ALL: &[&str] = &[$($name),*];
    };
}

codes! {
    EMPTY = "empty_file", "No bytes, or a byte order mark alone.";
    UNSUPPORTED = "unsupported_file", "It is something, but no table that can be read.";
    UNREADABLE = "unreadable_file", "It claims to be a spreadsheet and cannot be understood.";
    DAMAGED = "damaged_file", "Cut off, or altered on its way.";
    PASSWORD = "password_protected", "Encrypted.";
    NO_SHEETS = "no_sheets", "A workbook without a worksheet.";
    HIDDEN_ONLY = "only_hidden_sheets", "Every worksheet is hidden and none was asked for.";
    NO_SUCH_SHEET = "no_such_sheet", "The sheet asked for is not there.";
    NO_WORKSHEET = "not_a_worksheet", "The sheet asked for is a chart or the like.";
    COLUMNS = "too_many_columns", "A value further right than the limit.";
    TEXT = "too_much_text", "More shared texts than the limit.";
    INFLATED = "too_large_inflated", "More bytes than the limit once it is unpacked.";
    BOMB = "compression_bomb", "A part that unpacks to far more than any honest one.";
    ENTITIES = "document_type", "An XML part with a document type, which can hold an attack.";
    ROW = "row_too_large", "A row of more bytes than one may have.";
    VALUE = "value_too_large", "A value of more bytes than one may have.";
    TIME = "too_slow", "Reading took longer than the limit.";
    MEMORY = "too_much_memory", "Reading needs more memory than the limit.";
    ERROR_VALUE = "unknown_error_value", "A cell's error that no spreadsheet program documents.";
    ORDER = "rows_out_of_order", "Rows that do not follow each other.";
    ENCODING = "unknown_encoding", "Text that is in none of the encodings taken.";
    QUOTE = "unterminated_quote", "A quoted value that is never closed.";
    JSON = "not_json", "JSON that cannot be parsed.";
    NO_OBJECT = "not_an_object", "JSON, but no object where a row is expected.";
    DOUBLED = "duplicate_key", "An object that has a key twice.";
}

/// The error for a file with this fault; `detail` ends with the way out.
pub(super) fn fault(code: &'static str, detail: impl Into<String>) -> Error {
    Error::Invalid(vec![Problem {
        parameter: Some("file".into()),
        code,
        value: None,
        detail: detail.into(),
    }])
}

/// The error for a sheet that was asked for and cannot be given.
pub(super) fn sheet_fault(code: &'static str, asked: &str, detail: impl Into<String>) -> Error {
    Error::Invalid(vec![Problem::parameter("sheet", code, asked, detail)])
}

/// The error for a fault that the child found; `asked` is the sheet that was asked for.
pub(super) fn from_child(code: &str, detail: String, asked: Option<&str>) -> Error {
    let code = ALL.iter().find(|known| **known == code).copied().unwrap_or(UNREADABLE);
    match asked {
        Some(asked) if matches!(code, NO_SUCH_SHEET | NO_WORKSHEET) => {
            sheet_fault(code, asked, detail)
        }
        _ => fault(code, detail),
    }
}

/// A fault as it goes to the parent: its code and its words; `None` for failures of ours.
pub(super) fn to_parent(error: &Error) -> Option<(&'static str, &str)> {
    match error {
        Error::Invalid(problems) => problems.first().map(|one| (one.code, one.detail.as_str())),
        _ => None,
    }
}

/// Names for a message: at most ten of them, in quotes.
pub(crate) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const MOST: usize = 10;
    let mut names = names.into_iter();
    let shown: Vec<_> = names.by_ref().take(MOST).map(|name| format!("\"{name}\"")).collect();
    match names.count() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// The letters of a column counted from 0, as a spreadsheet shows them: 0 is `A`, 702 is `AAA`.
pub(crate) fn letters(column: u64) -> String {
    let mut letters = Vec::new();
    let mut rest = column + 1;
    while rest > 0 {
        let digit = u8::try_from((rest - 1) % 26).unwrap_or_default();
        letters.push(char::from(b'A' + digit));
        rest = (rest - 1) / 26;
    }
    letters.iter().rev().collect()
}
