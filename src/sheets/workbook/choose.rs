//! Which sheet of a workbook is read.

use calamine::{Sheet, SheetType, SheetVisible};

use crate::error::{Error, Result};
use crate::sheets::fault::{self, fault, listed, sheet_fault};
use crate::sheets::{Remark, Wanted};

pub(super) fn is_visible(tab: &Sheet) -> bool {
    tab.visible == SheetVisible::Visible
}

/// The place of the sheet wanted: by name, else by number from 1, else the first visible worksheet.
pub(super) fn choose(tabs: &[Sheet], wanted: &Wanted, remarks: &mut Vec<Remark>) -> Result<usize> {
    if !tabs.iter().any(is_worksheet) {
        return Err(fault(
            fault::NO_SHEETS,
            "the workbook has no worksheets; put the rows on a sheet and save it again as xlsx",
        ));
    }
    match &wanted.sheet {
        Some(asked) => asked_for(tabs, asked),
        None => first(tabs, remarks),
    }
}

fn is_worksheet(tab: &Sheet) -> bool {
    tab.typ == SheetType::WorkSheet
}

fn first(tabs: &[Sheet], remarks: &mut Vec<Remark>) -> Result<usize> {
    let hidden = || tabs.iter().filter(|tab| is_worksheet(tab) && !is_visible(tab));
    let names = || listed(hidden().map(|tab| tab.name.as_str()));
    let Some(found) = tabs.iter().position(|tab| is_worksheet(tab) && is_visible(tab)) else {
        return Err(fault(
            fault::HIDDEN_ONLY,
            format!(
                "every sheet of the workbook is hidden: {}; unhide the one that is meant, or ask \
                 for it with sheet=",
                names()
            ),
        ));
    };
    if hidden().next().is_some() {
        remarks.push(Remark {
            code: "hidden_sheets".into(),
            detail: format!(
                "the sheet \"{}\" was read; hidden and passed over: {}, which sheet= asks for",
                tabs[found].name,
                names()
            ),
        });
    }
    let others = || tabs[found + 1..].iter().filter(|tab| is_worksheet(tab) && is_visible(tab));
    if others().next().is_some() {
        remarks.push(Remark {
            code: "other_sheets".into(),
            detail: format!(
                "the sheet \"{}\" was read and no other: not {}, which sheet= asks for",
                tabs[found].name,
                listed(others().map(|tab| tab.name.as_str()))
            ),
        });
    }
    Ok(found)
}

fn asked_for(tabs: &[Sheet], asked: &str) -> Result<usize> {
    let same = |tab: &Sheet| tab.name == asked;
    let alike = |tab: &Sheet| tab.name.trim().to_lowercase() == asked.trim().to_lowercase();
    let number = || {
        let number = asked.trim().parse::<usize>().ok()?;
        number.checked_sub(1).filter(|place| *place < tabs.len())
    };
    let found = tabs.iter().position(same).or_else(|| tabs.iter().position(alike)).or_else(number);
    let found = found.ok_or_else(|| no_such_sheet(tabs, asked))?;
    if is_worksheet(&tabs[found]) {
        return Ok(found);
    }
    Err(sheet_fault(
        fault::NO_WORKSHEET,
        asked,
        format!(
            "\"{}\" is a chart or a dialog, not a sheet with rows; ask for one of {}",
            tabs[found].name,
            worksheets(tabs)
        ),
    ))
}

fn no_such_sheet(tabs: &[Sheet], asked: &str) -> Error {
    sheet_fault(
        fault::NO_SUCH_SHEET,
        asked,
        format!(
            "the workbook has no sheet \"{asked}\"; ask for one of {}, or for its number from 1 to \
             {}",
            worksheets(tabs),
            tabs.len()
        ),
    )
}

fn worksheets(tabs: &[Sheet]) -> String {
    listed(tabs.iter().filter(|tab| is_worksheet(tab)).map(|tab| tab.name.as_str()))
}
