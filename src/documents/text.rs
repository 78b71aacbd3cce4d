//! Text into lines: glyphs found, widths added up, lines broken where they are full.
//!
//! Lines break at spaces, and within a word that is longer than a line, between any two of its letters,
//! as Korean does. A letter that the font has not is shown by others that mean the same where Unicode knows
//! some, as m³ for `㎥` and (1) for `①`, or else as `〓`, the mark that printers put in the place of a sort
//! that they lack. Either is counted; nothing is an empty box.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::Range;

use krilla::surface::Location;
use krilla::text::{Glyph as PdfGlyph, GlyphId};
use unicode_normalization::UnicodeNormalization;

use super::fonts::{Face, Weight};
use crate::error::Result;

/// What stands for a letter that the font has not.
const LACKING: char = '〓';

/// A glyph of a line.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Glyph {
    id: u32,
    /// As a share of the size.
    advance: f32,
    /// Its letter's bytes in the line's text.
    bytes: Range<usize>,
}

impl PdfGlyph for Glyph {
    fn glyph_id(&self) -> GlyphId {
        GlyphId::new(self.id)
    }

    fn text_range(&self) -> Range<usize> {
        self.bytes.clone()
    }

    fn x_advance(&self, size: f32) -> f32 {
        self.advance * size
    }

    fn x_offset(&self, _size: f32) -> f32 {
        0.0
    }

    fn y_offset(&self, _size: f32) -> f32 {
        0.0
    }

    fn y_advance(&self, _size: f32) -> f32 {
        0.0
    }

    fn location(&self) -> Option<Location> {
        None
    }
}

/// One line, without spaces at its ends.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) glyphs: Vec<Glyph>,
    /// As a share of the size.
    pub(super) width: f32,
}

/// Letters that the fonts have not, with how often they came.
pub(super) type Lacking = BTreeMap<char, u64>;

/// A letter on its way to a line.
#[derive(Debug, Clone, Copy)]
struct Letter {
    char: char,
    id: u32,
    advance: f32,
}

/// Breaks a text into lines of at most `width`, a share of the size; a line break begins a new one. A
/// text without letters is one empty line.
///
/// # Errors
/// As [`Face::of`].
pub(super) fn wrap(
    text: &str,
    weight: Weight,
    width: f32,
    lacking: &mut Lacking,
) -> Result<Vec<Line>> {
    let face = Face::of(weight)?;
    let mut lines = Vec::new();
    for paragraph in text.replace("\r\n", "\n").split(['\n', '\r', '\u{2028}', '\u{2029}']) {
        let mut letters = Vec::with_capacity(paragraph.len());
        for c in paragraph.nfc() {
            set(c, face, lacking, &mut letters);
        }
        break_lines(&letters, width, &mut lines);
    }
    Ok(lines)
}

/// Adds what shows a character; nothing for one that takes no place.
fn set(c: char, face: &Face, lacking: &mut Lacking, letters: &mut Vec<Letter>) {
    let shown = match c {
        '\u{AD}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' => {
            return;
        }
        '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' => return,
        c if c.is_control() => ' ',
        c => c,
    };
    if let Some(letter) = Letter::of(shown, shown, face) {
        return letters.push(letter);
    }
    if shown.is_whitespace() {
        return letters.extend(Letter::of(shown, ' ', face));
    }
    *lacking.entry(shown).or_default() += 1;
    match alike(shown, face) {
        Some(others) => letters.extend(others),
        None => letters.extend(Letter::of(LACKING, LACKING, face)),
    }
}

