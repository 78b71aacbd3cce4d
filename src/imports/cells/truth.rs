//! Yes and no, in the words that people have for them.

use super::scan::narrowed;
use super::show::quoted;
use super::{CellFault, Scratch, holds};
use crate::sheets::Cell;

/// Words for yes, in lower case.
const TRUE: [&str; 22] = [
    "true",
    "1",
    "y",
    "yes",
    "t",
    "on",
    "o",
    "예",
    "네",
    "참",
    "사용",
    "사용함",
    "사용중",
    "유",
    "○",
    "◯",
    "✓",
    "✔",
    "☑",
    "✅",
    "v",
    "√",
];
/// Words for no, in lower case.
const FALSE: [&str; 20] = [
    "false",
    "0",
    "n",
    "no",
    "f",
    "off",
    "x",
    "아니오",
    "아니요",
    "거짓",
    "미사용",
    "사용안함",
    "사용 안함",
    "사용 안 함",
    "무",
    "×",
    "✗",
    "✘",
    "☐",
    "❌",
];

/// The truth of a cell that has been trimmed.
pub(super) fn read(cell: Cell<'_>, scratch: &mut Scratch) -> Result<bool, CellFault> {
    match cell {
        Cell::Bool(truth) => Ok(truth),
        Cell::Number(1.0) => Ok(true),
        Cell::Number(0.0) => Ok(false),
        Cell::Text(text) | Cell::Digits(text) => {
            let word = narrowed(text, &mut scratch.narrow);
            let is = |words: &[&str]| words.iter().any(|known| known.eq_ignore_ascii_case(word));
            if is(&TRUE) {
                Ok(true)
            } else if is(&FALSE) {
                Ok(false)
            } else {
                Err(not_a_bool(&quoted(text)))
            }
        }
        Cell::Empty
        | Cell::Number(_)
        | Cell::Serial(_)
        | Cell::Iso(_)
        | Cell::Duration(_)
        | Cell::Error(_)
        | Cell::Unevaluated
        | Cell::Json(_) => Err(not_a_bool(&format!("the cell holds {}, which", holds(cell)))),
    }
}

fn not_a_bool(what: &str) -> CellFault {
    let detail = format!(
        "{what} is neither yes nor no; write TRUE or FALSE, Y or N, O or X, 1 or 0, 예 or 아니오, \
         사용 or 미사용"
    );
    CellFault::new("not_a_bool", detail)
}
