//! Every fault is found, at its line, with its remedy.

use super::*;
use crate::database::Unit;
use crate::definitions::{Op, Origin};
use crate::rows::Kind;

/// The faults of `text` as people read them.
fn faults(text: &str) -> Vec<String> {
    let definitions = load(text);
    assert!(definitions.reports.is_empty(), "a file with faults gives no report");
    definitions.faults.iter().map(Fault::to_string).collect()
}

#[track_caller]
pub(super) fn assert_faults(text: &str, expected: &[&str]) {
    let expected: Vec<String> =
        expected.iter().map(|fault| format!("built-in reports/x.toml:{fault}")).collect();
    assert_eq!(faults(text), expected);
}

pub(super) const COLUMN: &str = "[[columns]]\nkey = \"id\"\ntype = \"int\"\n";

#[test]
fn the_definition_that_comes_with_the_program_has_no_faults() {
    let report = report(SETTLEMENTS);
    assert_eq!(report.title, "정산 내역");
    assert_eq!(report.columns.len(), 14);
    assert_eq!(report.order_words(), ["paid_at", "id"]);
    assert_eq!(report.scope["merchant"].column, "merchant_id");
    assert_eq!(report.scope["merchant"].kind, Kind::Int);
    let names: Vec<&str> = report.filters.iter().map(|filter| filter.name.as_str()).collect();
    let expected = [
        "from",
        "to",
        "merchant",
        "kind",
        "method",
        "status",
        "settle_from",
        "settle_to",
        "order_no",
        "product",
        "min_gross",
    ];
    assert_eq!(names, expected);
}

#[test]
fn what_is_left_out_has_its_default() {
    let report = report("from = \"t\"\n[[columns]]\nkey = \"a\"\ntype = \"text\"\n");
    assert_eq!(report.title, "x");
    assert_eq!(report.description, None);
    assert_eq!(report.origin, Origin::Table { schema: None, name: "t".into() });
    assert!(report.order.is_empty() && report.scope.is_empty() && report.filters.is_empty());
    assert_eq!(report.columns[0].source, "a");
    assert_eq!(report.columns[0].column.title, "a");
    assert_eq!(report.columns[0].line, 3);
    assert_eq!(report.line, 1);
}

#[test]
fn everything_that_can_be_said_is_kept() {
    let report = report(LEDGER);
    assert_eq!(
        report.origin,
        Origin::Table { schema: Some("books".into()), name: "ledger".into() }
    );
    assert!(report.order[0].descending && !report.order[1].descending);
    assert_eq!(report.scope["region"].kind, Kind::Text);
    let column = |key: &str| &report.columns[report.column(key).expect("declared")];
    assert_eq!(column("amount").scale, Some(2));
    assert_eq!(column("local").zone.as_ref().expect("declared").name, "Asia/Seoul");
    assert_eq!(column("epoch").unit, Some(Unit::Seconds));
    let filter = report.filters.iter().find(|filter| filter.name == "local").expect("declared");
    assert_eq!((filter.op, filter.kind), (Op::Ge, Kind::Time));
    assert_eq!(filter.zone.as_ref().expect("that of its column").name, "Asia/Seoul");
}

#[test]
fn all_faults_of_a_file_are_told_at_once_each_at_its_line() {
    let text = "title = \"\"\nfrm = \"t\"\n\n[[columns]]\nkey = \"_id\"\ntype = \"integer\"\n\n\
                [[filters]]\nname = \"limit\"\ncolumn = \"other\"\nop = \"~\"\n";
    assert_faults(
        text,
        &[
            "1: \"title\" of the report is empty; give it a text, or leave the key out",
            "1: the report has neither \"from\" nor \"sql\"; add from = \"a_table\", or sql = \
             \"select …\"",
            "2: the report has the unknown key \"frm\"; the known keys are title, description, \
             database, from, sql, order_by, scope, columns, filters",
            "5: the key \"_id\" begins with \"_\", which is kept for the server's own; begin it with \
             a letter",
            "6: \"type\" of the column \"_id\" is \"integer\"; write one of text, int, decimal, \
             float, bool, date, time, json",
            "9: a filter is named \"limit\", like a parameter that every report has; choose a name \
             other than format, delivery, columns, limit, after, tz, numbers, summary, header, bom, \
             delimiter, formula_guard, filename",
            "11: \"op\" of the filter \"limit\" is \"~\"; write one of =, !=, <, <=, >, >=, in, \
             contains, prefix, is_null",
        ],
    );
}

