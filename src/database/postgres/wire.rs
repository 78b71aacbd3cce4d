//! PostgreSQL's binary wire form, read straight into borrowed values.
//!
//! Source: the `send` functions of PostgreSQL 9.4 to 17 (`numeric_send`, `timestamptz_send`, …).

use jiff::tz::TimeZone;
use sqlx::postgres::{PgRow, PgTypeInfo, PgTypeKind, PgValueFormat};
use sqlx::{Column as _, Row, TypeInfo, ValueRef};

use super::numeric;
use crate::database::cells::{Unsayable, counted, is_json, pad_to_scale, plain_digits};
use crate::database::{Cell, Read};
use crate::error::{Error, Result};
use crate::rows::{Date, Instant, Kind, Value, ZoneClock, is_decimal, parse_time};

/// Days from 1970-01-01 to 2000-01-01, PostgreSQL's epoch.
const EPOCH_DAYS: i32 = 10_957;
/// Seconds between the two epochs.
const EPOCH_SECONDS: i64 = 946_684_800;

/// The wire forms read here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wire {
    Bool,
    Int2,
    Int4,
    Int8,
    Float4,
    Float8,
    Numeric,
    Text,
    Uuid,
    Date,
    Timestamp,
    TimestampTz,
    Json,
    Jsonb,
}

/// How each column of one statement is read, made from its first row.
#[derive(Debug)]
pub(super) struct Plan(Vec<Wire>);

impl Plan {
    pub(super) fn new(cells: &[Cell], row: &PgRow) -> Result<Self> {
        let readers = cells.iter().zip(row.columns()).map(|(cell, column)| {
            reader(cell, column.type_info()).map_err(|detail| Error::Cell {
                row: 1,
                column: cell.key.clone(),
                detail,
            })
        });
        readers.collect::<Result<_>>().map(Self)
    }

    pub(super) fn read<'r>(
        &self,
        row: &'r PgRow,
        cells: &[Cell],
        scratch: &'r mut [String],
        values: &mut Vec<Value<'r>>,
        unsayable: &mut Unsayable,
        number: u64,
    ) -> Result<()> {
        let columns = self.0.iter().zip(cells).zip(scratch).enumerate();
        for (index, ((wire, cell), scratch)) in columns {
            let raw = row
                .try_get_raw(index)
                .map_err(|source| Error::internal("reading a row's cells", source))?;
            let value = if raw.is_null() {
                Value::Null
            } else {
                raw.as_bytes()
                    .map_err(|error| error.to_string())
                    .and_then(|bytes| match raw.format() {
                        PgValueFormat::Binary => decode(*wire, bytes, &cell.read, scratch),
                        PgValueFormat::Text => Err("came in text form".into()),
                    })
                    .map_err(|detail| Error::Cell {
                        row: number,
                        column: cell.key.clone(),
                        detail,
                    })?
                    .unwrap_or_else(|| {
                        unsayable.note(index);
                        Value::Null
                    })
            };
            values.push(value);
        }
        Ok(())
    }
}

/// Which wire form a column of this type has, if the declared kind can be read from it.
pub(super) fn reader(cell: &Cell, column_type: &PgTypeInfo) -> Result<Wire, String> {
    if let PgTypeKind::Domain(base) = column_type.kind() {
        return reader(cell, base);
    }
    let type_name = column_type.name();
    let wire = match type_name {
        "BOOL" => Wire::Bool,
        "INT2" => Wire::Int2,
        "INT4" => Wire::Int4,
        "INT8" => Wire::Int8,
        "FLOAT4" => Wire::Float4,
        "FLOAT8" => Wire::Float8,
        "NUMERIC" => Wire::Numeric,
        "UUID" => Wire::Uuid,
        "DATE" => Wire::Date,
        "TIMESTAMP" => Wire::Timestamp,
        "TIMESTAMPTZ" => Wire::TimestampTz,
        "JSON" => Wire::Json,
        "JSONB" => Wire::Jsonb,
        _ if is_text(column_type) => Wire::Text,
        name => return Err(unreadable(name, "cast it to a type that a report reads")),
    };
    let kind = match &cell.read {
        // A place in the order is asked for as text, whatever it is.
        Read::Stored => Kind::Text,
        // A time that is counted is a whole number.
        Read::As { kind: Kind::Time, unit: Some(_), .. } => Kind::Int,
        Read::As { kind, .. } => *kind,
    };
    if fits(kind, wire) && !(wire == Wire::Numeric && is_counted(cell)) {
        Ok(wire)
    } else {
        Err(unreadable(type_name, "declare the kind that it is"))
    }
}

fn is_counted(cell: &Cell) -> bool {
    matches!(cell.read, Read::As { kind: Kind::Time, unit: Some(_), .. })
}

