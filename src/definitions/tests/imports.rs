//! Import definitions: every fault is found, at its line, with its remedy.

use proptest::prelude::*;

use super::*;
use crate::definitions::{Bounds, Import, Reference, Takes, Target, UnknownColumns};
use crate::rows::{Date, Instant, Kind};

/// The definition that comes with the program.
pub(super) const PAYMENTS: &str = include_str!("../../imports/payments.toml");

/// Everything that can be said.
const LEDGER: &str = r#"
title = "Ledger"
description = "Entries of the books."
database = "books"
into = "books.ledger"
key = ["no", "day"]
scope = { merchant = "merchant_id", region = "region" }
unknown_columns = "reject"
max_rows = 100_000

[[columns]]
key = "no"
column = "entry_no"
title = "번호"
headers = ["No.", "Entry"]
type = "text"
required = true
max_length = 20
pattern = '[A-Z]-\d{3}'
pattern_hint = "a letter, a hyphen, three digits"
one_of = ["A-001", "A-002"]
example = "A-001"

[[columns]]
key = "day"
type = "date"
required = true
min = 2020-01-01
max = "2030-12-31"

[[columns]]
key = "merchant_id"
type = "int"
min = 1
max = 9_000
references = "books.merchants.id"

[[columns]]
key = "region"
type = "text"
unique = true

[[columns]]
key = "amount"
type = "decimal"
precision = 15
scale = 2
min = -0.5
max = "1000.25"

[[columns]]
key = "at"
type = "time"
zone = "Asia/Seoul"
min = 2020-01-01T00:00:00
max = 2030-01-01T00:00:00Z

[[columns]]
key = "rate"
type = "float"
max = 1

[[columns]]
key = "open"
type = "bool"
"#;

fn load(text: &str) -> Definitions {
    Definitions::load(BuiltIn { imports: &[("x", text)], ..BuiltIn::default() }, None::<&Path>)
}

#[track_caller]
fn import(text: &str) -> Arc<Import> {
    let definitions = load(text);
    assert_eq!(definitions.faults, Vec::<Fault>::new());
    Arc::clone(&definitions.imports["x"])
}

#[track_caller]
fn assert_faults(text: &str, expected: &[&str]) {
    let definitions = load(text);
    assert!(definitions.imports.is_empty(), "a file with faults gives no import");
    let found: Vec<String> = definitions.faults.iter().map(Fault::to_string).collect();
    let expected: Vec<String> =
        expected.iter().map(|fault| format!("built-in imports/x.toml:{fault}")).collect();
    assert_eq!(found, expected);
}

/// An import of one column, which is given in TOML.
fn with_column(column: &str) -> String {
    format!("into = \"t\"\n[[columns]]\nkey = \"a\"\n{column}\n")
}

#[test]
fn the_import_that_comes_with_the_program_has_no_faults() {
    let import = import(PAYMENTS);
    assert_eq!(import.title, "결제 업로드");
    assert_eq!(import.key, ["merchant_id", "order_no"]);
    assert_eq!(import.scope["merchant"], "merchant_id");
    let columns: Vec<_> = import.fields.iter().map(|field| field.column.as_str()).collect();
    let expected = ["merchant_id", "order_no", "product", "method", "amount", "fee", "paid_at"];
    assert_eq!(columns, expected);
}

