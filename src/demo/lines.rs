//! The settlement lines: who paid what, when, and what of it is paid out.

use super::hash::{Draws, mix, place, scale};
use super::{Demo, Merchant, merchants};
use crate::database::Table;
use crate::rows::{Date, Instant, Kind, Value};

/// The table of lines, in the order of [`Line::values`].
pub const LINES: Table<'static> = Table {
    name: "settlement_lines",
    columns: &[
        ("id", Kind::Int),
        ("merchant_id", Kind::Int),
        ("merchant_name", Kind::Text),
        ("order_no", Kind::Text),
        ("product", Kind::Text),
        ("kind", Kind::Text),
        ("method", Kind::Text),
        ("status", Kind::Text),
        ("gross", Kind::Int),
        ("fee", Kind::Int),
        ("vat", Kind::Int),
        ("net", Kind::Int),
        ("paid_at", Kind::Time),
        ("settle_on", Kind::Date),
    ],
};

/// What the numbers drawn here are for.
const PURPOSE: u64 = 2;

/// 2026-01-01 and 2026-06-30, the first and the last day, in days since 1970.
const FIRST_DAY: i32 = 20_454;
const LAST_DAY: i32 = 20_634;
/// 2026-06-15, the day on which the example is looked at: what is due later is still scheduled.
const TODAY: i32 = 20_619;
/// Seconds by which Seoul is ahead of UTC, without summer time since 1988.
const SEOUL: i64 = 9 * 3_600;

const SECOND: u64 = 1_000_000;
const DAY: u64 = 86_400 * SECOND;

/// How much of a day's business is done by which hour: (parts of 100, hour).
const RUSH: [(u64, u64); 8] =
    [(0, 0), (4, 7), (10, 9), (35, 12), (50, 14), (75, 18), (94, 22), (100, 24)];

/// Ways to pay, and the fee of each in hundredths of a percent.
const CARD: (&str, u64) = ("카드", 220);
const EASY: (&str, u64) = ("간편결제", 250);
const TRANSFER: (&str, u64) = ("계좌이체", 130);
const ACCOUNT: (&str, u64) = ("가상계좌", 110);
const PHONE: (&str, u64) = ("휴대폰", 340);

/// Of ten payments, so many are made in each way.
const METHODS: [(&str, u64); 10] =
    [CARD, CARD, CARD, CARD, CARD, EASY, EASY, TRANSFER, ACCOUNT, PHONE];

const PRODUCTS: [&str; 24] = [
    "아메리카노 세트",
    "유기농 쌀 10kg",
    "무선 이어폰",
    "겨울 패딩 점퍼",
    "어린이 동화책 5권",
    "사무용 의자",
    "생수 2L x 12",
    "비타민 C 1,000mg",
    "캠핑 랜턴",
    "수제 쿠키 (대)",
    "노트 \"한글\" 3권",
    "정기구독 1개월",
    "면 티셔츠 & 양말",
    "한우 등심 600g",
    "제주 감귤 5kg",
    "블루투스 스피커",
    "욕실 매트",
    "반려견 사료 3kg",
    "주방 칼 세트",
    "선물 포장",
    "꽃다발, 장미 20송이",
    "자전거 헬멧",
    "에어프라이어",
    "도서 상품권",
];

/// One payment or refund and what is paid out for it. Money is whole won; a refund's is negative.
#[derive(Debug, Clone)]
pub struct Line<'a> {
    /// Its number, from 1.
    pub id: u64,
    /// Whom it is paid out to.
    pub merchant: &'a Merchant,
    /// Thirteen digits of ASCII, the first of them zeros.
    pub order_no: [u8; 13],
    /// What was bought.
    pub product: &'static str,
    /// `payment` or `refund`.
    pub kind: &'static str,
    /// How it was paid.
    pub method: &'static str,
    /// `settled`, `scheduled` or `held`.
    pub status: &'static str,
    /// What the buyer paid.
    pub gross: i64,
    /// The fee: a share by method, half a won and more rounded away from zero.
    pub fee: i64,
    /// A tenth of the fee, rounded likewise.
    pub vat: i64,
    /// When it was paid; never before the line before it.
    pub paid_at: Instant,
    /// The day of payment in Seoul and the merchant's days on top.
    pub settle_on: Date,
}

impl Line<'_> {
    /// What is paid out: `gross - fee - vat`.
    #[must_use]
    pub const fn net(&self) -> i64 {
        self.gross - self.fee - self.vat
    }

    /// The order number as text.
    #[must_use]
    pub fn order_no(&self) -> &str {
        std::str::from_utf8(&self.order_no).unwrap_or_default()
    }

    /// The line as a row of [`LINES`].
    #[must_use]
    pub fn values(&self) -> [Value<'_>; 14] {
        [
            Value::Int(self.id.cast_signed()),
            Value::Int(self.merchant.id),
            Value::Text(&self.merchant.name),
            Value::Text(self.order_no()),
            Value::Text(self.product),
            Value::Text(self.kind),
            Value::Text(self.method),
            Value::Text(self.status),
            Value::Int(self.gross),
            Value::Int(self.fee),
            Value::Int(self.vat),
            Value::Int(self.net()),
            Value::Time(self.paid_at),
            Value::Date(self.settle_on),
        ]
    }
}

