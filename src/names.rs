//! Names of files: each one path segment that reads as it is, and in an archive one that every system
//! can unpack and no other has.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use unicode_normalization::UnicodeNormalization;

/// The longest name in bytes, as most file systems have it.
const LONGEST: usize = 255;
/// The longest ending in bytes, its point included, that a name keeps when it is cut.
const LONGEST_ENDING: usize = 16;
/// What a name without anything nameable becomes.
pub const NAMELESS: &str = "download";
/// Names that Windows keeps for devices, whatever their ending.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// A name that is one path segment, composed (NFC), without control characters, and at most 255 bytes
/// of UTF-8, its ending kept.
#[must_use]
pub fn safe_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let kept: String = last.nfc().filter(|c| !c.is_control() && !is_hidden(*c)).collect();
    let trimmed = kept.trim().trim_end_matches('.').trim_end();
    let named = if trimmed.trim_matches('.').is_empty() { NAMELESS } else { trimmed };
    shorten(named, LONGEST)
}

/// Characters that turn text around or take no place: a name must read as it is.
fn is_hidden(c: char) -> bool {
    matches!(c, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}')
}

/// The stem and the ending with its point, which is empty where a name has none or a long one.
fn parts(name: &str) -> (&str, &str) {
    let point = name.rfind('.').filter(|point| *point > 0);
    let point = point.filter(|point| name.len() - point <= LONGEST_ENDING);
    name.split_at(point.unwrap_or(name.len()))
}

/// Cuts the stem on a character's border and keeps the ending.
fn shorten(name: &str, longest: usize) -> String {
    if name.len() <= longest {
        return name.to_owned();
    }
    let (stem, ending) = parts(name);
    let mut cut = longest.saturating_sub(ending.len());
    while !stem.is_char_boundary(cut) {
        cut -= 1;
    }
    format!("{}{ending}", &stem[..cut])
}

/// Names of an archive's entries: [`safe_name`]s that every system takes, all of them different, also
/// where letter case does not count.
#[derive(Debug, Default)]
pub struct Distinct {
    taken: HashSet<String>,
    /// How often a name was numbered already.
    numbered: HashMap<String, u64>,
}

impl Distinct {
    /// The name for whoever wants this one: itself, or with a number before its ending, as in
    /// `name (1).pdf`.
    #[must_use]
    pub fn take(&mut self, name: &str) -> String {
        let name = portable(name);
        let wanted = folded(&name);
        if self.taken.insert(wanted.clone()) {
            return name;
        }
        let numbered = self.numbered.entry(wanted).or_default();
        loop {
            *numbered += 1;
            let (stem, ending) = parts(&name);
            let number = format!(" ({numbered}){ending}");
            let other = shorten(stem, LONGEST - number.len()) + &number;
            if self.taken.insert(folded(&other)) {
                return other;
            }
        }
    }
}

/// A name as systems compare it that do not heed letter case.
fn folded(name: &str) -> String {
    name.to_lowercase().nfc().collect()
}

/// A [`safe_name`] without what Windows refuses in names, and without points that lead anywhere.
fn portable(name: &str) -> String {
    let name = safe_name(name);
    let plain = |c: char| if "<>:\"|?*".contains(c) { '_' } else { c };
    let mut plain: String = name.chars().map(plain).collect();
    while plain.contains("..") {
        plain = plain.replace("..", ".");
    }
    let (stem, ending) = parts(&plain);
    let stem = stem.trim_end_matches([' ', '.']);
    let device = stem.split('.').next().unwrap_or_default().to_lowercase();
    let (port, number) = device.split_at_checked(3).unwrap_or_default();
    let is_port = matches!(port, "com" | "lpt") && number.len() == 1 && number != "0";
    let before = if is_port || DEVICES.contains(&device.as_str()) { "_" } else { "" };
    shorten(&format!("{before}{stem}{ending}"), LONGEST)
}
