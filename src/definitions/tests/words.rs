//! Words that a definition has for people.

use super::parsing::{COLUMN, assert_faults};
use super::report;

#[test]
fn what_must_be_there_and_is_empty_is_not_told_to_be_left_out() {
    assert_faults(
        "from = \"t\"\n[[columns]]\nkey = \"\"\ntype = \"int\"\n[[columns]]\nkey = \"a\"\ntype = \" \"\n\
         [[filters]]\nname = \"\"\ncolumn = \"\"\nop = \"\"\n",
        &[
            "3: \"key\" of the column \"\" is empty; give it a text, for example \"paid_at\"",
            "7: \"type\" of the column \"a\" is empty; give it a text, for example \"text\"",
            "9: \"name\" of the filter \"\" is empty; give it a text, for example \"from\"",
            "10: \"column\" of the filter \"\" is empty; give it a text, for example \"paid_at\"",
            "11: \"op\" of the filter \"\" is empty; give it a text, for example \"=\"",
        ],
    );
    assert_faults(
        &format!("title = \"\"\nfrom = \"t\"\n{COLUMN}"),
        &["1: \"title\" of the report is empty; give it a text, or leave the key out"],
    );
}

#[test]
fn what_people_read_has_no_control_characters_but_ends_of_lines_and_tabs() {
    let titled = |title: &str, description: &str| {
        format!(
            "title = \"{title}\"\ndescription = \"{description}\"\nfrom = \"t\"\n{COLUMN}title = \"{title}\"\n\
             [[filters]]\nname = \"a\"\ncolumn = \"id\"\nop = \"=\"\ntitle = \"{title}\"\n"
        )
    };
    for (title, description) in [("a\\u0000b", "c\\u001Bd"), ("\\u007F", "c\\u0085")] {
        let shown = "has a control character in it; take it out; it cannot be shown";
        assert_faults(
            &titled(title, description),
            &[
                &format!("1: \"title\" of the report {shown}"),
                &format!("2: \"description\" of the report {shown}"),
                &format!("7: \"title\" of the column \"id\" {shown}"),
                &format!("12: \"title\" of the filter \"a\" {shown}"),
            ],
        );
    }
    assert_eq!(report(&titled("two\\nlines", "and\\ta tab")).title, "two\nlines");
}
