//! The cases that people reported elsewhere: what their files give before anybody checks it.

use std::time::{Duration, Instant};

use super::{Given, case, read, refused_for};
use crate::sheets::FileKind;

const HEADERS: &str = "거래번호|거래처명|수량|금액|거래일자|결제일시|사용여부";

/// A case's file that is read.
#[track_caller]
fn given(path: &str) -> Given {
    read(&case(path)).expect("it is read")
}

/// Asserts the rows below the headers.
#[track_caller]
fn below_headers(path: &str, rows: &[(u64, &str)]) {
    let given = given(path);
    assert_eq!(given.rows()[0], (1, HEADERS));
    assert_eq!(&given.rows()[1..], rows, "{path}");
}

#[test]
fn a_workbook_that_counts_from_1904_has_the_days_it_shows() {
    // 2024-01-31 and 1904-01-01, as days since 1899-12-30.
    below_headers(
        "001-xlsx-1904-dates/upload.xlsx",
        &[
            (2, "A-001|한빛상사|n:1|n:100|s:45322|s:45322.395833333336|b:true"),
            (3, "A-002|대한물산|n:2|n:200|s:1462||b:false"),
        ],
    );
}

#[test]
fn rows_with_styles_alone_are_no_rows_and_take_no_time() {
    let begun = Instant::now();
    below_headers(
        "002-xlsx-trailing-styled-rows/upload.xlsx",
        &[
            (2, "A-001|한빛상사|n:1|n:1500.5|s:45322|s:45322.395833333336|b:true"),
            (3, "A-002|대한물산|n:20|n:-3000|s:45351||b:false"),
            (4, "A-003|가나다 주식회사|n:0|n:0|s:45291|s:45291.99998842592"),
        ],
    );
    assert!(begun.elapsed() < Duration::from_secs(2));
}

#[test]
fn a_cell_is_what_it_is_and_not_what_its_column_should_be() {
    below_headers(
        "005-xlsx-numeric-cells-in-text-column/upload.xlsx",
        &[
            (2, "n:10401029008|숫자 셀 코드|n:1|n:1|s:45292"),
            (3, "00123|앞자리 0|n:1|n:1|s:45292"),
            (4, "n:202601|n:42|n:1|n:1|s:45292"),
            (5, "n:1.23|소수|n:1|n:1|s:45292"),
            (6, "n:1000|지수 표기|n:1|n:1|s:45292"),
            (7, "n:1234567890123456|16자리|n:1|n:1|s:45292"),
            (8, "b:true|불리언 셀|n:1|n:1|s:45292"),
        ],
    );
    let given = given("007-xlsx-integer-column/upload.xlsx");
    let third: Vec<_> =
        given.rows.iter().skip(1).map(|(_, row)| row.split('|').nth(2).expect("three")).collect();
    let expected = [
        "n:3",
        "n:3",
        "n:3.5",
        "n:100000000000000000000",
        "n:-1",
        "7",
        "1,234",
        "12개",
        "１２",
        "\u{a0}5\u{a0}",
        "s:45322",
        "b:true",
        "",
        " ",
        "1e3",
        "n:2.9999999999999996",
    ];
    assert_eq!(third, expected);
}

#[test]
fn headers_and_row_numbers_are_left_as_the_sheet_has_them() {
    let headers = given("009-xlsx-header-spellings/upload.xlsx");
    let first: Vec<_> = headers.rows()[0].1.split('|').collect();
    // The third is written in conjoining letters.
    assert_eq!([first[0], first[1]], ["\u{feff}거래번호", " 거래처명\u{a0}"]);
    assert_eq!([first[3], first[4]], ["금\n액", "거래\u{200b}일자"]);
    assert_eq!((first[2].chars().count(), first.len()), (5, 7));
    let titled = given("011-xlsx-title-rows-merged-header/title-rows.xlsx");
    let numbers: Vec<_> = titled.rows.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, [1, 3, 4, 5, 6]);
    let merged = given("011-xlsx-title-rows-merged-header/two-line-header-merged-name.xlsx");
    assert_eq!(merged.rows()[0], (1, "기본||거래||||상태"));
    assert_eq!(merged.rows()[3], (4, "A-002||n:20|n:-3000|s:45351"));
}

#[test]
fn an_error_is_an_error_and_a_text_that_looks_like_one_a_text() {
    below_headers(
        "013-xlsx-error-cells/upload.xlsx",
        &[
            (2, "A-001|e:#N/A|n:1|n:1|s:45292"),
            (3, "A-002|x|e:#DIV/0!|n:1|s:45292"),
            (4, "A-003|x|n:1|e:#DIV/0!|s:45292"),
            (5, "A-004|x|n:1|n:1|e:#VALUE!"),
            (6, "A-005|#N/A|n:1|n:1|s:45292"),
            (7, "e:#REF!|x|n:1|n:1|s:45292"),
        ],
    );
}

