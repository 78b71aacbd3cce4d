//! An empty workbook for an import: its headers, with a comment on each that says the rule.

use std::io::Write;
use std::path::Path;

use crate::definitions::{Bounds, Field, Import, Takes, units_text};
use crate::error::Result;
use crate::formats::{FormColumn, form};

/// Writes the template of an import as xlsx.
///
/// # Errors
/// [`crate::error::Error::NoSpace`], [`crate::error::Error::Internal`]; what `out` does.
pub fn template(
    import: &Import,
    temp_dir: &Path,
    level: u8,
    out: &mut (dyn Write + Send),
) -> Result<()> {
    let columns: Vec<FormColumn> = import.fields.iter().map(column).collect();
    form(&import.title, &columns, temp_dir, level, out)
}

fn column(field: &Field) -> FormColumn {
    let (scale, one_of) = match &field.takes {
        Takes::Decimal { scale, .. } => (Some(*scale), Vec::new()),
        Takes::Text { one_of, .. } => (None, one_of.clone()),
        _ => (None, Vec::new()),
    };
    FormColumn {
        header: field.title.clone(),
        kind: field.kind(),
        scale,
        comment: rules(field).join("\n"),
        one_of,
    }
}

/// What may stand in a column, a sentence for each rule.
fn rules(field: &Field) -> Vec<String> {
    let mut rules =
        vec![if field.required { "Required." } else { "May be left empty." }.to_owned()];
    match &field.takes {
        Takes::Text { max_length, pattern, one_of } => {
            rules.push("Text.".into());
            rules.extend(max_length.map(|most| format!("At most {most} characters.")));
            if let Some(pattern) = pattern {
                let like = pattern.hint.clone().unwrap_or_else(|| pattern.source.clone());
                rules.push(format!("Looks like: {like}"));
            }
            if !one_of.is_empty() {
                rules.push(format!("One of: {}", one_of.join(", ")));
            }
        }
        Takes::Int(bounds) => {
            rules.push("A whole number.".into());
            rules.extend(range(bounds, i64::to_string));
        }
        Takes::Decimal { scale, bounds, .. } => {
            rules.push(format!("A number with at most {scale} digits after the point."));
            rules.extend(range(bounds, |units| units_text(*units, *scale)));
        }
        Takes::Float(bounds) => {
            rules.push("A number.".into());
            rules.extend(range(bounds, f64::to_string));
        }
        Takes::Bool => rules.push("Yes or no: true or false, 예 or 아니오, Y or N, 1 or 0.".into()),
        Takes::Date(_) => rules.push("A date, as 2026-01-31.".into()),
        Takes::Time { .. } => rules.push("A date with its time, as 2026-01-31 14:05:00.".into()),
    }
    if field.unique {
        rules.push("Each value may come once only.".into());
    }
    if field.references.is_some() {
        rules.push("Must be known already.".into());
    }
    rules.extend(field.example.as_ref().map(|example| format!("Example: {example}")));
    rules
}

fn range<T>(bounds: &Bounds<T>, text: impl Fn(&T) -> String) -> Option<String> {
    match (&bounds.min, &bounds.max) {
        (Some(min), Some(max)) => Some(format!("From {} to {}.", text(min), text(max))),
        (Some(min), None) => Some(format!("At least {}.", text(min))),
        (None, Some(max)) => Some(format!("At most {}.", text(max))),
        (None, None) => None,
    }
}
