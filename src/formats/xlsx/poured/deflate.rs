//! Literals and repeats as the bits of Deflate (RFC 1951).

use super::huffman::{Code, Said};

/// Literals and repeats of the first block, which is not the shorter for what it holds.
const FIRST: usize = 500;
/// Those of the longest block.
const FULL: usize = 30_000;
/// The shortest repeat that can be said.
pub(super) const SHORTEST: usize = 3;
/// The longest.
pub(super) const LONGEST: usize = 258;
/// How far back a repeat can begin.
pub(super) const WINDOW: usize = 1 << 15;

/// The symbol that ends a block; behind it come those of the lengths.
const END: usize = 256;
const LITERALS: usize = 286;
/// With two that nothing is said with, but that the fixed code counts.
const FIXED: usize = 288;
const DISTANCES: usize = 30;
/// What begins a block of the fixed code.
const FIXED_BLOCK: u32 = 1 << 1;
/// The shortest length of each symbol.
const BASES: [u16; 29] = [
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131,
    163, 195, 227, 258,
];
/// How many more bits say which of its lengths it is.
const MORE: [u8; 29] =
    [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
/// The order in which the lengths of the codes of lengths are sent.
const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// The symbol of each length, counted from [`END`] + 1.
const SYMBOLS: [u8; LONGEST + 1] = symbols();

const fn symbols() -> [u8; LONGEST + 1] {
    let mut table = [0; LONGEST + 1];
    let (mut length, mut symbol) = (SHORTEST, 0_u8);
    while length <= LONGEST {
        while symbol < 28 && BASES[symbol as usize + 1] as usize <= length {
            symbol += 1;
        }
        table[length] = symbol;
        length += 1;
    }
    table
}

/// The symbol of a distance, how many more bits it takes, and those bits.
#[inline]
pub(super) const fn distance_symbol(distance: u32) -> (usize, u32, u32) {
    if distance <= 4 {
        return (distance as usize - 1, 0, 0);
    }
    let distance = distance - 1;
    let top = distance.ilog2();
    let more = top - 1;
    ((2 * top + (distance >> more & 1)) as usize, more, distance & ((1 << more) - 1))
}

/// A stream that leaves while it comes: whatever is added is out, but for bits that do not make a byte.
///
/// A code has to be said before it is known what will be said in it. Each block's is therefore made for
/// what the block before it held, and the first block's is the one that needs no saying. Sheets go on as
/// they began, so that this costs next to nothing; the first blocks are short, to learn soon. Where blocks
/// end depends on nothing but what was added, never on when.
#[derive(Debug)]
pub(super) struct Stream {
    codes: Codes,
    uses: Uses,
    /// How many literals and repeats the block has room for.
    room: usize,
    /// How many more the block takes.
    left: usize,
    bits: Bits,
}

/// How often what was said in a block.
#[derive(Debug)]
struct Uses {
    bytes: [u32; END],
    lengths: [u32; LONGEST + 1],
    distances: [u32; DISTANCES],
}

/// The bits of everything that can be said.
#[derive(Debug)]
struct Codes {
    bytes: [Said; END],
    /// With the bits that say which of a symbol's lengths it is.
    lengths: [Said; LONGEST + 1],
    /// Of their symbols.
    distances: [Said; DISTANCES],
    end: Said,
}

impl Stream {
    pub(super) fn new() -> Self {
        Self {
            codes: Codes::fixed(),
            uses: Uses::none(),
            room: FIRST,
            left: FIRST,
            bits: Bits { held: u64::from(FIXED_BLOCK), count: 3 },
        }
    }

    /// Adds a byte as it is.
    #[inline]
    pub(super) fn literal(&mut self, byte: u8, out: &mut Vec<u8>) {
        let byte = usize::from(byte);
        self.uses.bytes[byte] += 1;
        self.bits.put(self.codes.bytes[byte], out);
        self.count(out);
    }

    /// Adds a repeat of [`SHORTEST`] to [`LONGEST`] bytes that begins 1 to [`WINDOW`] bytes back.
    #[inline]
    pub(super) fn repeat(&mut self, length: u32, distance: u32, out: &mut Vec<u8>) {
        self.uses.lengths[length as usize] += 1;
        self.bits.put(self.codes.lengths[length as usize], out);
        let (symbol, count, bits) = distance_symbol(distance);
        self.uses.distances[symbol] += 1;
        self.bits.put(self.codes.distances[symbol].then(Said { bits, count }), out);
        self.count(out);
    }

    #[inline]
    fn count(&mut self, out: &mut Vec<u8>) {
        self.left -= 1;
        if self.left == 0 {
            self.next_block(out);
        }
    }

    #[cold]
    fn next_block(&mut self, out: &mut Vec<u8>) {
        self.bits.put(self.codes.end, out);
        let (literals, distances) = std::mem::replace(&mut self.uses, Uses::none()).codes();
        // Not the last, with codes of its own.
        self.bits.put(Said { bits: 2 << 1, count: 3 }, out);
        send_codes(&literals, &distances, &mut self.bits, out);
        self.codes = Codes::new(&literals, &distances);
        self.room = FULL.min(2 * self.room);
        self.left = self.room;
    }

    /// Puts out all whole bytes.
    pub(super) fn settle(&mut self, out: &mut Vec<u8>) {
        self.bits.settle(out);
    }

    /// Ends the stream. What is added next begins another.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>) {
        self.bits.put(self.codes.end, out);
        // A last block, which is empty: seven zeros end it.
        self.bits.put(Said { bits: FIXED_BLOCK | 1, count: 10 }, out);
        self.bits.close(out);
        *self = Self::new();
    }
}

