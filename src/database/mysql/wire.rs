//! MySQL's binary protocol, read straight into borrowed values.
//!
//! Source: "Binary Protocol Value" in the protocol documentation of MySQL 8 and of MariaDB.

use sqlx::mysql::{MySqlColumn, MySqlRow, MySqlTypeInfo};
use sqlx::{Column as _, Decode, MySql, Row, Type, TypeInfo, ValueRef};

use super::moments::{Moment, clock, fixed};
use crate::database::cells::{counted, pad_to_scale};
use crate::database::decode::{Reading, double, exact, integer, json, single, text, utf8};
use crate::database::pull::Form;
use crate::database::{Cell, Read};
use crate::rows::{Kind, Value};

/// The wire forms read here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// A column that holds nothing but NULL.
    Null,
    /// So many little-endian bytes.
    Int(usize),
    /// The same without a sign.
    Unsigned(usize),
    Bit,
    Float,
    Double,
    Decimal,
    Text,
    Json,
    Date,
    /// A wall clock without a zone.
    DateTime,
    /// A moment, which the session's zone makes UTC.
    Timestamp,
    /// A time of day, or a span of up to 35 days.
    Clock,
}

impl Form for Wire {
    type Row = MySqlRow;

    fn of(cell: &Cell, column: &MySqlColumn) -> Result<Self, String> {
        reader(cell, column.type_info())
    }

