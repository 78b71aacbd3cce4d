//! Text columns, and yes and no.

use super::*;

#[test]
fn a_text_is_taken_as_it_is_but_for_blanks_at_its_ends() {
    for (text, expected) in [
        ("한빛 상사", "한빛 상사"),
        (" \u{A0}양끝 공백\u{3000}\n", "양끝 공백"),
        ("\u{FEFF}A-001\u{200B}", "A-001"),
        ("줄1\r\n줄2\t끝", "줄1\r\n줄2\t끝"),
        ("00123", "00123"),
        ("#N/A", "#N/A"),
        ("=1+1", "=1+1"),
        ("👨\u{200D}👩", "👨\u{200D}👩"),
        // Decomposed, and kept so.
        ("\u{1112}\u{1161}\u{11AB}", "\u{1112}\u{1161}\u{11AB}"),
    ] {
        assert_value(&field("text"), Cell::Text(text), Value::Text(expected));
    }
}

#[test]
fn a_number_in_a_text_column_is_what_the_spreadsheet_shows() {
    for (number, expected) in [
        (10_401_029_008.0, "10401029008"),
        (202_601.0, "202601"),
        (1.23, "1.23"),
        (1.0e3, "1000"),
        (1_234_567_890_123_456.0, "1234567890123456"),
        (-9_007_199_254_740_991.0, "-9007199254740991"),
        (0.1 + 0.2, "0.3"),
        (1.1 * 1.1, "1.21"),
        (-0.0, "0"),
        (1.0e-7, "0.0000001"),
    ] {
        assert_value(&field("text"), Cell::Number(number), Value::Text(expected));
    }
    assert_value(&field("text"), Cell::Digits("1.50"), Value::Text("1.50"));
    assert_said(
        &field("text"),
        Cell::Number(12_345_678_901_234_567_000.0),
        "inexact_number",
        "12345678901234567000 is longer than a spreadsheet can keep: it drops the digits after the \
         fifteenth; format the cell as text and type all digits again",
    );
}

#[test]
fn a_date_or_a_truth_value_in_a_text_column_is_refused() {
    assert_said(
        &field("text"),
        Cell::Serial(45_292.0),
        "not_a_text",
        "the cell holds the date 2024-01-01, where a text is taken; a spreadsheet may have made a date \
         of what was typed: format the cell as text and type it again",
    );
    assert_code(&field("text"), Cell::Iso("2024-01-01"), "not_a_text");
    assert_said(
        &field("text"),
        Cell::Bool(true),
        "not_a_text",
        "the cell holds the truth value TRUE, where a text is taken; format the cell as text and type \
         it again",
    );
}

#[test]
fn characters_that_no_text_has_are_named_with_their_place() {
    assert_said(
        &field("text"),
        Cell::Text("널\0문자"),
        "nul_character",
        "\"널\\0문자\" has the control character NUL as its character 2, which no text may have; take it \
         out, or type the text again",
    );
    let detail = assert_code(&field("text"), Cell::Text("a\u{85}b\u{7}"), "control_character");
    assert!(detail.contains("U+0085 as its character 2"), "{detail}");
    assert_code(&field("text"), Cell::Text("a\u{7F}"), "control_character");
    assert_value(&field("text"), Cell::Text("a\u{A9}b"), Value::Text("a\u{A9}b"));
}

#[test]
fn a_length_is_counted_in_characters_as_they_are_stored() {
    let five = field("type = \"text\"\nmax_length = 5");
    assert_value(&five, Cell::Text(" 다섯글자임 "), Value::Text("다섯글자임"));
    assert_said(
        &five,
        Cell::Text("여섯글자임다"),
        "too_long",
        "\"여섯글자임다\" has 6 characters and the column takes 5; shorten it by 1",
    );
    assert_code(&five, Cell::Number(123_456.0), "too_long");
}

#[test]
fn a_choice_is_exact_and_the_near_one_is_offered() {
    let method = field("type = \"text\"\none_of = [\"카드\", \"Easy Pay\"]");
    assert_value(&method, Cell::Text(" 카드"), Value::Text("카드"));
    assert_said(
        &method,
        Cell::Text("easypay"),
        "not_one_of",
        "\"easypay\" is not one of the values that are taken; write it exactly as \"Easy Pay\"",
    );
    assert_said(
        &method,
        Cell::Text("현금"),
        "not_one_of",
        "\"현금\" is not one of the values that are taken; write one of 카드, Easy Pay",
    );
}

#[test]
fn a_pattern_holds_for_the_whole_text() {
    let code = "type = \"text\"\npattern = '[A-Z]-\\d{3}|x'";
    assert_value(&field(code), Cell::Text("A-001"), Value::Text("A-001"));
    assert_said(
        &field(code),
        Cell::Text("xA-001"),
        "pattern_mismatch",
        "\"xA-001\" does not look as it must; the column takes what the expression [A-Z]-\\d{3}|x matches",
    );
    assert_said(
        &field(&format!("{code}\npattern_hint = \"write it as A-001\"")),
        Cell::Text("A-1\n"),
        "pattern_mismatch",
        "\"A-1\" does not look as it must: write it as A-001",
    );
}

#[test]
fn yes_and_no_are_read_in_the_words_that_people_have() {
    let open = field("bool");
    for word in [
        "TRUE", "true", "True", "t", "Y", "y", "yes", "1", "on", "O", "o", "예", "네", "참",
        "사용", "유", "○", "✓", "✔", "☑", "Ｙ", " 예 ",
    ] {
        assert_value(&open, Cell::Text(word), Value::Bool(true));
    }
    for word in [
        "FALSE",
        "f",
        "N",
        "no",
        "0",
        "off",
        "X",
        "아니오",
        "아니요",
        "거짓",
        "미사용",
        "사용안함",
        "무",
        "×",
        "✗",
        "☐",
    ] {
        assert_value(&open, Cell::Text(word), Value::Bool(false));
    }
    for (cell, truth) in [
        (Cell::Bool(true), true),
        (Cell::Bool(false), false),
        (Cell::Number(1.0), true),
        (Cell::Number(0.0), false),
        (Cell::Digits("1"), true),
        (Cell::Digits("0"), false),
    ] {
        assert_value(&open, cell, Value::Bool(truth));
    }
    for cell in [Cell::Text("아마"), Cell::Number(2.0), Cell::Digits("1.0"), Cell::Serial(1.0)] {
        assert_code(&open, cell, "not_a_bool");
    }
    assert_said(
        &open,
        Cell::Text("아마"),
        "not_a_bool",
        "\"아마\" is neither yes nor no; write TRUE or FALSE, Y or N, O or X, 1 or 0, 예 or 아니오, 사용 or \
         미사용",
    );
}
