//! Whole numbers, decimals, floats.

use super::*;

fn money() -> Field {
    field("type = \"decimal\"\nprecision = 15\nscale = 2")
}

#[test]
fn whole_numbers_are_read_in_every_usual_spelling() {
    for (text, expected) in [
        ("7", 7),
        ("-7", -7),
        ("+7", 7),
        ("007", 7),
        ("1,234", 1_234),
        ("-1,234,567", -1_234_567),
        ("１２", 12),
        ("－１，２３４", -1_234),
        ("\u{2212}5", -5),
        (" \u{A0}5\u{3000}", 5),
        ("3.0", 3),
        ("3.000", 3),
        ("3.", 3),
        ("(1,234)", -1_234),
        ("( 5 )", -5),
        ("₩1,234", 1_234),
        ("￦ 1,234", 1_234),
        ("\\1,234", 1_234),
        ("-₩1,234", -1_234),
        ("₩-1,234", -1_234),
        ("(₩1,234)", -1_234),
        ("1,234원", 1_234),
        ("1,234 원", 1_234),
        ("9223372036854775807", i64::MAX),
        ("-9223372036854775808", i64::MIN),
    ] {
        assert_value(&field("int"), Cell::Text(text), Value::Int(expected));
    }
    for (digits, expected) in [("1e3", 1_000), ("1.5E+2", 150), ("-20e-1", -2), ("3.0", 3)] {
        assert_value(&field("int"), Cell::Digits(digits), Value::Int(expected));
    }
    for (number, expected) in [
        (3.0, 3),
        (-0.0, 0),
        (1e15, 1_000_000_000_000_000),
        (2.999_999_999_999_999_6, 3),
        (0.1 * 3.0 * 10.0, 3),
    ] {
        assert_value(&field("int"), Cell::Number(number), Value::Int(expected));
    }
}

#[test]
fn what_is_no_whole_number_is_refused_with_its_reason() {
    for (text, code) in [
        ("12개", "not_an_int"),
        ("1 234", "not_an_int"),
        ("1,23", "not_an_int"),
        ("12,34,567", "not_an_int"),
        ("1234,567", "not_an_int"),
        (",123", "not_an_int"),
        ("1,234,", "not_an_int"),
        ("--5", "not_an_int"),
        ("(-5)", "not_an_int"),
        ("5-", "not_an_int"),
        ("₩₩5", "not_an_int"),
        ("$5", "not_an_int"),
        ("원", "not_an_int"),
        ("₩", "not_an_int"),
        ("()", "not_an_int"),
        (".", "not_an_int"),
        ("-", "not_an_int"),
        ("0x1F", "not_an_int"),
        ("∞", "not_an_int"),
        ("٣", "not_an_int"),
        ("△5", "not_an_int"),
        ("15%", "percent"),
        ("1e3", "shortened_number"),
        ("1.23457E+12", "shortened_number"),
        ("3.5", "not_whole"),
        ("9223372036854775808", "too_large"),
        ("-9223372036854775809", "too_small"),
        ("123456789012345678901234567890123456789012345678901234567890", "too_large"),
    ] {
        assert_code(&field("int"), Cell::Text(text), code);
    }
    for (cell, code) in [
        (Cell::Number(3.5), "not_whole"),
        (Cell::Number(1e300), "too_large"),
        (Cell::Number(-1e300), "too_small"),
        (Cell::Number(9_007_199_254_740_992.0), "inexact_number"),
        (Cell::Number(f64::NAN), "not_an_int"),
        (Cell::Number(f64::INFINITY), "not_an_int"),
        (Cell::Digits("1e400"), "too_large"),
        (Cell::Digits("1e-400"), "not_whole"),
        (Cell::Digits("1e99999999999"), "too_large"),
        (Cell::Bool(true), "not_an_int"),
        (Cell::Serial(45_322.0), "not_an_int"),
    ] {
        assert_code(&field("int"), cell, code);
    }
}

