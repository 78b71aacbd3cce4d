//! PostgreSQL's exact numbers: base-10,000 digits on the wire, printed as `numeric_out` prints them.

use crate::database::decode::{Reading, exact};
use crate::rows::Kind;

/// `numeric_send`: count of base-10,000 digits, weight of the first, sign, scale, the digits.
pub(super) fn read<'r>(bytes: &[u8], kind: Kind, scratch: &'r mut String) -> Reading<'r> {
    const NEGATIVE: u16 = 0x4000;
    const SPECIAL: u16 = 0xC000;
    let short = || format!("came as a numeric of {} bytes, which is cut short", bytes.len());
    let (header, groups) = bytes.split_at_checked(8).ok_or_else(short)?;
    let word = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    let (count, sign, scale) = (usize::from(word(0)), word(4), usize::from(word(6)));
    let weight = i16::from_be_bytes([header[2], header[3]]);
    if sign & SPECIAL == SPECIAL {
        return Ok(None);
    }
    if groups.len() != count * 2 {
        return Err(short());
    }
    let group = |index: i32| -> u16 {
        let at = usize::try_from(index).ok().filter(|at| *at < count);
        at.map_or(0, |at| u16::from_be_bytes([groups[at * 2], groups[at * 2 + 1]]))
    };
    if sign == NEGATIVE {
        scratch.push('-');
    }
    push_whole(i32::from(weight), group, scratch);
    push_fraction(i32::from(weight) + 1, scale, group, scratch);
    exact(scratch, kind)
}

/// The digits before the point; the first group stands for 10,000 to the power of `weight`.
fn push_whole(weight: i32, group: impl Fn(i32) -> u16, out: &mut String) {
    if weight < 0 {
        out.push('0');
        return;
    }
    out.push_str(itoa::Buffer::new().format(group(0)));
    (1..=weight).for_each(|index| push_group(group(index), 4, out));
}

/// The digits after the point, which begin with the group `first`.
fn push_fraction(first: i32, scale: usize, group: impl Fn(i32) -> u16, out: &mut String) {
    if scale == 0 {
        return;
    }
    out.push('.');
    let mut left = scale;
    for index in first.. {
        let digits = left.min(4);
        push_group(group(index), digits, out);
        left -= digits;
        if left == 0 {
            break;
        }
    }
}

/// The first `digits` of a group's four.
fn push_group(group: u16, digits: usize, out: &mut String) {
    for divisor in [1_000, 100, 10, 1].into_iter().take(digits) {
        out.push(char::from_digit(u32::from(group) / divisor % 10, 10).unwrap_or('0'));
    }
}