#[test]
fn everything_that_can_be_said_of_an_import_is_kept() {
    let import = import(LEDGER);
    assert_eq!(import.into, Target { schema: Some("books".into()), table: "ledger".into() });
    assert_eq!((import.unknown_columns, import.max_rows), (UnknownColumns::Reject, Some(100_000)));
    assert_eq!((import.line, import.database.as_deref()), (5, Some("books")));
    let field = |key: &str| &import.fields[import.field(key).expect("declared")];
    let no = field("no");
    assert_eq!((no.column.as_str(), no.required, no.line), ("entry_no", true, 12));
    assert_eq!(no.spellings().collect::<Vec<_>>(), ["번호", "no", "No.", "Entry"]);
    let Takes::Text { max_length: Some(20), pattern: Some(pattern), one_of } = &no.takes else {
        panic!("{:?}", no.takes);
    };
    assert!(pattern.whole.is_match("A-001") && !pattern.whole.is_match("xA-001"));
    assert_eq!(one_of, &["A-001", "A-002"]);
    let (first, last) = (Date::from_ymd(2020, 1, 1), Date::from_ymd(2030, 12, 31));
    assert_eq!(field("day").takes, Takes::Date(Bounds { min: first, max: last }));
    assert_eq!(
        field("merchant_id").references,
        Some(Reference {
            schema: Some("books".into()),
            table: "merchants".into(),
            column: "id".into(),
            line: 36
        })
    );
    let bounds = Bounds { min: Some(-50), max: Some(100_025) };
    assert_eq!(field("amount").takes, Takes::Decimal { precision: 15, scale: 2, bounds });
    let Takes::Time { zone: Some(_), bounds } = &field("at").takes else { panic!("a zone") };
    assert_eq!(bounds.min, Some(Instant::from_seconds(1_577_804_400)), "midnight in Seoul");
    assert_eq!(field("open").kind(), Kind::Bool);
    assert_eq!(field("open").spellings().collect::<Vec<_>>(), ["open"]);
}

#[test]
fn what_is_left_out_of_an_import_has_its_default() {
    let import = import(&with_column("type = \"text\""));
    assert_eq!((import.title.as_str(), import.unknown_columns), ("x", UnknownColumns::Ignore));
    assert!(import.key.is_empty() && import.scope.is_empty() && import.max_rows.is_none());
    let field = &import.fields[0];
    assert_eq!((field.column.as_str(), field.title.as_str()), ("a", "a"));
    assert!(!field.required && !field.unique && field.references.is_none());
}

#[test]
fn an_import_needs_a_table_and_columns() {
    assert_faults(
        "unknown_columns = \"keep\"\nmax_rows = 0\n",
        &[
            "1: the import has no \"into\"; add one, for example into = \"payments\"",
            "1: the import has no columns; add [[columns]] with key = \"…\" and type = \"…\" for each \
             one",
            "1: \"unknown_columns\" of the import is \"keep\"; write one of ignore, reject",
            "2: \"max_rows\" of the import is out of bounds; write a whole number from 1 to \
             1000000000, without quotes",
        ],
    );
    assert_faults(
        &with_column("type = \"text\"").replace("\"t\"", "\"a.b.c\""),
        &[
            "1: \"into\" is \"a.b.c\", which is not the name of a table; write a table as \"name\" or \
             \"schema.name\"",
        ],
    );
}

#[test]
fn a_key_is_made_of_required_columns_that_are_not_unique_by_themselves() {
    let text = "into = \"t\"\nkey = [\"a\", \"b\", \"a\", \"c\", \"d\"]\n\
                columns = [{ key = \"a\", type = \"text\", required = true, unique = true },\n\
                { key = \"b\", type = \"text\" }, { key = \"d\", type = \"bool\", required = true }]\n";
    assert_faults(
        text,
        &[
            "2: the column \"a\" is part of the key and unique as well; take unique out where the key is \
             what makes a row known again, or write key = [\"a\"] and take unique out where it is known \
             by \"a\" alone",
            "2: the column \"b\" is part of the key and may be empty; give the column \"b\" required = \
             true, or take it out of the key",
            "2: \"key\" names the column \"a\" twice; take the second one out",
            "2: \"key\" names \"c\", which is not the key of a column; name one of a, b, d",
            "2: \"key\" names \"d\", a bool column; make the key of text, int, decimal, date or time \
             columns",
        ],
    );
}

#[test]
fn a_scope_names_a_column_of_whole_numbers_or_text() {
    let text = "into = \"t\"\ncolumns = [{ key = \"at\", type = \"time\" }]\n\
                [scope]\na = \"at\"\nb = 1\nc = \"merchant_id\"\n";
    assert_faults(
        text,
        &[
            "4: the scope \"a\" names \"at\", a time column; hold a scope against an int or text column",
            "5: the scope \"b\" is of type integer; write b = \"a_column\"",
            "6: the scope \"c\" names \"merchant_id\", which is not the key of a column; name one of at",
        ],
    );
}

