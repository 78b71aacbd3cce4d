//! What is compressed here, inflated by a library.

use std::io::Read;

use flate2::read::DeflateDecoder;
use proptest::prelude::*;

use crate::formats::xlsx::poured::deflate::{LONGEST, SHORTEST, Stream, WINDOW};
use crate::formats::xlsx::poured::repeats::{Mark, Piece, ROW, Repeats};

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
        begin(ROW, false, &format!("<row r=\"{row}\">"));
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
    let mut stream = Stream::new();
    let mut out = Vec::new();
    let mut plain: Vec<u8> = (0..=255).cycle().take(WINDOW).collect();
    for byte in &plain {
        stream.literal(*byte, &mut out);
    }
    let (longest, window) = (u32::try_from(LONGEST).unwrap(), u32::try_from(WINDOW).unwrap());
    let lengths = u32::try_from(SHORTEST).unwrap()..=longest;
    let distances = (0..15).flat_map(|bits| [1 << bits, (1 << bits) + 1, (1 << bits) * 3 / 2]);
    let distances: Vec<u32> = distances.chain([window - 1, window]).collect();
    for (length, distance) in
        lengths.flat_map(|one| distances.iter().map(move |other| (one, *other)))
    {
        stream.repeat(length, distance, &mut out);
        for _ in 0..length {
            plain.push(plain[plain.len() - distance as usize]);
        }
    }
    stream.finish(&mut out);
    assert!(inflated(&out) == plain);
}

/// What a reader has of a stream that goes on.
fn inflated_so_far(stream: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    let read = DeflateDecoder::new(stream).read_to_end(&mut plain);
    assert!(read.is_err(), "it ends already");
    plain
}

#[test]
fn what_was_written_can_be_read_before_the_end() {
    for level in 1..=9 {
        let mut repeats = Repeats::new(level);
        let (mut stream, mut plain) = (Vec::new(), Vec::new());
        for count in [1, 1, 2, 700, 1, 3_000] {
            let piece = rows(count, 9, |row, column| format!("{row}x{column}"));
            repeats.write(&piece, &mut stream);
            plain.extend_from_slice(&piece.bytes);
            let read = inflated_so_far(&stream);
            assert!(plain.starts_with(&read));
            // The bits that do not make a byte may say one repeat.
            assert!(plain.len() - read.len() <= LONGEST, "{} of {}", read.len(), plain.len());
        }
    }
}

/// A piece cut where its rows begin, as `cut` says.
fn cut(piece: &Piece, cut: impl Fn(usize) -> bool) -> Vec<Piece> {
    let begins: Vec<usize> =
        piece.marks.iter().filter(|mark| mark.column == ROW).map(|mark| mark.at).collect();
    let mut cuts: Vec<usize> = begins
        .into_iter()
        .skip(1)
        .enumerate()
        .filter(|(row, _)| cut(*row))
        .map(|(_, at)| at)
        .collect();
    cuts.insert(0, 0);
    cuts.push(piece.bytes.len());
    let between = |ends: &[usize]| {
        let [begin, end] = [ends[0], ends[1]];
        let marks = piece.marks.iter().filter(|mark| (begin..end).contains(&mark.at));
        Piece {
            bytes: piece.bytes[begin..end].to_vec(),
            marks: marks.map(|mark| Mark { at: mark.at - begin, ..*mark }).collect(),
        }
    };
    cuts.windows(2).map(between).collect()
}

#[test]
fn how_rows_are_cut_into_pieces_changes_no_byte() {
    let words = ["settled", "cancelled by the merchant", "결제", "1"];
    let piece = rows(4_000, 9, |row, column| {
        let word = words[(row * 31 + u32::from(column)) as usize % 4];
        format!("{word} {}", row * 7_919 % 10_007)
    });
    for level in [1, 2, 6] {
        let whole = compressed(std::slice::from_ref(&piece), level);
        for every in [1, 2, 7, 1_000] {
            let pieces = cut(&piece, |row| row % every == 0);
            assert!(pieces.len() > 3);
            assert!(compressed(&pieces, level) == whole, "level {level}, every {every}");
        }
    }
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
