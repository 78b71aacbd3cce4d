//! What a browser without scripts makes of the page: its tags, and what a form sends.

use std::collections::BTreeMap;

use url::form_urlencoded;

/// A tag with its attributes, decoded, and the text behind it.
#[derive(Debug)]
pub(super) struct Tag {
    pub(super) name: String,
    pub(super) attributes: BTreeMap<String, String>,
    pub(super) text: String,
}

impl Tag {
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.attributes.get(name).map(String::as_str)
    }

    pub(super) fn is(&self, name: &str, attribute: &str, value: &str) -> bool {
        self.name == name && self.get(attribute) == Some(value)
    }
}

pub(super) fn decoded(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    text.replace("&amp;", "&")
}

/// The tags of a document in their order; fails on an attribute that is not well quoted.
pub(super) fn tags(html: &str) -> Vec<Tag> {
    let style = html.find("<style>").zip(html.find("</style>"));
    let (start, end) = style.expect("a page has its style");
    let html = format!("{}{}", &html[..start], &html[end..]);
    let pieces = html.split('<').skip(1);
    let tag = |piece: &str| {
        let (inside, text) = piece.split_once('>').expect("a tag is closed");
        let (name, mut rest) = inside.split_once(' ').unwrap_or((inside, ""));
        let mut attributes = BTreeMap::new();
        while !rest.is_empty() {
            let word = rest.find([' ', '=']).unwrap_or(rest.len());
            let (key, after) = rest.split_at(word);
            let (value, after) = match after.strip_prefix("=\"") {
                Some(quoted) => quoted.split_once('"').expect("a value is closed"),
                None => ("", after),
            };
            let before = attributes.insert(key.to_owned(), decoded(value));
            assert_eq!(before, None, "{key} is said twice: {piece}");
            rest = after.trim_start();
        }
        Tag { name: name.to_owned(), attributes, text: decoded(text) }
    };
    pieces.map(tag).collect()
}

/// The tags of the form that leads to the rows of a report.
pub(super) fn form(html: &str, report: &str) -> Vec<Tag> {
    let action = format!("/reports/{report}/download");
    let mut tags = tags(html).into_iter().skip_while(|tag| !tag.is("form", "action", &action));
    let form = tags.next().expect("the report has a form");
    assert_eq!(form.get("method"), Some("get"));
    tags.take_while(|tag| tag.name != "/form").collect()
}

/// What a browser sends for a form: every field, also an empty one, and the button that was pressed.
pub(super) fn sent(form: &[Tag], typed: &[(&str, &str)], button: &str) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    let mut typed = typed.to_vec();
    let mut take = |name: &str| {
        let at = typed.iter().position(|(field, _)| *field == name)?;
        Some(typed.remove(at).1.to_owned())
    };
    for (index, tag) in form.iter().enumerate() {
        let Some(name) = tag.get("name") else { continue };
        match tag.name.as_str() {
            "input" if tag.get("type") == Some("checkbox") => {
                let value = tag.get("value").expect("a box has a value");
                if tag.get("checked").is_some() {
                    query.append_pair(name, value);
                }
            }
            "input" => {
                let value = tag.get("value").unwrap_or_default().to_owned();
                query.append_pair(name, &take(name).unwrap_or(value));
            }
            "select" => {
                let options = form[index + 1..].iter().take_while(|tag| tag.name != "/select");
                let options: Vec<_> = options.filter(|tag| tag.name == "option").collect();
                let chosen = options.iter().find(|tag| tag.get("selected").is_some());
                let value = chosen.or(options.first()).and_then(|tag| tag.get("value"));
                query.append_pair(name, &take(name).unwrap_or(value.unwrap_or_default().into()));
            }
            "button" if tag.get("value") == Some(button) => {
                query.append_pair(name, button);
            }
            _ => {}
        }
    }
    assert_eq!(typed, [], "there are fields for all of it");
    query.finish()
}
