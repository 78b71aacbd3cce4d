//! The cells of workbooks that people reported, with what must come of them.

use super::*;

/// The import that the workbooks are for.
const TRANSACTIONS: &str = r#"
into = "transactions"
[[columns]]
key = "code"
title = "거래번호"
headers = ["거래 번호"]
type = "text"
required = true
max_length = 20
unique = true
[[columns]]
key = "name"
title = "거래처명"
headers = ["거래처"]
type = "text"
required = true
max_length = 50
[[columns]]
key = "qty"
title = "수량"
type = "int"
required = true
min = 0
max = 1_000_000_000
[[columns]]
key = "amount"
title = "금액"
type = "decimal"
precision = 15
scale = 2
required = true
[[columns]]
key = "date"
title = "거래일자"
headers = ["거래일"]
type = "date"
required = true
[[columns]]
key = "paid_at"
title = "결제일시"
type = "time"
zone = "Asia/Seoul"
[[columns]]
key = "active"
title = "사용여부"
headers = ["사용"]
type = "bool"
"#;

fn transactions(key: &str) -> Field {
    let import = import(TRANSACTIONS);
    import.fields[import.field(key).expect("declared")].clone()
}

#[test]
fn case_005_a_number_in_a_text_column_keeps_the_digits_that_were_typed() {
    let code = transactions("code");
    for (cell, expected) in [
        (Cell::Number(10_401_029_008.0), "10401029008"),
        (Cell::Text("00123"), "00123"),
        (Cell::Number(202_601.0), "202601"),
        (Cell::Number(1.23), "1.23"),
        (Cell::Number(1.0E+3), "1000"),
        (Cell::Number(1_234_567_890_123_456.0), "1234567890123456"),
    ] {
        assert_value(&code, cell, Value::Text(expected));
    }
    assert_value(&transactions("name"), Cell::Number(42.0), Value::Text("42"));
    assert_code(&code, Cell::Bool(true), "not_a_text");
    assert_value(&transactions("amount"), Cell::Number(1.0), Value::Decimal("1.00"));
    let first = Value::Date(day(2024, 1, 1));
    assert_value(&transactions("date"), Cell::Serial(45_292.0), first);
}

#[test]
fn case_007_a_column_of_whole_numbers_takes_nothing_else() {
    let qty = transactions("qty");
    for (cell, expected) in [
        (Cell::Number(3.0), 3),
        (Cell::Text("7"), 7),
        (Cell::Text("1,234"), 1_234),
        (Cell::Text("１２"), 12),
        (Cell::Text("\u{A0}5\u{A0}"), 5),
        (Cell::Number(2.999_999_999_999_999_6), 3),
    ] {
        assert_value(&qty, cell, Value::Int(expected));
    }
    for (cell, code, about) in [
        (Cell::Number(3.5), "not_whole", "is not a whole number"),
        (Cell::Number(1E+20), "too_large", "is more than 1000000000"),
        (Cell::Number(-1.0), "too_small", "is less than 0"),
        (Cell::Text("12개"), "not_an_int", "is not a whole number"),
        (Cell::Serial(45_322.0), "not_an_int", "the date 2024-01-31, where a whole number"),
        (Cell::Bool(true), "not_an_int", "the truth value TRUE, where a whole number"),
        (Cell::Empty, "required", "is required and the cell is empty"),
        (Cell::Text(" "), "required", "is required and the cell is empty"),
        (Cell::Text("1e3"), "shortened_number", "shortens a long number"),
    ] {
        let detail = assert_code(&qty, cell, code);
        assert!(detail.contains(about), "{detail}");
    }
}

#[test]
fn case_013_an_error_is_named_and_a_text_that_looks_like_one_is_a_text() {
    for (key, error) in [
        ("name", "#N/A"),
        ("qty", "#DIV/0!"),
        ("amount", "#DIV/0!"),
        ("date", "#VALUE!"),
        ("code", "#REF!"),
    ] {
        let detail = assert_code(&transactions(key), Cell::Error(error), "error_cell");
        assert!(detail.contains(&format!("the cell holds {error}")), "{detail}");
    }
    assert_value(&transactions("name"), Cell::Text("#N/A"), Value::Text("#N/A"));
}

#[test]
fn cells_of_the_other_cases_come_out_as_they_must() {
    let seoul = |text| Value::Time(at(text));
    for (key, cell, expected) in [
        // 001, 002, 009
        ("date", Cell::Serial(1_462.0), Value::Date(day(1904, 1, 1))),
        ("paid_at", Cell::Serial(45_322.395_833_333_336), seoul("2024-01-31T00:30:00Z")),
        ("amount", Cell::Number(1500.5), Value::Decimal("1500.50")),
        ("amount", Cell::Number(0.0), Value::Decimal("0.00")),
        // 015, 017
        ("code", Cell::Text(" a-003 "), Value::Text("a-003")),
        ("name", Cell::Text("줄1\r\n줄2"), Value::Text("줄1\r\n줄2")),
        ("name", Cell::Text("리터럴 _x000D_ 유지"), Value::Text("리터럴 _x000D_ 유지")),
        ("name", Cell::Text("A & B <주> 😀"), Value::Text("A & B <주> 😀")),
        // 025, 028, 029
        ("amount", Cell::Text("1,500.50"), Value::Decimal("1500.50")),
        ("date", Cell::Text("2024-01-31"), Value::Date(day(2024, 1, 31))),
        ("paid_at", Cell::Text("2024-01-31 09:30:00"), seoul("2024-01-31T00:30:00Z")),
        ("active", Cell::Text("Y"), Value::Bool(true)),
        ("active", Cell::Text("N"), Value::Bool(false)),
        ("date", Cell::Iso("2024-02-29"), Value::Date(day(2024, 2, 29))),
        ("amount", Cell::Number(0.15), Value::Decimal("0.15")),
    ] {
        assert_value(&transactions(key), cell, expected);
    }
    assert_code(&transactions("amount"), Cell::Text("백원"), "not_a_decimal");
    assert_code(&transactions("name"), Cell::Text("널\0문자"), "nul_character");
}

#[test]
fn the_examples_of_the_import_that_comes_with_the_program_are_taken_by_it() {
    let import = import(include_str!("../../payments.toml"));
    assert!(import.fields.iter().all(|field| field.example.is_some()));
    assert_eq!(check_examples(&import), Vec::new());
}

#[test]
fn an_example_that_would_be_refused_is_a_fault_of_the_definition() {
    let import = super::import(
        "into = \"t\"\n[[columns]]\nkey = \"n\"\ntype = \"int\"\nexample = \"약 5\"\n",
    );
    let faults: Vec<String> = check_examples(&import).iter().map(Fault::to_string).collect();
    let expected = "built-in imports/x.toml:3: the example of the column \"n\" would be refused: \"약 5\" is \
                    not a whole number; write digits alone, such as 1200; write one that is taken";
    assert_eq!(faults, [expected]);
}
