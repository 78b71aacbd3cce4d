//! Workbooks of each kind: which sheet, which cells, and what is remarked.

#![expect(clippy::format_collect, reason = "workbooks are put together for reading, not for speed")]

use super::books::{Tab, ods, record, rows, xlsb, xlsx};
use super::{Given, LIMITS, case, read, read_bytes, read_bytes_with, refused_for};
use crate::sheets::{FileKind, Limits};

/// The rows of an xlsx file of one sheet.
#[track_caller]
fn given(xml: &str) -> Given {
    read_bytes(&rows(xml)).expect("it is read")
}

const ONE: &str = "<sheetData><row r=\"1\"><c r=\"A1\"><v>1</v></c></row></sheetData>";

fn tab<'a>(name: &'a str, state: &'a str) -> Tab<'a> {
    Tab { name, state, xml: ONE }
}

#[test]
fn a_formula_is_its_result_and_one_without_says_so() {
    let given = given(
        "<row r=\"1\"><c r=\"A1\"><f>1+1</f><v>2</v></c><c r=\"B1\"><f>1+1</f></c>\
         <c r=\"C1\"><f>A1</f><v/></c><c r=\"D1\" t=\"str\"><f>\"x\"</f><v>x&amp;y</v></c>\
         <c r=\"E1\"><f t=\"shared\" si=\"0\"/></c><c r=\"F1\" t=\"b\"><f>TRUE()</f><v>1</v></c></row>\
         <row r=\"2\"><c r=\"A2\" t=\"str\"><f>\"\"</f><v></v></c></row>",
    );
    assert_eq!(given.rows(), [(1, "n:2|u:|u:|x&y|u:|b:true")]);
}

#[test]
fn every_kind_of_cell_is_told_apart() {
    let given = given(
        "<row r=\"3\"><c r=\"B3\" t=\"inlineStr\"><is><t xml:space=\"preserve\"> a_x000D_ </t></is></c>\
         <c r=\"C3\" t=\"d\"><v>2024-01-31T09:30:00</v></c><c r=\"D3\" s=\"1\"><v>45322</v></c>\
         <c r=\"E3\" s=\"2\"><v>1.5</v></c><c r=\"F3\" t=\"e\"><v>#N/A</v></c><c r=\"G3\" s=\"1\"/>\
         <c r=\"H3\"><v>1e400</v></c></row>\
         <row><c><v>1</v></c><c s=\"1\"/><c><v>3</v></c></row>",
    );
    let expected = "| a\r |i:2024-01-31T09:30:00|s:45322|p:1.5|e:#N/A||e:#NUM!";
    assert_eq!(given.rows(), [(3, expected), (4, "n:1||n:3")]);
}

#[test]
fn a_number_that_is_shown_with_zeros_before_it_has_them() {
    let given = given(
        "<row r=\"1\"><c r=\"A1\" s=\"3\"><v>42</v></c><c r=\"B1\"><v>42</v></c>\
         <c r=\"C1\" s=\"3\"/><c r=\"D1\" s=\"3\"><v>-7</v></c><c r=\"E1\" s=\"3\"><v>123456</v></c>\
         <c r=\"F1\" s=\"3\"><v>4.5</v></c><c r=\"G1\" s=\"3\" t=\"str\"><v>x</v></c>\
         <c r=\"H1\" s=\"3\"><f>A1</f></c><c r=\"I1\" s=\"3\"><f>A1</f><v>0</v></c></row>\
         <row r=\"3\"><c r=\"A3\"><v>1</v></c><c r=\"B3\" s=\"3\"><v>9007199254740993</v></c></row>",
    );
    let expected =
        [(1, "00042|n:42||-00007|123456|n:4.5|x|u:|00000"), (3, "n:1|n:9007199254740992")];
    assert_eq!(given.rows(), expected);
}

#[test]
fn days_before_march_1900_keep_the_numbers_that_excel_gives_them() {
    let cells: String = ["0.5", "1", "59", "60", "61"]
        .iter()
        .map(|day| format!("<c s=\"1\"><v>{day}</v></c>"))
        .collect();
    let given = given(&format!("<row r=\"1\">{cells}</row>"));
    // A time of day, 1900-01-01, 1900-02-28, no day at all, 1900-03-01.
    assert_eq!(given.rows(), [(1, "s:0.5|s:1|s:59|s:60|s:61")]);
}

