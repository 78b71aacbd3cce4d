//! What a column demands of its values by itself, read from its declared type. Text alone.

use crate::database::Dialect;

/// What a table's column demands of its values, beyond what a definition says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Demand {
    /// Whether there must be a value.
    pub needed: bool,
    /// The most characters of a text.
    pub characters: Option<usize>,
    /// The most bytes of a text.
    pub bytes: Option<usize>,
    /// The least and the greatest whole number, both included; there are no fractions.
    pub whole: Option<(i64, i64)>,
    /// Digits of a decimal, and those after the point.
    pub digits: Option<(u32, u32)>,
    /// Digits after the second of a moment.
    pub fraction: Option<u32>,
    /// Whether it keeps a part of a moment alone, its day or its time of day.
    pub part_of_moment: bool,
    /// Whether it makes a binary number of every decimal, and of every text that looks like one.
    pub binary: bool,
}

impl Demand {
    /// What a type says, as the dialect spells it in its catalogue: `character varying(20)`,
    /// `int(10) unsigned`. A type that says nothing of values demands nothing; of SQLite's the affinity
    /// counts alone.
    pub(super) fn of(dialect: Dialect, declared: &str) -> Self {
        let declared = declared.to_ascii_lowercase();
        let name = declared.split(['(', ' ']).next().unwrap_or_default();
        let within = declared.split_once('(').and_then(|(_, rest)| rest.split_once(')'));
        let mut numbers =
            within.map_or("", |(within, _)| within).split(',').map(|number| number.trim().parse());
        let first: Option<u32> = numbers.next().and_then(Result::ok);
        let second: Option<Result<u32, _>> = numbers.next();
        let mut demand = Self::default();
        match (dialect, name) {
            (Dialect::Postgres, "character") | (Dialect::MySql, "varchar" | "char") => {
                demand.characters = first.and_then(|most| usize::try_from(most).ok());
            }
            (Dialect::Postgres, "numeric") | (Dialect::MySql, "decimal") => {
                // Digits before the point alone may be dropped, which is none of ours.
                let scale = second.map_or(Some(0), Result::ok);
                demand.digits = first.zip(scale);
            }
            (Dialect::Postgres, "timestamp") => demand.fraction = Some(first.unwrap_or(6)),
            (Dialect::MySql, "datetime" | "timestamp") => {
                demand.fraction = Some(first.unwrap_or_default());
            }
            // A text beyond is not refused by MariaDB where it comes out of another table, but cut to
            // what its length comes to in so many bits.
            (Dialect::MySql, "tinytext" | "tinyblob") => demand.bytes = Some(0xFF),
            (Dialect::MySql, "text" | "blob") => demand.bytes = Some(0xFFFF),
            (Dialect::MySql, "mediumtext" | "mediumblob") => demand.bytes = Some(0xFF_FFFF),
            (Dialect::Postgres | Dialect::MySql, "date" | "time" | "year") => {
                demand.part_of_moment = true;
            }
            (Dialect::Postgres | Dialect::MySql, name) => {
                demand.whole = whole(name, declared.ends_with("unsigned"));
            }
            (Dialect::Sqlite, _) => demand.binary = is_numeric(&declared),
        }
        demand
    }
}

/// Whether a column of this type makes numbers of what it is given (SQLite, "Determination of column
/// affinity").
fn is_numeric(declared: &str) -> bool {
    let has = |word| declared.contains(word);
    has("int") || !(declared.is_empty() || ["char", "clob", "text", "blob"].into_iter().any(has))
}

/// The range of a type of whole numbers.
fn whole(name: &str, unsigned: bool) -> Option<(i64, i64)> {
    let bits = match name {
        "tinyint" => 8,
        "smallint" => 16,
        "mediumint" => 24,
        "int" | "integer" => 32,
        "bigint" => 64,
        _ => return None,
    };
    let greatest = i64::MAX >> (64 - bits);
    Some(match unsigned {
        // Values have 64 bits with a sign.
        true if bits == 64 => (0, i64::MAX),
        true => (0, greatest * 2 + 1),
        false => (-greatest - 1, greatest),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_demand_what_they_say() {
        let demand = |dialect, declared| Demand::of(dialect, declared);
        let (nothing, postgres, mysql) = (Demand::default(), Dialect::Postgres, Dialect::MySql);
        let characters = |most| Demand { characters: Some(most), ..nothing };
        assert_eq!(demand(postgres, "character varying(20)"), characters(20));
        assert_eq!(demand(postgres, "character(3)"), characters(3));
        assert_eq!(demand(postgres, "character varying"), nothing);
        assert_eq!(demand(postgres, "text"), nothing);
        assert_eq!(demand(mysql, "varchar(64)"), characters(64));
        assert_eq!(demand(mysql, "longtext"), nothing);
        let digits = |precision, scale| Demand { digits: Some((precision, scale)), ..nothing };
        assert_eq!(demand(postgres, "numeric(12,2)"), digits(12, 2));
        assert_eq!(demand(postgres, "numeric"), nothing);
        assert_eq!(demand(mysql, "decimal(10,0) unsigned"), digits(10, 0));
        let whole = |least, most| Demand { whole: Some((least, most)), ..nothing };
        assert_eq!(demand(postgres, "smallint"), whole(-32_768, 32_767));
        assert_eq!(demand(postgres, "integer"), whole(i32::MIN.into(), i32::MAX.into()));
        assert_eq!(demand(mysql, "tinyint(3) unsigned"), whole(0, 255));
        assert_eq!(demand(mysql, "mediumint(9)"), whole(-8_388_608, 8_388_607));
        assert_eq!(demand(mysql, "bigint(20) unsigned"), whole(0, i64::MAX));
        assert_eq!(demand(postgres, "bigint"), whole(i64::MIN, i64::MAX));
        let fraction = |digits| Demand { fraction: Some(digits), ..nothing };
        assert_eq!(demand(postgres, "timestamp(3) without time zone"), fraction(3));
        assert_eq!(demand(postgres, "timestamp with time zone"), fraction(6));
        assert_eq!(demand(mysql, "datetime"), fraction(0));
        assert_eq!(demand(mysql, "timestamp(6)"), fraction(6));
        assert_eq!(demand(postgres, "numeric(3,-2)"), nothing);
        let bytes = |most| Demand { bytes: Some(most), ..nothing };
        assert_eq!(demand(mysql, "text"), bytes(65_535));
        assert_eq!(demand(mysql, "tinytext"), bytes(255));
        let part = Demand { part_of_moment: true, ..nothing };
        assert_eq!(demand(postgres, "date"), part);
        assert_eq!(demand(postgres, "time without time zone"), part);
        assert_eq!(demand(mysql, "year(4)"), part);
        for numeric in ["NUMERIC(30,2)", "integer", "REAL", "decimal", "date", "char int"] {
            let binary = Demand { binary: true, ..nothing };
            assert_eq!(demand(Dialect::Sqlite, numeric), binary, "{numeric}");
        }
        for exact in ["varchar(20)", "TEXT", "", "blob"] {
            assert_eq!(demand(Dialect::Sqlite, exact), nothing, "{exact}");
        }
    }
}