#[test]
fn every_syntax_fault_is_told_with_its_line() {
    let faults = faults("from = \"t\"\ntitle = \ntitle = \"a\"\n[[columns]\nkey = \"id\"\n");
    assert!(faults.len() >= 2, "{faults:?}");
    assert!(
        faults[0].starts_with("built-in reports/x.toml:2: the file is not TOML: "),
        "{faults:?}"
    );
    assert!(
        faults.iter().any(|fault| fault.starts_with("built-in reports/x.toml:4: ")),
        "{faults:?}"
    );
}

#[test]
fn a_value_of_the_wrong_type_is_told_with_the_right_one() {
    let text = format!(
        "from = 1\ntitle = [\"a\"]\norder_by = \"id\"\nscope = \"m\"\n{COLUMN}width = \"9\"\n"
    );
    assert_faults(
        &text,
        &[
            "1: \"from\" of the report is of type integer; write a text in quotes: from = \"…\"",
            "1: the report has neither \"from\" nor \"sql\"; add from = \"a_table\", or sql = \
             \"select …\"",
            "2: \"title\" of the report is of type array; write a text in quotes: title = \"…\"",
            "3: \"order_by\" of the report is of type string; write a list of texts: order_by = \
             [\"…\", \"…\"]",
            "4: \"scope\" of the report is of type string; write a table: scope = { merchant = \
             \"merchant_id\" }",
            "8: \"width\" of the column \"id\" is of type string; write a number from 0.1 to 255, \
             without quotes",
        ],
    );
}

#[test]
fn a_report_needs_a_column() {
    assert_faults(
        "from = \"t\"\n",
        &[
            "1: the report has no columns; add [[columns]] with key = \"…\" and type = \"…\" for each one",
        ],
    );
}

#[test]
fn a_column_needs_a_key_and_a_type_and_no_key_comes_twice() {
    let text = format!("from = \"t\"\n{COLUMN}[[columns]]\ntitle = \"A\"\n{COLUMN}");
    assert_faults(
        &text,
        &[
            "5: a column has no \"key\"; add one, for example key = \"paid_at\"",
            "8: the key \"id\" is used twice; give each column a key of its own",
        ],
    );
    assert_faults(
        "from = \"t\"\n[[columns]]\nkey = \"a,b\"\n",
        &[
            "2: the column \"a,b\" has no \"type\"; add one, for example type = \"text\"",
            "3: the key \"a,b\" has a comma or a control character in it; use letters, digits and \
             \"_\"; put what people read into title",
        ],
    );
}

#[test]
fn scale_zone_and_unit_stand_where_they_mean_something() {
    let text = format!(
        "from = \"t\"\n{COLUMN}scale = 2\nzone = \"Asia/Seoul\"\nunit = \"seconds\"\n[[columns]]\n\
         key = \"at\"\ntype = \"time\"\nzone = \"Asia/Soul\"\nunit = \"hours\"\n[[columns]]\n\
         key = \"d\"\ntype = \"decimal\"\nscale = 1.5\nformat = \"\"\n[[columns]]\nkey = \"e\"\n\
         type = \"time\"\nzone = \"UTC\"\nunit = \"seconds\"\n"
    );
    assert_faults(
        &text,
        &[
            "5: the column \"id\" of type int has a scale; take it out, or make the type decimal",
            "6: the column \"id\" of type int has a zone; take it out, or make the type time",
            "6: the column \"id\" has both a zone and a unit; keep the unit alone: an integer counts \
             from 1970-01-01T00:00:00Z",
            "7: the column \"id\" of type int has a unit; take it out, or make the type time",
            "11: \"Asia/Soul\" is not a time zone; write an IANA name, such as \"Asia/Seoul\" or \
             \"UTC\"",
            "12: \"unit\" of the column \"at\" is \"hours\"; write one of seconds, milliseconds, \
             microseconds",
            "16: \"scale\" has a fraction; write a whole number from 0 to 30",
            "17: \"format\" of the column \"d\" is empty; give it a text, or leave the key out",
            "21: the column \"e\" has both a zone and a unit; keep the unit alone: an integer counts \
             from 1970-01-01T00:00:00Z",
        ],
    );
}

