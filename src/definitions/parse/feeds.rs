//! Where a template's values come from, and how they are shown.

use crate::definitions::document::{Bit, Feed, NumberFormat, Pointer, Show, Wording};
use crate::definitions::fault::Faults;
use crate::definitions::reader::{Part, Spot};

/// The keys of a value.
pub(super) const FEED: [&str; 6] = ["pointer", "sum", "type", "format", "optional", "words"];

/// What a value is, in the order that messages list them.
const TYPES: [(&str, Type); 5] = [
    ("text", Type::Text),
    ("number", Type::Number),
    ("date", Type::Date),
    ("time", Type::Time),
    ("bool", Type::Bool),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Text,
    Number,
    Date,
    Time,
    Bool,
}

/// Reads a value. What its pointer may begin with are `roots`; anything without.
pub(super) fn feed(
    part: &Part<'_>,
    roots: Option<&[String]>,
    faults: &mut Faults<'_>,
) -> Option<Feed> {
    let place = part.needed("pointer", "/content/name", faults);
    let sum = part.text("sum", faults);
    // What is summed up lies within the elements of an array.
    let within = if sum.is_some() { None } else { roots };
    let place = place.and_then(|place| pointer(&place, within, faults));
    let kind = part.word("type", &TYPES, faults).map_or(Type::Text, |kind| kind.value);
    if let Some(sum) = sum.as_ref().filter(|_| kind != Type::Number) {
        faults.at(sum.at, "\"sum\" is for numbers", "add type = \"number\"");
    }
    let sum = sum.and_then(|sum| pointer(&sum, roots, faults));
    let format = part.text("format", faults);
    let optional = part.flag("optional", faults).unwrap_or(false);
    let words = part.texts("words", faults);
    if let Some(format) = &format
        && kind != Type::Number
    {
        faults.at(format.at, "\"format\" is for numbers", "add type = \"number\", or take it out");
    }
    if !words.is_empty() && kind != Type::Bool {
        faults.at(words[0].at, "\"words\" are for truth values", "add type = \"bool\"");
    }
    let show = match kind {
        Type::Text => Show::Plain,
        Type::Number => Show::Number(
            format
                .map_or(Some(NumberFormat::default()), |format| number_format(&format, faults))?,
        ),
        Type::Date => Show::Date,
        Type::Time => Show::Time,
        Type::Bool => Show::Bool(truths(&words, part, faults)?),
    };
    Some(Feed { pointer: place?, sum, optional, show })
}

fn truths(words: &[Spot<String>], part: &Part<'_>, faults: &mut Faults<'_>) -> Option<[String; 2]> {
    if let [yes, no] = words {
        return Some([yes.value.clone(), no.value.clone()]);
    }
    faults.at(
        part.place("words").unwrap_or(part.at()),
        "a truth value has not two words",
        "say what true and false are shown as: words = [\"예\", \"아니오\"]",
    );
    None
}

/// Reads a pointer, whose first step must be one of `roots`.
pub(super) fn pointer(
    text: &Spot<String>,
    roots: Option<&[String]>,
    faults: &mut Faults<'_>,
) -> Option<Pointer> {
    let Some(pointer) = Pointer::parse(&text.value) else {
        faults.at(
            text.at,
            format!("\"{}\" is not a JSON pointer", text.value),
            "begin it with a slash, as in /content/name; write ~1 for a slash and ~0 for a tilde \
             within a key",
        );
        return None;
    };
    let first = pointer.steps().first().map_or("", String::as_str);
    if let Some(roots) = roots.filter(|roots| roots.iter().all(|root| root != first)) {
        faults.at(
            text.at,
            format!("\"{pointer}\" begins with \"{first}\", which is no column's key"),
            format!("begin with one of {}", roots.join(", ")),
        );
        return None;
    }
    Some(pointer)
}

/// Reads words with values among them: `{/pointer}`, or `{?/pointer}` for one that may be missing. A
/// brace that stands for itself is doubled.
pub(super) fn wording(
    text: &Spot<String>,
    roots: Option<&[String]>,
    faults: &mut Faults<'_>,
) -> Option<Wording> {
    let mut bits = Vec::new();
    let mut words = String::new();
    let mut rest = text.value.as_str();
    while let Some(at) = rest.find(['{', '}']) {
        words.push_str(&rest[..at]);
        let brace = &rest[at..];
        if let Some(behind) = brace.strip_prefix("{{").or_else(|| brace.strip_prefix("}}")) {
            words.push_str(&brace[..1]);
            rest = behind;
            continue;
        }
        let inside = brace.strip_prefix('{').and_then(|inside| inside.split_once('}'));
        let Some((inside, behind)) = inside else {
            faults.at(
                text.at,
                format!("\"{}\" has a brace that opens or closes nothing", text.value),
                "write a value as {/content/name}, and a brace that stands for itself twice",
            );
            return None;
        };
        if !words.is_empty() {
            bits.push(Bit::Words(std::mem::take(&mut words)));
        }
        let (optional, place) = match inside.strip_prefix('?') {
            Some(place) => (true, place),
            None => (false, inside),
        };
        let pointer = pointer(&Spot { value: place.to_owned(), at: text.at }, roots, faults)?;
        bits.push(Bit::Value(Feed { pointer, sum: None, optional, show: Show::Plain }));
        rest = behind;
    }
    words.push_str(rest);
    if !words.is_empty() {
        bits.push(Bit::Words(words));
    }
    Some(Wording(bits))
}

/// Reads a format such as `#,##0.00원`: the digits' part as spreadsheets have it, with words around.
fn number_format(text: &Spot<String>, faults: &mut Faults<'_>) -> Option<NumberFormat> {
    let is_digit = |c: char| matches!(c, '#' | '0' | ',' | '.');
    let wrong = |faults: &mut Faults<'_>| {
        faults.at(
            text.at,
            format!("\"format\" is \"{}\", which is no format of numbers here", text.value),
            "write 0, 0.00, #,##0 or #,##0.00, with words before or behind it",
        );
        None
    };
    let Some(first) = text.value.find(is_digit) else { return wrong(faults) };
    let digits: &str = &text.value[first..];
    let length = digits.find(|c| !is_digit(c)).unwrap_or(digits.len());
    let (digits, suffix) = digits.split_at(length);
    let (whole, decimals) = digits.split_once('.').unwrap_or((digits, ""));
    let grouped = whole == "#,##0" || whole == "#,###";
    if !(grouped || whole == "0" || whole == "#")
        || !decimals.trim_start_matches('0').trim_start_matches('#').is_empty()
        || suffix.contains(['#', '0'])
    {
        return wrong(faults);
    }
    Some(NumberFormat {
        prefix: text.value[..first].to_owned(),
        suffix: suffix.to_owned(),
        grouped,
        decimals: decimals.chars().take_while(|c| *c == '0').count(),
    })
}
