//! Choosing, renaming and ordering.

use super::{codes, renames};
use crate::convert::columns::{Names, Wish, choose};
use crate::error::Problem;

fn names(names: &[&str]) -> Vec<Option<String>> {
    names.iter().map(|name| Some((*name).to_owned()).filter(|name| !name.is_empty())).collect()
}

/// `source→name@place` of each column.
fn chosen(wish: &Wish, file: &[&str]) -> Result<Vec<String>, Vec<Problem>> {
    let file = names(file);
    let chosen = choose(wish, Names::Row(1, &file))?;
    Ok(chosen
        .into_iter()
        .map(|column| {
            let place = column.place.map_or("-".into(), |place| place.to_string());
            format!("{}→{}@{place}", column.source, column.name)
        })
        .collect())
}

fn columns(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn all_columns_come_in_the_order_of_the_file_without_those_that_have_no_name() {
    let all = chosen(&Wish::default(), &["a", "", "b"]).unwrap();
    assert_eq!(all, ["a→a@0", "b→b@2"]);
}

#[test]
fn a_mapping_renames_and_orders_and_what_it_does_not_name_follows() {
    let mapping = renames(&[("c", "C"), ("a", "A")]);
    let wish = Wish { mapping, ..Wish::default() };
    assert_eq!(chosen(&wish, &["a", "b", "c"]).unwrap(), ["c→C@2", "a→A@0", "b→b@1"]);
    let wish = Wish { renames: renames(&[("a", "first"), ("b", "a")]), ..wish };
    assert_eq!(chosen(&wish, &["a", "b", "c"]).unwrap(), ["c→C@2", "a→first@0", "b→a@1"]);
    let wish = Wish { columns: Some(columns(&["b", "c"])), renames: Vec::new(), ..wish };
    assert_eq!(chosen(&wish, &["a", "b", "c"]).unwrap(), ["b→b@1", "c→C@2"]);
}

#[test]
fn two_names_may_be_exchanged() {
    let wish = Wish { renames: renames(&[("a", "b"), ("b", "a")]), ..Wish::default() };
    assert_eq!(chosen(&wish, &["a", "b"]).unwrap(), ["a→b@0", "b→a@1"]);
}

#[test]
fn every_name_that_cannot_be_is_told() {
    let wish = Wish {
        mapping: renames(&[("x", "y")]),
        renames: renames(&[("z", "q"), ("a", "b")]),
        ..Wish::default()
    };
    let problems = chosen(&wish, &["a", "b", "a"]).unwrap_err();
    let expected = [
        ("headers", "unknown_column"),
        ("rename", "unknown_column"),
        ("file", "doubled_column"),
        ("rename", "doubled_column"),
    ];
    assert_eq!(codes(&problems), expected);
    assert!(problems[0].detail.contains("row 1") && problems[0].detail.contains("\"b\""));
    assert!(problems[2].detail.contains("A1 and C1"), "{}", problems[2].detail);
    let wish = Wish { columns: Some(columns(&["b", "nope"])), ..Wish::default() };
    let problems = chosen(&wish, &["a", "b", "a"]).unwrap_err();
    // What is left out may be there twice.
    assert_eq!(codes(&problems), [("columns", "unknown_column")]);
}

#[test]
fn a_key_that_was_chosen_may_come_with_a_later_object() {
    let file = names(&["a"]);
    let wish = Wish { columns: Some(columns(&["late", "a"])), ..Wish::default() };
    let chosen = choose(&wish, Names::Keys(&file)).unwrap();
    assert_eq!(chosen.iter().map(|column| column.place).collect::<Vec<_>>(), [None, Some(0)]);
}