/// Types sent as their text. A type that PostgreSQL does not come with is one only if it is an enum,
/// or `citext`: the others may send anything.
fn is_text(column_type: &PgTypeInfo) -> bool {
    match column_type.kind() {
        PgTypeKind::Enum(_) => true,
        PgTypeKind::Simple => {
            matches!(column_type.name(), "TEXT" | "VARCHAR" | "CHAR" | "NAME" | "UNKNOWN")
                || column_type.name().eq_ignore_ascii_case("citext")
        }
        _ => false,
    }
}

fn unreadable(type_name: &str, remedy: &str) -> String {
    format!(
        "is of PostgreSQL type {}, which cannot be read as declared; {remedy}, or cast it in the \
         definition's sql (for example ::text)",
        type_name.to_lowercase()
    )
}

fn fits(kind: Kind, wire: Wire) -> bool {
    use Wire::{
        Bool, Date, Float4, Float8, Int2, Int4, Int8, Json, Jsonb, Numeric, Text, Timestamp,
        TimestampTz, Uuid,
    };
    match kind {
        Kind::Text => {
            matches!(wire, Text | Uuid | Int2 | Int4 | Int8 | Numeric | Bool | Json | Jsonb)
        }
        Kind::Int => matches!(wire, Int2 | Int4 | Int8 | Numeric),
        Kind::Decimal => {
            matches!(wire, Numeric | Int2 | Int4 | Int8 | Float4 | Float8 | Text)
        }
        Kind::Float => matches!(wire, Float4 | Float8 | Int2 | Int4),
        Kind::Bool => matches!(wire, Bool),
        Kind::Date => matches!(wire, Date),
        Kind::Time => matches!(wire, Timestamp | TimestampTz | Date),
        Kind::Json => matches!(wire, Json | Jsonb | Text),
    }
}

/// Reads one cell; `None` for NaN and the infinities of exact numbers, dates and times.
fn decode<'r>(
    wire: Wire,
    bytes: &'r [u8],
    read: &Read,
    scratch: &'r mut String,
) -> Result<Option<Value<'r>>, String> {
    scratch.clear();
    let (kind, scale, zone) = match read {
        Read::As { kind: Kind::Time, unit: Some(unit), .. } => {
            return whole(wire, bytes)
                .and_then(|count| counted(count, Some(*unit)))
                .map(|at| Some(Value::Time(at)));
        }
        Read::As { kind, scale, zone, .. } => (*kind, *scale, zone.as_ref()),
        Read::Stored => (Kind::Text, None, None),
    };
    let value = match wire {
        Wire::Bool => boolean(bytes, kind)?,
        Wire::Int2 | Wire::Int4 | Wire::Int8 => integer(whole(wire, bytes)?, kind, scale, scratch),
        Wire::Float4 => return Ok(float4(f32::from_be_bytes(fixed(bytes)?), kind, scale, scratch)),
        Wire::Float8 => return Ok(float8(f64::from_be_bytes(fixed(bytes)?), kind, scale, scratch)),
        Wire::Numeric => return numeric::read(bytes, kind, scratch),
        Wire::Text => text(utf8(bytes)?, kind)?,
        Wire::Json => json(utf8(bytes)?, kind),
        Wire::Jsonb => json(utf8(jsonb(bytes)?)?, kind),
        Wire::Uuid => Value::Text(uuid(bytes, scratch)?),
        Wire::Date => return day(i32::from_be_bytes(fixed(bytes)?), kind, zone),
        Wire::TimestampTz => return moment(bytes, None),
        Wire::Timestamp => return moment(bytes, zone),
    };
    Ok(Some(value))
}

fn fixed<const N: usize>(bytes: &[u8]) -> Result<[u8; N], String> {
    bytes.try_into().map_err(|_| format!("came with {} bytes instead of {N}", bytes.len()))
}

fn utf8(bytes: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(bytes).map_err(|error| {
        format!("holds bytes that are not UTF-8, the first at byte {}", error.valid_up_to() + 1)
    })
}

fn whole(wire: Wire, bytes: &[u8]) -> Result<i64, String> {
    match wire {
        Wire::Int2 => Ok(i16::from_be_bytes(fixed(bytes)?).into()),
        Wire::Int4 => Ok(i32::from_be_bytes(fixed(bytes)?).into()),
        Wire::Int8 => Ok(i64::from_be_bytes(fixed(bytes)?)),
        _ => Err("is not a whole number, which a time with a unit is counted by".into()),
    }
}

fn boolean(bytes: &[u8], kind: Kind) -> Result<Value<'static>, String> {
    let [byte] = fixed(bytes)?;
    Ok(match (kind, byte != 0) {
        (Kind::Text, true) => Value::Text("true"),
        (Kind::Text, false) => Value::Text("false"),
        (_, value) => Value::Bool(value),
    })
}