#[test]
fn the_first_sheet_that_can_be_seen_is_read_and_the_hidden_ones_are_named() {
    let book = xlsx(
        &[
            tab("비밀", "hidden"),
            tab("거래", "visible"),
            tab("더", "veryHidden"),
            tab("끝", "visible"),
        ],
        "",
    );
    let given = read_bytes(&book).expect("it is read");
    assert_eq!(given.outline().sheet, Some(1));
    let visible: Vec<_> = given.outline().sheets.iter().map(|sheet| sheet.visible).collect();
    assert_eq!(visible, [false, true, false, true]);
    assert_eq!(given.codes(), ["hidden_sheets", "other_sheets"]);
    assert!(given.remarks[0].detail.contains("\"비밀\", \"더\""), "{:?}", given.remarks);
    assert!(given.remarks[1].detail.contains("not \"끝\", which"), "{:?}", given.remarks);
    for (asked, sheet) in [("비밀", 0), ("1", 0), ("4", 3), (" 거래 ", 1), ("더", 2)] {
        let given = read_bytes_with(&book, Some(asked), &LIMITS).expect("it is read");
        assert_eq!((given.outline().sheet, given.codes().len()), (Some(sheet), 0), "{asked}");
    }
    for asked in ["0", "5", "없음", ""] {
        let problem = super::refused(read_bytes_with(&book, Some(asked), &LIMITS));
        assert_eq!((problem.code, problem.parameter.as_deref()), ("no_such_sheet", Some("sheet")));
        assert_eq!(problem.value.as_deref(), Some(asked));
        assert!(
            problem.detail.contains("\"비밀\", \"거래\", \"더\", \"끝\""),
            "{}",
            problem.detail
        );
    }
}

#[test]
fn a_name_that_is_a_number_is_a_name_first() {
    let book = xlsx(&[tab("2", "visible"), tab("1", "visible")], "");
    let given = read_bytes_with(&book, Some("1"), &LIMITS).expect("it is read");
    assert_eq!(given.outline().sheet, Some(1));
}

#[test]
fn a_workbook_of_hidden_sheets_alone_says_which() {
    let book = xlsx(&[tab("하나", "hidden"), tab("둘", "veryHidden")], "");
    refused_for(read_bytes(&book), "only_hidden_sheets", &["\"하나\", \"둘\"", "sheet="]);
    assert_eq!(read_bytes_with(&book, Some("둘"), &LIMITS).expect("it is read").rows.len(), 1);
}

#[test]
fn hidden_rows_are_read_and_counted_in_the_sheet_that_is_read() {
    let cell = "<c><v>1</v></c>";
    let many = format!(
        "<cols><col min=\"1\" max=\"1\" hidden=\"1\"/></cols><sheetData><row r=\"1\" hidden=\"1\">{cell}\
         </row><row hidden=\"0\" r=\"2\">{cell}</row><row r=\"3\" spans=\"1:1\" hidden=\"true\">{cell}\
         </row><row r=\"4\" hidden=\"1\"/></sheetData>"
    );
    let tabs = [tab("a", "visible"), Tab { name: "b", state: "visible", xml: &many }];
    let book = xlsx(&tabs, "");
    assert_eq!(read_bytes(&book).expect("it is read").codes(), ["other_sheets"]);
    let given = read_bytes_with(&book, Some("b"), &LIMITS).expect("it is read");
    assert_eq!((given.rows.len(), given.codes()), (3, vec!["hidden_rows"]));
    assert!(given.remarks[0].detail.contains("2 rows of the sheet \"b\""), "{:?}", given.remarks);
}

#[test]
fn a_count_of_texts_that_is_wrong_is_not_believed() {
    for count in ["0", "1", "99", "1000000", "-1", "x"] {
        let xml = "<sheetData><row r=\"1\"><c t=\"s\"><v>1</v></c><c t=\"s\"><v>0</v></c></row></sheetData>";
        let texts = format!(
            " uniqueCount=\"{count}\"><si><t>a</t></si><si><r><t>b</t></r><r><t>c</t></r></si>"
        );
        let book = xlsx(&[Tab { name: "a", state: "visible", xml }], &texts);
        assert_eq!(read_bytes(&book).expect("it is read").rows(), [(1, "bc|a")]);
    }
}

#[test]
fn an_error_that_nobody_documents_is_named_with_its_row() {
    let xml = "<row r=\"7\"><c r=\"A7\"><v>1</v></c><c r=\"B7\" t=\"e\"><v>#SPILL!</v></c></row>";
    refused_for(read_bytes(&rows(xml)), "unknown_error_value", &["#SPILL!", "row 7"]);
}

#[test]
fn rows_that_run_backwards_are_refused() {
    let xml =
        "<row r=\"3\"><c r=\"A3\"><v>1</v></c></row><row r=\"2\"><c r=\"A2\"><v>1</v></c></row>";
    refused_for(read_bytes(&rows(xml)), "rows_out_of_order", &["row 2"]);
}