#[test]
fn runs_of_rich_text_are_one_text_without_what_only_helps_to_read_it() {
    let given = given("017-xlsx-rich-text-phonetic-escapes/upload.xlsx");
    let names: Vec<_> =
        given.rows.iter().skip(1).map(|(_, row)| row.split('|').nth(1).expect("two")).collect();
    let expected = [
        "한빛 상사",
        "東京支店",
        "줄1\r\n줄2",
        "  양끝 공백  ",
        "리터럴 _x000D_ 유지",
        "A & B <주> 😀",
        "",
    ];
    assert_eq!(names, expected);
}

#[test]
fn rows_that_are_the_same_are_several_rows() {
    for file in ["upload.xlsx", "fixed.xlsx"] {
        assert_eq!(given(&format!("015-xlsx-duplicates-all-or-nothing/{file}")).rows.len(), 11);
    }
}

#[test]
fn a_document_type_is_refused_whatever_it_defines() {
    for file in ["upload.xlsx", "external-entity.xlsx"] {
        let read = read(&case("019-xlsx-entity-bomb").join(file));
        refused_for(read, "document_type", &["cannot read the file", "save it again as xlsx"]);
    }
}

#[test]
fn a_password_is_named_as_what_is_in_the_way() {
    let read = read(&case("021-xlsx-password-protected/upload.xlsx"));
    refused_for(read, "password_protected", &["password", "save it without one"]);
}

#[test]
fn nothing_at_all_and_headers_alone_are_told_apart() {
    for file in ["zero-bytes.xlsx", "zero-bytes.csv", "bom-only.csv"] {
        let read = read(&case("023-empty-and-header-only").join(file));
        refused_for(read, "empty_file", &["the file is empty"]);
    }
    let none = read(&case("023-empty-and-header-only/zero-sheets.xlsx"));
    refused_for(none, "no_sheets", &["no worksheets"]);
    assert!(given("023-empty-and-header-only/empty-sheet.xlsx").rows.is_empty());
    for file in ["header-only.xlsx", "header-only.csv"] {
        below_headers(&format!("023-empty-and-header-only/{file}"), &[]);
    }
}

#[test]
fn korean_is_read_in_each_of_its_encodings_and_never_guessed() {
    for (file, encoding) in
        [("cp949.csv", "CP949"), ("utf8.csv", "UTF-8"), ("utf8-bom.csv", "UTF-8")]
    {
        let path = format!("025-csv-cp949/{file}");
        let outline = given(&path).outline().clone();
        assert_eq!((outline.kind, outline.delimiter), (FileKind::Csv, Some(',')));
        assert_eq!(outline.encoding.as_deref(), Some(encoding));
        below_headers(
            &path,
            &[
                (2, "A-001|똠방각하, 뷁|1|1,500.50|2024-01-31|2024-01-31 09:30:00|Y"),
                (3, "A-002|펲시 콜라 ㈜|2|-3000|2024-02-29||N"),
            ],
        );
    }
    let broken = read(&case("025-csv-cp949/broken-utf8.csv"));
    refused_for(broken, "unknown_encoding", &["line 1", "UTF-8"]);
}

#[test]
fn csv_that_is_not_as_it_should_be_never_shifts_a_column() {
    below_headers(
        "028-csv-ragged-unterminated-nul/ragged.csv",
        &[
            (2, "A-001|짧은 줄|1"),
            (3, "A-002|긴 줄|1|10|2024-01-31||Y|남는 칸"),
            (4, "A-003|정상|1|10|2024-01-31||Y"),
        ],
    );
    below_headers(
        "028-csv-ragged-unterminated-nul/stray-quote.csv",
        &[(2, "A-001|5\" 모니터|1|10|2024-01-31"), (3, "A-002|ab|1|10|2024-01-31")],
    );
    below_headers(
        "028-csv-ragged-unterminated-nul/nul.csv",
        &[(2, "A-001|널\0문자|1|10|2024-01-31")],
    );
    let open = read(&case("028-csv-ragged-unterminated-nul/unterminated.csv"));
    refused_for(open, "unterminated_quote", &["row 2", "line 2"]);
}

#[test]
fn an_ods_file_that_repeats_rows_a_million_times_costs_nothing() {
    let begun = Instant::now();
    below_headers(
        "029-ods-repeats-and-types/upload.ods",
        &[
            (2, "A-001|한빛  상사|n:1|n:1500.5|i:2024-01-31|i:2024-01-31T09:30:00|b:true"),
            (3, "A-002|첫 줄\n둘째 줄|n:20|n:-3000|i:2024-02-29||b:false"),
            (6, "A-003|반복된 줄|n:7|n:7|i:2023-12-31"),
            (7, "A-003|반복된 줄|n:7|n:7|i:2023-12-31"),
            (8, "A-004|퍼센트|n:1|n:0.15|i:2023-12-31"),
        ],
    );
    assert!(begun.elapsed() < Duration::from_secs(2));
}