impl Demo {
    /// The line of a number from 1 to [`Demo::rows`], made alone.
    #[must_use]
    pub fn line(&self, number: u64) -> Line<'_> {
        let mut draws = Draws::of(PURPOSE, number);
        let merchant = &self.merchants[merchants::draw(&mut draws)];
        let (day, paid_at) = self.moment(number, draws.bits());
        let settle_on = Date { days: day.days + merchant.settle_cycle };
        let refund = draws.happens(6, 100);
        let (method, rate) = draws.one_of(&METHODS);
        let product = draws.one_of(&PRODUCTS);
        let gross = price(&mut draws);
        let fee = (gross * rate + 5_000) / 10_000;
        let vat = (fee + 5) / 10;
        let signed = |won: u64| {
            if refund { -won.cast_signed() } else { won.cast_signed() }
        };
        Line {
            id: number,
            merchant,
            order_no: order_number(number),
            product,
            kind: if refund { "refund" } else { "payment" },
            method,
            status: status(settle_on, &mut draws),
            gross: signed(gross),
            fee: signed(fee),
            vat: signed(vat),
            paid_at,
            settle_on,
        }
    }

    /// The day in Seoul and the moment of a line. Every line has a stretch of the whole time of its
    /// own and lies somewhere in it, so that time never runs backwards.
    fn moment(&self, number: u64, within: u64) -> (Date, Instant) {
        let whole = self.days.len() as u64 * DAY;
        let lines = self.rows.max(number);
        let start = u128::from(number - 1) * u128::from(whole) / u128::from(lines);
        let start = u64::try_from(start).unwrap_or(whole);
        let position = (start + scale(within, whole / lines)).min(whole - 1);
        let day = self.days[place(position / DAY)];
        let micros = coarsened(day, time_of_day(position % DAY));
        let midnight = i64::from(day.days) * 86_400 - SEOUL;
        let at = Instant::from_micros(midnight * SECOND.cast_signed() + micros.cast_signed());
        (day, at)
    }
}

/// Monday to Friday, from the first day to the last.
pub(super) fn business_days() -> Vec<Date> {
    (FIRST_DAY..=LAST_DAY)
        // 1970-01-01 was a Thursday.
        .filter(|days| (days + 3) % 7 < 5)
        .map(|days| Date { days })
        .collect()
}

/// Moves an evenly spread time of day to when people buy; microseconds in, microseconds out.
fn time_of_day(even: u64) -> u64 {
    let part = DAY / 100;
    let step = RUSH.windows(2).find(|step| even < step[1].0 * part);
    let Some([(done, from), (more, until)]) = step.and_then(|step| step.first_chunk::<2>()) else {
        return even;
    };
    let hours = (until - from) * 3_600 * SECOND;
    from * 3_600 * SECOND + (even - done * part) * (hours / ((more - done) * part / 1_000)) / 1_000
}

/// Some clocks count whole seconds and some milliseconds. Which one it was goes by the second and
/// not by the line, so that lines of one second stay in order.
fn coarsened(day: Date, micros: u64) -> u64 {
    let second = u64::from(day.days.unsigned_abs()) * 86_400 + micros / SECOND;
    match mix(second) % 8 {
        0 | 1 => micros - micros % SECOND,
        2 => micros - micros % 1_000,
        _ => micros,
    }
}

/// From 1,000 won to half a million, small ones more often, and now and then fifty millions.
fn price(draws: &mut Draws) -> u64 {
    let won = 1_000 + draws.below(700) * draws.below(700);
    let won = if draws.happens(1, 4) { won } else { won - won % 100 };
    if draws.happens(1, 500) { won * 100 } else { won }
}

fn status(settle_on: Date, draws: &mut Draws) -> &'static str {
    if draws.happens(1, 200) {
        "held"
    } else if settle_on.days <= TODAY {
        "settled"
    } else {
        "scheduled"
    }
}

/// Every number below 10^11 once, in an order that does not show, under two zeros.
fn order_number(number: u64) -> [u8; 13] {
    const LIMIT: u64 = 100_000_000_000;
    const FACTOR: u64 = 61_803_399;
    const FIRST: u64 = 10_401_029_008;
    // Odd and not a multiple of five, the factor has no divisor in common with the limit.
    let mut rest = ((number % LIMIT) * FACTOR + (FIRST + LIMIT - FACTOR)) % LIMIT;
    let mut digits = [b'0'; 13];
    for digit in digits.iter_mut().rev() {
        *digit += u8::try_from(rest % 10).unwrap_or_default();
        rest /= 10;
    }
    digits
}
