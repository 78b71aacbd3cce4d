//! Huffman codes as Deflate has them (RFC 1951, 3.2.2): the lengths decide the codes.

/// A code for each of `N` symbols; those that are not used have a length of 0.
#[derive(Debug)]
pub(super) struct Code<const N: usize> {
    pub(super) lengths: [u8; N],
    /// Their bits in the order in which they are sent, the first the lowest.
    bits: [u16; N],
}

/// Bits as they are sent, the first the lowest; at most 32.
#[derive(Debug, Clone, Copy)]
pub(super) struct Said {
    pub(super) bits: u32,
    pub(super) count: u32,
}

impl Said {
    /// A number in so many bits.
    #[expect(clippy::cast_possible_truncation, reason = "it has no more bits than are said")]
    pub(super) fn number(number: usize, count: u32) -> Self {
        Self { bits: number as u32, count }
    }

    /// This, and more bits behind it.
    #[inline]
    pub(super) fn then(self, more: Self) -> Self {
        Self { bits: self.bits | more.bits << self.count, count: self.count + more.count }
    }
}

impl<const N: usize> Code<N> {
    /// The code that is shortest for symbols that are used so often, none longer than `longest` bits (15
    /// at most). Two symbols at least have a code: decoders want it complete.
    pub(super) fn new(uses: &[u32; N], longest: usize) -> Self {
        Self::of_lengths(lengths(uses, longest))
    }

    /// The code that has these lengths.
    pub(super) fn of_lengths(lengths: [u8; N]) -> Self {
        Self { bits: bits(&lengths), lengths }
    }

    /// How a symbol is said.
    #[inline]
    pub(super) fn of(&self, symbol: usize) -> Said {
        Said { bits: u32::from(self.bits[symbol]), count: u32::from(self.lengths[symbol]) }
    }

    /// How many symbols there are up to the last that is used.
    pub(super) fn used(&self) -> usize {
        self.lengths.iter().rposition(|length| *length > 0).map_or(0, |last| last + 1)
    }
}

/// A node of the tree while it is built.
#[derive(Clone, Copy)]
struct Node {
    uses: u64,
    parent: usize,
}

fn lengths<const N: usize>(uses: &[u32; N], longest: usize) -> [u8; N] {
    let mut symbols: Vec<usize> = (0..N).filter(|symbol| uses[*symbol] > 0).collect();
    let unused = (0..N).filter(|symbol| uses[*symbol] == 0);
    symbols.extend(unused.take(2_usize.saturating_sub(symbols.len())));
    symbols.sort_by_key(|symbol| uses[*symbol]);
    let mut counts = limited(&depths(symbols.iter().map(|symbol| uses[*symbol])), longest);
    let mut lengths = [0; N];
    // The rarest are the longest.
    let mut rarest = symbols.into_iter();
    for length in (1..=longest).rev() {
        for symbol in rarest.by_ref().take(std::mem::take(&mut counts[length])) {
            lengths[symbol] = u8::try_from(length).unwrap_or(u8::MAX);
        }
    }
    lengths
}

/// How deep each leaf of the tree is, for at least two that come in the order of their uses.
fn depths(uses: impl Iterator<Item = u32>) -> Vec<usize> {
    let leaf = |uses| Node { uses: u64::from(uses), parent: 0 };
    let mut nodes: Vec<Node> = uses.map(leaf).collect();
    let leaves = nodes.len();
    // Both the leaves and the knots come in order, so the two rarest are always at the fronts.
    let (mut next_leaf, mut next_knot) = (0, leaves);
    while nodes.len() + 1 < 2 * leaves {
        let mut rarest = || {
            let knot = nodes.get(next_knot);
            let is_leaf =
                next_leaf < leaves && knot.is_none_or(|knot| nodes[next_leaf].uses <= knot.uses);
            let next = if is_leaf { &mut next_leaf } else { &mut next_knot };
            *next += 1;
            *next - 1
        };
        let pair = [rarest(), rarest()];
        let parent = nodes.len();
        for child in pair {
            nodes[child].parent = parent;
        }
        nodes.push(Node { uses: pair.iter().map(|child| nodes[*child].uses).sum(), parent: 0 });
    }
    // The root is the last, and every parent comes after its children.
    let mut depths = vec![0; nodes.len()];
    for place in (0..nodes.len().saturating_sub(1)).rev() {
        depths[place] = depths[nodes[place].parent] + 1;
    }
    depths.truncate(leaves);
    depths
}

/// How many codes there are of each length when none may be longer than `longest`.
fn limited(depths: &[usize], longest: usize) -> [usize; 16] {
    let mut counts = [0; 16];
    for depth in depths {
        counts[(*depth).min(longest)] += 1;
    }
    // What was cut takes more of the room than there is, in units of the longest code; a code that
    // is made longer by a bit makes room for one of those.
    let taken: usize = (1..=longest).map(|length| counts[length] << (longest - length)).sum();
    for _ in (1 << longest)..taken {
        counts[longest] -= 1;
        if let Some(shorter) = (1..longest).rev().find(|length| counts[*length] > 0) {
            counts[shorter] -= 1;
            counts[shorter + 1] += 2;
        }
    }
    counts
}

fn bits<const N: usize>(lengths: &[u8; N]) -> [u16; N] {
    let mut counts = [0_u16; 16];
    for length in lengths.iter().filter(|length| **length > 0) {
        counts[usize::from(*length)] += 1;
    }
    let mut next = [0_u16; 16];
    for length in 1..16 {
        next[length] = (next[length - 1] + counts[length - 1]) << 1;
    }
    lengths.map(|length| {
        if length == 0 {
            return 0;
        }
        let code = next[usize::from(length)];
        next[usize::from(length)] += 1;
        code.reverse_bits() >> (16 - length)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What of the room for codes is taken, in units of the longest.
    fn taken<const N: usize>(code: &Code<N>) -> u32 {
        code.lengths.iter().filter(|length| **length > 0).map(|length| 1 << (15 - length)).sum()
    }

    #[test]
    fn what_is_used_more_often_is_shorter() {
        let code = Code::new(&[10, 1, 0, 5, 1], 15);
        assert_eq!(code.lengths, [1, 3, 0, 2, 3]);
        assert_eq!(code.used(), 5);
        assert_eq!([0, 3, 1, 4].map(|symbol| code.of(symbol).bits), [0b0, 0b01, 0b011, 0b111]);
    }

    #[test]
    fn a_code_is_complete_whatever_is_used() {
        for uses in [[0; 30], [7; 30]] {
            assert_eq!(taken(&Code::new(&uses, 15)), 1 << 15, "{uses:?}");
        }
        let mut one = [0; 286];
        one[256] = 1;
        let code = Code::new(&one, 15);
        assert_eq!((code.lengths[256], taken(&code)), (1, 1 << 15));
    }

    #[test]
    fn no_code_is_longer_than_it_may_be() {
        // Each is used as often as the two before together, which makes a tree as deep as it can be.
        let mut uses = [1_u32; 30];
        for symbol in 2..30 {
            uses[symbol] = uses[symbol - 1] + uses[symbol - 2];
        }
        for longest in [5, 7, 15] {
            let code = Code::new(&uses, longest);
            assert!(
                code.lengths.iter().all(|length| (1..=longest).contains(&usize::from(*length)))
            );
            assert_eq!(taken(&code), 1 << 15, "{longest}");
        }
    }
}
