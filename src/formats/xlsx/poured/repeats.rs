//! What of a sheet repeats what stands shortly before it.
//!
//! The XML of a sheet says nearly the same over and over: a cell differs from the one before it and from
//! the one above it in a few digits. Where cells begin is known to whoever writes them, so their like
//! need not be searched for: a cell is laid beside the one above, at its beginning and at its end, and
//! beside the one before. That is found in a third of the time that a search takes, and is the better find.
//! Only texts, and the parts that have no cells, are searched.

use super::deflate::{LONGEST, Stream, WINDOW, distance_symbol};

/// Bytes that are looked at first.
const LOOK: usize = 4;
/// Bits that stand for a byte, about.
const LITERAL: u32 = 5;
/// Bits that a repeat takes beside those that say its distance closer, about.
const REPEAT: u32 = 8;
/// How much of a repeat within a text is kept to be found again.
const KEPT: usize = 24;
/// A repeat that is long enough not to search for a longer.
const LONG: usize = 32;
/// Bits of the hashes of texts.
const HASH: u32 = 15;
const NOWHERE: u32 = u32::MAX;

/// In place of a column: not a cell, but what begins a row or stands behind the last.
pub(super) const ROW: u16 = u16::MAX;

/// Where a cell begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    /// Its first byte among those of the same piece.
    pub(super) at: usize,
    /// Its column, or [`ROW`].
    pub(super) column: u16,
    /// Whether it holds its text.
    pub(super) text: bool,
}

/// A piece of a part, and where its cells begin, in their order.
#[derive(Debug, Default)]
pub(super) struct Piece {
    pub(super) bytes: Vec<u8>,
    pub(super) marks: Vec<Mark>,
}

/// A stretch of a part, counted from its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stretch {
    begin: usize,
    end: usize,
}

/// One part on its way into a compressed stream.
#[derive(Debug)]
pub(super) struct Repeats {
    /// Places of a hash that are tried within a text.
    tries: u32,
    stream: Stream,
    /// The bytes that can be repeated, and those at hand.
    window: Vec<u8>,
    /// How many bytes of the part stood before them.
    gone: usize,
    /// The last cell of each column.
    above: Vec<Option<Stretch>>,
    before: Option<Stretch>,
    search: Search,
}

impl Repeats {
    /// At level 1 texts are not searched; at each further one twice as many places are tried.
    pub(super) fn new(level: u8) -> Self {
        Self {
            tries: match level {
                0 | 1 => 0,
                more => 1 << (more.min(9) - 2),
            },
            stream: Stream::new(),
            window: Vec::new(),
            gone: 0,
            above: Vec::new(),
            before: None,
            search: Search::default(),
        }
    }

    /// Compresses the next piece of the part, down to the last whole byte. Where rows begin, a part may be
    /// cut into pieces anyhow: the same comes of it.
    pub(super) fn write(&mut self, piece: &Piece, out: &mut Vec<u8>) {
        self.take_in(&piece.bytes);
        let begin = self.gone + self.window.len() - piece.bytes.len();
        let end = self.gone + self.window.len();
        let place = |mark: &Mark| begin + mark.at;
        let mut at = begin;
        let first = Stretch { begin, end: piece.marks.first().map_or(end, place) };
        self.stretch(first, None, self.tries.max(1), first.end, &mut at, out);
        let mut rows = piece.marks.chunk_by(|_, next| next.column != ROW).peekable();
        while let Some(row) = rows.next() {
            let row_end = rows.peek().and_then(|next| next.first()).map_or(end, place);
            let ends = row.iter().skip(1).map(place).chain([row_end]);
            for (mark, end) in row.iter().zip(ends) {
                let tries = if mark.text { self.tries } else { 0 };
                let stretch = Stretch { begin: place(mark), end };
                self.stretch(stretch, Some(mark.column), tries, row_end, &mut at, out);
            }
        }
        self.stream.settle(out);
    }