/// Letters that mean the same, where the font has all of them.
fn alike(c: char, face: &Face) -> Option<Vec<Letter>> {
    let compatible = std::iter::once(c).nfkc();
    let text: String = match c {
        // Numbers and letters in circles.
        '\u{2460}'..='\u{2473}'
        | '\u{24B6}'..='\u{24E9}'
        | '\u{3251}'..='\u{325F}'
        | '\u{3260}'..='\u{327B}' => {
            format!("({})", compatible.collect::<String>())
        }
        // Units, whose last digit is an exponent.
        '\u{3380}'..='\u{33DF}' => {
            let raised = |c| match c {
                '2' => '²',
                '3' => '³',
                other => other,
            };
            compatible.map(raised).collect()
        }
        _ => compatible.collect(),
    };
    let others = text.nfc().map(|other| Letter::of(other, other, face)).collect();
    if text.chars().eq(std::iter::once(c)) { None } else { others }
}

/// How a letter that the font has not is shown.
pub(super) fn substitute(c: char) -> String {
    let shown = Face::of(Weight::Regular).ok().and_then(|face| alike(c, face));
    shown.map_or_else(|| LACKING.to_string(), |letters| letters.iter().map(|l| l.char).collect())
}

impl Letter {
    /// A character that is shown by the glyph of perhaps another.
    fn of(char: char, shown: char, face: &Face) -> Option<Self> {
        face.glyph(shown).map(|(id, advance)| Self { char, id, advance })
    }
}

fn break_lines(letters: &[Letter], width: f32, lines: &mut Vec<Line>) {
    let mut rest = skip_spaces(letters);
    loop {
        let (line, behind) = rest.split_at(fits(rest, width));
        lines.push(Line::of(line));
        rest = skip_spaces(behind);
        if rest.is_empty() {
            return;
        }
    }
}

/// How many letters make up the next line; at least one of those that there are.
fn fits(letters: &[Letter], width: f32) -> usize {
    let mut reached = 0.0;
    // Behind the last space or hyphen.
    let mut word = 0;
    for (index, letter) in letters.iter().enumerate() {
        let is_space = breaks(letter.char);
        reached += letter.advance;
        // Spaces may hang over the end, where nobody sees them.
        if reached > width && !is_space {
            if word > 0 {
                return word;
            }
            return within_a_word(letters, index);
        }
        if is_space || (letter.char == '-' && index > 0) {
            word = index + 1;
        }
    }
    letters.len()
}

/// Whether a line may break at this space.
fn breaks(c: char) -> bool {
    c.is_whitespace() && !matches!(c, '\u{A0}' | '\u{202F}' | '\u{2007}')
}

/// Where a word is broken of which `index` letters fit: not before what belongs to the letter before it.
fn within_a_word(letters: &[Letter], index: usize) -> usize {
    let mut at = index.max(1);
    while at > 1 && belongs(letters[at].char) {
        at -= 1;
    }
    // A word of nothing else is broken wherever it must be.
    if belongs(letters[at].char) { index.max(1) } else { at }
}

/// Whether a character cannot begin a line.
fn belongs(c: char) -> bool {
    matches!(
        c,
        ',' | '.'
            | ')'
            | ']'
            | '}'
            | '!'
            | '?'
            | ':'
            | ';'
            | '%'
            | '」'
            | '』'
            | '》'
            | '〉'
            | '】'
            | '、'
            | '。'
            | '，'
            | '．'
            | '）'
            | '”'
            | '’'
            | '…'
            | '℃'
            | '·'
            | '\u{300}'..='\u{36F}'
    )
}

fn skip_spaces(letters: &[Letter]) -> &[Letter] {
    let spaces = letters.iter().take_while(|letter| breaks(letter.char)).count();
    &letters[spaces..]
}

impl Line {
    fn of(letters: &[Letter]) -> Self {
        let end =
            letters.iter().rposition(|letter| !breaks(letter.char)).map_or(0, |last| last + 1);
        let letters = &letters[..end];
        let mut line = Self { glyphs: Vec::with_capacity(letters.len()), ..Self::default() };
        for letter in letters {
            let begin = line.text.len();
            line.text.push(letter.char);
            line.width += letter.advance;
            let bytes = begin..line.text.len();
            line.glyphs.push(Glyph { id: letter.id, advance: letter.advance, bytes });
        }
        line
    }
}