#[expect(clippy::cast_precision_loss, reason = "int2 and int4 alone are read as floats")]
fn integer(value: i64, kind: Kind, scale: Option<u32>, scratch: &mut String) -> Value<'_> {
    match kind {
        Kind::Text => {
            scratch.push_str(itoa::Buffer::new().format(value));
            Value::Text(scratch)
        }
        Kind::Decimal => {
            scratch.push_str(itoa::Buffer::new().format(value));
            pad_to_scale(scale, scratch);
            Value::Decimal(scratch)
        }
        Kind::Float => Value::Float(value as f64),
        Kind::Int | Kind::Bool | Kind::Date | Kind::Time | Kind::Json => Value::Int(value),
    }
}

/// A cell read; `None` for what no format can say.
pub(super) type Reading<'r> = Result<Option<Value<'r>>, String>;

fn float4(value: f32, kind: Kind, scale: Option<u32>, scratch: &mut String) -> Option<Value<'_>> {
    if kind != Kind::Decimal {
        return Some(Value::Real(value));
    }
    if !value.is_finite() {
        return None;
    }
    // The digits of a single are those of its own width, not of the double next to it.
    scratch.push_str(&value.to_string());
    pad_to_scale(scale, scratch);
    Some(Value::Decimal(scratch))
}

fn float8(value: f64, kind: Kind, scale: Option<u32>, scratch: &mut String) -> Option<Value<'_>> {
    match kind {
        Kind::Decimal if !value.is_finite() => None,
        Kind::Decimal => Some(Value::Decimal(plain_digits(value, scale, scratch))),
        _ => Some(Value::Float(value)),
    }
}

fn text(text: &str, kind: Kind) -> Result<Value<'_>, String> {
    match kind {
        Kind::Decimal if is_decimal(text) => Ok(Value::Decimal(text)),
        Kind::Decimal => Err(format!("holds the text {text:?}, which is not a decimal number")),
        Kind::Json if is_json(text) => Ok(Value::Json(text)),
        Kind::Json => Err("holds text that is not valid JSON".into()),
        Kind::Text | Kind::Int | Kind::Float | Kind::Bool | Kind::Date | Kind::Time => {
            Ok(Value::Text(text))
        }
    }
}

fn json(text: &str, kind: Kind) -> Value<'_> {
    if kind == Kind::Json { Value::Json(text) } else { Value::Text(text) }
}

/// A `jsonb` is a version byte, 1, and the text.
fn jsonb(bytes: &[u8]) -> Result<&[u8], String> {
    match bytes {
        [1, text @ ..] => Ok(text),
        [] | [_, ..] => Err("holds jsonb of an unknown version".into()),
    }
}

fn uuid<'r>(bytes: &[u8], scratch: &'r mut String) -> Result<&'r str, String> {
    let id = uuid::Uuid::from_bytes(fixed(bytes)?);
    scratch.push_str(id.hyphenated().encode_lower(&mut uuid::Uuid::encode_buffer()));
    Ok(scratch)
}

fn day(value: i32, kind: Kind, zone: Option<&TimeZone>) -> Reading<'static> {
    if value == i32::MAX || value == i32::MIN {
        return Ok(None);
    }
    let days = value.checked_add(EPOCH_DAYS).ok_or("holds a date beyond every calendar")?;
    Ok(Some(match kind {
        Kind::Time => Value::Time(at_zone(i64::from(days) * 86_400, 0, zone)?),
        _ => Value::Date(Date { days }),
    }))
}

fn moment(bytes: &[u8], zone: Option<&TimeZone>) -> Reading<'static> {
    let micros = i64::from_be_bytes(fixed(bytes)?);
    if micros == i64::MAX || micros == i64::MIN {
        return Ok(None);
    }
    let seconds = micros.div_euclid(1_000_000) + EPOCH_SECONDS;
    let nanos = u32::try_from(micros.rem_euclid(1_000_000) * 1_000).unwrap_or(0);
    at_zone(seconds, nanos, zone).map(|at| Some(Value::Time(at)))
}

/// The moment at which clocks in `zone` (UTC without one) show this civil time.
fn at_zone(seconds: i64, nanos: u32, zone: Option<&TimeZone>) -> Result<Instant, String> {
    let civil = Instant { seconds, nanos };
    let Some(zone) = zone else {
        return Ok(civil);
    };
    let mut shown = Vec::with_capacity(40);
    ZoneClock::new(TimeZone::UTC).write(civil, &mut shown);
    shown.pop(); // the Z: what is left is a wall clock
    let shown = std::str::from_utf8(&shown).map_err(|error| error.to_string())?;
    parse_time(shown, Some(zone)).map_err(|error| error.to_string())
}
