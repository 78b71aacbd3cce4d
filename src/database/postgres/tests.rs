//! Tests of the wire form without a server.

use sqlx::postgres::PgTypeInfo;
use sqlx::{Postgres, Type, TypeInfo};

use super::numeric;
use super::wire;
use crate::database::{Cell, Read};
use crate::rows::{Kind, Value};

/// `numeric_send` of digits in groups of four.
fn sent(weight: i16, sign: u16, scale: u16, groups: &[u16]) -> Vec<u8> {
    let count = u16::try_from(groups.len()).unwrap();
    let header =
        [count.to_be_bytes(), weight.to_be_bytes(), sign.to_be_bytes(), scale.to_be_bytes()];
    header.into_iter().chain(groups.iter().map(|group| group.to_be_bytes())).flatten().collect()
}

fn decimal(bytes: &[u8]) -> String {
    let mut scratch = String::new();
    match numeric::read(bytes, Kind::Decimal, &mut scratch).unwrap() {
        Some(Value::Decimal(digits)) => digits.to_owned(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_numeric_prints_every_digit_of_its_scale() {
    for (bytes, printed) in [
        (sent(0, 0, 0, &[]), "0"),
        (sent(0, 0, 2, &[]), "0.00"),
        (sent(0, 0, 2, &[57, 7000]), "57.70"),
        (sent(-1, 0x4000, 2, &[100]), "-0.01"),
        (sent(-3, 0, 10, &[100]), "0.0000000001"),
        (sent(1, 0, 0, &[1]), "10000"),
        (sent(2, 0, 1, &[1, 0, 2, 5000]), "100000002.5"),
        (
            sent(4, 0, 10, &[1234, 5678, 9012, 3456, 7890, 1234, 5678, 9000]),
            "12345678901234567890.1234567890",
        ),
        (sent(0, 0, 5, &[1, 2345, 6000]), "1.23456"),
    ] {
        assert_eq!(decimal(&bytes), printed);
    }
}

#[test]
fn a_numeric_that_is_no_number_has_no_digits_and_one_cut_short_is_refused() {
    let mut scratch = String::new();
    for sign in [0xC000, 0xD000, 0xF000] {
        let read = numeric::read(&sent(0, sign, 0, &[]), Kind::Decimal, &mut scratch);
        assert_eq!(read, Ok(None));
    }
    let mut cut = sent(1, 0, 0, &[1, 2]);
    cut.pop();
    assert!(numeric::read(&cut, Kind::Decimal, &mut scratch).unwrap_err().contains("cut short"));
    assert!(numeric::read(&[0, 1], Kind::Decimal, &mut scratch).is_err());
}

#[test]
fn a_whole_numeric_is_an_int_and_one_with_a_fraction_is_not() {
    let mut scratch = String::new();
    let read = numeric::read(&sent(0, 0, 2, &[5]), Kind::Int, &mut scratch);
    assert_eq!(read, Ok(Some(Value::Decimal("5"))));
    let mut scratch = String::new();
    let read = numeric::read(&sent(0, 0, 2, &[5, 5000]), Kind::Int, &mut scratch);
    assert!(read.unwrap_err().contains("declare it decimal"));
}

fn of<T: Type<Postgres>>() -> PgTypeInfo {
    T::type_info()
}

#[test]
fn a_type_that_the_declared_kind_cannot_hold_is_refused_with_a_remedy() {
    let cell = |kind| Cell {
        key: "x".into(),
        read: Read::As { kind, scale: None, zone: None, unit: None },
    };
    for (kind, column_type) in [
        (Kind::Int, of::<String>()),
        (Kind::Date, of::<i64>()),
        (Kind::Bool, of::<f64>()),
        (Kind::Text, of::<Vec<u8>>()),
        (Kind::Text, of::<Vec<String>>()),
    ] {
        let refused = wire::reader(&cell(kind), &column_type).unwrap_err();
        let name = column_type.name().to_lowercase();
        assert!(refused.contains(&name) && refused.contains("cast it"), "{refused}");
    }
    for (kind, column_type) in [(Kind::Text, of::<String>()), (Kind::Int, of::<i16>())] {
        wire::reader(&cell(kind), &column_type).unwrap();
    }
}