/// Cells of whole numbers from 0 to a billion, with what is said of them.
const SENTENCES: [(Cell<'_>, &str, &str); 9] = [
    (
        Cell::Text("12개"),
        "not_an_int",
        "\"12개\" is not a whole number; write digits alone, such as 1200",
    ),
    (
        Cell::Text("1,23"),
        "not_an_int",
        "\"1,23\" is not a whole number: commas stand between groups of three digits, and the decimals \
             behind one point; write it without commas, such as 1200",
    ),
    (
        Cell::Text("▲5"),
        "not_an_int",
        "\"▲5\" is not a whole number: a triangle means less than nothing to some and a rise or fall to \
             others; write a minus sign, such as -1200",
    ),
    (
        Cell::Text("15%"),
        "percent",
        "\"15%\" is a percentage, which can mean two numbers; write the number that is to be stored, \
             without the sign",
    ),
    (
        Cell::Text("1.2E+12"),
        "shortened_number",
        "\"1.2E+12\" is how a spreadsheet shortens a long number, and its last digits may be lost; \
             format the column as a number without decimals, save the file again, and see that all digits \
             are there",
    ),
    (
        Cell::Number(3.5),
        "not_whole",
        "3.5 is not a whole number: it has the fraction 0.5; round it, or take the fraction off",
    ),
    (
        Cell::Number(-1.0),
        "too_small",
        "-1 is less than 0, the least that is taken; correct the number",
    ),
    (
        Cell::Number(1e20),
        "too_large",
        "100000000000000000000 is more than 1000000000, the most that is taken; correct the number",
    ),
    (
        Cell::Serial(45_322.0),
        "not_an_int",
        "the cell holds the date 2024-01-31, where a whole number is taken; format the cell as a number \
             and type the number, such as 1200",
    ),
];

#[test]
fn sentences_about_numbers_say_how_to_mend_them() {
    let int = field("type = \"int\"\nmin = 0\nmax = 1_000_000_000");
    for (cell, code, detail) in SENTENCES {
        assert_said(&int, cell, code, detail);
    }
    assert_said(
        &money(),
        Cell::Number(1500.505),
        "too_many_decimals",
        "1500.505 has more than the 2 digits after the point that the column keeps; round it",
    );
    assert_said(
        &money(),
        Cell::Text("12,345,678,901,234.00"),
        "too_large",
        "12345678901234.00 has more than the 13 digits before the point that the column keeps; correct \
         the number",
    );
}

#[test]
fn decimals_have_exactly_their_scale() {
    for (text, expected) in [
        ("1500.5", "1500.50"),
        ("1,500.50", "1500.50"),
        ("-3000", "-3000.00"),
        (".5", "0.50"),
        ("-0", "0.00"),
        ("(0.05)", "-0.05"),
        ("1.000000", "1.00"),
        ("1.005e3", ""),
        ("9999999999999.99", "9999999999999.99"),
    ] {
        if expected.is_empty() {
            assert_code(&money(), Cell::Text(text), "shortened_number");
        } else {
            assert_value(&money(), Cell::Text(text), Value::Decimal(expected));
        }
    }
    assert_value(&money(), Cell::Digits("1.005e3"), Value::Decimal("1005.00"));
    for (text, code) in [
        ("1.005", "too_many_decimals"),
        ("10000000000000", "too_large"),
        ("-10000000000000", "too_small"),
        ("백원", "not_a_decimal"),
        ("1.2.3", "not_a_decimal"),
        ("1,5", "not_a_decimal"),
    ] {
        assert_code(&money(), Cell::Text(text), code);
    }
    let zero = field("type = \"decimal\"\nprecision = 5\nscale = 0");
    assert_code(&zero, Cell::Text("1.5"), "not_whole");
    assert_value(&zero, Cell::Text("1.0"), Value::Decimal("1"));
    let deep = field("type = \"decimal\"\nprecision = 38\nscale = 30\nmin = -1\nmax = 1.5");
    let digits = "0.000000000000000000000000000001";
    assert_value(&deep, Cell::Text(digits), Value::Decimal(digits));
    assert_code(&deep, Cell::Text("1.500000000000000000000000000001"), "too_large");
    assert_code(&deep, Cell::Number(-1.5), "too_small");
}

#[test]
fn a_binary_float_is_the_decimal_that_was_typed_and_no_other() {
    for (number, expected) in [
        (1500.5, "1500.50"),
        (0.1 + 0.2, "0.30"),
        (1.1 * 1.1 * 100.0, "121.00"),
        (0.15, "0.15"),
        (-3000.0, "-3000.00"),
        (1e-9, "0.00"),
        (9_999_999_999_999.99, "9999999999999.99"),
    ] {
        assert_value(&money(), Cell::Number(number), Value::Decimal(expected));
    }
    for number in [1.005, 0.001, 2.675, 1e-3, 1_234_567_890_123.456] {
        assert_code(&money(), Cell::Number(number), "too_many_decimals");
    }
    let wide = field("type = \"decimal\"\nprecision = 38\nscale = 2");
    assert_code(&wide, Cell::Number(1e20), "inexact_number");
    assert_code(&wide, Cell::Number(1e40), "too_large");
}

#[test]
fn floats_take_exponents_and_no_more_than_that() {
    let rate = field("type = \"float\"\nmax = 1e300");
    for (cell, expected) in [
        (Cell::Number(0.1), 0.1),
        (Cell::Text("1.5e-7"), 1.5e-7),
        (Cell::Text("1E3"), 1000.0),
        (Cell::Text("+1,234.5"), 1234.5),
        (Cell::Text("５"), 5.0),
        (Cell::Digits("1e-3"), 0.001),
    ] {
        assert_value(&rate, cell, Value::Float(expected));
    }
    for text in ["nan", "inf", "infinity", "1e999", "-1e999", "e3", "1e", "0x10", "1.5.2"] {
        assert_code(&rate, Cell::Text(text), "not_a_float");
    }
    assert_code(&rate, Cell::Number(1e301), "too_large");
    assert_code(&rate, Cell::Text("15%"), "not_a_float");
    // Below the smallest float, which is not zero.
    assert_code(&rate, Cell::Text("1e-400"), "not_a_float");
    assert_code(&rate, Cell::Digits("-1E-400"), "not_a_float");
}
