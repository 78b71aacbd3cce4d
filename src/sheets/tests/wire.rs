//! Rows to bytes and back.

use proptest::prelude::*;

use crate::sheets::Cell;
use crate::sheets::wire::{Torn, decode_row, encode_row};

/// A cell that owns what it holds.
type Owned = (u8, String, f64);

fn cell((kind, text, number): &Owned) -> Cell<'_> {
    match kind % 12 {
        0 => Cell::Empty,
        1 => Cell::Text(text),
        2 => Cell::Number(*number),
        3 => Cell::Digits(text),
        4 => Cell::Serial(*number),
        5 => Cell::Iso(text),
        6 => Cell::Duration(*number),
        7 => Cell::Bool(false),
        8 => Cell::Bool(true),
        9 => Cell::Error(text),
        10 => Cell::Unevaluated,
        _ => Cell::Json(text),
    }
}

fn owned() -> impl Strategy<Value = Owned> {
    (any::<u8>(), "\\PC{0,40}|.{0,300}", -1e300..1e300)
}

proptest! {
    #[test]
    fn rows_come_back_as_they_were(
        rows in prop::collection::vec((any::<u64>(), prop::collection::vec(owned(), 0..20)), 0..5)
    ) {
        let mut bytes = Vec::new();
        for (number, cells) in &rows {
            let cells: Vec<_> = cells.iter().map(cell).collect();
            encode_row(*number, &cells, &mut bytes);
        }
        let (mut rest, mut cells) = (bytes.as_slice(), Vec::new());
        for (number, before) in &rows {
            prop_assert_eq!(decode_row(&mut rest, &mut cells), Ok(*number));
            let before: Vec<_> = before.iter().map(cell).collect();
            prop_assert_eq!(&cells, &before);
        }
        prop_assert!(rest.is_empty());
    }

    #[test]
    fn a_row_that_is_cut_off_is_torn(
        number in any::<u64>(),
        cells in prop::collection::vec(owned(), 0..8),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = Vec::new();
        encode_row(number, &cells.iter().map(cell).collect::<Vec<_>>(), &mut bytes);
        let cut = cut.index(bytes.len());
        prop_assert_eq!(decode_row(&mut &bytes[..cut], &mut Vec::new()), Err(Torn));
    }

    #[test]
    fn no_bytes_are_too_strange_to_be_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut cells = Vec::new();
        let _ = decode_row(&mut bytes.as_slice(), &mut cells);
        prop_assert!(cells.capacity() <= bytes.len().max(4));
    }
}

#[test]
fn not_a_number_and_the_infinities_keep_their_bits() {
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 5e-324] {
        let mut bytes = Vec::new();
        encode_row(1, &[Cell::Number(number)], &mut bytes);
        let mut cells = Vec::new();
        decode_row(&mut bytes.as_slice(), &mut cells).expect("a row");
        let [Cell::Number(back)] = cells.as_slice() else { panic!("one number") };
        assert_eq!(back.to_bits(), number.to_bits());
    }
}
