//! What is compressed here, inflated by a library.

use std::io::Read;

use flate2::read::DeflateDecoder;
use proptest::prelude::*;

use crate::formats::xlsx::poured::deflate::{Block, LONGEST, SHORTEST, WINDOW};
use crate::formats::xlsx::poured::repeats::{Mark, Piece, Repeats};

fn inflated(stream: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    let mut decoder = DeflateDecoder::new(stream);
    decoder.read_to_end(&mut plain).unwrap();
    assert_eq!(decoder.total_in(), stream.len() as u64, "nothing stands behind its end");
    plain
}

fn compressed(pieces: &[Piece], level: u8) -> Vec<u8> {
    let mut repeats = Repeats::new(level);
    let mut stream = Vec::new();
    for piece in pieces {
        repeats.write(piece, &mut stream);
    }
    repeats.finish(&mut stream);
    stream
}

fn assert_kept(pieces: &[Piece], level: u8) -> usize {
    let stream = compressed(pieces, level);
    let plain: Vec<u8> = pieces.iter().flat_map(|piece| piece.bytes.clone()).collect();
    assert!(inflated(&stream) == plain, "level {level}, {} bytes", plain.len());
    stream.len()
}

/// A piece of rows whose cells are said by their values, with a text in every fourth.
fn rows(count: u32, columns: u16, value: impl Fn(u32, u16) -> String) -> Piece {
    let mut piece = Piece::default();
    let mut begin = |column, text, words: &str| {
        piece.marks.push(Mark { at: piece.bytes.len(), column, text });
        piece.bytes.extend_from_slice(words.as_bytes());
    };
    for row in 2..count + 2 {
        begin(u16::MAX, false, &format!("<row r=\"{row}\">"));
        for column in 0..columns {
            let value = value(row, column);
            begin(
                column,
                column % 4 == 3,
                &if column % 4 == 3 {
                    format!("<c r=\"K{column}-{row}\" t=\"inlineStr\"><is><t>{value}</t></is></c>")
                } else {
                    format!("<c r=\"K{column}-{row}\" s=\"3\"><v>{value}</v></c>")
                },
            );
        }
    }
    piece
}

#[test]
fn all_that_can_be_said_is_read_back() {
    let mut block = Block::new();
    let mut stream = Vec::new();
    let mut plain: Vec<u8> = (0..=250).cycle().take(WINDOW).collect();
    for byte in &plain {
        block.literal(*byte);
    }
    block.send(&mut stream);
    let (longest, window) = (u32::try_from(LONGEST).unwrap(), u32::try_from(WINDOW).unwrap());
    let lengths = u32::try_from(SHORTEST).unwrap()..=longest;
    let distances = (0..15).flat_map(|bits| [1 << bits, (1 << bits) + 1, (1 << bits) * 3 / 2]);
    let distances: Vec<u32> = distances.chain([window - 1, window]).collect();
    for (length, distance) in
        lengths.flat_map(|one| distances.iter().map(move |other| (one, *other)))
    {
        block.repeat(length, distance);
        for _ in 0..length {
            plain.push(plain[plain.len() - distance as usize]);
        }
        if block.is_full() {
            block.send(&mut stream);
        }
    }
    block.send_last(&mut stream);
    assert!(inflated(&stream) == plain);
}

#[test]
fn nothing_and_next_to_nothing_are_streams_too() {
    for bytes in ["", "a", "ab", "aaaa", "aaaaaaaaaaaaaaaaaaa"] {
        for level in 1..=9 {
            let marks = vec![];
            assert_kept(&[Piece { bytes: bytes.into(), marks }], level);
            assert_kept(&[Piece::default(), rows(1, 1, |_, _| bytes.into())], level);
        }
    }
}

#[test]
fn rows_are_kept_and_say_little_more_than_their_values() {
    let value = |row: u32, column: u16| (row * 7_919 % 10_007 * u32::from(column + 1)).to_string();
    let pieces: Vec<Piece> = (0..6).map(|_| rows(900, 14, value)).collect();
    let plain: usize = pieces.iter().map(|piece| piece.bytes.len()).sum();
    for level in 1..=9 {
        let packed = assert_kept(&pieces, level);
        assert!(packed < plain / 6, "{packed} of {plain} at level {level}");
    }
}

#[test]
fn a_row_that_is_longer_than_the_window_is_kept() {
    let value = |row: u32, column: u16| format!("{row}{column}").repeat(3);
    assert_kept(&[rows(8, 2_000, value), rows(8, 2_000, value)], 2);
}

#[test]
fn a_part_does_not_look_into_the_one_before() {
    let mut repeats = Repeats::new(2);
    for _ in 0..3 {
        let mut stream = Vec::new();
        let piece = rows(300, 9, |row, _| format!("the same {row}"));
        repeats.write(&piece, &mut stream);
        repeats.finish(&mut stream);
        assert!(inflated(&stream) == piece.bytes);
    }
}

#[test]
fn texts_are_searched_the_more_the_higher_the_level() {
    let words = ["settled", "refunded", "cancelled by the merchant", "waiting", "결제", "환불"];
    let text = |row: u32, column: u16| {
        let word =
            |turn: u32| words[((row * 31 + turn * row % 17 + u32::from(column)) % 6) as usize];
        (0..12).map(word).collect::<Vec<_>>().join(" ")
    };
    let pieces = [rows(900, 4, text), rows(900, 4, text)];
    let [first, second, last] = [1, 2, 9].map(|level| assert_kept(&pieces, level));
    assert!(first > second && second > last, "{first} {second} {last}");
}

proptest! {
    #[test]
    fn whatever_is_written_is_read_back(
        pieces in prop::collection::vec(
            (prop::collection::vec(0_u8..6, 0..3_000), prop::collection::vec(
                (any::<prop::sample::Index>(), 0_u16..5, any::<bool>()), 0..40)),
            1..30),
        level in 1_u8..=9,
    ) {
        let piece = |(bytes, marks): (Vec<u8>, Vec<(prop::sample::Index, u16, bool)>)| {
            let at = |place: prop::sample::Index| place.index(bytes.len() + 1);
            let marks = marks.into_iter();
            let mut marks: Vec<Mark> =
                marks.map(|(place, column, text)| Mark { at: at(place), column, text }).collect();
            marks.sort_by_key(|mark| mark.at);
            Piece { bytes, marks }
        };
        let pieces: Vec<Piece> = pieces.into_iter().map(piece).collect();
        assert_kept(&pieces, level);
    }
}