#[test]
fn a_heading_leads_to_one_column_alone_however_it_is_spelt() {
    let text = "into = \"t\"\n[[columns]]\nkey = \"a\"\ntitle = \"거래 번호\"\ntype = \"text\"\n\
                headers = [\"Code\", \"거래번호\", \"\u{200B}\"]\n\
                [[columns]]\nkey = \"b\"\ntype = \"text\"\nheaders = [\"ＣＯＤＥ\"]\n\
                [[columns]]\nkey = \"b\"\ntype = \"text\"\ncolumn = \"c\"\n\
                [[columns]]\nkey = \"e\"\ntype = \"text\"\ncolumn = \"c\"\n";
    assert_faults(
        text,
        &[
            "6: the heading \"\\u{200b}\" has nothing in it that can be seen; take it out",
            "10: the heading \"ＣＯＤＥ\" of the column \"b\" also belongs to the column \"a\" (\"Code\"; \
             case and white space do not count); take it out of one of them",
            "12: the key \"b\" is used twice; give each column a key of its own",
            "18: the table's column \"c\" is written twice; let each column of the file write to one of \
             its own: column = \"…\"",
        ],
    );
}

#[test]
fn rules_stand_where_they_mean_something() {
    let column = "type = \"bool\"\nscale = 2\nzone = \"UTC\"\nmax_length = 3\nmin = 1\nunique = true\n\
                  references = \"a.b\"";
    assert_faults(
        &with_column(column),
        &[
            "5: the column \"a\" of type bool has \"scale\"; take it out, or make the type decimal",
            "6: the column \"a\" of type bool has \"zone\"; take it out, or make the type time",
            "7: the column \"a\" of type bool has \"max_length\"; take it out, or make the type text",
            "8: the column \"a\" of type bool has \"min\"; take it out, or make the type int or decimal \
             or float or date or time",
            "9: the column \"a\" of type bool has \"unique\"; take it out, or make the type text or int \
             or decimal or date or time",
            "10: the column \"a\" of type bool has \"references\"; take it out, or make the type text \
             or int or decimal or date or time",
        ],
    );
    assert_faults(
        &with_column("type = \"money\"\nmax_len = 3"),
        &[
            "4: \"type\" of the column \"a\" is \"money\"; write one of text, int, decimal, float, bool, \
             date, time",
            "5: the column \"a\" has the unknown key \"max_len\"; the known keys are key, column, title, \
             headers, type, precision, scale, zone, required, max_length, min, max, pattern, \
             pattern_hint, one_of, unique, references, example",
        ],
    );
}