impl Uses {
    const fn none() -> Self {
        Self { bytes: [0; END], lengths: [0; LONGEST + 1], distances: [0; DISTANCES] }
    }

    /// Codes that are shortest for this, in which everything else can be said too.
    fn codes(&self) -> (Code<FIXED>, Code<DISTANCES>) {
        let mut literals = [0; FIXED];
        literals[..LITERALS].fill(1);
        for (symbol, uses) in literals.iter_mut().zip(self.bytes) {
            *symbol += uses;
        }
        for (length, uses) in self.lengths.iter().enumerate().skip(SHORTEST) {
            literals[END + 1 + usize::from(SYMBOLS[length])] += uses;
        }
        (Code::new(&literals, 15), Code::new(&self.distances.map(|uses| uses + 1), 15))
    }
}

impl Codes {
    /// The codes that need no saying (3.2.6).
    fn fixed() -> Self {
        let mut lengths = [8; FIXED];
        lengths[144..END].fill(9);
        lengths[END..280].fill(7);
        Self::new(&Code::of_lengths(lengths), &Code::of_lengths([5; DISTANCES]))
    }

    fn new(literals: &Code<FIXED>, distances: &Code<DISTANCES>) -> Self {
        let mut lengths = [literals.of(END); LONGEST + 1];
        for (length, said) in (0..).zip(&mut lengths).skip(SHORTEST) {
            let symbol = usize::from(SYMBOLS[length as usize]);
            let bits = length - u32::from(BASES[symbol]);
            let which = Said { bits, count: u32::from(MORE[symbol]) };
            *said = literals.of(END + 1 + symbol).then(which);
        }
        Self {
            bytes: std::array::from_fn(|byte| literals.of(byte)),
            lengths,
            distances: std::array::from_fn(|symbol| distances.of(symbol)),
            end: literals.of(END),
        }
    }
}

/// Sends the lengths of two codes, runs of the same shortened.
fn send_codes(
    literals: &Code<FIXED>,
    distances: &Code<DISTANCES>,
    bits: &mut Bits,
    out: &mut Vec<u8>,
) {
    let (used, used_distances) = (literals.used().max(END + 1), distances.used().max(1));
    let lengths = [&literals.lengths[..used], &distances.lengths[..used_distances]].concat();
    let mut said = Vec::new();
    for run in lengths.chunk_by(|one, other| one == other) {
        say_run(usize::from(run[0]), run.len(), &mut said);
    }
    let mut uses = [0; 19];
    for (symbol, ..) in &said {
        uses[*symbol] += 1;
    }
    let code = Code::new(&uses, 7);
    let sent =
        ORDER.iter().rposition(|symbol| code.lengths[*symbol] > 0).map_or(4, |last| last + 1);
    let sent = sent.max(4);
    let mut number = |number: usize, count| bits.put(Said::number(number, count), out);
    number(used - 257, 5);
    number(used_distances - 1, 5);
    number(sent - 4, 4);
    for symbol in &ORDER[..sent] {
        number(usize::from(code.lengths[*symbol]), 3);
    }
    for (symbol, more) in said {
        bits.put(code.of(symbol).then(more), out);
    }
}

/// Says a run of one length: symbols, and what is added to each.
fn say_run(length: usize, run: usize, said: &mut Vec<(usize, Said)>) {
    let mut left = run;
    let ways: &[(usize, usize, usize, u32)] = if length == 0 {
        &[(18, 11, 138, 7), (17, 3, 10, 3)]
    } else {
        // What is to be repeated is said before.
        said.push((length, NO_BITS));
        left -= 1;
        &[(16, 3, 6, 2)]
    };
    for (symbol, least, most, more) in ways {
        while left >= *least {
            let taken = left.min(*most);
            said.push((*symbol, Said::number(taken - least, *more)));
            left -= taken;
        }
    }
    said.extend(std::iter::repeat_n((length, NO_BITS), left));
}

const NO_BITS: Said = Said { bits: 0, count: 0 };

/// Bits that do not make a byte yet.
#[derive(Debug, Default)]
struct Bits {
    held: u64,
    count: u32,
}

impl Bits {
    /// Puts bits behind the others.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the lower half is meant")]
    fn put(&mut self, said: Said, out: &mut Vec<u8>) {
        self.held |= u64::from(said.bits) << self.count;
        self.count += said.count;
        if self.count >= 32 {
            out.extend_from_slice(&(self.held as u32).to_le_bytes());
            self.held >>= 32;
            self.count -= 32;
        }
    }

    /// Puts out all whole bytes.
    fn settle(&mut self, out: &mut Vec<u8>) {
        let bytes = self.count / 8;
        out.extend_from_slice(&self.held.to_le_bytes()[..bytes as usize]);
        self.held >>= 8 * bytes;
        self.count -= 8 * bytes;
    }

    /// Puts out what is left, filled up to a byte.
    fn close(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.held.to_le_bytes()[..self.count.div_ceil(8) as usize]);
        *self = Self::default();
    }
}
