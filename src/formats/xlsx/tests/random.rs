//! Tables that nobody would think of: what is poured reads back like what the library writes.

use std::time::Duration;

use proptest::prelude::*;

use super::{Limits, limited, made, read, utc};
use crate::formats::xlsx::{PouredEncoder, XlsxEncoder};
use crate::formats::{Header, Options};
use crate::rows::{Column, Date, Encoder, Instant, Kind, Look, Value};

/// A value that owns what it holds.
#[derive(Debug, Clone)]
enum Held {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Real(f32),
    Decimal(String),
    Text(String),
    Date(Date),
    Time(Instant),
    Json(String),
}

impl Held {
    fn value(&self) -> Value<'_> {
        match self {
            Self::Null => Value::Null,
            Self::Bool(truth) => Value::Bool(*truth),
            Self::Int(number) => Value::Int(*number),
            Self::Float(number) => Value::Float(*number),
            Self::Real(number) => Value::Real(*number),
            Self::Decimal(digits) => Value::Decimal(digits),
            Self::Text(text) => Value::Text(text),
            Self::Date(day) => Value::Date(*day),
            Self::Time(at) => Value::Time(*at),
            Self::Json(json) => Value::Json(json),
        }
    }
}

/// Characters of every kind that XML and Excel treat in a way of their own.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-zA-Z0-9 ._-]{0,12}",
        2 => "[가-힣 ]{0,8}",
        1 => "[\u{0}-\u{1f}]{1,3}",
        1 => Just("_x0041_".to_owned()),
        1 => Just("_x00".to_owned()),
        1 => Just("\u{FFFE}\u{FFFF}ｅ\u{EFFF}".to_owned()),
        1 => "[<>&\"'=@+]{1,4}",
        1 => any::<String>(),
    ];
    proptest::collection::vec(piece, 0..4)
        .prop_map(|pieces| pieces.concat())
        // What the library escapes so that it cannot be read back is a test of its own.
        .prop_filter("an escape after half an escape", |text| !is_half_an_escape(text))
}

fn is_half_an_escape(text: &str) -> bool {
    text.match_indices("_x").any(|(at, _)| {
        let mut after = text[at + 2..].chars();
        let digits = after.by_ref().take(4).filter(char::is_ascii_hexdigit).count() == 4;
        let escaped =
            |c: char| (c < ' ' && c != '\t' && c != '\n') || ('\u{FFFE}'..='\u{FFFF}').contains(&c);
        digits && after.next().is_some_and(escaped)
    })
}

fn held() -> impl Strategy<Value = Held> {
    let day = (-800_000_i32..4_000_000).prop_map(|days| Date { days });
    let moment =
        (-5_000_000_000_000_i64..253_402_207_000_000, 0_u32..4).prop_map(|(millis, fine)| {
            let at = jiff::Timestamp::from_millisecond(millis).unwrap();
            let nanos = [0, 1_000_000, 999, 123_456_789][fine as usize];
            Held::Time((at + Duration::from_nanos(nanos)).into())
        });
    prop_oneof![
        2 => Just(Held::Null),
        1 => any::<bool>().prop_map(Held::Bool),
        2 => any::<i64>().prop_map(Held::Int),
        2 => (-2_000_000_i64..2_000_000).prop_map(Held::Int),
        1 => any::<f64>().prop_map(Held::Float),
        1 => any::<f32>().prop_map(Held::Real),
        1 => Just(Held::Float(-0.0)),
        4 => "-?[0-9]{1,12}(\\.[0-9]{1,4})?".prop_map(Held::Decimal),
        1 => "-?[0-9]{1,20}(\\.[0-9]{1,33})?".prop_map(Held::Decimal),
        1 => "-?0{1,3}(\\.0{1,3})?".prop_map(Held::Decimal),
        4 => text().prop_map(Held::Text),
        1 => day.prop_map(Held::Date),
        1 => moment,
        1 => text().prop_map(|text| Held::Json(serde_json::to_string(&[text]).unwrap())),
    ]
}

fn column() -> impl Strategy<Value = Column> {
    let kind = prop_oneof![
        Just(Kind::Text),
        Just(Kind::Int),
        Just(Kind::Decimal),
        Just(Kind::Float),
        Just(Kind::Bool),
        Just(Kind::Date),
        Just(Kind::Time),
        Just(Kind::Json),
    ];
    let format = prop_oneof![
        4 => Just(None),
        1 => proptest::sample::select(vec!["#,##0", "0.00", "0", "@", "General", "yyyy\"년\""])
            .prop_map(|format| Some(format.to_owned())),
    ];
    let width = proptest::option::of(0.0..300.0);
    (kind, format, width, text(), text()).prop_map(|(kind, format, width, key, title)| Column {
        key,
        title,
        kind,
        look: Look { width, format },
    })
}

fn table() -> impl Strategy<Value = (Vec<Column>, Vec<Vec<Held>>)> {
    (1_usize..6, 0_usize..24).prop_flat_map(|(columns, rows)| {
        let row = proptest::collection::vec(held(), columns);
        (proptest::collection::vec(column(), columns), proptest::collection::vec(row, rows))
    })
}

/// The same rows poured, and flushed at every turn.
fn flushed(
    columns: &[Column],
    options: &Options,
    rows: &[Vec<Value<'_>>],
    limits: Limits,
) -> Vec<u8> {
    let mut encoder = PouredEncoder::new(columns, options);
    encoder.limits = limits;
    let mut out = Vec::new();
    encoder.begin(&mut out).unwrap();
    for (number, row) in rows.iter().enumerate() {
        encoder.row(row, &mut out).unwrap();
        let all = number % 3 == 0;
        let before = out.len();
        let held = encoder.flush(all, &mut out).unwrap();
        assert!(!all || (!held && out.len() > before), "all of it is there");
    }
    encoder.finish(&mut out).unwrap();
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, max_shrink_iters: 500, ..ProptestConfig::default() })]

    #[test]
    fn what_is_poured_reads_back_like_what_the_library_writes(
        (columns, rows) in table(),
        title in text(),
        key in any::<bool>(),
        sheet in 5_u32..30,
    ) {
        let header = if key { Header::Key } else { Header::Title };
        let options = Options { header, title, ..utc() };
        let rows: Vec<Vec<Value<'_>>> =
            rows.iter().map(|row| row.iter().map(Held::value).collect()).collect();
        // Both count rows alike and bytes not.
        let limits = Limits { rows: sheet, bytes: u64::MAX };
        let book = limited(&columns, &options, &rows, Some(limits));
        prop_assert!(flushed(&columns, &options, &rows, limits) == book, "flushing changes bytes");
    }
}

#[test]
fn an_escape_after_half_an_escape_is_read_back_as_it_was() {
    let text = "_x0041\u{1}_x0041\u{FFFF}_x0041";
    let columns = [Column { kind: Kind::Text, ..super::column("v", Kind::Text) }];
    let mut encoder = XlsxEncoder::new(&columns, &utc());
    let (book, _) = made(&mut encoder, &[vec![Value::Text(text)]]).unwrap();
    let texts = super::beside::shared(&book);
    assert_eq!(texts, ["_x005F_x0041_x0001__x005F_x0041_xFFFF__x0041"]);
    assert_eq!(read(&book)[0].1[1][0].to_string(), text);
}