#[test]
fn an_operation_that_does_not_fit_its_column_is_refused() {
    let text = "from = \"t\"\ncolumns = [{ key = \"n\", type = \"int\" }, { key = \"b\", type = \
                \"bool\" }, { key = \"j\", type = \"json\" }]\n\
                [[filters]]\nname = \"a\"\ncolumn = \"n\"\nop = \"contains\"\n\
                [[filters]]\nname = \"b\"\ncolumn = \"b\"\nop = \"<\"\n\
                [[filters]]\nname = \"c\"\ncolumn = \"j\"\nop = \"=\"\n\
                [[filters]]\nname = \"d\"\ncolumn = \"n\"\nop = \"=\"\ntype = \"text\"\n";
    assert_faults(
        text,
        &[
            "6: the filter \"a\" asks \"contains\" of a column of type int; such a column can be asked =, !=, \
             <, <=, >, >=, in, is_null",
            "10: the filter \"b\" asks \"<\" of a column of type bool; such a column can be asked =, !=, in, \
             is_null",
            "14: the filter \"c\" asks \"=\" of a column of type json; such a column can be asked is_null",
            "19: the filter \"d\" is of type text, and its column \"n\" is declared int; leave the \
             type out, or declare the column otherwise",
        ],
    );
}

#[test]
fn a_filter_of_an_undeclared_column_says_its_type() {
    let filter = "[[filters]]\nname = \"f\"\ncolumn = \"when\"\nop = \"=\"\n";
    let renamed = "[[columns]]\nkey = \"when\"\ncolumn = \"paid_at\"\ntype = \"time\"\n";
    assert_faults(
        &format!("from = \"t\"\n{renamed}{filter}"),
        &[
            "8: the filter \"f\" names \"when\", which no declared column reads (the column with the \
           key \"when\" reads \"paid_at\"); say what it holds: type = \"…\"",
        ],
    );
    let report = report(&format!("from = \"t\"\n{renamed}{filter}type = \"int\"\n"));
    assert_eq!(report.filters[0].kind, Kind::Int);
}

#[test]
fn filter_names_are_unique_and_can_stand_in_an_address() {
    let filter =
        |name: &str| format!("[[filters]]\nname = \"{name}\"\ncolumn = \"id\"\nop = \"=\"\n");
    let text = format!("from = \"t\"\n{COLUMN}{}{}{}", filter("a"), filter("a"), filter("a b"));
    assert_faults(
        &text,
        &[
            "10: the filter name \"a\" is used twice; give each filter a name of its own",
            "14: \"a b\" cannot be the name of a filter; use letters, digits, \"_\", \"-\" and \
             \".\", and do not begin with \"_\"",
        ],
    );
}

#[test]
fn the_order_names_each_column_once_and_none_without_an_order() {
    let text = "from = \"t\"\norder_by = [\"a\", \"\", \"a DESC\", \"j\", 3]\n\
                columns = [{ key = \"j\", type = \"json\" }]\n";
    assert_faults(
        text,
        &[
            "2: \"order_by\" of the report has an empty entry; take the entry out",
            "2: \"order_by\" of the report is of type integer; write a list of texts: order_by = \
             [\"…\", \"…\"]",
            "2: order_by names the column \"a\" twice; take the second one out",
            "2: order_by names \"j\", a json column, which has no order; order by another column",
        ],
    );
}

#[test]
fn an_undeclared_column_can_order_and_a_name_with_a_space_too() {
    let report =
        report(&format!("from = \"t\"\norder_by = [\"at asc\", \"my id  DESC\"]\n{COLUMN}"));
    assert_eq!(report.order_words(), ["at", "my id desc"]);
    assert_eq!(report.order[0].line, 2);
}

