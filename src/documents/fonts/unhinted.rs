//! A font without the instructions that fit its outlines to coarse screens (OpenType 1.9, `glyf`): a third
//! of its bytes and of every document that it is embedded in, and no reader of PDFs heeds them.

/// Tables that hold instructions, or that nobody reads here.
const DROPPED: [&[u8; 4]; 6] = [b"fpgm", b"prep", b"cvt ", b"gasp", b"GSUB", b"GPOS"];

/// Flags of a part of a glyph that is put together.
const WORDS: u16 = 0x0001;
const SCALE: u16 = 0x0008;
const MORE: u16 = 0x0020;
const TWO_SCALES: u16 = 0x0040;
const MATRIX: u16 = 0x0080;
const INSTRUCTIONS: u16 = 0x0100;

/// The same font without instructions; nothing for what is no TrueType font.
pub(super) fn unhinted(font: &[u8]) -> Option<Vec<u8>> {
    let count = usize::from(two(font, 4)?);
    let mut tables: Vec<([u8; 4], &[u8])> = Vec::with_capacity(count);
    for index in 0..count {
        let entry = font.get(12 + 16 * index..28 + 16 * index)?;
        let (tag, rest) = entry.split_first_chunk::<4>()?;
        let (at, length) = (four(rest, 4)?, four(rest, 8)?);
        tables.push((*tag, font.get(at..at.checked_add(length)?)?));
    }
    let find = |tag: &[u8; 4]| tables.iter().find(|table| &table.0 == tag).map(|table| table.1);
    let (head, loca, glyf) = (find(b"head")?, find(b"loca")?, find(b"glyf")?);
    let (loca, glyf) = glyphs(loca, two(head, 50)? == 1, glyf)?;
    let mut head = head.to_vec();
    head.get_mut(50..52)?.copy_from_slice(&[0, 1]);
    let kept = tables.iter().filter(|(tag, _)| !DROPPED.contains(&tag));
    let kept: Vec<([u8; 4], &[u8])> = kept
        .map(|(tag, table)| match tag {
            b"head" => (*tag, head.as_slice()),
            b"loca" => (*tag, loca.as_slice()),
            b"glyf" => (*tag, glyf.as_slice()),
            _ => (*tag, *table),
        })
        .collect();
    write(font.get(..4)?, &kept)
}

/// Every glyph without its instructions, and where each begins, in four bytes.
fn glyphs(loca: &[u8], long: bool, glyf: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let size = if long { 4 } else { 2 };
    let place = |index: usize| {
        if long { four(loca, 4 * index) } else { Some(2 * usize::from(two(loca, 2 * index)?)) }
    };
    let (mut places, mut all) =
        (Vec::with_capacity(loca.len() * 2), Vec::with_capacity(glyf.len()));
    for index in 0..loca.len() / size {
        places.extend_from_slice(&u32::try_from(all.len()).ok()?.to_be_bytes());
        // Behind the last glyph is its end.
        let Some(end) = place(index + 1) else { break };
        let glyph = glyf.get(place(index)?..end)?;
        if !glyph.is_empty() {
            if two(glyph, 0)?.cast_signed() < 0 {
                composite(glyph, &mut all)?;
            } else {
                simple(glyph, &mut all)?;
            }
            // Readers that count in words must find each.
            all.resize(all.len().next_multiple_of(4), 0);
        }
    }
    Some((places, all))
}

fn simple(glyph: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let contours = usize::from(two(glyph, 0)?);
    let at = 10 + 2 * contours;
    let instructions = usize::from(two(glyph, at)?);
    out.extend_from_slice(glyph.get(..at)?);
    out.extend_from_slice(&[0, 0]);
    out.extend_from_slice(glyph.get(at + 2 + instructions..)?);
    Some(())
}

fn composite(glyph: &[u8], out: &mut Vec<u8>) -> Option<()> {
    out.extend_from_slice(glyph.get(..10)?);
    let mut at = 10;
    loop {
        let flags = two(glyph, at)?;
        let place = if flags & WORDS != 0 { 4 } else { 2 };
        let scale = match flags {
            flags if flags & SCALE != 0 => 2,
            flags if flags & TWO_SCALES != 0 => 4,
            flags if flags & MATRIX != 0 => 8,
            _ => 0,
        };
        let end = at + 4 + place + scale;
        out.extend_from_slice(&(flags & !INSTRUCTIONS).to_be_bytes());
        out.extend_from_slice(glyph.get(at + 2..end)?);
        at = end;
        if flags & MORE == 0 {
            return Some(());
        }
    }
}

/// Puts tables together; their check sums are right, for those who look.
fn write(version: &[u8], tables: &[([u8; 4], &[u8])]) -> Option<Vec<u8>> {
    let count = u16::try_from(tables.len()).ok()?;
    let power = count.checked_ilog2()?;
    let range = 16 << power;
    let mut font = version.to_vec();
    for number in [count, range, u16::try_from(power).ok()?, 16 * count - range] {
        font.extend_from_slice(&number.to_be_bytes());
    }
    let mut at = 12 + 16 * tables.len();
    for (tag, table) in tables {
        font.extend_from_slice(tag);
        for number in [sum(table), u32::try_from(at).ok()?, u32::try_from(table.len()).ok()?] {
            font.extend_from_slice(&number.to_be_bytes());
        }
        at += table.len().next_multiple_of(4);
    }
    for (_, table) in tables {
        font.extend_from_slice(table);
        font.resize(font.len().next_multiple_of(4), 0);
    }
    Some(font)
}

fn sum(table: &[u8]) -> u32 {
    let words = table.chunks(4).map(|word| {
        let mut four = [0; 4];
        four[..word.len()].copy_from_slice(word);
        u32::from_be_bytes(four)
    });
    words.fold(0, u32::wrapping_add)
}

fn two(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|bytes| u16::from_be_bytes(*bytes))
}

fn four(bytes: &[u8], at: usize) -> Option<usize> {
    let number = bytes.get(at..)?.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))?;
    usize::try_from(number).ok()
}