    #[inline]
    fn read<'r>(
        self,
        row: &'r MySqlRow,
        index: usize,
        read: &Read,
        scratch: &'r mut String,
    ) -> Reading<'r> {
        let raw = row.try_get_raw(index).map_err(|error| error.to_string())?;
        let null = raw.is_null();
        match <&[u8] as Decode<MySql>>::decode(raw) {
            Ok(bytes) => decode(self, bytes, read, scratch),
            // The driver takes the date of zeros for NULL too, but hands out its byte.
            Err(_) if null => Ok(Some(Value::Null)),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// Which wire form a column of this type has, if the declared kind can be read from it.
pub(super) fn reader(cell: &Cell, column_type: &MySqlTypeInfo) -> Result<Wire, String> {
    let unsigned = <u64 as Type<MySql>>::compatible(column_type);
    let whole = if unsigned { Wire::Unsigned } else { Wire::Int };
    let name = column_type.name();
    let wire = match name.strip_suffix(" UNSIGNED").unwrap_or(name) {
        "NULL" => return Ok(Wire::Null),
        "BOOLEAN" | "TINYINT" => whole(1),
        "SMALLINT" => whole(2),
        "YEAR" => Wire::Unsigned(2),
        "MEDIUMINT" | "INT" => whole(4),
        "BIGINT" => whole(8),
        "BIT" => Wire::Bit,
        "FLOAT" => Wire::Float,
        "DOUBLE" => Wire::Double,
        "DECIMAL" => Wire::Decimal,
        "DATE" => Wire::Date,
        "DATETIME" => Wire::DateTime,
        "TIMESTAMP" => Wire::Timestamp,
        "TIME" => Wire::Clock,
        "JSON" => Wire::Json,
        // Its name tells a BLOB from a text by the order in which it sorts, which says nothing; the
        // character set does.
        _ if <str as Type<MySql>>::compatible(column_type) => Wire::Text,
        _ => return Err(unreadable(name, "select it as text, for example with HEX()")),
    };
    let fits = match &cell.read {
        Read::Stored => true,
        Read::As { kind: Kind::Time, unit: Some(_), .. } => {
            matches!(wire, Wire::Int(_) | Wire::Unsigned(_))
        }
        Read::As { kind, .. } => fits(*kind, wire),
    };
    if fits { Ok(wire) } else { Err(unreadable(name, "declare the kind that it is")) }
}

/// Whether a column sorts by the place of its texts in a list, and compares as text. The driver tells the
/// flags of a type in no other way.
pub(super) fn sorts_by_place(column_type: &MySqlTypeInfo) -> bool {
    let told = format!("{column_type:?}");
    ["ENUM", "SET"].iter().any(|flag| told.contains(flag))
}

fn unreadable(type_name: &str, remedy: &str) -> String {
    format!(
        "is of MySQL type {}, which cannot be read as declared; {remedy}, or cast it in the \
         definition's sql (for example CAST(… AS CHAR))",
        type_name.to_lowercase()
    )
}

fn fits(kind: Kind, wire: Wire) -> bool {
    use Wire::{
        Bit, Clock, DateTime, Decimal, Double, Float, Int, Json, Text, Timestamp, Unsigned,
    };
    match kind {
        Kind::Text => {
            matches!(wire, Text | Json | Int(_) | Unsigned(_) | Bit | Decimal | Clock)
        }
        Kind::Int => matches!(wire, Int(_) | Unsigned(_) | Bit | Decimal),
        Kind::Decimal => matches!(wire, Decimal | Int(_) | Unsigned(_) | Float | Double),
        Kind::Float => {
            matches!(wire, Float | Double | Int(1 | 2 | 4) | Unsigned(1 | 2 | 4))
        }
        // Truth values are small numbers here, and comparisons are big ones.
        Kind::Bool => matches!(wire, Int(_) | Unsigned(_) | Bit),
        Kind::Date => matches!(wire, Wire::Date),
        Kind::Time => matches!(wire, DateTime | Timestamp | Wire::Date),
        Kind::Json => matches!(wire, Json | Text),
    }
}

/// Reads one cell; `None` for NaN and for dates that no calendar has.
#[inline]
pub(super) fn decode<'r>(
    wire: Wire,
    bytes: &'r [u8],
    read: &Read,
    scratch: &'r mut String,
) -> Reading<'r> {
    let Read::As { kind, scale, zone, unit } = read else {
        return stored(wire, bytes, scratch);
    };
    if let (Kind::Time, Some(unit)) = (kind, unit) {
        let count = number(wire, bytes)?;
        let count = i64::try_from(count).map_err(|_| format!("holds {count}, no time there is"))?;
        return counted(count, Some(*unit)).map(|at| Some(Value::Time(at)));
    }
    Ok(Some(match wire {
        Wire::Null => Value::Null,
        Wire::Int(_) | Wire::Unsigned(_) | Wire::Bit => {
            return whole(number(wire, bytes)?, *kind, *scale, scratch).map(Some);
        }
        Wire::Float => {
            return Ok(single(f32::from_le_bytes(fixed(bytes)?), *kind, *scale, scratch));
        }
        Wire::Double => {
            return Ok(double(f64::from_le_bytes(fixed(bytes)?), *kind, *scale, scratch));
        }
        Wire::Decimal => return exact(digits(bytes, scratch)?, *kind),
        // Most cells are these, and go the short way.
        Wire::Text if *kind == Kind::Text => Value::Text(utf8(bytes)?),
        Wire::Text => text(utf8(bytes)?, *kind)?,
        Wire::Json => json(utf8(bytes)?, *kind),
        Wire::Clock => Value::Text(clock(bytes, scratch)?),
        Wire::Date if *kind == Kind::Date => {
            return Ok(Moment::read(bytes)?.and_then(Moment::date).map(Value::Date));
        }
        Wire::Timestamp => return Moment::read(bytes)?.map_or(Ok(None), |at| at.at(None)),
        Wire::Date | Wire::DateTime => {
            return Moment::read(bytes)?.map_or(Ok(None), |at| at.at(zone.as_ref()));
        }
    }))
}

