//! The merchants, and how the lines spread over them.

use super::hash::{Draws, place, scale};
use crate::database::Table;
use crate::rows::{Instant, Kind, Value};

/// The table of merchants, in the order of [`Merchant::values`].
pub const MERCHANTS: Table<'static> = Table {
    name: "merchants",
    columns: &[
        ("id", Kind::Int),
        ("name", Kind::Text),
        ("business_no", Kind::Text),
        ("settle_cycle", Kind::Int),
        ("created_at", Kind::Time),
    ],
};

/// How many merchants there are.
pub(super) const COUNT: u64 = 5_000;
/// What the numbers drawn here are for.
const PURPOSE: u64 = 1;

const AREAS: [&str; 25] = [
    "강남", "종로", "마포", "송파", "분당", "일산", "수원", "인천", "부평", "천안", "대전", "청주",
    "전주", "광주", "목포", "여수", "대구", "구미", "포항", "울산", "부산", "창원", "진주", "춘천",
    "제주",
];
const NAMES: [&str; 20] = [
    "한빛",
    "푸른들",
    "새봄",
    "온누리",
    "다솜",
    "미래",
    "해오름",
    "가온",
    "참좋은",
    "나래",
    "은하수",
    "두레",
    "늘푸른",
    "샛별",
    "우리",
    "가람",
    "초록숲",
    "큰나무",
    "햇살",
    "도담",
];
const TRADES: [&str; 10] =
    ["상회", "마트", "식품", "카페", "약국", "서점", "문구", "의류", "전자", "가구"];

/// Days from payment to settlement; most are paid out soon.
const CYCLES: [i32; 8] = [1, 1, 2, 2, 2, 3, 5, 7];

/// 2018-01-01T00:00:00Z and the seconds from there to 2026.
const FIRST_JOINED: i64 = 1_514_764_800;
const JOINING: u64 = 8 * 365 * 86_400;

/// The largest merchant's share of all lines, and that of the nine next, in parts per 10,000.
const LARGEST: u64 = 200;
const NEXT_NINE: u64 = 500;

/// Someone who is paid out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merchant {
    /// From 1 to 5,000. The largest is 1042.
    pub id: i64,
    /// Unique among them.
    pub name: String,
    /// The registration number, unique among them.
    pub business_no: String,
    /// Days from payment to settlement, 1 to 7.
    pub settle_cycle: i32,
    /// When it joined, before the first line.
    pub created_at: Instant,
}

impl Merchant {
    /// The merchant as a row of [`MERCHANTS`].
    #[must_use]
    pub fn values(&self) -> [Value<'_>; 5] {
        [
            Value::Int(self.id),
            Value::Text(&self.name),
            Value::Text(&self.business_no),
            Value::Int(self.settle_cycle.into()),
            Value::Time(self.created_at),
        ]
    }

    fn new(id: u64) -> Self {
        let mut draws = Draws::of(PURPOSE, id);
        Self {
            id: id.cast_signed(),
            name: name(id),
            business_no: business_number(id, &mut draws),
            settle_cycle: draws.one_of(&CYCLES),
            created_at: Instant::from_seconds(FIRST_JOINED + draws.below(JOINING).cast_signed()),
        }
    }
}

/// A factor without a divisor in common with the limit keeps the last five digits apart.
fn business_number(id: u64, draws: &mut Draws) -> String {
    let (office, sort) = (101 + id % 800, draws.below(100));
    format!("{office}-{sort:02}-{:05}", id * 7_919 % 100_000)
}

/// Every merchant, in the order of their ids.
pub(super) fn all() -> Vec<Merchant> {
    (1..=COUNT).map(Merchant::new).collect()
}

/// Every combination of area, name and trade once; neighbours share none of them.
fn name(id: u64) -> String {
    let mixed = place(id * 1_703 % COUNT);
    let (area, rest) = (mixed % AREAS.len(), mixed / AREAS.len());
    let (name, trade) = (rest % NAMES.len(), rest / NAMES.len());
    format!("{} {}{}", AREAS[area], NAMES[name], TRADES[trade])
}

/// The place among all merchants of the one that a line belongs to.
pub(super) fn draw(draws: &mut Draws) -> usize {
    let share = draws.below(10_000);
    let rank = if share < LARGEST {
        0
    } else if share < LARGEST + NEXT_NINE {
        1 + draws.below(9)
    } else {
        // The product of two evenly spread numbers is small far more often than large: a long tail.
        10 + scale(scale(draws.bits(), draws.bits()), COUNT - 10)
    };
    // Large ones are scattered over the ids.
    place((1_041 + rank * 2_741) % COUNT)
}
