//! PostgreSQL's binary wire form, read straight into borrowed values.
//!
//! Source: the `send` functions of PostgreSQL 9.4 to 17 (`numeric_send`, `timestamptz_send`, …).

use jiff::tz::TimeZone;
use sqlx::postgres::{PgColumn, PgRow, PgTypeInfo, PgTypeKind, PgValueFormat};
use sqlx::{Column as _, Row, TypeInfo, ValueRef};

use super::numeric;
use crate::database::cells::counted;
use crate::database::decode::{Reading, at_zone, double, integer, json, single, text, utf8};
use crate::database::pull::Form;
use crate::database::{Cell, Read};
use crate::rows::{Date, Kind, Value};

/// Days from 1970-01-01 to 2000-01-01, PostgreSQL's epoch.
const EPOCH_DAYS: i32 = 10_957;
/// Seconds between the two epochs.
const EPOCH_SECONDS: i64 = 946_684_800;

/// The wire forms read here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
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

impl Form for Wire {
    type Row = PgRow;

    fn of(cell: &Cell, column: &PgColumn) -> Result<Self, String> {
        reader(cell, column.type_info())
    }

    #[inline]
    fn read<'r>(
        self,
        row: &'r PgRow,
        index: usize,
        read: &Read,
        scratch: &'r mut String,
    ) -> Reading<'r> {
        // By reference: it carries its type, and moving it costs more than reading most cells.
        let found = row.try_get_raw(index);
        let raw = found.as_ref().map_err(ToString::to_string)?;
        if raw.is_null() {
            return Ok(Some(Value::Null));
        }
        let bytes = raw.as_bytes().map_err(|error| error.to_string())?;
        match raw.format() {
            PgValueFormat::Binary => decode(self, bytes, read, scratch),
            PgValueFormat::Text => Err("came in text form".into()),
        }
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
#[inline]
fn decode<'r>(wire: Wire, bytes: &'r [u8], read: &Read, scratch: &'r mut String) -> Reading<'r> {
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
        Wire::Float4 => return Ok(single(f32::from_be_bytes(fixed(bytes)?), kind, scale, scratch)),
        Wire::Float8 => return Ok(double(f64::from_be_bytes(fixed(bytes)?), kind, scale, scratch)),
        Wire::Numeric => return numeric::read(bytes, kind, scratch),
        // Most cells are these, and go the short way.
        Wire::Text if kind == Kind::Text => Value::Text(utf8(bytes)?),
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
