//! Exact numbers.

use std::cmp::Ordering;

use proptest::prelude::*;

use crate::rows::decimal::is_plain_number;
use crate::rows::{compare_decimals, is_decimal};

#[test]
fn a_decimal_is_an_optional_minus_digits_and_an_optional_fraction() {
    for text in ["0", "-0", "7", "007", "-1.50", "12345678901234567890.1234567890"] {
        assert!(is_decimal(text), "{text}");
    }
    for text in ["", "-", "+1", ".5", "5.", "1e5", "NaN", " 1", "1 ", "1.2.3", "--1", "1,000", "１"]
    {
        assert!(!is_decimal(text), "{text}");
    }
}

#[test]
fn a_plain_number_may_also_have_a_plus() {
    for text in ["+1", "-1.5", "0912345678"] {
        assert!(is_plain_number(text), "{text}");
    }
    for text in ["+82-10-1234-5678", "-1+1", "+", "-", "+-1", "-1e5", "-.5", "1-"] {
        assert!(!is_plain_number(text), "{text}");
    }
}

#[test]
fn decimals_compare_by_value_and_not_by_form() {
    for (left, right, expected) in [
        ("1.10", "+01.1", Ordering::Equal),
        ("-0", "0.000", Ordering::Equal),
        ("10", "9", Ordering::Greater),
        ("-10", "-9", Ordering::Less),
        ("0.1", "0.09", Ordering::Greater),
        ("-0.1", "0", Ordering::Less),
        ("100000000.0000000001", "100000000", Ordering::Greater),
        (".5", "0.50", Ordering::Equal),
        ("5.", "5", Ordering::Equal),
    ] {
        assert_eq!(compare_decimals(left, right), Some(expected), "{left} {right}");
        assert_eq!(compare_decimals(right, left), Some(expected.reverse()), "{right} {left}");
    }
}

#[test]
fn what_is_not_a_number_compares_with_nothing() {
    for text in ["", ".", "-", "+-1", "1e5", "NaN", "1 ", "١"] {
        assert_eq!(compare_decimals(text, "1"), None, "{text}");
        assert_eq!(compare_decimals("1", text), None, "{text}");
    }
}

proptest! {
    #[test]
    fn decimals_compare_as_scaled_integers_do(
        left in any::<i64>(),
        right in any::<i64>(),
        left_scale in 0..=18_u32,
        right_scale in 0..=18_u32,
    ) {
        let exact = |number: i64, scale: u32| i128::from(number) * 10_i128.pow(18 - scale);
        let expected = exact(left, left_scale).cmp(&exact(right, right_scale));
        let found = compare_decimals(&scaled(left, left_scale), &scaled(right, right_scale));
        prop_assert_eq!(found, Some(expected));
    }

    #[test]
    fn zeros_and_a_plus_that_say_nothing_change_nothing(
        whole in "[0-9]{1,60}",
        fraction in "[0-9]{0,60}",
        leading in "0{0,30}",
        trailing in "0{0,30}",
    ) {
        let left = format!("{whole}.{fraction}");
        let right = format!("+{leading}{whole}.{fraction}{trailing}");
        prop_assert_eq!(compare_decimals(&left, &right), Some(Ordering::Equal));
    }

    #[test]
    fn a_digit_more_anywhere_decides(
        whole in "[0-9]{1,60}",
        fraction in "[0-9]{1,60}",
        zeros in "0{0,60}",
    ) {
        let left = format!("{whole}.{fraction}");
        let right = format!("{whole}.{fraction}{zeros}1");
        prop_assert_eq!(compare_decimals(&left, &right), Some(Ordering::Less));
        let (left, right) = (format!("-{left}"), format!("-{right}"));
        prop_assert_eq!(compare_decimals(&left, &right), Some(Ordering::Greater));
    }
}

/// An integer with a point `scale` digits from its end.
fn scaled(number: i64, scale: u32) -> String {
    let scale = scale as usize;
    let sign = if number < 0 { "-" } else { "" };
    let digits = format!("{:0width$}", number.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    format!("{sign}{whole}.{fraction}0")
}
