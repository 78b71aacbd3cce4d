//! The construction sites, and the ledgers that are kept for them.

use super::hash::{Draws, place};
use crate::database::Table;
use crate::error::Result;
use crate::rows::{Instant, Kind, RowSink, Value};

/// The table of projects.
pub const PROJECTS: Table<'static> = Table {
    name: "projects",
    columns: &[("id", Kind::Int), ("name", Kind::Text), ("created_at", Kind::Time)],
};

/// The table of their documents.
pub const DOCUMENTS: Table<'static> = Table {
    name: "documents",
    columns: &[
        ("id", Kind::Int),
        ("project_id", Kind::Int),
        ("number", Kind::Text),
        ("title", Kind::Text),
        ("kind", Kind::Text),
        ("content", Kind::Json),
        ("created_at", Kind::Time),
    ],
};

/// What the numbers drawn here are for.
const PURPOSE: u64 = 11;
/// Lines of a ledger: two pages of them.
const LINES: u64 = 72;

/// A construction site.
#[derive(Debug, Clone, Copy)]
struct Project {
    id: u64,
    name: &'static str,
    contractor: &'static str,
    ledgers: u64,
}

const ALL: [Project; 3] = [
    Project {
        id: 1, name: "한강 제2교 신축공사", contractor: "대한건설(주)", ledgers: 200
    },
    Project {
        id: 2,
        name: "판교 물류센터 증축공사",
        contractor: "미래종합건설(주)",
        ledgers: 2_000,
    },
    Project {
        id: 3, name: "새만금 변전소 신축공사", contractor: "온누리전력(주)", ledgers: 0
    },
];

const TRADES: [&str; 8] =
    ["골조공사", "토공사", "철근공사", "전기공사", "설비공사", "방수공사", "도장공사", "조적공사"];
const ITEMS: [&str; 24] = [
    "레미콘 25-24-150 타설",
    "이형철근 SD400 D13 가공 및 조립",
    "유로폼 설치 및 해체",
    "강관비계 설치",
    "터파기 및 잔토 처리",
    "되메우기 및 다짐",
    "시멘트 벽돌 0.5B 쌓기",
    "우레탄 방수 2회",
    "수성페인트 롤러칠",
    "석고보드 9.5T 2겹",
    "LED 등기구 설치 (40W)",
    "HFIX 2.5mm² 전선 포설",
    "배수관 PVC 100A 매설",
    "스프링클러 헤드 설치",
    "창호 설치 (복층유리 24mm)",
    "화강석 버너구이 30T",
    "장비대: 굴삭기 0.6m³",
    "장비대: 타워크레인 월 임대",
    "철골 세우기 및 볼트 조임",
    "데크플레이트 설치",
    "안전난간대 및 추락방지망 설치, 관련 신호수 배치 포함",
    "품질시험비 (콘크리트 압축강도)",
    "현장관리비: 사무실 임차료와 통신비",
    "폐기물 처리 (혼합건설폐기물)",
];

/// Days of a month that every month has.
const DAYS: [&str; 28] = [
    "01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "11", "12", "13", "14", "15", "16",
    "17", "18", "19", "20", "21", "22", "23", "24", "25", "26", "27", "28",
];

/// 2026-01-05T00:00:00Z.
const FIRST_WRITTEN: i64 = 1_767_571_200;
/// 2025-03-01T00:00:00Z.
const BEGUN: i64 = 1_740_787_200;

/// Pushes every project as a row of [`PROJECTS`].
///
/// # Errors
/// The sink's.
pub(super) fn push_projects(sink: &mut dyn RowSink) -> Result<()> {
    for project in &ALL {
        sink.row(&[
            Value::Int(project.id.cast_signed()),
            Value::Text(project.name),
            Value::Time(Instant::from_seconds(BEGUN)),
        ])?;
    }
    Ok(())
}

/// Pushes every document as a row of [`DOCUMENTS`].
///
/// # Errors
/// The sink's.
pub(super) fn push_documents(sink: &mut dyn RowSink) -> Result<()> {
    let mut id = 0;
    for project in &ALL {
        for number in 1..=project.ledgers {
            id += 1;
            push(project, number, id, sink)?;
        }
    }
    Ok(())
}

fn push(project: &Project, number: u64, id: u64, sink: &mut dyn RowSink) -> Result<()> {
    let mut draws = Draws::of(PURPOSE, id);
    let month = 1 + u32::try_from(number % 12).unwrap_or(0);
    let trade = TRADES[place(number % TRADES.len() as u64)];
    let content = content(project, month, &mut draws);
    let day = i64::from(month) * 30 * 86_400;
    sink.row(&[
        Value::Int(id.cast_signed()),
        Value::Int(project.id.cast_signed()),
        Value::Text(&format!("L{}-{number:04}", project.id)),
        Value::Text(&format!("{month}월 {trade} 원장")),
        Value::Text("ledger"),
        Value::Json(&content),
        Value::Time(Instant::from_seconds(FIRST_WRITTEN + day)),
    ])
}

/// What a ledger says; nothing in it has to be escaped. Put together piece by piece: there are 158,400
/// lines in all, made anew by every test that wants the example.
fn content(project: &Project, month: u32, draws: &mut Draws) -> String {
    /// More than any of them needs.
    const ROOM: usize = 16 << 10;
    let month = format!("2026-{month:02}-");
    let mut json = String::with_capacity(ROOM);
    let mut say = |parts: &[&str]| parts.iter().for_each(|part| json.push_str(part));
    say(&["{\"site\":\"", project.name, "\",\"contractor\":\"", project.contractor]);
    say(&["\",\"from\":\"", &month, "01\",\"to\":\"", &month, "28\",\"rows\":["]);
    let (mut digits, mut tenth) = (itoa::Buffer::new(), itoa::Buffer::new());
    for line in 0..LINES {
        let before = if line == 0 { "{\"date\":\"" } else { ",{\"date\":\"" };
        say(&[before, &month, DAYS[place(line * DAYS.len() as u64 / LINES)]]);
        say(&["\",\"item\":\"", draws.one_of(&ITEMS), "\",\"quantity\":\""]);
        let (tenths, price) = (5 + draws.below(995), 1_000 * (3 + draws.below(400)));
        // A correction takes back what was entered before.
        let sign = if draws.happens(1, 25) { "-" } else { "" };
        say(&[sign, digits.format(tenths / 10), ".", tenth.format(tenths % 10)]);
        say(&["\",\"amount\":", sign, digits.format(tenths * price / 10), "}"]);
    }
    say(&["]}"]);
    json
}
