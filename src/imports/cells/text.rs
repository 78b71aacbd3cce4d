//! Text columns: what is a text, how long, of which form.

use super::number::spell_shown;
use super::show::quoted;
use super::{CellFault, Scratch, holds};
use crate::definitions::{Pattern, fold};
use crate::sheets::Cell;

/// Choices that a sentence lists.
const LISTED: usize = 12;

/// The text of a cell that has been trimmed.
pub(super) fn read<'a>(cell: Cell<'a>, scratch: &'a mut Scratch) -> Result<&'a str, CellFault> {
    let text = match cell {
        Cell::Text(text) | Cell::Digits(text) => text,
        Cell::Number(number) => {
            if super::number::is_inexact(number) {
                return Err(super::number::inexact(number));
            }
            scratch.digits.clear();
            spell_shown(number, &mut scratch.digits);
            scratch.digits.as_str()
        }
        Cell::Serial(_) | Cell::Iso(_) => return Err(date(cell)),
        Cell::Empty
        | Cell::Duration(_)
        | Cell::Bool(_)
        | Cell::Error(_)
        | Cell::Unevaluated
        | Cell::Json(_) => return Err(not_a_text(cell)),
    };
    match unsound(text) {
        None => Ok(text),
        Some(char) => Err(bad_character(text, char)),
    }
}

fn date(cell: Cell<'_>) -> CellFault {
    let detail = format!(
        "the cell holds {}, where a text is taken; a spreadsheet may have made a date of what was \
         typed: format the cell as text and type it again",
        holds(cell)
    );
    CellFault::new("not_a_text", detail)
}

fn not_a_text(cell: Cell<'_>) -> CellFault {
    let detail = format!(
        "the cell holds {}, where a text is taken; format the cell as text and type it again",
        holds(cell)
    );
    CellFault::new("not_a_text", detail)
}

/// The first control character but for tabs and line breaks.
fn unsound(text: &str) -> Option<char> {
    // Control characters begin with these bytes; whole words are looked at before any character is.
    let suspect = |byte: u8| byte < b' ' || byte == 0x7F || byte == 0xC2;
    if !text.bytes().fold(false, |found, byte| found | suspect(byte)) {
        return None;
    }
    text.chars().find(|char| char.is_control() && !matches!(char, '\t' | '\n' | '\r'))
}

fn bad_character(text: &str, char: char) -> CellFault {
    let place = text.chars().position(|other| other == char).map_or(0, |place| place + 1);
    let (code, name) = match char {
        '\0' => ("nul_character", "NUL".to_owned()),
        _ => ("control_character", format!("U+{:04X}", u32::from(char))),
    };
    let detail = format!(
        "{} has the control character {name} as its character {place}, which no text may have; \
         take it out, or type the text again",
        quoted(text)
    );
    CellFault::new(code, detail)
}

/// The rules of the field.
pub(super) fn check(
    text: &str,
    max_length: Option<usize>,
    pattern: Option<&Pattern>,
    one_of: &[String],
) -> Result<(), CellFault> {
    if let Some(most) = max_length
        // A text has no more characters than bytes.
        && text.len() > most
    {
        let length = text.chars().count();
        if length > most {
            return Err(too_long(text, length, most));
        }
    }
    if !one_of.is_empty() && !one_of.iter().any(|choice| choice == text) {
        return Err(not_one_of(text, one_of));
    }
    match pattern {
        Some(pattern) if !pattern.whole.is_match(text) => Err(mismatch(text, pattern)),
        Some(_) | None => Ok(()),
    }
}

fn too_long(text: &str, length: usize, most: usize) -> CellFault {
    let detail = format!(
        "{} has {length} characters and the column takes {most}; shorten it by {}",
        quoted(text),
        length - most
    );
    CellFault::new("too_long", detail)
}

fn not_one_of(text: &str, one_of: &[String]) -> CellFault {
    let text_folded = fold(text);
    let near = one_of.iter().find(|choice| fold(choice) == text_folded);
    let listed: Vec<&str> = one_of.iter().take(LISTED).map(String::as_str).collect();
    let more = match one_of.len().saturating_sub(LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let way_out = match near {
        Some(near) => format!("write it exactly as \"{near}\""),
        None => format!("write one of {}{more}", listed.join(", ")),
    };
    let detail = format!("{} is not one of the values that are taken; {way_out}", quoted(text));
    CellFault::new("not_one_of", detail)
}

fn mismatch(text: &str, pattern: &Pattern) -> CellFault {
    let detail = match &pattern.hint {
        Some(hint) => format!("{} does not look as it must: {hint}", quoted(text)),
        None => format!(
            "{} does not look as it must; the column takes what the expression {} matches",
            quoted(text),
            pattern.source
        ),
    };
    CellFault::new("pattern_mismatch", detail)
}