/// Reads a cell for the place in the order.
fn stored<'r>(wire: Wire, bytes: &'r [u8], scratch: &'r mut String) -> Reading<'r> {
    use std::fmt::Write as _;
    Ok(Some(match wire {
        Wire::Null => Value::Null,
        Wire::Int(_) | Wire::Unsigned(_) | Wire::Bit => {
            let number = number(wire, bytes)?;
            match i64::try_from(number) {
                Ok(number) => Value::Int(number),
                Err(_) => whole(number, Kind::Text, None, scratch)?,
            }
        }
        Wire::Float => Value::Float(f32::from_le_bytes(fixed(bytes)?).into()),
        Wire::Double => Value::Float(f64::from_le_bytes(fixed(bytes)?)),
        Wire::Decimal | Wire::Text | Wire::Json => Value::Text(utf8(bytes)?),
        Wire::Clock => Value::Text(clock(bytes, scratch)?),
        Wire::Date | Wire::DateTime | Wire::Timestamp => {
            let at = Moment::read(bytes)?.filter(|at| at.date().is_some()).ok_or(
                "holds a date that no calendar has, behind which no page can be continued",
            )?;
            let _ = write!(scratch, "{:04}-{:02}-{:02}", at.year, at.month, at.day);
            if wire != Wire::Date {
                let (hour, minute, second) = at.clock;
                let _ = write!(scratch, " {hour:02}:{minute:02}:{second:02}.{:06}", at.micros);
            }
            Value::Text(scratch)
        }
    }))
}

/// A whole number of either sign.
fn number(wire: Wire, bytes: &[u8]) -> Result<i128, String> {
    let wrong = || format!("came as a whole number of {} bytes", bytes.len());
    if bytes.len() > 8 || bytes.is_empty() {
        return Err(wrong());
    }
    let mut little = [0; 8];
    little[..bytes.len()].copy_from_slice(bytes);
    match wire {
        Wire::Bit => {
            little[..bytes.len()].reverse();
            Ok(u64::from_le_bytes(little).into())
        }
        Wire::Unsigned(length) if length == bytes.len() => Ok(u64::from_le_bytes(little).into()),
        Wire::Int(length) if length == bytes.len() => {
            let unused = 64 - 8 * u32::try_from(length).map_err(|_| wrong())?;
            // The sign is carried up by shifting it in from the left.
            Ok(((i64::from_le_bytes(little) << unused) >> unused).into())
        }
        _ => Err(wrong()),
    }
}

fn whole(
    number: i128,
    kind: Kind,
    scale: Option<u32>,
    scratch: &mut String,
) -> Result<Value<'_>, String> {
    match (kind, i64::try_from(number)) {
        (Kind::Bool, _) => match number {
            0 => Ok(Value::Bool(false)),
            1 => Ok(Value::Bool(true)),
            _ => Err(format!("holds the number {number}, which is neither 0 nor 1")),
        },
        (_, Ok(number)) => Ok(integer(number, kind, scale, scratch)),
        (_, Err(_)) => {
            scratch.push_str(&number.to_string());
            Ok(match kind {
                Kind::Text => Value::Text(scratch),
                Kind::Decimal => {
                    pad_to_scale(scale, scratch);
                    Value::Decimal(scratch)
                }
                Kind::Int | Kind::Float | Kind::Bool | Kind::Date | Kind::Time | Kind::Json => {
                    Value::Decimal(scratch)
                }
            })
        }
    }
}

/// The digits of a decimal, without the zeros that ZEROFILL puts before them.
fn digits<'r>(bytes: &'r [u8], scratch: &'r mut String) -> Result<&'r str, String> {
    let text = utf8(bytes)?;
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(unsigned) => ("-", unsigned),
        None => ("", text),
    };
    let whole = unsigned.find('.').unwrap_or(unsigned.len());
    let zeros = unsigned.bytes().take(whole.saturating_sub(1)).take_while(|byte| *byte == b'0');
    match zeros.count() {
        0 => Ok(text),
        zeros => {
            scratch.push_str(sign);
            scratch.push_str(&unsigned[zeros..]);
            Ok(scratch)
        }
    }
}