    /// Ends the part; what is written next is another.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>) {
        self.stream.finish(out);
        self.window.clear();
        self.gone = 0;
        self.above.clear();
        self.before = None;
        self.search.forget();
    }

    /// Appends bytes to the window and lets go of those that are too far away.
    fn take_in(&mut self, bytes: &[u8]) {
        let far = self.window.len().saturating_sub(WINDOW);
        self.window.drain(..far);
        self.gone += far;
        self.window.extend_from_slice(bytes);
    }

    /// Compresses one stretch from `at`, which a repeat may take beyond its end, but not beyond its row's.
    fn stretch(
        &mut self,
        stretch: Stretch,
        column: Option<u16>,
        tries: u32,
        row_end: usize,
        at: &mut usize,
        out: &mut Vec<u8>,
    ) {
        let beside = self.beside(stretch, column);
        while *at < stretch.end {
            let place = *at - self.gone;
            if let Some(find) = self.find(place, row_end - self.gone, &beside, tries) {
                self.stream.repeat(small(find.length), small(find.distance), out);
                *at += find.length;
            } else {
                self.stream.literal(self.window[place], out);
                *at += 1;
            }
        }
    }

    /// The best repeat at a place of the window, if one is better than none, that ends where the row does
    /// or before. What was searched is kept to be found again.
    #[inline]
    fn find(
        &mut self,
        place: usize,
        row_end: usize,
        beside: &[Option<usize>; 3],
        tries: u32,
    ) -> Option<Find> {
        let window = &self.window[..row_end];
        let look = looked(window, place)?;
        let mut best = Find::default();
        for distance in beside.iter().flatten().filter(|distance| **distance <= place) {
            if looked(window, place - distance) == Some(look) {
                best.or(same(window, place, *distance), *distance);
            }
        }
        if tries > 0 {
            if best.length < LONG {
                self.search.look(window, self.gone, place, look, tries, &mut best);
            }
            for place in place..place + best.length.clamp(1, KEPT) {
                if let Some(look) = looked(window, place) {
                    self.search.keep(look, place + self.gone);
                }
            }
        }
        (best.gain > 0).then_some(best)
    }

    /// How far back the like of a stretch lies: the cell before, the one above, and the one above so
    /// that both end together. Remembers the stretch.
    fn beside(&mut self, stretch: Stretch, column: Option<u16>) -> [Option<usize>; 3] {
        let Some(column) = column.map(usize::from) else { return [None; 3] };
        if column >= self.above.len() {
            self.above.resize(column + 1, None);
        }
        let near = |distance: usize| (1..=WINDOW).contains(&distance).then_some(distance);
        let before = self.before.replace(stretch).and_then(|cell| near(stretch.begin - cell.begin));
        let above = self.above[column].replace(stretch);
        let from_begin = above.and_then(|cell| near(stretch.begin - cell.begin));
        let from_end = above.and_then(|cell| near(stretch.end - cell.end));
        [before, from_begin, from_end.filter(|distance| Some(*distance) != from_begin)]
    }
}

/// The best repeat so far, if it is better than none.
#[derive(Debug, Default)]
struct Find {
    length: usize,
    distance: usize,
    /// Bits that it saves, about.
    gain: u32,
}

impl Find {
    #[inline]
    fn or(&mut self, length: usize, distance: usize) {
        let cost = REPEAT + distance_symbol(small(distance)).1;
        let gain = (LITERAL * small(length)).saturating_sub(cost);
        if gain > self.gain {
            *self = Self { length, distance, gain };
        }
    }
}

/// Earlier places of the same few bytes within texts.
#[derive(Debug, Default)]
struct Search {
    /// The last place of each hash, counted from the part's beginning; made when it is needed.
    last: Vec<u32>,
    /// The place before that of each place.
    earlier: Vec<u32>,
}

impl Search {
    fn forget(&mut self) {
        self.last.clear();
        self.earlier.clear();
    }

    fn keep(&mut self, look: u32, at: usize) {
        if self.last.is_empty() {
            self.last.resize(1 << HASH, NOWHERE);
            self.earlier.resize(WINDOW, NOWHERE);
        }
        let last = &mut self.last[hash(look)];
        self.earlier[at % WINDOW] = std::mem::replace(last, small(at));
    }

    fn look(
        &self,
        window: &[u8],
        gone: usize,
        place: usize,
        look: u32,
        tries: u32,
        best: &mut Find,
    ) {
        let mut candidate = self.last.get(hash(look)).copied().unwrap_or(NOWHERE);
        for _ in 0..tries {
            let earlier = (candidate as usize).checked_sub(gone);
            let Some(earlier) = earlier.filter(|earlier| *earlier < place) else { return };
            if place - earlier > WINDOW {
                return;
            }
            if looked(window, earlier) == Some(look) {
                best.or(same(window, place, place - earlier), place - earlier);
            }
            // Places are used again, so what a chain leads to may be later.
            let next = self.earlier[candidate as usize % WINDOW];
            if next >= candidate {
                return;
            }
            candidate = next;
        }
    }
}

#[inline]
fn hash(look: u32) -> usize {
    (look.wrapping_mul(0x9E37_79B1) >> (32 - HASH)) as usize
}

/// The few bytes at a place; nothing too close to the end.
#[inline]
fn looked(window: &[u8], place: usize) -> Option<u32> {
    window.get(place..)?.first_chunk::<LOOK>().map(|bytes| u32::from_le_bytes(*bytes))
}

/// How many bytes are the same at a place and so far back.
#[inline]
fn same(window: &[u8], place: usize, distance: usize) -> usize {
    let length = LONGEST.min(window.len() - place);
    let here = &window[place..place + length];
    let there = &window[place - distance..][..length];
    let ((here, here_rest), (there, there_rest)) = (here.as_chunks::<8>(), there.as_chunks::<8>());
    let mut same = 0;
    for (here, there) in here.iter().zip(there) {
        let differs = u64::from_le_bytes(*here) ^ u64::from_le_bytes(*there);
        if differs != 0 {
            return same + differs.trailing_zeros() as usize / 8;
        }
        same += 8;
    }
    same + here_rest.iter().zip(there_rest).take_while(|(here, there)| here == there).count()
}

/// Lengths and distances, and places in a part, which has less than 4 GiB.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "no part has 4 GiB")]
fn small(number: usize) -> u32 {
    number as u32
}
