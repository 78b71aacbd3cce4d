//! Numbers that look drawn and are not: a hash of what they are for.

/// Odd, with its bits spread evenly: 2^64 divided by the golden ratio.
const STRIDE: u64 = 0x9E37_79B9_7F4A_7C15;

/// The numbers that belong to one row, each to be used once and always in the same order.
#[derive(Debug, Clone)]
pub(super) struct Draws {
    state: u64,
}

impl Draws {
    /// The numbers of a row among those made for one `purpose`.
    pub(super) const fn of(purpose: u64, row: u64) -> Self {
        Self { state: mix(purpose.wrapping_mul(STRIDE) ^ mix(row)) }
    }

    /// Any 64 bits.
    pub(super) const fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STRIDE);
        mix(self.state)
    }

    /// A number below `limit`, each as often as any other.
    pub(super) const fn below(&mut self, limit: u64) -> u64 {
        scale(self.bits(), limit)
    }

    /// Whether something that happens `part` times in `whole` happens here.
    pub(super) const fn happens(&mut self, part: u64, whole: u64) -> bool {
        self.below(whole) < part
    }

    /// One of a list that is not empty.
    pub(super) const fn one_of<T: Copy, const N: usize>(&mut self, list: &[T; N]) -> T {
        list[place(self.below(N as u64))]
    }
}

/// The finishing steps of `SplitMix64` (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", 2014), a bijection on 64 bits.
pub(super) const fn mix(bits: u64) -> u64 {
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

/// A place in a list of the program's own.
#[expect(clippy::cast_possible_truncation, reason = "no list here is longer than 5,000")]
pub(super) const fn place(number: u64) -> usize {
    number as usize
}

/// A fraction of 2^64, taken of `whole` and rounded down.
pub(super) const fn scale(fraction: u64, whole: u64) -> u64 {
    ((fraction as u128 * whole as u128) >> 64) as u64
}