#[test]
fn a_scope_is_held_against_a_column_whose_type_is_known() {
    let columns = "columns = [{ key = \"at\", type = \"time\" }]\n";
    let text = format!(
        "from = \"t\"\n{columns}[scope]\na = \"merchant_id\"\nb = \"at\"\nc = 1\n\
         d = {{ column = \"x\", typ = \"int\" }}\ne = {{ type = \"int\" }}\n"
    );
    assert_faults(
        &text,
        &[
            "4: the scope \"a\" names \"merchant_id\", which no declared column reads; say its type: \
             a = { column = \"merchant_id\", type = \"int\" }",
            "5: the scope \"b\" names \"at\", a time column; hold a scope against an int or text \
             column",
            "6: the scope \"c\" is of type integer; write c = \"a_column\", or c = { column = \"…\", \
             type = \"int\" }",
            "7: the scope \"d\" has the unknown key \"typ\"; the known keys are column, type",
            "7: the scope \"d\" names \"x\", which no declared column reads; say its type: d = { \
             column = \"x\", type = \"int\" }",
            "8: the scope \"e\" has no \"column\"; add one, for example column = \"merchant_id\"",
        ],
    );
}

#[test]
fn a_table_is_named_with_or_without_its_schema() {
    for from in ["a.b.c", ".a", "a.", "."] {
        let faults = faults(&format!("from = \"{from}\"\n{COLUMN}"));
        assert_eq!(
            faults,
            [format!(
                "built-in reports/x.toml:1: \"from\" is \"{from}\", which is not the name of a \
                 table; write a table or view as \"name\" or \"schema.name\"; put a query into sql"
            )]
        );
    }
}

#[test]
fn a_report_reads_a_table_or_a_statement_not_both() {
    assert_faults(
        &format!("from = \"t\"\nsql = \"select 1\"\n{COLUMN}"),
        &["2: the report has both \"from\" and \"sql\"; keep one of them"],
    );
}

#[test]
fn a_statement_stays_within_its_brackets() {
    let refused = [
        ("select 1) select 2 --", "closes a bracket that it did not open"),
        ("select 1) select 2 /*", "closes a bracket that it did not open"),
        ("select (1", "does not close a bracket"),
        ("select 1 /* the end", "does not close a comment"),
        ("select 'it''s", "does not close a quotation '…'"),
        ("select 1; drop table t", "more than one statement"),
        ("select ? from t", "has a \"?\""),
        ("select $1 from t", "the placeholder $1"),
        ("select $a$ )", "does not close a quotation $a$…$a$"),
        ("delete from t", "does not begin with select or with"),
        (" -- nothing\n", "does not begin with select or with"),
    ];
    for (sql, expected) in refused {
        let faults = faults(&format!("sql = '''{sql}'''\n{COLUMN}"));
        assert_eq!(faults.len(), 1, "{sql}: {faults:?}");
        assert!(faults[0].contains(expected), "{sql}: {faults:?}");
    }
}

#[test]
fn a_statement_may_quote_what_it_may_not_say() {
    let taken = [
        ("select 1;", "select 1"),
        ("-- about\n  SELECT 1 ; -- done", "SELECT 1"),
        ("with a as (select 1) select * from a", "with a as (select 1) select * from a"),
        (
            "select ')', '?', '$1', \"a?\", 'it''s' -- ) ?\n",
            "select ')', '?', '$1', \"a?\", 'it''s' -- ) ?",
        ),
        (
            r"select E'it\'s )', $x$ ) ' $x$, a$b /* ; */",
            r"select E'it\'s )', $x$ ) ' $x$, a$b /* ; */",
        ),
    ];
    for (sql, expected) in taken {
        let text = format!("sql = \"\"\"{}\"\"\"\n{COLUMN}", sql.replace('\\', "\\\\"));
        assert_eq!(report(&text).origin, Origin::Sql(expected.into()), "{sql}");
    }
}
