//! What is read is what was written.

use super::Node;

fn steps(pointer: &str) -> Vec<String> {
    pointer.split('/').skip(1).map(str::to_owned).collect()
}

#[test]
fn numbers_keep_their_digits() {
    let text = r#"{"a":[1.10,-0,12345678901234567890.00,1e400],"b":"\u00e9\"x"}"#;
    let node = Node::parse(text).unwrap();
    let found = |pointer: &str| node.find(&steps(pointer)).cloned();
    assert_eq!(found("/a/0"), Some(Node::Digits("1.10")));
    assert_eq!(found("/a/1"), Some(Node::Digits("-0")));
    assert_eq!(found("/a/2"), Some(Node::Digits("12345678901234567890.00")));
    assert_eq!(found("/a/3"), Some(Node::Digits("1e400")));
    assert_eq!(found("/b"), Some(Node::Text("é\"x".into())));
}

#[test]
fn steps_that_lead_nowhere_find_nothing() {
    let node = Node::parse(r#"{"a":[1,2],"a b":{"":null},"x":1,"x":2}"#).unwrap();
    for nowhere in ["/b", "/a/2", "/a/-1", "/a/01", "/a/+1", "/a/x", "/x/0", "/a/0/0"] {
        assert_eq!(node.find(&steps(nowhere)), None, "{nowhere}");
    }
    assert_eq!(node.find(&steps("/a b/")), Some(&Node::Null));
    assert_eq!(node.find(&steps("/x")), Some(&Node::Digits("2")));
    assert_eq!(node.find(&[]), Some(&node));
}

#[test]
fn what_is_no_json_is_refused() {
    for text in ["", "{", "[1,]", "{\"a\":1}x", "nul", "\"a", "01"] {
        assert!(Node::parse(text).is_err(), "{text}");
    }
}