#[test]
fn a_value_beyond_the_last_column_is_named_by_its_cell() {
    let far = "<row r=\"1048576\"><c r=\"XFD1048576\"><v>1</v></c></row>";
    refused_for(read_bytes(&rows(far)), "too_many_columns", &["XFD1048576", "1000", "ALL"]);
    let styled = "<row r=\"1\"><c r=\"A1\"><v>1</v></c><c r=\"XFD1\" s=\"1\"/></row>";
    assert_eq!(given(styled).rows(), [(1, "n:1")], "a style is no value");
    let limits = Limits { columns: 16_384, ..LIMITS };
    let all = read_bytes_with(&rows(far), None, &limits).expect("it is read");
    assert_eq!(all.rows()[0].0, 1_048_576);
    assert_eq!(all.rows()[0].1.matches('|').count(), 16_383);
}

#[test]
fn what_a_sheet_says_of_its_size_is_not_believed() {
    let xml = format!("<dimension ref=\"A1:XFD1048576\"/>{ONE}");
    let book = xlsx(&[Tab { name: "a", state: "visible", xml: &xml }], "");
    assert_eq!(read_bytes(&book).expect("it is read").rows(), [(1, "n:1")]);
}

#[test]
fn xlsb_has_the_errors_of_its_formulas_too() {
    let at = |column: u32| [column.to_le_bytes(), 0_u32.to_le_bytes()].concat();
    let row = |row: u32, hidden: u8| {
        record(0, &[&row.to_le_bytes()[..], &[0; 6], &[0, hidden], &[0; 5]].concat())
    };
    let real =
        |column: u32, number: f64| record(5, &[at(column), number.to_le_bytes().to_vec()].concat());
    let error =
        |kind: u16, column: u32, code: u8| record(kind, &[at(column), vec![code; 8]].concat());
    let records = [
        row(0, 0),
        real(0, 1.5),
        error(11, 1, 0x07),
        record(4, &[at(2), vec![1]].concat()),
        row(2, 0x10),
        error(11, 0, 0x2A),
        error(3, 1, 0x17),
        row(5, 0x10),
        error(11, 3, 0x24),
    ];
    let given = read_bytes(&xlsb(&records.concat())).expect("it is read");
    assert_eq!(given.outline().kind, FileKind::Xlsb);
    let expected = [(1, "n:1.5|e:#DIV/0!|b:true"), (3, "e:#N/A|e:#REF!"), (6, "|||e:#NUM!")];
    assert_eq!(given.rows(), expected);
    assert!(given.remarks[0].detail.contains("2 rows"), "{:?}", given.remarks);
}

#[test]
fn ods_and_xls_give_what_office_programs_write() {
    let ods = read(&case("sheets/book.ods")).expect("it is read");
    assert_eq!(ods.outline().kind, FileKind::Ods);
    assert_eq!(ods.codes(), ["hidden_sheets", "hidden_rows"]);
    let headers = "거래번호|거래처명|금액|거래일자|시각|사용|식";
    assert_eq!(
        ods.rows(),
        [
            (1, headers),
            (2, "A-001|한빛상사|n:1500.5|i:2024-01-31|i:2024-01-31T09:30:00|n:1|n:3001"),
            (4, "A-002|대한물산|n:-3000|i:1900-01-14|p:0.5|n:0|e:#DIV/0!"),
            (5, "A-003|빈 식|||p:1.5"),
        ]
    );
    let xls = read(&case("sheets/book.xls")).expect("it is read");
    assert_eq!(xls.outline().kind, FileKind::Xls);
    assert_eq!(xls.codes(), ["hidden_sheets"]);
    assert_eq!(
        xls.rows(),
        [
            (1, headers),
            (2, "A-001|한빛상사|n:1500.5|s:45322|s:45322.39583333334|b:true|n:3001"),
            (4, "A-002|대한물산|n:-3000|s:15|s:0.5|b:false|e:#DIV/0!"),
            (5, "A-003|빈 식|||p:1.5"),
        ]
    );
}

#[test]
fn an_ods_file_has_errors_booleans_and_repeated_values() {
    let table = "<table:table table:name=\"a\"><table:table-row table:number-rows-repeated=\"2\">\
        <table:table-cell table:number-columns-repeated=\"2\"/><table:table-cell \
        office:value-type=\"boolean\" office:boolean-value=\"true\" \
        table:number-columns-repeated=\"2\"/></table:table-row><table:table-row><table:table-cell \
        table:formula=\"of:=NA()\" office:value-type=\"string\" office:string-value=\"\" \
        calcext:value-type=\"error\"><text:p>#N/A</text:p></table:table-cell><table:table-cell \
        office:value-type=\"string\"><text:p>#N/A</text:p></table:table-cell><table:table-cell \
        office:value-type=\"time\" office:time-value=\"-PT1H30M\"/></table:table-row></table:table>";
    let given = read_bytes(&ods("", table)).expect("it is read");
    let expected = [(1, "||b:true|b:true"), (2, "||b:true|b:true"), (3, "e:#N/A|#N/A|p:-0.0625")];
    assert_eq!(given.rows(), expected);
}
