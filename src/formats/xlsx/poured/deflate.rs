//! Literals and repeats as the bits of Deflate (RFC 1951), in blocks that each have codes of their own.

use super::huffman::Code;

/// Literals and repeats of a block.
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
const DISTANCES: usize = 30;
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

/// The block that is being filled.
#[derive(Debug)]
pub(super) struct Block {
    /// A literal is its byte; a repeat its length, sixteen bits up, and its distance.
    tokens: Vec<u32>,
    literals: [u32; LITERALS],
    distances: [u32; DISTANCES],
    bits: Bits,
}

impl Block {
    pub(super) fn new() -> Self {
        Self {
            tokens: Vec::with_capacity(FULL + FULL / 8),
            literals: [0; LITERALS],
            distances: [0; DISTANCES],
            bits: Bits::default(),
        }
    }

    /// Adds a byte as it is.
    #[inline]
    pub(super) fn literal(&mut self, byte: u8) {
        self.tokens.push(u32::from(byte));
        self.literals[usize::from(byte)] += 1;
    }

    /// Adds a repeat of [`SHORTEST`] to [`LONGEST`] bytes that begins 1 to [`WINDOW`] bytes back.
    #[inline]
    pub(super) fn repeat(&mut self, length: u32, distance: u32) {
        self.tokens.push(length << 16 | distance);
        self.literals[END + 1 + usize::from(SYMBOLS[length as usize])] += 1;
        self.distances[distance_symbol(distance).0] += 1;
    }

    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.tokens.len() >= FULL
    }

    /// Sends what was added.
    pub(super) fn send(&mut self, out: &mut Vec<u8>) {
        self.send_as(false, out);
    }

    /// Sends what was added, and the end; the next block begins another stream.
    pub(super) fn send_last(&mut self, out: &mut Vec<u8>) {
        self.send_as(true, out);
        self.bits.close(out);
    }

    fn send_as(&mut self, last: bool, out: &mut Vec<u8>) {
        self.literals[END] += 1;
        let literals = Code::new(&self.literals, 15);
        let distances = Code::new(&self.distances, 15);
        self.bits.put(u64::from(last), 1, out);
        // Codes of its own.
        self.bits.put(2, 2, out);
        send_codes(&literals, &distances, &mut self.bits, out);
        for token in &self.tokens {
            let (length, distance) = ((token >> 16) as usize, token & 0xFFFF);
            if length == 0 {
                let (code, bits) = literals.of(distance as usize);
                self.bits.put(code, bits, out);
                continue;
            }
            let symbol = usize::from(SYMBOLS[length]);
            let (code, bits) = literals.of(END + 1 + symbol);
            let beyond = length as u64 - u64::from(BASES[symbol]);
            self.bits.put(code | beyond << bits, bits + u32::from(MORE[symbol]), out);
            let (symbol, more, beyond) = distance_symbol(distance);
            let (code, bits) = distances.of(symbol);
            self.bits.put(code | u64::from(beyond) << bits, bits + more, out);
        }
        let (code, bits) = literals.of(END);
        self.bits.put(code, bits, out);
        self.tokens.clear();
        self.literals = [0; LITERALS];
        self.distances = [0; DISTANCES];
    }
}

/// Sends the lengths of two codes, runs of the same shortened.
fn send_codes(
    literals: &Code<LITERALS>,
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
    bits.put((used - 257) as u64, 5, out);
    bits.put((used_distances - 1) as u64, 5, out);
    bits.put((sent - 4) as u64, 4, out);
    for symbol in &ORDER[..sent] {
        bits.put(u64::from(code.lengths[*symbol]), 3, out);
    }
    for (symbol, beyond, more) in said {
        let (code, length) = code.of(symbol);
        bits.put(code | (beyond as u64) << length, length + more, out);
    }
}

/// Says a run of one length: symbols, what is added to each, and in how many bits.
fn say_run(length: usize, run: usize, said: &mut Vec<(usize, usize, u32)>) {
    let mut left = run;
    let ways: &[(usize, usize, usize, u32)] = if length == 0 {
        &[(18, 11, 138, 7), (17, 3, 10, 3)]
    } else {
        // What is to be repeated is said before.
        said.push((length, 0, 0));
        left -= 1;
        &[(16, 3, 6, 2)]
    };
    for (symbol, least, most, more) in ways {
        while left >= *least {
            let taken = left.min(*most);
            said.push((*symbol, taken - least, *more));
            left -= taken;
        }
    }
    said.extend(std::iter::repeat_n((length, 0, 0), left));
}

/// Bits that do not make a byte yet.
#[derive(Debug, Default)]
struct Bits {
    held: u64,
    count: u32,
}

impl Bits {
    /// Puts at most 32 bits behind the others.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the lower half is meant")]
    fn put(&mut self, bits: u64, count: u32, out: &mut Vec<u8>) {
        self.held |= bits << self.count;
        self.count += count;
        if self.count >= 32 {
            out.extend_from_slice(&(self.held as u32).to_le_bytes());
            self.held >>= 32;
            self.count -= 32;
        }
    }

    /// Puts out what is left, filled up to a byte.
    fn close(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.held.to_le_bytes()[..self.count.div_ceil(8) as usize]);
        *self = Self::default();
    }
}
