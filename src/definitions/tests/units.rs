//! Headings as they are compared, and exact numbers as units of their last digit.

use proptest::prelude::*;

use crate::definitions::{NoUnits, fold, to_units, units_text};

#[test]
fn headings_are_compared_without_what_nobody_sees() {
    for heading in [
        "거래번호",
        "\u{FEFF}거래번호",
        " 거래 번호\u{A0}",
        "거래\n번호",
        "거래\u{200B}번호",
        "거래\u{3000}번호",
        // Decomposed, as macOS has it.
        "\u{1100}\u{1165}\u{1105}\u{1162}\u{1107}\u{1165}\u{11AB}\u{1112}\u{1169}",
    ] {
        assert_eq!(fold(heading), "거래번호", "{heading:?}");
    }
    assert_eq!(fold("Ｑty （EA）"), fold("QTY(ea)"));
    assert_ne!(fold("거래번호1"), fold("거래번호2"));
}

#[test]
fn units_keep_every_digit() {
    for (text, scale, units) in [
        ("0", 0, 0),
        ("-0.00", 2, 0),
        ("1500.5", 2, 150_050),
        ("+1500.500", 2, 150_050),
        ("-3000", 2, -300_000),
        ("000000000000000000000000000000000000000000001", 0, 1),
        (
            "12345678901234567890123456789012345678",
            0,
            12_345_678_901_234_567_890_123_456_789_012_345_678,
        ),
    ] {
        assert_eq!(to_units(text, scale), Ok(units), "{text}");
    }
    for (text, fault) in [
        ("", NoUnits::NotANumber),
        ("-", NoUnits::NotANumber),
        ("1.", NoUnits::NotANumber),
        (".5", NoUnits::NotANumber),
        ("1e3", NoUnits::NotANumber),
        ("1.005", NoUnits::TooFine),
        ("999999999999999999999999999999999999999", NoUnits::TooLarge),
    ] {
        assert_eq!(to_units(text, 2), Err(fault), "{text}");
    }
    assert_eq!(units_text(-5, 2), "-0.05");
    assert_eq!(units_text(150_050, 2), "1500.50");
    assert_eq!(units_text(7, 0), "7");
}

proptest! {
    #[test]
    fn units_are_read_as_they_are_written(units in any::<i128>(), scale in 0..=30_u32) {
        let units = units % 10_i128.pow(38);
        prop_assert_eq!(to_units(&units_text(units, scale), scale), Ok(units));
    }
}