/// Columns with bounds that make no sense, and the fault.
const BOUNDS: [(&str, &str); 15] = [
    (
        "type = \"int\"\nmin = 2\nmax = 1",
        "6: \"min\" is 2 and \"max\" 1: nothing lies between; exchange them",
    ),
    (
        "type = \"int\"\nmin = 1.5",
        "5: \"min\" is 1.5, which is not a whole number of at most 64 bits; write it such as min = 0",
    ),
    (
        "type = \"int\"\nmin = 9223372036854775808",
        "5: \"min\" is 9223372036854775808, which is not a whole number of at most 64 bits; write it such as min = 0",
    ),
    (
        "type = \"int\"\nmax = true",
        "5: \"max\" of the column \"a\" is of type boolean; write max = 0",
    ),
    ("type = \"date\"\nmin = 2026-02-30", "5: the file is not TOML"),
    (
        "type = \"date\"\nmax = \"31.12.2026\"",
        "5: \"max\" is 31.12.2026, which is not a date of the years 0001 to 9999; write it such as max = 2026-01-31",
    ),
    (
        "type = \"time\"\nmin = 2026-01-01T00:00:00",
        "5: \"min\" is 2026-01-01T00:00:00, which has no offset from UTC, and the column no zone; write it such as min = 2026-01-31T00:00:00+09:00",
    ),
    (
        "type = \"float\"\nmin = nan",
        "5: \"min\" is nan, which is not a finite number; write it such as min = 0.0",
    ),
    (
        "type = \"decimal\"\nprecision = 4\nscale = 2\nmin = 0.001",
        "7: \"min\" is 0.001, which has more than 2 digits after the point; write it such as min = 0",
    ),
    (
        "type = \"decimal\"\nprecision = 4\nscale = 2\nmax = 100",
        "7: \"max\" is 100, which has more than 4 digits; write it such as max = 0",
    ),
    (
        "type = \"decimal\"\nprecision = 39\nscale = 2",
        "5: \"precision\" of the column \"a\" is out of bounds; write a whole number from 1 to 38, without quotes",
    ),
    (
        "type = \"decimal\"\nprecision = 38\nscale = 31",
        "6: \"scale\" of the column \"a\" is out of bounds; write a whole number from 0 to 30, without quotes",
    ),
    (
        "type = \"decimal\"\nprecision = 2\nscale = 3",
        "6: \"scale\" is 3 and \"precision\" 2; write as precision how many digits there are in all, before and after the point",
    ),
    (
        "type = \"decimal\"\nprecision = 2",
        "2: a decimal column has no \"scale\"; add one, for example scale = 2",
    ),
    (
        "type = \"time\"\nzone = \"Asia/Soul\"",
        "5: \"Asia/Soul\" is not a time zone; write an IANA name, such as \"Asia/Seoul\" or \"UTC\"",
    ),
];

#[test]
fn bounds_are_read_exactly_and_leave_something_between_them() {
    for (column, expected) in BOUNDS {
        let faults = load(&with_column(column)).faults;
        let faults: Vec<String> = faults.iter().map(Fault::to_string).collect();
        assert_eq!(faults.len(), 1, "{column}: {faults:?}");
        assert!(
            faults[0].starts_with(&format!("built-in imports/x.toml:{expected}")),
            "{faults:?}"
        );
    }
}

#[test]
fn patterns_choices_and_references_make_sense() {
    let refused = [
        (
            "pattern = 'a)(b'",
            "5: \"pattern\" is no regular expression: unopened group; mend it, and put it in single quotes, where backslashes stand for themselves",
        ),
        ("pattern_hint = \"a\"", "5: there is a pattern_hint and no pattern; add pattern = '…'"),
        ("one_of = [\"a\", \"a\"]", "5: \"one_of\" has \"a\" twice; take the second one out"),
        (
            "one_of = [\"abc\"]\nmax_length = 2",
            "5: \"one_of\" has \"abc\", which is longer than max_length; take it out, or make max_length greater",
        ),
        (
            "one_of = [\"abc\"]\npattern = 'ab'",
            "5: \"one_of\" has \"abc\", which the pattern does not match; take the pattern out: the choices say enough",
        ),
        (
            "references = \"merchants\"",
            "5: \"references\" is \"merchants\", which is not a column of a table; write it as \"table.column\" or \"schema.table.column\"",
        ),
        (
            "references = \"a.b.c.d\"",
            "5: \"references\" is \"a.b.c.d\", which is not a column of a table; write it as \"table.column\" or \"schema.table.column\"",
        ),
    ];
    for (rule, expected) in refused {
        assert_faults(&with_column(&format!("type = \"text\"\n{rule}")), &[expected]);
    }
}

proptest! {
    #[test]
    fn no_definition_is_a_panic(text in "\\PC{0,80}", value in "\\PC{0,20}") {
        let _ = load(&text);
        for key in ["min", "max", "pattern", "references", "zone", "one_of", "headers", "scale"] {
            for kind in ["text", "decimal", "date", "time"] {
                let _ = load(&with_column(&format!("type = \"{kind}\"\n{key} = {value}")));
                let _ = load(&with_column(&format!("type = \"{kind}\"\n{key} = {value:?}")));
            }
        }
    }
}
