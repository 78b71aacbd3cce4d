//! What calamine says of a file that it cannot read, in words for whoever sent it.
//!
//! The library's own words name XML nodes and record types; they help nobody who has a spreadsheet
//! program, and are left out.

use calamine::{OdsError, XlsError, XlsbError, XlsxError};

use crate::error::Error;
use crate::sheets::fault::{self, SAVE_AGAIN, fault};

/// A file that is locked.
pub(super) fn password() -> Error {
    fault(
        fault::PASSWORD,
        "the file is protected with a password; save it without one and send it again",
    )
}

/// A file that breaks off or was altered.
pub(super) fn damaged() -> Error {
    fault(
        fault::DAMAGED,
        format!("the file is damaged or was cut off on its way; send it again, or {SAVE_AGAIN}"),
    )
}

/// A file that is whole and makes no sense.
pub(in crate::sheets) fn unreadable() -> Error {
    fault(
        fault::UNREADABLE,
        format!("the file breaks the rules of its format and cannot be read; {SAVE_AGAIN}"),
    )
}

/// A book with a sheet of a kind that is not known.
fn strange_sheet() -> Error {
    fault(
        fault::UNREADABLE,
        "the workbook has a macro sheet or another sheet of a kind that cannot be read; copy the \
         sheet with the rows into a new workbook and save that as xlsx",
    )
}

pub(super) fn xlsx(error: &XlsxError) -> Error {
    match error {
        XlsxError::Password => password(),
        XlsxError::Zip(_) | XlsxError::Io(_) => damaged(),
        XlsxError::Unrecognized { typ: "sheet:type", .. } => strange_sheet(),
        _ => unreadable(),
    }
}

pub(super) fn xlsb(error: &XlsbError) -> Error {
    match error {
        XlsbError::Password => password(),
        XlsbError::Zip(_) | XlsbError::Io(_) => damaged(),
        XlsbError::Unrecognized { typ: "BoundSheet8:dt", .. } => strange_sheet(),
        _ => unreadable(),
    }
}

pub(super) fn ods(error: &OdsError) -> Error {
    match error {
        OdsError::Password => password(),
        OdsError::Zip(_) | OdsError::Io(_) => damaged(),
        OdsError::CellLimitExceeded { .. } => memory(),
        _ => unreadable(),
    }
}

pub(super) fn xls(error: &XlsError) -> Error {
    match error {
        XlsError::Password => password(),
        XlsError::Cfb(_) | XlsError::Io(_) | XlsError::EoStream(_) => damaged(),
        _ => unreadable(),
    }
}

/// A file that needs more memory than any may.
pub(in crate::sheets) fn memory() -> Error {
    fault(
        fault::MEMORY,
        format!(
            "reading the file needs more memory than a file may; {SAVE_AGAIN} or as CSV, which are \
             read row by row, or split it into several files"
        ),
    )
}

/// An error value that no spreadsheet program documents, in or below this row, counted from 0.
pub(super) fn error_value(text: &str, row: u32) -> Error {
    fault(
        fault::ERROR_VALUE,
        format!(
            "a cell in row {} or soon after it holds the error \"{text}\"; mend its formula or \
             delete it, and save the file again",
            u64::from(row) + 1
        ),
    )
}
